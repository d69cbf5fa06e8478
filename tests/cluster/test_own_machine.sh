#!/bin/bash
# Faults in a virtual machine of the user's: the program ends with its line within the timeout; the machine is the user's affair.
. "$(dirname "${BASH_SOURCE[0]}")/../support/lab.bash"
in_lab 3 "$@"
. "$support/lab_faults.bash"

start_own() { # NAME PLACE
    : >"$work/$1.out"
    run "$1" on h1 "$phase" "$2" --dome-tasks 6 --dome-timeout $timeout &
    program=$!
    until_true grep -q there "$work/$1.out" || fail "$1: it does not start: $(errors "$1")"
}

# The machine ends with the hosts that are left; nothing else may be there afterwards.
end_machine() { # NAME HOST
    vm_stop
    "$lab" mend "$2"
    "$lab" kill "$2"
    on "$2" sh -c 'rm -f /tmp/pvm*'
    "$lab" sshd "$2"
    clean "$1"
}

for fault in kill cut stop; do
    name=own.$fault.h2
    say "$fault h2"
    vm_start h1 h2 h3
    start_own $name sum
    "$lab" $fault h2
    since=$(now)
    wait $program
    status=$?
    in_time $name
    failed_with $name "task [0-9] on host h2" "$(operation_of sum)"
    no_tasks h1 h3 || fail "$name: tasks are left: $(tasks h1 h3)"
    [ $fault != stop ] || "$lab" go h2
    until_true no_tasks || fail "$name: tasks are left: $(tasks)"
    in_time "$name, all tasks"
    [ -n "$("$lab" ps h1 | grep pvmd)" ] || fail "$name: the user's machine is gone"
    end_machine $name h2
done

for fault in kill cut; do
    name=console.$fault
    say "$fault a host, program typed into the console"
    vm_start h1 h2 h3
    vm_type "spawn -6 -> $phase sum --dome-timeout $timeout"
    until_true vm_shows there || fail "$name: it does not start: $(cat console.out)"
    first=$(sed -n 's/.*\[[0-9]*:t\([0-9a-f]*\)\] there.*/\1/p' console.out)
    case $first in
    8*) host=h3 ;;
    *) host=h2 ;;
    esac
    "$lab" $fault $host
    since=$(now)
    until_true no_tasks || fail "$name: tasks are left: $(tasks)"
    in_time "$name, all tasks"
    until_true vm_shows "dome: task [0-9] on host $host is lost.*was in dvec_sum of 'x'" ||
        fail "$name: no line in the console: $(cat console.out)"
    [ "$(grep -c 'dome: ' console.out)" -eq 1 ] || fail "$name: not exactly one line: $(grep 'dome: ' console.out)"
    grep 'dome: ' console.out | sed 's/^/   /'
    end_machine $name $host
done
finish
