"""Damage in a directory of checkpoints: the program goes on from an older good one, begins anew, or refuses, and never has wrong bits."""

import os
import shutil
import subprocess

import campaign
import harness
from campaign import STATE
from harness import check

STEPS, SAVED_STEPS = "16", "11"
HEAD = 700


def run(steps, directory, every, *more):
    return subprocess.run(
        [STATE, steps, "--dome-transport", "self", "--dome-checkpoint-dir", directory, "--dome-checkpoint-every", every, "--dome-checkpoint-keep", "4", *more],
        env=harness.clean_environment(), capture_output=True, stdin=subprocess.DEVNULL, timeout=harness.HANG)


def damaged(data, kind, chance, directory, names):
    if kind == "bit":
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    elif kind == "head":
        data[chance.randrange(min(len(data), HEAD))] = chance.randrange(256)
    elif kind == "short":
        data = data[: chance.choice([0, 1, 7, 8, 63, 64, 65, chance.randrange(len(data)), len(data) - 1])]
    elif kind == "zeros":
        at = chance.randrange(len(data))
        data[at : at + 512] = bytes(len(data[at : at + 512]))
    elif kind == "long":
        data += bytes(chance.choice([1, 512, 4096]))
    elif kind == "another":
        with open(os.path.join(directory, chance.choice(names)), "rb") as f:
            data = f.read()
    elif kind == "twice":
        data = data + data
    return data


def case(chance, number):
    every = chance.choice(["1", "3"])
    good = directories[every]
    with harness.temporary_directory() as base:
        directory = os.path.join(base, "saved")
        shutil.copytree(good, directory)
        names, what = campaign.checkpoints(directory), []
        for _ in range(chance.choice([1, 1, 1, 2, 5])):
            name, kind = chance.choice(names + ["run"]), chance.choice(["bit"] * 3 + ["head", "short", "zeros", "long", "another", "twice"])
            with open(os.path.join(directory, name), "rb") as f:
                data = bytearray(f.read())
            if data:
                what.append("%s of %s" % (kind, name))
                with open(os.path.join(directory, name), "wb") as f:
                    f.write(damaged(data, kind, chance, directory, names))
        try:
            done = run(STEPS, directory, every, chance.choice(["--dome-restart", "--dome-restart=auto"]))
        except subprocess.TimeoutExpired:
            raise harness.Failure("hangs after %s" % ", ".join(what))
        text = done.stderr.decode(errors="replace")
        check(done.returncode in (0, 1), "status %d after %s: %s" % (done.returncode, ", ".join(what), text))
        if done.returncode == 0:
            check(done.stdout == expected, "wrong bits after %s: %r" % (", ".join(what), done.stdout))
            return "ended with the same bits"
        check(text.strip(), "no line after %s" % ", ".join(what))
        return "refused"


if __name__ == "__main__":
    campaign.need_state()
    expected = campaign.undisturbed(STEPS)
    with harness.temporary_directory() as base:
        directories = {every: os.path.join(base, "every-" + every) for every in ("1", "3")}
        for every, directory in directories.items():
            done = run(SAVED_STEPS, directory, every)
            check(done.returncode == 0 and campaign.checkpoints(directory), done.stderr)
        campaign.campaign("damaged directories of checkpoints", case, 400, jobs=2)
