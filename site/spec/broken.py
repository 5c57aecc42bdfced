#!/usr/bin/env python3
"""Does check.py find what is wrong? Pages and pictures with one fault each."""
import sys
import tempfile
import unittest
from pathlib import Path

from browser import Browser
from check import Check, check_site

PAGE = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>x</title>
<link rel="icon" href="data:,">
<style>body { background: #fff; color: #111; }
@media (prefers-color-scheme: dark) { body { background: #111; color: #eee; } }
</style></head><body><main>%s</main></body></html>"""

PICTURE = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 100"
 width="400" height="100" %s>
<title>A title that is long enough</title>
<desc>A description that is long enough</desc>
<style>text { font: 15px sans-serif }</style>
<rect width="400" height="100" fill="#fff"/>%s</svg>"""

PAGES = {
    "": "<p>There is nothing wrong.</p>",
    "1308 wide": '<p style="width: 1300px">wide</p>',
    # … also where a table scrolls beside it
    "room for 390": '<div style="overflow-x: auto; width: 350px"><p style='
                    '"width: 900px">fine</p></div><pre>' + "wide " * 30
                    + "</pre>",
    "picture none.svg is not there": '<p>x <img src="none.svg" alt="x"></p>',
    "has no alt text": '<p>x <img src="data:image/svg+xml,<svg xmlns=\'http:'
                       '//www.w3.org/2000/svg\' width=\'9\' height=\'9\'/>">',
    "none.html is not there": '<a style="color: inherit" href="none.html">x</a>',
    "has no #none": '<a style="color: inherit" href="#none">x</a>',
    '"pale" has a contrast of': '<p style="color: #999">pale</p>',
    # light on light, in the dark only
    '"fixed" has a contrast of 1.16': '<p style="background: #fff">fixed</p>',
    "complaint": '<p>x</p><script>console.error("complaint")</script>',
}

# Pages that show what strangers write.
SERVED = {
    "": "<p>&lt;script&gt; is only shown</p>",
    "it has a script": "<p>x</p><script></script>",
    "a script has run: 7": "<p>x</p><script>window.ran = 7</script>",
    "it has a img": '<p>x</p><img src="data:," alt="x">',
    # … also where it has to be opened
    '"pale" has a contrast of':
        '<details><summary>x</summary><p style="color: #999">pale</p></details>',
}

PICTURES = {
    "": '<text x="10" y="50">fine</text>',
    "is cut off by the picture's edge": '<text x="380" y="50">cut</text>',
    "overlap": '<text x="10" y="50">one</text><text x="20" y="52">two</text>',
    "is wider than its box": '<rect x="10" y="10" width="60" height="40" '
                             'fill="#eee"/><text x="12" y="35">wide, wide</text>',
    "has a contrast of": '<text x="10" y="50" fill="#999">pale</text>',
    '"hidden" has a contrast of 1.00':
        '<rect x="40" y="20" width="40" height="40"/>'
        '<text x="10" y="50">hidden</text>',
    "there is no text": '<path d="M0 0h9v9z"/>',
    "it needs http://example.org/x.png":
        '<text x="10" y="50">fine</text>'
        '<a href="http://example.org/x.png"/>',
}


class Broken(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = cls.enterClassContext(Browser()) \
            if hasattr(cls, "enterClassContext") else Browser().__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()

    def expect(self, wanted, problems):
        if wanted:
            self.assertTrue(any(wanted in one for one in problems), problems)
        else:
            self.assertEqual([], problems)

    def test_pages(self):
        for wanted, body in PAGES.items():
            with self.subTest(wanted), tempfile.TemporaryDirectory() as site:
                site = Path(site).resolve()
                (site / "index.html").write_text(PAGE % body, encoding="utf-8")
                check = Check(self.browser)
                check_site(check, site)
                self.expect(wanted, check.problems)

    def test_served_pages(self):
        for wanted, body in SERVED.items():
            with self.subTest(wanted), tempfile.TemporaryDirectory() as site:
                page = Path(site).resolve() / "index.html"
                page.write_text(PAGE % body, encoding="utf-8")
                check = Check(self.browser)
                check.served("page", page.as_uri())
                self.expect(wanted, check.problems)

    def test_a_site_without_pages(self):
        with tempfile.TemporaryDirectory() as site:
            check = Check(self.browser)
            check_site(check, Path(site).resolve())
            self.expect("there is no page", check.problems)

    def picture(self, wanted, source):
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory).resolve() / "x.svg"
            path.write_text(source, encoding="utf-8")
            check = Check(self.browser)
            check.picture(path)
            self.expect(wanted, check.problems)

    def test_pictures(self):
        for wanted, body in PICTURES.items():
            with self.subTest(wanted):
                self.picture(wanted, PICTURE % ('role="img"', body))

    def test_a_picture_without_what_is_read_aloud(self):
        text = '<text x="10" y="50">fine</text>'
        self.picture("it has no role", PICTURE % ("", text))
        for name in ("title", "desc"):
            self.picture(f"it has no {name}", (PICTURE % ('role="img"', text))
                         .replace(name, "metadata"))

    def test_a_moment_of_a_picture_that_moves(self):
        self.picture("overlap", PICTURE % ('role="img"', """
            <style>.a { animation: a 20s step-end infinite; opacity: 0 }
            @keyframes a { 0% { opacity: 0 } 40% { opacity: 1 }
              60% { opacity: 0 } }</style>
            <text x="10" y="50">one</text>
            <text class="a" x="12" y="50">two</text>"""))


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    unittest.main()
