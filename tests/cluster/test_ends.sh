#!/bin/bash
# Other ends of a program on three hosts of a private machine: signals to the command, a daemon that is killed, hosts that go
# while the program starts.
. "$(dirname "${BASH_SOURCE[0]}")/../support/lab.bash"
in_lab 3 "$@"
. "$support/lab_faults.bash"
seed=${1:-$RANDOM}
RANDOM=$seed

# The pid, for the lab, of what matches on a host.
pid_on() { # HOST PATTERN
    "$lab" ps "$1" | awk -v p="$2" '$0 ~ p { print $2; exit }'
}

for signal in INT TERM HUP KILL; do
    name=signal.$signal
    say "SIG$signal to dome run"
    start $name sum
    since=$(now)
    kill -$signal "$(pid_on h1 'tools/dome run')"
    wait $program
    status=$?
    [ $status -ne 0 ] || fail "$name: status 0"
    until_true no_tasks || fail "$name: tasks are left: $(tasks)"
    in_time "$name, all tasks"
    clean $name
done

for host in h2 h3; do
    name=daemon.$host
    say "SIGKILL to the daemon on $host"
    start $name sum
    since=$(now)
    kill -KILL "$(pid_on $host 'pvmd -s')"
    wait $program
    status=$?
    until_true no_tasks || fail "$name: tasks are left: $(tasks)"
    in_time "$name"
    failed_with $name "task [0-9] on host $host"
    clean $name
done

say "a host without tasks is cut off: the program goes on to its end"
run idle on h1 "$dome" run --hosts "$work/hosts" -n 2 "$phase" short --dome-timeout $timeout &
program=$!
until_true grep -q there idle.out || fail "idle: it does not start: $(errors idle)"
"$lab" cut h3
wait $program
status=$?
ended_well idle
"$lab" mend h3
clean idle h1 h2
"$lab" kill h3
on h3 find /tmp -xdev -mindepth 1 -maxdepth 1 -name 'dome-host.*' -exec rm -r {} +
"$lab" sshd h3

say "faults while the program starts, seed $seed (test_ends.sh SEED repeats them)"
for i in 1 2 3; do
    faults=(kill cut)
    fault=${faults[RANDOM % 2]} # no subshell, in which RANDOM would be another
    host=h$((RANDOM % 2 + 2))
    name=start.$i programs=()
    # Two programs, the second of which has not come as far as the first.
    for k in 1 2; do
        printf -v delay '0.%03d' $((RANDOM % 900))
        run $name.$k on h1 "$dome" run --hosts "$work/hosts" -n 6 "$phase" sum --dome-timeout $timeout &
        programs+=($!)
        say "program $k of 2, and then $delay s"
        sleep "$delay"
    done
    say "$fault $host"
    "$lab" $fault $host
    since=$(now)
    for k in 1 2; do
        wait "${programs[k - 1]}"
        status=$?
        failed_with $name.$k "\\b$host\\b"
    done
    until_true no_tasks || fail "$name: tasks are left: $(tasks)"
    # A daemon that was cut off before it had joined the machine does not know the program: PVM ends it after some minutes.
    "$lab" mend $host
    "$lab" kill $host
    on $host find /tmp -xdev -mindepth 1 -maxdepth 1 -name 'dome-host.*' -exec rm -r {} +
    "$lab" sshd $host
    clean $name
done
finish
