"""Small files that ask for much: `dome view` and `dome ckpt` take memory and room in proportion to what a file holds."""

import os
import resource
import shutil
import struct
import subprocess
import sys
import tempfile

DOME = os.path.join(os.path.abspath(os.environ.get("DOME_BUILD_DIR", "build")), "tools", "dome")
MEMORY = 300 << 20  # a reader of nothing takes a tenth of it
PAGE = 1 << 20  # of a page without data, more than it has
HEAD = "dome-trace 1\nT -\nH 1 1 1 h cmd\n"

folder = tempfile.mkdtemp(prefix="dome-bombs.", dir=os.environ.get("TMPDIR", "/tmp"))
failures = 0


def fail(text):
    global failures
    failures += 1
    print("failed: " + text, flush=True)


def run(what, command, output=None, most=0):
    """The file that it writes is limited, too: else a mistake here fills the disk."""
    p = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                         preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 30, 1 << 30)))
    text = p.stderr.read().decode()
    _, status, usage = os.wait4(p.pid, 0)
    p.returncode = status
    peak, size = usage.ru_maxrss << 10, os.path.getsize(output) if output and os.path.exists(output) else 0
    print("%-44s status %d, %5d MB of memory, %8d bytes written, %.1f s %s"
          % (what, os.waitstatus_to_exitcode(status), peak >> 20, size, usage.ru_utime + usage.ru_stime, text.split("\n")[0][:100]), flush=True)
    if peak > MEMORY:
        fail("%s: %d MB of memory" % (what, peak >> 20))
    if size > PAGE + most:
        fail("%s: %d bytes are written" % (what, size))
    if usage.ru_utime + usage.ru_stime > 60:
        fail("%s: %.0f s of processor time" % (what, usage.ru_utime + usage.ru_stime))
    if status and not text.startswith("dome: "):
        fail("%s: status %d and no line: %s" % (what, status, text[:200]))


def trace(what, text):
    path = os.path.join(folder, "b.tr")
    with open(path, "w") as f:
        f.write(text)
    for end in (".html", ".json"):
        run("trace: %s%s" % (what, end), [DOME, "view", path, "-o", path + end], path + end, 20 * len(text))


def operations(tasks, count, rank="0"):
    lines = "".join("N %d op%d\nc 1 %d 1 1 1 1\n" % (k, k, k) for k in range(1, count + 1))
    return HEAD + "T %s\nI 1 1 %d 1 h\n" % (rank, tasks) + lines


def checkpoint(what, head_bytes, file_bytes):
    """A file of holes, whose header says that it is a checkpoint."""
    path = os.path.join(folder, "ckpt-00000001.dckpt")
    header = bytearray(64)
    header[0:8] = b"\x89DOME\r\n\x1a"
    struct.pack_into(">I", header, 8, 1)
    struct.pack_into(">Q", header, 24, head_bytes)
    struct.pack_into(">Q", header, 32, file_bytes)
    with open(path, "wb") as f:
        f.write(header)
        f.truncate(file_bytes)
    for command in ("verify", "show"):
        run("checkpoint: %s, %s" % (what, command), [DOME, "ckpt", command, path])
    os.unlink(path)


try:
    trace("20 operations of a million tasks", operations(1000000, 20))
    trace("300 operations of a million tasks", operations(1000000, 300))
    trace("300 operations of 16384 tasks", operations(16384, 300, "16383"))
    trace("task 999999", operations(1, 1, "999999"))
    layouts = "".join("v %d %d %d 1 0 64 f64 n%d\ny %d 0 %d 64 0 %d\n" % (k + 1, k, k + 64, k, k + 1, k + 64, (k + 127) // 64)
                      for k in range(30000))
    trace("30000 layouts", HEAD + "T 0\nI 1 1 1 1 h\n" + layouts)
    clocks = "".join("C %d %d 0 %d\n" % (k, k, 1 if k == 199999 else 10000000 + k) for k in range(200000))
    trace("200000 measurements of a clock", HEAD + "T 0\nI 1 1 1 1 h\n" + clocks)
    late = "".join("C %d %d 0 1\n" % (k, k) for k in range(30000)) + "".join("o %d 1 0 1 0\n" % (100000 + k) for k in range(30000))
    trace("30000 operations after 30000 measurements", HEAD + "T 0\nI 1 1 1 1 h\n" + late)
    checkpoint("a head of 2 GB", 2 << 30, 3 << 30)
    checkpoint("a head of 1 TB", 1 << 40, (1 << 40) + 100)
finally:
    shutil.rmtree(folder)
print("%d failed" % failures)
sys.exit(1 if failures else 0)
