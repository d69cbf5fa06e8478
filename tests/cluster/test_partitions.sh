#!/bin/bash
# domed on four hosts that are cut apart, each from the others and two from two; a daemon that stands still; daemons of
# another version; a disk that is full; a host that was the last one and comes back. Nothing runs twice, and what was accepted is not forgotten.
. "$(dirname "${BASH_SOURCE[0]}")/../support/lab.bash"
. "$support/daemons.bash"
in_lab_with_daemons 4 "$@"

# Says all the time that it runs, and which process it is, in a file that all hosts have.
cat >"$work/beats" <<'BEATS'
#!/bin/bash
me=$(hostname).$$
silence=${0%/*}/../silence # nobody writes there: this waits without another process
while :; do
    printf '%s\n' "$me" >>"$1"
    read -r -t 0.1 <>"$silence"
done
BEATS
chmod +x "$work/beats"

# FILE: no process of it has written after another one had begun
not_twice() {
    awk '$1 != last { if ($1 in over) bad = 1; over[last] = 1; last = $1 } END { exit bad }' "$1" ||
        fail "$1: two at a time: $(uniq "$1" | tr '\n' ' ')"
}

# add|del HOSTS OTHERS: the hosts and the others no longer hear each other; without a word on the way
part() {
    local verb=$1 a b
    for a in $2; do
        for b in $3; do
            on "h$a" ip route "$verb" blackhole "10.99.0.$b/32"
            on "h$b" ip route "$verb" blackhole "10.99.0.$a/32"
        done
    done
}


takes_no_orders() {
    on "$1" "$dome" submit -o /dev/null true 2>&1 | grep -q "without a majority"
}

for host in "${hosts[@]}"; do corosync_on "$host"; done
for host in "${hosts[@]}"; do domed_on "$host" --dedicated; done
for host in "${hosts[@]}"; do await "four hosts on $host" there "$host" 4; done

for cut in "1:2 3 4" "2:1 3 4" "1 2:3 4" "1 3:2 4" "1 4:2 3"; do
    one=${cut%%:*} other=${cut#*:}
    say "cut: $one from $other"
    strong=$other weak=$one
    [ "$(wc -w <<<"$one")" -eq 1 ] || strong=$one weak=$other # of two halves, the one with h1
    programs=()
    for k in 1 2 3 4; do
        rm -f "$work/beat.$k"
        programs+=("$(on h$k "$dome" submit -o "$work/out.$k" "$work/beats" "$work/beat.$k")")
    done
    for program in "${programs[@]}"; do
        await "$program to run" is h1 "$program" state runs
    done
    part add "$one" "$other"
    for host in $weak; do
        await "h$host to take no orders" takes_no_orders "h$host"
    done
    for host in $strong; do
        await "h$host to see $(wc -w <<<"$strong")" there "h$host" "$(wc -w <<<"$strong")"
    done
    first=h${strong%% *}
    await "the strong side to take orders" on "$first" "$dome" submit -o /dev/null true
    for k in $weak; do
        await "${programs[k - 1]} to begin elsewhere" is "$first" "${programs[k - 1]}" attempts 2
        await "${programs[k - 1]} to run elsewhere" is "$first" "${programs[k - 1]}" state runs
    done
    part del "$one" "$other"
    for host in "${hosts[@]}"; do await "four hosts on $host" there "$host" 4; done
    await "one table" equal h1 h2 h3 h4
    for k in 1 2 3 4; do
        attempts=1
        [[ " $weak " != *" $k "* ]] || attempts=2
        is h1 "${programs[k - 1]}" attempts $attempts || fail "${programs[k - 1]}: $(ps_on h1)"
        not_twice "$work/beat.$k"
        on h1 "$dome" kill "${programs[k - 1]}" >/dev/null || fail "not ended"
        await "${programs[k - 1]} to end" is h1 "${programs[k - 1]}" state ended
    done
done

say "the first daemon stands still for a minute"
one=$(on h1 "$dome" submit -o "$work/out" "$work/beats" "$work/still")
await "$one to run" is h2 "$one" state runs
on h1 bash -c "kill -STOP $(daemon_of h1)"
since=$(date +%s)
two=$(on h2 "$dome" submit -n 8 --min 1 -o "$work/two" "$elastic" 100000 20)
await "$two to run" is h3 "$two" state runs
for ((k = 0; k < 50; k++)); do
    on h3 "$dome" limits "$two" --priority $((k % 5)) >/dev/null || fail "no order was taken"
    sleep 0.2
done
while [ $(($(date +%s) - since)) -lt 60 ]; do sleep 0.5; done
on h1 bash -c "kill -CONT $(daemon_of h1)"
await "one table" equal h1 h2 h3 h4
is h1 "$one" attempts 1 && is h1 "$two" attempts 1 || fail "started again: $(ps_on h1)"
not_twice "$work/still"
for program in "$one" "$two"; do
    on h1 "$dome" kill "$program" >/dev/null
    await "$program to end" is h1 "$program" state ended
done

say "daemons of two versions"
three=$(on h1 "$dome" submit -o "$work/out" "$work/beats" "$work/versions")
await "$three to run" is h2 "$three" state runs
on h4 bash -c "kill -TERM $(daemon_of h4)"
await "three hosts" there h1 3
on h4 bash -c "$DOME_BUILD_DIR/tests/programs/foreign_daemon h4 1 >/dev/null 2>&1 </dev/null & echo \$! >/tmp/foreign.pid"
knows() {
    grep -q "has a daemon of version 1, this one is of version 5" "$work/domed.$1"
}
for host in h1 h2 h3; do await "$host to see a stranger" knows $host; done
await "h1 to take orders" on h1 "$dome" limits "$three" --priority 1
[ "$(on h1 "$dome" hosts --daemons | grep -c ' there ')" -eq 3 ] || fail "the stranger counts: $(on h1 "$dome" hosts --daemons)"
is h1 "$three" state runs && is h1 "$three" attempts 1 || fail "a stranger's order was taken: $(ps_on h1)"
for host in h2 h3; do
    on $host bash -c "kill -TERM $(daemon_of $host)"
    on $host bash -c "$DOME_BUILD_DIR/tests/programs/foreign_daemon $host 1 >/dev/null 2>&1 </dev/null & echo \$! >/tmp/foreign.pid"
done
has_ended() {
    ! on h1 kill -0 "$(daemon_of h1)" 2>/dev/null
}
await "the daemon whose version fewer have to end" has_ended
grep -q "most daemons are of the other version: this one ends" "$work/domed.h1" || fail "$(cat "$work/domed.h1")"
"$lab" ps h1 | grep -q beats || fail "its programs have ended"
for host in h2 h3 h4; do on $host bash -c 'kill $(cat /tmp/foreign.pid)'; done
for host in "${hosts[@]}"; do domed_on "$host" --dedicated; done
for host in "${hosts[@]}"; do await "four hosts on $host" there "$host" 4; done
is h1 "$three" attempts 1 || fail "started again: $(ps_on h1)"
on h1 "$dome" kill "$three"
await "$three to end" is h1 "$three" state ended
not_twice "$work/versions"

say "the last host goes, and comes back; its disk is full for a while"
for host in h2 h3 h4; do on $host bash -c "kill -TERM $(daemon_of $host)"; done
await "one host" there h1 1
on h1 bash -c "kill -TERM $(daemon_of h1)"
# its table is in a folder of 300 kB
alone_on_h1() {
    on h1 bash -c "mkdir -p /tmp/small; mountpoint -q /tmp/small || mount -t tmpfs -o size=300k,mode=0700 none /tmp/small
        $domed --dedicated --name h1 --state /tmp/small --socket /tmp/domed.sock --slots 4 >>$work/alone 2>&1 </dev/null & echo \$! >/tmp/domed.pid"
    on h1 sleep 0.2
}
answers() {
    on h1 "$dome" ps --submitted >/dev/null 2>&1
}
alone_on_h1
await "domed" answers
expected=$("$elastic" 600 0 - --dome-transport self 2>/dev/null | tail -1)
last=$(on h1 "$dome" submit -n 2 -o "$work/last" "$elastic" 600 20 - --dome-checkpoint-dir "$work/ck" --dome-checkpoint-every 1s)
await "$last to run" is h1 "$last" state runs
has_checkpoint() {
    [ -n "$(find "$work/ck" -name "ckpt-*.dckpt" 2>/dev/null)" ]
}
await "a checkpoint" has_checkpoint
on h1 bash -c 'dd if=/dev/zero of=/tmp/small/fill bs=4k count=200 2>/dev/null'
run full on h1 env "BIG=$(head -c 20000 /dev/zero | tr '\0' x)" "$dome" submit -o /dev/null sleep 600
failed_with full "cannot be written"
on h1 rm /tmp/small/fill
is_written() {
    grep -q "is written again" "$work/alone"
}
await "the table to be written" is_written
"$lab" kill h1
on h1 true
"$lab" sshd h1
on h1 bash -c "rm -rf /tmp/dome-* /tmp/pvm*"
alone_on_h1
await "domed" answers
await "$last to begin again" is h1 "$last" attempts 2
await "$last to end" is h1 "$last" state ended
[ "$(tail -1 "$work/last")" = "$expected" ] || fail "other result: $(tail -1 "$work/last")"
on h1 bash -c "kill -TERM $(daemon_of h1)"
gone() {
    ! "$lab" ps | grep -Eq "domed|dome run|dome-keeper|elastic|beats"
}
until_true gone || fail "processes are left: $("$lab" ps)"
finish
