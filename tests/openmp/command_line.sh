#!/bin/bash
# dome-omp in place of gcc: its options, languages, odd names of files, what it makes of flushes, and what it says of mistakes.
. "$(dirname "$0")/../support/checks.bash"
cc=$DOME_BUILD_DIR/tools/dome-omp
[ -x "$cc" ] || skip "there is no dome-omp"
own_directory
export TMPDIR=$work/scratch
mkdir here "$TMPDIR" && cd here || exit 1
unset DOME_OMP_CC

# COMMAND...: succeeds, and says nothing on standard error
works() {
    "$@" >../out 2>../err || fail "$*: status $?: $(head -3 ../err)"
    [ ! -s ../err ] || fail "$*: says $(head -3 ../err)"
}

# TEXT COMMAND...: fails with one line that has the text
says() {
    local text=$1
    shift
    "$@" >../out 2>../err && fail "$*: succeeds"
    [ "$(wc -l <../err)" = 1 ] && grep -qF -- "$text" ../err || fail "$*: does not say \"$text\": $(head -3 ../err)"
}

# N ARGUMENT...: the object has N calls of dome_omp_flush
flushes() {
    local n=$1 calls
    shift
    works "$cc" -O1 -S "$@" -o flushes.s
    calls=$(grep -c 'call.*dome_omp_flush' flushes.s)
    [ "$calls" = "$n" ] || fail "$*: $calls calls of dome_omp_flush, not $n"
}

cat >flush.c <<'END_C'
#include "flush.h"
#include <stdio.h>
int a, b;
int main(void)
{
    const char *s = "x\
#pragma omp flush";
#pragma omp flush(a, \
                  b)
    FLUSH a = 3; /*
#pragma omp flush
    */
    # pragma  omp   flush acquire
#pragma omp parallel
#pragma omp flusher
    in_header();
    puts(s);
    return b UNKNOWN;
}
END_C
sed -i '/flusher/d' flush.c
cat >flush.h <<'END_C'
#define FLUSH _Pragma("omp flush")
static inline void in_header(void)
{
#pragma omp flush
}
END_C
flushes 4 -DUNKNOWN= flush.c
flushes 4 -DUNKNOWN= -pipe flush.c
flushes 4 -DUNKNOWN= -save-temps=obj -Wno-error flush.c
flushes 4 -x c -DUNKNOWN= - <flush.c
"$cc" -DUNKNOWN=+what -S flush.c -o flush.s 2>../err && fail "an error is not found"
grep -q 'flush.c:1[0-9]:.*what' ../err || fail "an error has another line: $(cat ../err)"
works "$cc" -DUNKNOWN= -MMD -MF flush.dep -c flush.c -o flush.o
grep -q '^flush.o: flush.c flush.h' flush.dep || fail "-MMD: $(cat flush.dep)"
cat >flush.cc <<'END_C'
#include <cstdio>
int main()
{
    int n = 1'000;
    const char *s = R"x(
#pragma omp flush
)"; )x";
#pragma omp flush
    std::puts(s);
    return n == 0;
}
END_C
flushes 1 flush.cc
flushes 0 -Dmain=main2 -x c /dev/null
printf 'void f(void) {\n#pragma omp flush(missing)\n}\n' >wrong.c
"$cc" -c wrong.c 2>../err && fail "a flush of nothing is not refused"
grep -q "wrong.c:2.*missing" ../err || fail "a flush of nothing: $(cat ../err)"

# as gcc does
mkdir 'a, b' && printf 'int one(void) { return 1; }\n' >"a, b/o n'e.c"
printf '#include <stdio.h>\n#include <dome/openmp.h>\nint one(void);\nint main(void) { printf("%%d\\n", one() + TWO); return 0; }\n' >main.c
printf '%s\n' '-DTWO=2 main.c' "\"a, b/o n'e.c\"" '-o "from file"' >arguments
works "$cc" @arguments
works ./"from file"
[ "$(cat ../out)" = 3 ] || fail "the program: $(cat ../out)"
readelf -d "from file" | grep -q 'NEEDED.*libdome-omp' || fail "the program is not linked with libdome-omp"
readelf -d "from file" | grep -q 'NEEDED.*libgomp' && fail "the program is linked with libgomp"
works "$cc" -c -flto -DTWO=2 main.c
works "$cc" -flto main.o "a, b/o n'e.c" -o with-lto
works "$cc" -print-prog-name=ld
works "$cc" -E main.c
works "$cc" --version
head -1 ../out | grep -q '^dome-omp [0-9.]*$' && grep -q "GNU Fortran" ../out && grep -q "Free Software Foundation" ../out || fail "--version: $(cat ../out)"
works "$cc" --show -c "a, b/o n'e.c"
eval "works $(sed 's/ -c / -S -o shown.s /' ../out)"
[ -s shown.s ] || fail "--show: not the command"
works env DOME_OMP_CC="gcc -O1" "$cc" --show main.c
grep -q '^gcc -O1 ' ../out || fail "DOME_OMP_CC: $(cat ../out)"
works "$cc" "--cc=env WORD=1 gcc -O1" -c main.c -DTWO=2
works env DOME_OMP_CC="env WORD=1 gcc" "$cc" -c main.c -DTWO=2
if command -v g++ >/dev/null; then
    printf '#include <vector>\nextern "C" int one(void) { return (int)std::vector<int>(1, 1).at(0); }\n' >one.cpp
    works "$cc" -c one.cpp
    works "$cc" -DTWO=2 main.c one.o -o cplusplus
    works ./cplusplus
    ar rc libone.a one.o
    works "$cc" -DTWO=2 main.c libone.a -o cplusplus
fi
if command -v gfortran >/dev/null; then
    mkdir -p part
    echo 'integer :: a = 1' >part/a.inc
    printf "program p\nimplicit none\ninclude 'a.inc'\n!\$omp flush(a, &\n!\$omp& a)\nprint *, a\nend program\n" >part/f.f90
    printf '#define FLUSH flush\n      program p\nc$omp flush\n      end\n' >g.F
    flushes 1 part/f.f90
    flushes 1 g.F
    works "$cc" -c part/f.f90
    works "$cc" f.o -o fortran
    works ./fortran
    sed -i 's/print \*, a/print *, a + b/' part/f.f90
    "$cc" -c part/f.f90 2>../err && fail "an error in Fortran is not found"
    grep -q 'f.f90:6' ../err || fail "an error in Fortran has another line: $(cat ../err)"
fi

# what cannot be
says "no input files" "$cc"
says "-static: libdome-omp is a shared library" "$cc" -static main.c
says "-pie: the program's data" "$cc" main.c -pie
says "-shared: data of a shared library" "$cc" -shared main.c
says "-fsanitize=address: " "$cc" -fsanitize=address main.c
says "--cc needs a value" "$cc" --cc main.c
says "cannot be run" "$cc" --cc=./nothing main.c
says "is an option of the program" "$cc" main.c --dome-tasks 4
printf '#include <pthread.h>\nvoid *f(void *p) { return p; }\nint main(void) { pthread_t t; return pthread_create(&t, 0, f, 0); }\n' >threads.c
"$cc" threads.c -o threads 2>../err || fail "threads.c is not linked"
grep -q '^dome-omp: threads: pthread_create: ' ../err && [ "$(wc -l <../err)" = 1 ] || fail "pthread_create: $(cat ../err)"
"$cc" -DTWO=2 main.c flush.o 2>/dev/null && fail "two functions main are linked"
left=$(ls "$TMPDIR")
[ -z "$left" ] || fail "files are left: $left"
# Each function of the C library that libdome-omp calls or takes the place of is hidden where a program has one of its name, but
# for the heap's, which a program may replace.
tr -s ' ;{}' '\n' <"$DOME_SOURCE_DIR/tools/dome-omp/names.map" | sort -u >hidden
c=$(ldconfig -p 2>/dev/null | sed -n 's/.*libc.so.6 (.*x86-64.*) => //p' | head -1)
if [ -n "$c" ]; then
    nm -D --defined-only "$c" | sed -n 's/.* [TWi] \([a-z][a-zA-Z0-9_]*\)@.*/\1/p' | sort -u >has
    nm -D "$DOME_BUILD_DIR/libdome-omp.so" | sed 's/@.*//' | awk '{print $NF}' | sort -u >uses
    missing=$(comm -12 has uses | comm -23 - hidden | grep -vxE 'malloc|free|calloc|realloc|reallocarray|memalign|aligned_alloc|posix_memalign|valloc|pvalloc|malloc_usable_size')
    [ -z "$missing" ] || fail "tools/dome-omp/names.map has not:" $missing
fi

finish
