/* markov: what a hundred incremental checkpoints cost a program that computes vectors of a Markov chain (Ha's thesis, figure 3.7
 * and table 3.3: 3.3, 2.1, 1.6 and 1.8 % for N of 3320, 6640, 9960, 13280, where only what follows the initialization is
 * tracked).
 *
 *     markov [N [PAIRS [FOLDER]]]       3320, 5, /dev/shm
 *
 * Each pair of runs is one without and one with a checkpoint behind each of 100 vectors, from the same state; what is printed is
 * the median of the quotients of their processor times, the time inside of the calls, and the bytes of the files: the first, the
 * last, and one at the place where also the matrix was tracked while it was filled ("location 1"). */
#include <dome/delta.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LOOP = 100, RAND = 10000, MOST_PAIRS = 100 };

typedef struct chain {
    size_t n;
    float *m, *v[2];
    char file[4096], *turn; /* turn: the last character of the file's name: the same name twice makes one file of two saves */
} chain;

typedef struct figures {
    double seconds, calls;
    long long first, last; /* bytes */
} figures;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* other programs disturb it less than wall time */
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void need(int result)
{
    if (result == 0)
        return;
    fprintf(stderr, "markov: %s\n", dome_delta_error());
    exit(1);
}

static float *new_floats(size_t n)
{
    float *x = aligned_alloc(64, (n * sizeof *x + 63) / 64 * 64);
    if (!x) {
        fputs("markov: no memory\n", stderr);
        exit(1);
    }
    return x;
}

static void fill(const chain *c)
{
    for (size_t i = 0; i < c->n; i++) {
        float *row = c->m + i * c->n, sum = 0;
        for (size_t j = 0; j < c->n; j++)
            sum += row[j] = (float)(rand() % RAND);
        for (size_t j = 0; j < c->n; j++)
            row[j] /= sum;
    }
}

static void begin_vector(const chain *c)
{
    float sum = 0;
    srand(1);
    for (size_t i = 0; i < c->n; i++)
        sum += c->v[0][i] = (float)(rand() % RAND);
    for (size_t i = 0; i < c->n; i++)
        c->v[0][i] /= sum;
}

static void next_vector(const chain *c, int k)
{
    for (size_t i = 0; i < c->n; i++) {
        float sum = 0;
        for (size_t j = 0; j < c->n; j++)
            sum += c->v[k][j] * c->m[j * c->n + i];
        c->v[1 - k][i] = sum;
    }
}

static long long size_and_remove(const char *file)
{
    struct stat st;
    if (stat(file, &st) < 0 || unlink(file) < 0) {
        perror(file);
        exit(1);
    }
    return (long long)st.st_size;
}

static figures run(chain *c, int saves)
{
    figures f = {.first = 0};
    begin_vector(c);
    const double begin = now();
    if (saves)
        need(dome_delta_start());
    f.calls = now() - begin;
    for (int l = 0; l < LOOP; l++) {
        next_vector(c, l % 2);
        if (!saves)
            continue;
        const double call = now();
        *c->turn = (char)('0' + l % 2);
        need(dome_delta_save(c->file));
        f.calls += now() - call;
        f.last = size_and_remove(c->file);
        f.first = l == 0 ? f.last : f.first;
    }
    if (saves)
        need(dome_delta_stop());
    f.seconds = now() - begin;
    return f;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    chain c = {.n = argc > 1 ? strtoul(argv[1], NULL, 10) : 3320};
    const int pairs = argc > 2 ? atoi(argv[2]) : 5;
    const int length = snprintf(c.file, sizeof c.file, "%s/dome-markov-%d-0", argc > 3 ? argv[3] : "/dev/shm", (int)getpid());
    if (c.n < 1 || pairs < 1 || pairs > MOST_PAIRS || length >= (int)sizeof c.file) {
        fputs("usage: markov [N [PAIRS [FOLDER]]]\n", stderr);
        return 2;
    }
    c.turn = c.file + length - 1;
    double ratios[MOST_PAIRS], calls = 0, plain = 0;
    figures with = {.first = 0};
    c.m = new_floats(c.n * c.n);
    c.v[0] = new_floats(c.n);
    c.v[1] = new_floats(c.n);
    need(dome_delta_memory(c.m, c.n * c.n * sizeof(float), sizeof(float)));
    for (int k = 0; k < 2; k++)
        need(dome_delta_memory(c.v[k], c.n * sizeof(float), sizeof(float)));
    memset(c.m, 0, c.n * c.n * sizeof(float));
    need(dome_delta_start());
    fill(&c);
    need(dome_delta_save(c.file));
    need(dome_delta_stop());
    const long long location1 = size_and_remove(c.file);
    for (int p = 0; p < pairs; p++) {
        const figures without = run(&c, 0);
        with = run(&c, 1);
        ratios[p] = with.seconds / without.seconds;
        calls += with.calls / pairs;
        plain += without.seconds / pairs;
    }
    qsort(ratios, (size_t)pairs, sizeof *ratios, by_size);
    printf("N %zu: %.2f s without, overhead %.2f %% (from %.2f to %.2f), in calls %.2f %%\n", c.n, plain,
           100 * (ratios[pairs / 2] - 1), 100 * (ratios[0] - 1), 100 * (ratios[pairs - 1] - 1), 100 * calls / plain);
    printf("bytes: %lld with the matrix, %lld the first vector, %lld the last one\n", location1, with.first, with.last);
    free(c.m);
    free(c.v[0]);
    free(c.v[1]);
    return 0;
}
