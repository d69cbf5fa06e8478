#!/bin/bash
# Every structure of the battery comes back from a checkpoint, on other numbers of tasks.
. "$(dirname "$0")/../support/programs.bash"
examples=$DOME_BUILD_DIR/tests/multi
for structure in dvec dscalar dsparse lists region; do
    rm -rf dir
    run "$most" "conformance_$structure" keep --dome-checkpoint-dir dir --dome-checkpoint-every 1
    well "$structure"
    [ -e dir/ckpt-00000001.dckpt ] || fail "$structure: no checkpoint"
    for tasks in self 3; do
        [ "$tasks" = self ] || [ "$counts" != self ] || continue
        run "$tasks" "conformance_$structure" keep --dome-checkpoint-dir dir --dome-restart=1
        [ $status -eq 0 ] || fail "$structure again, $tasks: status $status, $(cat err)"
        grep -q "^ok conformance" out || fail "$structure again, $tasks: $(cat out)"
        [ "$(cat err)" = "dome: going on from checkpoint 1, after 1 loop boundaries" ] || fail "$structure again, $tasks: $(cat err)"
    done
done
finish
