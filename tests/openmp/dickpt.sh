#!/bin/bash
# #pragma dickpt start, stop and save by dome-omp, in C and C++, and by dome-cc: files of what has changed, injected into another
# process; what is wrong is told with its line.
. "$(dirname "$0")/../support/checks.bash"
omp=$DOME_BUILD_DIR/tools/dome-omp cc=$DOME_BUILD_DIR/tools/dome-cc
[ -x "$omp" ] || skip "there is no dome-omp"
own_directory
unset DOME_OMP_CC
one=("$DOME_BUILD_DIR/tools/dome" run -n 1)

cat >save.c <<'END_C'
#include <dome/delta.h>
#include <stdio.h>
#define NOW(what) DO(dickpt what)
#define DO(what) _Pragma(#what)
static double x[3000];
static void fill(int first, int last)
{
    int k;
    for (k = first; k < last; k++)
        x[k] = k + 0.5;
}
int main(int argc, char **argv)
{
    const char *name = "second file";
    int k, set = 0;
    (void)argv, (void)name;
    dome_delta_memory(x, sizeof x, 8);
    if (argc > 1) {
        if (dome_delta_inject("first.1") || dome_delta_inject("second file"))
            puts(dome_delta_error());
    } else {
        fill(0, 10); /* in no file */
#pragma dickpt start
        fill(100, 200);
#pragma dickpt save first.1
        fill(300, 400);
  # pragma  dickpt   save "first.1"
        fill(1500, 1600);
        NOW(save (name))
        fill(2000, 2100);
#pragma dickpt stop
        fill(2500, 2600);
#pragma dickpt save late
    }
    for (k = 0; k < 3000; k++)
        set += x[k] != 0;
    printf("%d %g %g\n", set, x[350], x[1599]);
    return 0;
}
END_C
cp save.c save.cpp

# PROGRAM COMMAND...: it saves, started by the command, complains of the save behind the stop, and another process gets what was saved
saves() {
    local program=$1
    shift
    rm -f first.1 "second file" late
    timeout -k 2 60 "$@" "./$program" >out 2>err || fail "$program: status $?"
    [ "$(cat out)" = "510 350.5 1599.5" ] || fail "$program prints $(cat out)"
    grep -q "save.c[a-z]*:33: #pragma dickpt save: nothing is tracked" err && [ "$(wc -l <err)" = 1 ] || fail "$program says $(cat err)"
    [ ! -e late ] || fail "$program: a file of nothing"
    timeout -k 2 60 "$@" "./$program" inject >out 2>err || fail "$program inject: status $?: $(cat err)"
    [ "$(cat out)" = "300 350.5 1599.5" ] || fail "$program inject prints $(cat out)"
}

"$omp" -Wall -Werror save.c -o by-omp || fail "save.c by dome-omp"
saves by-omp "${one[@]}"
OMP_NUM_THREADS=2 timeout -k 2 60 "$DOME_BUILD_DIR/tools/dome" run -n 2 ./by-omp >out 2>err || fail "on 2 tasks: status $?"
grep -q "#pragma dickpt start: there is no memory to track" err || fail "on 2 tasks: $(cat err)"
"$omp" -Wall -Werror save.cpp -o by-cpp || fail "save.cpp by dome-omp"
saves by-cpp "${one[@]}"
if [ -x "$cc" ]; then
    "$cc" -Wall -Werror save.c -o by-cc || fail "save.c by dome-cc"
    saves by-cc
fi
printf 'int main(void)\n{\n#pragma dickpt begin\n    return 0;\n}\n' >wrong.c
for by in "$omp" "$cc"; do
    [ -x "$by" ] || continue
    "$by" wrong.c -o wrong 2>err && fail "${by##*/}: a directive that there is not"
    grep -q "wrong.c:3: error: #pragma dickpt begin: " err || fail "${by##*/}: $(cat err)"
done
printf 'int main(void)\n{\n#pragma dickpt save\n    return 0;\n}\n' >wrong.c
"$omp" wrong.c -o wrong 2>err && fail "a save without a file"
grep -q "wrong.c:3: error: #pragma dickpt save: " err || fail "a save without a file: $(cat err)"
if clang-14 --version >/dev/null 2>&1; then
    "$omp" --cc=clang-14 save.c -o by-clang 2>err && fail "clang ignores the directives"
    grep -q "save.c: #pragma dickpt needs gcc" err || fail "clang: $(cat err)"
fi
finish
