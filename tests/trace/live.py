"""The live page: who gets it and who does not, that it moves, of programs started with a trace and without, and that the program never
waits for who looks at it."""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

import browser

RUN_MULTI, BUILD = os.environ["RUN_MULTI"], os.environ["DOME_BUILD_DIR"]
DOME, WORKER = BUILD + "/tools/dome", BUILD + "/tests/programs/worker"
HANG = 120  # seconds: what takes longer hangs
failures = 0
folder = None


def fail(what, text):
    global failures
    failures += 1
    print("failed: %s: %s" % (what, text))


def until(condition):
    begin = time.monotonic()
    while not condition():
        if time.monotonic() - begin > HANG:
            raise RuntimeError("waited %g s" % HANG)
        time.sleep(0.02)


class Program:
    """Three tasks that are in collective operations until they are told to end."""

    def __init__(self, name):
        self.trace, self.marks = folder + "/" + name, folder + "/marks." + name
        os.mkdir(self.marks)
        arguments = [RUN_MULTI, "3", WORKER, self.marks, "1", "mixed", "--dome-trace", self.trace]
        self.process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until(lambda: self.operations() > 0)

    def operations(self):
        """How many operations the trace says that task 0 has done."""
        try:
            with open(self.trace) as f:
                text = f.read()
        except FileNotFoundError:
            return 0
        mine = "".join(part for part in re.split("^T ", text, flags=re.M) if part.startswith("0\n"))
        return len(re.findall("^[og] ", mine, re.M))

    def end(self):
        if self.process.poll() is None:
            with open(self.marks + "/rank.1") as f:
                os.kill(int(f.read()), signal.SIGKILL)
            self.process.wait(HANG)


class View:
    def __init__(self, *arguments):
        self.process = subprocess.Popen([DOME, "view", "--live", *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, universal_newlines=True)
        self.address = self.process.stdout.readline().strip()
        parts = re.match(r"http://([\d.]+):(\d+)/([0-9a-f]{32})/$", self.address)
        if not parts:
            raise RuntimeError("dome view --live: status %d" % self.process.wait(HANG))
        self.host, self.port, self.token = parts.groups()

    def ask(self, path, method="GET", headers=None):
        c = http.client.HTTPConnection(self.host, int(self.port), timeout=HANG)
        c.putrequest(method, path, skip_accept_encoding=True)
        for key, value in (headers or {}).items():
            c.putheader(key, value)
        c.endheaders()
        answer = c.getresponse()
        body = answer.read()
        c.close()
        return answer.status, body, answer.headers

    def end(self):
        self.process.terminate()
        self.process.communicate(timeout=HANG)
        if self.process.returncode != 0:
            fail("dome view --live", "status %d" % self.process.returncode)


def refused(what, words, *arguments):
    p = subprocess.run([DOME, "view", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    if p.returncode not in (1, 2) or p.stdout or words not in p.stderr or p.stderr.count("\n") != 1:
        fail(what, "status %d: %s%s" % (p.returncode, p.stdout, p.stderr))


def check_refusals(program, view):
    """Nothing without the token, nothing but the page and its data."""
    good, wrong = "/" + view.token, "/" + "0" * 32
    for path, wanted in (
        (good + "/", 200),
        (good + "/data.json", 200),
        ("/", 403),
        (wrong + "/", 403),
        (wrong + "/data.json", 403),
        (good[:-1] + "/", 403),
        (good + "0/", 403),
        (good, 404),
        (good + "/other", 404),
        (good + "/../../../../etc/passwd", 404),
        (good + "/%2e%2e/%2e%2e/etc/passwd", 404),
        ("/../etc/passwd", 403),
        (good + "/data.json/", 404),
    ):
        status, body, headers = view.ask(path)
        if status != wanted:
            fail("refusals", "%s gets %d instead of %d" % (path.replace(view.token, "TOKEN"), status, wanted))
        if status != 200 and (b"root:" in body or view.token.encode() in body or len(body) > 200):
            fail("refusals", "%s says too much: %r" % (path, body))
    for method in "POST", "PUT", "DELETE":
        if view.ask(good + "/", method, {"Content-Length": "0"})[0] != 405:
            fail("refusals", method)
    status, body, headers = view.ask(good + "/data.json")
    data = json.loads(body)
    if data["size"] != 3 or not data["live"] or headers["Cache-Control"] != "no-store":
        fail("data", str(headers))
    if b"default-src 'none'" not in view.ask(good + "/")[1]:
        fail("page", "its policy is missing")
    refused("a port in use", "port %s of 127.0.0.1 is in use" % view.port, "--live", program.trace, "--port", view.port)
    refused("an address that others reach", "add --open", "--live", program.trace, "--address", "0.0.0.0")
    refused("no address", "not an address", "--live", program.trace, "--address", "nowhere")
    refused("a port that cannot be", "there is no port 70000", "--live", program.trace, "--port", "70000")
    refused("no such program", "runs as 1 ", "--live", "1")
    refused("no such trace", "No such file", "--live", folder + "/not-there")
    refused("output of a live page", "leave out -o", "--live", program.trace, "-o", folder + "/x.html")


def check_after(program, view):
    """The end of the program is on the page's data as well."""

    def ended():
        data = json.loads(view.ask("/%s/data.json" % view.token)[1])
        return data["ended"] and any(m[1] == "failure" and "task 1 on host" in m[2] for m in data["marks"])

    until(ended)
    tag = view.ask("/%s/data.json" % view.token)[2]["ETag"]
    status, body, _ = view.ask("/%s/data.json" % view.token, headers={"If-None-Match": tag})
    if (status, body) != (304, b""):
        fail("unchanged data", "%d, %d bytes" % (status, len(body)))


def check_rude_viewers(program, view):
    """Who connects and says nothing, or asks and does not read, keeps nobody waiting."""
    silent = [socket.create_connection((view.host, int(view.port))) for _ in range(5)]
    for s in silent[2:]:
        for _ in range(20):
            s.send(("GET /%s/data.json HTTP/1.1\r\nHost: x\r\n\r\n" % view.token).encode())
    before = program.operations()
    until(lambda: program.operations() > before)
    if view.ask("/%s/" % view.token)[0] != 200:
        fail("rude viewers", "others get nothing")
    for s in silent:
        s.close()


def check_browser(program, view):
    b = browser.Browser()
    try:
        b.open(view.address)
        seen = b.run("dome.data.end")
        until(lambda: b.run("dome.data.end") > seen)
        if not b.run("document.getElementById('live').textContent").startswith("live"):
            fail("browser", b.run("document.getElementById('live').textContent"))
        if any(not r.startswith(view.address) and not r.startswith("data:") for r in b.requests()):
            fail("browser", "it asked for %s" % b.requests())
        if b.complaints():
            fail("browser", str(b.complaints())[:1000])
        # Stopped, it reads nothing more; the program goes on all the same.
        os.kill(b.process.pid, signal.SIGSTOP)
        before = program.operations()
        until(lambda: program.operations() > before + 2)
        os.kill(b.process.pid, signal.SIGCONT)
        seen = b.run("dome.data.end")
        until(lambda: b.run("dome.data.end") > seen)
        program.end()
        until(lambda: b.run("document.getElementById('live').textContent") == "the program has ended")
        if "task 1 on host" not in b.run("document.getElementById('note').textContent"):
            fail("browser", "it does not say why the program ended")
    finally:
        b.close()


def check_run_view():
    """dome run --view: the page is there while the program runs, and nothing is left afterwards."""
    what, marks = "dome run --view", folder + "/marks.view"
    os.mkdir(marks)
    temporary = folder + "/tmp"
    os.mkdir(temporary)
    environment = {k: v for k, v in os.environ.items() if k not in ("PVM_VMID", "PVMSOCK", "DOME_OPTIONS", "DOME_HUB")}
    environment.update(TMPDIR=temporary, PVM_TMP=temporary)
    p = subprocess.Popen([DOME, "run", "-n", "2", "--view", WORKER, marks, "1", "mixed"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                         universal_newlines=True, env=environment)
    address, words = None, ""
    while not address:
        line = p.stderr.readline()
        words += line
        if not line:
            fail(what, words)
            return
        address = re.search(r"http://127.0.0.1:(\d+)/([0-9a-f]{32})/", line)
    port, token = address.groups()

    def data():
        c = http.client.HTTPConnection("127.0.0.1", int(port), timeout=HANG)
        try:
            c.request("GET", "/%s/data.json" % token)
            answer = c.getresponse()
            body = answer.read()
            return json.loads(body) if answer.status == 200 else None
        finally:
            c.close()

    until(lambda: (data() or {}).get("size") == 2 and os.path.exists(marks + "/rank.1"))
    end = data()["end"]
    until(lambda: data()["end"] > end)
    with open(marks + "/rank.1") as f:
        os.kill(int(f.read()), signal.SIGKILL)
    p.communicate(timeout=HANG)  # nobody holds the program's output open
    if p.returncode != 1:
        fail(what, "status %d" % p.returncode)

    def gone():
        try:
            socket.create_connection(("127.0.0.1", int(port))).close()
            return False
        except ConnectionRefusedError:
            return True

    until(gone)
    until(lambda: not os.listdir(temporary))


class Quiet:
    """A program that was started without a trace: TASKS ("self": one, without a hub) in collective operations."""

    def __init__(self, tasks, *place, **environment):
        self.marks = tempfile.mkdtemp(dir=folder)
        self.start([RUN_MULTI, tasks, WORKER, self.marks, "9", *(place or ["mixed"])], "/there.0", tasks, environment)

    def start(self, command, mark, tasks, environment):
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=dict(os.environ, **environment))
        until(lambda: os.path.exists(self.marks + mark))
        with open(self.marks + "/rank.0") as f:
            self.rank0 = int(f.read())
        with open("/proc/%d/stat" % self.rank0) as f:
            self.pid = self.rank0 if tasks == "self" else int(f.read().rsplit(")", 1)[1].split()[1])  # the hub is its parent

    def recordings(self):
        """The files of the recording that it holds."""
        found, directory = [], "/proc/%d/fd" % self.pid
        for fd in os.listdir(directory) if os.path.exists(directory) else []:
            try:
                if "dome-trace" in os.readlink(directory + "/" + fd):
                    found.append(directory + "/" + fd)
            except FileNotFoundError:  # closed meanwhile
                pass
        return found

    def records(self):
        return bool(self.recordings())

    def end(self):
        if self.process.poll() is None:
            os.kill(self.rank0, signal.SIGKILL)
            self.process.wait(HANG)


class Changing(Quiet):
    """One that can change its number of tasks, two at first."""

    def __init__(self):
        self.marks = tempfile.mkdtemp(dir=folder)
        self.start([RUN_MULTI, "2", BUILD + "/tests/programs/elastic", "1000000", "5", "-", self.marks], "/step.0", "2", {})


def data_of(view):
    status, body, _ = view.ask("/%s/data.json" % view.token)
    return json.loads(body) if status == 200 else None


def moves(view):
    """The page's data goes on."""
    until(lambda: data_of(view))
    seen = data_of(view)["end"]
    until(lambda: data_of(view)["end"] > seen)
    return data_of(view)


def check_times(what, data):
    """No task has been in operations for longer than the program has run."""
    run = data["runs"][-1]
    ran = run.get("before", 0) + data["end"] - run["begin"]
    for rank in range(data["size"]):
        inside = sum(t[1] + t[2] for o in data["operations"] for t in o["tasks"] if t[0] == rank)
        if inside > ran + 0.01:
            fail(what, "task %d was in operations for %.3f s in %.3f s" % (rank, inside, ran))


def check_on_demand(tasks):
    """A program that records nothing begins to when somebody looks, and goes on whoever comes and goes."""
    what, size = "on demand, " + tasks, 1 if tasks == "self" else int(tasks)
    program = Quiet(tasks)
    try:
        if program.records():
            fail(what, "it records before anybody looks")
        time.sleep(1)  # of which the totals are
        first = View(str(program.pid))
        data = moves(first)
        check_times(what, data)
        if data["size"] != size or sorted(v["name"] for v in data["vectors"]) != ["index", "x", "y"] or not data["groups"][0]["layouts"]:
            fail(what, "the vectors that were there are not in it")
        if [m[1] for m in data["marks"]] != ["begin"] or len(data["loads"]) != size or data["strange"]:
            fail(what, str(data["marks"]))
        until(lambda: all(load for load in data_of(first)["loads"]))
        second = View(str(program.pid))
        if moves(second)["started_ms"] != data["started_ms"]:
            fail(what, "two who look see two recordings")
        first.end()
        moves(second)
        second.end()
        again = View(str(program.pid))
        if moves(again)["started_ms"] != data["started_ms"]:
            fail(what, "who comes soon after does not find what was")
        program.end()
        until(lambda: data_of(again)["ended"] or data_of(again)["gone"])
        if tasks != "self" and not any(m[1] == "failure" and "task 0 on host" in m[2] for m in data_of(again)["marks"]):
            fail(what, "it does not say why the program ended")
        again.end()
    finally:
        program.end()
    refused(what + ", ended", "runs as %d " % program.pid, "--live", str(program.pid))


def check_views():
    """A recording on demand tells of the views before it, and goes on across those that follow."""
    what = "views"
    program = Changing()

    def order(*words):
        p = subprocess.run([DOME, words[0], str(program.pid), *words[1:]], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, universal_newlines=True)
        if p.returncode != 0:
            fail(what, p.stderr)

    try:
        order("grow")
        view = View(str(program.pid))
        moves(view)
        order("grow", "-n", "2")
        order("shrink")
        until(lambda: len(data_of(view)["views"]) == 4 and len(data_of(view)["views"][3]) > 8)
        until(lambda: all(load for task, load in zip(data_of(view)["tasks"], data_of(view)["loads"]) if task["run"] == 2))
        data = moves(view)
        seen = [(v[1], v[2], v[4], v[5], v[6]) for v in data["views"]]
        wanted = [(0, 2, 0, "start", ""), (1, 3, 0, "grow", "dome grow"), (2, 5, 1, "grow", "dome grow"), (3, 4, 2, "shrink", "dome shrink")]
        if seen != wanted or not data["views"][0][0] <= data["views"][1][0] <= 0 < data["views"][2][0] < data["views"][3][0] <= data["end"]:
            fail(what, "%s" % data["views"])
        if any(len(v) != 12 or min(v[7:]) < 0 for v in data["views"][1:]):
            fail(what, "not all parts of the changes are known: %s" % data["views"])
        if [r["tasks"] for r in data["runs"]] != [3, 5, 4] or data["strange"] or [m[1] for m in data["marks"]] != ["begin"]:
            fail(what, "runs %s, marks %s, %d strange lines" % (data["runs"], data["marks"], data["strange"]))
        if sorted({v["run"] for v in data["vectors"] if v["name"] == "x"}) != [0, 1, 2]:
            fail(what, "the vectors do not go on: %s" % data["vectors"])
        view.end()
    finally:
        program.end()


def check_forgetting(tasks):
    """When nobody has looked for a while nothing is recorded or kept; and a recording does not grow without bound."""
    program = Quiet(tasks, DOME_TRACE_TEST_LINGER="0.3", DOME_TRACE_TEST_ROOM="60000")
    try:
        for _ in range(2):
            view = View(str(program.pid))
            started = moves(view)["started_ms"]
            until(lambda: (data_of(view) or {"started_ms": started})["started_ms"] != started)  # it was full, and begun anew
            until(lambda: len((data_of(view) or {"vectors": []})["vectors"]) == 3)  # tasks record them anew one after the other
            view.end()
            until(lambda: not program.records())
    finally:
        program.end()


def check_stopped(tasks, steps=400):
    """Viewers that are stopped, and connections that ask and do not read: the program comes to its end, and nothing grows."""
    what, room = "stopped viewers, " + tasks, 100000
    program = Quiet(tasks, "steps", str(steps), DOME_TRACE_TEST_ROOM=str(room))
    views, largest, memory = [], 0, 0
    try:
        try:
            for _ in range(3):
                views.append(View(str(program.pid)))
        except RuntimeError:
            if steps > 4000:
                raise
            check_stopped(tasks, 10 * steps)  # the program had ended by then
            return
        silent = [socket.create_connection((views[0].host, int(views[0].port))) for _ in range(5)]
        for s in silent:
            for _ in range(50):
                s.send(("GET /%s/data.json HTTP/1.1\r\nHost: x\r\n\r\n" % views[0].token).encode())
        for view in views[1:]:
            os.kill(view.process.pid, signal.SIGSTOP)
        while program.process.poll() is None:
            try:
                largest = max([largest] + [os.stat(f).st_size for f in program.recordings()])
                with open("/proc/%d/status" % program.pid) as f:
                    memory = max([memory] + [int(line.split()[1]) for line in f if line.startswith("VmRSS")])
            except (FileNotFoundError, ProcessLookupError):
                pass
            time.sleep(0.01)
        if program.process.returncode != 0:
            fail(what, "the program ends with status %d" % program.process.returncode)
        # What is in the ring and on its way when it is full comes on top.
        if not 0 < largest < room + 3 * (1 << 20) or memory > 200000:
            fail(what, "the recording had up to %d bytes, its process %d kB" % (largest, memory))
        for s in silent:
            s.close()
    finally:
        program.end()
        for view in views:
            os.kill(view.process.pid, signal.SIGCONT)
            view.end()


def check_other_user():
    """Another user gets nothing, and does not keep the program from going on."""
    if os.geteuid() != 0:
        print("note: without root there is no other user to try")
        return
    program = Quiet("2")
    try:
        child = os.fork()
        if child == 0:
            status = 1
            try:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)
                s = socket.socket(socket.AF_UNIX)
                with open("/proc/net/unix") as f:
                    name = next(l.split("@")[1] for l in f if "@dome-view/0/%d/" % program.pid in l)
                s.connect("\0" + name.rstrip("\n"))
                message, ancillary, _, _ = s.recvmsg(100, 100)
                status = 0 if not message and not ancillary else 2
            except ConnectionResetError:
                status = 0
            finally:
                os._exit(status)
        if os.waitpid(child, 0)[1] != 0:
            fail("another user", "is not sent away")
        if program.records():
            fail("another user", "makes the program record")
        view = View(str(program.pid))
        moves(view)
        view.end()
    finally:
        program.end()


def main():
    global folder
    helped = subprocess.run([DOME, "view", "--live", "/dev/null"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    probe = subprocess.run([DOME, "view", "--live", __file__], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    for p in helped, probe:
        if p.returncode != 1 or "not a trace" not in p.stderr:
            fail("another file", p.stderr)
    with tempfile.TemporaryDirectory(prefix="dome-live-test.") as folder:
        program = Program("live.trace")
        refusal = subprocess.run([DOME, "view", "--live", program.trace, "--address", "192.0.2.1", "--open"], stderr=subprocess.PIPE,
                                 stdout=subprocess.PIPE, universal_newlines=True)
        if "built without libmicrohttpd" in refusal.stderr:
            program.end()
            print("skipped: this build is without libmicrohttpd")
            return 77
        view = View(program.trace)
        try:
            check_refusals(program, view)
            check_rude_viewers(program, view)
            again = View(program.trace)  # come and go
            again.end()
            if browser.find():
                check_browser(program, view)
            else:
                print("note: without chromium the page itself is not looked at")
                program.end()
            check_after(program, view)
        finally:
            program.end()
            view.end()
        check_run_view()
        for tasks in "3", "self":
            check_on_demand(tasks)
            check_forgetting(tasks)
            check_stopped(tasks)
        check_views()
        check_other_user()
    print("ok" if not failures else "%d failed" % failures)
    return 1 if failures else 0


sys.exit(main())
