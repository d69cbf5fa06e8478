#!/bin/bash
# SIGUSR1 asks for a checkpoint, SIGTERM for one and the end, and time does without being asked; the program goes on from there.
. "$(dirname "$0")/../support/captures.bash"
mkdir files plain
for d in files plain; do printf 'old\n' >$d/append && seq 1 5000 >$d/source; done
steps=20000

until_there() {
    for _ in $(seq 600); do
        [ -e "dir/$1" ] && return
        sleep 0.05
    done
    fail "$1 was not written: $(cat err)"
}

begin() {
    "$programs/writer" files $steps --dome-checkpoint-dir dir "$@" >out 2>err </dev/null &
    pid=$!
    trap 'kill -KILL $pid 2>/dev/null; rm -rf "$work"' EXIT
}

begin --dome-checkpoint-every 1000000s
until_there run
sleep 0.2
kill -USR1 $pid
until_there ckpt-00000001.dckpt
kill -TERM $pid
wait $pid
status=$?
[ $status -eq $((128 + 15)) ] || fail "SIGTERM: status $status: $(cat err)"
[ -e dir/ckpt-00000002.dckpt ] || fail "SIGTERM: no checkpoint: $(ls dir)"
begin --dome-checkpoint-every 0.1s --dome-restart --dome-checkpoint-keep 3
until_there ckpt-00000005.dckpt
{ kill -KILL $pid && wait $pid; } 2>/dev/null
run "$programs/writer" files $steps --dome-checkpoint-dir dir --dome-restart
well "the end" '^dome: going on from checkpoint '
run "$programs/writer" plain $steps
for file in log append short; do
    same "the end" plain/$file files/$file
done

# By time at first, then by polls, of which there are fewer than boundaries were passed: each has its checkpoint.
rm -rf files dir && cp -r plain files && printf 'old\n' >files/append
begin --dome-checkpoint-every 0.01s --dome-checkpoint-keep 1000
until_there ckpt-00000012.dckpt
{ kill -KILL $pid && wait $pid; } 2>/dev/null
last=$(numbers dir | tail -n 1)
begin --dome-checkpoint-every 1 --dome-restart="$last" --dome-checkpoint-keep 1000
until_there "$(printf 'ckpt-%08d.dckpt' $((last + 20)))"
{ kill -KILL $pid && wait $pid; } 2>/dev/null
for k in 1 20; do
    file=dir/$(printf 'ckpt-%08d.dckpt' $((last + k)))
    "$DOME_BUILD_DIR/tools/dome" ckpt show "$file" >show 2>&1
    grep -q "loop $k\b" show || fail "poll $k after a restart: $(head -n 5 show)"
done
# Requests also reach a program that has set other actions for these signals, and then again what it was told was the one before;
# after a restart, too.
rm -rf files dir && cp -r plain files && printf 'old\n' >files/append
begin actions --dome-checkpoint-every 1000000s
until_there run
sleep 0.2
kill -USR1 $pid
until_there ckpt-00000001.dckpt
{ kill -KILL $pid && wait $pid; } 2>/dev/null
begin --dome-checkpoint-every 1000000s --dome-restart
for _ in $(seq 600); do
    grep -q 'going on from checkpoint 1' err && break
    sleep 0.05
done
kill -USR1 $pid
until_there ckpt-00000002.dckpt
kill -TERM $pid
wait $pid
status=$?
[ $status -eq $((128 + 15)) ] || fail "SIGTERM, other actions: status $status: $(cat err)"
[ -e dir/ckpt-00000003.dckpt ] || fail "SIGTERM, other actions: no checkpoint: $(ls dir)"
finish
