#!/bin/bash
# Standard input of a program that goes on: a file is read from where the program was; one that is too short, and what is no
# file now, are told.
. "$(dirname "$0")/../support/checks.bash"
cc=$DOME_BUILD_DIR/tools/dome-cc
[ -x "$cc" ] || { echo "skipped: there is no dome-cc"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

cat >reads.c <<'END_OF_C'
#include <stdio.h>
#include <stdlib.h>
static long squares(long n)
{
    long s = 0;
    for (long i = 1; i <= n; i++)
        s += i * i;
    return s;
}
int main(void)
{
    char line[80];
    while (fgets(line, sizeof line, stdin))
        printf("%ld\n", squares(atol(line)));
    return 0;
}
END_OF_C
seq 1 20 >numbers
head -n 2 numbers >short
"$cc" --polls=every reads.c -o reads || exit 1
./reads --dome-checkpoint-dir saved --dome-checkpoint-every 1 --dome-checkpoint-keep 1000 <numbers >expected || fail "status $?"
middle=$(($(ls saved | grep -c '^ckpt-') / 2))

# goes_on STATUS TEXT: reads from standard input; the last line of its messages has TEXT
goes_on() {
    ./reads --dome-checkpoint-dir saved --dome-restart=$middle --dome-checkpoint-every 1000000 >out 2>err
    local status=$?
    [ $status = "$1" ] || fail "status $status: $(head -3 err)"
    tail -n 1 err | grep -qF "$2" || fail "does not say \"$2\": $(head -3 err)"
}

goes_on 0 "going on from checkpoint $middle" <numbers
lines=$(wc -l <out)
[ "$lines" -gt 0 ] && [ "$lines" -lt 20 ] || fail "$lines lines behind checkpoint $middle"
tail -n "$lines" expected | cmp -s - out || fail "a file: $(head -3 out)"
goes_on 1 "'standard input' has $(wc -c <short) bytes" <short
tail -n $((lines - 1)) numbers >rest # it was within the number before these
goes_on 0 "standard input was a file when the program was saved" < <(cat rest)
tail -n "$lines" expected | cmp -s - out || fail "the rest through a pipe: $(head -3 out)"
[ $failures = 0 ] && echo "a program reads on from its standard input"
exit $((failures > 0))
