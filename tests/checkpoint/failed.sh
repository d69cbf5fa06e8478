#!/bin/bash
# While a named vector has values that could not be computed, no checkpoint is written, and a line says why; a vector without a name
# does not matter. The program goes on in either case.
. "$(dirname "$0")/../support/programs.bash"
examples=$DOME_BUILD_DIR/tests/checkpoint
why="'v' cannot be saved: dvec_div into 'v': element 99 is an integer divided by zero"
for tasks in $counts; do
    [ "$tasks" = self ] || [ "$tasks" = 3 ] || continue
    rm -rf dir
    run "$tasks" failed v --dome-checkpoint-dir dir --dome-checkpoint-every 1
    [ $status -eq 0 ] && [ "$(cat out)" = "DOME_OK DOME_OK" ] || fail "$tasks tasks: status $status: $(cat out err)"
    [ "$(wc -l <err)" -eq 1 ] && grep -qF -- "$why" err || fail "$tasks tasks: not in one line: $(cat err)"
    [ "$(ls dir/*.dckpt | wc -l)" -eq 1 ] || fail "$tasks tasks: not one checkpoint: $(ls dir)"
    rm -rf dir
    run "$tasks" failed "" --dome-checkpoint-dir dir --dome-checkpoint-every 1
    well "$tasks tasks, without a name"
    [ "$(ls dir/*.dckpt | wc -l)" -eq 2 ] || fail "$tasks tasks, without a name: not two checkpoints: $(ls dir)"
done
finish
