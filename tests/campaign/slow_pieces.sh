#!/bin/bash
# Calls of the system that fail, stop short or kill a task while pieces of a checkpoint are written on three hosts that share no file
# system; then the program goes on without them, to the bits of an undisturbed run.
#
#     slow_pieces.sh [COUNT [SEED]]
count=${1:-25} seed=${2:-$RANDOM}
. "$(dirname "${BASH_SOURCE[0]}")/../support/lab.bash"
in_lab 3 "$count" "$seed"
state=$DOME_BUILD_DIR/tests/checkpoint/state
inject=$DOME_BUILD_DIR/tests/preload/libinject.so
[ -x "$state" ] || skip "built without checkpoints"
[ -e "$inject" ] || skip "$inject is not built"
saved=/tmp/saved
RANDOM=$seed
echo "seed $seed"

run alone on h1 sh -c "cd $work && exec $state 16 --dome-transport self"
ended_well alone

pick() {
    local words=("$@")
    echo "${words[RANDOM % $#]}"
}

# NAME VARIABLES OPTION...: on three hosts, two tasks each
program() {
    local name=$1 variables=$2
    shift 2
    run "$name" on h1 sh -c "cd $work && exec timeout -k 5 90 env $variables $dome run --hosts $work/hosts -n 6 $state 16 none 5 \
        --dome-checkpoint-dir $saved --dome-checkpoint-every 2 --dome-checkpoint-keep 2 --dome-timeout 4 $*"
}

met=0
for ((i = 1; i <= count; i++)); do
    action=$(pick kill kill 28 28 5 5 13 24 4 short)
    later=$(pick "" "" +)
    [ "$action" != 4 ] || later=
    fault=$(pick open write write write fsync rename allocate unlink):$(pick 1 2 3 4 5 6 8 10 15 20 30)$later:$action:$saved
    only=$(pick first others)
    program fault "LD_PRELOAD=$inject INJECT=$fault INJECT_TASKS=$only"
    what="$i: $fault in $only"
    # 137 is also the status of a program whose task 0 was killed; then there is a line.
    [ $status -eq 124 ] || { [ $status -eq 137 ] && [ -z "$(errors fault)" ]; } && fail "$what: hangs: $(errors fault)"
    if [ $status -eq 0 ]; then
        cmp -s alone.out fault.out || fail "$what: other bits: $(cat fault.out)"
        [ -z "$(errors fault)" ] || met=$((met + 1))
    else
        [ -n "$(errors fault)" ] || fail "$what: status $status without a line"
        met=$((met + 1))
    fi
    program again "A=1" --dome-restart=auto
    [ $status -eq 0 ] && cmp -s alone.out again.out || fail "$what: the next start: status $status: $(errors again); $(errors fault)"
    for host in "${hosts[@]}"; do
        left=$(on "$host" find "$saved" -mindepth 1 ! -name '*.dckpt' ! -name run ! -name lock 2>/dev/null)
        [ -z "$left" ] || fail "$what: left on $host: $left"
        on "$host" rm -rf "$saved"
    done
    clean "$what"
done
echo "$count faults while pieces were written, $met met, $failures failed"
finish
