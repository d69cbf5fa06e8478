#include "process/omp_layout.h"

#include "core/object_private.h"
#include "openmp/tasks.h"
#include "openmp/team.h"
#include "process/omp_arena.h"
#include "process/omp_image.h"
#include "process/omp_locals.h"
#include "program/start.h"
#include "system/time.h"

#include <string.h>

/* Teams of other sizes are dealt evenly. */
enum { MOST_SIZES = 8 };

/* The threads of the teams of one size. */
typedef struct dealt {
    unsigned threads;
    dome_object *object;
    dome_layout *layout;
    unsigned *firsts; /* by task, of its threads */
} dealt;

/* By this task's clocks. */
typedef struct instant {
    uint64_t ns, away_ns;
} instant;

static struct {
    dome_env *env; /* NULL: teams are dealt evenly */
    dome_operation_code code;
    dealt sizes[MOST_SIZES];
    int count;
    dealt *now;     /* of the region that begins, or has begun; NULL: it is dealt evenly */
    uint64_t bytes; /* dome__omp_layout_bytes of task 0 */
    dome_block_clock clock;
    instant began, ended; /* the last pass over this task's threads */
    bool passes;          /* it has not ended */
} here;

/* ---- the object ---- */

static dealt *of(const dome_object *object)
{
    return dome_object_content(object);
}

uint64_t dome__omp_layout_bytes(void)
{
    const dome_omp_image *image = dome__omp_image();
    uint64_t bytes = dome__omp_arena_length(0);
    for (int k = 0; k < image->parts; k++)
        bytes += (uint64_t)(image->variables[k].end - image->variables[k].begin);
    return bytes;
}

/* What a thread's move costs: its own variables, and its part of what threads share, which it fetches from where it was. */
static uint64_t bytes_of_thread(unsigned threads)
{
    return here.bytes / threads + dome__omp_locals_bytes();
}

static dome_status describe(const dome_object *object, dome_object_info *info)
{
    const dealt *d = of(object);
    *info = (dome_object_info){.length = d->threads,
                               .width = bytes_of_thread(d->threads) / sizeof(double) + 1,
                               .distribution = DOME_DYNAMIC,
                               .layout = d->layout};
    return DOME_OK;
}

/* Threads keep their variables from one region to the next of as many threads, so only those of the last team move. */
static uint64_t bytes_that_move(const dealt *d)
{
    return d == here.now ? dome__omp_locals_bytes() : 0;
}

static dome_status packed_bytes(const dome_object *object, uint64_t first, uint64_t count, dome_format format, uint64_t *bytes)
{
    (void)first, (void)format;
    *bytes = count * bytes_that_move(of(object));
    return DOME_OK;
}

static dome_status pack(const dome_object *object, uint64_t first, uint64_t count, dome_format format, void *buffer,
                        uint64_t bytes)
{
    const uint64_t each = bytes_that_move(of(object));
    (void)format;
    if (bytes != count * each)
        return DOME_ERR_ARGUMENT;
    for (uint64_t k = 0; k < count && each > 0; k++)
        memcpy((char *)buffer + k * each, dome__omp_locals_of((unsigned)(first + k)), each);
    return DOME_OK;
}

/* Thread 0 is always task 0's. */
static dome_status unpack(dome_object *object, uint64_t first, uint64_t count, dome_format format, const void *buffer,
                          uint64_t bytes)
{
    const uint64_t each = bytes_that_move(of(object));
    (void)format;
    if (bytes != count * each || first + count > of(object)->threads)
        return DOME_ERR_FORMAT;
    for (uint64_t k = 0; k < count && each > 0; k++)
        if (first + k > 0)
            memcpy(dome__omp_locals_of((unsigned)(first + k)), (const char *)buffer + k * each, each);
    return DOME_OK;
}

static void follow(dealt *d, const dome_layout *layout)
{
    dome_layout *old = d->layout;
    uint64_t before = 0;
    d->layout = dome_layout_ref(layout);
    dome_layout_unref(old);
    for (int r = 0; r < here.env->size; r++) {
        d->firsts[r] = (unsigned)(r > 0 ? MAX(before, 1) : 0);
        before += dome_layout_run(layout, r, NULL);
    }
}

static dome_status adopt(dome_object *object, const dome_layout *layout)
{
    follow(of(object), layout);
    return DOME_OK;
}

static void destroy(dome_object *object)
{
    g_clear_pointer(&of(object)->layout, dome_layout_unref);
    g_clear_pointer(&of(object)->firsts, g_free);
}

static const dome_object_ops OPERATIONS = {.size = sizeof(dome_object_ops),
                                           .kind = "threads",
                                           .describe = describe,
                                           .packed_bytes = packed_bytes,
                                           .pack = pack,
                                           .unpack = unpack,
                                           .adopt = adopt,
                                           .destroy = destroy};

/* ---- times ---- */

static instant now(void)
{
    return (instant){dome__now_ns(), *here.env->wait_ns + dome__clock_apart_ns(here.env)};
}

/* Without waiting and page faults. */
static uint64_t worked(const instant *from, const instant *to)
{
    const uint64_t all = to->ns - from->ns, away = to->away_ns - from->away_ns;
    return all > away ? all - away : 0;
}

/* What this task has done since it ran its threads, as main's work between regions and making memory agree, is no part of any
 * thread's work. */
static void leave_out(void)
{
    const instant until = now();
    dome__clock_apart(here.env, worked(&here.ended, &until));
    here.ended = now();
}

static void begin_pass(void)
{
    leave_out();
    here.began = here.ended;
    here.passes = true;
    dome__block_clock_start(&here.clock, here.env, here.now ? here.now->layout : NULL);
}

/* ---- teams ---- */

static void fail(void)
{
    dome__start_failed(here.env, 1, g_strdup(dome_error_message(here.env)));
}

static dealt *find(unsigned threads)
{
    for (int k = 0; k < here.count; k++)
        if (here.sizes[k].threads == threads)
            return &here.sizes[k];
    return NULL;
}

static dealt *make(unsigned threads)
{
    if (here.count == MOST_SIZES)
        return NULL;
    dealt *d = &here.sizes[here.count];
    const dome_layout *layout = dome_env_layout(here.env, threads, 1);
    if (!layout)
        fail();
    *d = (dealt){.threads = threads, .firsts = g_new(unsigned, here.env->size)};
    follow(d, layout);
    d->object = dome_object_new(here.env, NULL, &OPERATIONS, d);
    if (!d->object)
        fail();
    dome__object_keeps_order(d->object);
    dome__object_is_followed(d->object);
    here.count++;
    return d;
}

static unsigned first(unsigned threads, int rank)
{
    const dealt *d = dome__omp_tasks.size > 1 ? find(threads) : NULL;
    return !d || rank == dome__omp_tasks.size ? dome__omp_first_even(threads, rank) : d->firsts[rank];
}

/* The operation before which threads move. */
static void begin_region(unsigned threads)
{
    dome_operation op;
    dome__begin(&op, here.env, here.code, here.now->object, threads);
    if (dome__end(&op, DOME_OK) != DOME_OK)
        fail();
    here.ended = now(); /* the clock of balancing may have begun anew in the operation */
}

void dome__omp_layout_fork(unsigned threads, uint64_t bytes)
{
    if (!here.env || dome__omp_tasks.size == 1)
        return;
    here.bytes = bytes;
    leave_out();
    dome__omp_threads_make(threads); /* their variables may come here */
    here.now = find(threads);
    if (!here.now)
        here.now = make(threads);
    if (here.now)
        begin_region(threads);
    if (dome__omp_tasks.rank == 0)
        begin_pass();
}

/* ---- passes over this task's threads ---- */

/* Task 0's first pass has begun at the fork: there thread 0 goes on. */
static void pass_begins(void)
{
    if (dome__omp_tasks.size > 1 && !here.passes)
        begin_pass();
}

static void ran(unsigned thread)
{
    if (dome__omp_tasks.size > 1)
        dome__block_clock_tick(&here.clock, thread, 1);
}

static void pass_ends(void)
{
    if (dome__omp_tasks.size == 1)
        return;
    dome__block_clock_stop(&here.clock);
    here.ended = now();
    here.passes = false;
    if (here.now)
        dome__object_charge(here.now->object, worked(&here.began, &here.ended));
}

void dome__omp_layout_begin(dome_env *env)
{
    if (env->size == 1 || !env->balance)
        return;
    here.env = env;
    here.ended = now();
    here.code = dome_operation_register(env, "parallel region", "threads:u", DOME_OPERATION_MOVES);
    if (!here.code)
        fail();
    dome__omp_tasks.first = first;
    dome__omp_tasks.pass_begins = pass_begins;
    dome__omp_tasks.ran = ran;
    dome__omp_tasks.pass_ends = pass_ends;
}
