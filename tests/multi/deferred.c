/* Deferred work in the ways it may be used: vectors that are freed while others are made of them, outputs that are inputs,
 * copies, thousands of operations that nobody reads, a signal and a fork in the middle.
 *
 *     deferred [SEED [ROUNDS]]
 *
 * Each vector has a twin, computed at once and element by element. */
#include <dome/dome.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { VECTORS = 9, N = 3000 };

static dome_env *env;
static uint64_t rng_state;
static unsigned long long seed, checks;
static volatile sig_atomic_t signals;

static uint64_t below(uint64_t n)
{
    uint64_t z = rng_state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (z ^ z >> 31) % n;
}

#define CHECK(condition, what)                                                                                                   \
    do {                                                                                                                         \
        checks++;                                                                                                                \
        if (!(condition))                                                                                                        \
            dome_abort(env, "seed %llu: %s", seed, what);                                                                        \
    } while (0)

typedef struct pair {
    dvec *v;
    double *twin;
} pair;

static pair vector[VECTORS], mesh;
static int made;

static void make(pair *p)
{
    char name[32];
    snprintf(name, sizeof name, "v%d", made++);
    p->v = dvec_new(env, name, DOME_F64, N);
    p->twin = calloc(N, sizeof *p->twin);
}

static void unmake(pair *p)
{
    dvec_free(p->v);
    free(p->twin);
}

static bool same(double x, double y)
{
    return memcmp(&x, &y, sizeof x) == 0 || (isnan(x) && isnan(y));
}

static void look(const pair *p)
{
    dvec_span spans[2];
    int count = dvec_local_const(p->v, spans);
    for (int s = 0; s < count; s++)
        for (size_t k = 0; k < spans[s].count; k++)
            CHECK(same(((double *)spans[s].data)[k], p->twin[spans[s].first + k]), "a value differs");
}

/* The sums of a vector that comes out of a chain and of one that was just written are the same. */
static void look_at_sums(const pair *p, const pair *q)
{
    pair plain[2];
    for (int k = 0; k < 2; k++) {
        dvec_span spans[2];
        make(&plain[k]);
        int count = dvec_local(plain[k].v, spans);
        for (int s = 0; s < count; s++)
            memcpy(spans[s].data, (k ? q : p)->twin + spans[s].first, spans[s].count * sizeof(double));
    }
    switch (below(4)) {
    case 0:
        CHECK(same(dvec_sum(p->v), dvec_sum(plain[0].v)), "a sum differs");
        break;
    case 1:
        CHECK(same(dvec_dot(p->v, q->v), dvec_dot(plain[0].v, plain[1].v)), "a dot product differs");
        break;
    case 2:
        CHECK(same(dvec_norm2(p->v), dvec_norm2(plain[0].v)), "a norm differs");
        break;
    default:
        CHECK(same(dvec_max_value(p->v), dvec_max_value(plain[0].v)), "a largest value differs");
    }
    unmake(&plain[0]);
    unmake(&plain[1]);
}

static void step(void)
{
    pair *z = &vector[below(VECTORS)], *x = &vector[below(VECTORS)], *y = &vector[below(VECTORS)];
    static const double special[] = {0, -0.0, 1, 2, -8, 0.5, 3, 0x1p-1060, 1e300, INFINITY, -INFINITY, NAN};
    const double a = below(3) ? (double)below(7) / 4 - 0.5 : special[below(sizeof special / sizeof *special)];
#define EACH(expression)                                                                                                         \
    for (size_t k = 0; k < N; k++)                                                                                               \
    z->twin[k] = (expression)
    switch (below(24)) {
    case 0:
        dvec_add(z->v, x->v, y->v);
        EACH(x->twin[k] + y->twin[k]);
        break;
    case 1:
        dvec_sub(z->v, x->v, y->v);
        EACH(x->twin[k] - y->twin[k]);
        break;
    case 2:
        dvec_mul(z->v, x->v, y->v);
        EACH(x->twin[k] * y->twin[k]);
        break;
    case 3:
        dvec_div(z->v, x->v, y->v);
        EACH(x->twin[k] / y->twin[k]);
        break;
    case 4: {
        dvec_axpy(z->v, a, x->v);
        for (size_t k = 0; k < N; k++) {
            volatile double product = a * x->twin[k];
            z->twin[k] += product;
        }
        break;
    }
    case 5:
        dvec_sqrt(z->v, x->v);
        EACH(sqrt(x->twin[k]));
        break;
    case 6:
        dvec_muls(z->v, x->v, a);
        EACH(x->twin[k] * a);
        break;
    case 7:
        dvec_fill(z->v, a);
        EACH(a);
        break;
    case 8:
    case 9:
        dvec_copy(z->v, x->v);
        memmove(z->twin, x->twin, N * sizeof(double));
        break;
    case 10:
        if (below(3) == 0) {
            dvec_index(z->v);
            EACH((double)k);
        }
        break;
    case 11: /* freed while others may be made of it; made anew */
        unmake(z);
        make(z);
        break;
    case 12:
        if (below(3) == 0)
            look(z);
        break;
    case 13:
        if (below(4) == 0)
            look_at_sums(x, y);
        break;
    case 14:
        dvec_min(z->v, x->v, y->v);
        EACH(x->twin[k] < y->twin[k] || isnan(x->twin[k]) ? x->twin[k] : y->twin[k]);
        break;
    case 15:
        dvec_max(z->v, x->v, y->v);
        EACH(x->twin[k] > y->twin[k] || isnan(x->twin[k]) ? x->twin[k] : y->twin[k]);
        break;
    case 16:
        dvec_adds(z->v, x->v, a);
        EACH(x->twin[k] + a);
        break;
    case 17:
        dvec_subs(z->v, x->v, a);
        EACH(x->twin[k] - a);
        break;
    case 18:
        dvec_divs(z->v, x->v, a);
        EACH(x->twin[k] / a);
        break;
    case 19:
        dvec_mins(z->v, x->v, a);
        EACH(x->twin[k] < a || isnan(x->twin[k]) ? x->twin[k] : a);
        break;
    case 20:
        dvec_maxs(z->v, x->v, a);
        EACH(x->twin[k] > a || isnan(x->twin[k]) ? x->twin[k] : a);
        break;
    case 21:
        dvec_neg(z->v, x->v);
        EACH(-x->twin[k]);
        break;
    case 22:
        dvec_abs(z->v, x->v);
        EACH(fabs(x->twin[k]));
        break;
    default: /* numbers of one size again */
        dvec_copy(z->v, mesh.v);
        memcpy(z->twin, mesh.twin, N * sizeof(double));
    }
}

static void test_random(unsigned rounds)
{
    for (unsigned r = 0; r < rounds; r++) {
        rng_state = seed + r;
        make(&mesh);
        dvec_index(mesh.v);
        dvec_adds(mesh.v, mesh.v, 0.25);
        for (size_t k = 0; k < N; k++)
            mesh.twin[k] = (double)k + 0.25;
        for (int k = 0; k < VECTORS; k++)
            make(&vector[k]);
        for (int k = (int)below(400); k > 0; k--)
            step();
        for (int k = 0; k < VECTORS; k++)
            look(&vector[k]);
        for (int k = 0; k < VECTORS; k++)
            unmake(&vector[k]);
        unmake(&mesh);
    }
}

/* Memory in use by this process, at most so far, in KiB. */
static long most_memory(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

static void test_unread(void)
{
    pair x, y;
    make(&x);
    make(&y);
    dvec_fill(y.v, 0.5);
    long before = most_memory();
    for (int k = 0; k < 100000; k++) {
        dvec_axpy(x.v, 2, y.v);
        dvec_copy(y.v, y.v);
        dvec_adds(y.v, y.v, 0.25);
        dvec_subs(y.v, y.v, 0.25);
    }
    CHECK(dvec_sum(x.v) == 100000.0 * N, "many operations give another sum");
    CHECK(most_memory() - before < 4096, "memory grows with operations that nobody reads");
    unmake(&x);
    unmake(&y);
}

static void on_signal(int number)
{
    (void)number;
    signals++;
}

/* Signals come all the time; a process that is forked while work is waiting computes it for itself. */
static void test_interrupted(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
    pair x, y;
    make(&x);
    make(&y);
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    int seen = 0; /* by the first task: all make as many rounds */
    for (int round = 0; seen < 20; round++) {
        dvec_index(x.v);
        dvec_adds(y.v, x.v, round);
        dvec_mul(y.v, y.v, y.v);
        dvec_sub(x.v, y.v, x.v);
        for (size_t k = 0; k < N; k++)
            x.twin[k] = ((double)k + round) * ((double)k + round) - (double)k;
        look(&x);
        seen = (int)signals;
        dome_bcast(env, 0, DOME_I32, &seen, 1);
    }
    setitimer(ITIMER_REAL, &never, NULL);

    dvec_adds(x.v, x.v, 1);
    for (size_t k = 0; k < N; k++)
        x.twin[k] += 1;
    pid_t child = fork();
    if (child == 0) {
        dvec_span spans[2];
        int count = dvec_local_const(x.v, spans), wrong = 0;
        for (int s = 0; s < count; s++)
            for (size_t k = 0; k < spans[s].count; k++)
                wrong |= !same(((double *)spans[s].data)[k], x.twin[spans[s].first + k]);
        _exit(wrong);
    }
    int status;
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0, "a forked process has other values");
    look(&x);
    unmake(&x);
    unmake(&y);
}

int main(int argc, char **argv)
{
    env = dome_init(&argc, &argv);
    seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    test_random(argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 60);
    test_unread();
    test_interrupted();
    dome_print(env, "ok: %llu checks, %d task%s\n", checks, dome_size(env), dome_size(env) == 1 ? "" : "s");
    return dome_finalize(env);
}
