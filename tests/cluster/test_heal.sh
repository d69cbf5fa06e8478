#!/bin/bash
# A program with tasks on several hosts heals: a lost task is replaced on its host, those of a host that falls silent, or whose
# PVM daemon ends, with its tasks or without, on others. The tasks that are left keep their processes, the output is that of one task, and what was cut
# off ends by itself.
. "$(dirname "${BASH_SOURCE[0]}")/../support/lab.bash"
in_lab 4 "$@"
elastic=$DOME_BUILD_DIR/tests/programs/elastic
steps=2500
marks=$work/marks
timeout=4
memory=/dev/shm
for host in "${hosts[@]}"; do
    on "$host" mount -t tmpfs none "$memory" # as hosts have, each its own
done

# RANK...: the numbers of their processes, each on its own host
pids() {
    local rank
    for rank; do
        printf '%s ' "$(cat "$marks/rank.$rank")"
    done
}

# NAME HOSTS TASKS OPTION...: starts the program on h1; it takes its time until `hurry`
start() {
    rm -rf "$marks"
    mkdir -p "$marks"
    touch "$marks/slow"
    tr ' ' '\n' <<<"$2" >"$work/hosts"
    healed=0
    : >"$work/$1.err"
    run "$1" on h1 "$dome" run --restarts 9 --hosts "$work/hosts" -n "$3" "$elastic" "$steps" 20 - "$marks" hurries \
        --dome-checkpoint-every 10 --dome-timeout $timeout "${@:4}" &
    program=$!
    until_true beyond 25 || fail "$1: the program does not start: $(errors "$1")"
}

is_healed() {
    [ "$(errors "$1" | grep -c '; healed ')" -ge $healed ]
}

# NAME PATTERN WHERE RANK...: since $since and these $pids, the program has healed with this line; its tasks are there now, and these
# are the processes that they were.
heals() {
    local name=$1 pattern=$2 where=$3 line took
    shift 3
    healed=$((healed + 1))
    until_true is_healed "$name" || fail "$name: it does not heal"
    took=$(awk -v a="$since" -v b="$(now)" 'BEGIN { printf "%.1f", b - a }')
    line=$(errors "$name" | sed -n "${healed}p")
    echo "   $took s: $line"
    grep -Eq "$pattern from checkpoint [0-9]+ \(loop boundary [0-9]+\), $healed of 9\$" <<<"$line" || fail "$name: no '$pattern'"
    reached=$(step)
    until_true beyond $((reached + 25)) || fail "$name: it does not go on: $(errors "$name")"
    until_true are_at "$where" || fail "$name: tasks are at $(everywhere), not $where"
    [ "$(pids "$@")" = "$before" ] || fail "$name: tasks $*: processes $(pids "$@"), before $before"
}

# NAME RANK...: what is about to happen must leave these processes alone
note() {
    before=$(pids "$@")
    since=$(now)
}

# HOST RANK
kill_task() {
    on "$1" kill -9 "$(cat "$marks/rank.$2")"
}

# HOST: PVM's alone
kill_daemon() {
    kill -9 $("$lab" ps "$1" | awk '$4 ~ /pvmd/ { print $2 }')
}

# HOST: PVM's and the program's
kill_programs() {
    kill -9 $("$lab" ps "$1" | awk -v program="$elastic" '$4 ~ /pvmd/ || $4 == program { print $2 }')
}

# NAME: it ends with the output of one task. Lines that were written before a loss and after the checkpoint come once more.
hurry() {
    rm "$marks/slow"
    wait "$program"
    status=$?
    [ "$status" -eq 0 ] || fail "$1: status $status"
    [ "$(errors "$1" | grep -c '')" -eq $healed ] || fail "$1: other lines: $(errors "$1")"
    tac "$work/$1.out" | awk '!seen[$0]++' | tac >"$work/$1.once"
    same "$1" "$work/alone.out" "$work/$1.once"
}

run alone on h1 "$elastic" "$steps" 0 - --dome-transport self
ended_well alone

say "a task is killed; a host is cut off, and comes back"
start disk "h2 h3" 5 --dome-checkpoint-dir "$work/saved"
until_true are_at "h1:2 h2:2 h3:1 h4:0" || fail "disk: tasks are at $(everywhere)"
note 0 1 3 4
kill_task h2 2
heals disk "task 2 on host h2 is lost: its process ended; .*; healed" "h1:2 h2:2 h3:1 h4:0" 0 1 3 4
note 0 1 2 3
"$lab" cut h3
heals disk "task 4 on host h3 is lost: nothing heard .*; healed \(without h3\)" "h1:3 h2:2 h3:0 h4:0" 0 1 2 3
"$lab" mend h3
run grow on h1 "$dome" grow elastic
[ "$status" -eq 0 ] || fail "dome grow: status $status: $(errors grow)"
until_true are_at "h1:3 h2:3 h3:0 h4:0" || fail "dome grow: tasks are at $(everywhere), not elsewhere than on h3"
run grow_lost on h1 "$dome" grow elastic --host h3
failed_with grow_lost "^dome: grow: host h3 was lost a moment ago; PVM forgets it within five minutes\$"
hurry disk
clean disk

say "checkpoints in memory, and a host that had no task"
start memory "h2 h3 h4" 3 --dome-checkpoint-dir memory:
until_true are_at "h1:1 h2:1 h3:1 h4:0" || fail "memory: tasks are at $(everywhere)"
note 0 1
kill_task h3 2
heals memory "task 2 on host h3 is lost: its process ended; .*; healed" "h1:1 h2:1 h3:1 h4:0" 0 1
note 0 2
"$lab" cut h2
heals memory "task 1 on host h2 is lost: nothing heard .*; healed \(without h2\)" "h1:1 h2:0 h3:1 h4:1" 0 2
note 1 2
kill_task h1 0
heals memory "task 0 on host h1 is lost: its process was ended by signal 9 \(Killed\); .*; healed" "h1:1 h2:0 h3:1 h4:1" 1 2
"$lab" mend h2
hurry memory
for host in "${hosts[@]}"; do
    left=$(on "$host" ls "$memory")
    [ -z "$left" ] || fail "memory: left on $host: $left"
done
clean memory

say "PVM's daemon of a host alone ends, then that of another one"
start daemon "h1 h2 h3 h4" 4 --dome-checkpoint-dir "$work/daemon"
until_true are_at "h1:1 h2:1 h3:1 h4:1" || fail "daemon: tasks are at $(everywhere)"
note 0 1 2
kill_daemon h4
heals daemon "the PVM daemon of this host does not answer \(task 3 on host h4\); healed \(without h4\)" "h1:2 h2:1 h3:1 h4:0" 0 1 2
note 0 1 3
kill_daemon h3
heals daemon "the PVM daemon of this host does not answer \(task 2 on host h3\); healed \(without h3\)" "h1:2 h2:2 h3:0 h4:0" 0 1 3
hurry daemon
clean daemon

say "its tasks end at once with it"
start programs "h2 h3" 3 --dome-checkpoint-dir "$work/programs"
note 0 1
kill_programs h3
# the daemon may be gone, and task 2 have said so, before that is killed
either="(task 2 on host h3 is lost: its process ended; .*|the PVM daemon of this host does not answer \(task 2 on host h3\))"
heals programs "$either; healed \(without h3\)" "h1:2 h2:1 h3:0 h4:0" 0 1
hurry programs
clean programs
finish
