#!/bin/bash
# laplace prints the same for any number of tasks, with data that moves and without, and what NumPy prints, bit for bit; its twin,
# which adds in another order, takes as many iterations and finds the same error but for the last digits.
. "$(dirname "$0")/../support/programs.bash"
for python in python3 /usr/bin/python3; do
    "$python" -c 'import numpy' 2>/dev/null && numpy=$python
done
[ -n "${numpy:-}" ] || echo "no NumPy (python3-numpy): the bits are compared among tasks alone"

for size in "1 1" "8 7" "60 41"; do
    # shellcheck disable=SC2086 # words
    set -- $size
    "$examples/sequential/laplace" "$1" "$2" >twin || fail "sequential $size: status $?"
    run self laplace "$1" "$2"
    cp out expected
    grep -Eq '^norm of the error: [0-9.]+e-?[+0-9]+  0x' expected || fail "$size: $(cat expected)"
    for file in expected twin; do # an error that is rounding alone has no digits to compare
        awk '/^norm/ { printf $5 < 1e-12 ? "rounding\n" : "%.3e\n", $5; next } { print }' $file >$file.short
    done
    same "$size" expected.short twin.short
    if [ -n "${numpy:-}" ]; then
        "$numpy" "$DOME_SOURCE_DIR/tests/examples/laplace.py" "$1" "$2" >numpy || fail "NumPy, $size: status $?"
        same "$size, NumPy" expected numpy
    fi
    for tasks in $counts; do
        run "$tasks" laplace "$1" "$2"
        well "$size, $tasks tasks"
        same "$size, $tasks tasks" expected out
    done
done

# Data that moves all the time.
for tasks in $counts; do
    run "$tasks" laplace 60 41 --dome-balance random --dome-balance-every 5
    well "moving, $tasks tasks"
    same "moving, $tasks tasks" expected out
done

run self laplace 0
refused "no points" 1 "usage: laplace"
finish
