#!/bin/bash
# No checkpoint contains messages that are in transit at a boundary: it is written at the next one without them, or left out, and one
# line says who sends. The program never ends by that.
. "$(dirname "$0")/../support/programs.bash"
examples=$DOME_BUILD_DIR/tests/checkpoint
[ "$counts" != self ] || { echo "skipped: there is no PVM, and one task has nobody to send to"; exit 77; }

message="a message of task 0 to task %s (tag 7, %s of f64) has not been received"
advice="no checkpoint can have it: receive messages, and wait for requests, before dome_checkpoint"

# written COUNT WHAT: the last run has ended well and has said nothing, and there are so many checkpoints.
written() {
    well "$2"
    [ "$(ls dir/*.dckpt | wc -l)" -eq "$1" ] || fail "$2: not $1 checkpoints: $(ls dir)"
    rm -rf dir
}

# left_out WHAT TEXT: it has ended well, none was written, and one line has the text.
left_out() {
    refused "$1" 0 "$2"
    [ "$(cat out)" = 12000 ] || fail "$1: it has printed $(cat out)"
    ! ls dir/*.dckpt 2>/dev/null || fail "$1: there is a checkpoint"
    rm -rf dir
}

long=1000000 # elements of a message that no task takes before it is wanted

# Where something is in transit at some boundaries, the checkpoint comes at the first that is free.
for how in "send 1" "isend $long" "irecv 1"; do
    for road in best pvm; do
        run 3 transit 12 1 110 $how --dome-checkpoint-dir dir --dome-checkpoint-every 5 --dome-checkpoint-keep 9 --dome-road $road
        for k in 1 2; do
            "$DOME_BUILD_DIR/tools/dome" ckpt show "dir/ckpt-0000000$k.dckpt" >shown
            grep -q ", loop $((6 * k))," shown || fail "$how, $road: checkpoint $k is of another boundary: $(head -2 shown)"
        done
        written 2 "$how, $road"
    done
done
run 3 transit 12 1 110 send 1 --dome-checkpoint-dir dir --dome-checkpoint-every 5
mv out expected
run 2 transit 12 1 110 send 1 --dome-checkpoint-dir dir --dome-restart
[ $status -eq 0 ] && same "gone on" expected out

# Where that is so at each boundary, there is none, for each way to keep the state.
# shellcheck disable=SC2059
for options in "--dome-checkpoint-dir dir --dome-checkpoint-every 1" \
    "--dome-checkpoint-dir memory: --dome-on-loss heal --dome-checkpoint-every 1" "--dome-restarts 1 --dome-checkpoint-dir dir --dome-checkpoint-every 4"; do
    rm -rf dir
    # shellcheck disable=SC2086
    run 2 transit 12 1 1 send 1 $options
    left_out "$options" "checkpoint 1 is left out: $(printf "$message" 1 "1 element"); at each of "
    grep -qF -- "$advice" err || fail "no advice: $(cat err)"
done
# shellcheck disable=SC2059
{
    run 2 transit 12 1 1 send 1 --dome-on-loss tell
    left_out "tell" "the state of loop boundary 12 is not kept for --on-loss tell: $(printf "$message" 1 "1 element"); at each of 12"
    run 2 transit 12 1 1 isend "$long" --dome-checkpoint-dir dir --dome-checkpoint-every 1
    left_out "a long message" "checkpoint 1 is left out: $(printf "$message" 1 "$long elements"); at each of 12 loop boundaries in"
}
run 2 transit 12 1 1 irecv 1 --dome-checkpoint-dir dir --dome-checkpoint-every 1
left_out "a request" "checkpoint 1 is left out: a request of task 1 to receive from task 0 (tag 7) has not been waited for; at each of 12"
run 2 transit 12 1 000000000001 send 1 --dome-checkpoint-dir dir --dome-checkpoint-every 4
written 2 "a message at the last boundary"

# SIGTERM does not wait for ever.
env -u PVM_VMID TMPDIR="$work" PVM_TMP="$work" "$examples/transit" 100000 5 1 send 1 --dome-tasks 2 --dome-checkpoint-dir dir >out 2>err &
pid=$!
trap 'kill -KILL $pid 2>/dev/null; rm -rf "$work"' EXIT
until_there run
kill -TERM $pid
wait $pid
status=$?
[ $status -eq 143 ] || fail "SIGTERM: status $status: $(cat err)"
grep -q "is left out: .* in 10 s .*; the program ends without it$" err || fail "SIGTERM: $(cat err)"
finish
