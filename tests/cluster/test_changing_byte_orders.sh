#!/bin/bash
# A running program on x86-64 grows by tasks of a big-endian host (s390x under qemu), moves to it and back, and heals there; its output is
# that of one task undisturbed.
. "$(dirname "${BASH_SOURCE[0]}")/../support/lab.bash"
export DOME_LAB_S390X=$DOME_BUILD_DIR/tests/s390x
if [ -z "${LAB:-}" ]; then
    need_lab
    why=$("$DOME_SOURCE_DIR/tools/dome-lab-s390x" changing "$here/changing.c" 2>&1)
    case $? in
    0) ;;
    77) skip "${why#dome-lab-s390x: }" ;;
    *) fail "$why" && finish ;;
    esac
fi
in_lab 3 "$@"
changing=$DOME_BUILD_DIR/tests/cluster/changing other=$DOME_LAB_S390X/programs/changing
steps=800 # each of which takes long while the test looks on; the rest of them is for the output alone
marks=$work/marks
"$lab" arch h2 s390x || exit
on h1 od -An -tx1 -j5 -N1 "$changing" | grep -q 01 || skip "this machine is not little-endian itself"
on h2 od -An -tx1 -j5 -N1 "$other" | grep -q 02 || fail "the other machine is not big-endian"

# Where the tasks are, "h1:2 h2:0 ...": on h2 an emulator runs them.
everywhere() {
    "$lab" ps | awk -v hosts="${hosts[*]}" -v program="$changing" -v other="$other" '
        $3 != "T" && ($4 == program || /qemu/ && $7 == other) { count[$1]++ }
        END { for (i = split(hosts, names, " "); j++ < i;) printf "%s:%d ", names[j], count[names[j]] }'
}

# The processes of the tasks on a host.
pids() {
    "$lab" ps "$1" | awk -v program="$changing" -v other="$other" '$4 == program || /qemu/ && $7 == other { print $2 }' | sort -n | xargs
}

# NAME WHERE ARGUMENTS...: an order that is carried out, and where the tasks are afterwards; the program goes on
order() {
    local name=$1 expected=$2 reached
    shift 2
    run "$name" on h1 "$dome" "$@"
    [ "$status" -eq 0 ] || fail "dome $*: status $status: $(errors "$name")"
    echo "   dome $*: $(cat "$name.out")"
    until_true are_at "$expected" || fail "dome $*: tasks are at $(everywhere), not $expected"
    reached=$(step)
    until_true beyond $((reached + 5)) || fail "dome $*: the program does not go on: $(errors changing)"
}

start() { # NAME HOSTS TASKS OPTION...
    rm -rf "$marks"
    mkdir -p "$marks"
    touch "$marks/slow"
    tr ' ' '\n' <<<"$2" >"$work/hosts"
    run "$1" on h1 "$dome" run --restarts 3 --hosts "$work/hosts" -n "$3" "$changing" "$steps" 50 "$marks" "${@:4}" &
    program=$!
    until_true beyond 2 || fail "$1: the program does not start: $(errors "$1")"
}

run alone on h1 "$changing" "$steps" 0 --dome-transport self
ended_well alone

say "to the other byte order and back"
start changing h1 2
order grow "h1:2 h2:2 h3:0" grow changing --host h2 -n 2
order more "h1:2 h2:2 h3:1" grow changing --host h3
order away "h1:1 h2:2 h3:1" shrink changing -n 1 --host h1
order move "h1:1 h2:3 h3:0" move changing h3 h2
stayed=$(pids h2)
order less "h1:1 h2:2 h3:0" shrink changing -n 1 --host h2
case $stayed in *"$(pids h2)"*) ;; *) fail "the tasks on h2 are other processes: $(pids h2), before $stayed" ;; esac
order leave "h1:1 h2:0 h3:0" shrink changing --host h2
order again "h1:1 h2:1 h3:0" grow changing --host h2
rm "$marks/slow"
wait "$program"
status=$?
ended_well changing
same "after seven changes" alone.out changing.out
clean changing

say "healing, with checkpoints in memory"
for host in "${hosts[@]}"; do
    on "$host" mount -t tmpfs none /dev/shm # as hosts have, each its own
done
start heal "h2 h3" 3 --dome-checkpoint-dir memory: --dome-checkpoint-every 10
until_true are_at "h1:1 h2:1 h3:1" || fail "heal: tasks are at $(everywhere)"
until_true beyond 25
before=$(pids h2)
kill -9 $(pids h3)
until_true grep -q "; healed from checkpoint" heal.err || fail "heal: it does not heal: $(errors heal)"
reached=$(step)
until_true beyond $((reached + 25)) || fail "heal: it does not go on: $(errors heal)"
[ "$(pids h2)" = "$before" ] || fail "heal: the task on h2 is process $(pids h2), before $before"
kill -9 $before
healed() {
    [ "$(grep -c "; healed from checkpoint" heal.err)" -eq 2 ]
}
until_true healed || fail "heal: it does not heal again: $(errors heal)"
errors heal | sed 's/^/   /'
rm "$marks/slow"
wait "$program"
status=$?
[ "$status" -eq 0 ] || fail "heal: status $status"
tac heal.out | awk '!seen[$0]++' | tac >heal.once # lines from after the checkpoint come once more
same "after two losses" alone.out heal.once
clean heal
finish
