#!/bin/bash
# dome run --restarts on three hosts: one is killed for good, the program goes on with two; one that was added to the file is used;
# one that is cut off is left out; and the same with checkpoints in memory. The result has the bits of an undisturbed run.
. "$(dirname "${BASH_SOURCE[0]}")/../support/lab.bash"
in_lab 4 "$@"
heat=$DOME_BUILD_DIR/examples/heat
[ -x "$heat" ] || skip "the examples are not built"
size=(--rows 150 --columns 150 --steps 5000)
saved=$work/saved
pieces=$saved/ckpt-*.dckpt
every=(--dome-checkpoint-every 20 --dome-timeout 4)

run alone on h1 sh -c "cd $work && exec $heat ${size[*]} --output alone --dome-transport self"
ended_well alone

# The tasks of the program on these hosts.
tasks() {
    "$lab" ps "$@" | grep -F "$heat"
}

no_tasks() {
    [ -z "$(tasks "$@")" ]
}

# HOST PATTERN: its files that match, found without a process on the host.
files() {
    # shellcheck disable=SC2086
    ls -d /proc/"$(<"$LAB/$1/pid")"/root$2 2>/dev/null
}

written() {
    local host
    if [ "$saved" = "$work/saved" ]; then
        set -- h1
    else
        set -- h1 h2 h3
    fi
    for host; do
        [ -n "$(files "$host" "$pieces")" ] || return 1
    done
}

# NAME HOST: starts heat on the hosts of the file, and stops HOST when a checkpoint is written, on all hosts if each has its own
# files. The program cannot end then before the test has done to that host what it wants to do; it goes on well before the timeout.
# On a busy machine it may have ended before HOST is stopped; it is started again then.
start() {
    local try
    for try in 1 2 3 4 5; do
        start_once "$@" && return
        wait "$program"
        echo "   $1: at its end before $2 was stopped, $try"
    done
    fail "$1: it is always at its end before $2 can be stopped"
}

start_once() {
    local host
    for host in "${hosts[@]}"; do
        on "$host" rm -rf "$saved"
    done
    run "$1" on h1 sh -c "cd $work && exec $dome run --restarts 3 --hosts $work/hosts -n 6 --on-loss restart $heat ${size[*]} --output $1 --dome-checkpoint-dir $saved ${every[*]}" &
    program=$!
    for _ in $(seq 1000); do
        [ -z "$(files h1 "$pieces")" ] || break
        sleep 0.02
    done
    "$lab" stop "$2"
    for _ in $(seq 100); do
        kill -0 "$program" 2>/dev/null || {
            "$lab" go "$2"
            return 1
        }
        written && return
        "$lab" go "$2"
        sleep 0.02
        "$lab" stop "$2"
    done
    "$lab" go "$2"
    fail "$1: no checkpoint, or not on all hosts: $(for host in h1 h2 h3; do files "$host" "$pieces"; done) $(cat "$work/$1.err")"
}

# NAME PATTERN: it has come to its end, with one line.
ended_after() {
    wait "$program"
    status=$?
    [ "$status" -eq 0 ] || fail "$1: status $status"
    [ "$(errors "$1" | grep -c '')" -eq 1 ] || fail "$1: not exactly one line: $(errors "$1")"
    errors "$1" | grep -Eq "$2" || fail "$1: no '$2' in '$(errors "$1")'"
    echo "   $(errors "$1")"
    same "$1" alone.npy "$1.npy"
    same "$1" alone.out "$1.out"
}

say "a host of three is killed for good"
printf 'h2\nh3\n' >"$work/hosts"
start killed h3
"$lab" kill h3
ended_after killed "on host h3 is lost: .*; started again on 2 hosts \(without h3\) from checkpoint [0-9]+ .*, restart 1 of 3$"
clean_killed() {
    on h3 find /tmp -xdev -mindepth 1 -name 'dome-host.*' -exec rm -r {} + # what a power cut leaves
    "$lab" sshd h3
    clean killed
}
clean_killed

say "one is cut off, another has been added to the file"
start cut h2
printf 'h2\nh3\nh4\n' >"$work/hosts"
"$lab" cut h2
"$lab" go h2
ended_after cut "on host h2 is lost: .*; started again on 3 hosts \(without h2\) from checkpoint [0-9]+ .*, restart 1 of 3$"
until_true no_tasks || fail "cut: tasks are left: $(tasks)"
"$lab" mend h2
clean cut

# Each host has a /tmp of its own.
saved=/tmp/saved
pieces=$saved/ckpt-*of3.dckpt
forget() {
    for host in "${hosts[@]}"; do
        on "$host" rm -rf "$saved"
    done
}

say "no file system is shared, and a host is killed for good"
printf 'h2\nh3\n' >"$work/hosts"
for lost in h2 h3; do
    start own_$lost $lost
    "$lab" kill $lost
    ended_after own_$lost "on host $lost is lost: .*; started again on 2 hosts \(without $lost\) from checkpoint [0-9]+ .*, restart 1 of 3$"
    on h1 ls "$saved" | grep -q of2 || fail "own_$lost: no pieces of two hosts: $(on h1 ls "$saved")"
    on $lost find /tmp -xdev -mindepth 1 -name 'dome-host.*' -exec rm -r {} +
    "$lab" sshd $lost
    forget
    clean own_$lost
done

say "on one host the directory belongs to another user: it is used on none"
for host in h1 h2 h3; do
    on "$host" mkdir -p "$saved"
done
if on h2 chown 61001 "$saved"; then
    run foreign on h1 sh -c "cd $work && exec $dome run --hosts $work/hosts -n 6 $heat ${size[*]} --output foreign --dome-checkpoint-dir $saved"
    failed_with foreign "'$saved' is not used, .*: $saved belongs to user 61001; .* --dome-checkpoint-trust \(task [0-9] on host h2\)$"
fi
forget
clean foreign

say "checkpoints in memory, and a host is killed for good"
saved=memory:
memory=/dev/shm
pieces=$memory/dome-*/ckpt-*of3.dckpt
for host in "${hosts[@]}"; do
    on "$host" mount -t tmpfs none "$memory" # as hosts have, each its own
done
for lost in h2 h3; do
    start memory_$lost $lost
    "$lab" kill $lost
    ended_after memory_$lost "on host $lost is lost: .*; started again on 2 hosts \(without $lost\) from checkpoint [0-9]+ .*, restart 1 of 3$"
    for host in h1 h2 h3; do
        left=$(on "$host" ls "$memory")
        [ "$host" = $lost ] || [ -z "$left" ] || fail "memory_$lost: left on $host: $left"
    done
    on $lost find /tmp "$memory" -xdev -mindepth 1 -name 'dome-*' -exec rm -r {} +
    "$lab" sshd $lost
    clean memory_$lost
done

say "the supervisor is killed: the next one removes the directories on all hosts"
start abandoned h3
killed=$(pgrep -o -f "^$dome run --restarts 3 --hosts $work/hosts") # numbers of processes begin again
"$lab" go h3
kill -9 "$killed"
wait "$program"
until_true no_tasks || fail "abandoned: tasks are left: $(tasks)"
for host in h1 h2 h3; do
    until_true eval '[ -n "$(on "$host" ls "$memory")" ]' || fail "abandoned: nothing was left on $host, so the test shows nothing"
done
on h1 sh -c "touch -d '1 minute ago' $memory/dome-*" # what is being made is not removed
run later on h1 sh -c "cd $work && exec $dome run --restarts 1 -n 2 $heat --rows 20 --columns 20 --steps 10 --output later --dome-checkpoint-dir memory:"
ended_well later
for host in h1 h2 h3; do
    left=$(on "$host" ls "$memory")
    [ -z "$left" ] || fail "abandoned: left on $host: $left"
done
clean abandoned

finish
