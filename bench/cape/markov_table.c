/* CAPE's Table 3.3: the program of its figure 3.7 (successive vectors of a Markov chain), without checkpoints, with all of them,
 * and with those behind the matrix alone ("location 2"); and restarted behind vector 50. In the processor's time.
 *
 *     markov_table [N [FOLDER]]         3320, /dev/shm
 *
 * Prints names and figures: bytes at location 1 and of the first vector, seconds of the three runs and of the two restarts. */
#include <dome/delta.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LOOP = 100, MIDDLE = 50, RAND = 10000, PATH = 4096 };

typedef struct chain {
    size_t n;
    float *m, *v[2], *reference; /* reference: the last vector, as a run without checkpoints computes it */
    char location1[PATH], location2[PATH], turns[2][PATH];
} chain;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void fail(const char *what)
{
    fprintf(stderr, "markov_table: %s\n", what);
    exit(1);
}

static void need(int result)
{
    if (result != 0)
        fail(dome_delta_error());
}

static float *new_floats(size_t n)
{
    float *x = aligned_alloc(64, (n * sizeof *x + 63) / 64 * 64);
    if (!x)
        fail("no memory");
    memset(x, 0, n * sizeof *x);
    return x;
}

static long long size_of(const char *file)
{
    struct stat st;
    if (stat(file, &st) < 0)
        fail(file);
    return (long long)st.st_size;
}

static void forget(const chain *c)
{
    memset(c->m, 0, c->n * c->n * sizeof(float));
    for (int k = 0; k < 2; k++)
        memset(c->v[k], 0, c->n * sizeof(float));
}

static void fill_row(float *row, size_t n)
{
    float sum = 0;
    for (size_t j = 0; j < n; j++)
        sum += row[j] = (float)(rand() % RAND);
    for (size_t j = 0; j < n; j++)
        row[j] /= sum;
}

static void fill(const chain *c)
{
    srand(1);
    for (size_t i = 0; i < c->n; i++)
        fill_row(c->m + i * c->n, c->n);
    fill_row(c->v[0], c->n);
}

static void next_vector(const chain *c, int l)
{
    const float *from = c->v[l % 2];
    for (size_t i = 0; i < c->n; i++) {
        float sum = 0;
        for (size_t j = 0; j < c->n; j++)
            sum += from[j] * c->m[j * c->n + i];
        c->v[1 - l % 2][i] = sum;
    }
}

static void check(const chain *c)
{
    if (memcmp(c->v[0], c->reference, c->n * sizeof(float)) != 0)
        fail("the last vector is another one");
}

static double without(const chain *c)
{
    const double begin = now();
    fill(c);
    for (int l = 0; l < LOOP; l++)
        next_vector(c, l);
    return now() - begin;
}

/* first: that of location 1 is taken, too. Each vector has a file of its own. */
static double with_checkpoints(const chain *c, int first, long long *vector)
{
    const double begin = now();
    if (first)
        need(dome_delta_start());
    fill(c);
    if (first)
        need(dome_delta_save(c->location1));
    else
        need(dome_delta_start());
    for (int l = 0; l < LOOP; l++) {
        next_vector(c, l);
        need(dome_delta_save(c->turns[l % 2]));
        if (l == 0)
            *vector = size_of(c->turns[0]);
    }
    need(dome_delta_stop());
    const double took = now() - begin;
    check(c);
    return took;
}

/* One file of the changes of MIDDLE vectors. */
static void save_middle(const chain *c)
{
    fill(c);
    need(dome_delta_start());
    for (int l = 0; l < MIDDLE; l++) {
        next_vector(c, l);
        need(dome_delta_save(c->location2));
    }
    need(dome_delta_stop());
}

/* The matrix is injected, too, or computed again. */
static double restarted(const chain *c, int injects_matrix)
{
    forget(c);
    const double begin = now();
    if (injects_matrix)
        need(dome_delta_inject(c->location1));
    else
        fill(c);
    need(dome_delta_inject(c->location2));
    for (int l = MIDDLE; l < LOOP; l++)
        next_vector(c, l);
    const double took = now() - begin;
    check(c);
    return took;
}

static void name_files(chain *c, const char *folder)
{
    char *const all[] = {c->location1, c->location2, c->turns[0], c->turns[1]};
    for (int k = 0; k < 4; k++)
        if (snprintf(all[k], PATH, "%s/dome-markov-%d-%d", folder, (int)getpid(), k) >= PATH)
            fail("the folder's name is too long");
}

static void remove_files(const chain *c)
{
    unlink(c->location1);
    unlink(c->location2);
    unlink(c->turns[0]);
    unlink(c->turns[1]);
}

int main(int argc, char **argv)
{
    static chain c;
    c.n = argc > 1 ? strtoul(argv[1], NULL, 10) : 3320;
    if (c.n < 2 || argc > 3) {
        fputs("usage: markov_table [N [FOLDER]]\n", stderr);
        return 2;
    }
    name_files(&c, argc > 2 ? argv[2] : "/dev/shm");
    c.m = new_floats(c.n * c.n);
    need(dome_delta_memory(c.m, c.n * c.n * sizeof(float), sizeof(float)));
    for (int k = 0; k < 2; k++) {
        c.v[k] = new_floats(c.n);
        need(dome_delta_memory(c.v[k], c.n * sizeof(float), sizeof(float)));
    }
    c.reference = new_floats(c.n);
    long long vector = 0;
    printf("without %.4f\n", without(&c));
    memcpy(c.reference, c.v[0], c.n * sizeof(float));
    forget(&c);
    printf("all %.4f\n", with_checkpoints(&c, 1, &vector));
    printf("location1 %lld\n", size_of(c.location1));
    forget(&c);
    printf("vectors %.4f\n", with_checkpoints(&c, 0, &vector));
    printf("location2 %lld\n", vector);
    save_middle(&c);
    printf("restart-all %.4f\n", restarted(&c, 1));
    printf("restart-vectors %.4f\n", restarted(&c, 0));
    remove_files(&c);
    return 0;
}
