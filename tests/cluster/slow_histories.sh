#!/bin/bash
# Random histories of a submitted program on three hosts with domed and Corosync: tasks, hubs, daemons and hosts are killed at random
# moments, and daemons and hosts come back. Each time the program ends with status 0, and its output is that of an undisturbed run,
# byte for byte, but for lines of errors.
#
#     slow_histories.sh [COUNT [SEED]]
count=${1:-12} seed=${2:-1}
. "$(dirname "${BASH_SOURCE[0]}")/../support/lab.bash"
. "$support/daemons.bash"
in_lab_with_daemons 3 "$@"
prints=$DOME_BUILD_DIR/tests/programs/prints steps=250 micro=20000
RANDOM=$seed

# PATTERN: a random process on the hosts whose words begin so, as "HOST PID"
any() {
    local host
    for host in h1 h2 h3; do
        on $host pgrep -f "^$1" 2>/dev/null | sed "s/^/$host /"
    done | shuf -n 1 --random-source=<(while :; do echo $RANDOM; done)
}

kill_task() {
    local what
    what=$(any "$prints")
    [ -z "$what" ] || on "${what% *}" kill -9 "${what#* }" 2>/dev/null
}

# A hub or its guard. What started them, by the daemon's order, is the program: whoever kills that ends it.
kill_hub() {
    local what
    what=$(any "$dome run")
    [ -z "$what" ] || on "${what% *}" bash -c "[ \"\$(cat /proc/\$(awk '{print \$4}' /proc/${what#* }/stat)/comm)\" != dome ] || kill -9 ${what#* }" 2>/dev/null
}

ends() {
    is h1 "$1" state ended || is h2 "$1" state ended || is h3 "$1" state ended
}

come_back() {
    "$lab" sshd "$1"
    corosync_on "$1"
    domed_on "$1" --dedicated
    await "three hosts after $1 came back" there "$1" 3
}

# Daemons that are about to compare their tables take none.
submit() {
    program=$(on h3 "$dome" submit -n 6 --min 3 --run-option=--restarts=40 --run-option=--on-loss=heal -o "$work/out" "$prints" \
        "$work/marks" $steps $micro --dome-checkpoint-dir "$work/ck" --dome-checkpoint-every 4 --dome-timeout 4 2>/dev/null)
    [ -n "$program" ]
}

for host in h1 h2 h3; do corosync_on $host; done
for host in h1 h2 h3; do domed_on $host --dedicated; done
for host in h1 h2 h3; do await "three hosts on $host" there $host 3; done
mkdir -p "$work/marks"
run undisturbed on h1 "$dome" run -n 3 "$prints" "$work/marks" $steps 0
ended_well undisturbed

lost=0 once=0
for ((k = 1; k <= count; k++)); do
    rm -rf "$work/ck" "$work/out" "$work/marks"
    mkdir "$work/marks"
    await "a program to be taken" submit
    await "$program to run" is h3 "$program" state runs
    history= host_lost=0
    for ((event = RANDOM % 3 + 1; event > 0; event--)); do
        sleep "$((RANDOM % 2)).$((RANDOM % 10))"
        what=$((RANDOM % 4))
        [ $host_lost -eq 0 ] || what=$((RANDOM % 3))
        case $what in
        0) history+=" task" && kill_task ;;
        1) history+=" hub" && kill_hub ;;
        2)
            host=h$((RANDOM % 3 + 1)) && history+=" daemon-$host"
            on $host bash -c "kill -9 $(daemon_of $host)"
            domed_on $host --dedicated
            await "three hosts again" there $host 3
            ;;
        3)
            host=h$((RANDOM % 3 + 1)) && history+=" host-$host" && host_lost=1
            "$lab" kill $host
            come_back $host
            ;;
        esac
    done
    await "$program to end" ends "$program"
    status=$(value h3 "$program" status)
    sed -z 's/dome: [^\n]*\n//g' "$work/out" >once.out # lines of errors are in the file, too, also within a line
    echo "   $k:$history: status $status"
    [ "$status" = 0 ] || fail "$k:$history: status $status: $(tail -3 "$work/out")"
    if cmp -s undisturbed.out once.out; then
        once=$((once + 1))
    else
        fail "$k:$history: not the output of an undisturbed run: $(diff undisturbed.out once.out | head -5)"
    fi
    lost=$((lost + host_lost))
done
echo "   $count histories, $lost of them with a lost host; output once in $once"
finish
