#!/bin/bash
# Regions and locks of tasks on three hosts, two on each: the program's own checks hold while homes move, tasks and a host are lost,
# and tasks are added; what tasks see is explained by one order of all that they did; other
# uses of regions' memory; examples print what one task prints.
. "$(dirname "${BASH_SOURCE[0]}")/../support/lab.bash"
in_lab 3 "$@"
sharing=$DOME_BUILD_DIR/tests/programs/sharing
examples=$DOME_BUILD_DIR/examples
marks=$work/marks

# NAME STEPS
ended_at() {
    [ "$status" -eq 0 ] || fail "$1: status $status: $(errors "$1")"
    [ "$(cat "$work/$1.out")" = "step $2 sum $(($2 * ($2 + 1) / 2))" ] || fail "$1: other output: $(cat "$work/$1.out")"
}

step() {
    local step=0
    [ ! -f "$marks/step.0" ] || read -r step <"$marks/step.0"
    echo "$step"
}

beyond() {
    [ "$(step)" -gt "$1" ]
}

# NAME LINES: so many losses have been told
told() {
    [ "$(errors "$1" | grep -c '; healed ')" -ge "$2" ]
}

printf '%s\n' "h1 slots=2" "h2 slots=2" "h3 slots=2" >hosts
for balance in none random; do
    say "six tasks, balancing: $balance"
    run whole on h1 "$dome" run --hosts "$work/hosts" -n 6 "$sharing" 24 0 - - - --dome-balance $balance
    ended_well whole
    ended_at whole 24
    clean whole
done

for tasks in 3 6; do
    say "histories of $tasks tasks"
    sed "s/=2/=$((tasks / 3))/" hosts >some_hosts
    run histories on h1 "$dome" run --hosts "$work/some_hosts" -n $tasks "$DOME_BUILD_DIR/tests/multi/histories" 300 $tasks
    ended_well histories
    grep -q "$tasks tasks in 3 members.* 0 refused" histories.out || fail "histories: $(cat histories.out)"
    clean histories
done

say "buffers, threads and signals"
run calls on h1 "$dome" run --hosts "$work/hosts" -n 6 "$DOME_BUILD_DIR/tests/multi/region_calls"
ended_well calls
grep -q "ok region_calls on 6 tasks" calls.out || fail "calls: $(cat calls.out)"
clean calls

say "a task is killed, and a host is cut off; then it comes back, and tasks are added there"
mkdir -p "$marks"
run lost on h1 "$dome" run --restarts 5 --max 6 --hosts "$work/hosts" -n 6 "$sharing" 160 40 - "$marks" - --dome-timeout 4 \
    --dome-checkpoint-dir memory: --dome-checkpoint-every 3 &
program=$!
until_true beyond 5 || fail "the program does not start: $(errors lost)"
on h2 kill -9 "$(cat "$marks/rank.2")"
until_true told lost 1 || fail "it does not heal"
reached=$(step)
until_true beyond $((reached + 5)) || fail "it does not go on: $(errors lost)"
"$lab" cut h3
until_true told lost 2 || fail "it does not heal without h3"
reached=$(step)
until_true beyond $((reached + 5)) || fail "it does not go on without h3: $(errors lost)"
"$lab" mend h3
wait "$program"
status=$?
ended_at lost 160
errors lost | sed 's/^/   /'
clean lost

say "a program grows from one host to another one"
rm -rf "$marks"
mkdir -p "$marks"
run grown on h1 "$dome" run --hosts "$work/hosts" --max 4 -n 2 "$sharing" 60 40 - "$marks" - &
program=$!
until_true beyond 5 || fail "the program does not start: $(errors grown)"
run grow on h1 "$dome" grow sharing -n 2
[ "$status" -eq 0 ] || fail "dome grow: status $status: $(errors grow)"
wait "$program"
status=$?
ended_at grown 60
clean grown

say "examples"
for example in "heat_region --rows 300 --columns 40 --steps 60" "gram_schmidt 64 96" "rays --columns 200 --rows 150" \
    "gas --particles 3000 --steps 8"; do
    name=${example%% *}
    [ -x "$examples/$name" ] || fail "there is no $name"
    run alone on h1 "$examples"/$example --dome-transport self
    run "$name" on h1 "$dome" run --hosts "$work/hosts" -n 6 "$examples"/$example
    ended_well "$name"
    same "$name" alone.out "$name.out"
    clean "$name"
done
finish
