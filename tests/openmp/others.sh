#!/bin/bash
# OpenMP that dome-omp has not compiled: in libraries that are linked, needed by others or loaded later, and in objects. In libraries
# regions have one thread, so what they compute is right; both are named where a program is linked.
. "$(dirname "$0")/../support/checks.bash"
cc=$DOME_BUILD_DIR/tools/dome-omp
[ -x "$cc" ] || skip "there is no dome-omp"
own_directory
export OMP_NUM_THREADS=4

cat >library.c <<'END_C'
#include <omp.h>
#ifndef OURS
#define OURS 0
#endif

double sum(const double *x, int n)
{
    double s = 0;
#pragma omp parallel for reduction(+ : s)
    for (int k = 0; k < n; k++)
        s += x[k];
    return s;
}

static volatile int there[64];

/* Parts that wait for each other, as many as there are threads: OpenBLAS does so. */
int parts(void)
{
    const int n = OURS ? 1 : omp_get_max_threads();
    int seen = 0;
    for (int k = 0; k < n; k++)
        there[k] = 0;
#pragma omp parallel for num_threads(n) schedule(static) reduction(+ : seen)
    for (int k = 0; k < n; k++) {
        there[k] = 1;
        for (int j = 0; j < n; j++)
            while (!there[j])
                ;
        seen++;
    }
    return seen == n;
}

long by_tasks(void)
{
    static long made;
    made = 0;
    for (int k = 0; k < 40; k++) {
#pragma omp task firstprivate(k) shared(made)
        {
#pragma omp atomic
            made += k;
        }
    }
#pragma omp taskwait
    return made;
}
END_C
cat >outer.c <<'END_C'
double sum(const double *x, int n);
double sum_of(const double *x, int n) { return sum(x, n); }
END_C
cat >main.c <<'END_C'
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

double sum_of(const double *x, int n);
double sum(const double *x, int n);
int parts(void);
long by_tasks(void);

int main(void)
{
    enum { N = 100000 };
    double *x = malloc(N * sizeof *x), again[4];
    long made = 0;
#pragma omp parallel for
    for (int k = 0; k < N; k++)
        x[k] = k;
    printf("%g %d, %d threads\n", sum_of(x, N), parts(), omp_get_max_threads());
#pragma omp parallel
    {
        again[omp_get_thread_num()] = sum(x, 1000 * omp_get_thread_num());
#pragma omp single
        made = by_tasks();
    }
    printf("%g %ld\n", again[1] + again[2] + again[3], made);
    return 0;
}
END_C
printf '%s\n' "4.99995e+09 1, 4 threads" "6.997e+06 780" >expected

runs() { # PROGRAM
    for tasks in 1 2 3; do
        timeout -k 2 60 ./"$1" --dome-tasks $tasks >out 2>err || fail "$1, $tasks tasks: status $?: $(cat err)"
        [ ! -s err ] || fail "$1, $tasks tasks: $(cat err)"
        same "$1, $tasks tasks" expected out
    done
}

# TEXT...: what was said of the last link: a line with each of these and no other
said() {
    [ "$(wc -l <err)" = $# ] || fail "not $# lines: $(cat err)"
    for text; do
        grep -qF -- "$text" err || fail "'$text' is not in: $(cat err)"
    done
}

gcc -O1 -fopenmp -fPIC -shared library.c -o libinner.so && gcc -O1 -shared -fPIC outer.c -L. -linner -o libouter.so ||
    fail "the libraries are not built"
regions="its regions have one thread"
"$cc" -O1 main.c -L. -louter -linner -Wl,-rpath,"$work" -o linked 2>err || fail "linked: $(cat err)"
said "dome-omp: linked: libinner.so: a library that uses OpenMP: $regions"
runs linked
"$cc" -O1 main.c ./libouter.so ./libinner.so -Wl,-rpath-link,. -o named 2>err || fail "named: $(cat err)"
said "dome-omp: named: libinner.so: "
"$cc" -O1 -x c - -L. -louter -Wl,-rpath-link,. -o needed 2>err <<<'double sum_of(const double *, int); int main(void) { return (int)sum_of(0, 0); }' ||
    fail "needed: $(cat err)"
said "dome-omp: needed: libinner.so: "

cat >loads.c <<'END_C'
#include <dlfcn.h>
#include <stdio.h>

int main(void)
{
    double x[1000];
    void *library = dlopen("./libinner.so", RTLD_NOW);
    double (*sum)(const double *, int) = (double (*)(const double *, int))dlsym(library, "sum");
#pragma omp parallel for
    for (int k = 0; k < 1000; k++)
        x[k] = k;
    printf("%g\n", sum(x, 1000));
    return 0;
}
END_C
cp expected all && echo 499500 >expected
"$cc" -O1 loads.c -o loads 2>err || fail "loads: $(cat err)"
said "loads: dlopen: "
runs loads
mv all expected

foreign="made without dome-omp: its reductions and atomic operations are one task's; compile it with dome-omp"
gcc -O1 -fopenmp -c library.c -o foreign.o && ar rc libforeign.a foreign.o && gcc -O1 -fopenmp -flto -c library.c -o later.o || fail "objects"
gcc -c outer.c
for with in foreign.o libforeign.a later.o; do
    "$cc" -O1 main.c outer.o "$with" -o with 2>err || fail "$with: $(cat err)"
    said "dome-omp: with: $with: $foreign"
done
echo "main.c outer.o foreign.o -o with" >arguments
"$cc" @arguments 2>err || fail "arguments in a file: $(cat err)"
said "dome-omp: with: foreign.o: $foreign"
for how in -O1 -pipe -flto "-g3 -O0" -save-temps=obj -std=c11 -pg; do
    # shellcheck disable=SC2086
    "$cc" $how -DOURS -c library.c -o ours.o && "$cc" $how main.c outer.c ours.o -o ours 2>err || fail "$how: $(cat err)"
    [ ! -s err ] || fail "$how: $(cat err)"
    [ "$how" = -pg ] || runs ours
done
finish
