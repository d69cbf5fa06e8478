#!/bin/bash
# dome run --hosts-script: the program follows a list of hosts while it runs, and its output is that of one task. A host that is lost
# costs it nothing but a line.
. "$(dirname "${BASH_SOURCE[0]}")/../support/lab.bash"
in_lab 3 "$@"
elastic=$DOME_BUILD_DIR/tests/programs/elastic
steps=2400 # each of which takes long while the test looks on; the rest of them is for the output alone
marks=$work/marks
mkdir -p "$marks"
touch "$marks/slow"

are_at() {
    [ "$(everywhere '')" = "$1 " ] # in whatever state
}

# WHAT WHERE LINE...: the script prints these lines, and the tasks follow
follow() {
    local what=$1 expected=$2
    shift 2
    printf '%s\n' "$@" >list.new
    mv list.new list
    until_true are_at "$expected" || fail "$what: no tasks at $expected: $("$lab" ps); $(errors script)"
    echo "   $what: $expected"
}

said() {
    errors script | grep -Eq "$1"
}

run alone on h1 "$elastic" "$steps" 0 - --dome-transport self
ended_well alone

say "a script that fails"
run bad on h1 "$dome" run --hosts-script "echo h1; exit 3" "$elastic" 3 0
failed_with bad "run: --hosts-script: 'echo h1; exit 3' has failed"
run bad on h1 "$dome" run --hosts-script "echo h1 h2" "$elastic" 3 0
failed_with bad "run: --hosts-script: .* 'h1 h2' is not host:slots"

say "hosts come and go"
printf '%s\n' h1:1 h2:1 >list
run script on h1 "$dome" run --hosts-script "cat $work/list" --max 4 "$elastic" "$steps" 125 - "$marks" hurries &
program=$!
follow "at first" "h1:1 h2:1 h3:0" h1 h2
follow "a host more" "h1:1 h2:1 h3:2" h1 h2 h3:3 # --max
follow "one less" "h1:1 h2:0 h3:3" h1 h3:3
echo "what?!" >list
until_true said "the program keeps its hosts$" || fail "no line about a script that prints nonsense"
follow "another slot" "h1:2 h2:0 h3:1" h1:2 h3
printf '%s\n' h1:2 h3 h9 >list
until_true said "^dome: --hosts-script: host h9 cannot be added: " || fail "no line about a host that is not there: $(errors script)"
are_at "h1:2 h2:0 h3:1" || fail "other tasks: $("$lab" ps)"
rm "$marks/slow"
wait "$program"
status=$?
[ "$status" -eq 0 ] || fail "status $status: $(errors script)"
[ "$(errors script | grep -c '')" -eq 2 ] || fail "other lines: $(errors script)"
same "after hosts have come and gone" alone.out script.out
clean script

say "the same from the shell"
rm -rf "$marks"
mkdir -p "$marks"
touch "$marks/slow"
printf '%s\n' h1:1 h2:1 >list
run script on h1 "$elastic" "$steps" 125 - "$marks" hurries --dome-hosts-script "cat $work/list" &
program=$!
is_told() { # TASKS HOSTS: here the hub is a process of the program, too
    local text tasks hosts
    text=$(on h1 "$dome" ps --brief)
    read -r _ tasks hosts _ <<<"${text#*$'\n'}"
    [ "$tasks $hosts" = "$1 $2" ]
}
until_true is_told 2 2 || fail "not on two hosts: $(on h1 "$dome" ps); $(errors script)"
printf '%s\n' h1 h2 h3 >list.new
mv list.new list
until_true is_told 3 3 || fail "not on three hosts: $(on h1 "$dome" ps); $(errors script)"
says_why() { # when the view stands
    on h1 "$dome" ps | grep -Eq '^ +1 +3 +3 .* grow: --dome-hosts-script$'
}
until_true says_why || fail "dome ps does not say why: $(on h1 "$dome" ps)"
rm "$marks/slow"
wait "$program"
status=$?
ended_well script
same "from the shell" alone.out script.out
clean script

say "a host is lost: the program heals from memory, on the hosts that are left"
for host in "${hosts[@]}"; do
    on "$host" mount -t tmpfs none /dev/shm # as hosts have, each its own
done
# NAME OPTION...
heals_with() {
    local name=$1 reached
    rm -rf "$marks"
    mkdir -p "$marks"
    touch "$marks/slow"
    printf '%s\n' h1 h2 >list
    run "$name" on h1 "$dome" run --hosts-script "cat $work/list" --max 3 "${@:2}" "$elastic" "$steps" 50 - "$marks" hurries \
        --dome-checkpoint-dir memory: --dome-checkpoint-every 10 --dome-timeout 4 &
    program=$!
    until_true are_at "h1:1 h2:1 h3:0" || fail "$name: it does not start: $(errors "$name")"
    printf '%s\n' h1 h2 h3 >list.new
    mv list.new list
    until_true are_at "h1:1 h2:1 h3:1" || fail "$name: no task on h3: $("$lab" ps); $(errors "$name")"
    reached=$(step)
    until_true beyond $((reached + 15)) || fail "$name: it does not go on"
    "$lab" cut h2
    printf '%s\n' h1 h3:2 >list.new # the rest of them knows, too
    mv list.new list
    until_true grep -q "; healed (without h2) from checkpoint" "$name.err" || fail "$name: it does not heal: $(errors "$name")"
    errors "$name" | sed 's/^/   /'
    reached=$(step)
    until_true beyond $((reached + 15)) || fail "$name: it does not go on after the loss: $(errors "$name")"
    "$lab" mend h2
    rm "$marks/slow"
    wait "$program"
    status=$?
    [ "$status" -eq 0 ] || fail "$name: status $status: $(errors "$name")"
    tac "$name.out" | awk '!seen[$0]++' | tac >"$name.once" # lines from after the checkpoint come once more
    same "$name" alone.out "$name.once"
    for host in "${hosts[@]}"; do
        [ -z "$(on "$host" ls /dev/shm)" ] || fail "$name: left on $host: $(on "$host" ls /dev/shm)"
    done
    clean "$name"
}
heals_with heal --on-loss heal
heals_with restarts --restarts 2
errors restarts | grep -q ', 1 of 2$' || fail "the losses are not counted: $(errors restarts)"
finish
