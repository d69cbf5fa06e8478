/* capture MODE SIZE [TIMES]: what it costs to take the image of a captured program into memory, and to restore it from there.
 *
 *     capture flat 256      arrays of double, 256 MB in all
 *     capture graph 1000000 so many structs on the heap, each with three pointers to others drawn at random
 *     capture deep 100000   so many active functions: captured and resumed
 *
 * Prints medians of processor time; bytes are those of the values in memory. */
#include "capture/frames.h"
#include "capture/image_private.h"
#include "capture/modules.h"
#include "capture/status.h"

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

static dome_capture_type *types[] = {&node_type};
static dome_capture_function *functions[] = {&level_function};
static dome_capture_module module = {
    .size = sizeof module, .name = "capture.c", .functions = functions, .nfunctions = 1, .types = types, .ntypes = 1};

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
    const uint64_t bytes = strcmp(argv[1], "flat") == 0 ? make_flat(size) : make_graph(size);
    enter_one();
    double take[times], restore[times];
    uint8_t *buffer = NULL;
    uint64_t all = 0;
    for (int k = 0; k < times; k++) {
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
        take[k] = processor_time() - begin;
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
        restore[k] = processor_time() - begin;
        if (problem) {
            fprintf(stderr, "%s\n", problem);
            exit(1);
        }
        dome__capture_image_free(image);
        g_array_unref(lengths);
    }
    printf("%s %s: %.1f MB in memory, %.1f MB in the image; taken in %.1f ms, %.0f MB/s; restored in %.1f ms, %.0f MB/s\n",
           argv[1], argv[2], (double)bytes * 1e-6, (double)all * 1e-6, median(take, times) * 1e3,
           (double)bytes * 1e-6 / median(take, times), median(restore, times) * 1e3,
           (double)bytes * 1e-6 / median(restore, times));
    free(buffer);
    return 0;
}
