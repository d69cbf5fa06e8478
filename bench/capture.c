/* capture MODE SIZE [TIMES]: what it costs to take the image of a captured program into memory, and to restore it from there.
 *
 *     capture flat 256      arrays of double, 256 MB in all
 *     capture graph 1000000 so many structs on the heap, each with three pointers to others drawn at random
 *     capture particles 1000000 so many structs of numbers of several sizes, one array
 *     capture deep 100000   so many active functions: captured and resumed
 *     capture calls 1000000 so many calls of dome_capture_enter and _leave; of dome_capture_malloc and _free of 40 bytes, and of
 *                           malloc and free, a thousand blocks at a time
 *
 * Graph and particles are packed and unpacked in turns by functions as dome-cc writes them and by the types' descriptions (the
 * table). Prints medians of processor time; bytes are those of the values in memory. */
#include "capture/frames.h"
#include "capture/image_private.h"
#include "capture/modules.h"
#include "capture/status.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct node {
    int id;
    double weight;
    struct node *edges[3];
};
static dome_capture_type node_type;
static dome_capture_type node_pointer = DOME_CAPTURE_POINTER_TO("struct node *", &node_type);
static dome_capture_type edges_type = DOME_CAPTURE_ARRAY("struct node *[3]", &node_pointer, struct node *, 3);
static const dome_capture_member node_members[] = {{"id", &dome_capture_int, offsetof(struct node, id)},
                                                   {"weight", &dome_capture_double, offsetof(struct node, weight)},
                                                   {"edges", &edges_type, offsetof(struct node, edges)}};
static dome_capture_type node_type = DOME_CAPTURE_STRUCT("struct node", struct node, node_members);

struct particle {
    double at[3], speed[3];
    float mass;
    int cell, kind;
    short charge[2];
    unsigned char flags;
    long number;
};
static dome_capture_type three_type = DOME_CAPTURE_ARRAY("double [3]", &dome_capture_double, double, 3);
static dome_capture_type charges_type = DOME_CAPTURE_ARRAY("short [2]", &dome_capture_short, short, 2);
static const dome_capture_member particle_members[] = {{"at", &three_type, offsetof(struct particle, at)},
                                                       {"speed", &three_type, offsetof(struct particle, speed)},
                                                       {"mass", &dome_capture_float, offsetof(struct particle, mass)},
                                                       {"cell", &dome_capture_int, offsetof(struct particle, cell)},
                                                       {"kind", &dome_capture_int, offsetof(struct particle, kind)},
                                                       {"charge", &charges_type, offsetof(struct particle, charge)},
                                                       {"flags", &dome_capture_uchar, offsetof(struct particle, flags)},
                                                       {"number", &dome_capture_long, offsetof(struct particle, number)}};
static dome_capture_type particle_type = DOME_CAPTURE_STRUCT("struct particle", struct particle, particle_members);

/* ---- what dome-cc writes for these ---- */

#define CONVERSIONS(bits, type, TO, FROM)                                                                                        \
    static inline void put##bits(unsigned char *to, const void *from)                                                            \
    {                                                                                                                            \
        type v;                                                                                                                  \
        memcpy(&v, from, sizeof v);                                                                                              \
        v = TO(v);                                                                                                               \
        memcpy(to, &v, sizeof v);                                                                                                \
    }                                                                                                                            \
    static inline void get##bits(void *to, const unsigned char *from)                                                            \
    {                                                                                                                            \
        type v;                                                                                                                  \
        memcpy(&v, from, sizeof v);                                                                                              \
        v = FROM(v);                                                                                                             \
        memcpy(to, &v, sizeof v);                                                                                                \
    }
CONVERSIONS(8, uint64_t, GUINT64_TO_BE, GUINT64_FROM_BE)
CONVERSIONS(4, uint32_t, GUINT32_TO_BE, GUINT32_FROM_BE)
CONVERSIONS(2, uint16_t, GUINT16_TO_BE, GUINT16_FROM_BE)

static void node_pack(void *to, const void *from, size_t n)
{
    const struct node *restrict s = from;
    unsigned char *restrict t = to;
    for (; n > 0; n--, s++, t += 60) {
        put4(t + 0, &s->id);
        put8(t + 4, &s->weight);
    }
}

static bool node_unpack(void *to, const void *from, size_t n)
{
    struct node *restrict s = to;
    const unsigned char *restrict t = from;
    for (; n > 0; n--, s++, t += 60) {
        get4(&s->id, t + 0);
        get8(&s->weight, t + 4);
    }
    return true;
}

static void particle_pack(void *to, const void *from, size_t n)
{
    const struct particle *restrict s = from;
    unsigned char *restrict t = to;
    for (; n > 0; n--, s++, t += 73) {
        put8(t + 0, &s->at[0]);
        put8(t + 8, &s->at[1]);
        put8(t + 16, &s->at[2]);
        put8(t + 24, &s->speed[0]);
        put8(t + 32, &s->speed[1]);
        put8(t + 40, &s->speed[2]);
        put4(t + 48, &s->mass);
        put4(t + 52, &s->cell);
        put4(t + 56, &s->kind);
        put2(t + 60, &s->charge[0]);
        put2(t + 62, &s->charge[1]);
        t[64] = s->flags;
        put8(t + 65, &(unsigned long long){(unsigned long long)(long long)s->number});
    }
}

static bool particle_unpack(void *to, const void *from, size_t n)
{
    struct particle *restrict s = to;
    const unsigned char *restrict t = from;
    for (; n > 0; n--, s++, t += 73) {
        get8(&s->at[0], t + 0);
        get8(&s->at[1], t + 8);
        get8(&s->at[2], t + 16);
        get8(&s->speed[0], t + 24);
        get8(&s->speed[1], t + 32);
        get8(&s->speed[2], t + 40);
        get4(&s->mass, t + 48);
        get4(&s->cell, t + 52);
        get4(&s->kind, t + 56);
        get2(&s->charge[0], t + 60);
        get2(&s->charge[1], t + 62);
        s->flags = t[64];
        unsigned long long got;
        get8(&got, t + 65);
        s->number = (long)got;
        if ((unsigned long long)(long long)s->number != got)
            return false;
    }
    return true;
}

struct level_saved {
    long n, unused;
    double values[4];
};
static dome_capture_type values_type = DOME_CAPTURE_ARRAY("double [4]", &dome_capture_double, double, 4);
static const dome_capture_member level_members[] = {{"n", &dome_capture_long, offsetof(struct level_saved, n)},
                                                    {"unused", &dome_capture_long, offsetof(struct level_saved, unused)},
                                                    {"values", &values_type, offsetof(struct level_saved, values)}};
static dome_capture_type level_type = DOME_CAPTURE_STRUCT("level saved", struct level_saved, level_members);
static dome_capture_function level_function = {.name = "level", .saved = &level_type, .memory = &level_type};

static dome_capture_type *types[] = {&node_type, &particle_type};
static dome_capture_function *functions[] = {&level_function};
static dome_capture_module module = {
    .size = sizeof module, .name = "capture.c", .functions = functions, .nfunctions = 1, .types = types, .ntypes = 2};

static uint64_t state = 88172645463325252u;

static uint64_t draw(uint64_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % below;
}

static long level(long n)
{
    long t;
    int point;
    struct level_saved *m = dome_capture_enter(&level_function);
    if (dome_capture_status & DOME_CAPTURE_RESUMING) {
        const struct level_saved *s = dome_capture_pop(&level_function, &point);
        n = s->n;
        if (point == 1)
            goto point_1;
        goto point_2;
    }
    m->n = n;
    if (n == 1) {
    point_1:
        if (dome_capture_status && dome_capture_poll()) {
            struct level_saved *s = dome_capture_push(&level_function, 1);
            s->n = n;
            return 0;
        }
        dome_capture_leave(&level_function);
        return 1;
    }
point_2:
    t = level(n - 1);
    if (dome_capture_status & DOME_CAPTURE_CAPTURING) {
        struct level_saved *s = dome_capture_push(&level_function, 2);
        s->n = n;
        return 0;
    }
    dome_capture_leave(&level_function);
    return t + 1;
}

/* One function is active, so that the image can be restored. */
static void enter_one(void)
{
    dome_capture_enter(&level_function);
    dome__capture_status_set(DOME_CAPTURE_CAPTURING);
    dome_capture_push(&level_function, 1);
    dome__capture_status_clear(DOME_CAPTURE_CAPTURING);
}

static uint64_t make_flat(uint64_t megabytes)
{
    enum { ARRAYS = 4, MEGABYTE = 1000000 };
    const size_t count = megabytes * MEGABYTE / ARRAYS / sizeof(double);
    for (int a = 0; a < ARRAYS; a++) {
        double *values = dome_capture_malloc(&dome_capture_double, count * sizeof *values);
        for (size_t k = 0; k < count; k++)
            values[k] = (double)k;
    }
    return ARRAYS * count * sizeof(double);
}

static uint64_t make_graph(uint64_t nodes)
{
    struct node **all = malloc(nodes * sizeof *all);
    for (uint64_t k = 0; k < nodes; k++) {
        all[k] = dome_capture_malloc(&node_type, sizeof *all[k]);
        *all[k] = (struct node){.id = (int)k, .weight = (double)k / 4};
    }
    for (uint64_t k = 0; k < nodes; k++)
        for (int e = 0; e < 3; e++)
            all[k]->edges[e] = all[draw(nodes)];
    free(all);
    return nodes * sizeof(struct node);
}

static uint64_t make_particles(uint64_t count)
{
    struct particle *all = dome_capture_malloc(&particle_type, count * sizeof *all);
    for (uint64_t k = 0; k < count; k++)
        all[k] = (struct particle){.at = {(double)k, 1, 2}, .speed = {0, (double)k}, .cell = (int)k, .number = -(long)k};
    return count * sizeof *all;
}

/* With the types' functions, or by the table. */
static void use_functions(bool use)
{
    uint64_t one;
    dome_capture_layout *node = (dome_capture_layout *)(uintptr_t)dome__capture_layout(&node_type, &one),
                        *particle = (dome_capture_layout *)(uintptr_t)dome__capture_layout(&particle_type, &one);
    node->pack = use ? node_pack : NULL;
    node->unpack = use ? node_unpack : NULL;
    particle->pack = use ? particle_pack : NULL;
    particle->unpack = use ? particle_unpack : NULL;
}

/* On a machine that others use too, only the processor's time can be compared. */
static double processor_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, by_value);
    return values[count / 2];
}

static void deep(long levels, int times)
{
    double capture[times], resume[times];
    for (int k = 0; k < times; k++) {
        dome_capture_request();
        double begin = processor_time();
        level(levels);
        double middle = processor_time();
        dome__capture_status_clear(DOME_CAPTURE_CAPTURING);
        dome__capture_status_set(DOME_CAPTURE_RESUMING);
        if (level(levels) != levels)
            exit(1);
        capture[k] = middle - begin;
        resume[k] = processor_time() - middle;
    }
    printf("deep %ld: called and captured in %.1f ns a function, resumed and returned in %.1f ns\n", levels,
           median(capture, times) / (double)levels * 1e9, median(resume, times) / (double)levels * 1e9);
}

enum { BATCH = 1000 };

static void enter_and_leave(void)
{
    for (int k = 0; k < BATCH; k++) {
        volatile struct level_saved *m = dome_capture_enter(&level_function);
        m->n = k;
        dome_capture_leave(&level_function);
    }
}

static void *blocks[BATCH];

static void typed_blocks(void)
{
    for (int k = 0; k < BATCH; k++)
        blocks[k] = dome_capture_malloc(&node_type, sizeof(struct node));
    for (int k = 0; k < BATCH; k++)
        dome_capture_free(blocks[k]);
}

static void plain_blocks(void)
{
    for (int k = 0; k < BATCH; k++) {
        blocks[k] = malloc(sizeof(struct node));
        memset(blocks[k], 0, sizeof(struct node)); /* the others begin as zeros */
    }
    for (int k = 0; k < BATCH; k++)
        free(blocks[k]);
}

static void calls(uint64_t count, int times)
{
    static const struct {
        void (*run)(void);
        const char *name;
    } all[] = {
        {enter_and_leave, "enter and leave"}, {typed_blocks, "malloc and free of 40 bytes"}, {plain_blocks, "the C library's"}};
    double took[G_N_ELEMENTS(all)][times];
    for (int k = 0; k < times; k++)
        for (size_t what = 0; what < G_N_ELEMENTS(all); what++) {
            const double begin = processor_time();
            for (uint64_t n = 0; n < count / BATCH; n++)
                all[what].run();
            took[what][k] = processor_time() - begin;
        }
    for (size_t what = 0; what < G_N_ELEMENTS(all); what++)
        printf("calls %" PRIu64 ": %s %.1f ns\n", count, all[what].name, median(took[what], times) / (double)count * 1e9);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    const int times = argc > 3 ? atoi(argv[3]) : 7;
    const uint64_t size = strtoull(argv[2], NULL, 10);
    dome_capture_register(&module);
    dome__capture_modules_complete();
    dome__capture_streams_begin();
    if (strcmp(argv[1], "deep") == 0) {
        deep((long)size, times);
        return 0;
    }
    if (strcmp(argv[1], "calls") == 0) {
        calls(MAX(size, BATCH), times);
        return 0;
    }
    const bool flat = strcmp(argv[1], "flat") == 0, particles = strcmp(argv[1], "particles") == 0;
    const uint64_t bytes = flat ? make_flat(size) : particles ? make_particles(size) : make_graph(size);
    enter_one();
    double take[2][times], restore[2][times]; /* by the table, by functions */
    uint8_t *buffer = NULL;
    uint64_t all = 0;
    for (int turn = 0; turn < 2 * times; turn++) {
        const int by = turn % 2, k = turn / 2;
        use_functions(by);
        dome_capture_image *image = dome__capture_image_new(0);
        double begin = processor_time();
        char *problem = dome__capture_image_take(image);
        if (problem)
            exit(1);
        all = 0;
        for (uint64_t b = 0; b < dome__capture_image_blocks(image); b++)
            all += image_segment(image, (guint)b)->bytes;
        if (!buffer) { /* a checkpoint keeps its memory, too */
            buffer = malloc(all);
            memset(buffer, 1, all);
            begin = processor_time();
            problem = dome__capture_image_take(image);
        }
        uint64_t at = 0;
        for (uint64_t b = 0; b < dome__capture_image_blocks(image); b++) {
            dome__capture_image_write_block(image, b, buffer + at);
            at += image_segment(image, (guint)b)->bytes;
        }
        take[by][k] = processor_time() - begin;
        const uint64_t blocks = dome__capture_image_blocks(image);
        GArray *lengths = g_array_new(FALSE, FALSE, sizeof(uint64_t));
        for (uint64_t b = 0; b < blocks; b++)
            g_array_append_val(lengths, image_segment(image, (guint)b)->bytes);
        dome__capture_image_free(image);
        dome__capture_heap_clear();
        dome__capture_frames_clear();
        image = dome__capture_image_new(blocks);
        begin = processor_time();
        at = 0;
        for (uint64_t b = 0; b < blocks; b++) {
            if (dome__capture_image_read_block(image, b, buffer + at, g_array_index(lengths, uint64_t, b)) != DOME_OK)
                exit(1);
            at += g_array_index(lengths, uint64_t, b);
        }
        problem = dome__capture_image_restored(image);
        restore[by][k] = processor_time() - begin;
        if (problem) {
            fprintf(stderr, "%s\n", problem);
            exit(1);
        }
        dome__capture_image_free(image);
        g_array_unref(lengths);
    }
    for (int by = flat; by < 2; by++) {
        const double taken = median(take[by], times), restored = median(restore[by], times);
        printf("%s %s%s: %.1f MB in memory, %.1f MB in the image; taken in %.3f ms, %.0f MB/s; restored in %.3f ms, %.0f MB/s\n",
               argv[1], argv[2],
               flat ? ""
               : by ? ", by functions"
                    : ", by the table",
               (double)bytes * 1e-6, (double)all * 1e-6, taken * 1e3, (double)bytes * 1e-6 / taken, restored * 1e3,
               (double)bytes * 1e-6 / restored);
    }
    free(buffer);
    return 0;
}
