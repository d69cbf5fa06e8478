#!/bin/bash
# A client of Python whose workers are on three hosts: cells, an exception on one host, a worker of another host that is killed.
. "$(dirname "${BASH_SOURCE[0]}")/../support/lab.bash"
in_lab 3 "$@"
python=${DOME_PYTHON:-/usr/bin/python3}
[ -e "$DOME_BUILD_DIR/python/dome/_dome.abi3.so" ] || skip "built without the package of Python"
"$python" -c "import cffi" 2>/dev/null || skip "python3-cffi is not installed"

cat >"$work/client.py" <<'END'
import subprocess
import sys

import dome

with dome.Client(hosts=sys.argv[1]) as c:
    assert c.n == 3 and len(set(c.hosts)) == 3, c.hosts
    y = c.sqrt(c.random.random((100_000,), seed=1)) + 1
    total = float(y.sum())
    c.run("z = dm.arange(1000.0)\nprint(float(z.sum()))")
    try:
        c.run("if dm.rank() == 1:\n    raise ValueError('on one host')\nfloat(z.sum())")
    except ValueError as error:
        assert error.rank == 1, error.rank
    else:
        raise SystemExit("nothing was raised")
    assert float(c["z"].sum()) == 499500.0
    healed = c.healed
    subprocess.run(["ssh", c.hosts[2], f"kill -9 {c.pids[2]}"], check=True)
    assert float((y * 2).sum()) / 2 == total and float(c["z"].sum()) == 499500.0
    assert c.healed == healed + 1 and len(set(c.hosts)) == 3, (c.healed, c.hosts)
print("ok")
END
say "three hosts, one of which loses its worker"
run client on h1 env PYTHONPATH="$DOME_BUILD_DIR/python" PYTHONDONTWRITEBYTECODE=1 "$python" "$work/client.py" "$work/hosts"
[ "$status" -eq 0 ] || fail "client: status $status; $(errors client)"
# Task 1 has raised the exception while the others waited for it, and task 2 was killed.
for lost in "task 1 on host h2" "task 2 on host h3"; do
    [ "$(errors client | grep -c "^dome: $lost is lost: its process ended; .*; healed from checkpoint ")" -eq 1 ] || fail "client: no loss of $lost: $(errors client)"
done
[ "$(errors client | grep -c '')" -eq 2 ] || fail "client: unexpected words: $(errors client)"
grep -q '^499500.0$' "$work/client.out" && grep -q '^ok$' "$work/client.out" || fail "the client"
finish
