#!/bin/bash
# Each way to make checkpoints: they have the values of their loop boundary, although the program overwrites or frees at once what it
# has saved; while data moves, with checkpoints close together, on a disk that is full, and going on after kill -9.
. "$(dirname "$0")/../support/programs.bash"
examples=$DOME_BUILD_DIR/tests/checkpoint
forbid=$DOME_BUILD_DIR/tests/programs/forbid
dome=$DOME_BUILD_DIR/tools/dome
steps=8
saving="--dome-checkpoint-dir dir --dome-checkpoint-every 1 --dome-checkpoint-keep 100"
modes="basic estimate accurate"
copies="wait pre on-write"

# check_each WHAT TASKS: the program finds in each checkpoint what it has written before.
check_each() {
    local number
    "$dome" ckpt verify --quiet dir >shown 2>&1 || fail "$1: verify: $(cat shown)"
    for number in 2 $steps; do
        run "$2" overwritten "$number" --dome-checkpoint-dir dir --dome-restart="$number"
        [ $status -eq 0 ] && [ "$(cat out)" = "from a checkpoint" ] || fail "$1: checkpoint $number: status $status, $(cat out err)"
    done
}

# Of all files of a directory.
bytes_of() { cat "$1"/*.dckpt | wc -c; }

for mode in $modes; do
    for copy in $copies; do
        for how in self 3 "3 --dome-balance random" "2 --dome-road=pvm"; do
            set -- $how
            [ "$1" = self ] || [ "$counts" != self ] || continue
            # What the tasks do differs by the copy, what is in the file by the mode.
            [ "$how" = self ] || [ $mode = accurate ] || [ -n "${DOME_TEST_ALL:-}" ] || continue
            rm -rf dir
            tasks=$1
            shift
            run "$tasks" overwritten $steps $saving --dome-checkpoint-mode $mode --dome-checkpoint-copy $copy "$@"
            well "$mode, $copy, $how"
            check_each "$mode, $copy, $how" self
            [ "$how" != self ] || mv dir "$mode-$copy"
        done
    done
done

# How the file is made does not depend on how the program waits; what is in it depends on the mode.
for mode in $modes; do
    for copy in wait on-write; do
        for file in "$mode-pre"/*.dckpt; do
            same "$mode, $copy" "$file" "$mode-$copy/${file#*/}"
        done
    done
done
[ "$(bytes_of basic-pre)" -gt "$(bytes_of estimate-pre)" ] && [ "$(bytes_of estimate-pre)" -gt "$(bytes_of accurate-pre)" ] ||
    fail "bytes of basic, estimate and accurate: $(for mode in $modes; do bytes_of $mode-pre; done)"
"$dome" ckpt show --head basic-pre/ckpt-0000000$steps.dckpt >shown 2>&1 || fail "show: $(cat shown)"
! grep -q "refers to" shown || fail "basic: $(grep "refers to" shown)"
"$dome" ckpt show --head estimate-pre/ckpt-0000000$steps.dckpt >shown 2>&1
grep -q "refers to" shown || fail "estimate refers to no earlier file: $(cat shown)"
for mode in estimate accurate; do
    "$dome" ckpt diff basic-pre:$steps "$mode-pre:$steps" >shown 2>&1 || fail "$mode has other values than basic: $(cat shown)"
done
for python in python3 /usr/bin/python3; do
    "$python" -c 'import numpy' 2>/dev/null || continue
    for mode in $modes; do
        "$python" "$DOME_SOURCE_DIR/tools/dome_ckpt.py" verify "$mode-on-write/ckpt-0000000$steps.dckpt" >shown 2>&1 || fail "dome_ckpt.py, $mode: $(cat shown)"
    done
    break
done

# By time, so that one is due while the one before is being written.
for copy in $copies; do
    rm -rf dir
    run self overwritten 60 --dome-checkpoint-dir dir --dome-checkpoint-every 0.001s --dome-checkpoint-keep 3 --dome-checkpoint-mode estimate \
        --dome-checkpoint-copy $copy
    well "each millisecond, $copy"
    run self overwritten 1 --dome-checkpoint-dir dir --dome-restart
    [ $status -eq 0 ] || fail "each millisecond, $copy: status $status, $(cat err)"
done

# A disk that takes none, and then does again.
for copy in wait on-write; do
    rm -rf dir
    (
        ulimit -f 1000
        run self overwritten $steps $saving --dome-checkpoint-mode estimate --dome-checkpoint-copy $copy
        [ $status -eq 0 ] && grep -q "was not written" err
    ) || fail "a full disk, $copy: $(cat err)"
done

# Where no process may read another's memory, it is copied before.
rm -rf dir
run self overwritten $steps $saving --dome-checkpoint-copy pre
if "$forbid" process_vm_readv "$RUN_MULTI" self "$examples/overwritten" $steps $saving --dome-checkpoint-copy on-write >out 2>err; then
    [ "$(grep -c "copies before it goes on, as with =pre" err)" -eq 1 ] || fail "process_vm_readv refused: $(cat err)"
    check_each "process_vm_readv refused" self
else
    fail "process_vm_readv refused: $(cat out err)"
fi

# A task is killed behind a boundary, with what it has overwritten.
if [ "$counts" != self ]; then
    for mode in $modes; do
        for copy in $copies; do
            for directory in dir memory:; do
                rm -rf dir
                run 3 overwritten $steps 4 --dome-restarts 1 --dome-checkpoint-dir $directory --dome-checkpoint-every 1 \
                    --dome-checkpoint-mode $mode --dome-checkpoint-copy $copy
                [ $status -eq 0 ] && grep -q "from a checkpoint" out || fail "killed, $mode, $copy, $directory: status $status, $(cat out err)"
            done
        done
    done
fi
finish
