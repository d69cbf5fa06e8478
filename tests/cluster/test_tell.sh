#!/bin/bash
# A program with tasks on several hosts goes on without those that are lost (--on-loss tell): a task of another host, a host that falls
# silent, one whose processes all end at once, and task 0. The program (tests/programs/tell.c) compares each element with what it must be,
# and all tasks what they are told is lost; it makes that again, so its last line is that of one task.
. "$(dirname "${BASH_SOURCE[0]}")/../support/lab.bash"
in_lab 4 "$@"
elastic=$DOME_BUILD_DIR/tests/programs/tell
steps=2000
marks=$work/marks
timeout=4

# RANK...: the numbers of their processes, each on its own host
pids() {
    local rank
    for rank; do
        printf '%s ' "$(cat "$marks/rank.$rank")"
    done
}

# RANK...: the elements that they own, as lines FIRST-END without gaps
spans() {
    local rank
    for rank; do
        tr ' ' '\n' <"$marks/own.$rank"
    done | grep -- - | sort -n | awk -F- '{ if (NR > 1 && $1 == end) end = $2
        else { if (NR > 1) print first "-" end; first = $1; end = $2 } } END { if (NR) print first "-" end }'
}

# NAME HOSTS TASKS OPTION...: starts the program on h1; it takes its time until `hurry`
start() {
    rm -rf "$marks"
    mkdir -p "$marks"
    touch "$marks/slow"
    tr ' ' '\n' <<<"$2" >"$work/hosts"
    losses=0
    : >"$work/$1.err"
    run "$1" on h1 "$dome" run --on-loss tell --hosts "$work/hosts" -n "$3" "$elastic" "$steps" 20 "$marks" hurries \
        --dome-checkpoint-every 10 --dome-timeout $timeout --dome-balance none "${@:4}" &
    program=$!
    until_true beyond 25 || fail "$1: the program does not start: $(errors "$1")"
}

# RANK... -- RANK...: what is about to happen loses the first, and leaves the processes of the others alone
note() {
    local gone=()
    while [ "$1" != -- ]; do
        gone+=("$1")
        shift
    done
    shift
    lost=$(spans "${gone[@]}")
    before=$(pids "$@")
    since=$(now)
}

has_gone_on() {
    [ "$(errors "$1" | grep -c '; the program goes on with ')" -ge $losses ]
}

# NAME PATTERN WHERE RANK...: since $since the program has gone on with this line; the tasks that were noted are now these ranks, and
# $lost is lost
goes_on() {
    local name=$1 pattern=$2 where=$3 line took reached
    shift 3
    losses=$((losses + 1))
    until_true has_gone_on "$name" || fail "$name: it does not go on: $(errors "$name")"
    took=$(awk -v a="$since" -v b="$(now)" 'BEGIN { printf "%.1f", b - a }')
    line=$(errors "$name" | sed -n "${losses}p")
    echo "   $took s: $line"
    grep -Eq "$pattern from loop boundary [0-9]+, $losses\$" <<<"$line" || fail "$name: no '$pattern'"
    reached=$(step)
    until_true beyond $((reached + 25)) || fail "$name: it does not compute: $(errors "$name")"
    until_true are_at "$where" || fail "$name: tasks are at $(everywhere), not $where"
    [ "$(pids "$@")" = "$before" ] || fail "$name: tasks $*: processes $(pids "$@"), before $before"
    [ "$(awk '/^view/ { told = "" } /^lost x/ { told = told $3 "\n" } END { printf "%s", told }' "$work/$name.out")" = "$lost" ] ||
        fail "$name: other elements than $lost are lost: $(tail -5 "$work/$name.out")"
}

# HOST RANK
kill_task() {
    on "$1" kill -9 "$(cat "$marks/rank.$2")"
}

# NAME: it ends with the last line of one task
hurry() {
    rm "$marks/slow"
    wait "$program"
    status=$?
    [ "$status" -eq 0 ] || fail "$1: status $status: $(errors "$1")"
    [ "$(errors "$1" | grep -c '')" -eq $losses ] || fail "$1: other lines: $(errors "$1")"
    [ "$(tail -1 "$work/$1.out")" = "$(tail -1 "$work/alone.out")" ] || fail "$1: it ends with $(tail -1 "$work/$1.out")"
}

mkdir -p "$marks"
run alone on h1 "$elastic" "$steps" 0 "$marks" --dome-transport self
ended_well alone

say "a task of another host, then a host, then task 0"
start several "h2 h3" 6
until_true are_at "h1:2 h2:2 h3:2 h4:0" || fail "tasks are at $(everywhere)"
note 3 -- 0 1 2 4 5
kill_task h2 3
goes_on several "task 3 on host h2 is lost: its process ended; .*; the program goes on with 5 tasks" "h1:2 h2:1 h3:2 h4:0" 0 1 2 3 4
note 3 4 -- 0 1 2
"$lab" cut h3
goes_on several "task [34] on host h3 is lost: nothing heard .*; the program goes on with 3 tasks \(without h3\)" "h1:2 h2:1 h3:0 h4:0" 0 1 2
"$lab" mend h3
note 0 -- 1 2
kill_task h1 0
goes_on several "task 0 on host h1 is lost: its process was ended by signal 9 \(Killed\); .*; the program goes on with 3 tasks" \
    "h1:2 h2:1 h3:0 h4:0" 1 2
hurry several
clean several
finish
