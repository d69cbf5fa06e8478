#include "region/loading.h"

#include "system/checksum.h"
#include "system/thread.h"
#include "system/time.h"

#include <errno.h>
#include <glib.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Locks of a member, and how many units in turn have the same one: other threads may copy at the same time. */
enum { LOCKS = 16, TOGETHER = 64 };

/* Bytes that the thread reads at a time: what is read stays in the processor's cache until it has been copied. */
enum { BESIDE = 256 << 10 };

/* What the tasks of a member share. Behind it: a checksum for each block, and for each unit whether it is there. */
typedef struct head {
    pthread_mutex_t locks[LOCKS]; /* robust: a task may be killed with one */
    _Atomic uint32_t left;        /* units that are not there yet; a futex */
} head;

struct dome_loading {
    dome_loading_setup s;
    uint64_t element, block, blocks, bytes; /* bytes of an element, of a block, of all; number of blocks */
    head *head;
    _Atomic uint64_t *sums;
    _Atomic uint8_t *there;
    bool ruled;
    pthread_t thread;
    bool started;
    atomic_bool quit, over; /* free was called; all units are there */
    atomic_uint readers;    /* threads that may use the source; none begins once it is over */
    pthread_mutex_t lock;   /* of `finished` */
    pthread_cond_t changed;
    bool finished; /* this task's share is there */
};

static uint64_t blocks_of(const dome_loading_setup *s)
{
    return s->length / s->block + (s->length % s->block != 0);
}

uint64_t dome__loading_bytes(const dome_loading_setup *setup)
{
    return sizeof(head) + blocks_of(setup) * sizeof(uint64_t) + setup->units;
}

/* ---- units ---- */

static bool is_there(const dome_loading *l, uint64_t unit)
{
    return atomic_load_explicit(&l->there[unit], memory_order_acquire);
}

static uint64_t offset_of(const dome_loading *l, uint64_t unit)
{
    return MIN(unit * l->s.unit, l->bytes);
}

/* Values of some blocks in native form, on their way from the file. */
typedef struct staged {
    dome_loading *loading;
    uint64_t first; /* block */
    char *values;
} staged;

static void stage(void *ctx, uint64_t block, const void *values)
{
    const staged *to = ctx;
    dome_loading *l = to->loading;
    const uint64_t offset = block * l->block, bytes = MIN(l->block, l->bytes - offset);
    char *at = to->values + (block - to->first) * l->block;
    dome_type_unpack(l->s.type, DOME_PORTABLE, at, values, (size_t)(bytes / l->element * l->s.width));
    atomic_store_explicit(&l->sums[block], dome__checksum64(at, (size_t)bytes), memory_order_relaxed);
}

/* What a task has not finished that was killed with the lock, is done again: those units are not there. */
static void lock_units(pthread_mutex_t *mutex)
{
    if (pthread_mutex_lock(mutex) == EOWNERDEAD)
        pthread_mutex_consistent(mutex);
}

static void tell_left(dome_loading *l, uint32_t done)
{
    if (done > 0 && atomic_fetch_sub(&l->head->left, done) == done)
        syscall(SYS_futex, &l->head->left, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* Copies to their places the units first .. end - 1 that are not there. */
static void put_units(const staged *from, uint64_t first, uint64_t end)
{
    dome_loading *l = from->loading;
    char *memory = dome__memory_alias(l->s.memory);
    while (first < end) {
        const uint64_t next = MIN((first / TOGETHER + 1) * TOGETHER, end);
        pthread_mutex_t *mutex = &l->head->locks[first / TOGETHER % LOCKS];
        uint32_t done = 0;
        lock_units(mutex);
        for (; first < next; first++) {
            const uint64_t offset = offset_of(l, first);
            if (is_there(l, first))
                continue;
            memcpy(memory + offset, from->values + (offset - from->first * l->block), offset_of(l, first + 1) - offset);
            atomic_store_explicit(&l->there[first], 1, memory_order_release);
            done++;
        }
        pthread_mutex_unlock(mutex);
        tell_left(l, done);
    }
}

/* Reads the blocks that have a part of these units, and puts all units in place that these blocks have whole. */
static void read_units(dome_loading *l, uint64_t unit, uint64_t count)
{
    const uint64_t first = offset_of(l, unit) / l->block, last = (offset_of(l, unit + count) - 1) / l->block;
    const uint64_t begin = first * l->block, end = MIN((last + 1) * l->block, l->bytes);
    staged to = {l, first, g_malloc0((gsize)(end - begin))};
    l->s.source->read(l->s.source, (dome_span){first, last - first + 1}, stage, &to);
    const uint64_t whole = end == l->bytes ? l->s.units : end / l->s.unit;
    put_units(&to, (begin + l->s.unit - 1) / l->s.unit, whole);
    g_free(to.values);
}

/* The source is there until this thread leaves. False: it is not needed any more. */
static bool enter(dome_loading *l)
{
    atomic_fetch_add(&l->readers, 1);
    if (!atomic_load(&l->over))
        return true;
    atomic_fetch_sub(&l->readers, 1);
    return false;
}

/* Reads so many units together, unless others have done so by then. A handler of the program that touched the memory could come
 * between, and wait for a lock that this thread has: so signals are blocked. */
static void read_together(dome_loading *l, uint64_t unit, uint64_t count)
{
    sigset_t before;
    if (!enter(l))
        return;
    dome__signals_block(&before);
    read_units(l, unit, count);
    dome__signals_restore(&before);
    atomic_fetch_sub(&l->readers, 1);
}

static void read_missing(dome_loading *l, uint64_t first, uint64_t end)
{
    const uint64_t most = MAX(BESIDE / l->s.unit, 1);
    uint64_t count;
    for (; first < end; first += MAX(count, 1)) {
        for (count = 0; first + count < end && count < most && !is_there(l, first + count);)
            count++;
        if (count > 0)
            read_together(l, first, count);
    }
}

/* ---- rights ---- */

/* A right for all units that are there, from the first to the last of these. */
static void allow_units(dome_loading *l, uint64_t first, uint64_t end)
{
    const uint64_t pages = l->s.unit / dome__memory_page(l->s.memory);
    while (l->ruled && first < end) {
        uint64_t count = 0;
        while (first + count < end && is_there(l, first + count))
            count++;
        if (count > 0)
            dome__memory_allow_surely(l->s.memory, (size_t)(first * pages), (size_t)(count * pages), DOME_ACCESS_WRITE);
        first += MAX(count, 1);
    }
}

void dome__loading_want(dome_loading *l, uint64_t first, uint64_t bytes)
{
    const uint64_t end = MIN(first + bytes, l->bytes), unit = first / l->s.unit;
    if (first >= end || atomic_load(&l->over))
        return;
    const uint64_t behind = (end - 1) / l->s.unit + 1;
    read_missing(l, unit, behind);
    allow_units(l, unit, behind);
}

static void touch(void *ctx, size_t at, bool write)
{
    dome_loading *l = ctx;
    const uint64_t unit = at / l->s.unit, offset = offset_of(l, unit);
    (void)write;
    dome__loading_want(l, offset, l->s.unit);
    const uint64_t begin = offset / l->block * l->block / l->s.unit, end = MIN((offset / l->block + 1) * l->block, l->bytes);
    allow_units(l, begin, MAX((end + l->s.unit - 1) / l->s.unit, unit + 1));
}

const char *dome__loading_rule(dome_loading *l)
{
    const char *why = dome__memory_on_fault(l->s.memory, touch, l);
    l->ruled = !why;
    return why;
}

/* ---- beside the program ---- */

static void read_share(dome_loading *l, dome_span blocks)
{
    const uint64_t begin = blocks.first * l->block / l->s.unit, step = MAX(BESIDE / l->s.unit, 1);
    const uint64_t bytes = MIN((blocks.first + blocks.count) * l->block, l->bytes);
    const uint64_t end = (bytes + l->s.unit - 1) / l->s.unit;
    for (uint64_t unit = begin; unit < end && !atomic_load(&l->quit); unit += step) {
        const uint64_t next = MIN(unit + step, end);
        read_missing(l, unit, next);
        allow_units(l, unit, next);
    }
}

/* The units that other tasks of the member read. One that is killed is found by others: this thread ends with its task. */
static bool wait_for_all(dome_loading *l)
{
    const struct timespec look = {.tv_nsec = 20000000};
    for (uint32_t left; (left = atomic_load(&l->head->left)) > 0 && !atomic_load(&l->quit);)
        syscall(SYS_futex, &l->head->left, FUTEX_WAIT, left, &look, NULL, 0);
    return atomic_load(&l->head->left) == 0;
}

/* No thread reads any more: the file is closed, and the memory is as if it had never had rights. */
static void end_reading(dome_loading *l)
{
    const struct timespec moment = {.tv_nsec = 100000};
    if (l->ruled)
        dome__memory_release(l->s.memory);
    atomic_store(&l->over, true);
    while (atomic_load(&l->readers) > 0)
        nanosleep(&moment, NULL);
    l->s.source->free(l->s.source);
    l->s.source = NULL;
}

static void read_shares(dome_loading *l)
{
    for (int k = 0; k < l->s.nshares; k++)
        read_share(l, l->s.shares[k]);
    pthread_mutex_lock(&l->lock);
    l->finished = true;
    pthread_cond_broadcast(&l->changed);
    pthread_mutex_unlock(&l->lock);
}

static void *read_beside(void *loading)
{
    dome_loading *l = loading;
    read_shares(l);
    if (wait_for_all(l))
        end_reading(l);
    return NULL;
}

/* Without a thread everything is read now. */
void dome__loading_start(dome_loading *l)
{
    l->started = dome__thread_start(&l->thread, read_beside, l) == 0;
    if (!l->started)
        read_shares(l);
}

void dome__loading_finish(dome_loading *l)
{
    pthread_mutex_lock(&l->lock);
    while (!l->finished)
        pthread_cond_wait(&l->changed, &l->lock);
    pthread_mutex_unlock(&l->lock);
}

uint64_t dome__loading_sum(const dome_loading *l, uint64_t block)
{
    return atomic_load_explicit(&l->sums[block], memory_order_relaxed);
}

/* ---- beginning and end ---- */

static void prepare_shared(dome_loading *l)
{
    pthread_mutexattr_t attributes;
    uint32_t left = 0;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    for (int k = 0; k < LOCKS; k++)
        pthread_mutex_init(&l->head->locks[k], &attributes);
    pthread_mutexattr_destroy(&attributes);
    for (uint64_t k = 0; k < l->s.units; k++) {
        const bool skips = l->s.skips && l->s.skips(l->s.ctx, k);
        atomic_init(&l->there[k], skips);
        left += !skips;
    }
    atomic_init(&l->head->left, left);
}

dome_loading *dome__loading_new(const dome_loading_setup *setup)
{
    dome_loading *l = g_new0(dome_loading, 1);
    l->s = *setup;
    l->element = setup->width * dome_type_size(setup->type);
    l->block = setup->block * l->element;
    l->blocks = blocks_of(setup);
    l->bytes = setup->length * l->element;
    l->head = dome__memory_data(setup->shared);
    l->sums = (_Atomic uint64_t *)(l->head + 1);
    l->there = (_Atomic uint8_t *)(l->sums + l->blocks);
    pthread_mutex_init(&l->lock, NULL);
    dome__condition_init(&l->changed);
    if (setup->first)
        prepare_shared(l);
    return l;
}

void dome__loading_free(dome_loading *l)
{
    if (!l)
        return;
    atomic_store(&l->quit, true);
    syscall(SYS_futex, &l->head->left, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    if (l->started)
        pthread_join(l->thread, NULL);
    if (l->s.source)
        end_reading(l);
    dome__memory_free(l->s.shared);
    pthread_cond_destroy(&l->changed);
    pthread_mutex_destroy(&l->lock);
    g_free(l);
}
