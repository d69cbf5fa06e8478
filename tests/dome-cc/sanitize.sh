#!/bin/bash
# sanitize.sh [all] [NAME...]: translated programs with ASan and UBSan, and under valgrind: undisturbed, captured at every fifth poll, and
# restarted. `all`: captured at every poll, and every program of supported/ if none is named. Of many polls, at 100 of them.
. "$(dirname "$0")/../support/checks.bash"
cc=$DOME_BUILD_DIR/tools/dome-cc here=$DOME_SOURCE_DIR/tests/dome-cc/supported
[ -x "$cc" ] || { echo "skipped: there is no dome-cc"; exit 77; }
work=$(mktemp -d -p /dev/shm 2>/dev/null || mktemp -d) || exit 1 # many checkpoints: in memory
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
names=${*:-containers} most=5
[ "${1:-}" != all ] || { shift && most=1 names=${*:-$(cd "$here" && ls *.c | sed "s/\.c$//")}; }
echo 'int main(void) { return 0; }' >empty.c
cc -fsanitize=address,undefined empty.c -o empty 2>said && ./empty || { echo "skipped: the compiler has no sanitizers: $(head -1 said)"; exit 77; }
cc -c -O1 -I"$DOME_SOURCE_DIR/include" "$DOME_SOURCE_DIR/tests/dome-cc/programs/stops.c" || exit 1 # says how many polls there are
valgrind=
command -v valgrind >/dev/null && valgrind="valgrind --quiet --error-exitcode=99 --leak-check=no"

# WHAT COMMAND...: prints what the plain program prints, or the end of that, and no tool complains
clean() {
    local what=$1 status
    shift
    "$@" >out 2>err </dev/null
    status=$?
    [ "$(cat status)" = $status ] || fail "$what: status $status: $(head -12 err)"
    tail -c "$(stat -c %s out)" plain.out | cmp -s - out || fail "$what: other output: $(tail -3 out)"
    grep -E '^==[0-9]+==|runtime error' err >complaints && fail "$what: $(head -12 complaints)"
}

for name in $names; do
    polls=every
    [[ $name = strips* ]] && polls=auto
    for tool in sanitizers ${valgrind:+valgrind}; do
        flags="-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all" run=
        [ $tool = valgrind ] && flags="-O1 -g" run=$valgrind
        # what the programs do not free themselves is not looked for
        export ASAN_OPTIONS=detect_leaks=0
        # with the same flags: the sanitizers change in which order a compiler evaluates operands
        cc $flags -w "$here/$name.c" -o plain -lm && $run ./plain >plain.out
        echo $? >status
        [ "$(cat status)" -lt 128 ] || { fail "$name, $tool: the compiler's program dies with status $(cat status)"; continue; }
        "$cc" $flags -w --polls=$polls "$here/$name.c" stops.o -Wl,--wrap=dome_capture_main -o translated -lm 2>said || { fail "$name, $tool: $(head -3 said)"; continue; }
        clean "$name, $tool" $run ./translated
        total=$(sed -n 's/^polls //p' err) checkpoints=100
        [ $tool = valgrind ] && checkpoints=10
        every=$((${total:-0} / checkpoints + 1))
        [ $every -ge $most ] || every=$most
        rm -rf saved
        clean "$name, $tool, captured" $run ./translated --dome-checkpoint-dir saved --dome-checkpoint-every $every --dome-checkpoint-keep 1000000
        [ $name = files ] && continue # its file is no more
        count=$(ls saved | grep -c ckpt-)
        [ "$count" -gt 1 ] || fail "$name, $tool: no checkpoints"
        for k in 1 $((count / 2 + 1)) $count; do
            clean "$name, $tool, from checkpoint $k of $count" $run ./translated --dome-checkpoint-dir saved --dome-restart=$k --dome-checkpoint-every 1000000000
        done
    done
done
[ $failures = 0 ] && echo "sanitizers${valgrind:+ and valgrind} have nothing to say"
exit $((failures > 0))
