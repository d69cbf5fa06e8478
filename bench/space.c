/* space: what memory at a program's own addresses takes, between two or more tasks.
 *
 *     space --dome-tasks 2
 *
 * Task 0 prints a line for each: a meeting where nothing was written, a region's begin and end, pages that are touched first, by
 * their home and by another task, in order and not, sections of one task and of two in turns, a Jacobi iteration. */
#include "space/space.h"
#include "region/member.h"
#include "region/region_profile.h"
#include "system/time.h"

#include <dome/dome.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAP       ((char *)0x200000000000)
#define HEAP_BYTES ((uint64_t)1 << 36)

enum { PAGE = 4096, PAGES = 8192, TIMES = 5000 };

static dome_env *env;
static dome_space *space;
static int rank;

static void meet(void)
{
    if (dome__space_meet(space, 1, true) != DOME_OK)
        exit(1);
}

static void say(const char *what, uint64_t start, double times)
{
    if (rank < 2)
        fprintf(stderr, "task %d: %-60s %9.2f us\n", rank, what, (double)dome__since_ns(start) / 1000 / times);
}

static void measure_meetings(void)
{
    for (int k = 0; k < 100; k++)
        meet();
    uint64_t start = dome__now_ns();
    for (int k = 0; k < TIMES; k++)
        meet();
    if (rank == 0)
        say("a meeting, nothing written", start, TIMES);
    start = dome__now_ns();
    for (int k = 0; k < TIMES; k++) {
        dome__space_meet_by(space, &(dome_release_word){.place = 2});
        meet();
    }
    if (rank == 0)
        say("a region's begin and end, nothing written", start, TIMES);
    start = dome__now_ns();
    for (int k = 0; k < TIMES; k++)
        dome_barrier(env);
    if (rank == 0)
        say("dome_barrier", start, TIMES);
}

/* As a function's frame: task 0 writes it before a region, all read it inside; `inside`: task 0 writes it there, too. */
static void measure_frames(bool inside)
{
    volatile int64_t *frame = (int64_t *)(void *)(HEAP + HEAP_BYTES / 8 + (inside ? 2 * PAGE : 0));
    int64_t sum = 0;
    const uint64_t start = dome__now_ns();
    for (int k = 0; k < TIMES; k++) {
        if (rank == 0)
            frame[0] = k;
        dome__space_meet_by(space, &(dome_release_word){.place = 2});
        sum += frame[0];
        if (rank == 0 && inside)
            frame[1] = k;
        meet();
    }
    if (rank == 0)
        say(inside ? "a region that reads a frame, which task 0 writes inside, too" : "a region that reads a frame of task 0",
            start, TIMES);
    if (sum != (int64_t)TIMES * (TIMES - 1) / 2)
        exit(1);
    const dome_region_figures *f = env->lazy.members->figures->pdata[0];
    fprintf(stderr, "task %d: %" PRIu64 " reads, %" PRIu64 " writes\n", rank, f->reads, f->writes);
}

static uint64_t touch(char *at, int pages, int step, bool write)
{
    uint64_t sum = 0;
    for (int k = 0; k < pages; k++) {
        volatile char *p = at + (uint64_t)(k * (uint64_t)step % (uint64_t)pages) * PAGE;
        if (write)
            *p = (char)(k + 1);
        sum += (uint64_t)(unsigned char)*p;
    }
    return sum;
}

/* In order, and by an odd step. */
static void measure_pages(void)
{
    static const int steps[] = {1, 4099};
    char line[100];
    for (int k = 0; k < 2; k++) {
        char *at = HEAP + (uint64_t)k * PAGES * PAGE;
        const char *how = k ? "not in order" : "in order";
        uint64_t start = dome__now_ns();
        snprintf(line, sizeof line, "a page first written by its home, %s", how);
        if (rank == 0) {
            touch(at, PAGES, steps[k], true);
            say(line, start, PAGES);
        }
        meet();
        start = dome__now_ns();
        snprintf(line, sizeof line, "a page first read by another task, %s", how);
        if (rank == 1) {
            touch(at, PAGES, steps[k], false);
            say(line, start, PAGES);
        }
        meet();
        start = dome__now_ns();
        snprintf(line, sizeof line, "a page written that was read before, %s", how);
        if (rank == 1) {
            touch(at, PAGES, steps[k], true);
            say(line, start, PAGES);
        }
        start = dome__now_ns();
        meet();
        if (rank == 1)
            say("  a page of these at the meeting", start, PAGES);
        start = dome__now_ns();
        if (rank == 1) {
            touch(at, PAGES, steps[k], true);
            say("  written again, at the new home", start, PAGES);
        }
        meet();
        start = dome__now_ns();
        if (rank == 1) {
            touch(at, PAGES, steps[k], true);
            say("  and again", start, PAGES);
        }
        meet();
    }
}

static void measure_sections(void)
{
    volatile int64_t *x = (int64_t *)(void *)(HEAP + HEAP_BYTES / 2);
    meet();
    for (int task = 0; task < 2; task++) {
        uint64_t start = dome__now_ns();
        for (int k = 0; k < TIMES && rank == task; k++) {
            dome__space_enter(space);
            dome__space_leave(space, false);
        }
        if (rank == task)
            say("a section of one task, nothing written", start, TIMES);
        meet();
        start = dome__now_ns();
        for (int k = 0; k < TIMES && rank == task; k++) {
            dome__space_enter(space);
            x[PAGE]++;
            dome__space_leave(space, false);
        }
        if (rank == task)
            say("a section of one task with a sum", start, TIMES);
        meet();
    }
    uint64_t start = dome__now_ns();
    for (int k = 0; k < TIMES; k++) {
        dome__space_enter(space);
        *x = *x + 1;
        dome__space_leave(space, false);
    }
    meet();
    if (rank == 0) {
        say("a section with a sum, tasks at the same time", start, (double)TIMES * env->size);
        if (*x != (int64_t)TIMES * env->size)
            exit(1);
    }
    meet();
}

static uint64_t bytes_so_far(void)
{
    const GPtrArray *figures = env->lazy.members->figures;
    uint64_t bytes = 0;
    for (guint k = 0; figures && k < figures->len; k++)
        bytes += ((const dome_region_figures *)figures->pdata[k])->bytes;
    return bytes;
}

/* A square of doubles, of which each task computes some rows. */
static void measure_jacobi(void)
{
    enum { N = 1026, SWEEPS = 12 };
    double(*grid)[N][N] = (void *)(HEAP + HEAP_BYTES / 4);
    const int first = 1 + (N - 2) * rank / env->size, end = 1 + (N - 2) * (rank + 1) / env->size;
    if (rank == 0)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                grid[0][i][j] = grid[1][i][j] = i * j % 17;
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        const uint64_t before = bytes_so_far(), start = dome__now_ns();
        dome__space_meet_by(space, &(dome_release_word){.place = 20});
        double(*from)[N] = grid[sweep % 2], (*to)[N] = grid[(sweep + 1) % 2];
        for (int i = first; i < end; i++)
            for (int j = 1; j < N - 1; j++)
                to[i][j] = (from[i - 1][j] + from[i + 1][j] + from[i][j - 1] + from[i][j + 1]) / 4;
        dome__space_meet(space, 21, true);
        fprintf(stderr, "task %d: sweep %2d: %8.0f us, %9" PRIu64 " bytes received\n", rank, sweep,
                (double)dome__since_ns(start) / 1000, bytes_so_far() - before);
    }
    meet();
}

int main(int argc, char **argv)
{
    env = dome_init(&argc, &argv);
    rank = dome_rank(env);
    space = dome__space_new(env);
    const dome_space_range heap = {"heap", HEAP, HEAP_BYTES, .keep = false, .home = 0};
    if (!space || dome__space_add(space, &heap, 1) != DOME_OK)
        return 1;
    measure_meetings();
    measure_frames(false);
    measure_frames(true);
    measure_pages();
    measure_sections();
    measure_jacobi();
    dome__space_free(space);
    return dome_finalize(env) ? 1 : 0;
}
