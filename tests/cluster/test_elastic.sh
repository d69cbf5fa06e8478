#!/bin/bash
# A program grows to hosts that its virtual machine did not have, moves between hosts and shrinks away, while it runs: its output
# is that of one task. What cannot be costs the program nothing but a line.
. "$(dirname "${BASH_SOURCE[0]}")/../support/lab.bash"
in_lab 4 "$@"
elastic=$DOME_BUILD_DIR/tests/programs/elastic
steps=3000
marks=$work/marks
echo h1 >only # a machine to which hosts can be added

# NAME WHERE ARGUMENTS...: an order that is carried out, and where the tasks are afterwards
order() {
    local name=$1 expected=$2
    shift 2
    run "$name" on h1 "$dome" "$@"
    [ "$status" -eq 0 ] || fail "dome $*: status $status: $(errors "$name")"
    echo "   dome $*: $(cat "$name.out")"
    until_true are_at "$expected" || fail "dome $*: tasks are at $(everywhere), not $expected"
}

# STEP: it has gone on, or has even come to its end
goes_on() {
    beyond "$1" || ! kill -0 "$program" 2>/dev/null
}

# NAME LINE ARGUMENTS...: one that is not
refused() {
    local name=$1 expected=$2 before reached
    shift 2
    before=$(everywhere)
    run "$name" on h1 "$dome" "$@"
    failed_with "$name" "^dome: $expected\$"
    [ "$(everywhere)" = "$before" ] || fail "dome $*: tasks are at $(everywhere), not $before"
    reached=$(step)
    until_true goes_on "$reached" || fail "dome $*: the program does not go on"
}

# COMMAND...: starts the program on h1; it takes its time until `hurry`
start() {
    rm -rf "$marks"
    mkdir -p "$marks"
    touch "$marks/slow"
    run elastic on h1 "$@" &
    program=$!
    until_true beyond 2 || fail "the program does not start: $(errors elastic)"
}

# It ends with the output of one task, and leaves nothing.
hurry() {
    rm "$marks/slow"
    wait "$program"
    status=$?
    ended_well elastic
    same "$1" alone.out elastic.out
}

run alone on h1 "$elastic" "$steps" 0 - --dome-transport self
ended_well alone

say "to other hosts, between them, and away from them"
start "$dome" run --hosts "$work/only" -n 2 "$elastic" "$steps" 50 - "$marks" hurries
order grow_two "h1:2 h2:1 h3:1 h4:0" grow elastic --host h2 --host h3
order grow_more "h1:2 h2:2 h3:1 h4:0" grow elastic -n 1 --host h2
order move "h1:2 h2:0 h3:1 h4:2" move elastic h2 h4
order anywhere "h1:2 h2:1 h3:1 h4:2" grow elastic
order away "h1:2 h2:1 h3:1 h4:0" shrink elastic --host h4
order one "h1:1 h2:1 h3:1 h4:0" shrink elastic -n 1 --host h1
order highest "h1:1 h2:0 h3:1 h4:0" shrink elastic

say "what cannot be"
refused stays "move: task 0 is on host h1, where the program was started, and stays there" move elastic h1 h2
refused nobody "shrink: no task of the program is on host h9; its hosts are h1, h3" shrink elastic --host h9
refused unknown "grow: host h9 cannot be added: .*" grow elastic --host h9
"$lab" kill h4
refused dead "grow: host h4 is in the virtual machine, but does not answer" grow elastic --host h4
on h4 find /tmp -xdev -mindepth 1 -delete # of its daemon
"$lab" sshd h4
hurry "after seven changes on four hosts"
clean elastic

say "checkpoints of hosts without a common directory go on, in a program that is started by a link"
ln -s "$elastic" by_another_name
elastic=$work/by_another_name
start "$dome" run --hosts "$work/only" -n 2 "$elastic" "$steps" 50 - "$marks" hurries --dome-checkpoint-dir /tmp/saved \
    --dome-checkpoint-every 20
order grow "h1:2 h2:1 h3:1 h4:0" grow by_another_name --host h2 --host h3
reached=$(step)
until_true beyond $((reached + 45)) || fail "it does not go on"
order to_fourth "h1:2 h2:1 h3:0 h4:1" move by_another_name h3 h4
order back "h1:2 h2:1 h3:1 h4:0" move by_another_name h4 h3
order shrink "h1:2 h2:1 h3:0 h4:0" shrink by_another_name --host h3
hurry "with checkpoints"
for host in h1 h2; do
    [ -n "$(on "$host" find /tmp/saved -name 'ckpt-*')" ] || fail "no checkpoints on $host"
done
for host in "${hosts[@]}"; do
    on "$host" rm -rf /tmp/saved
done
clean checkpoints

say "a program with regions grows from one host to two"
elastic=$DOME_BUILD_DIR/tests/programs/sharing
start "$dome" run --hosts "$work/only" -n 2 --max 4 "$elastic" 200 100 - "$marks"
order elsewhere "h1:2 h2:1 h3:0 h4:0" grow sharing --host h2
order here "h1:3 h2:1 h3:0 h4:0" grow sharing --host h1
wait "$program"
status=$?
ended_well elastic
grep -qx "step 200 sum 20100" elastic.out || fail "sharing: $(cat elastic.out)"
clean sharing

say "a program enters views on other hosts in place"
elastic=$DOME_BUILD_DIR/tests/programs/in_place
run in_place_alone on h1 "$elastic" 400 0 - --dome-transport self
ended_well in_place_alone
start "$dome" run --hosts "$work/only" -n 2 --max 6 "$elastic" 400 50 - "$marks"
order in_place_two "h1:2 h2:1 h3:1 h4:0" grow in_place --host h2 --host h3
order in_place_more "h1:2 h2:1 h3:3 h4:0" grow in_place -n 2 --host h3
order in_place_move "h1:2 h2:0 h3:3 h4:1" move in_place h2 h4
order in_place_away "h1:2 h2:0 h3:0 h4:1" shrink in_place --host h3
wait "$program"
status=$?
[ "$status" -eq 0 ] || fail "in_place: status $status: $(errors elastic)"
same "in place on four hosts" in_place_alone.out elastic.out
[ "$(cat "$marks/made.0")" -eq 400 ] || fail "task 0 has made $(cat "$marks/made.0") steps"
clean in_place

elastic=$work/by_another_name
say "a program that is for its host alone"
start "$elastic" "$steps" 50 - "$marks" hurries --dome-tasks 2
refused inside "grow: its private virtual machine is for this host alone: .*" grow by_another_name --host h2
hurry "refused to grow"
clean inside
finish
