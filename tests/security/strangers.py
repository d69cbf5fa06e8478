"""Anybody on a host can connect to what listens there. Programs that run, and their pages, must not notice.

    strangers.py [PART-OF-A-NAME]"""

import hashlib
import hmac
import json
import os
import re
import resource
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time


import harness
from harness import DOME, PROGRAMS, Run, awake, check, only_line, wait_until

WORKER, STARTER, ELASTIC = PROGRAMS + "/worker", PROGRAMS + "/starter", PROGRAMS + "/elastic"
HERE = os.path.dirname(os.path.abspath(__file__))
TIMEOUT = 4
CROWD = 1200  # more than the descriptors that a login has
GUARD = 30


def limited(limit, *command):
    """With this limit on open files."""
    return ["/bin/bash", "-c", "ulimit %s; exec \"$@\"" % limit, "bash"] + list(command)


def sockets_of(pid):
    found = set()
    for fd in os.listdir("/proc/%d/fd" % pid):
        try:
            name = os.readlink("/proc/%d/fd/%s" % (pid, fd))
        except OSError:
            continue
        if name.startswith("socket:["):
            found.add(name[8:-1])
    return found


def port_of(pid):
    """Where it listens."""
    inodes = sockets_of(pid)
    with open("/proc/%d/net/tcp" % pid) as f:
        for line in f.read().split("\n")[1:]:
            part = line.split()
            if len(part) > 9 and part[3] == "0A" and part[9] in inodes:
                return int(part[1].split(":")[1], 16)
    raise harness.Failure("process %d does not listen" % pid)


def descriptors(pid):
    return len(os.listdir("/proc/%d/fd" % pid))


def memory(pid):
    with open("/proc/%d/status" % pid) as f:
        found = re.search(r"VmRSS:\s+(\d+)", f.read())
    check(found, "process %d has ended" % pid)
    return int(found.group(1))


def processor_time(pid):
    with open("/proc/%d/stat" % pid) as f:
        after = f.read().rsplit(")", 1)[1].split()
    return (int(after[11]) + int(after[12])) / os.sysconf("SC_CLK_TCK")


class Waiting(Run):
    """Three tasks that wait for one of them; its hub is the process that was started."""

    def __init__(self, limit="-Sn 1024", before=()):
        command = list(before) + [WORKER, "%MARKS%", "1", "wait", "--dome-tasks", "3", "--dome-timeout", str(TIMEOUT)]
        super().__init__(limited(limit, *command), {"PVM_ALLOW_ROOT": "1"})
        self.wait_marks("there", 3)
        self.port = port_of(self.pid)

    def is_well(self):
        """The hub hears its tasks, answers, and sees it when one is lost."""
        check(self.process.poll() is None, "the program has ended with status %s: %s" % (self.process.poll(), self.lines()))
        environment = dict(harness.clean_environment(), PVM_TMP=self.tmp)
        shown = subprocess.run([DOME, "ps", "--json"], env=environment, stdout=subprocess.PIPE, timeout=GUARD).stdout
        mine = [program for program in json.loads(shown) if program["pid"] == self.pid]
        check(len(mine) == 1 and len(mine[0]["tasks"]) == 3, "dome ps: %s" % mine)
        check(all(t["silent"] < TIMEOUT for t in mine[0]["tasks"]), "dome ps: %s" % mine)
        os.kill(self.rank(2), signal.SIGKILL)
        check(self.wait() == 1, "status %s" % self.process.returncode)
        only_line(self, r"task 2 on host \S+ is lost: its process (ended|was ended by signal 9 \(.*\)); the program was in .*")
        self.check_clean()


def come(port, how):
    """A stranger; the connection, if it stays."""
    s = socket.socket()
    s.settimeout(GUARD)
    try:
        s.connect(("127.0.0.1", port))
        if how == "garbage":
            s.sendall(os.urandom(300))
        elif how == "big":
            s.sendall(struct.pack(">I", 65536) + b"x" * 60000)
    except OSError: # sent away already
        pass
    if how == "close":
        s.close()
        return None
    return s


def crowd(how):
    """More than there are descriptors for, one after the other; then as long as a task may be silent for the hub to notice what it likes."""
    with Waiting() as run:
        before = memory(run.pid)
        held = [come(run.port, how) for _ in range(CROWD)]
        time.sleep(TIMEOUT + 1)
        wait_until(lambda: descriptors(run.pid) < 100, "the strangers to be sent away", GUARD)
        grown = memory(run.pid) - before
        for s in held:
            if s:
                s.close()
        check(grown < 20000, "the hub has grown by %d KiB" % grown)
        run.is_well()
        return "%d KiB more" % grown


def no_descriptors():
    """The hub has few and cannot get more: it waits without spinning, and hears its tasks."""
    with Waiting("-n 90") as run:
        held = [come(run.port, "hold") for _ in range(300)]
        began, used = time.monotonic(), processor_time(run.pid)
        time.sleep(TIMEOUT - 1)
        share = (processor_time(run.pid) - used) / (time.monotonic() - began)
        check(share < 0.3, "the hub uses %.0f %% of a processor" % (100 * share))
        time.sleep(2)
        for s in held:
            s.close()
        run.is_well()


def limit_is_named():
    """More tasks than there are descriptors: a line that says so."""
    with Run(limited("-n 85", STARTER, "sum", "--dome-tasks", "30", "--dome-output", "all"), {"PVM_ALLOW_ROOT": "1"}) as run:
        status = run.wait()
        run.check_clean()
        check(status == 1, "status %s" % status)
        only_line(run, r"30 tasks are more than the process that watches .*: the limit on open files is 85 \(ulimit -Hn\) on host \S+: .*")


# ---- dome ps of other hosts ----


def read(s, n):
    data = b""
    while len(data) < n:
        more = s.recv(n - len(data))
        if not more:
            return data
        data += more
    return data


def siphash(key, data):
    """SipHash-2-4 with 128 bits."""
    mask = (1 << 64) - 1
    (a, b) = struct.unpack("<QQ", key)
    v = [a ^ 0x736F6D6570736575, b ^ 0x646F72616E646F6D ^ 0xEE, a ^ 0x6C7967656E657261, b ^ 0x7465646279746573]

    def rotated(x, bits):
        return (x << bits | x >> (64 - bits)) & mask

    def rounds(count):
        for _ in range(count):
            for (x, y, first, then) in ((0, 1, 13, 32), (2, 3, 16, 0), (0, 3, 21, 0), (2, 1, 17, 32)):
                v[x] = (v[x] + v[y]) & mask
                v[y] = rotated(v[y], first) ^ v[x]
                v[x] = rotated(v[x], then)

    data += b"\0" * (-(len(data) + 1) % 8) + bytes([len(data) % 256])
    for (word,) in struct.iter_unpack("<Q", data):
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    code = []
    for (k, word) in ((2, 0xEE), (1, 0xDD)):
        v[k] ^= word
        rounds(4)
        code.append(v[0] ^ v[1] ^ v[2] ^ v[3])
    return struct.pack("<QQ", *code)


def ask(port, cookie):
    """As dome ps does from another host: the text, "" if it is refused. The protocol in other words than the library's."""
    with socket.create_connection(("127.0.0.1", port), GUARD) as s:
        place = b"\4" + socket.inet_aton("127.0.0.1") + struct.pack(">H", port)

        def proof(side, nonces, word):
            return hmac.new(cookie, b"dome hub\0" + bytes([side]) + place + nonces + struct.pack(">I", word), hashlib.sha256).digest()

        mine, channel = os.urandom(16), 3
        s.sendall(mine)
        answer = read(s, 48)
        nonces = mine + answer[:16]
        known = answer[16:] == proof(1, nonces, 0)
        s.sendall(struct.pack(">I", channel) + proof(0, nonces, channel))
        text = b""
        try:
            while True:
                more = s.recv(65536)
                if not more:
                    break
                text += more
        except ConnectionResetError:
            pass
        check(known or not text, "the text for somebody who does not know the cookie")
        if not text:
            return ""
        key, said, code = proof(3, nonces, channel)[:16], text[:-16], text[-16:]
        check(siphash(key, struct.pack("<Q", 0) + said) == code, "the code of the answer is another one")
        return said.decode()


def many_looks():
    """Looking at a program from elsewhere leaves nothing behind in it."""
    with Waiting(before=[DOME, "run", "-n", "3"]) as run:
        with open("/proc/%d/environ" % run.rank(0), "rb") as f:
            cookie = re.search(rb"\0DOME_HUB=([0-9a-f]{32});", b"\0" + f.read()).group(1)
        check(ask(run.port, b"0" * 32) == "", "an answer without the cookie")
        before = descriptors(run.pid)
        for _ in range(CROWD):
            text = ask(run.port, cookie)
        check("[program]" in text and "[task 2]" in text, "the answer: %r" % text)
        check(descriptors(run.pid) <= before + 5, "%d descriptors, %d before" % (descriptors(run.pid), before))
        run.is_well()


# ---- the connections for checkpoints ----


def checkpoint_port():
    """Strangers who wait for whatever begins to listen, and say nothing: in a network of its own, where all of it is the program's."""
    alone = ["unshare", "-Urn", "/bin/sh", "-c", "ip link set lo up && exec \"$0\" \"$@\""]
    if subprocess.run(alone + ["true"], stderr=subprocess.DEVNULL).returncode != 0:
        return "not tried: no network of its own to be had here"
    script = "%s -B %s/waylay.py %%MARKS%%/seen %d & sleep 0.3; for i in 1 2 3; do nice -n 19 \"$@\" --dome-checkpoint-dir %%MARKS%%/$i || exit; done"
    script = script % (sys.executable, HERE, GUARD)
    program = [WORKER, "%MARKS%", "0", "steps", "2", "--dome-tasks", "5"]
    with Run(alone + ["/bin/sh", "-c", script, "sh"] + program, {"PVM_ALLOW_ROOT": "1"}) as run:
        status = run.wait()
        took = awake() - run.began
        for p in run.processes():
            harness.kill(p.pid)
        check(status == 0, "status %s after %.1f s: %s" % (status, took, run.lines()))
        with open(run.marks + "/seen") as f:
            seen = f.read().split()
        check(len(seen) >= 1, "nobody listened")
        elsewhere = [s for s in seen if not s.startswith("127.0.0.1:")]
        check(not elsewhere, "it listened at " + ", ".join(elsewhere))
        return "%d ports" % len(seen)


# ---- the names by which a user's commands find programs ----

SOCKETS = "dome-hub", "dome-order", "dome-view"
ANOTHER = 65534  # a user


def as_another(function, *arguments):
    """A process of another user, which runs until it is killed, once it has written a byte."""
    ends = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.setgroups([])
            os.setgid(ANOTHER)
            os.setuid(ANOTHER)
            function(ends[1], *arguments)
        finally:
            os._exit(1)
    os.close(ends[1])
    ready = os.read(ends[0], 1)
    os.close(ends[0])
    check(ready, "the other user's process has ended")
    return pid


def bind_names(ready, pids):
    """All that programs with these pids had once, and some as they have now."""
    held = []
    for pid in pids:
        for name in ["%s/0/%d" % (name, pid) for name in SOCKETS] + ["dome-hub/0/%d/%016x" % (pid, pid)] * (pid % 20 == 0):
            s = socket.socket(socket.AF_UNIX)
            try:
                s.bind("\0" + name)
                s.listen(1)
                held.append(s)
            except OSError: # as many as there are descriptors for
                pass
    os.write(ready, b".")
    while True:
        signal.pause()


def commands_work(run):
    """Its user sees it, changes its number of tasks, and records it."""
    environment = dict(harness.clean_environment(), PVM_TMP=run.tmp)

    def dome(*arguments):
        done = subprocess.run([DOME] + list(arguments), env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=GUARD)
        check(done.returncode == 0, "dome %s: status %d, %r" % (" ".join(arguments), done.returncode, done.stderr))
        return done.stdout

    check(run.pid in [program["pid"] for program in json.loads(dome("ps", "--json"))], "dome ps does not see it")
    dome("grow", str(run.pid))
    view = subprocess.Popen([DOME, "view", "--live", str(run.pid)], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    line = view.stdout.readline()
    view.terminate()
    said = view.communicate()[1]
    check(line.startswith(b"http://") or b"libmicrohttpd" in said, "dome view said %r, %r" % (line, said))


def elastic_program():
    return Run([ELASTIC, "100000", "5", "-", "%MARKS%", "", "--dome-tasks", "2", "--dome-timeout", "10"])


def names_are_taken():
    """Another user has bound what he could before the program starts."""
    if os.geteuid() != 0:
        return "not tried: without root there is no other user"
    for turn in range(5):
        if squatted():
            return "at turn %d" % (turn + 1) if turn else None
    return "not tried: other programs have started too many processes meanwhile"


def squatted():
    """False: the program has another pid than those for which names were bound."""
    with open("/proc/loadavg") as f:
        last = int(f.read().split()[-1])
    squatter = as_another(bind_names, range(last + 1, last + 2400))
    try:
        with elastic_program() as run:
            harness.reach(run, 2)
            taken = last < run.pid < last + 2400
            if taken:
                commands_work(run)
            return taken
    finally:
        os.kill(squatter, signal.SIGKILL)
        os.waitpid(squatter, 0)


# ---- messages that are altered ----


def altered(call, restarts):
    """A stranger on the network changes a bit of what a task and the hub say to each other: that connection ends, and a line says why."""
    inject = os.path.join(os.path.abspath(harness.BUILD), "tests", "preload", "libinject.so")
    if not os.path.exists(inject):
        return "not tried: %s is not built" % inject
    now = "%TMP%/alter"
    environment = {"LD_PRELOAD": inject, "INJECT": call + ":1+:alter:socket:", "INJECT_TASKS": "others", "INJECT_ONCE": now}
    whose = {"send": "its connection", "recv": "the process that watches over the program"}[call]
    lost = r"task [12] on host \S+ is lost: a message of %s was altered on the way" % whose
    command = [DOME, "run", "--restarts", "3"] if restarts else []
    command += [ELASTIC, "150", "10", "-", "%MARKS%", "", "--dome-tasks", "3", "--dome-timeout", "2"]
    with Run(command, environment) as run:
        harness.reach(run, 5)
        open(now.replace("%TMP%", run.tmp), "w").close()
        status = run.wait()
        run.check_clean()
        if restarts:
            check(status == 0, "status %s: %s" % (status, run.lines()))
            only_line(run, lost + r"(; the program was in .*)?; healed from .*, 1 of 3")
        else:
            check(status == 1, "status %s: %s" % (status, run.lines()))
            only_line(run, lost + r"(; the program was in .*)?")


# ---- the page ----


def page():
    """Strangers who speak as slowly as they like, more than the server has places for."""
    with Waiting() as run:
        view = subprocess.Popen([DOME, "view", "--live", str(run.pid)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        line = view.stdout.readline().decode()
        held = []
        try:
            place = re.match(r"http://([\d.]+):(\d+)(/[0-9a-f]{32}/)", line)
            check(place, "dome view said %r" % line)
            port = int(place.group(2))
            answered = 0
            for turn in range(5):
                for _ in range(100):
                    s = socket.create_connection(("127.0.0.1", port), GUARD)
                    s.settimeout(GUARD)
                    held.append(s)
                    s.send(b"GET /")
                for s in held:
                    try:
                        s.send(b"a")
                    except OSError:
                        pass
                with socket.create_connection(("127.0.0.1", port), GUARD) as s:
                    s.settimeout(5)
                    s.sendall(b"GET %s HTTP/1.0\r\n\r\n" % place.group(3).encode())
                    try:
                        answered += re.match(rb"HTTP/1.\d 200 ", s.recv(20)) is not None
                    except OSError:
                        pass
            check(answered == 5, "%d of 5 requests of the owner were answered" % answered)
        finally:
            for s in held:
                s.close()
            view.terminate()
            view.communicate()
        run.is_well()


def all_cases():
    return [("%d strangers, %s" % (CROWD, how), crowd, how) for how in ("close", "hold", "garbage", "big")] + [
        ("few descriptors", no_descriptors),
        ("limit on descriptors is named", limit_is_named),
        ("%d looks from elsewhere" % CROWD, many_looks),
        ("checkpoint port", checkpoint_port),
        ("slow strangers and the page", page),
        ("names taken by another user", names_are_taken),
    ] + [("altered on the way, %s%s" % (call, how), altered, call, restarts)
         for call in ("send", "recv") for restarts, how in ((False, ""), (True, ", healed"))]


if __name__ == "__main__":
    harness.need_pvm()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 4 * CROWD:
        harness.skip("the limit on open files is %d" % hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 8 * CROWD) if hard == resource.RLIM_INFINITY else hard, hard))
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    sys.exit(1 if harness.run_all([c for c in all_cases() if wanted in c[0]], 3) else 0)
