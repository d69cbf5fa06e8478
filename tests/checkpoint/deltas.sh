#!/bin/bash
# Checkpoints of deltas: the same files from any number of tasks, the same end from any of them, on other numbers of tasks and through
# several restarts; damage in any file of a chain is named, and an older checkpoint used; the independent reader agrees.
. "$(dirname "$0")/../support/programs.bash"
examples=$DOME_BUILD_DIR/tests/checkpoint
dome=$DOME_BUILD_DIR/tools/dome
steps=30

# flip FILE OFFSET: changes a byte.
flip() {
    local byte
    byte=$(od -An -tu1 -j "$2" -N 1 "$1")
    printf "$(printf '\\%03o' $((byte ^ 1)))" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

saving="--dome-checkpoint-dir dir --dome-checkpoint-every 1 --dome-checkpoint-keep 100"

run self deltas $steps
well "without checkpoints"
cp out expected
for how in self 1 2 5 "3 --dome-balance random"; do
    set -- $how
    [ "$1" = self ] || [ "$counts" != self ] || continue
    rm -rf dir
    tasks=$1
    shift
    run "$tasks" deltas $steps $saving "$@"
    well "$how"
    same "$how" expected out
    [ -d first ] || cp -r dir first
    for file in first/ckpt-*; do
        same "$how" "$file" "dir/${file#first/}"
    done
done
"$dome" ckpt verify first >shown 2>&1 || fail "verify: $(cat shown)"

of_deltas=()
for file in first/ckpt-*; do
    [ "$(od -An -tu1 -j11 -N1 "$file" | tr -d ' ')" = 2 ] && of_deltas+=("$file")
done
[ ${#of_deltas[@]} -ge 10 ] || fail "only ${#of_deltas[@]} of $steps are of deltas"

# Each is read on other numbers of tasks; what follows is as it was, through further restarts too.
for from in 2 9 17 25; do
    for tasks in 3 self 2; do
        [ "$tasks" = self ] || [ "$counts" != self ] || continue
        rm -rf dir
        cp -r first dir
        for file in dir/ckpt-*; do
            [ "$file" \< "$(printf 'dir/ckpt-%08d.dckpt' $((from + 1)))" ] || rm "$file"
        done
        run "$tasks" deltas $((from + 3)) $saving --dome-restart
        [ $status -eq 0 ] || fail "from $from, $tasks: status $status, $(cat err)"
        run self deltas $steps $saving --dome-restart
        [ $status -eq 0 ] || fail "from $from, $tasks, again: status $status, $(cat err)"
        same "from $from, $tasks" expected out
        "$dome" ckpt verify --quiet dir >shown 2>&1 || fail "verify, from $from: $(cat shown)"
    done
done

# Damage in the newest, and in the one before it in its chain.
newest=${of_deltas[-1]} before=${of_deltas[-2]}
for damaged in "$newest" "$before"; do
    rm -rf dir
    cp -r first dir
    for file in dir/ckpt-*; do
        [ ! "${file#dir/}" \> "${newest#first/}" ] || rm "$file"
    done
    size=$(stat -c %s "$damaged")
    flip "dir/${damaged#first/}" $((size - 1))
    "$dome" ckpt verify "dir/${newest#first/}" >shown 2>&1 && fail "verify finds no damage in $damaged"
    grep -q "its deltas are damaged" shown && grep -qF "${damaged#first/}" shown || fail "verify: $(cat shown)"
    run self deltas $steps $saving --dome-restart
    [ $status -eq 0 ] || fail "damage in $damaged: status $status, $(cat err)"
    same "damage in $damaged" expected out
    grep -qF "${newest#first/}" err || fail "damage in $damaged: $(cat err)"
done

# Whole blocks where they are asked for: a reader of version 1 can read them.
rm -rf dir
run self deltas $steps $saving --dome-checkpoint-deltas off
well "off"
same "off" expected out
for file in dir/ckpt-*; do
    [ "$(od -An -tu1 -j11 -N1 "$file" | tr -d ' ')" = 1 ] || fail "off: $file is of deltas"
done
"$dome" ckpt diff "$newest" "dir/${newest#first/}" >shown 2>&1 || fail "deltas and whole blocks differ: $(cat shown)"

for python in python3 /usr/bin/python3; do
    "$python" -c 'import numpy' 2>/dev/null || continue
    "$python" "$DOME_SOURCE_DIR/tools/dome_ckpt.py" verify "${of_deltas[0]}" "$newest" >shown 2>&1 || fail "dome_ckpt.py: $(cat shown)"
    for name in x pairs region small steps; do
        for file in "$newest" "dir/${newest#first/}"; do
            "$python" "$DOME_SOURCE_DIR/tools/dome_ckpt.py" export "$file" $name "$(dirname "$file").npy" || fail "export of $name"
        done
        same "dome_ckpt.py, $name" first.npy dir.npy
    done
    break
done
finish
