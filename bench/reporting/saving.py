"""Runs of checkpoint_state and mmsave on hosts of a lab, for the tables of checkpoints."""

import os
import shutil

from .parts import Failed, Run
TARGETS = ("dome_tool", "bench_checkpoint_state")


def hosts(count, first=1):
    return ["h%d" % i for i in range(first, first + count)]


def directory(context):
    """Empty, on the disk of the build directory; all hosts see it."""
    path = os.path.join(context.work, "checkpoints")
    shutil.rmtree(path, ignore_errors=True)
    return path


def size_of(path):
    """Bytes of the largest checkpoint: the one with all of the state."""
    return max(os.path.getsize(os.path.join(path, name)) for name in os.listdir(path) if name.endswith(".dckpt"))


def save(context, where, megabytes, loops=3, changed=100, tasks=2):
    """Seconds of a checkpoint until all of it is on disk, and of the pause in the program; so many percent of the state change before
    each. where: hosts with a task each; None for so many tasks on this one."""
    path = directory(context)
    run = Run(context.build, len(where) if where else tasks, "bench/checkpoint_state",
              ["%g" % megabytes, str(loops), "1", str(changed), "--dome-checkpoint-dir", path, "--dome-checkpoint-every", "1"], hosts=where)
    run.end()
    pauses = run.values("pause")
    return {"disk": run.values("all")[0] / loops, "pause": sorted(pauses)[len(pauses) // 2], "bytes": size_of(path)}


def restart(context, where, megabytes, loops=3):
    """After save: seconds until all tasks run, and of reading the state."""
    path = os.path.join(context.work, "checkpoints")
    run = Run(context.build, len(where), "bench/checkpoint_state",
              ["%g" % megabytes, str(loops + 1), "1", "--dome-checkpoint-dir", path, "--dome-checkpoint-every", "1", "--dome-restart"], hosts=where)
    reading = run.wait_for(r"^reading ")
    if not reading:
        run.end()
        raise Failed("the program did not say that it read its state")
    run.end()
    seconds = run.values("reading")[0]
    return {"start": reading - run.begin - seconds, "reading": seconds}
