#!/bin/bash
# SIGUSR1 asks for a checkpoint, SIGTERM for one and the end; by seconds, and as often as it pays.
. "$(dirname "$0")/../support/programs.bash"
examples=$DOME_BUILD_DIR/tests/checkpoint

# begin TASKS ARGUMENTS...: a program that takes very long; $pid is the process that was started.
begin() {
    local tasks=$1 options=(--dome-transport self)
    shift
    [ "$tasks" = self ] || options=(--dome-transport pvm --dome-tasks "$tasks")
    rm -rf dir
    env -u PVM_VMID TMPDIR="$work" PVM_TMP="$work" "$examples/state" 100000000 none 1 --dome-checkpoint-dir dir \
        "${options[@]}" "$@" >out 2>err &
    pid=$!
    trap 'kill -KILL $pid 2>/dev/null; rm -rf "$work"' EXIT
}

ended_by() {
    local signal=$1
    wait "$pid"
    status=$?
    [ $status -eq $((128 + signal)) ] || fail "status $status, not $((128 + signal)): $(cat err)"
}

for tasks in self $([ "$counts" = self ] || echo 3); do
    # No count is ever reached: there are those that are asked for.
    begin "$tasks" --dome-checkpoint-every 1000000000
    until_there run
    for k in 1 2; do
        kill -USR1 "$pid"
        until_there "ckpt-0000000$k.dckpt"
    done
    kill -TERM "$pid"
    ended_by 15
    [ -e dir/ckpt-00000003.dckpt ] || fail "$tasks: no checkpoint after SIGTERM: $(ls dir)"
    [ ! -e dir/ckpt-00000004.dckpt ] || fail "$tasks: more than asked for"

    begin "$tasks" --dome-checkpoint-every 0.2s --dome-checkpoint-keep 9
    until_there ckpt-00000003.dckpt
    kill -TERM "$pid"
    ended_by 15

    # The cost is milliseconds, so with a failure every ten seconds it pays several times a second.
    begin "$tasks" --dome-checkpoint-mtbf 10 --dome-checkpoint-keep 9
    until_there ckpt-00000003.dckpt
    kill -TERM "$pid"
    ended_by 15
done
finish
