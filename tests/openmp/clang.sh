#!/bin/bash
# dome-omp with clang: its command, what it refuses, and that all constructs print what they do with gcc and libgomp.
. "$(dirname "$0")/../support/checks.bash"
cc=$DOME_BUILD_DIR/tools/dome-omp dome=$DOME_BUILD_DIR/tools/dome clang=clang-14
[ -x "$cc" ] || skip "there is no dome-omp"
command -v $clang >/dev/null || skip "there is no $clang"
[ -f "$($clang -print-file-name=include/omp.h)" ] || skip "$clang has no omp.h"
own_directory
unset DOME_OMP_CC

# COMMAND...: succeeds, and says nothing on standard error
works() {
    "$@" >out 2>err || fail "$*: status $?: $(head -3 err)"
    [ ! -s err ] || fail "$*: says $(head -3 err)"
}

# TEXT COMMAND...: fails with one line that has the text
says() {
    local text=$1
    shift
    "$@" >out 2>err && fail "$*: succeeds"
    [ "$(wc -l <err)" = 1 ] && grep -qF -- "$text" err || fail "$*: does not say \"$text\": $(head -3 err)"
}

cat >sum.c <<'END_C'
#include <omp.h>
#include <stdatomic.h>
#include <stdio.h>
int one(void);
static double sum;
static atomic_int count;
int main(void)
{
#pragma omp parallel for
    for (int k = 0; k < 100; k++) {
#pragma omp atomic
        sum += 0.5 * k;
        count += one();
    }
#pragma omp flush
    printf("%g %d %d\n", sum, count, omp_get_max_threads());
    return 0;
}
END_C
printf 'int one(void) { return 1; }\n' >one.c
cat >pair.cpp <<'END_C'
#include <atomic>
#include <vector>
static std::atomic<long> all;
extern "C" int one(void) { std::vector<int> v(3, 1); return all.fetch_add(1) >= 0 ? v[2] : 0; }
END_C

# Each atomic operation is a call, and nothing else of ThreadSanitizer's is there.
works "$cc" --cc=$clang -O2 -S sum.c
grep -q '__tsan_atomic64_compare_exchange_val' sum.s || fail "the atomic update of a double is no call"
grep -q '__tsan_atomic32_fetch_add' sum.s || fail "the update of an atomic_int is no call"
grep -Eq '\block\b|__tsan_(read|write|func)' sum.s && fail "sum.s: $(grep -E '\block\b|__tsan_(read|write|func)' sum.s | head -2)"
works "$cc" --cc=$clang -c -O2 sum.c
works "$cc" --cc=$clang -c one.c
works "$cc" --cc=$clang sum.o one.o -o sum
works "$cc" --cc="$clang -g" -fopenmp -O1 sum.c pair.cpp -o sum2
works env DOME_OMP_CC=$clang "$cc" -fopenmp=libomp -flto sum.c one.c -osum3
works "$cc" sum.o one.c -o sum4 # gcc links what clang has compiled
for program in sum sum2 sum3 sum4; do
    readelf -d $program | grep -q 'NEEDED.*lib\(omp\|gomp\|tsan\)' && fail "$program: another library is linked"
    for n in 1 2; do
        OMP_NUM_THREADS=5 works timeout -k 2 60 "$dome" run -n $n ./$program
        [ "$(cat out)" = "2475 100 5" ] || fail "$program on $n tasks: $(cat out)"
    done
done
works "$cc" --cc=$clang -E sum.c
works "$cc" --cc=$clang --show -O3 sum.c one.c -o shown
eval "works $(cat out)"
OMP_NUM_THREADS=5 works ./shown
[ "$(cat out)" = "2475 100 5" ] || fail "--show: not the command"
printf '#include <pthread.h>\nvoid *f(void *p) { return p; }\nint main(void) { pthread_t t; return pthread_create(&t, 0, f, 0); }\n' >threads.c
"$cc" --cc=$clang threads.c -o threads 2>err || fail "threads.c is not linked"
grep -q '^dome-omp: threads: pthread_create: ' err && [ "$(wc -l <err)" = 1 ] || fail "pthread_create: $(cat err)"
printf 'int main(void) { return missing; }\n' >wrong.c
"$cc" --cc=$clang wrong.c -o wrong 2>err && fail "an error is not found"
grep -q 'wrong.c:1.*missing' err || fail "an error: $(cat err)"

printf '#!/bin/sh\necho "clang version 16.0.6"\n' >clang-16
printf '#!/bin/sh\necho "pcc 1.2"\n' >pcc
chmod +x clang-16 pcc
says "clang 16, which is not known to call a function for each atomic operation" "$cc" --cc=./clang-16 one.c
says "neither a GNU compiler nor clang" "$cc" --cc=./pcc one.c
echo end >f.f90
says "f.f90: clang compiles no Fortran" "$cc" --cc=$clang f.f90
says "-fnoopenmp-use-tls: " "$cc" --cc=$clang -fnoopenmp-use-tls one.c
says "-fsanitize=thread: " "$cc" --cc=$clang -fsanitize=thread one.c

OPENMP_CC=$clang "$DOME_SOURCE_DIR/tests/openmp/constructs.sh" || fail "constructs"
finish
