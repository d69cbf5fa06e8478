/* A ring of tasks that send without pause: at each loop boundary messages are under way.
 *
 *     under_way MARKS STEPS MICROSECONDS ELEMENTS [ahead|request]
 *
 * ahead: of task 0's messages three are under way, with tags that are received in another order. request: a request is open at
 * each boundary. Writes rank.R into the directory MARKS. */
#include <dome/comm.h>
#include <dome/dome.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct ring {
    dome_env *env;
    int right, left;
    size_t n;
    double *data;
} ring;

static void note_rank(const char *marks, int rank)
{
    char path[4096], then[4096];
    snprintf(path, sizeof path, "%s/rank.%d", marks, rank);
    snprintf(then, sizeof then, "%s/new.%d", marks, rank);
    FILE *file = fopen(then, "w");
    if (!file || fprintf(file, "%d", (int)getpid()) < 0 || fclose(file) != 0 || rename(then, path) != 0)
        exit(3);
}

static void send_step(const ring *r, int64_t step, double value)
{
    for (size_t i = 0; i < r->n; i++)
        r->data[i] = value + (double)i;
    dome_send(r->env, r->right, (int)(step % 8), DOME_F64, r->data, r->n);
}

static double receive_step(const ring *r, int64_t step)
{
    double sum = 0;
    dome_recv(r->env, r->left, (int)(step % 8), DOME_F64, r->data, r->n, NULL);
    for (size_t i = 0; i < r->n; i++)
        sum += r->data[i];
    return sum / (double)r->n;
}

/* This task's element. */
static double *own(dvec *x)
{
    dvec_span spans[2];
    if (dvec_local_spans(x, spans) != DOME_OK || spans[0].count != 1)
        exit(3);
    return spans[0].data;
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    if (argc < 5)
        return 2;
    const int64_t steps = atoi(argv[2]);
    const char *variant = argc > 5 ? argv[5] : "";
    const int64_t ahead = strcmp(variant, "ahead") == 0 ? 3 : 1;
    const int rank = dome_rank(env), size = dome_size(env);
    ring r = {env, (rank + 1) % size, (rank + size - 1) % size, (size_t)atoi(argv[4]), NULL};
    r.data = malloc(r.n * sizeof *r.data);
    dvec *x = dvec_new_with(env, "x", DOME_F64, (uint64_t)size, DVEC_OPTIONS(.distribution = DOME_BLOCK, .block = 1));
    dscalar *step = dscalar_new(env, "step", DOME_I64);
    note_rank(argv[1], rank);
    if (!dome_is_restarting(env)) {
        dvec_fill(x, 1);
        for (int64_t k = 0; k < ahead; k++)
            send_step(&r, k, rank);
    }
    for (int64_t k = dscalar_get_i64(step); k < steps; k++) {
        double mine = *own(x), before = mine;
        dome_request *open = strcmp(variant, "request") == 0 ? dome_irecv(env, r.left, 100, DOME_F64, &before, 1) : NULL;
        mine = 0.5 * mine + 0.25 * receive_step(&r, k);
        send_step(&r, k + ahead, mine + rank);
        *own(x) = mine;
        if (k % 20 == 19)
            dome_print(env, "step %" PRId64 ": %a\n", k, dvec_sum(x));
        usleep((useconds_t)atoi(argv[3]));
        dscalar_set_i64(step, k + 1);
        dome_checkpoint(env);
        if (open) {
            dome_send(env, r.right, 100, DOME_F64, &before, 1);
            dome_wait(open, NULL);
        }
    }
    for (int64_t k = 0; k < ahead; k++)
        receive_step(&r, steps + k);
    dome_print(env, "%a\n", dvec_sum(x));
    free(r.data);
    return dome_finalize(env);
}
