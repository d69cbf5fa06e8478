"""Runs a program: `python3 -m dome -n 4 program.py ...` is `dome run -n 4 python3 program.py ...`.

`--in FOLDER -m MODULE ...` and `--in FOLDER -c CODE ...` are how the other tasks run a program that was started so: in the
folder of the first one.
"""
import os
import runpy
import shutil
import sys

USAGE = "usage: python3 -m dome [options of dome run, such as -n 4] program.py | -m module | -c code [arguments]"


WITH_VALUE = ("-n", "--tasks", "--restarts", "--on-loss", "--min", "--max", "--size", "--hosts-script", "--hosts", "--address")


def beside_library():
    """The command that belongs to the library: in the prefix that it was installed in, or in the folder of its build."""
    from dome import _dome
    assert _dome
    with open("/proc/self/maps") as maps:
        paths = [line.split(maxsplit=5)[5].strip() for line in maps if "/libdome.so" in line]
    for folder in {os.path.dirname(path) for path in paths}:
        for there in ("../bin", "../../bin", "tools"):
            command = os.path.normpath(os.path.join(folder, there, "dome"))
            if os.access(command, os.X_OK):
                return command
    return None


def find_command():
    found = beside_library() or shutil.which("dome")
    if not found:
        sys.exit("dome: the command `dome` is not found, neither beside the library nor in PATH (package dome-tools)")
    return found


def run_inside(folder, kind, what, arguments):
    from dome import env
    env.started_in(len(arguments))
    os.chdir(folder)
    sys.path[0] = folder if kind == "-m" else ""
    if kind == "-m":
        sys.argv = [what, *arguments]
        runpy.run_module(what, run_name="__main__", alter_sys=True)
        return
    sys.argv = ["-c", *arguments]
    names = sys.modules["__main__"].__dict__
    for name in [name for name in names if not name.startswith("__")]:
        del names[name]
    exec(compile(what, "<string>", "exec"), names)


def main(words):
    if words[:1] == ["--in"]:
        if len(words) < 4 or words[2] not in ("-m", "-c"):
            sys.exit(USAGE)
        run_inside(words[1], words[2], words[3], words[4:])
        return
    at = 0  # options of `dome run`: those with a dash, and the values of those that have one
    while at < len(words) and words[at].startswith("-") and words[at] not in ("-m", "-c"):
        at += 2 if words[at] in WITH_VALUE else 1
    if at >= len(words) or words[:1] in (["-h"], ["--help"]):
        sys.exit(USAGE)
    command = find_command()
    os.execv(command, [command, "run", *words[:at], sys.executable, *words[at:]])


if __name__ == "__main__":
    main(sys.argv[1:])
