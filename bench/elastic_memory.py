"""How much memory a program has while it changes its number of tasks, beside what it has otherwise.

    elastic_memory.py PROGRAM [ARGUMENT...]     prints "BEFORE PEAK" in MB: the median between changes, the most at any time

Counted are the pages of its tasks' processes (RssAnon, RssShmem) and those of the files in memory that carry its state."""

import os
import statistics
import subprocess
import sys
import threading
import time


def tasks_of(program):
    name = os.path.basename(program)[:15]
    found = []
    for pid in os.listdir("/proc"):
        try:
            if pid.isdigit() and open("/proc/%s/comm" % pid).read().strip() == name:
                found.append(pid)
        except OSError:
            pass
    return found


def pages(pid):
    try:
        with open("/proc/%s/status" % pid) as f:
            return sum(int(line.split()[1]) for line in f if line.startswith(("RssAnon:", "RssShmem:")))
    except (OSError, ValueError, IndexError):
        return 0


def state_files(pid, seen):
    """KiB of the files that no other task has open as well."""
    total = 0
    directory = "/proc/%s/fd/" % pid
    try:
        for fd in os.listdir(directory):
            if "dome-view" in os.readlink(directory + fd):
                s = os.stat(directory + fd)
                if s.st_ino not in seen:
                    seen.add(s.st_ino)
                    total += s.st_blocks // 2
    except OSError:
        pass
    return total


def main():
    process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
    tasks, ended = [], threading.Event()

    def look_for_tasks():
        while not ended.wait(0.02):
            tasks[:] = tasks_of(sys.argv[1])

    threading.Thread(target=look_for_tasks, daemon=True).start()
    steady, peak = [], 0
    while process.poll() is None:
        seen = set()
        files = sum(state_files(pid, seen) for pid in list(tasks))
        now = sum(pages(pid) for pid in list(tasks)) + files
        if not seen:
            steady.append(now)
        peak = max(peak, now)
        time.sleep(0.002)
    ended.set()
    print("%d %d" % (statistics.median(steady) // 1000, peak // 1000))
    sys.exit(process.returncode)


main()
