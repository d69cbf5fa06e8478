#!/bin/bash
# A program that is killed and goes on from its checkpoint, on as many tasks and on another number of them, still knows what stands
# around its regions: the team of a league, a taskgroup, variables; and its threads begin loops anew.
. "$(dirname "$0")/../support/checks.bash"
dome=$DOME_BUILD_DIR/tools/dome compile=$DOME_BUILD_DIR/tools/dome-omp
[ -x "$compile" ] || skip "dome-omp is not built"
own_directory
cat >program.c <<'END_C'
#include <fcntl.h>
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static void die_once(void)
{
    if (access("died", F_OK) == 0)
        return;
    close(creat("died", 0600));
    kill(getpid(), SIGKILL);
}

static long across(void)
{
    long a[9] = {0}, known = 0;
#pragma omp parallel num_threads(3) reduction(+ : known)
    {
#pragma omp for ordered(1) schedule(static, 1)
        for (int k = 1; k < 9; k++) {
#pragma omp ordered depend(sink : k - 1)
            a[k] = a[k - 1] + k;
#pragma omp ordered depend(source)
        }
        known = omp_get_max_active_levels() * 1000 + omp_get_max_teams() * 100 + omp_get_num_teams() * 10 + omp_get_team_num();
    }
    return a[8] * 100000 + known;
}

static void team(long *sum, int *teams)
{
#pragma omp taskgroup
    {
        for (int i = 0; i < 3; i++) {
            *sum += across();
            if (omp_get_team_num() == 1 && i == 1)
                die_once();
        }
#pragma omp task shared(teams)
        ++*teams;
    }
}

int main(void)
{
    long sum = 0, last = 0;
    int teams = 0;
    omp_set_max_active_levels(2);
    omp_set_num_teams(5);
#pragma omp teams num_teams(4) thread_limit(3) reduction(+ : sum, teams)
    team(&sum, &teams);
    last = across();
    printf("%ld %ld %d\n", sum, last, teams);
    return 0;
}
END_C
gcc -fopenmp -O2 program.c -o expected.x && touch died && ./expected.x >expected || fail "the program with libgomp"
"$compile" -O2 program.c -o program || fail "the program by dome-omp"
for tasks in "1 1" "2 2" "3 2" "1 3"; do
    read -r before after <<<"$tasks"
    rm -rf died saved
    timeout -k 2 60 "$dome" run -n "$before" ./program --dome-checkpoint-dir saved --dome-checkpoint-every 1 >out 2>err &&
        fail "on $before tasks: it has not been killed"
    timeout -k 2 60 "$dome" run -n "$after" ./program --dome-checkpoint-dir saved --dome-restart >out 2>err ||
        fail "on $before, then $after tasks: status $?: $(cat err)"
    grep -q "going on from" err || fail "on $before, then $after tasks: it does not go on: $(cat err)"
    same "on $before, then $after tasks" out expected
done
finish
