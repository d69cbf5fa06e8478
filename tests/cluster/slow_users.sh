#!/bin/bash
# domed of root's on four hosts of a lab, and three programs of two users: the host on which they were submitted is lost, then the one on
# which the first of them goes on, and so on. Each program ends with the output of one that nothing has disturbed, as its owner.
. "$(dirname "${BASH_SOURCE[0]}")/../support/lab.bash"
. "$support/daemons.bash"
[ "$(id -u)" -eq 0 ] || skip "programs of two users need root"
user=nobody
id "$user" >/dev/null 2>&1 || skip "there is no user $user"
in_lab_with_daemons 4 "$@"

chmod 755 "$LAB" "$work"
for name in one two three; do
    mkdir "$work/$name"
done
chown "$user" "$work/two"
declare -A steps=([one]=1500 [two]=1300 [three]=1100) of=([one]=root [two]=$user [three]=root) number=()

# NAME OPTION...: submitted on h1 by its owner
submit() {
    local name=$1
    shift
    number[$name]=$(on h1 setpriv --reuid "${of[$name]}" --regid "$(id -g "${of[$name]}")" --clear-groups env DOME_DAEMON=/tmp/domed.sock \
        "$dome" submit -o "$work/$name/out" "$@" "$elastic" "${steps[$name]}" 40 - --dome-checkpoint-dir "$work/$name/ck" \
        --dome-checkpoint-every 1s --dome-timeout 4)
}

# HOST: all are running, or have ended, in the table of that host
all_go_on() {
    local name
    for name in "${!steps[@]}"; do
        is "$1" "${number[$name]}" state runs || is "$1" "${number[$name]}" state ended || return
    done
}

# HOST NAME: processes there have the rights of its owner
is_owners() {
    local uids
    uids=$(on "$1" ps -o uid= -C elastic | sort -u | tr -d ' ' | tr '\n' ' ')
    [[ " $uids " == *" $(id -u "${of[$2]}") "* ]]
}

has_checkpoints() {
    local name
    for name in "${!steps[@]}"; do
        [ -n "$(find "$work/$name/ck" -name "ckpt-*.dckpt" 2>/dev/null)" ] || return
    done
}

for host in "${hosts[@]}"; do corosync_on "$host"; done
for host in "${hosts[@]}"; do domed_on "$host" --dedicated; done
for host in "${hosts[@]}"; do await "four hosts on $host" there "$host" 4; done
submit one -n 2
submit two -n 2
submit three -n 6 --min 2 --priority 5 --run-option=--on-loss=heal --run-option=--restarts=5
await "all to run" all_go_on h1
for name in "${!steps[@]}"; do
    host=$(value h1 "${number[$name]}" host)
    await "$name: a process of ${of[$name]}'s on $host" is_owners "$host" $name
done
await "checkpoints" has_checkpoints

lost=h1
for ((k = 0; k < 3; k++)); do
    say "$lost is lost, with the hub of ${number[one]}"
    "$lab" kill "$lost"
    next=h4
    [ "$lost" != h4 ] || next=h3
    await "$next to see three" there $next 3
    await "${number[one]} to begin again" is $next "${number[one]}" attempts $((k + 2))
    await "all to go on" all_go_on $next
    on "$lost" bash -c "rm -rf /tmp/domed /tmp/domed.sock /tmp/dome-* /tmp/pvm*"
    "$lab" sshd "$lost"
    corosync_on "$lost"
    domed_on "$lost" --dedicated
    for host in "${hosts[@]}"; do await "four hosts on $host" there "$host" 4; done
    await "one table" equal "${hosts[@]}"
    lost=$(value h1 "${number[one]}" host)
done

say "results"
for name in "${!steps[@]}"; do
    await "${number[$name]} to end" is h1 "${number[$name]}" state ended
    is h1 "${number[$name]}" status 0 || fail "$name: $(ps_on h1); $(tail -3 "$work/$name/out")"
    [ "$(tail -1 "$work/$name/out")" = "$("$elastic" "${steps[$name]}" 0 - --dome-transport self 2>/dev/null | tail -1)" ] ||
        fail "$name: other result: $(tail -2 "$work/$name/out")"
    [ "$(stat -c %U "$work/$name/out")" = "${of[$name]}" ] || fail "$name: its output is $(stat -c %U "$work/$name/out")'s"
    echo "   $name of ${of[$name]}'s: begun $(value h1 "${number[$name]}" attempts) times"
done
for host in "${hosts[@]}"; do on $host bash -c "kill -TERM $(daemon_of $host)"; done
gone() {
    ! "$lab" ps | grep -Eq "domed|dome run|dome-keeper|elastic"
}
until_true gone || fail "processes are left: $("$lab" ps)"
finish
