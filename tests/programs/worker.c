/* A Dome program for the fault tests: it goes to a place named on the command line and stays there, or does something wrong.
 *
 *     worker MARKS RANK PLACE [ARGUMENT]
 *
 * Every task writes MARKS/rank.N (its pid) once it has joined, and MARKS/there.N just before it is where it should be. RANK is
 * the task that differs from the others where one does. */
#include <dome/dome.h>
#include <dome/structure.h>

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *marks;

static void mark(const char *name, int number)
{
    char path[4096], made[4096 + 16];
    snprintf(path, sizeof path, "%s/%s.%d", marks, name, number);
    snprintf(made, sizeof made, "%s.new", path);
    FILE *file = fopen(made, "w");
    if (!file || fprintf(file, "%d\n", (int)getpid()) < 0 || fclose(file) || rename(made, path)) {
        fprintf(stderr, "worker: cannot write %s\n", path);
        _exit(9);
    }
}

/* Whether the test has let this program go on. */
static bool is_told(void)
{
    char go[4096];
    snprintf(go, sizeof go, "%s/go", marks);
    return access(go, F_OK) == 0;
}

static void sleep_ms(long ms)
{
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

static void compute(double seconds)
{
    volatile double x = 1;
    for (double until = dome_wtime() + seconds; dome_wtime() < until;)
        for (int i = 0; i < 1000; i++)
            x = x * 0.999 + 0.001;
}

/* As if it computed, without taking the processor from others: a wait for what the test does. */
static void stay(double seconds)
{
    for (double until = dome_wtime() + seconds; dome_wtime() < until;)
        sleep_ms(2);
}

static void slow_kernel(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    double *y = out;
    (void)first;
    (void)in;
    compute(*(double *)ctx);
    for (size_t i = 0; i < count; i++)
        y[i] = 1;
}

/* Collectives of all kinds, chosen alike by all tasks. */
static void mixed(dome_env *env, dvec *x, dvec *y, dvec *index, unsigned seed)
{
    double value = 3;
    for (;;) {
        seed = seed * 1103515245u + 12345u;
        switch (seed >> 16 & 7) {
        case 0:
            dome_barrier(env);
            break;
        case 1:
            dome_bcast(env, (int)(seed >> 20) % dome_size(env), DOME_F64, &value, 1);
            break;
        case 2:
            dvec_adds(x, x, 1);
            dvec_sum(x);
            break;
        case 3:
            dvec_roll(y, x, 100);
            break;
        case 4:
            dvec_gather(y, x, index);
            break;
        case 5:
            dvec_scan(y, x);
            break;
        case 6:
            dvec_allgather(x);
            break;
        default:
            dvec_argmax(y, &(uint64_t){0});
            break;
        }
    }
}

/* Much data, which --dome-balance random sends around all the time. */
static void move(dome_env *env)
{
    enum { VECTORS = 3, LENGTH = 1000000 };
    dvec *v[VECTORS];
    for (int k = 0; k < VECTORS; k++)
        dvec_iota(v[k] = dvec_new(env, NULL, DOME_F64, LENGTH));
    dome_barrier(env);
    mark("there", dome_rank(env));
    for (;;)
        dome_barrier(env);
}

/* Tasks exchange data with their neighbours alone, or with none. Each is slow in turn, so that data moves often. steps: negative:
 * without end.
 */
static void neighbours(dome_env *env, dvec *x, dvec *y, bool halos, int steps)
{
    for (int k = 0; k != steps; k++) {
        dvec_halo_span halo[2];
        double seconds = k / 30 % dome_size(env) == dome_rank(env) ? 1e-4 : 2e-5; /* for each of some hundred blocks */
        if (halos)
            dvec_halo_elements(x, 1, 1, true, halo);
        dvec_map(y, slow_kernel, &seconds, 1, &x);
    }
}

static volatile int *nowhere;

static int overflow(int depth)
{
    volatile char room[1024];
    room[depth % 1024] = (char)depth;
    return depth < 0 ? 0 : overflow(depth + 1) + room[0];
}

static void own_handler(int number)
{
    _exit(number + 20);
}

static int wrong_number(int signal_number)
{
    raise(signal_number);
    return 0;
}

/* Blocks of task 0 take long: the others compute some. What happens in another task's block: "crash", "call", else nothing. */
enum { HELPED = 512 };

typedef struct helped_work {
    uint64_t dear; /* elements of task 0 */
    const char *what;
    dvec *x;
} helped_work;

static int this_rank;

static void helped_kernel(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    const helped_work *w = ctx;
    (void)in;
    memset(out, 0, count * sizeof(double));
    if (first >= w->dear)
        return;
    sleep_ms(3);
    if (this_rank != 0 && strcmp(w->what, "crash") == 0)
        raise(SIGSEGV);
    if (this_rank != 0 && strcmp(w->what, "call") == 0)
        dvec_sum(w->x);
}

static void help(dome_env *env, const char *what, bool other, dvec *x)
{
    dvec *z = dvec_new_with(env, "z", DOME_F64, HELPED, DVEC_OPTIONS(.distribution = DOME_BLOCK));
    helped_work w = {HELPED / (uint64_t)dome_size(env), what, x};
    this_rank = dome_rank(env);
    if (other)
        dome_barrier(env);
    for (;;)
        dvec_map_anywhere(z, helped_kernel, &w, 0, NULL);
}

/* What one task does otherwise than the rest: "they disagree". */
static void disagree(dome_env *env, bool other, const char *how, dvec *x, dvec *y)
{
    dscalar *s = dscalar_new(env, "s", DOME_F64);
    dome_barrier(env);
    mark("there", dome_rank(env));
    if (strcmp(how, "operation") == 0) {
        if (other)
            dvec_sum(x);
        else
            dome_barrier(env);
    } else if (strcmp(how, "object") == 0) {
        dvec_sum(other ? x : y);
    } else if (strcmp(how, "order") == 0) {
        dvec_sum(other ? x : y);
        dvec_sum(other ? y : x);
    } else if (strcmp(how, "argument") == 0) {
        dvec_fill(x, other ? 1 : 2);
        dvec_sum(x);
    } else if (strcmp(how, "root") == 0) {
        double value = 0;
        dome_bcast(env, other ? 0 : 1, DOME_F64, &value, 1);
    } else if (strcmp(how, "count") == 0) {
        double values[2] = {0};
        dome_bcast(env, 0, DOME_F64, values, other ? 1 : 2);
    } else if (strcmp(how, "reduction") == 0) {
        dome_allreduce(env, DOME_F64, &(double){1}, 1, other ? DOME_MAX : DOME_SUM);
    } else if (strcmp(how, "type") == 0) {
        dome_allgather(env, other ? DOME_I32 : DOME_F64, &(double){1}, 1, (double[16]){0});
    } else if (strcmp(how, "gather") == 0) {
        if (other)
            dome_gather(env, 0, DOME_F64, &(double){1}, 1, (double[16]){0});
        else
            dome_allgather(env, DOME_F64, &(double){1}, 1, (double[16]){0});
    } else if (strcmp(how, "pending") == 0) { /* one task does not ask for a value that all have to ask for */
        dvec_sum_into(s, x);
        if (!other)
            dscalar_get_f64(s);
        dome_barrier(env);
    } else if (strcmp(how, "scalar") == 0) {
        dscalar_set_f64(s, other ? 1 : 2);
        dome_barrier(env);
    } else if (strcmp(how, "more") == 0) {
        if (other)
            dome_barrier(env);
        dvec_sum(x);
    } else if (strcmp(how, "more-deferred") == 0) {
        if (other)
            dvec_adds(x, x, 1);
        dvec_sum(x);
    } else if (strcmp(how, "structure") == 0) {
        dome_operation_code code = dome_operation_register(env, "ledger_add", "entry:u amount:f", DOME_OPERATION_MOVES);
        uint64_t words[] = {7, dome_operation_f64_word(other ? 1.5 : 2)};
        dome_operation_end(dome_operation_begin(env, code, dvec_object(x), words, 2), DOME_OK);
        dome_barrier(env);
    } else if (strcmp(how, "create") == 0) {
        dvec_new(env, other ? "a" : "b", DOME_F64, 10);
        dome_barrier(env);
    } else if (strcmp(how, "length") == 0) {
        dvec_new(env, "a", DOME_F64, other ? 10 : 11);
        dome_barrier(env);
    } else if (strcmp(how, "input") == 0) {
        dvec_copy(x, other ? x : y);
        dome_barrier(env);
    } else if (strcmp(how, "value") == 0) {
        dvec_fill_value(x, &(double){other ? 1 : 2});
        dome_barrier(env);
    } else if (strcmp(how, "neighbours") == 0 || strcmp(how, "maps") == 0) { /* no collective finds it */
        const bool halos = *how == 'n';
        neighbours(env, x, y, halos, 10);
        if (other)
            dvec_fill(x, 1);
        neighbours(env, x, y, halos, -1);
    } else if (strcmp(how, "help") == 0) {
        help(env, "", other, x);
    } else if (strcmp(how, "freed") == 0) { /* both have only names by then */
        dvec_mul(x, y, y);
        dvec_free(other ? x : y);
        dome_barrier(env);
    } else if (strcmp(how, "before") == 0) { /* calls that agree come between */
        dvec_adds(x, x, other ? 1 : 2);
        for (int k = 0; k < 50; k++)
            dvec_adds(y, y, 1);
        dvec_sum(y);
    } else if (strcmp(how, "long-before") == 0) {
        dvec_adds(x, x, other ? 1 : 2);
        for (int k = 0; k < 200; k++)
            dvec_adds(y, y, 1);
        dvec_sum(y);
    } else if (strcmp(how, "finalize") == 0) {
        if (!other)
            dvec_sum(x);
    } else {
        fprintf(stderr, "worker: there is no disagreement called %s\n", how);
        exit(9);
    }
}

/* Messages that do not come, or that nobody receives. */
static void messages(dome_env *env, const char *how, bool other, int differs, dvec *x)
{
    int rank = dome_rank(env), size = dome_size(env);
    double value = 0;
    if (strcmp(how, "receive") == 0) { /* all wait for one, which does not send */
        if (other)
            sleep(60);
        dome_recv(env, differs, 3, DOME_F64, &value, 1, NULL);
    } else if (strcmp(how, "circle") == 0) { /* the first ones wait for each other while the rest computes */
        if (rank >= differs)
            stay(60);
        dome_recv(env, (rank + 1) % differs, 5, DOME_F64, &value, 1, NULL);
    } else if (strcmp(how, "ahead") == 0) { /* the same; a sum goes on meanwhile, up to where one has computed */
        if (rank >= differs)
            stay(1);
        dvec_sum_into(dscalar_new(env, "s", DOME_F64), x);
        dscalar_set_f64(dscalar_new(env, "t", DOME_F64), 0);
        if (rank >= differs)
            stay(60);
        dome_recv(env, (rank + 1) % differs, 5, DOME_F64, &value, 1, NULL);
    } else if (strcmp(how, "answer") == 0) { /* one waits long for a message, and the others then for its answer */
        if (other)
            mark("waits", rank);
        else
            stay(6);
        for (int turn = 0; turn < 2; turn++)
            if (other == (turn == 0))
                dome_recv(env, 1 - rank, 8, DOME_F64, &value, 1, NULL);
            else
                dome_send(env, 1 - rank, 8, DOME_F64, &value, 1);
    } else if (strcmp(how, "barrier") == 0) { /* one is not in the barrier, where all others are */
        if (other)
            dome_recv(env, (rank + 1) % size, 7, DOME_F64, &value, 1, NULL);
        dome_barrier(env);
    } else if (strcmp(how, "meanwhile") == 0) { /* while the others wait, they pass on what rank 0 gives to a sum late */
        dscalar *s = dscalar_new(env, NULL, DOME_F64);
        dvec_sum_into(s, x);
        if (rank == 0)
            stay(1);
        dome_type_struct(env, "begins the exchange", 8, &(dome_field){"x", DOME_F64, 0, 1}, 1, sizeof(dome_field));
        dome_recv(env, (rank + 1) % size, 8, DOME_F64, &value, 1, NULL);
    } else if (strcmp(how, "anyone") == 0) {
        dome_recv(env, DOME_ANY_RANK, DOME_ANY_TAG, DOME_F64, &value, 1, NULL);
    } else if (strcmp(how, "request") == 0) {
        dome_wait(dome_irecv(env, (rank + 1) % size, rank, DOME_F64, &value, 1), NULL);
    } else if (strcmp(how, "forgotten") == 0) {
        if (other)
            dome_send(env, 0, 4, DOME_F64, &value, 1);
        dome_checkpoint(env);
    }
}

int main(int argc, char **argv)
{
    if (argc > 3 && strcmp(argv[3], "start") == 0 && getenv("DOME_JOIN")) {
        marks = argv[1];
        mark("born", (int)getpid());
        sleep(60);
    }
    dome_env *env = dome_init(&argc, &argv);
    if (argc < 4)
        return 9;
    marks = argv[1];
    const char *place = argv[3], *argument = argc > 4 ? argv[4] : "";
    int rank = dome_rank(env), differs = atoi(argv[2]);
    bool other = rank == differs;
    mark("rank", rank);
    if (strcmp(place, "after-init") == 0) { /* all at once, and no operation yet */
        sleep_ms(200);
        kill(getpid(), SIGKILL);
    }
    dvec *x = dvec_new(env, "x", DOME_F64, 100000);
    dvec *y = dvec_new(env, "y", DOME_F64, 100000);
    dvec *index = dvec_new(env, "index", DOME_I64, 100000);
    dvec_iota(index);
    if (strcmp(place, "disagree") == 0) {
        disagree(env, other, argument, x, y);
        return dome_finalize(env);
    }
    if (strcmp(place, "move") == 0)
        move(env);
    if (strcmp(place, "finalize") != 0)
        dome_barrier(env);
    if (strcmp(place, "pending") != 0)
        mark("there", rank);
    if (strcmp(place, "messages") == 0) {
        messages(env, argument, other, differs, x);
    } else if (strcmp(place, "own") == 0) {
        stay(60);
    } else if (strcmp(place, "map") == 0) {
        double seconds = 60;
        dvec_map(y, slow_kernel, &seconds, 0, NULL);
    } else if (strcmp(place, "help") == 0) {
        help(env, argument, false, x);
    } else if (strcmp(place, "barrier") == 0) {
        for (;;)
            dome_barrier(env);
    } else if (strcmp(place, "sum") == 0) {
        for (;;)
            dvec_sum(x);
    } else if (strcmp(place, "neighbours") == 0) {
        neighbours(env, x, y, true, -1);
    } else if (strcmp(place, "mixed") == 0) {
        mixed(env, x, y, index, (unsigned)atoi(argument));
    } else if (strcmp(place, "write") == 0) {
        for (;;)
            dvec_write(x, argument);
    } else if (strcmp(place, "chunks") == 0) {
        for (;;)
            dvec_write_zarr(x, argument, DVEC_ZARR_OPTIONS(.chunk = 5000));
    } else if (strcmp(place, "wait") == 0) { /* all wait for one, which does not come */
        if (other)
            sleep(60);
        dvec_sum(x);
    } else if (strcmp(place, "pending") == 0) { /* exchanges are under way, and one task does not come to the next */
        dscalar *s = dscalar_new(env, "s", DOME_F64), *t = dscalar_new(env, "t", DOME_F64);
        dvec_sum_into(t, x);
        dome_barrier(env);
        if (other) {
            mark("there", rank);
            sleep(60);
        }
        dvec_sum_into(s, x);
        dscalar_add(t, t, s);
        if (!other)
            mark("there", rank); /* after the sum of this task's part, which takes its time where processors are busy */
        dscalar_get_f64(t);
    } else if (strcmp(place, "finalize") == 0) {
        if (other)
            sleep(60);
        return dome_finalize(env);
    } else if (strcmp(place, "after") == 0) {
        int status = dome_finalize(env);
        mark("over", rank);
        if (other)
            sleep_ms(atoi(argument));
        return status;
    } else if (strcmp(place, "steps") == 0) { /* comes to an end by itself */
        for (int i = 0; i < atoi(argument); i++) {
            if (rank == 0 && i % 10 == 0)
                mark("ten", i / 10);
            stay(0.01);
            dvec_sum(x);
        }
        dome_print(env, "all steps done\n");
    } else if (strcmp(place, "steps-until-told") == 0) {
        int32_t told = 0;
        for (int i = 0; !told; i++) {
            if (rank == 0 && i % 10 == 0)
                mark("ten", i / 10);
            stay(0.01);
            if (rank == 0)
                told = is_told();
            dome_bcast(env, 0, DOME_I32, &told, 1);
        }
        dome_print(env, "all steps done\n");
    } else if (strcmp(place, "saved-steps") == 0) { /* the same, with the number of steps in checkpoints */
        dscalar *done = dscalar_new(env, "done", DOME_I64);
        while (dscalar_get_i64(done) < atoi(argument)) {
            stay(0.01);
            dscalar_set_i64(done, dscalar_get_i64(done) + 1);
            dome_checkpoint(env);
            if (rank == 0 && dscalar_get_i64(done) % 10 == 0)
                mark("ten", (int)(dscalar_get_i64(done) / 10));
        }
        dome_print(env, "all steps done\n");
    } else if (strcmp(place, "talk-out") == 0 || strcmp(place, "talk-err") == 0) { /* much output, then comes to an end */
        FILE *to = strcmp(place, "talk-out") == 0 ? stdout : stderr;
        for (int i = 0; other && i < atoi(argument); i++)
            fprintf(to, "line %d of many, all of which are about as long as this one is, which is eighty\n", i);
        dvec_sum(x);
        mark("talked", rank);
        dome_print(env, "all is said\n");
    } else if (strcmp(place, "exit") == 0) {
        if (other)
            exit(atoi(argument));
        dvec_sum(x);
    } else if (strcmp(place, "quick-exit") == 0) {
        if (other)
            _exit(atoi(argument));
        dvec_sum(x);
    } else if (strcmp(place, "exit-computing") == 0) { /* nobody waits for the one who leaves */
        if (other)
            exit(atoi(argument));
        stay(60);
    } else if (strcmp(place, "raise") == 0) {
        if (other)
            return wrong_number(atoi(argument));
        dvec_sum(x);
    } else if (strcmp(place, "fault") == 0) { /* of the processor, not sent */
        if (other && strcmp(argument, "overflow") == 0)
            return overflow(0);
        if (other && strcmp(argument, "handled") == 0)
            signal(SIGSEGV, own_handler);
        if (other)
            return *nowhere;
        dvec_sum(x);
    } else if (strcmp(place, "dome-abort") == 0) {
        if (other)
            dome_abort(env, "no way to go on: %s", argument);
        dvec_sum(x);
    } else if (strcmp(place, "exec") == 0) { /* becomes a shell, when it is told to */
        while (other && !is_told())
            sleep_ms(1);
        if (other)
            execl("/bin/sh", "sh", "-c", argument, (char *)NULL);
        dvec_sum(x);
    } else if (strcmp(place, "background") == 0) { /* what a task starts for itself may outlive it */
        if (other && fork() == 0) {
            setsid();
            mark("background", (int)getpid());
            execl("/bin/sh", "sh", "-c", argument, (char *)NULL);
            _exit(1);
        }
        dvec_sum(x);
        dome_print(env, "background done\n");
    } else if (strcmp(place, "fork-exit") == 0) { /* a child that a task forks is not the task */
        if (fork() == 0)
            exit(3);
        sleep_ms(300);
        dvec_sum(x);
        dome_print(env, "children may end\n");
    } else {
        fprintf(stderr, "worker: there is no place called %s\n", place);
        exit(9);
    }
    return dome_finalize(env);
}
