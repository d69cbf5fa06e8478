#!/bin/bash
# The host at which the user sits, where the hub and the first task of each program are, dies, is cut off or stops: the tasks on the
# other hosts end by themselves within the timeout, and the daemons that were started for them too.
. "$(dirname "${BASH_SOURCE[0]}")/../support/lab.bash"
in_lab 3 "$@"
. "$support/lab_faults.bash"
places=(${*:-own wait sum})

for fault in kill cut stop; do
    name=$fault.h1
    say "$fault h1, programs in ${places[*]}"
    start_each "$name" "${places[@]}"
    "$lab" $fault h1
    since=$(now)
    until_true no_tasks h2 h3 || fail "$name: tasks are left: $(tasks h2 h3)"
    in_time "$name, tasks of the other hosts"
    clean "$name" h2 h3
    [ $fault != stop ] || "$lab" go h1
    for i in "${!places[@]}"; do
        wait "${programs[i]}"
        status=$?
        [ $status -ne 0 ] || fail "$name.${places[i]}: status 0"
        if [ $fault = cut ]; then
            in_time "$name.${places[i]}"
            failed_with "$name.${places[i]}" "task [1-5] on host h[23]" "$(operation_of "${places[i]}")"
        fi
    done
    case $fault in
    kill)
        on h1 find /tmp -xdev -mindepth 1 -maxdepth 1 -name 'dome-*' -exec rm -r {} +
        "$lab" sshd h1
        ;;
    cut) "$lab" mend h1 ;;
    esac
    clean "$name"
done
finish
