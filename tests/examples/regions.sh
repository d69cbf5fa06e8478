#!/bin/bash
# The programs on regions print the same as their sequential twins, and write the same files, for any number of tasks, also for fewer
# rows than tasks; and they go on from a checkpoint.
. "$(dirname "$0")/../support/programs.bash"
twins gram_schmidt '^[0-9]+ vectors of [0-9]+: product of norms .*, largest product of two [0-9.]+e-1[0-9]$' "3 4" "40 100"
twins gas '^after [0-9]+ steps: energy .*, [0-9]+ collisions, momentum .*, particles [0-9a-f]+$' \
    "--particles 3 --steps 40" "--particles 3000 --steps 10"

# files PROGRAM TWIN ENDING ARGUMENTS...: the same with a file
files() {
    local program=$1 twin=$2 ending=$3
    shift 3
    "$examples/sequential/$twin" "$@" --output twin >expected || fail "sequential $*: status $?"
    for tasks in $counts; do
        run "$tasks" "$program" "$@" --output own
        well "$program $*, $tasks tasks"
        same "$program $*, $tasks tasks" expected out
        same "$program $*, $tasks tasks" "twin.$ending" "own.$ending"
        rm own.*
    done
}
files heat_region heat npy --rows 3 --columns 5 --steps 61
files heat_region heat npy --rows 100 --columns 70 --steps 60
files rays rays pgm --columns 7 --rows 3
files rays rays pgm --columns 60 --rows 150
files rays rays pgm --columns 9 --rows 50 --samples 3 --batch 7

for program in "heat_region --rows 100 --columns 70 --steps 60 --output own" "gram_schmidt 40 100" "rays --columns 60 --rows 200 --output own" \
    "gas --particles 3000 --steps 9"; do
    rm -rf dir own.*
    run "$most" $program --dome-checkpoint-dir dir --dome-checkpoint-every 2
    well "$program"
    cp out expected
    run self $program --dome-checkpoint-dir dir --dome-restart
    [ $status -eq 0 ] || fail "$program, again: status $status, $(cat err)"
    grep -q "going on from checkpoint" err || fail "$program, again: $(cat err)"
    same "$program, again" expected out
done

for arguments in "gram_schmidt 0" "gram_schmidt 5 4" "rays --rows 0" "rays --other" "gas --steps 0" "heat_region --rows 2"; do
    run "$most" $arguments
    refused "$arguments" 2 "usage: ${arguments%% *}"
done
finish
