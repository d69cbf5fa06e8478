#!/bin/bash
# nbody prints the same as its sequential twin, for any number of tasks, also for fewer bodies than tasks; in C++, too, and compiled
# by dome-cc.
. "$(dirname "$0")/../support/programs.bash"
twins nbody '^step [0-9]+: kinetic [0-9.e-]+, potential -[0-9.e-]+, centre 0\.[0-9]+ 0\.[0-9]+ 0\.[0-9]+$' "3 2" "100 0" "400 60"
if [ -x "$examples/cpp/nbody" ]; then
    for tasks in self 1 3; do
        run "$tasks" cpp/nbody 400 60
        well "in C++, $tasks tasks"
        same "in C++, $tasks tasks" expected out
    done
fi
# dome-cc takes its loops as a compiler does.
if [ -x "$DOME_BUILD_DIR/tools/dome-cc" ]; then
    "$DOME_BUILD_DIR/tools/dome-cc" -O2 -ffp-contract=off "$DOME_SOURCE_DIR/examples/nbody.c" -o nbody -lm 2>err || fail "dome-cc: $(cat err)"
    "$RUN_MULTI" 3 ./nbody 400 60 >out 2>err || fail "by dome-cc: status $?: $(cat err)"
    same "by dome-cc" expected out
fi

run self nbody 0
refused "no bodies" 1 "usage: nbody"
finish
