#!/bin/bash
# Newcomers whose host is lost while they join: the order is refused with a line, and the program goes on as it was, with no restart
# used up. What is left of earlier runs on other hosts is removed.
. "$(dirname "${BASH_SOURCE[0]}")/../support/lab.bash"
in_lab 3 "$@"
elastic=$DOME_BUILD_DIR/tests/programs/elastic
steps=3000
marks=$work/marks
printf 'h2\n' >two

# It takes its time until `hurry`.
start() {
    rm -rf "$marks"
    mkdir -p "$marks"
    touch "$marks/slow"
    run elastic on h1 "$dome" run --hosts "$work/two" -n 2 "$elastic" "$steps" 50 - "$marks" frail --dome-timeout 4 &
    program=$!
    until_true beyond 5 || fail "the program does not start: $(errors elastic)"
}

# PATTERN ARGUMENTS...: an order that is refused; the program has the tasks that it had, and goes on.
refused() {
    local expected=$1 reached
    shift
    run order on h1 "$dome" "$@"
    failed_with order "^dome: $expected\$"
    until_true are_at "h1:1 h2:1 h3:0" || fail "dome $*: tasks are at $(everywhere)"
    reached=$(step)
    until_true beyond $((reached + 3)) || fail "dome $*: the program does not go on: $(errors elastic)"
}

# Cuts the host off when the newcomer has been given its place, and mends the link.
cut_joining() {
    until_true test -e "$marks/waits.0" || fail "no newcomer comes"
    "$lab" cut h3
    rm -f "$marks/waits"
    sleep 6
    "$lab" mend h3
}

run alone on h1 "$elastic" "$steps" 0 - --dome-transport self
ended_well alone

say "hosts with files that earlier runs have left"
for name in old new used; do
    on h2 mkdir "/tmp/dome-host.$name"
done
on h2 touch -d '3 minutes ago' /tmp/dome-host.old /tmp/dome-host.used
on h2 env PVM_TMP=/tmp/dome-host.used sleep 5 & # a daemon, say
start
left=$(on h2 find /tmp -mindepth 1 -maxdepth 1 -name 'dome-host.???*' ! -name 'dome-host.??????' -printf '%f ')
[ "$(tr ' ' '\n' <<<"$left" | sort | tr '\n' ' ')" = " dome-host.new dome-host.used " ] || fail "left are: $left"
on h2 rmdir /tmp/dome-host.new /tmp/dome-host.used

say "a host is cut off while a task joins there"
touch "$marks/waits"
cut_joining &
refused "grow: task 2 on host h3 .*; the program goes on as it was" grow elastic --host h3
wait $!

say "a host is cut off while tasks move there"
rm "$marks/waits.0"
touch "$marks/waits"
cut_joining &
refused "move: task 1 on host h3 .*; the program goes on as it was" move elastic h2 h3
wait $!

say "a daemon does not answer that is to start a task"
run grow on h1 "$dome" grow elastic --host h3
[ "$status" -eq 0 ] || fail "grow: $(errors grow)"
run shrink on h1 "$dome" shrink elastic --host h3
[ "$status" -eq 0 ] || fail "shrink: $(errors shrink)"
daemon=$("$lab" ps h3 | awk '$4 ~ /pvmd$/ { print $2 }')
kill -STOP "$daemon"
refused "grow: new tasks did not start in time on host h3 .*" grow elastic --host h3
kill -CONT "$daemon"

rm "$marks/slow"
wait "$program"
status=$?
ended_well elastic
same "after three changes that were taken back or given up" alone.out elastic.out
clean elastic
finish
