"""A domed that is asked from another host: its requests and answers, keys, strangers; commands that outlive their daemon.

    remote_daemon.py [PART-OF-A-NAME]"""

import json
import os
import socket
import sys
import threading
import time

import harness
from host_daemon import VERSION, Daemon, free_port
from harness import check


class Pair:
    """Two daemons, as of two hosts: `here` has no open port, `there` has."""

    def __init__(self, key=b"k" * 32, other=None, **how):
        self.port = free_port()
        self.at = "127.0.0.1:%d" % self.port
        self.keys = []
        try:
            self.there = self.daemon(key, ["--listen", self.at], **how)
            self.here = self.daemon(other or key, [], **how)
        except BaseException:
            self.forget_keys()
            raise

    def daemon(self, key, options, **how):
        path = "/tmp/dome-test-key.%d.%d" % (os.getpid(), id(self) % 1000000 + len(self.keys))
        with open(path, "wb", opener=lambda p, f: os.open(p, f, 0o600)) as f:
            f.write(key)
        self.keys.append(path)
        return Daemon(options=["--dedicated", "--key", path] + options, **how)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.here.__exit__()
        self.there.__exit__()
        self.forget_keys()

    def forget_keys(self):
        for path in self.keys:
            os.unlink(path)


def orders():
    with Pair() as p:
        number = p.there.submit("-o", "out", "sleep", "600")
        p.there.wait_state(number, "runs")
        on = ["--on", p.at]
        check(json.loads(p.here.run("ps", "--json", *on)[1])[0]["state"] == "runs", "not seen")
        check(json.loads(p.here.run("ps", "--submitted", "--json")[1]) == [], "in the wrong table")
        check(len(json.loads(p.here.run("hosts", "--json", *on)[1])) == 1, "no hosts")
        p.here.run("suspend", *on, number)
        check(p.there.program(number)["state"] == "stopped", "%s" % p.there.program(number))
        p.here.run("resume", *on, number)
        p.here.run("limits", *on, number, "--priority", "7")
        check(p.there.program(number)["priority"] == 7, "%s" % p.there.program(number))
        times = []
        for _ in range(20):
            begin = time.monotonic()
            p.here.run("ps", "--json", *on)
            times.append(time.monotonic() - begin)
        p.here.run("kill", *on, number)
        p.there.wait_state(number, "ended")
        _, _, err = p.here.run("kill", *on, "j99", status=1)
        check("there is no program j99" in err, err)
        _, _, err = p.here.run("ps", "--on", "127.0.0.1:%d" % free_port(), status=1)
        check("Connection refused" in err, err)
        return "dome ps of another host: %.3f s" % sorted(times)[10]


def attached():
    """Its output comes from a file that both hosts have, its end from the other daemon."""
    with Pair() as p:
        number = p.there.submit("-o", "out", "sh", "-c", "echo begins; sleep 1; echo ends; exit 3")
        _, out, _ = p.here.run("attach", "--on", p.at, number, status=3)
        check(out == "begins\nends\n", out)
        _, _, err = p.here.run("attach", number, status=1)
        check("there is no program" in err, err)
        _, _, err = p.here.run("attach", "--on", p.at, "j99", status=1)
        check("there is no program j99" in err, err)


def keys():
    with Pair(other=b"x" * 32) as p:
        _, _, err = p.here.run("ps", "--on", p.at, status=1)
        check("has another key" in err, err)
        os.chmod(p.keys[1], 0o644)
        _, _, err = p.here.run("ps", "--on", p.at, status=1)
        check("chmod 600" in err, err)
        os.chmod(p.keys[1], 0o600)
        with open(p.keys[1], "wb") as f:
            f.write(b"short")
        _, _, err = p.here.run("ps", "--on", p.at, status=1)
        check("has 5 bytes" in err, err)
        check(p.there.answers(), "it does not answer")
        os.chmod(p.keys[0], 0o640)
        p.there.kill()
        done = harness.subprocess.run([p.there.domed, "--state", p.there.folder, "--socket", p.there.socket] + p.there.options,
                                      env=p.there.environment(), stderr=harness.subprocess.PIPE, timeout=harness.HANG)
        check(done.returncode == 1 and b"chmod 600" in done.stderr, "%s" % done)


def first_key():
    """A daemon that listens makes its key, once; with --key it does not."""
    at = "127.0.0.1:%d" % free_port()
    with Daemon(options=["--dedicated", "--listen", at]) as there, Daemon() as here:
        path = there.folder + "/key"
        check(os.stat(path).st_mode & 0o7777 == 0o600 and "is new: hosts" in there.lines(), there.lines())
        with open(path, "rb") as f:
            key = f.read()
        check(len(key) == 32, "%d bytes" % len(key))
        _, _, err = here.run("ps", "--on", at, status=1)
        check("cannot be read" in err, err)
        harness.subprocess.run(["cp", "-p", path, here.folder], check=True)
        check(json.loads(here.run("ps", "--json", "--on", at)[1]) == [], "not answered")
        there.kill()
        there.start()
        with open(path, "rb") as f:
            check(f.read() == key and there.lines().count("is new") == 1, there.lines())
        check(sorted(n for n in os.listdir(there.folder) if n.startswith("key")) == ["key"], "%s" % os.listdir(there.folder))
        there.kill()
        done = harness.subprocess.run([there.domed, "--state", there.folder, "--socket", there.socket, "--key", there.base + "/none"] + there.options,
                                      env=there.environment(), stderr=harness.subprocess.PIPE, timeout=harness.HANG)
        check(done.returncode == 1 and b"cannot be read" in done.stderr and not os.path.exists(there.base + "/none"), "%s" % done)


class Through:
    """Passes bytes between the daemons."""

    def __init__(self, to):
        self.listener = socket.socket()
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen(5)
        self.to = to
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                here, _ = self.listener.accept()
            except OSError:
                return
            there = socket.create_connection(self.to)
            threading.Thread(target=self.copy, args=(there, here), daemon=True).start()
            threading.Thread(target=self.copy, args=(here, there), daemon=True).start()

    @staticmethod
    def copy(a, b):
        try:
            while data := a.recv(65536):
                b.sendall(data)
        except OSError:
            pass
        for s in a, b:
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def in_the_middle():
    """The handshake binds the address, so that one in the middle is noticed before a line is sent."""
    with Pair() as p:
        number = p.there.submit("-o", "out", "sleep", "600")
        middle = Through(("127.0.0.1", p.port))
        _, _, err = p.here.run("kill", "--on", "127.0.0.1:%d" % middle.listener.getsockname()[1], number, status=1)
        check("another key" in err, err)
        check(p.there.program(number)["state"] in ("starts", "runs"), "%s" % p.there.program(number))


def strangers():
    """10,000 connections that prove nothing, and some that stay: those with the key are served meanwhile."""
    with Pair() as p:
        number = p.there.submit("-o", "out", "sleep", "600")
        done, kept = [], []

        def annoy():
            for k in range(10000):
                s = socket.socket()
                try:
                    s.connect(("127.0.0.1", p.port))
                    s.sendall(os.urandom(16) if k % 2 else os.urandom(64))
                    if k % 2:
                        s.settimeout(5)
                        s.recv(48)
                        s.sendall(b"wish version=%d as=root program=%s what=end\n" % (VERSION, number.encode()) + os.urandom(40))
                except OSError:
                    pass
                if k % 100 == 0:
                    kept.append(s)
                else:
                    s.close()
            done.append(True)

        thread = threading.Thread(target=annoy)
        thread.start()
        worst, count = 0, 0
        while not done:
            begin = time.monotonic()
            check(json.loads(p.here.run("ps", "--json", "--on", p.at)[1])[0]["state"] in ("starts", "runs"), "not served")
            worst, count = max(worst, time.monotonic() - begin), count + 1
        thread.join()
        for s in kept:
            s.close()
        check(worst < 5, "somebody with the key waited for %.1f s" % worst)
        with open("/proc/%d/status" % p.there.process.pid) as f:
            memory = [int(line.split()[1]) for line in f if line.startswith("VmHWM")][0]
        check(memory < 20000, "%d kB" % memory)
        return "%d requests meanwhile, the longest took %.3f s; %d kB" % (count, worst, memory)


def over_an_end():
    """Commands look for the daemon again, and a program that was submitted twice by one command is one."""
    with Daemon() as d:
        failures, stop = [], []

        def ask(k):
            n = 0
            while not stop:
                for words in ["ps", "--submitted", "--json"], ["submit", "-o", "out%d" % k, "true", "%d.%d" % (k, n)]:
                    status, out, err = d.run(*words, status=None)
                    if status:
                        failures.append((words, err))
                n += 1

        threads = [threading.Thread(target=ask, args=(k,)) for k in range(3)]
        for t in threads:
            t.start()
        for _ in range(15):
            time.sleep(0.2)
            d.kill()
            d.start()
        stop.append(True)
        for t in threads:
            t.join()
        check(not [f for f in failures if "no domed runs" not in f[1]], "%s" % failures[:3])
        programs = json.loads(d.run("ps", "--submitted", "--json")[1])
        words = [q["words"][-1] for q in programs]
        check(len(words) == len(set(words)), "submitted twice: %s" % sorted(words))
        return "%d programs, %d commands found no daemon" % (len(words), len(failures))


def main():
    part = sys.argv[1] if len(sys.argv) > 1 else ""
    harness.need_pvm()
    cases = [("orders for another host", orders), ("attach", attached), ("keys", keys), ("the first key", first_key), ("in the middle", in_the_middle), ("strangers by TCP", strangers),
             ("commands over the daemon's end", over_an_end)]
    sys.exit(1 if harness.run_all([c for c in cases if part in c[0]], 3) else 0)


main()
