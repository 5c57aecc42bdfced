"""Chromium without a window, driven by WebDriver's protocol."""
import base64
import json
import os
import re
import shutil
import subprocess
import tempfile
import urllib.request

PATIENCE_S = 60  # for whatever the browser is asked


class Browser:
    """With a profile of its own, which is removed with it.

    with Browser() as browser:
        browser.show(width=390, height=800, scheme="dark")
        browser.go("file:///…/index.html")
        print(browser.run("return document.title"))
    """

    def __init__(self):
        self.profile = tempfile.mkdtemp(prefix="zklock-site-")
        self.driver = None
        self.session = None

    def __enter__(self):
        try:
            self._start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def _start(self):
        # In a group of its own: what is left of it can be ended, and nothing
        # else.
        self.driver = subprocess.Popen(  # pylint: disable=consider-using-with
            ["chromedriver", "--port=0"], stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
            start_new_session=True, text=True,
            env={**os.environ, "TMPDIR": self.profile})
        for line in self.driver.stdout:
            found = re.search(r"started successfully on port (\d+)", line)
            if found:
                break
        else:
            raise RuntimeError("chromedriver did not start")
        self.root = f"http://127.0.0.1:{found.group(1)}/session"
        answer = self._ask("POST", self.root, {"capabilities": {
            "alwaysMatch": {
                "browserName": "chrome",
                "goog:loggingPrefs": {"browser": "ALL"},
                "goog:chromeOptions": {"args": [
                    "--headless", "--no-sandbox", "--disable-gpu",
                    "--disable-quic", "--no-first-run", "--hide-scrollbars",
                    "--disable-background-networking",
                    "--disable-component-update", "--disable-sync",
                    "--disable-dev-shm-usage",
                    f"--user-data-dir={self.profile}/profile"]}}}})
        self.session = f"{self.root}/{answer['sessionId']}"

    def _ask(self, method, url, body=None):
        request = urllib.request.Request(
            url, method=method, headers={"Content-Type": "application/json"},
            data=None if body is None else json.dumps(body).encode())
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_S) as reply:
                return json.load(reply)["value"]
        except urllib.error.HTTPError as error:
            value = json.load(error)["value"]
            raise RuntimeError(f"{value['error']}: {value['message']}") \
                from error

    def _do(self, what, body):
        return self._ask("POST", f"{self.session}/{what}", body)

    def _devtools(self, command, **parameters):
        return self._do("goog/cdp/execute",
                        {"cmd": command, "params": parameters})

    def show(self, width, height, scheme, motion="no-preference"):
        """From now on the window has this size, in CSS's pixels, and the
        reader these preferences."""
        self._devtools("Emulation.setDeviceMetricsOverride", width=width,
                       height=height, deviceScaleFactor=1, mobile=False)
        self._devtools("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": scheme},
            {"name": "prefers-reduced-motion", "value": motion}])

    def go(self, url):
        """Returns when everything is loaded."""
        self._do("url", {"url": url})

    def run(self, script, *arguments):
        """What a function's body returns there."""
        return self._do("execute/sync", {"script": script, "args": arguments})

    def complaints(self):
        """What the console has got since the last time."""
        return [entry["message"] for entry in self._do("se/log",
                                                       {"type": "browser"})
                if entry["level"] in ("SEVERE", "WARNING")]

    def shoot(self, path, whole=True):
        """A picture of the page, as PNG."""
        shot = self._devtools("Page.captureScreenshot",
                              captureBeyondViewport=whole)
        with open(path, "wb") as file:
            file.write(base64.b64decode(shot["data"]))

    def close(self):
        """Ends the browser and its driver."""
        if self.session:
            try:
                self._ask("DELETE", self.session)
            except (OSError, RuntimeError):
                pass  # it is ended below
            self.session = None
        if self.driver:
            self.driver.terminate()
            try:
                self.driver.wait(10)
            except subprocess.TimeoutExpired:
                self.driver.kill()
                self.driver.wait()
            self.driver.stdout.close()
            self.driver = None
        shutil.rmtree(self.profile, ignore_errors=True)
