#!/bin/bash
# The examples write the same checkpoints, byte by byte, whatever the number of tasks, and go on from any of them on another number
# of tasks to the same end.
. "$(dirname "$0")/../support/programs.bash"

# check NAME EVERY MIDDLE ARGUMENTS...: MIDDLE is the number of the checkpoint to go on from.
check() {
    local name=$1 every=$2 middle=$3
    shift 3
    run self "$name" "$@"
    well "$name"
    tail -n 1 out >"$name.expected"
    rm -rf first
    for tasks in $counts; do
        rm -rf dir
        run "$tasks" "$name" "$@" --dome-checkpoint-dir dir --dome-checkpoint-every "$every" --dome-checkpoint-keep 100
        well "$name, $tasks tasks"
        tail -n 1 out | cmp -s - "$name.expected" || fail "$name, $tasks tasks: $(tail -n 1 out)"
        [ -d first ] || cp -r dir first
        (cd dir && ls ckpt-*) >files
        (cd first && ls ckpt-*) | cmp -s - files || fail "$name, $tasks tasks: other checkpoints"
        for file in $(cat files); do
            same "$name, $tasks tasks" "first/$file" "dir/$file"
        done
    done
    [ -s files ] || fail "$name: no checkpoints"
    for tasks in $counts; do
        rm -rf dir
        cp -r first dir
        run "$tasks" "$name" "$@" --dome-checkpoint-dir dir --dome-restart="$middle" --dome-checkpoint-every "$every" \
            --dome-checkpoint-keep 100
        [ $status -eq 0 ] || fail "$name again, $tasks tasks: status $status, $(cat err)"
        grep -qx "dome: going on from checkpoint $middle, after $((every * middle)) loop boundaries" err ||
            fail "$name again, $tasks tasks: $(cat err)"
        [ "$(wc -l <err)" -eq 1 ] || fail "$name again, $tasks tasks: $(cat err)"
        tail -n 1 out | cmp -s - "$name.expected" || fail "$name again, $tasks tasks: $(tail -n 1 out)"
    done
}

check md 6 2 --cells 5 --steps 30 --thermo 10
check heat 4 3 --rows 50 --columns 20 --steps 27
cp heat.npy again.npy
run self heat --rows 50 --columns 20 --steps 27
same "heat's file" heat.npy again.npy
check particles 5 2 --particles 600 --steps 25
check cg 10 3 "$matrix"
check cg_pipelined 20 2 30
check kmeans 3 2 1000 8
check nbody 3 3 300 12
check pagerank 4 1 1000 9
check laplace 7 3 40 30
check options 2 1 500 5
check wave 5 1 12 9 # an odd number of boundaries, so that the vectors have changed places
finish
