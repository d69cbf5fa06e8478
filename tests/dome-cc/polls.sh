#!/bin/bash
# Which loops and functions poll: by themselves, by the placements of the thesis (--polls=N), and by a run of the program.
. "$(dirname "$0")/../support/checks.bash"
cc=$DOME_BUILD_DIR/tools/dome-cc
[ -x "$cc" ] || { echo "skipped: there is no dome-cc"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
cc -O1 -I"$DOME_SOURCE_DIR/include" -c "$DOME_SOURCE_DIR/bench/introspection/measure.c" -o measure.o || exit 1

# WHAT EXPECTED OPTIONS... SOURCE: that many polls (EXPECTED: "7", or "5-9")
polls() {
    local what=$1 expected=$2 low=${2%-*} high=${2#*-} source=$3
    shift 3
    "$cc" -O1 "$@" "$source" measure.o -Wl,--wrap=dome_capture_main -o counted -lm 2>said || { fail "$what: $(head -3 said)"; return; }
    ./counted >out 2>plain.err || fail "$what: status $?"
    DOME_MEASURE=polls ./counted >out.counted 2>err
    cmp -s out out.counted || fail "$what: other output"
    local n
    n=$(sed -n 's/^polls //p' err)
    [ "${n:-0}" -ge "$low" ] && [ "${n:-0}" -le "$high" ] || fail "$what: $n polls, not $expected: $(head -2 err)"
}

# 3 loops: an outermost one that is a nest, of 10 iterations; a middle one of 100 in all; an innermost one of 10,000. A loop alone of
# 50. A function that calls itself 21 times, and one that is called 5 times.
cat >places.c <<'END'
#include <stdio.h>
static int down(int n) { return n == 0 ? 0 : 1 + down(n - 1); }
static int leaf(int n) { return n * 2; }
int main(void)
{
    volatile int s = 0;
    for (int i = 0; i < 10; i++)
        for (int j = 0; j < 10; j++)
            for (int k = 0; k < 100; k++)
                s += k;
    for (int i = 0; i < 50; i++)
        s += i;
    s += down(20) + leaf(1) + leaf(2) + leaf(3) + leaf(4) + leaf(5);
    printf("%d\n", s);
    return 0;
}
END
# each loop polls once more, where it ends; that is 11, 110, 10100 and 51
polls "-1" 21 places.c --polls=-1
polls "0" 26 places.c --polls=0
polls "1, nests" $((21 + 11 + 110)) places.c --polls=1
polls "4, outermost" $((21 + 11 + 51)) places.c --polls=4
polls "16, innermost" $((21 + 10100 + 51)) places.c --polls=16
polls "5" $((21 + 11 + 110 + 51)) places.c --polls=5
polls "every" $((21 + 11 + 110 + 10100 + 51)) places.c --polls=every
polls "21 is every" $((21 + 11 + 110 + 10100 + 51)) places.c --polls=21
polls "none" 0 places.c --polls=none
polls "auto" 21 places.c

# A function that only its beginning polls in.
cat >beginning.c <<'END'
#include <stdio.h>
static double mean(const double *x) { double s = 0; for (int i = 0; i < 4; i++) s += x[i]; return s / 4; }
int main(void)
{
    const double x[4] = {1, 2, 3, 4};
    printf("%g\n", mean(x));
    return 0;
}
END
polls "0, at the beginning of mean" 1 beginning.c --polls=0

# By themselves: what is short does not poll, and what is long does, now and then.
cat >long.c <<'END'
#include <stdio.h>
#include <stdlib.h>
struct item { struct item *next; int n; };
static int weigh(const int *a, int x, int y) { int s = 0; for (int i = -1; i <= 1; i++) s += a[(x + i) & 63] * y; return s; }
static long length(const struct item *p) { long n = 0; while (p) { n += p->n; p = p->next; } return n; }
int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 1000, *a = calloc(64, sizeof(int));
    struct item *list = NULL;
    long s = 0;
    for (int i = 0; i < 64; i++)
        a[i] = i;
    for (int i = 0; i < 20000; i++) {
        struct item *p = malloc(sizeof *p);
        *p = (struct item){list, i};
        list = p;
    }
    for (int i = 0; i < 300; i++)
        for (int j = 0; j < n; j++)
            s += weigh(a, i, j);
    for (int i = 0; i < 10; i++)
        s += length(list);
    printf("%ld\n", s);
    return 0;
}
END
polls "a program of short functions" 20-400 long.c
"$cc" --emit-source -o long.i long.c
grep -q dome__fn_weigh long.i && fail "a function of a short loop polls"

# By a run: length is short beside what the loops of main do, if its interval is long enough.
"$cc" -O1 --polls=profile long.c -o counting || fail "--polls=profile"
./counting >out 2>err || fail "counting: $(head -2 err)"
[ -s counting.polls ] || fail "no counting.polls"
DOME_POLLS=again.polls ./counting >/dev/null && cmp -s <(grep -v ^run counting.polls) <(grep -v ^run again.polls) || fail "DOME_POLLS: other counts"
"$cc" -O1 --polls=counting.polls --max-interval=10s --max-overhead=50% --emit-source -o chosen.i long.c 2>said || fail "10s: $(cat said)"
grep -q dome__cc_poll chosen.i && grep -q 'dome__cc_poll())' chosen.i && fail "a program of some milliseconds polls within 10 s"
"$cc" -O1 --polls=counting.polls --max-interval=20us --max-overhead=90% long.c measure.o -Wl,--wrap=dome_capture_main -o chosen 2>said || fail "20us: $(cat said)"
DOME_MEASURE=polls ./chosen >out.chosen 2>err
cmp -s out out.chosen || fail "chosen: other output"
[ "$(sed -n 's/^polls //p' err)" -ge 20 ] || fail "20us: $(cat err)"
./chosen --dome-checkpoint-dir saved --dome-checkpoint-every 9 >out.chosen 2>err
cmp -s out out.chosen || fail "chosen, captured: other output: $(head -2 err)"
"$cc" -O1 --polls=counting.polls --max-interval=1us --max-overhead=0.001% long.c -o chosen 2>said && fail "what cannot be had is taken"
grep -q -- '--max-overhead=0.001%: polls that keep --max-interval would cost about' said || fail "infeasible: $(cat said)"

# What is wrong is said.
"$cc" --max-overhead=5% long.c -o none 2>said && fail "--max-overhead without a profile"
grep -q 'needs --polls=FILE' said || fail "without a profile: $(cat said)"
"$cc" --polls=nothing long.c -o none 2>said && fail "--polls=nothing"
grep -q 'cannot be read' said || fail "--polls=nothing: $(cat said)"
"$cc" --polls=long.c long.c -o none 2>said && fail "a profile of other content"
grep -q 'long.c:1: not a line of a profile' said || fail "other content: $(cat said)"
"$cc" --polls=counting.polls --max-interval=1 long.c -o none 2>said && fail "--max-interval=1"
grep -q 'a time, such as 1ms' said || fail "--max-interval=1: $(cat said)"
[ $failures = 0 ] && echo "polls are where they should be"
exit $((failures > 0))
