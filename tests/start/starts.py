"""All ways to start a program, and what stands in the way.

    starts.py [PART-OF-A-NAME]"""

import ctypes
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import time


import harness
from harness import DOME, PROGRAMS, Machine, Run, check, only_line, wait_until

STARTER = PROGRAMS + "/starter"
EXAMPLE = os.path.join(os.path.abspath(harness.BUILD), "examples", "inner_product")


def ends(run, status=0):
    got = run.wait()
    run.check_clean()
    check(got == status, "status %d instead of %d: %s" % (got, status, "; ".join(run.lines())))


def quiet(run):
    check(not run.lines(), "on standard error: " + " | ".join(run.lines()))


def prints(run, text):
    got = run.output().decode()
    check(got == text, "it printed %r instead of %r" % (got[:200], text[:200]))


def says(arguments, text, environment=None, status=0):
    with Run(arguments, environment) as run:
        ends(run, status)
        prints(run, text)
        quiet(run)


def refuses(arguments, status, pattern, environment=None):
    with Run(arguments, environment) as run:
        ends(run, status)
        prints(run, "")
        only_line(run, pattern)
        return run.lines()[0]


def sum_of(tasks):
    return "%d tasks, sum 500\n" % tasks


def root_is_told():
    """One line about what was set, on a terminal, if a daemon was started; none in a file, for others, or for what needs no daemon."""
    def told(tasks, allowed):
        terminal, slave = os.openpty()
        # bash: other shells take file descriptors of one digit alone
        with Run(["bash", "-c", 'exec "$0" "$@" 2>&%d' % slave, STARTER, "sum", "--dome-tasks", tasks],
                 {"PVM_ALLOW_ROOT": allowed, "TERM": "xterm"}, pass_fds=(slave,)) as run:
            os.close(slave)
            ends(run)
            os.set_blocking(terminal, False)
            try:
                shown = os.read(terminal, 65536).decode()
            except OSError:
                shown = ""
            os.close(terminal)
            return shown.count(harness.ROOT_NOTICE)

    root = os.geteuid() == 0
    check(told("2", None) == (1 if root else 0), "a daemon of root's, terminal")
    check(told("2", "1") == 0, "a daemon of root's who knows")
    check(told("1", None) == 0, "no daemon")
    with Run([STARTER, "sum", "--dome-tasks", "2"], {"PVM_ALLOW_ROOT": None}) as run:
        ends(run)
        check(run.errors() == "", "in a file: " + run.errors())


# ---- output, input ----


def much_output(tasks):
    n = 200000
    with Run([STARTER, "lines", str(n), "--dome-tasks", str(tasks)], stdout=subprocess.PIPE) as run:
        got = run.process.stdout.read()
        run.process.stdout.close()
        ends(run)
        check(got == b"".join(b"line %d\n" % i for i in range(n)), "the output is not what was printed")


def output_closed_early(tasks):
    """... | head -1"""
    with Run([STARTER, "lines", "2000000", "--dome-tasks", str(tasks)], stdout=subprocess.PIPE) as run:
        check(run.process.stdout.readline() == b"line 0\n", "no first line")
        run.process.stdout.close()
        status = run.wait()
        run.check_clean()
        check(status == -signal.SIGPIPE, "status %d, as of a program without Dome it would be %d" % (status, -signal.SIGPIPE))
        quiet(run)


def streams_closed(closed, command):
    """Standard streams that whoever starts the program has closed: what can be seen of it is as ever."""
    with Run(["/bin/sh", "-c", 'exec "$0" "$@" ' + closed] + command, {"PVM_ALLOW_ROOT": "1"}) as run:
        ends(run)
        quiet(run)
        if ">&-" not in closed.replace("2>&-", ""):
            prints(run, sum_of(3))


def order_of_streams():
    """Standard output and standard error into one file stay in order."""
    base = harness.tempfile.mkdtemp(prefix="dome-both.", dir=harness.short_parent())
    try:
        with open(base + "/both", "ab") as both:
            with Run(["/bin/sh", "-c", 'exec "$0" "$@" 2>&1', STARTER, "unbuffered", "500", "--dome-tasks", "3"],
                     {"PVM_ALLOW_ROOT": "1"}, stdout=both) as run:
                ends(run)
        with open(base + "/both") as f:
            check(f.read() == "".join("out %d\nerr %d\n" % (i, i) for i in range(500)), "the order is lost")
    finally:
        shutil.rmtree(base)


def input_arrives(tasks):
    data = os.urandom(300000)
    with Run([STARTER, "copy", "--dome-tasks", str(tasks)], stdin=subprocess.PIPE) as run:
        run.process.stdin.write(data)
        run.process.stdin.close()
        ends(run)
        check(run.output() == data, "%d bytes came back of %d" % (len(run.output()), len(data)))


def each_speaks(tasks, options, others):
    with Run([STARTER, "each", "--dome-tasks", str(tasks)] + options) as run:
        ends(run)
        wanted = ["task 0 says", "something"]
        for r in range(1, tasks) if others else ():
            wanted += ["[%d] task %d says" % (r, r), "[%d] something" % r]
        check(sorted(run.output().decode().split("\n")[:-1]) == sorted(wanted), "output %r" % run.output())
        own = [l for l in run.output().decode().split("\n") if l and not l.startswith("[")]
        check(own == ["task 0 says", "something"], "task 0's own output is %r" % own)
        complaints = ["task 0 complains"] + ["[%d] task %d complains" % (r, r) for r in range(1, tasks)]
        check(sorted(run.lines()) == sorted(complaints), "complaints: " + " | ".join(run.lines()))


def directory_goes_along(tasks):
    with Run([STARTER, "directory", "--dome-tasks", str(tasks)], {"STARTER_VALUE": "a b;c"}, cwd="/usr") as run:
        ends(run)
        quiet(run)
        prints(run, "/usr a b;c\n")


def ends_unheard(arguments, text):
    """Started by a process that ignores SIGCHLD. Task 0 has that signal as it was."""
    ignore = "import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])"
    says([sys.executable, "-c", ignore] + arguments, text)


def no_room_for_tasks():
    """A daemon that can start a few tasks of many: they end at once, and do not wait for a start message."""
    with Machine(files=40) as machine:
        with Run([STARTER, "sum", "--dome-tasks", "40", "--dome-timeout", "60"], machine.for_run()) as run:
            ends(run, 1)
            only_line(run, r"\S+ cannot be started on host \S+: it has no room for another process .*")
            wait_until(lambda: not [p for p in machine.children() if p.name == "starter"], "the tasks to end", 20)
        check(machine.alive(), "the user's machine is gone")


def before_anything(options, pattern, limit=None):
    """More tasks than can be: one line, and nothing was started for the run, so it also says nothing of root."""
    limited = ["prlimit", "--nofile=%d:%d" % (limit, limit)] if limit else []
    with Run(limited + [STARTER, "sum", "--dome-transport", "pvm"] + options, {"PVM_ALLOW_ROOT": None}) as run:
        ends(run, 1)
        prints(run, "")
        check(re.fullmatch("dome: " + pattern + "\n", run.errors()), "on standard error: " + run.errors())


def as_many_as_told():
    """What the line of a refusal names as the most works: the hub gives up what it can do without."""
    options = ["--dome-output", "all", "--dome-timeout", "60"]
    limited = ["prlimit", "--nofile=96:96", STARTER, "sum"]
    with Machine() as machine:
        line = refuses(limited + ["--dome-tasks", "400"] + options, 1, r"400 tasks are more than .* connections to, .*", machine.for_run())
        most = int(re.search(r"connections to, (\d+) with --dome-output all", line).group(1))
        check(15 <= most <= 30, "%d tasks for 96 files" % most)
        says(limited + ["--dome-tasks", str(most)] + options, sum_of(most), machine.for_run())


def small(soft, hard):
    return ["prlimit", "--stack=%s:%s" % (soft * 1024, hard), STARTER]


def small_stack(kib):
    """One line, from the program and from dome run."""
    line = r"the limit on the stack is %d KiB, and a program needs 128: raise it \(ulimit -s\)" % kib
    program = small(kib, kib * 1024)
    refuses(program + ["sum", "--dome-tasks", "3"], 1, line)
    refuses(program + ["sum", "--dome-tasks", "1"], 1, line)
    refuses(program[:-1] + [DOME, "run", "-n", "3", STARTER, "sum"], 1, "run: " + line)


def full_disk(options, what="sum"):
    """What is printed is lost: the program does not end with 0."""
    with open("/dev/full", "wb") as full, Run([STARTER, what] + options, stdout=full) as run:
        ends(run, 1)
        only_line(run, r"((dome_print|dome_finalize): the program's|the tasks') output cannot be written: No space left on device")


# ---- virtual machines that are there already ----


class Console:
    def __init__(self, machine):
        self.out = open(machine.tmp + "/console", "wb+")
        self.process = subprocess.Popen(["pvm"], env=machine.environment, stdin=subprocess.PIPE, stdout=self.out,
                                        stderr=subprocess.STDOUT, start_new_session=True)

    def type(self, line):
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def text(self):
        with open(self.out.name, "rb") as f:
            return f.read().decode(errors="replace")

    def wait_for(self, pattern):
        def there():
            self.type("")  # it looks at messages after each line
            time.sleep(0.05)
            return re.search(pattern, self.text())

        try:
            return wait_until(there, "the console", 30)
        except harness.Failure:
            raise harness.Failure("not on the console: %r; there is %r" % (pattern, self.text()))

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.out.close()


def console(count, options=""):
    with Machine() as machine, Console(machine) as typed:
        typed.type("spawn -%d -> %s sum %s" % (count, STARTER, options))
        typed.wait_for(r"\[1:t[0-9a-f]+\] %d tasks, sum 500" % count)
        typed.wait_for(r"\[1\] finished")
        check(len(re.findall("tasks, sum", typed.text())) == 1, "printed more than once: %r" % typed.text())
        check("dome:" not in typed.text(), "console: %r" % typed.text())
        wait_until(lambda: not [p for p in machine.children() if p.name == "starter"], "the tasks to end")
        typed.type("halt")
        typed.process.wait(60)
        machine.daemon.wait(60)
        left = [n for n in os.listdir(machine.tmp) if n not in ("console",) and not n.startswith("pvml.")]
        check(not left, "files are left: " + ", ".join(left))


def console_loss(number):
    """A task of a program from the console is lost: the others end, the machine stays."""
    with Machine() as machine, Console(machine) as typed:
        marks = machine.tmp + "/marks"
        os.mkdir(marks)
        typed.type("spawn -4 -> %s/worker %s 0 sum" % (PROGRAMS, marks))
        wait_until(lambda: len(glob.glob(marks + "/there.?")) == 4, "the tasks")
        pids = []
        for r in range(4):
            with open(marks + "/rank.%d" % r) as f:
                pids.append(int(f.read()))
        os.kill(pids[number], signal.SIGKILL)
        typed.wait_for(r"dome: task %d on host \S+ is lost: .*; the program was in (dvec_sum of 'x'|the program's own code)"
                       % number)
        wait_until(lambda: not any(harness.Process.at(p) for p in pids), "the tasks to end")
        typed.wait_for(r"\[1\] finished")
        check(machine.alive(), "the machine is gone")
        check(len(re.findall("dome:", typed.text())) == 1, "console: %r" % typed.text())


def console_restart(own_tasks):
    """A program from the console starts again; the console shows what it says to the end."""
    with Machine() as machine, Console(machine) as typed:
        marks = machine.tmp + "/marks"
        os.mkdir(marks)

        def rank(r):
            try:
                with open(marks + "/rank.%d" % r) as f:
                    return int(f.read())
            except OSError:
                return None

        typed.type("spawn %s-> %s/worker %s 0 steps 150 --dome-restarts 1 --dome-on-loss restart %s"
                   % ("" if own_tasks else "-3 ", PROGRAMS, marks, "--dome-tasks 3" if own_tasks else ""))
        wait_until(lambda: len(glob.glob(marks + "/there.?")) == 3, "the tasks")
        pids = [rank(r) for r in range(3)]
        os.kill(pids[1], signal.SIGKILL)
        typed.wait_for(r"dome: task 1 on host \S+ is lost: .*; started again from the beginning \(.*\), restart 1 of 1")
        typed.wait_for(r"all steps done")
        typed.wait_for(r"\[1\] finished")
        check(not set(pids) & {rank(r) for r in range(3)}, "the tasks are the same")
        check(len(re.findall("dome:", typed.text())) == 1, "console: %r" % typed.text())
        wait_until(lambda: not [p for p in machine.children() if p.name == "worker"], "the tasks to end")
        check(machine.alive(), "the machine is gone")


def console_keeps():
    """A program from the console keeps its tasks: options that would change them are refused, by the first task alone."""
    with Machine() as machine, Console(machine) as typed:
        for k, (options, name) in enumerate((("--dome-size auto", "--dome-size auto"), ("--dome-hosts-script true", "--dome-hosts-script"))):
            typed.type("spawn -3 -> %s sum %s" % (STARTER, options))
            typed.wait_for(r"dome: %s: a program that was spawned from the PVM console keeps its tasks; start it from the shell" % name)
            typed.wait_for(r"\[%d\] finished" % (k + 1))
            check(len(re.findall("dome:", typed.text())) == k + 1, "console: %r" % typed.text())
        check("tasks, sum" not in typed.text(), "console: %r" % typed.text())


def in_machine(arguments, tasks):
    with Machine() as machine:
        with Run(arguments, machine.for_run()) as run:
            ends(run)
            quiet(run)
            prints(run, sum_of(tasks))
        check(machine.alive(), "the user's machine is gone")
        with Run(arguments, machine.for_run()) as run:  # again, and it is as good as new
            ends(run)
            prints(run, sum_of(tasks))
        left = [n for n in os.listdir(machine.tmp) if not re.match(r"pvm[dl]\.|pvm\d|pvmtmp", n)]
        check(not left, "files are left: " + ", ".join(left))


def loss_in_machine():
    with Machine() as machine:
        arguments = [PROGRAMS + "/worker", "%MARKS%", "0", "sum", "--dome-tasks", "4"]
        with Run(arguments, machine.for_run()) as run:
            run.wait_marks("there", 4)
            ranks = [run.rank(r) for r in range(4)]
            os.kill(ranks[2], signal.SIGKILL)
            check(run.wait() != 0, "status 0")
            only_line(run, r"task 2 on host \S+ is lost: .*")
            wait_until(lambda: not any(harness.Process.at(p) for p in ranks), "the tasks to end")
        check(machine.alive(), "the user's machine is gone")


def deaf_in_machine():
    """A task that became a program that ignores the signals by which programs are ended."""
    deaf = "trap '' TERM HUP INT; while :; do sleep 1; done"
    with Machine() as machine:
        arguments = [PROGRAMS + "/worker", "%MARKS%", "2", "exec", deaf, "--dome-tasks", "4"]
        with Run(arguments, machine.for_run()) as run:
            run.wait_marks("there", 4)
            pid = run.rank(2)
            open(run.marks + "/go", "w").close()
            check(run.wait() != 0, "status 0")
            only_line(run, r"task 2 on host \S+ is lost: .*")
            wait_until(lambda: not harness.Process.at(pid), "the task to end", 20)
        check(machine.alive(), "the user's machine is gone")


def stale_file():
    """What a killed daemon leaves is recognised at once, named, and not touched."""
    with Run(["/bin/sh", "-c", 'echo /nowhere/pvmd.sock >"$PVM_TMP/pvmd.$(id -u)"; exec "$0" "$@"', STARTER, "sum", "--dome-tasks",
              "3"]) as run:
        status = run.wait()
        run.wait_gone()
        check(status == 0, "status %d: %s" % (status, run.errors()))
        prints(run, sum_of(3))
        name = "pvmd.%d" % os.getuid()
        only_line(run, r"\S+/%s was left behind by a PVM daemon that has ended; using a private virtual machine \(rm .*\)" % name)
        check(os.listdir(run.tmp) == [name], "files: %s" % os.listdir(run.tmp))


def stale_address():
    """The same with the address of a port where nobody listens."""
    with Run(["/bin/sh", "-c", 'echo 7f000001:0001 >"$PVM_TMP/pvmd.$(id -u)"; exec "$0" "$@"', STARTER, "sum", "--dome-tasks",
              "3"]) as run:
        status = run.wait()
        check(status == 0, "status %d: %s" % (status, run.errors()))
        prints(run, sum_of(3))


def link(path):
    """Where it leads; None if it is gone: the daemon may have closed it since its folder was read."""
    try:
        return os.readlink(path)
    except OSError:
        return None


def held_socket():
    """A killed daemon whose socket a process still has: for a moment that is so for the tasks that it was starting."""
    pidfd_getfd = 438
    with Machine() as machine:
        address = machine.address.strip().decode()
        with open("/proc/net/unix") as f:
            inodes = [line.split()[6] for line in f if line.split()[-1] == address and line.split()[3] != "00000000"]
        folder, libc = "/proc/%d/fd" % machine.daemon.pid, ctypes.CDLL(None, use_errno=True)
        fds = [int(fd) for fd in os.listdir(folder) if link(folder + "/" + fd) in ["socket:[%s]" % i for i in inodes]]
        check(fds, "the daemon does not listen at " + address)
        process = os.pidfd_open(machine.daemon.pid)
        held = libc.syscall(pidfd_getfd, process, fds[0], 0)
        os.close(process)
        if held < 0:
            return "not tried: " + os.strerror(ctypes.get_errno())
        machine.daemon.kill()
        wait_until(lambda: not harness.Process.at(machine.daemon.pid), "the daemon's end")
        with Run([STARTER, "sum", "--dome-tasks", "3"], machine.for_run()) as run:
            status = run.wait()
            os.close(held)
            check(status == 0, "status %d: %s" % (status, run.errors()))
            prints(run, sum_of(3))
            only_line(run, r"\S+/pvmd.\d+ was left behind by a PVM daemon that has ended; using a private virtual machine .*")


def no_pvm():
    with Run(["/bin/sh", "-c", 'exec "$0" sum --dome-tasks 4', STARTER],
             {"PVM_ROOT": "%TMP%", "PATH": "/nowhere"}) as run:
        ends(run, 1)
        prints(run, "")
        only_line(run, r"no PVM daemon .* install the package pvm.*--dome-transport self.*")


def no_pvm_needed(options):
    says([STARTER, "sum"] + options, sum_of(1), {"PVM_ROOT": "/nowhere", "PATH": "/nowhere"})


def broken_daemon():
    """A pvmd that does not work."""
    with Run(["/bin/sh", "-c", 'mkdir -p "$PVM_ROOT/lib"; printf "#!/bin/sh\\necho no such luck >&2\\nexit 1\\n" >"$PVM_ROOT/lib/pvmd";'
              'chmod +x "$PVM_ROOT/lib/pvmd"; "$0" sum --dome-tasks 4; s=$?; rm -r "$PVM_ROOT"; exit $s', STARTER],
             {"PVM_ROOT": "%TMP%/root"}) as run:
        ends(run, 1)
        only_line(run, r"the PVM daemon \S+ did not start: no such luck")


def no_room():
    """The temporary directory cannot be written to."""
    if os.geteuid() == 0 and not os.path.isdir("/proc/self/fd"):
        return "not tried"
    with Run([STARTER, "sum", "--dome-tasks", "4"], {"TMPDIR": "/proc/self/fd"}) as run:
        ends(run, 1)
        only_line(run, r"cannot make a directory in /proc/self/fd for the private virtual machine: .*")


def relative():
    """TMPDIR is relative to the directory of the program."""
    with Run(["/bin/sh", "-c", 'cd "$TMPDIR" && TMPDIR=. exec "$0" sum --dome-tasks 2', STARTER], {"TMPDIR": "%TMP%"}) as run:
        ends(run)
        prints(run, sum_of(2))
        quiet(run)


def full(size):
    """The temporary directory is full."""
    if subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt"], stderr=subprocess.DEVNULL).returncode != 0:
        return "not tried"
    with Run(["unshare", "-m", "/bin/sh", "-c", 'mkdir "$TMPDIR" && mount -t tmpfs -o size=%s none "$TMPDIR" || exit 9;'
              '"$0" sum --dome-tasks 4; s=$?; umount "$TMPDIR"; rmdir "$TMPDIR"; exit $s' % size, STARTER],
             {"TMPDIR": "%TMP%/full"}) as run:
        ends(run, 1)
        only_line(run, r"there is no room in \S+/full for the files of the private virtual machine: No space left on device; "
                       r"make some, or set TMPDIR to another directory")


# ---- what the system refuses, and what the program may not do ----

FORBID = PROGRAMS + "/forbid"


def refused_call(call, pattern, *options):
    """The program does without it (pattern None), or ends with one line."""
    command = [FORBID, call, STARTER, "sum", "--dome-tasks", "2", "--dome-timeout", "5"] + list(options)
    with Run(command) as run:
        status = run.wait()
        if status == 77:
            return "skipped: " + run.output().decode().strip()
        run.check_clean()
        if pattern is None:
            check(status == 0, "status %d: %s" % (status, run.errors()))
            prints(run, sum_of(2))
            quiet(run)
        else:
            check(status == 1, "status %d: %s" % (status, run.errors()))
            only_line(run, pattern)


def child_calls(tasks, kind, name):
    """It may look at values; another call ends it alone."""
    with Run([STARTER, "child", str(kind), "--dome-tasks", str(tasks)]) as run:
        ends(run)
        prints(run, "the child: 2\n" + sum_of(tasks))
        only_line(run, r"%s is called by a child process of the task \(fork\), .* \(task 0 on host \S+\)" % name)


def all_cases():
    cases = []

    def case(name, function, *arguments):
        cases.append((name, function) + arguments)

    for tasks in 1, 2, 3, 4, 7:
        case("shell, %d tasks" % tasks, says, [STARTER, "sum", "--dome-tasks", str(tasks)], sum_of(tasks))
        case("dome run -n %d" % tasks, says, [DOME, "run", "-n", str(tasks), STARTER, "sum"], sum_of(tasks))
        if os.path.exists(EXAMPLE):
            case("inner_product, %d tasks" % tasks, says, [EXAMPLE, "--dome-tasks", str(tasks)], "The dot product is 32153.6\n")
    case("shell, one process", says, [STARTER, "sum", "--dome-transport", "self"], sum_of(1))
    case("shell, one task on PVM", says, [STARTER, "sum", "--dome-tasks", "1", "--dome-transport", "pvm"], sum_of(1))
    case("dome run, one process", says, [DOME, "run", STARTER, "sum", "--dome-transport", "self"], sum_of(1))
    case("dome run, program's own option", says, [DOME, "run", STARTER, "sum", "--dome-tasks", "3"], sum_of(3))
    case("dome run --", says, [DOME, "run", "-n", "2", "--", STARTER, "sum"], sum_of(2))
    case("dome run, long before dome_init", says, [DOME, "run", "-n", "2", "/bin/sh", "-c", 'sleep 17; exec "$0" sum', STARTER],
         sum_of(2))
    case("DOME_OPTIONS", says, [STARTER, "sum"], sum_of(3), {"DOME_OPTIONS": "--dome-tasks 3"})
    case("DOME_OPTIONS and argument", says, [STARTER, "sum", "--dome-tasks=2"], sum_of(2), {"DOME_OPTIONS": "--dome-tasks 3"})
    case("root is told", root_is_told)
    supervised = ["--dome-restarts", "2", "--dome-checkpoint-dir", "memory:"]
    case("refused: signalfd", refused_call, "signalfd4", r"cannot start the process that watches over the program: its signals: .*")
    case("refused: signalfd, restarts", refused_call, "signalfd4", r"cannot start the program: its signals: .*", *supervised)
    case("refused: signal masks", refused_call, "rt_sigprocmask", r"cannot start the process that watches over the program: its signals: .*")
    case("refused: fcntl, restarts", refused_call, "fcntl", r"\S+/starter cannot be run: .*", *supervised)
    case("refused: wait", refused_call, "wait4", r"cannot learn how the program's processes end: wait: .*")
    case("refused: wait, restarts", refused_call, "wait4", r"cannot learn how the program's processes end: wait: .*", *supervised)
    case("refused: threads", refused_call, "clone3", r"task 0 on host \S+ has no thread that watches over it: .*")
    case("refused: random numbers", refused_call, "getrandom", None)
    case("refused: random numbers, restarts", refused_call, "getrandom", None, *supervised)
    case("refused: eventfd, socketpair", refused_call, "eventfd2,socketpair,shutdown,pidfd_open", None)
    case("refused: kill", refused_call, "kill", None)
    case("refused: epoll", refused_call, "epoll_create1", r"cannot watch over the program's tasks: .*")
    for tasks in 2, 3:
        case("the main thread ends, %d tasks" % tasks, refuses, [STARTER, "main ends", "--dome-tasks", str(tasks), "--dome-timeout", "3"], 2,
             r"the thread that called dome_init has ended \(pthread_exit\) without dome_finalize \(task %d on host \S+\)" % (tasks - 1))
    case("the main thread ends, one task", refuses, [STARTER, "main ends", "--dome-tasks", "1"], 1, r"task 0 on host \S+ ended with exit status 0 without dome_finalize")
    for tasks in 1, 2:
        case("another thread calls, %d tasks" % tasks, refuses, [STARTER, "other thread", "--dome-tasks", str(tasks)], 2,
             r"dvec_new is called by another thread than the one that called dome_init: .* \(task \d on host \S+\)")
        case("a child calls, %d tasks" % tasks, child_calls, tasks, 0, "dvec_sum of 'x'")
        case("a child finalizes, %d tasks" % tasks, child_calls, tasks, 1, "dome_finalize")
    case("SIGCHLD ignored", ends_unheard, [STARTER, "sum", "--dome-tasks", "3"], sum_of(3))
    case("SIGCHLD ignored, one task", ends_unheard, [STARTER, "sum", "--dome-transport", "self"], sum_of(1))
    case("SIGCHLD ignored, dome run", ends_unheard, [DOME, "run", "-n", "3", STARTER, "sum"], sum_of(3))
    case("SIGCHLD ignored, dome run --restarts", ends_unheard, [DOME, "run", "--restarts", "1", "-n", "3", STARTER, "sum"], sum_of(3))
    for before in [], ["--restarts", "1"]:
        case("SIGCHLD ignored, as task 0 sees it: dome run %s" % " ".join(before), ends_unheard,
             [DOME, "run"] + before + ["-n", "2", "/usr/bin/env", "python3", "-c",
              "import signal; print(signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN)"], "True\n")
    case("arguments", says,
         [STARTER, "arguments", "a b", "--dome-tasks", "3", "-x", "--dome-timeout=5", "", "--", "--dome-tasks", "'$HOME'"],
         "1: a b\n2: -x\n3: \n4: --\n5: --dome-tasks\n6: '$HOME'\n")
    case("directory and environment", directory_goes_along, 3)

    for tasks in 1, 4:
        for status in 0, 3, 255:
            case("status %d, %d tasks" % (status, tasks), says, [STARTER, "status", str(status), "--dome-tasks", str(tasks)], "",
                 None, status)
        case("much output, %d tasks" % tasks, much_output, tasks)
        case("output closed early, %d tasks" % tasks, output_closed_early, tasks)
        case("input, %d tasks" % tasks, input_arrives, tasks)
    case("dome run, status", says, [DOME, "run", "-n", "3", STARTER, "status", "7"], "", None, 7)
    case("order of streams", order_of_streams)
    for closed in "<&-", ">&-", "2>&-", "<&- >&- 2>&-":
        case("shell, %s" % closed, streams_closed, closed, [STARTER, "sum", "--dome-tasks", "3"])
        case("dome run, %s" % closed, streams_closed, closed, [DOME, "run", "-n", "3", STARTER, "sum"])
    case("other tasks' output", each_speaks, 4, ["--dome-output", "all"], True)
    case("other tasks' errors alone", each_speaks, 4, [], False)

    for count in 1, 4:
        case("console, spawn -%d" % count, console, count)
    case("console, no change", console_keeps)
    case("console, --dome-tasks 3", console_tasks, 3)
    for rank in 0, 2:
        case("console, task %d lost" % rank, console_loss, rank)
    for own_tasks in False, True:
        case("console, restart%s" % (", --dome-tasks 3" if own_tasks else ""), console_restart, own_tasks)
    case("in a machine, one task per host", in_machine, [STARTER, "sum"], 1)
    case("in a machine, 4 tasks", in_machine, [STARTER, "sum", "--dome-tasks", "4"], 4)
    case("in a machine, dome run", in_machine, [DOME, "run", "-n", "4", STARTER, "sum"], 4)
    case("in a machine, task lost", loss_in_machine)
    case("in a machine, task becomes a deaf program", deaf_in_machine)
    case("in a machine, no room for all tasks", no_room_for_tasks)
    case("stale daemon file", stale_file)
    case("stale daemon address", stale_address)

    case("unknown option", refuses, [STARTER, "--dome-task", "3"], 2, r"unknown option --dome-task; did you mean --dome-tasks\?")
    for option, value in (("tasks", "0"), ("tasks", "-1"), ("tasks", "four"), ("tasks", "99999999999999999999"), ("timeout", "0"),
                          ("timeout", "soon"), ("transport", "mpi"), ("output", "none")):
        case("--dome-%s %s" % (option, value), refuses, [STARTER, "--dome-" + option, value], 2,
             r"--dome-%s takes .*, not '%s'" % (option, re.escape(value)))
    case("bad DOME_OPTIONS", refuses, [STARTER], 2, r"in DOME_OPTIONS: .*", {"DOME_OPTIONS": "--dome-tasks many"})
    case("no value", refuses, [STARTER, "--dome-tasks"], 2, r".*--dome-tasks.*")
    case("two tasks in one process", refuses, [STARTER, "--dome-tasks", "2", "--dome-transport", "self"], 2, r"--dome-transport self .*")
    case("--dome-tasks 100000", refuses, [STARTER, "sum", "--dome-tasks", "100000"], 1, r"100000 tasks are more than .*")
    case("more tasks than a daemon can have", before_anything, ["--dome-tasks", "481"],
         r"481 tasks are more than can be started on host \S+ alone: at most 480 on a host, and 960 in one program; .*, or more hosts")
    case("more tasks than a program can have", before_anything, ["--dome-tasks", "961"],
         r"961 tasks are more than one program can have: at most 480 on a host, and 960 in one program; .*")
    case("more tasks than the hub can have connections to", before_anything, ["--dome-tasks", "100"],
         r"100 tasks are more than the process that watches over them can have connections to, [4-6]\d: the limit on open files is 150 "
         r"\(ulimit -Hn\) on host \S+: raise it, or run fewer tasks", 150)
    for n in 64, 100:
        case("a stack of %d KiB" % n, small_stack, n)
    for soft in 64, 128:
        case("a stack of %d KiB that may be larger" % soft, says, small(soft, "unlimited") + ["sum", "--dome-tasks", "3"], sum_of(3))
    for options in ["--dome-tasks", "1"], ["--dome-tasks", "3"], ["--dome-tasks", "3", "--dome-restarts", "1"]:
        case("output to a full disk, %s" % " ".join(options), full_disk, options)
        case("much output to a full disk, %s" % " ".join(options), full_disk, ["20000"] + options, "lines")
    case("output of all tasks to a full disk", full_disk, ["--dome-tasks", "2", "--dome-output", "all"], "last")
    case("as many tasks as the hub can have connections to", as_many_as_told)
    case("dome run: no such program", refuses, [DOME, "run", "-n", "2", "/nowhere/program"], 127, r"run: there is no program .*")
    case("dome run: not a program", refuses, [DOME, "run", "-n", "2", "/etc/passwd"], 126, r"run: the file /etc/passwd is not executable .*")
    case("dome run: not a Dome program", not_a_dome_program)
    case("a socket of a daemon that was killed", held_socket)
    case("no PVM", no_pvm)
    for options in ["--dome-tasks", "1"], ["--dome-transport", "self"]:
        case("no PVM needed: %s" % " ".join(options), no_pvm_needed, options)
    case("broken daemon", broken_daemon)
    case("no room for files", no_room)
    case("a relative TMPDIR", relative)
    for size in "4k", "12k":
        case("a full temporary directory, " + size, full, size)
    return cases


def console_tasks(tasks):
    """One copy from the console starts the others itself."""
    with Machine() as machine, Console(machine) as typed:
        typed.type("spawn -> %s sum --dome-tasks %d" % (STARTER, tasks))
        typed.wait_for(r"%d tasks, sum 500" % tasks)
        typed.wait_for(r"\[1\] finished")
        check("dome:" not in typed.text(), "console: %r" % typed.text())


def not_a_dome_program():
    """It runs once, without its other tasks, and its status is kept."""
    with Run([DOME, "run", "-n", "2", "/bin/sh", "-c", "echo once; exit 4"]) as run:
        ends(run, 4)
        prints(run, "once\n")


if __name__ == "__main__":
    harness.need_pvm()
    if not shutil.which("pvm"):
        harness.skip("the PVM console is not installed")
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    sys.exit(1 if harness.run_all([c for c in all_cases() if wanted in c[0]], 4) else 0)
