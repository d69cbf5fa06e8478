#!/bin/bash
# domed on three hosts with Corosync: one table; a program goes on after its first host is lost, and after the next one; a host that
# is cut off ends its programs, and nothing runs twice; daemons and Corosync end and come back.
. "$(dirname "${BASH_SOURCE[0]}")/../support/lab.bash"
. "$support/daemons.bash"
in_lab_with_daemons 3 "$@"

tasks_on() {
    "$lab" ps "$1" | grep -c "tests/programs/elastic"
}

has_checkpoint() {
    [ -n "$(find "$1" -name "ckpt-*.dckpt" 2>/dev/null)" ]
}

# FILE: its program ended with the result of one that nothing has disturbed
result() {
    [ "$(tail -1 "$1")" = "$expected" ] || fail "$1: other result: $(tail -1 "$1"), not $expected"
}

declare -A steps=([long]=800 [longer]=700 [short]=60)
for name in long longer short; do
    "$elastic" "${steps[$name]}" 0 - --dome-transport self 2>/dev/null | tail -1 >"$work/$name.expected"
done

say "three daemons, one table"
for host in h1 h2 h3; do corosync_on $host; done
for host in h1 h2 h3; do domed_on $host --dedicated; done
for host in h1 h2 h3; do await "three hosts on $host" there $host 3; done
first=$(on h1 "$dome" submit -n 4 --min 2 -o "$work/first" "$elastic" "${steps[long]}" 40 - --dome-checkpoint-dir "$work/ck" \
    --dome-checkpoint-every 1s --dome-timeout 4)
await "$first to run" is h3 "$first" state runs
second=$(on h3 "$dome" submit -o "$work/second" sleep 600)
await "$second to run" is h1 "$second" state runs
await "one table" equal h1 h2 h3
is h2 "$first" host h1 || fail "$first runs on $(value h2 "$first" host)"

say "orders from another host"
on h2 "$dome" suspend "$first" >/dev/null || fail "not suspended"
[ "$("$lab" ps | grep "tests/programs/elastic" | grep -c ' T ')" -ge 4 ] || fail "not all have stopped: $("$lab" ps)"
on h3 "$dome" resume "$first" >/dev/null || fail "not resumed"
on h1 "$dome" kill "$second"
await "$second to end" is h2 "$second" state ended

say "a daemon is killed, and comes back"
on h1 bash -c "kill -9 $(daemon_of h1)"
await "two hosts on h2" there h2 2
is h2 "$first" state runs || fail "$first: $(ps_on h2)"
domed_on h1 --dedicated
await "three hosts on h2" there h2 3
is h2 "$first" attempts 1 || fail "$first was started again: $(ps_on h2)"
await "a checkpoint" has_checkpoint "$work/ck"

say "the host of the hub is lost"
since=$(date +%s%N)
"$lab" kill h1
await "$first to begin elsewhere" is h3 "$first" attempts 2
await "$first to run elsewhere" is h3 "$first" state runs
echo "   after $((($(date +%s%N) - since) / 1000000)) ms"
home=$(value h3 "$first" host)
[ "$home" = h2 ] || fail "$first runs on $home"
await "one table" equal h2 h3

say "and so is the next one, when the first is back"
on h1 bash -c "rm -rf /tmp/domed /tmp/domed.sock /tmp/dome-*"
"$lab" sshd h1
corosync_on h1
domed_on h1 --dedicated
await "three hosts on h3" there h3 3
await "one table" equal h1 h2 h3
"$lab" kill h2
await "$first to run on a third" is h3 "$first" attempts 3
await "$first to end" is h3 "$first" state ended
is h3 "$first" status 0 || fail "$first: $(ps_on h3); $(cat "$work/first")"
expected=$(cat "$work/long.expected")
result "$work/first"

say "a host is cut off with its program"
on h2 bash -c "rm -rf /tmp/domed /tmp/domed.sock /tmp/dome-*"
"$lab" sshd h2
corosync_on h2
domed_on h2 --dedicated
await "three hosts on h3" there h3 3
third=$(on h1 "$dome" submit -n 2 -o "$work/third" "$elastic" "${steps[longer]}" 20 - --dome-checkpoint-dir "$work/ck3" \
    --dome-checkpoint-every 1s --dome-timeout 4)
await "$third to run" is h3 "$third" state runs
await "a checkpoint" has_checkpoint "$work/ck3"
"$lab" cut h1
await "$third to begin elsewhere" is h3 "$third" state starts
while is h3 "$third" state starts; do sleep 0.05; done
[ "$(tasks_on h1)" -eq 0 ] || fail "it still runs on h1: $("$lab" ps h1)"
run cut on h1 "$dome" submit true
failed_with cut "without a majority"
"$lab" mend h1
await "three hosts on h1" there h1 3
await "one table" equal h1 h2 h3
is h1 "$third" attempts 2 || fail "$third: $(ps_on h1)"
await "$third to end" is h1 "$third" state ended
expected=$(cat "$work/longer.expected")
result "$work/third"

say "Corosync ends on a host, and comes back"
fourth=$(on h2 "$dome" submit -o "$work/fourth" sleep 600)
await "$fourth to run" is h2 "$fourth" state runs
on h2 bash -c 'for p in /proc/[0-9]*; do [ "$(cat $p/comm)" != corosync ] || kill -9 ${p#/proc/}; done' 2>/dev/null
no_group() {
    on h2 "$dome" kill "$fourth" 2>&1 | grep -q "no group of daemons"
}
await "h2 to miss it" no_group
corosync_on h2
takes_orders() {
    on h2 "$dome" limits "$fourth" --priority 1 >/dev/null 2>&1
}
await "h2 to take orders" takes_orders
await "$fourth to begin elsewhere" is h2 "$fourth" state runs
is h2 "$fourth" attempts 2 || fail "$fourth: $(ps_on h2)"
[ "$("$lab" ps | grep -c "sleep 600$")" -eq 1 ] || fail "it runs twice: $("$lab" ps)"
await "one table" equal h1 h2 h3

say "a host that cannot be reached when a program begins there"
on h2 "$dome" kill "$fourth"
await "$fourth to end" is h3 "$fourth" state ended
on h1 bash -c 'for p in /proc/[0-9]*; do [ "$(cat $p/comm)" != sshd ] || kill ${p#/proc/}; done' 2>/dev/null
fifth=$(on h3 "$dome" submit -n 12 --min 2 -o "$work/fifth" "$elastic" "${steps[short]}" 20 -)
await "$fifth to end" is h3 "$fifth" state ended
is h3 "$fifth" status 0 || fail "$fifth: $(ps_on h3); $(cat "$work/fifth")"
grep -q "continuing without these hosts: host h1" "$work/fifth" || fail "h1 was added: $(cat "$work/fifth")"
expected=$(cat "$work/short.expected")
result "$work/fifth"

say "goodbye"
for host in h1 h2; do
    on $host bash -c "kill -TERM $(daemon_of $host)"
done
await "one host" there h3 1
last=$(on h3 "$dome" submit -o "$work/last" true)
await "a host that is left alone to go on" is h3 "$last" state ended
on h3 bash -c "kill -TERM $(daemon_of h3)"
# PVM's daemons on the other hosts of one that was cut off end by themselves within some minutes.
gone() {
    ! "$lab" ps | grep -Eq "domed|dome run|dome-keeper|elastic|sleep 600"
}
until_true gone || fail "processes are left: $("$lab" ps)"
finish
