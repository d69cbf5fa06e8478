#!/bin/bash
# Objects of every kind: the same files from any number of tasks, wherever the data lies; the same end from any of them; what has
# not changed costs nothing; the independent reader agrees.
. "$(dirname "$0")/../support/programs.bash"
examples=$DOME_BUILD_DIR/tests/checkpoint
saving="--dome-checkpoint-dir dir --dome-checkpoint-every 2 --dome-checkpoint-keep 100"

run self state 12
well "12 steps"
cp out expected
for how in self 1 2 3 7 "3 --dome-balance random" "2 --dome-balance ring --dome-balance-every 3" "5 --dome-balance none"; do
    set -- $how
    [ "$1" = self ] || [ "$counts" != self ] || continue
    rm -rf dir
    tasks=$1
    shift
    run "$tasks" state 12 $saving "$@"
    well "$how"
    same "$how" expected out
    [ -d first ] || cp -r dir first
    (cd dir && ls ckpt-*) >files
    [ "$(wc -l <files)" -eq 6 ] || fail "$how: $(cat files)"
    for file in $(cat files); do
        same "$how" "first/$file" "dir/$file"
    done
done

# 160000 bytes of it do not change, nor do blocks of others.
bytes() { stat -c %s "first/ckpt-0000000$1.dckpt"; }
[ $(($(bytes 1) - $(bytes 2))) -ge 160000 ] || fail "the second has $(bytes 2) bytes, the first $(bytes 1)"

for from in 1 4; do
    for how in "$most" self "2 --dome-balance random"; do
        set -- $how
        [ "$1" = self ] || [ "$counts" != self ] || continue
        rm -rf dir
        mkdir dir
        for n in $(seq "$from"); do
            cp "first/ckpt-0000000$n.dckpt" dir
        done
        tasks=$1
        shift
        run "$tasks" state 12 $saving --dome-restart "$@"
        [ $status -eq 0 ] || fail "from $from, $how: status $status, $(cat err)"
        same "from $from, $how" expected out
        for file in $(cat files); do
            same "from $from, $how" "first/$file" "dir/$file"
        done
    done
done

dome=$DOME_BUILD_DIR/tools/dome
"$dome" ckpt show --head first/ckpt-00000004.dckpt >shown 2>&1 || fail "show: $(cat shown)"
for line in "m: dvec of f64, length 700, width 3, shape 7 x 100 x 3, block" "u: dvec of u16, length 1000, width 1, shape 10 x 5 x 20, dynamic" \
    "flat: dvec of f64, length 700, width 3, block" "empty: dvec of i64, length 0, width 1, shape 3 x 0, dynamic"; do
    grep -qF "$line" shown || fail "show: '$line' is not in: $(cat shown)"
done
! grep -q counter shown || fail "shapes are shown as counters: $(grep counter shown)"
"$dome" ckpt diff first:4 first:6 >shown 2>&1
grep -qx 'u: its shape differs: 10 x 5 x 20 and none' shown || fail "diff: $(cat shown)"

# A file that is there for its blocks alone is no damage.
run self state 12 --dome-checkpoint-dir newest --dome-checkpoint-every 1 --dome-checkpoint-keep 1
well "only the newest kept"
"$dome" ckpt ls newest >listed 2>err && [ ! -s err ] && grep -q ' kept ' listed || fail "ls of the newest: $(cat err listed)"
"$dome" ckpt verify newest >listed 2>err && [ ! -s err ] && grep -q 'kept for newer ones' listed || fail "verify of the newest: $(cat err listed)"

for python in python3 /usr/bin/python3; do
    "$python" -c 'import numpy' 2>/dev/null || continue
    "$python" "$DOME_SOURCE_DIR/tools/dome_ckpt.py" verify first/ckpt-*.dckpt >shown 2>&1 || fail "dome_ckpt.py: $(cat shown)"
    (cd first && "$python" - "$DOME_SOURCE_DIR/tools") <<'END' || fail "dome_ckpt.py reads other values"
import sys
sys.path.insert(0, sys.argv[1])
from dome_ckpt import Checkpoint
c = Checkpoint("ckpt-00000006.dckpt")
assert int(c.array("step")[0]) == 12, c.array("step")
assert (c.array("m") == 0.25 * 1.25 ** 12).all() and c.array("m").shape == (7, 100, 3)
assert (c.array("w") == 3 + sum(range(12))).all()
assert (c.array("u").reshape(-1) == [i + 12 for i in range(1000)]).all()
assert c.array("empty").size == 0 and c.array("x").size == 5000
END
    break
done
finish
