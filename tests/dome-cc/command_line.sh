#!/bin/bash
# dome-cc in place of the compiler: its options, files of other languages, and what it says of mistakes.
. "$(dirname "$0")/../support/checks.bash"
cc=$DOME_BUILD_DIR/tools/dome-cc
[ -x "$cc" ] || { echo "skipped: there is no dome-cc"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export TMPDIR=$work/scratch
mkdir "$work/here" "$TMPDIR" && cd "$work/here" || exit 1

# COMMAND...: succeeds, and says nothing
works() {
    "$@" >"$work/out" 2>"$work/err" || fail "$*: status $?: $(head -3 "$work/err")"
    [ ! -s "$work/err" ] || fail "$*: says $(head -3 "$work/err")"
}

# TEXT COMMAND...: fails with one line that has the text
says() {
    local text=$1
    shift
    "$@" >"$work/out" 2>"$work/err" && fail "$*: succeeds"
    [ "$(wc -l <"$work/err")" = 1 ] && grep -qF -- "$text" "$work/err" || fail "$*: does not say \"$text\": $(head -3 "$work/err")"
}

cat >main.c <<'END'
#include "sum.h"
#include <stdio.h>
int one(void);
int main(void)
{
    printf("%d\n", sum(START) + one());
    return 0;
}
END
cat >sum.c <<'END'
#include "sum.h"
int sum(int n)
{
    int s = 0;
    for (int i = 0; i < n; i++)
        s += i;
    return s;
}
END
echo 'int sum(int n);' >sum.h
echo 'int one(void) { return 1; }' >one.c
cp main.c main.cpp
mkdir folder
printf '%s\n' '-DSTART=5 main.c' '"sum.c" one.o' '-o from-file' >arguments

# as the compiler does
works "$cc" -MMD -MP -MF one.dep -c one.c
grep -q '^one.o: one.c' one.dep || fail "-MF: no rule"
works "$cc" -MD -DSTART=5 main.c sum.c one.o -o with-dependencies
works "$cc" -DSTART=5 -c main.c sum.c
works "$cc" -lm main.o sum.o one.o -o program
works ./program
[ "$(cat "$work/out")" = 11 ] || fail "program: $(cat "$work/out")"
works "$cc" @arguments
works ./from-file
works "$cc" -x c -DSTART=5 -pthread -fsanitize=undefined -g main.c sum.c one.c -o sanitized
works ./sanitized
works "$cc" -S one.c -o one.s
sed -i 's/#.*//' one.s
rm one.o
works "$cc" -c one.s
works "$cc" main.o sum.o one.o -o program
works "$cc" main.o sum.o one.s -o program
works ./program
works "$cc" -save-temps main.o sum.c one.c -o program
for files in "" "main.o sum.c one.c -o program"; do
    "$cc" -v $files >"$work/out" 2>&1 || fail "-v $files: status $?"
    grep -q ' version ' "$work/out" || fail "-v $files: no version"
done
nm program | grep -q dome_capture || fail "-v: the program is not translated"
works "$cc" -fsyntax-only one.c
works "$cc" -E one.c
works "$cc" -print-prog-name=ld
mkdir 'a folder' && cp one.c 'a folder/o n e.c'
works "$cc" main.o sum.o 'a folder/o n e.c' -o 'a folder/program'
works "./a folder/program"

# as configure scripts ask: for a function, by a wrong declaration of it; and for blocks of no bytes
for name in malloc calloc realloc free strdup strndup fopen freopen fclose getline getdelim asprintf vasprintf rand srandom strtok \
    atexit signal sigaction; do
    printf 'char %s();\nint main(void)\n{\n    return %s();\n}\n' $name $name >asked.c
    works "$cc" -w asked.c -o asked
done
cat >empty.c <<'END'
#include <stdlib.h>
struct pair { struct pair *next; int n; };
int main(void)
{
    void *p = malloc(0), *q = realloc(NULL, 0), *r = realloc(0, 0);
    int bad = !p || !q || !r;
    free(p);
    free(q);
    r = realloc(r, sizeof(struct pair));
    free(r);
    return bad;
}
END
works "$cc" empty.c -o empty
works ./empty

# pragmas of dome-cc's own are known, also in headers and macros; others the compiler names
cat >own.h <<'END'
#define HOLD _Pragma("dome hold")
END
cat >own.c <<'END'
#include "own.h"
#include <stdio.h>
#pragma dome numbers
static unsigned long seed = 5;
HOLD
static int slow(int n) { while (n > 3) n -= 3; return n; }
int main(void)
{
#pragma dome nopoll
    for (int i = 0; i < 3; i++) seed += (unsigned long)slow(i);
    printf("%lu\n", seed);
    return 0;
}
END
works "$cc" -Wall -Wextra -Werror -pedantic-errors -std=gnu11 own.c -o own
works "$cc" -Wall -Wextra -Werror -c own.c
works ./own
[ "$(cat "$work/out")" = 8 ] || fail "own: $(cat "$work/out")"
printf '#pragma strange\nint main(void) { return 0; }\n' >strange.c
"$cc" -Wall strange.c -o strange 2>"$work/err" || fail "strange: $(cat "$work/err")"
grep -q 'Wunknown-pragmas' "$work/err" || fail "a strange pragma: $(cat "$work/err")"

# what it makes has no warnings of its own, and is no longer than its text where it replaces a file
"$cc" --polls=every --emit-source -o made.c sum.c && gcc -Wall -Wextra -Werror -c made.c -o made.o || fail "a translation has warnings"
cp made.c first.c
yes 'int a_longer_file;' | head -100000 >made.c
"$cc" --polls=every --emit-source -o made.c sum.c
cmp -s made.c first.c || fail "a translation that replaces a longer file"

# threads of OpenMP: where they are asked for they are refused, else the compiler leaves the pragmas out, and so does dome-cc
cat >threads.c <<'END'
#include <stdio.h>
#define PARALLEL(...) _Pragma(#__VA_ARGS__)
int main(void)
{
    int sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 10; i++) sum += i;
PARALLEL(omp parallel num_threads(2) reduction(+ : sum))
    sum++;
#pragma omp simd
    for (int i = 0; i < 10; i++) sum += i;
    printf("%d\n", sum);
    return 0;
}
END
works "$cc" threads.c -o threads
works ./threads
[ "$(cat "$work/out")" = 91 ] || fail "threads: $(cat "$work/out")"
for command in "-fopenmp threads.c -o refused" "-fopenmp -c threads.c"; do
    "$cc" $command 2>"$work/err" && fail "$command: succeeds"
    grep -q 'threads.c:6: error: dome-cc: #pragma omp parallel for.*: leave out -fopenmp' "$work/err" || fail "$command: $(cat "$work/err")"
    [ "$(grep -c 'error: dome-cc' "$work/err")" = 2 ] || fail "$command: $(cat "$work/err")"
done
works "$cc" -fopenmp own.c -o own
works "$cc" -fopenmp-simd threads.c -o threads

# mistakes
echo 'int main(void) { return 0; }' >whole.c
for static in -static -static-pie; do
    [ -e "$DOME_BUILD_DIR/libdome.a" ] || says 'error: -static: there is no ' "$cc" $static whole.c -o no
done
says 'main.cpp: C++ is not translated' "$cc" main.cpp sum.c -o program
says 'main.cpp: C++ is not translated' "$cc" -c main.cpp
says '-x c++: only C is translated' "$cc" -x c++ main.c
says '-: the program must be in a file' "$cc" -x c -
says '-shared: only whole C programs are translated' "$cc" -shared sum.c -o libsum.so
says 'missing.o: there is no such file' "$cc" main.o missing.o
says 'folder is a folder' "$cc" main.o folder
says 'none of the translated files has main' "$cc" sum.c one.c
says 'no input files' "$cc" -O2
says '-o needs the name of a file' "$cc" main.o -o
says 'one -o and several files' "$cc" -c -o both.o sum.c one.c
says 'no-such-compiler cannot be run' "$cc" --cc=no-such-compiler one.c
says '--polls=no-such-file: not auto' "$cc" --polls=no-such-file main.o sum.o one.o
says '--polls needs a value in the same word: --polls=auto' "$cc" --polls auto main.o
says '--cc=: a command' "$cc" --cc= one.c
says '--cc="gcc: a command' "$cc" '--cc="gcc' one.c
says '-I needs a value' "$cc" whole.c -I
says '-l needs a value' "$cc" whole.c -l
says '--dome-checkpoint-dir is an option of the program' "$cc" --dome-checkpoint-dir saved whole.c
cc -E whole.c -o whole.i
says 'whole.i: give dome-cc the C file' "$cc" -c whole.i
cp whole.c whole.txt
says 'whole.txt: the name of a C file must end in .c' "$cc" -x c whole.txt -o no
says 'missing.o: there is no such file' "$cc" -c whole.c missing.o
"$cc" -c whole.c one.o 2>"$work/err" || fail "-c with an object: status $?"
grep -q 'warning: one.o: not used' "$work/err" || fail "-c with an object: $(head -1 "$work/err")"
printf '#!/bin/sh\ncase "$*" in *-fsyntax-only*) kill -9 $$ ;; esac\nexec cc "$@"\n' >dies && chmod +x dies
says './dies was ended by signal 9' "$cc" --cc=./dies whole.c -o no
"$cc" -c missing.c 2>"$work/err" && fail "-c missing.c succeeds"
grep -q 'missing.c: No such file' "$work/err" || fail "-c missing.c: $(head -1 "$work/err")"
"$cc" -O2 -DSTART=5 main.c -o undefined 2>"$work/err" && fail "a program without one of its functions is linked"
grep -q '^main.c:.* undefined reference' "$work/err" || fail "an undefined reference does not name main.c: $(head -3 "$work/err")"

# programs that were compiled for a library whose modules had less, or have more
"$cc" --emit-source whole.c -o whole.i || fail "--emit-source: status $?"
for size in 'sizeof(struct dome__cc_module) - 2 * sizeof(void *)' 'sizeof(struct dome__cc_module) + sizeof(void *)'; do
    sed "s/dome__module = {sizeof(struct dome__cc_module),/dome__module = {$size,/" whole.i >other.i
    cmp -s whole.i other.i && fail "the module's size is not where it was"
    works cc other.i one.o sum.o -L"$DOME_BUILD_DIR" -Wl,-rpath,"$DOME_BUILD_DIR" -ldome -o other
    says 'another version of this library: compile it again with dome-cc (the description of whole.c has' ./other
done

[ -z "$(ls "$TMPDIR")" ] || fail "temporary files remain: $(cd "$TMPDIR" && find . | head -5)"
[ $failures = 0 ] && echo "dome-cc takes the compiler's options, and says what is wrong"
exit $((failures > 0))
