#!/bin/bash
# What the C library keeps from one call to the next is the same on all tasks; what it has for one task alone is named. Handlers of
# signals are there on all tasks. System calls reach memory that other tasks have changed.
. "$(dirname "$0")/../support/checks.bash"
cc=$DOME_BUILD_DIR/tools/dome-omp dome=$DOME_BUILD_DIR/tools/dome
[ -x "$cc" ] || skip "there is no dome-omp"
own_directory "a folder"
export OMP_NUM_THREADS=8

run() { # TASKS COMMAND...
    timeout -k 2 60 "$dome" run -n "$1" "${@:2}" >out 2>err
    status=$?
}

as_with_libgomp() { # SOURCE
    "$cc" -O1 "$1" -o "${1%.*}" 2>said || fail "$1 is not built: $(cat said)"
    gcc -fopenmp -O1 "$1" -o theirs && ./theirs >expected || fail "$1 with libgomp"
    for tasks in 1 2 3; do
        run $tasks ./"${1%.*}"
        [ $status = 0 ] && [ ! -s err ] || fail "$1, $tasks tasks: status $status: $(cat err)"
        same "$1, $tasks tasks" expected out
    done
}

# What a thread of any task changes of the process, all have behind a barrier.
cat >changed.c <<'END_C'
#define _GNU_SOURCE
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char seen[3][8][200];

static void look(char *to)
{
    char *directory = getcwd(NULL, 0), *slash = strrchr(directory, '/');
    const char *first = getenv("FIRST"), *second = getenv("SECOND"), *third = getenv("THIRD");
    sprintf(to, "%s %s %s in %s", first ? first : "-", second ? second : "-", third ? third : "-", slash + 1);
    free(directory);
}

static void show(int k)
{
    for (int t = 0; t < 8; t++)
        printf("%d: %s\n", t, seen[k][t]);
}

int main(void)
{
    char text[200];
    mkdir("inner", 0700);
    mkdir("inner/most", 0700);
    setenv("FIRST", "by main", 1);
#pragma omp parallel num_threads(8)
    {
        const int t = omp_get_thread_num();
        if (t == 5 && (setenv("FIRST", "by thread 5", 1) || setenv("SECOND", "new", 1) || chdir("inner")))
            puts("wrong");
#pragma omp barrier
        look(seen[0][t]);
#pragma omp barrier
        if (t == 0 && (setenv("FIRST", "by thread 0", 1) || unsetenv("SECOND") || chdir("most")))
            puts("wrong");
#pragma omp barrier
        look(seen[1][t]);
#pragma omp barrier
        if (t == 7 && putenv("THIRD=of thread 7"))
            puts("wrong");
    }
    look(text);
    puts(text);
    setenv("SECOND", "at last", 1);
#pragma omp parallel num_threads(8)
    look(seen[2][omp_get_thread_num()]);
    for (int k = 0; k < 3; k++)
        show(k);
    return chdir("../..");
}
END_C
as_with_libgomp changed.c

cat >kept.c <<'END_C'
#define _GNU_SOURCE
#include <dirent.h>
#include <omp.h>
#include <regex.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static char *keys[8] = {"a", "b", "c", "d", "e", "f", "g", "h"};
static void *root;
static int nodes;

static int compare(const void *a, const void *b)
{
    return strcmp(a, b);
}

static void look(const void *node, VISIT visit, int depth)
{
    (void)node, (void)depth;
    nodes += visit == postorder || visit == leaf;
}

int main(void)
{
    int found = 0, matched = 0, drawn = 0, words = 0;
    char text[] = "one two three four five six seven eight";
    regex_t expression;
    struct tm *times[8];
    struct dirent **names;
    if (!hcreate(100) || regcomp(&expression, "^(a|b)*c[0-9]+$", REG_EXTENDED))
        return 3;
    srand(42);
    srand48(7);
    strtok(text, " ");
#pragma omp parallel reduction(+ : drawn, matched)
    {
        const int me = omp_get_thread_num();
        char line[20];
        snprintf(line, sizeof line, "%s%d", me % 2 ? "abac" : "ab", me);
        matched += !regexec(&expression, line, 0, NULL, 0);
        for (int k = 0; k < 40; k++)
            drawn += rand() % 100;
#pragma omp critical
        {
            hsearch((ENTRY){keys[me], (void *)(long)(me + 10)}, ENTER);
            tsearch(keys[me], &root, compare);
            words += strtok(NULL, " ") != NULL;
            times[me] = gmtime(&(time_t){1000000000L * me});
            drawn += (int)(drand48() * 100);
        }
    }
    for (int k = 0; k < 8; k++)
        found += hsearch((ENTRY){keys[k], NULL}, FIND) != NULL && tfind(keys[k], &root, compare) != NULL;
    twalk(root, look);
    printf("found %d, nodes %d, matched %d, words %d, same time %d\n", found, nodes, matched, words, times[3] == times[7]);
    printf("drawn %d, then %d %ld\n", drawn, rand(), lrand48());
    int count = scandir("/", &names, NULL, alphasort), equal = 0;
#pragma omp parallel for reduction(+ : equal)
    for (int k = 0; k < count; k++)
        equal += names[k]->d_name[0] != 0;
    printf("names %d\n", equal == count);
    return 0;
}
END_C
as_with_libgomp kept.c

cat >order.c <<'END_C'
#include <omp.h>
#include <stdio.h>

static int order[1000], count;

int main(void)
{
#pragma omp parallel for
    for (int k = 0; k < 320; k++) {
#pragma omp critical
        order[count++] = omp_get_thread_num();
    }
    for (int k = 0; k < count; k++)
        printf("%d", order[k]);
    puts("");
    return 0;
}
END_C
"$cc" -O1 order.c -o order || fail "order.c is not built"
for tasks in 1 2 3; do
    run $tasks ./order
    [ $tasks = 1 ] && mv out expected || same "the order of sections, $tasks tasks" expected out
done

cat >calls.c <<'END_C'
#define _GNU_SOURCE
#include <fcntl.h>
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PART = 1 << 16 };

static char in[8 * PART], again[8 * PART], lines[8][100];
static struct stat about;
static volatile sig_atomic_t got[8];

static void note(int number)
{
    (void)number;
    got[omp_get_thread_num()]++;
}

int main(void)
{
    long sum = 0;
    int signals = 0;
    signal(SIGUSR1, note);
    signal(SIGPIPE, SIG_IGN);
#pragma omp parallel reduction(+ : sum, signals)
    {
        const int me = omp_get_thread_num(), next = (me + 1) % 8, fd = open("data", O_RDONLY);
        struct iovec parts[2] = {{in + me * PART, 1000}, {in + me * PART + 1000, PART - 1000}};
        sum += preadv(fd, parts, 2, (off_t)me * PART) == PART;
#pragma omp barrier
        sum += pread(fd, again + next * PART, PART, (off_t)next * PART) == PART;
        sum += in[next * PART + 7] == again[next * PART + 7];
        if (me == 7)
            sum += fstat(fd, &about) == 0;
        close(fd);
        snprintf(lines[me], sizeof lines[me], "exit %d", me);
#pragma omp barrier
        sum += WEXITSTATUS(system(lines[next]));
        int ends[2];
        sum += pipe(ends) == 0 && close(ends[0]) == 0 && write(ends[1], "x", 1) < 0;
        close(ends[1]);
        raise(SIGUSR1);
        signals += got[me];
    }
    printf("%ld %d %ld\n", sum, signals, (long)about.st_size);
    return 0;
}
END_C
head -c 524288 "$cc" >data
[ "$(stat -c %s data)" = 524288 ] || head -c 524288 /dev/urandom >data
as_with_libgomp calls.c

cat >folder.c <<'END_C'
#include <dirent.h>
#include <omp.h>
#include <stdio.h>

static DIR *folder;

int main(void)
{
#pragma omp parallel
    if (omp_get_thread_num() == 7)
        folder = opendir(".");
    printf("%d\n", readdir(folder) != NULL);
    return 0;
}
END_C
"$cc" -O1 folder.c -o folder 2>said || fail "folder.c is not built: $(cat said)"
for tasks in 1 2 3; do
    run $tasks ./folder
    if [ $tasks = 1 ]; then
        [ "$(cat out)" = 1 ] || fail "a folder of thread 7, 1 task: $(cat out err)"
    else
        grep -q "thread 0, on task 0, accesses .* which the C library has got for a call on task $((tasks - 1)), as for an open folder" err ||
            fail "a folder of thread 7, $tasks tasks: $(cat out err)"
    fi
done

# ---- the place in the sequence of random numbers is saved ----

cat >saved.c <<'END_C'
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(void)
{
    unsigned sum = 0;
    srand(5);
    srand48(5);
    for (int step = 0; step < 5; step++) {
#pragma omp parallel num_threads(4) reduction(+ : sum)
        sum += 1;
        sum = sum * 7 + (unsigned)rand() + (unsigned)lrand48();
        if (step == 3 && access("died", F_OK)) {
            close(creat("died", 0600));
            kill(getpid(), SIGKILL);
        }
    }
    printf("%u\n", sum);
    return 0;
}
END_C
touch died
as_with_libgomp saved.c
for tasks in "1 2" "2 1"; do
    rm -rf died saved.d
    run "${tasks% *}" ./saved --dome-checkpoint-dir saved.d --dome-checkpoint-every 1
    [ $status != 0 ] || fail "saved.c, $tasks tasks: it was not killed"
    run "${tasks#* }" ./saved --dome-checkpoint-dir saved.d --dome-restart
    [ $status = 0 ] || fail "saved.c, $tasks tasks: status $status: $(cat err)"
    same "random numbers after a restart, $tasks tasks" expected out
done
finish
