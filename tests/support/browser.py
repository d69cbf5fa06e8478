"""A headless Chromium, driven through its debugging pipe; no more than the tests of the page need."""

import base64
import json
import os
import shutil
import subprocess
import tempfile


def find():
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Browser:
    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="dome-browser.")
        to_browser, self.out = os.pipe()
        self.inp, from_browser = os.pipe()

        def give_pipes():  # it reads from 3 and writes to 4
            high = [os.dup2(fd, n) for fd, n in ((to_browser, 20), (from_browser, 21))]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        flags = """--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking
            --disable-component-update --disable-sync --disable-default-apps --disable-extensions --disable-dev-shm-usage --hide-scrollbars
            --no-proxy-server --remote-debugging-pipe --user-data-dir=%s --host-resolver-rules=MAP&*&~NOTFOUND&,&EXCLUDE&127.0.0.1""".split()
        flags = [f.replace("&", " ").replace("%s", self.folder) for f in flags]
        self.process = subprocess.Popen(
            [find(), *flags, "about:blank"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
            close_fds=False,
            preexec_fn=give_pipes,
            env=dict(os.environ, HOME=self.folder, XDG_CONFIG_HOME=self.folder, XDG_CACHE_HOME=self.folder),
        )
        os.close(to_browser)
        os.close(from_browser)
        self.buffer, self.number, self.session, self.events = b"", 0, None, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in "Page", "Runtime", "Network":
            self.call(domain + ".enable")

    def message(self):
        while b"\0" not in self.buffer:
            piece = os.read(self.inp, 1 << 16)
            if not piece:
                raise RuntimeError("the browser has ended")
            self.buffer += piece
        one, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(one)

    def call(self, method, **parameters):
        self.number += 1
        request = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            request["sessionId"] = self.session
        text = json.dumps(request).encode() + b"\0"
        while text:
            text = text[os.write(self.out, text) :]
        while True:
            message = self.message()
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError("%s: %s" % (method, message["error"]))
                return message["result"]
            self.events.append(message)

    def open(self, address):
        self.events = []
        error = self.call("Page.navigate", url=address).get("errorText")
        if error:
            raise RuntimeError(error)
        while not any(e["method"] == "Page.loadEventFired" for e in self.events):
            self.events.append(self.message())

    def run(self, expression):
        """The value of an expression of JavaScript."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(json.dumps(result["exceptionDetails"]))
        return result["result"].get("value")

    def requests(self):
        return [e["params"]["request"]["url"] for e in self.events if e["method"] == "Network.requestWillBeSent"]

    def complaints(self):
        """What the page has thrown or was not allowed to do."""
        return [e for e in self.events if e["method"] == "Runtime.exceptionThrown"] + [
            e for e in self.events if e["method"] == "Runtime.consoleAPICalled" and e["params"]["type"] == "error"
        ]

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def key(self, key):
        for kind in "keyDown", "keyUp":
            self.call("Input.dispatchKeyEvent", type=kind, key=key, **({"text": key} if len(key) == 1 and kind == "keyDown" else {}))

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def scheme(self, name):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def picture(self, path):
        with open(path, "wb") as f:
            f.write(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def close(self):
        try:
            self.session = None
            self.call("Browser.close")
        except (RuntimeError, OSError):
            pass
        self.process.wait()
        os.close(self.out)
        os.close(self.inp)
        shutil.rmtree(self.folder, ignore_errors=True)
