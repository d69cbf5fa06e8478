/* A Dome program that changes its number of tasks, for tests/start/elastic.py, or loses some, for tests/fault/heal.py.
 *
 *     elastic STEPS SLEEP-MS [SIZES] [MARKS] [VARIANT]
 *
 * SIZES: numbers of tasks, separated by commas: with each step dome_resize asks for the next one, around the end; "-": none.
 * MARKS: each task writes its pid into MARKS/rank.N when it has joined, and task 0 the step into MARKS/step.0. VARIANT "bare": no
 * object has a name; "endless": no loop boundary; "reads": prints a line of standard input; "splits": writes over its arguments;
 * "posts": a message is under way at each boundary; "posts-often": at most of them; "ends": task 0 sends SIGTERM to itself in
 * step 500, the only one at which it asks for a number; "hangs": task 1 does, before dome_init of the second view; "hurries":
 * sleeps only while there is a file MARKS/slow; "lingers": stays in its step while there is one; "shy": tasks that are started
 * while there is a file MARKS/shy end at once; "twice": makes a vector, frees it and makes it again; "ticks": has a timer;
 * "looks": ends at once where there is no file "here" in the directory in which a task begins, or no file "beside" the path by
 * which it was started; "other": its own structure has another length on task 1; "frail": tasks that are started while there is a
 * file MARKS/joins end when they have been given their place, those with MARKS/joined when they are connected, and those with
 * MARKS/waits wait there until it is gone, with a mark "waits"; it hurries, too. ELASTIC_DIE "RANK:POINT[:VIEWS]": the task kills
 * itself between this point and the next one, by a thread beside what it does there, in the first view, or in all up to this one.
 * Every call of the library is a point. Prints a line for every tenth step, and a number in which all state is. */
#include "../support/mark.h"

#include <dome/dome.h>
#include <dome/structure.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* ---- dying ---- */

static int die_at = -1;
static _Atomic int points;

static void *die(void *unused)
{
    while (points < die_at)
        ;
    kill(getpid(), SIGKILL);
    return unused;
}

/* A loss before the start is complete is answered by another start: until the hub knows that it is. */
static void settle(dome_env *env)
{
    if (!getenv("ELASTIC_DIE") || dome_epoch(env) > 0)
        return;
    dome_barrier(env);
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
}

/* rank: its own, or that it will have. */
static void prepare_to_die(int rank, uint64_t view)
{
    const char *text = getenv("ELASTIC_DIE");
    int who = -1, at = -1, views = 0;
    if (!text || sscanf(text, "%d:%d:%d", &who, &at, &views) < 2 || who != rank || view > (uint64_t)views)
        return;
    pthread_t thread;
    die_at = at;
    pthread_create(&thread, NULL, die, NULL);
}

/* A task does not pass the next point before it is killed: it may have been the last one. */
static void point(void)
{
    points++;
    while (die_at >= 0 && points > die_at)
        pause();
}

static int wanted(const char *sizes, int64_t step)
{
    int numbers[64], count = 0;
    for (const char *at = sizes; *at && count < 64; at += strcspn(at, ",") + (at[strcspn(at, ",")] != 0))
        numbers[count++] = atoi(at);
    return numbers[step % count];
}

/* A message from task 0 to the last one. */
static void post(dome_env *env, bool send)
{
    const int last = dome_size(env) - 1;
    int32_t word = 7;
    if (send && dome_rank(env) == 0)
        dome_send(env, last, 1, DOME_I32, &word, 1);
    else if (!send && dome_rank(env) == last)
        dome_recv(env, 0, 1, DOME_I32, &word, 1, NULL);
}

static uint64_t mix(uint64_t hash, const void *data, size_t bytes)
{
    const unsigned char *at = data;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ at[i]) * 1099511628211u;
    return hash;
}

static bool marked(const char *marks, const char *name)
{
    char path[4096 + 16];
    snprintf(path, sizeof path, "%s/%s", marks, name);
    return access(path, F_OK) == 0;
}

/* ---- newcomers that are lost while they join: in calls of the library ---- */

static const char *frail; /* MARKS; NULL: the task is none */

int chdir(const char *path)
{
    if (frail && marked(frail, "joins"))
        kill(getpid(), SIGKILL);
    if (frail && marked(frail, "waits"))
        mark(frail, "waits", 0, (long)getpid());
    while (frail && marked(frail, "waits"))
        usleep(10000);
    return (int)syscall(SYS_chdir, path);
}

ssize_t process_vm_readv(pid_t pid, const struct iovec *here, unsigned long n, const struct iovec *there, unsigned long m,
                         unsigned long flags)
{
    if (frail && marked(frail, "joined"))
        kill(getpid(), SIGKILL);
    return syscall(SYS_process_vm_readv, pid, here, n, there, m, flags);
}

/* Whether the program takes its time. */
static bool slow(const char *marks, const char *variant)
{
    return (strcmp(variant, "hurries") != 0 && strcmp(variant, "frail") != 0) || marked(marks, "slow");
}

static void hang(void)
{
    const char *view = getenv("DOME_VIEW");
    while (view && strstr(view, "\nrank=1\n"))
        pause();
}

/* As a program that reads its settings there. */
static void look(const char *path)
{
    char beside[4096];
    const char *end = strrchr(path, '/');
    snprintf(beside, sizeof beside, "%.*s/beside", end ? (int)(end - path) : 0, path);
    if (access("here", F_OK) != 0 || access(beside, F_OK) != 0)
        _exit(7);
}

/* ---- a structure whose tasks contradict each other ---- */

static dome_status other_describe(const dome_object *object, dome_object_info *info)
{
    *info = (dome_object_info){.size = sizeof *info, .type = DOME_F64, .width = 1, .distribution = DOME_WHOLE};
    info->length = dome_rank(dome_object_env(object)) == 1 ? 4 : 3;
    return DOME_OK;
}

static dome_status other_bytes(const dome_object *object, uint64_t first, uint64_t count, dome_format format, uint64_t *bytes)
{
    (void)object, (void)first, (void)count, (void)format;
    *bytes = 3 * sizeof(double);
    return DOME_OK;
}

static dome_status other_pack(const dome_object *object, uint64_t first, uint64_t count, dome_format format, void *buffer,
                              uint64_t bytes)
{
    (void)object, (void)first, (void)count, (void)format;
    memset(buffer, 0, bytes);
    return DOME_OK;
}

static dome_status other_unpack(dome_object *object, uint64_t first, uint64_t count, dome_format format, const void *buffer,
                                uint64_t bytes)
{
    (void)object, (void)first, (void)count, (void)format, (void)buffer, (void)bytes;
    return DOME_OK;
}

static void other_destroy(dome_object *object)
{
    (void)object;
}

static const dome_object_ops other_ops = {
    .size = sizeof(dome_object_ops),
    .kind = "other",
    .describe = other_describe,
    .packed_bytes = other_bytes,
    .pack = other_pack,
    .unpack = other_unpack,
    .destroy = other_destroy,
};

static void tick(int number)
{
    (void)number;
}

static void start_timer(void)
{
    const struct itimerval often = {{0, 3000}, {0, 3000}};
    signal(SIGALRM, tick);
    setitimer(ITIMER_REAL, &often, NULL);
}

int main(int argc, char **argv)
{
    if (argc > 5 && strcmp(argv[5], "hangs") == 0)
        hang();
    if (argc > 5 && strcmp(argv[5], "frail") == 0 && getenv("DOME_JOIN"))
        frail = marked(argv[4], "joins") || marked(argv[4], "joined") || marked(argv[4], "waits") ? argv[4] : NULL;
    if (argc > 5 && strcmp(argv[5], "looks") == 0)
        look(argv[0]);
    if (argc > 5 && strcmp(argv[5], "shy") == 0 && getenv("DOME_JOIN") && marked(argv[4], "shy"))
        _exit(3);
    dome_env *env = dome_init(&argc, &argv);
    settle(env);
    prepare_to_die(dome_rank(env), dome_epoch(env));
    point();
    int64_t steps = argc > 1 ? atoll(argv[1]) : 10;
    long sleep_ms = argc > 2 ? atol(argv[2]) : 0;
    const char *sizes = argc > 3 ? argv[3] : "-", *marks = argc > 4 ? argv[4] : "", *variant = argc > 5 ? argv[5] : "";
    if (strcmp(variant, "ticks") == 0)
        start_timer();
    const bool bare = strcmp(variant, "bare") == 0;
    const bool always = strcmp(variant, "posts") == 0, often = strcmp(variant, "posts-often") == 0,
               ends = strcmp(variant, "ends") == 0;
    if (strcmp(variant, "splits") == 0) {
        sizes = strdup(sizes);
        strtok(argv[3], ",");
    }
    dvec *x = dvec_new(env, bare ? NULL : "x", DOME_F64, 5000), *y = dvec_new(env, NULL, DOME_F64, 5000);
    if (strcmp(variant, "twice") == 0) {
        dvec_free(x);
        x = dvec_new(env, "x", DOME_F64, 5000);
    }
    point();
    dvec *w = dvec_new_with(env, bare ? NULL : "w", DOME_I32, 300, DVEC_OPTIONS(.distribution = DOME_WHOLE));
    dvec *m = dvec_new_with(env, bare ? NULL : "m", DOME_F32, 700, DVEC_OPTIONS(.distribution = DOME_BLOCK, .width = 3));
    dvec *empty = dvec_new(env, bare ? NULL : "empty", DOME_U16, 0);
    static char content;
    if (strcmp(variant, "other") == 0)
        dome_object_new(env, "pair", &other_ops, &content);
    point();
    dscalar *step = dscalar_new(env, bare ? NULL : "step", DOME_I64);
    if (!dome_is_restarting(env)) {
        dome_print(env, "begins\n");
        point();
        dvec_random(x, 7);
        dvec_fill(w, 1);
        dvec_fill(m, 0.5);
        dvec_set_shape(m, 3, (const uint64_t[]){70, 10, 3}); /* the next view has it again */
    }
    mark(marks, "rank", dome_rank(env), (long)getpid());
    while (strcmp(variant, "endless") == 0)
        sleep(1);
    int64_t k;
    while ((k = dscalar_get_i64(step)) < steps) {
        point();
        dvec_muls(y, x, 0.5);
        dvec_adds(x, y, (double)(k + 1) / 3);
        dvec_adds(w, w, (double)(k % 5));
        dvec_axpy(m, 1e-3 * (double)k, m);
        point();
        if (k % 10 == 0)
            dome_print(env, "step %" PRId64 ": %a\n", k, dvec_sum(x));
        if (slow(marks, variant))
            do
                nanosleep(&(struct timespec){.tv_sec = sleep_ms / 1000, .tv_nsec = sleep_ms % 1000 * 1000000}, NULL);
            while (strcmp(variant, "lingers") == 0 && marked(marks, "slow"));
        point();
        dscalar_set_i64(step, k + 1);
        if (dome_rank(env) == 0)
            mark(marks, "step", 0, (long)k + 1);
        if (sizes[0] != '-' && (!ends || k == 500))
            dome_resize(env, wanted(sizes, k));
        if (ends && k == 500 && dome_rank(env) == 0)
            raise(SIGTERM);
        const bool posts = always || (often && k % 4 < 3);
        if (posts)
            post(env, true);
        point();
        dome_checkpoint(env);
        if (posts)
            post(env, false);
    }
    uint64_t hash = 14695981039346656037u;
    point();
    hash = mix(hash, dvec_allgather(x), 5000 * sizeof(double));
    uint64_t shape[DOME_MAX_DIMENSIONS];
    hash = mix(hash, shape, (size_t)dvec_shape(m, shape) * sizeof *shape);
    hash = mix(hash, dvec_allgather(w), 300 * sizeof(int32_t));
    point();
    hash = mix(hash, dvec_allgather(m), 2100 * sizeof(float));
    point();
    dome_print(env, "after %" PRId64 " steps: %016" PRIx64 "\n", k, hash);
    if (getenv("ELASTIC_SHOW"))
        fprintf(stderr, "view %" PRIu64 ", %d tasks, task %d\n", dome_epoch(env), dome_size(env), dome_rank(env));
    dvec_free(empty);
    return dome_finalize(env);
}
