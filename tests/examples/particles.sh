#!/bin/bash
# particles prints the same as its sequential twin, byte by byte, for any number of tasks, also for fewer particles than tasks.
. "$(dirname "$0")/../support/programs.bash"
for size in "1 3" "3 0" "500 60" "2000 25"; do
    set -- $size
    "$examples/sequential/particles" --particles "$1" --steps "$2" >expected || fail "sequential: status $?"
    grep -Eq "^after $2 steps: kinetic [^ ]+  0x[^ ]+, potential [^ ]+  -?0x[^ ]+, positions [0-9a-f]+\$" expected ||
        fail "$1 particles: $(cat expected)"
    for tasks in $counts; do
        run "$tasks" particles --particles "$1" --steps "$2"
        well "$1 particles, $tasks tasks"
        same "$1 particles, $tasks tasks" expected out
    done
done
cat expected

# Something happens: the particles have other positions and other neighbours after one step more.
run "$most" particles --particles 2000 --steps 26
[ "$(tail -n 1 expected | sed 's/.*positions//')" != "$(tail -n 1 out | sed 's/.*positions//')" ] || fail "nothing moves"

for program in "$RUN_MULTI $most $examples/particles" "$examples/sequential/particles"; do
    $program --help >out 2>err || fail "$program --help: status $?"
    grep -q '^usage: particles' out || fail "$program --help: $(cat out)"
    for arguments in "--particles" "--particles 0" "--particles x" "--particles 5x" "--particles -5" "--steps -1" "10" "--other 3"; do
        $program $arguments >out 2>err
        status=$?
        sed -i '/^dome: running as root: /d' err
        refused "arguments '$arguments'" 2 "particles: usage: particles"
    done
done
finish
