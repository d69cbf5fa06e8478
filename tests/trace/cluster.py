"""The page of submitted programs and hosts: what it shows, the orders that it takes, and from whom; in a browser, if there is one.

    cluster.py [PICTURE.png]"""

import contextlib
import http.client
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import browser
import harness
from host_daemon import Daemon
from harness import check, wait_until


class Page:
    def __init__(self, d):
        self.process = subprocess.Popen([d.dome, "view", "--submitted"], env=d.environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, universal_newlines=True)
        self.address = self.process.stdout.readline().strip()
        self.host, self.port, self.token = re.match(r"http://([\d.]+):(\d+)/([0-9a-f]{32})/$", self.address).groups()

    def ask(self, path, method="GET", body=None):
        c = http.client.HTTPConnection(self.host, int(self.port), timeout=harness.HANG)
        c.request(method, path, body)
        answer = c.getresponse()
        return answer.status, answer.read().decode()

    def order(self, text):
        return self.ask("/%s/order" % self.token, "POST", text)

    def data(self):
        return json.loads(self.ask("/%s/data.json" % self.token)[1])

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.process.terminate()
        check(self.process.wait(harness.HANG) == 0, "status of dome view")


def orders():
    with Daemon() as d, Page(d) as page:
        number = d.submit("-o", "out", "sh", "-c", "sleep 600", "<b>")
        d.wait_state(number, "runs")
        found = page.data()
        check(found["programs"][0]["program"] == number and found["programs"][0]["words"][-1] == "<b>", "%s" % found)
        check(found["hosts"][0]["slots"] == 16, "%s" % found)
        check(page.order("stop " + number)[0] == 200, "not taken")
        d.wait_state(number, "stopped")
        check(page.order("run " + number)[0] == 200, "not taken")
        d.wait_state(number, "runs")
        check(page.order("priority %s -3" % number)[0] == 200 and d.program(number)["priority"] == -3, "%s" % d.program(number))
        check(page.order("tasks %s 4" % number)[0] == 200 and page.order("min %s 2" % number)[0] == 200, "not taken")
        check((d.program(number)["min"], d.program(number)["max"]) == (2, 4), "%s" % d.program(number))
        for text in "priority %s 9999", "min %s 5", "priority %s", "tasks %s x", "tasks %s 4 4", "uid %s 0":
            status, said = page.order(text % number)
            check(status == 409, "%s: %d %s" % (text, status, said))
        host = found["hosts"][0]["host"]
        check(page.order("disable " + host)[0] == 200 and page.data()["hosts"][0]["use"] == "disabled", "%s" % page.data())
        for text in "stop j99", "burn " + number, "stop", "stop " + number + " x", "x" * 100000, "", "lost " + host:
            status, said = page.order(text)
            check(status == 409, "%s: %d %s" % (text[:20], status, said))
        for path, method in ("/%s/order" % ("0" * 32), "POST"), ("/order", "POST"), ("/%s/data.json" % ("0" * 32), "GET"):
            check(page.ask(path, method, "end " + number)[0] == 403, path)
        check(page.ask("/%s/order" % page.token)[0] == 404, "an order without words")
        check(page.ask("/%s/" % page.token, "POST", "end " + number)[0] == 405, "an order to the page")
        check(d.program(number)["state"] == "runs", "%s" % d.program(number))
        d.kill()
        check(page.ask("/%s/data.json" % page.token)[0] == 503, "data without a daemon")
        check(page.order("end " + number)[0] == 409, "an order without a daemon")
        d.start()
        check(page.order("end " + number)[0] == 200, "not taken")
        d.wait_state(number, "ended")


def looked_at():
    if not browser.find():
        return "no browser: not looked at"
    with Daemon() as d, Page(d) as page:
        number = d.submit("-o", "out", "sh", "-c", "sleep 600", "<b>bold</b>")
        d.submit("-o", "out", "false")
        d.wait_state(number, "runs")
        with contextlib.closing(browser.Browser()) as b:
            b.open(page.address)
            text = lambda: b.run("document.body.innerText")
            wait_until(lambda: number in text(), "the program on the page")
            check("<b>bold</b>" in text(), text())
            check("1 host of 1, 16 slots" in text(), text())
            click = lambda order: b.run("document.querySelector('[data-order=\"%s\"]').click()" % order)
            click("priority %s 1" % number)
            d.wait_for(number, lambda p: p["priority"] == 1, "its new priority")
            click("stop " + number)
            d.wait_state(number, "stopped")
            wait_until(lambda: "stopped" in text() and "go on" in text(), "the button to go on")
            click("end " + number)
            wait_until(lambda: "really end?" in text(), "a question")
            check(d.program(number)["state"] == "stopped", "ended at once")
            click("end " + number)
            d.wait_state(number, "ended")
            d.kill()
            wait_until(lambda: "No daemon answers" in text(), "a word about the daemon")
            d.start()
            wait_until(lambda: "No daemon answers" not in text(), "the daemon to be back")
            if len(sys.argv) > 1:
                b.picture(sys.argv[1])
            check(not b.complaints(), "%s" % b.complaints())


def main():
    harness.need_pvm()
    if "microhttpd" in subprocess.run([harness.DOME, "view", "--submitted", "--port", "99999"], stderr=subprocess.PIPE, env=harness.clean_environment()).stderr.decode():
        harness.skip("dome was built without libmicrohttpd")
    sys.exit(1 if harness.run_all([("orders of the page", orders), ("the page in a browser", looked_at)], 2) else 0)


main()
