#!/bin/bash
# domed on three hosts of a lab, and what programs do for each other and for owners: one of priority takes hosts of one that can
# change; tasks leave a host whose owner comes, or that is drained; results are those of undisturbed programs. States and their order
# are judged; how long they took is printed.
. "$(dirname "${BASH_SOURCE[0]}")/../support/lab.bash"
. "$support/daemons.bash"
in_lab_with_daemons 3 "$@"

# HOST PROGRAM: where the table says its tasks are
placed() {
    ps_on "$1" | grep "\"$2\"" | sed -n 's/.*"hosts": {\([^}]*\)}.*/\1/p'
}

is_placed() {
    [ "$(placed h1 "$1")" = "$2" ]
}

# HOST STEPS: the program of so many steps has no task there, nor a stopped one
has_none() {
    [ "$("$lab" ps "$1" | grep -c "elastic $2 ")" -eq 0 ]
}

# HOST STEPS COUNT: so many of its tasks are stopped there
stopped_there() {
    [ "$("$lab" ps "$1" | grep "elastic $2 " | grep -c ' T ')" -ge "$3" ]
}

# Since $since.
ms() {
    echo $((($(date +%s%N) - since) / 1000000))
}

has_checkpoint() {
    [ -n "$(find "$1" -name "ckpt-*.dckpt" 2>/dev/null)" ]
}

# FILE STEPS
result() {
    local expected
    expected=$("$elastic" "$2" 0 - --dome-transport self 2>/dev/null | tail -1)
    [ "$(tail -1 "$1")" = "$expected" ] || fail "$1: other result: $(tail -1 "$1"), not $expected"
}

say "a program that comes before the other hosts"
corosync_on h1
domed_on h1 --dedicated --console /tmp/console
await "h1 alone" there h1 1
marks=$work/marks
mkdir "$marks" && touch "$marks/slow" # while this is there, it takes 20 ms for each step, and 300 s for all
low=$(on h1 "$dome" submit -n 8 --min 2 -o "$work/low" "$elastic" 15001 20 - "$marks" hurries)
await "$low to run" is h1 "$low" state runs
await "$low on one host" is_placed "$low" '"h1": 4'
for host in h2 h3; do corosync_on $host; done
for host in h2 h3; do domed_on $host --dedicated --console /tmp/console; done
for host in h1 h2 h3; do await "three hosts on $host" there $host 3; done
since=$(date +%s%N)
await "$low to grow" is h1 "$low" tasks 8
echo "   it has grown after $(ms) ms"

say "a program of priority"
since=$(date +%s%N)
high=$(on h3 "$dome" submit -n 8 --min 8 --priority 5 -o "$work/high" "$elastic" 100 20)
first_words() {
    grep -q . "$work/high" 2>/dev/null
}
await "$high to start" is h1 "$high" state runs
echo "   it is started after $(ms) ms"
await "$high to compute" first_words
echo "   it computes after $(ms) ms"
is h1 "$low" state runs || fail "$low does not run beside $high: $(ps_on h1)"
await "$high to end" is h1 "$high" state ended
is h1 "$high" status 0 || fail "$high: $(ps_on h1)"
result "$work/high" 100
await "$low to grow again" is h1 "$low" tasks 8

say "a host is drained, and comes back"
since=$(date +%s%N)
drained=h2
[[ $(placed h1 "$low") == *'"h2"'* ]] || drained=h3
on h3 "$dome" hosts drain $drained >/dev/null || fail "not drained"
off_it() {
    [[ $(placed h1 "$low") != *"\"$drained\""* ]] && has_none $drained 15001
}
for ((k = 0; k < 200; k++)); do
    off_it && break
    sleep 0.1
done
off_it || echo "   not empty after $(ms) ms: $(placed h1 "$low"); $("$lab" ps)"
await "$drained to be empty" off_it
echo "   empty after $(ms) ms"
other=$(on $drained "$dome" submit -o "$work/other" sleep 600)
await "$other to run" is h1 "$other" state runs
is h1 "$other" host $drained && fail "a drained host got a program"
on h1 "$dome" kill "$other" >/dev/null
on h3 "$dome" hosts enable $drained >/dev/null
[ "$(on h3 "$dome" hosts --daemons | grep -c enabled)" -eq 3 ] || fail "not enabled"

say "an owner comes to h2"
saves=$(on h2 "$dome" submit -n 2 -o "$work/saves" "$elastic" 4001 20 - --dome-checkpoint-dir "$work/ck" --dome-checkpoint-every 1s)
await "$saves to run" is h1 "$saves" state runs
rigid=$(on h2 "$dome" submit -o "$work/rigid" sleep 600)
await "$rigid to run" is h1 "$rigid" state runs
is h1 "$saves" host h2 || fail "$saves: $(ps_on h1)"
await "a checkpoint" has_checkpoint "$work/ck"
since=$(date +%s%N)
on h2 bash -c 'exec >/dev/null 2>&1; while touch /tmp/console; do sleep 1; done & echo $! >/tmp/owner.pid'
nice_on_h2() {
    on h2 bash -c 'for p in /proc/[0-9]*; do read -r -d "" word <$p/cmdline; if [[ $word == *elastic ]]; then read -ra f < <(sed "s/.*) //" $p/stat); [ ${f[16]} = 19 ] || exit 1; fi; done 2>/dev/null'
}
await "nice tasks" nice_on_h2
echo "   nice after $(ms) ms"
is h1 "$saves" attempts 1 || fail "$saves has left before it was nice: $(ps_on h1)"
# The test may be too late to see it stopped.
stands_still() {
    has_none h2 15001 && { stopped_there h2 4001 2 || is h1 "$saves" attempts 2; }
}
await "tasks on h2 to stop or to go" stands_still
echo "   stopped, or gone, after $(ms) ms"
is h1 "$saves" attempts 1 || echo "   it has been left by then"
on h1 "$dome" ps --submitted --json | grep "\"$rigid\"" | grep -q '"held": true' || fail "$rigid goes on: $(ps_on h1)"
left_it() {
    has_none h2 4001 && is h1 "$saves" state runs
}
await "h2 to be empty" left_it
echo "   $saves computes elsewhere after $(ms) ms"
is h1 "$saves" attempts 2 || fail "$saves: $(ps_on h1)"

say "results"
on h1 "$dome" kill "$rigid" >/dev/null
await "$saves to end" is h1 "$saves" state ended
result "$work/saves" 4001
rm "$marks/slow"
await "$low to end" is h1 "$low" state ended
is h1 "$low" attempts 1 || fail "$low: $(ps_on h1)"
result "$work/low" 15001
on h2 bash -c 'kill $(cat /tmp/owner.pid)' 2>/dev/null
for host in h1 h2 h3; do
    on $host bash -c "kill -TERM $(daemon_of $host)"
done
gone() {
    ! "$lab" ps | grep -Eq "domed|dome run|dome-keeper|elastic|sleep 600"
}
until_true gone || fail "processes are left: $("$lab" ps)"
finish
