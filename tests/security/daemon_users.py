"""Root's domed and its users: each program runs as its owner, nobody orders another's, and nobody keeps others out.

    daemon_users.py [PART-OF-A-NAME]"""

import os
import pwd
import socket
import sys
import time

import harness
from harness import check
from host_daemon import VERSION, Daemon, free_port


def user(name):
    try:
        return pwd.getpwnam(name)
    except KeyError:
        return None


ONE, OTHER = user("nobody"), user("daemon")


def as_owner():
    """Rights, groups, directory, environment, limits and umask are those of the user who has submitted it."""
    with Daemon(tools=True) as d:
        script = "id -u; id -g; id -G; pwd; ulimit -n; umask; echo $OWN; touch %s/made" % d.work
        number = d.submit("-o", d.work + "/out", "sh", "-c", "umask 0027; ulimit -n 100; exec %s submit -o %s/out2 sh -c '%s'" % (d.dome, d.work, script),
                          user=ONE.pw_uid, environment={"OWN": "words and $more"})
        d.wait_state(number, "ended")
        d.wait_for("j2", lambda p: p["state"] == "ended", "the second")
        check(d.program("j2")["owner"] == ONE.pw_name, "%s" % d.program("j2"))
        want = [str(ONE.pw_uid), str(ONE.pw_gid), str(ONE.pw_gid), d.work, "100", "0027", "words and $more"]
        check(d.output("out2").split("\n")[:7] == want, "%s instead of %s" % (d.output("out2").split("\n"), want))
        made = os.stat(d.work + "/made")
        check(made.st_uid == ONE.pw_uid and made.st_mode & 0o777 == 0o640, repr(made))


def no_rights():
    """What the owner may not write to is not written, though root's daemon starts it."""
    with Daemon(tools=True) as d:
        closed = d.base + "/closed"
        os.mkdir(closed, 0o700)
        number = d.submit("-o", closed + "/out", "true", user=ONE.pw_uid)
        d.wait_state(number, "ended")
        check(d.program(number)["status"] == 126 and not os.listdir(closed), "%s" % d.program(number))
        os.symlink(closed + "/out", d.work + "/link")
        number = d.submit("-o", d.work + "/link", "true", user=ONE.pw_uid)
        d.wait_state(number, "ended")
        check(d.program(number)["status"] == 126 and not os.listdir(closed), "%s" % d.program(number))
        check(os.stat(d.folder).st_mode & 0o077 == 0, "others see the daemon's folder")


def others_programs():
    with Daemon(tools=True) as d:
        number = d.submit("-o", d.work + "/out", "sleep", "600", user=ONE.pw_uid)
        d.wait_state(number, "runs")
        for words in ["kill", number], ["suspend", number], ["limits", number, "--priority", "9"]:
            _, _, err = d.run(*words, status=1, user=OTHER.pw_uid)
            check("is a program of nobody's" in err, err)
        for verb in "drain", "lost", "disable":
            _, _, err = d.run("hosts", verb, "h1", status=1, user=ONE.pw_uid)
            check("administrators" in err, err)
        check(d.program(number)["state"] == "runs" and d.program(number)["priority"] == 0, "%s" % d.program(number))
        d.run("suspend", number, user=ONE.pw_uid)
        d.run("kill", number)  # root is an administrator
        d.wait_state(number, "ended")


def from_another_host():
    """The rights of a name are those on the host that is asked."""
    port = free_port()
    key = "/tmp/dome-test-key.%d.u" % os.getpid()
    with open(key, "wb", opener=lambda p, f: os.open(p, f, 0o600)) as f:
        f.write(b"k" * 32)
    try:
        with Daemon(tools=True, options=["--dedicated", "--key", key, "--listen", "127.0.0.1:%d" % port]) as there, Daemon(tools=True, options=["--dedicated", "--key", key]) as here:
            number = there.submit("-o", there.work + "/out", "sleep", "600", user=ONE.pw_uid)
            there.wait_state(number, "runs")
            on = ["--on", "127.0.0.1:%d" % port]
            for words in ["kill", number], ["suspend", number], ["limits", number, "--priority", "9"]:
                _, _, err = here.run(words[0], *on, *words[1:], status=1, user=OTHER.pw_uid)
                check("is a program of nobody's" in err, err)
            _, _, err = here.run("hosts", "drain", "h1", *on, status=1, user=ONE.pw_uid)
            check("administrators" in err, err)
            answer = talk(here.socket, ("wish version=%d on=127.0.0.1:%d as=root program=%s what=end\n" % (VERSION, port, number)).encode(), OTHER.pw_uid)
            check("is%20a%20program%20of%20nobody" in answer, answer)
            here.run("suspend", *on, number, user=ONE.pw_uid)
            check(there.program(number)["state"] == "stopped", "%s" % there.program(number))
            here.run("kill", *on, number)
            there.wait_state(number, "ended")
    finally:
        os.unlink(key)


def talk(path, text, uid):
    """What comes back, by a process of that user."""
    code = ("import os,socket,sys\nos.setgid(%d);os.setuid(%d)\ns=socket.socket(socket.AF_UNIX);s.settimeout(20);s.connect(sys.argv[1])\n"
            "s.sendall(sys.stdin.buffer.read());d=b''\nwhile True:\n b=s.recv(65536)\n d+=b\n if not b or b'\\nno ' in b'\\n'+d or b'done ' in d: break\n"
            "print(d.decode())" % (uid, uid))
    done = harness.subprocess.run([sys.executable, "-c", code, path], input=text, stdout=harness.subprocess.PIPE, stderr=harness.subprocess.PIPE, timeout=60)
    return done.stdout.decode()


def lies():
    """A line that names another user, and lines that are none."""
    with Daemon(tools=True) as d:
        line = ("submit version=%d uid=0 gid=0 owner=root home=other directory=/ output=%s/out word=/bin/sh word=-c word=id%%20-u tasks=1 least=1\n"
                % (VERSION, d.work))
        check("j1" in talk(d.socket, line.encode(), ONE.pw_uid), "not taken")
        d.wait_state("j1", "ended")
        check(d.output("out") == "%d\n" % ONE.pw_uid, d.output("out"))
        check(d.program("j1")["owner"] == ONE.pw_name, "%s" % d.program("j1"))
        for verb in "started", "ended", "forget", "host", "leave", "members", "gone", "load", "tick":
            answer = talk(d.socket, ("%s version=%d program=1 attempt=1 name=x node=9 slots=9\n" % (verb, VERSION)).encode(), ONE.pw_uid)
            check("not%20understood" in answer, "%s: %s" % (verb, answer))
        check("version%201" in talk(d.socket, b"list version=1\n", ONE.pw_uid), "another version")
        check(talk(d.socket, b"\xff\x00\n", ONE.pw_uid).strip() == "", "an answer to what is no line")
        check(d.answers(), "it does not answer")


def crowd():
    """10000 requests of a stranger, over as many connections as he gets, and one that sends half a line: others are served meanwhile."""
    with Daemon(tools=True) as d:
        number = d.submit("-o", d.work + "/out", "sleep", "600")
        code = ("import os,socket,sys\nos.setgid(%d);os.setuid(%d)\nidle=[]\nfor k in range(60):\n s=socket.socket(socket.AF_UNIX)\n try: s.connect(sys.argv[1]); s.send(b'submit wo')\n"
                " except OSError: pass\n idle.append(s)\nn=0\nwhile n<10000:\n s=socket.socket(socket.AF_UNIX)\n s.settimeout(20)\n try:\n  s.connect(sys.argv[1])\n"
                "  s.sendall(b'wish version=%d program=%s what=end\\n')\n  d=s.recv(200)\n except OSError: d=b''\n s.close(); n+=1\n"
                " if d and not d.startswith(b'no '): print('taken', d)\nprint(n)" % (ONE.pw_uid, ONE.pw_uid, VERSION, number))
        stranger = harness.subprocess.Popen([sys.executable, "-c", code, d.socket], stdout=harness.subprocess.PIPE)
        worst, count = 0, 0
        while stranger.poll() is None:
            begin = time.monotonic()
            check(d.program(number)["state"] in ("starts", "runs"), "%s" % d.program(number))
            worst, count = max(worst, time.monotonic() - begin), count + 1
        check(stranger.stdout.read() == b"10000\n", "the stranger was served")
        with open("/proc/%d/status" % d.process.pid) as f:
            memory = [int(line.split()[1]) for line in f if line.startswith("VmHWM")][0]
        check(memory < 20000, "%d kB" % memory)
        check(worst < 5, "another user waited for %.1f s" % worst)
        return "%d other requests, the longest took %.3f s; %d kB" % (count, worst, memory)


def long_lines():
    with Daemon(tools=True) as d:
        s = socket.socket(socket.AF_UNIX)
        s.connect(d.socket)
        sent = 0
        try:
            while sent < 50 << 20:
                sent += s.send(b"x" * 65536)
        except OSError:
            pass
        check(sent < 5 << 20, "%d bytes of a line were taken" % sent)
        _, _, err = d.run("submit", "true", status=1, environment={"LONG%d" % k: "x" * 100000 for k in range(3)})
        check("longer than" in err, err)
        check(d.answers(), "it does not answer")


def main():
    harness.need_pvm()
    if os.geteuid() != 0:
        harness.skip("needs root, to be other users")
    if not ONE or not OTHER:
        harness.skip("there are no users nobody and daemon")
    part = sys.argv[1] if len(sys.argv) > 1 else ""
    cases = [("a program runs as its owner", as_owner), ("an owner without rights", no_rights), ("others' programs", others_programs),
             ("from another host", from_another_host), ("lies", lies), ("a crowd", crowd), ("long lines", long_lines)]
    sys.exit(1 if harness.run_all([c for c in cases if part in c[0]], 3) else 0)


main()
