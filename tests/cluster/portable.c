/* What must have the same bits whatever machines the tasks run on: portable PLACE NAME. PLACE/NAME.*.npy are written and read
 * back; rank 0 prints results in hexadecimal. */
#include <dome/dome.h>

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define N 40000

typedef struct particle {
    int8_t kind;
    double x[3];
    int64_t id;
    float weight;
    uint16_t tag;
} particle;

static dome_type describe(dome_env *env)
{
    const dome_field fields[] = {
        {"kind", DOME_I8, offsetof(particle, kind), 1}, {"x", DOME_F64, offsetof(particle, x), 3},
        {"id", DOME_I64, offsetof(particle, id), 1},    {"weight", DOME_F32, offsetof(particle, weight), 1},
        {"tag", DOME_U16, offsetof(particle, tag), 1},
    };
    return dome_type_struct(env, "particle", sizeof(particle), fields, sizeof fields / sizeof fields[0], sizeof(dome_field));
}

/* Only by stores of single values: in memory that tasks share a page may be taken away meanwhile, and after a fault in an
 * instruction that writes many bytes (xc, mvc) qemu-s390x 7.2 goes on at another place of the program. */
static void set_fields(particle *p, uint64_t number, double value)
{
    p->kind = (int8_t)number;
    for (int k = 0; k < 3; k++)
        p->x[k] = value / (k + 3);
    p->id = number % 3 ? INT64_MIN + (int64_t)number : INT64_MAX - (int64_t)number;
    p->weight = (float)value;
}

static void make_particles(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    particle *p = out;
    const double *value = in[0];
    (void)ctx;
    for (size_t i = 0; i < count; i++) {
        memset(&p[i], 0, sizeof p[i]);
        set_fields(&p[i], first + i, value[i]);
        p[i].tag = (uint16_t)(first * 7 + i);
    }
}

static void extremes(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    static const int64_t some[] = {INT64_MIN, INT64_MAX, -1, 0, 1, (int64_t)1 << 40, -7, INT64_MIN + 1};
    int64_t *v = out;
    (void)ctx;
    (void)in;
    for (size_t i = 0; i < count; i++)
        v[i] = some[(first + i) % 8] ^ (int64_t)((first + i) / 8);
}

/* A permutation: 7919 has no factor in common with N. */
static void scattered(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    int64_t *v = out;
    (void)in;
    for (size_t i = 0; i < count; i++)
        v[i] = (int64_t)(((first + i) * 7919 + *(size_t *)ctx) % N);
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    return (hash ^ value) * 0x9e3779b97f4a7c15u + (hash >> 29);
}

/* Of the values, not of the bytes in memory. */
static uint64_t hash_particles(const particle *p, size_t n)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t bits;
        uint32_t weight;
        hash = mix(hash, (uint64_t)p[i].kind);
        for (int k = 0; k < 3; k++) {
            memcpy(&bits, &p[i].x[k], sizeof bits);
            hash = mix(hash, bits);
        }
        memcpy(&weight, &p[i].weight, sizeof weight);
        hash = mix(mix(mix(hash, (uint64_t)p[i].id), weight), p[i].tag);
    }
    return hash;
}

static uint64_t hash_f64(const double *v, size_t n)
{
    uint64_t hash = 0, bits;
    for (size_t i = 0; i < n; i++) {
        memcpy(&bits, &v[i], sizeof bits);
        hash = mix(hash, bits);
    }
    return hash;
}

static uint64_t hash_i64(const int64_t *v, size_t n)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < n; i++)
        hash = mix(hash, (uint64_t)v[i]);
    return hash;
}

static const char *file(const char *place, const char *name, const char *what)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s.%s.npy", place, name, what);
    return path;
}

/* Particles go around the ring of tasks, and once more in a request; each task adds its part to sums that no task rounds. */
static void messages(dome_env *env)
{
    enum { COUNT = 3000, SUMS = 50 };
    static particle p[COUNT];
    static double values[COUNT], sums[SUMS];
    static int64_t big[SUMS];
    int rank = dome_rank(env), size = dome_size(env), next = (rank + 1) % size, before = (rank + size - 1) % size;
    dome_type type = describe(env);
    const void *in[] = {values};
    for (int i = 0; i < COUNT && rank == 0; i++)
        values[i] = 1.0 / (i + 3);
    if (rank == 0)
        make_particles(NULL, 0, COUNT, p, in);
    for (int turn = 0; turn < 2; turn++) {
        dome_received got = {0};
        if (rank == 0)
            dome_send(env, next, turn, type, p, COUNT);
        if (turn == 0)
            dome_recv(env, before, turn, type, p, COUNT, &got);
        else
            dome_wait(dome_irecv(env, before, turn, type, p, COUNT), &got);
        if (rank != 0)
            dome_wait(dome_isend(env, next, turn, type, p, got.count), NULL);
    }
    for (int i = rank; i < 1000; i += size)
        for (int k = 0; k < SUMS; k++) {
            sums[k] += (i - 300) * (k + 0.125);
            big[k] += ((int64_t)i << 40) - k;
        }
    dome_allreduce(env, DOME_F64, sums, SUMS, DOME_SUM);
    dome_allreduce(env, DOME_I64, big, SUMS, DOME_SUM);
    dome_print(env, "messages %016" PRIx64 " %016" PRIx64 " %016" PRIx64 "\n", hash_particles(p, COUNT), hash_f64(sums, SUMS),
               hash_i64(big, SUMS));
}

enum { ELEMENTS = 3001, ROUNDS = 4, WORK = 200 };

typedef struct shared {
    double *f64;
    int64_t *i64, *next; /* next: the work that nobody has taken yet, and what it has added up to */
    particle *particles;
    unsigned char *bytes;
} shared;

/* The elements of a task that is `turn` ranks above: neighbours are written by unlike machines at the same time. */
static void write_elements(const shared *s, uint64_t turn, uint64_t size)
{
    for (uint64_t i = turn % size; i < ELEMENTS; i += size) {
        const double value = s->f64[i] / 3 + 1.0 / (double)(i + 3);
        s->f64[i] = value;
        s->i64[i] = s->i64[i] * 31 + INT64_MIN / (int64_t)(i + 1);
        set_fields(&s->particles[i], i, value);
        s->particles[i].tag = (uint16_t)(i * 7);
        s->bytes[i] = (unsigned char)(s->bytes[i] * 5 + i);
    }
}

/* Each piece of work by whoever comes first; sums of integers do not depend on who. */
static void take_work(const shared *s, dome_lock *lock)
{
    for (int64_t k = 0; k < WORK;) {
        dome_lock_acquire(lock);
        k = s->next[0];
        if (k < WORK) {
            s->next[0] = k + 1;
            s->next[1] += k << 33;
            s->particles[k].id ^= s->next[1];
        }
        dome_lock_release(lock);
    }
}

/* All tasks see the same; returns it. */
static uint64_t hash_shared(dome_env *env, const shared *s)
{
    uint64_t hash = mix(mix(hash_f64(s->f64, ELEMENTS), hash_i64(s->i64, ELEMENTS)), hash_particles(s->particles, ELEMENTS));
    for (int i = 0; i < ELEMENTS; i++)
        hash = mix(hash, s->bytes[i]);
    uint64_t first = hash;
    dome_bcast(env, 0, DOME_U64, &first, 1);
    if (first != hash)
        dome_abort(env, "task 0 sees %016" PRIx64 ", this one %016" PRIx64, first, hash);
    return hash;
}

/* Tasks write different parts of the same structs at the same time. */
static void write_parts(const shared *s, uint64_t rank, uint64_t size)
{
    for (uint64_t i = 0; i < ELEMENTS; i++) {
        particle *p = &s->particles[i];
        if (rank == i % size)
            p->tag = (uint16_t)(p->tag * 3 + i);
        if (rank == (i + 1) % size)
            p->x[1] = p->x[1] / 7 - (double)i;
        if (rank == (i + 2) % size)
            p->kind = (int8_t)(p->kind + 1);
    }
}

/* Memory that tasks on unlike machines share. */
static void regions(dome_env *env, dome_consistency consistency)
{
    const uint64_t rank = (uint64_t)dome_rank(env), size = (uint64_t)dome_size(env);
    const dome_region_options *options = DOME_REGION_OPTIONS(.consistency = consistency);
    const shared s = {dome_region_data(dome_region_new(env, NULL, DOME_F64, ELEMENTS, options)),
                      dome_region_data(dome_region_new(env, NULL, DOME_I64, ELEMENTS, options)),
                      dome_region_data(dome_region_new(env, NULL, DOME_I64, 2, options)),
                      dome_region_data(dome_region_new(env, NULL, describe(env), ELEMENTS, options)),
                      dome_region_data(dome_region_new(env, NULL, DOME_U8, ELEMENTS, options))};
    dome_lock *lock = dome_lock_new(env, NULL);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        write_elements(&s, rank + round, size);
        dome_barrier(env);
        write_parts(&s, rank, size);
        dome_barrier(env);
        const uint64_t hash = hash_shared(env, &s);
        dome_print(env, "regions %016" PRIx64 "\n", hash);
        dome_barrier(env);
    }
    take_work(&s, lock);
    dome_barrier(env);
    const uint64_t hash = hash_shared(env, &s);
    dome_print(env, "work %016" PRIx64 " %" PRId64 "\n", hash, s.next[1]);
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    if (argc != 3)
        dome_abort(env, "portable PLACE NAME");
    const char *place = argv[1], *name = argv[2];
    messages(env);
    regions(env, DOME_SEQUENTIAL);
    regions(env, DOME_RELEASE);

    dvec *x = dvec_new(env, "x", DOME_F64, N), *y = dvec_new(env, "y", DOME_F64, N), *z = dvec_new(env, "z", DOME_F64, N);
    dvec *f = dvec_new(env, "f", DOME_F32, N), *index = dvec_new(env, "index", DOME_I64, N);
    dvec *wide = dvec_new(env, "wide", DOME_I64, N), *moved = dvec_new(env, "moved", DOME_I64, N);
    size_t offset = 12345;
    dvec_random(x, 1);
    dvec_random(y, 2);
    dvec_subs(y, y, 0.5);
    dvec_map(index, scattered, &offset, 0, NULL);
    dvec_map(wide, extremes, NULL, 0, NULL);

    double sum = dvec_sum(x), dot = dvec_dot(x, y), norm = dvec_norm2(y);
    double least = dvec_min_value(y), most = dvec_max_value(y);
    dome_print(env, "sum %a dot %a norm %a min %a max %a\n", sum, dot, norm, least, most);
    uint64_t argmin, argmax;
    dvec_argmin(y, &argmin);
    dvec_argmax(y, &argmax);
    dome_print(env, "at %" PRIu64 " %" PRIu64 "\n", argmin, argmax);
    dvec_convert(f, y);
    double small = dvec_sum(f);
    dome_print(env, "float sum %a\n", small);

    int64_t low = dvec_min_value_i64(wide), high = dvec_max_value_i64(wide);
    dome_print(env, "integers %" PRId64 " to %" PRId64 "\n", low, high);
    int64_t value = dome_rank(env) == 0 ? INT64_MIN + 1 : 0;
    dome_bcast(env, 0, DOME_I64, &value, 1);
    int64_t back = value;
    dome_bcast(env, dome_size(env) - 1, DOME_I64, &back, 1);
    dome_print(env, "sent around %" PRId64 "\n", back);
    dscalar *s = dscalar_new(env, "s", DOME_I64);
    dscalar_set_i64(s, back);
    int64_t scalar = dscalar_get_i64(s);
    dome_print(env, "scalar %" PRId64 "\n", scalar);

    dvec_gather(z, x, index);
    dome_print(env, "gathered %016" PRIx64 "\n", hash_f64(dvec_allgather(z), N));
    dvec_scatter(z, y, index);
    dome_print(env, "scattered %016" PRIx64 "\n", hash_f64(dvec_allgather(z), N));
    dvec_scan(z, y);
    dome_print(env, "scanned %016" PRIx64 "\n", hash_f64(dvec_allgather(z), N));
    dvec_roll(moved, wide, 15001);
    dvec_scatter(wide, moved, index);
    dome_print(env, "integers moved %016" PRIx64 "\n", hash_i64(dvec_allgather(wide), N));

    dome_type type = describe(env);
    dvec *p = dvec_new(env, "p", type, N), *q = dvec_new(env, "q", type, N);
    dvec_map(p, make_particles, NULL, 1, &x);
    dvec_roll(q, p, -9999);
    dvec_gather(p, q, index);
    dome_print(env, "particles %016" PRIx64 "\n", hash_particles(dvec_allgather(p), N));

    dvec_write(z, file(place, name, "f64"));
    dvec_write(wide, file(place, name, "i64"));
    dvec_write(p, file(place, name, "particles"));
    dvec *z2 = dvec_read(env, "z2", file(place, name, "f64"));
    dvec *wide2 = dvec_read(env, "wide2", file(place, name, "i64"));
    dome_print(env, "read %016" PRIx64 "\n", hash_f64(dvec_allgather(z2), N));
    dome_print(env, "read %016" PRIx64 "\n", hash_i64(dvec_allgather(wide2), N));
    dvec *mask = dvec_new(env, "mask", DOME_U8, N);
    dvec_ne(mask, z, z2);
    double different = dvec_sum(mask);
    dome_print(env, "different %g\n", different);
    return dome_finalize(env);
}
