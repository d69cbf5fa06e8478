"""A trace that an earlier version of the library has written (tests/data/traces): the same can be read of it."""

import json
import os
import re
import subprocess
import sys
import tempfile

DOME = os.environ["DOME_BUILD_DIR"] + "/tools/dome"
TRACE = os.environ["DOME_SOURCE_DIR"] + "/tests/data/traces/known.trace"  # heat --rows 30 --columns 20 --steps 6 --dome-tasks 3
failures = 0


def check(condition, text):
    global failures
    if not condition:
        failures += 1
        print("failed: %s" % text)


def view(*arguments):
    done = subprocess.run([DOME, "view", TRACE, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    check(done.returncode == 0 and not done.stderr, "status %d: %s" % (done.returncode, done.stderr))


with tempfile.TemporaryDirectory(prefix="dome-known-test.") as folder:
    view("-o", folder + "/out.json")
    with open(folder + "/out.json") as f:
        events = json.load(f)["traceEvents"]
    tasks = {e["pid"] for e in events if e["ph"] == "X"}
    check(len(tasks) == 3, "tasks %s" % tasks)
    for name in "dvec_stencil", "dome_finalize":
        found = [e for e in events if e["ph"] == "X" and e["name"] == name]
        check(len(found) >= 3, "%d of %s" % (len(found), name))
    view("-o", folder + "/out.html")
    with open(folder + "/out.html") as f:
        data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', f.read(), re.S).group(1))
    check(data["strange"] == 0, "%s lines are not understood" % data["strange"])
    check(data["shared"] == [], "regions: %s" % data["shared"])
print("ok" if not failures else "%d failed" % failures)
sys.exit(1 if failures else 0)
