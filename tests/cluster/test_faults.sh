#!/bin/bash
# A host of three dies, is cut off or stops while several programs run on it, each in another place: each program is over within the
# timeout, with one line that names task, host and operation, and no task of it is left anywhere.
. "$(dirname "${BASH_SOURCE[0]}")/../support/lab.bash"
in_lab 3 "$@"
. "$support/lab_faults.bash"
places=(${*:-own map wait sum exchange})

# FAULT HOST
case_of() {
    local fault=$1 host=$2 name=$1.$2 i
    say "$fault $host, programs in ${places[*]}"
    start_each "$name" "${places[@]}"
    "$lab" "$fault" "$host"
    since=$(now)
    for i in "${!places[@]}"; do
        wait "${programs[i]}"
        status=$?
        in_time "$name.${places[i]}"
        failed_with "$name.${places[i]}" "task [0-9] on host $host" "$(operation_of "${places[i]}")"
    done
    no_tasks h1 || fail "$name: left on the first host: $(tasks h1)"
    case $fault in
    kill)
        until_true no_tasks || fail "$name: tasks are left"
        "$lab" sshd "$host"
        # What a power cut leaves is not the programs'.
        on "$host" find /tmp -xdev -mindepth 1 -name 'dome-host.*' -exec rm -r {} +
        ;;
    cut)
        until_true no_tasks || fail "$name: tasks are left: $(tasks)"
        in_time "$name, tasks of the host that is cut off"
        clean "$name, before the link is mended"
        "$lab" mend "$host"
        ;;
    stop) "$lab" go "$host" ;;
    esac
    clean "$name"
}

case_of kill h2
case_of cut h3
case_of stop h2
finish
