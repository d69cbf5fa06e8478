#!/bin/bash
# Between two hosts nothing arrives for some seconds, while both are heard: tasks wait for data that is under way, and go on when the
# link does. Nobody disagrees, and nobody waits for ever; who does is found over the same links.
. "$(dirname "${BASH_SOURCE[0]}")/../support/lab.bash"
in_lab 3 "$@"
neighbours=$DOME_BUILD_DIR/tests/cluster/neighbours

# Frames go to an address that no host has: they are lost silently, as those of a link that is cut.
between() { # VERB
    on h2 ip neigh "$1" 10.99.0.3 lladdr 02:00:00:00:00:01 nud permanent dev eth0
    on h3 ip neigh "$1" 10.99.0.2 lladdr 02:00:00:00:00:01 nud permanent dev eth0
}

has_started() { # HOW PROGRAM
    grep -q there "$work/$1.out" || ! kill -0 "$2" 2>/dev/null
}

start() { # HOW
    : >"$work/$1.out"
    run "$1" on h1 "$dome" run --hosts "$work/hosts" -n 3 "$neighbours" "$1" "$work/go_on" --dome-timeout 20 --dome-balance none &
    programs+=($!)
    until_true has_started "$1" "${programs[-1]}" || fail "$1: it does not start: $(errors "$1")"
}

say "a link stands still for 6 s"
programs=()
touch go_on
start collectives
start messages
between replace
sleep 6
between del
rm go_on
for i in 0 1; do
    how=$( ((i)) && echo messages || echo collectives)
    wait "${programs[i]}"
    status=$?
    ended_well "$how"
    [ "$(tail -n 1 "$how.out")" = "the sum is 4498500" ] || fail "$how: $(cat "$how.out")"
    clean "$how"
done

touch go_on
say "tasks that wait for ever, on three hosts"
for how in circle barrier; do
    run $how on h1 "$dome" run --hosts "$work/hosts" -n 3 "$neighbours" $how "$work/go_on" --dome-timeout 20
    failed_with $how "tasks wait for each other: task [0-2] on host h[1-3] is in dome_recv and waits for a message from task"
    [ "$status" -eq 2 ] || fail "$how: status $status"
done
clean circle
finish
