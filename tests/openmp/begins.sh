#!/bin/bash
# How OpenMP programs begin and end: addresses that are the same at each start, arguments, constructors, statuses, and what is said
# where tasks differ.
. "$(dirname "$0")/../support/checks.bash"
cc=$DOME_BUILD_DIR/tools/dome-omp
dome=$DOME_BUILD_DIR/tools/dome
[ -x "$cc" ] || skip "there is no dome-omp"
own_directory

build() { # SOURCE PROGRAM ARGUMENT...
    "$cc" -O1 "$1" -o "$2" "${@:3}" 2>err || fail "$1 is not built: $(cat err)"
}

run() { # COMMAND...
    "$@" >out 2>err
    status=$?
}

# ---- addresses ----

cat >addresses.c <<'END_C'
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

__thread int own;

int main(int argc, char **argv)
{
    double (*f)(double) = argc > 100 ? cos : sin;
    int here;
    printf("%p %p %p %p %p %p %p\n", (void *)stdout, (void *)f, (void *)getenv, (void *)&here, (void *)&own, malloc(8),
           (void *)argv);
    return 0;
}
END_C
build addresses.c addresses -lm
export DOME_OPTIONS="--dome-tasks 1"
for k in $(seq 100); do
    ./addresses || fail "start $k: status $?"
done | sort | uniq -c >starts
[ "$(wc -l <starts)" = 1 ] && grep -q '^ *100 ' starts || fail "starts have other addresses: $(cat starts)"
./addresses >first
at() { # WHAT COMMAND...
    run "${@:2}"
    [ "$status" = 0 ] || fail "$1: status $status: $(cat err)"
    same "$1" first out
}
at "no limit of the stack" bash -c 'ulimit -s unlimited && exec ./addresses'
at "a large limit of the stack" bash -c 'ulimit -s 4000000000 && exec ./addresses'
at "a small limit of the stack" bash -c 'ulimit -s 1024 && exec ./addresses'
at "no environment" env -i DOME_OPTIONS="$DOME_OPTIONS" ./addresses
at "a large environment" env "LARGE=$(head -c 100000 /dev/zero | tr '\0' x)" ./addresses
at "a limit of descriptors" bash -c 'ulimit -n 32 && exec ./addresses'
at "another directory" bash -c 'cd / && exec "$OLDPWD/addresses"'
at "tunables" env GLIBC_TUNABLES=glibc.malloc.arena_max=1 ./addresses
(ulimit -s unlimited && ./addresses >/dev/null && bash -c 'ulimit -s' >out)
[ "$(cat out)" = unlimited ] || fail "the limit of the stack is $(cat out)"
bash -c 'ulimit -v 1000000 && exec ./addresses' >out 2>err
status=$?
refused "a limit of addresses" 126 "ulimit -v unlimited"
if setarch -L true 2>/dev/null; then
    run setarch -L ./addresses
    refused "memory from below" 126 "places memory from below"
fi

# ---- arguments, environment, statuses ----

cat >ends.cc <<'END_C'
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <vector>

static std::vector<std::string> names{"one", "two"};
static struct Noisy {
    Noisy() { std::cout << "begins\n"; }
    ~Noisy() { std::cout << "ends " << names.size() << "\n"; }
} noisy;

static void at_exit() { std::puts("at exit"); }

int main(int argc, char **argv)
{
    for (int k = 1; k < argc; k++)
        std::cout << argv[k] << (k + 1 < argc ? " " : "\n");
    const char *how = std::getenv("HOW");
    std::atexit(at_exit);
    names.push_back("three");
    try {
        throw std::runtime_error("caught");
    } catch (const std::exception &e) {
        std::cout << e.what() << std::endl;
    }
    if (how && !std::strcmp(how, "exit"))
        std::exit(3);
    if (how && !std::strcmp(how, "_exit")) {
        std::fflush(stdout);
        _exit(4);
    }
    if (how && !std::strcmp(how, "abort"))
        std::abort();
    if (how && !std::strcmp(how, "throw"))
        throw std::logic_error("nobody catches it");
    return how ? std::atoi(how) : 0;
}
END_C
command -v g++ >/dev/null || skip "no C++ compiler"
build ends.cc ends
printf 'begins\na b\ncaught\nat exit\nends 3\n' >whole
printf 'begins\na b\ncaught\n' >part
for tasks in 1 3; do
    export DOME_OPTIONS="--dome-tasks $tasks"
    for how in 0 5 exit; do
        run env HOW=$how ./ends a --dome-progress never b
        same "$tasks tasks, $how" whole out
        [ "$status" = "${how/exit/3}" ] && [ ! -s err ] || fail "$tasks tasks, $how: status $status: $(cat err)"
    done
    run env HOW=_exit ./ends a b
    same "$tasks tasks, _exit" part out
    [ "$status" = 4 ] && [ ! -s err ] || fail "$tasks tasks, _exit: status $status: $(cat err)"
    run env HOW=abort ./ends a b
    same "$tasks tasks, abort" part out
    [ "$status" != 0 ] || fail "$tasks tasks, abort: status 0"
    run env HOW=throw ./ends a b
    grep -q "nobody catches it" err && [ "$status" != 0 ] || fail "$tasks tasks, throw: status $status: $(cat err)"
done
unset DOME_OPTIONS
run "$dome" run -n 2 ./ends a b
same "dome run" whole out
[ "$status" = 0 ] && [ ! -s err ] || fail "dome run: status $status: $(cat err)"
ln -s ends linked
mkdir elsewhere
(cd elsewhere && ../linked a --dome-tasks 2 b) >out 2>err || fail "a link: $(cat err)"
same "a link, from another directory" whole out
if command -v gfortran >/dev/null; then
    cat >words.f90 <<'END_F'
program words
    integer k
    character(len=80) word
    do k = 1, command_argument_count()
        call get_command_argument(k, word)
        print '(a)', trim(word)
    end do
end program
END_F
    build words.f90 words
    run ./words a --dome-tasks 2 b
    [ "$(tr '\n' ' ' <out)" = "a b " ] && [ "$status" = 0 ] || fail "Fortran: $(cat out err)"
fi

printf '#include <dome/env.h>\nint main(int n, char **v) { return dome_finalize(dome_init(&n, &v)); }\n' >calls.c
build calls.c calls -I"$DOME_SOURCE_DIR/include"
for tasks in 1 2; do
    run ./calls --dome-tasks $tasks
    refused "dome_init, $tasks tasks" 2 "has its tasks already"
done

# ---- tasks that differ ----

cat >differs.c <<'END_C'
#include <stdio.h>

int counts[1000];

int main(void)
{
    printf("%d\n", counts[7]);
    return 0;
}
END_C
cat >differing.c <<'END_C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>

extern int counts[];

__attribute__((constructor)) static void before_all(void)
{
    if (getenv("DOME_JOIN") && getenv("WORD"))
        counts[7] = 5;
    if (getenv("DOME_JOIN") && getenv("LIBRARY"))
        dlopen("libutil.so.1", RTLD_NOW);
}
END_C
gcc -shared -fPIC differing.c -o libdiffering.so || fail "the library is not built"
build differs.c differs -Wl,--no-as-needed "$PWD/libdiffering.so" -rdynamic
run ./differs --dome-tasks 2
[ "$status" = 0 ] && [ "$(cat out)" = 0 ] || fail "tasks that do not differ: status $status: $(cat err)"
run env WORD=1 ./differs --dome-tasks 3
refused "a word differs" 1 "counts+24 differs before main"
run env LIBRARY=1 ./differs --dome-tasks 2
refused "a library more" 1 "libutil.so.1"
run env WORD=1 LIBRARY=1 ./differs --dome-tasks 1
[ "$status" = 0 ] || fail "one task: status $status: $(cat err)"

# ---- the environment: one task tells ----

cat >threads.c <<'END_C'
#include <stdio.h>

int main(void)
{
    int n = 0;
#pragma omp parallel reduction(+ : n)
    n++;
    printf("%d\n", n);
    return 0;
}
END_C
build threads.c threads
export OMP_NUM_THREADS=3
for tasks in 1 2 3; do
    run env OMP_SCHEDULE=any OMP_DISPLAY_ENV=true timeout -k 2 60 ./threads --dome-tasks $tasks
    [ "$status" = 0 ] && [ "$(cat out)" = 3 ] || fail "the environment, $tasks tasks: status $status: $(cat out err)"
    [ "$(grep -c "OMP_SCHEDULE=any is not understood" err)" = 1 ] && [ "$(grep -c "ENVIRONMENT BEGIN" err)" = 1 ] ||
        fail "the environment, $tasks tasks: not told once: $(cat err)"
done
run bash -c 'ulimit -d 1000000 && exec timeout -k 2 60 ./threads --dome-tasks 2'
[ "$status" = 1 ] && grep -q "the stack of thread 0 cannot be made: .*raise the limits on memory (ulimit -d" err ||
    fail "a limit of data: status $status: $(cat err)"
finish
