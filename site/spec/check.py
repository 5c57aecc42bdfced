#!/usr/bin/env python3
"""Looks at the site in a browser: check.py [--shots DIRECTORY] SITE; or at pages
that are served, which are to have no script: … --served NAME=URL …

Each page, wide and narrow, light and dark: nothing is wider than the page,
pictures are there, text stands out from its ground, links lead somewhere, the
console is silent. Each picture of doc/pictures and doc/bench by itself: no text
is cut off or overlaps another one, at several moments if it moves. The exit code
is 0 if nothing is wrong."""
import argparse
import os
import sys
import urllib.parse
from pathlib import Path

from browser import Browser

ROOT = Path(__file__).resolve().parents[2]
LOOK = Path(__file__).with_name("look.js").read_text(encoding="utf-8")
WIDTHS = (1200, 390)
SCHEMES = ("light", "dark")
MOMENTS_MS = (0, 4000, 10000, 16000, 22000)

OPEN_ALL = "for (const one of document.querySelectorAll('details')) one.open = true"
# (Whoever got something to run has set `ran`.)
FIND_ALIVE = """
  return [...document.querySelectorAll("script, img, iframe, object, form")]
    .map(one => `it has a ${one.localName}`)
    .concat(window.ran === undefined ? [] : [`a script has run: ${window.ran}`]);
"""


class Check:
    """What was looked at, and what was found."""

    def __init__(self, browser, shots=None):
        self.browser = browser
        self.shots = shots
        self.looks = 0
        self.problems = []
        self.pages = {}  # path -> its links and anchors

    def find(self, where, problems):
        for problem in problems:
            self.problems.append(f"{where}: {problem}")

    def _look(self, path, name, moment=0):
        self.looks += 1
        seen = self.browser.run(LOOK, moment)
        self.find(name, seen["wrong"])
        self.find(name, self.browser.complaints())
        if self.shots:
            shot = Path(self.shots) / f"{name.replace('/', '_')}.png"
            shot.parent.mkdir(parents=True, exist_ok=True)
            self.browser.shoot(shot)
        return seen

    def page(self, site, path):
        """A page of the site in all views."""
        for width in WIDTHS:
            for scheme in SCHEMES:
                self.browser.show(width, 900, scheme)
                self.browser.go(path.as_uri())
                name = f"{path.relative_to(site)}-{width}-{scheme}"
                self.pages[path] = self._look(path, name)

    def served(self, name, url):
        """A page that shows what strangers write, in all views, with all that
        can be opened in it open: nothing of theirs has become a part of it."""
        for width in WIDTHS:
            for scheme in SCHEMES:
                self.browser.show(width, 900, scheme)
                self.browser.go(url)
                self.browser.run(OPEN_ALL)
                at = f"{name}-{width}-{scheme}"
                self._look(url, at)
                self.find(at, self.browser.run(FIND_ALIVE))

    def picture(self, path):
        """A picture by itself, so large that all of it is seen."""
        moving = "@keyframes" in path.read_text(encoding="utf-8")
        for scheme in SCHEMES:
            self.browser.show(1000, 1300, scheme)
            self.browser.go(path.as_uri())
            for moment in MOMENTS_MS if moving else (0,):
                at = f"-{moment:.0f}" if moving else ""
                self._look(path, f"{path.name}-{scheme}{at}", moment)
        if moving:  # … and for those who want nothing to move
            self.browser.show(1000, 1300, "light", motion="reduce")
            self.browser.go(path.as_uri())
            self._look(path, f"{path.name}-still")
            if self.browser.run("return document.getAnimations().length"):
                self.find(path.name, ["it moves for who wants no motion"])

    def links(self, site):
        """Whether what the pages link to within the site is there."""
        for page, seen in self.pages.items():
            for link in sorted(set(seen["links"])):
                parts = urllib.parse.urlsplit(link)
                if parts.scheme != "file":
                    continue
                path = Path(urllib.parse.unquote(parts.path))
                anchor = urllib.parse.unquote(parts.fragment)
                where = str(page.relative_to(site))
                if path not in self.pages and not path.is_file():
                    self.find(where, [f"{path} is not there"])
                elif anchor and anchor not in self.pages.get(
                        path, {"anchors": []})["anchors"]:
                    self.find(where, [f"{path.name} has no #{anchor}"])


def check_site(check, site):
    """All pages of a site, and their links."""
    pages = sorted(site.rglob("*.html"))
    if not pages:
        check.find(str(site), ["there is no page"])
    for path in pages:
        check.page(site, path)
    check.links(site)


def look_at_site(check, site):
    """The site, and the pictures of the tree."""
    pictures = sorted([*ROOT.glob("doc/pictures/*.svg"),
                       *ROOT.glob("doc/bench/*.svg")])
    if not pictures:
        check.find("doc", ["there is no picture"])
    check_site(check, site)
    for path in pictures:
        check.picture(path)
    return f"{len(check.pages)} pages and {len(pictures)} pictures"


def look_at_served(check, pages):
    """Pages that somebody serves, NAME=URL each."""
    for page in pages:
        name, url = page.split("=", 1)
        check.served(name, url)
    return f"{len(pages)} pages"


def main():
    parser = argparse.ArgumentParser(description="Looks at the site.")
    parser.add_argument("--shots", help="where pictures of it all are kept")
    parser.add_argument("--served", nargs="+", metavar="NAME=URL",
                        help="look at these pages, and at nothing else")
    parser.add_argument("site", nargs="?")
    options = parser.parse_args()
    if not options.site and not options.served:
        parser.error("say which site")
    with Browser() as browser:
        check = Check(browser, options.shots)
        if options.served:
            looked_at = look_at_served(check, options.served)
        else:
            looked_at = look_at_site(check, Path(options.site).resolve())
    for problem in check.problems:
        print("FAILED ", problem)
    print(f"{looked_at} in {check.looks} views, {len(check.problems)} problems")
    return 1 if check.problems else 0


if __name__ == "__main__":
    os.umask(0o022)
    sys.exit(main())
