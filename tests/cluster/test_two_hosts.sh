#!/bin/bash
# dome run --restarts in a virtual machine of the user's: two hosts of four stop together. The others heal the program, and what
# was stopped ends when it goes on; or the next start avoids both. (PVM's daemons are slow for minutes while hosts are silent, so
# the start itself is not waited for.)
. "$(dirname "${BASH_SOURCE[0]}")/../support/lab.bash"
in_lab 4 "$@"
. "$support/lab_faults.bash"

avoids_both() {
    on h1 sh -c "cat /proc/[0-9]*/environ" 2>/dev/null | tr '\0' '\n' | grep -qE '^DOME_AVOID=(h3 h4|h4 h3)$'
}

start_both() { # NAME ON-LOSS
    : >"$work/$1.out"
    run "$1" on h1 "$dome" run --restarts 1 --on-loss "$2" -n 8 "$phase" sum --dome-timeout $timeout &
    program=$!
    until_true grep -q there "$work/$1.out" || fail "it does not start: $(errors "$1")"
    "$lab" stop h3
    "$lab" stop h4
}

# What it prints again is not shown.
is_there_again() {
    errors "$1" | grep -q '; healed .*, 1 of 1$'
}

vm_start h1 h2 h3 h4
say "h3 and h4 stop, and the program heals"
start_both healed heal
until_true is_there_again healed || fail "it does not heal: $(errors healed)"
for host in h3 h4; do
    "$lab" go $host
done
until_true no_tasks h3 h4 || fail "tasks are left: $(tasks h3 h4)"
has_eight() {
    [ "$(tasks h1 h2 | grep -vc ' run ')" -eq 8 ]
}
until_true has_eight || fail "not 8 tasks: $(tasks h1 h2)"
kill -TERM "$("$lab" ps h1 | awk '/ run --restarts/ { print $2; exit }')"
wait "$program"
errors healed | sed 's/^/   /'
errors healed | grep -Eq "task [0-9] on host h[34] is lost: .*; healed \(without h3, h4\) from the beginning \(.*\), 1 of 1$" || fail "no line of healing"
until_true no_tasks || fail "tasks are left: $(tasks)"

say "h3 and h4 stop, and the program starts again"
start_both both restart
until_true avoids_both || fail "the next start does not avoid h3 and h4: $(errors both)"
for host in h3 h4; do
    "$lab" go $host
done
kill -TERM "$("$lab" ps h1 | awk '/ run --restarts/ { print $2; exit }')"
wait "$program"
errors both | sed 's/^/   /'
errors both | grep -Eq "task [0-9] on host h[34] is lost: .*; started again from the beginning \(.*\), restart 1 of 1$" || fail "no line of a restart"
until_true no_tasks || fail "tasks are left: $(tasks)"
vm_stop
clean both
finish
