/* Consistency of regions: random programs of loads, stores, atomic operations and locks on a few places, some of them
 * neighbouring bytes. One order must explain what all tasks saw (tests/support/histories.h).
 *
 *     histories [ROUNDS [SEED [MISTAKE [release]]]]
 *
 * Where each task is a member of its own (--dome-road pvm), memory is sequentially consistent; among tasks of one host it is what
 * the processor gives, so there only programs that use locks, and those of one task for each member, are sequentially consistent.
 * MISTAKE: one is made on purpose, and has to be found. release: release consistency, which promises that to programs alone that
 * access each place with its lock. */
#include "checked.h"

#include "core/environment.h"
#include "draw.h"
#include "histories.h"
#include "region/member.h"

#include <inttypes.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#if defined(__x86_64__) || defined(__i386__)
#define ORDER memory_order_relaxed /* plain loads and stores */
#else
#define ORDER memory_order_seq_cst
#endif

enum { UNITS = 4, WORDS = UNITS * 512, BYTES = 2 * 4096 };

typedef enum mistake {
    NONE,
    KEEPS,    /* the last task loads each place once: it keeps a copy that it should have given up */
    LATE,     /* it stores after the load that follows */
    BYTE,     /* it writes the bytes beside its own, too, as it has read them */
    UNLOCKED, /* it does not take locks */
    STALE,    /* it adds by a load and a store */
    EXCHANGED /* two results are exchanged before they are checked */
} mistake;

static const char *const mistakes[] = {"none", "keeps", "late", "byte", "unlocked", "stale", "exchanged"};

typedef enum program_kind { RACING, ONE_OF_EACH, LOCKED, KINDS } program_kind;

typedef struct place {
    bool byte;
    uint64_t index;
} place;

/* What a task does in a round. */
typedef struct program {
    uint64_t count;
    history_event events[HISTORY_EVENTS];
    unsigned char pauses[HISTORY_EVENTS];
} program;

static int rank, size;
static mistake made;
static dome_consistency consistency;
static int64_t *words;
static unsigned char *bytes;
static dome_region *regions[2];
static dome_lock *locks[HISTORY_LOCKS];
static place places[HISTORY_PLACES];
static unsigned place_count;

/* ---- programs ---- */

static void draw_places(void)
{
    static const uint64_t offsets[] = {0, 1, 511};
    place_count = made == LATE ? 2 : 2 + (unsigned)draw(4);
    const uint64_t at = draw(2) * 4096 + draw(2) * 4088;
    for (unsigned k = 0; k < place_count;) {
        const bool byte = draw(3) == 0 || made == BYTE;
        const place p = {byte, byte ? at + draw(8) : draw(UNITS) * 512 + offsets[draw(3)]};
        bool there = false;
        for (unsigned i = 0; i < k; i++)
            there |= places[i].byte == p.byte && places[i].index == p.index;
        if (!there)
            places[k++] = p;
    }
}

/* The values of all tasks differ, and fit into a byte. */
static void add_event(program *p, history_kind kind, int64_t where)
{
    p->pauses[p->count] = (unsigned char)draw(16);
    p->events[p->count] = (history_event){kind, where, 0, 1 + rank * HISTORY_EVENTS + (int64_t)p->count};
    p->count++;
}

static void add_access(program *p, int64_t where)
{
    static const history_kind kinds[] = {HISTORY_LOAD,  HISTORY_LOAD,  HISTORY_LOAD, HISTORY_LOAD,
                                         HISTORY_STORE, HISTORY_STORE, HISTORY_SWAP, HISTORY_ADD};
    add_event(p, kinds[draw(made == BYTE ? 6 : 8)], where);
}

/* With a lock for all places if all programs use it, else for any. */
static void add_section(program *p)
{
    const int64_t lock = (int64_t)draw(HISTORY_LOCKS);
    add_event(p, HISTORY_ACQUIRE, lock);
    for (uint64_t k = 1 + draw(3); k > 0; k--)
        add_access(p, (int64_t)(draw((place_count + 1 - (uint64_t)lock) / 2) * 2 + (uint64_t)lock)); /* place k: lock k % 2 */
    add_event(p, HISTORY_RELEASE, lock);
}

static void draw_program(program *p, program_kind kind)
{
    const uint64_t most = size <= 3 ? 10 : size <= 5 ? 8 : 5;
    const dome_member_table *members = env->lazy.members;
    *p = (program){0};
    if (kind == ONE_OF_EACH && draw(members->tasks) != members->task && members->tasks > 1)
        return;
    while (p->count + (kind == LOCKED ? 4 : 0) < most) {
        if (kind == LOCKED || (draw(12) == 0 && p->count + 5 < most))
            add_section(p);
        else
            add_access(p, (int64_t)draw(place_count));
    }
}

/* ---- running ---- */

static void hold_on(unsigned char pause)
{
    struct timespec now, begin;
    if (pause == 0)
        sched_yield();
    if (pause < 8)
        return;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec < 4000 * pause);
}

static int64_t load(const place *p)
{
    return p->byte ? atomic_load_explicit((_Atomic unsigned char *)bytes + p->index, ORDER)
                   : atomic_load_explicit((_Atomic int64_t *)words + p->index, ORDER);
}

static void store(const place *p, int64_t value)
{
    if (p->byte)
        atomic_store_explicit((_Atomic unsigned char *)bytes + p->index, (unsigned char)value, ORDER);
    else
        atomic_store_explicit((_Atomic int64_t *)words + p->index, value, ORDER);
}

static int64_t swap(const place *p, int64_t value)
{
    return p->byte ? atomic_exchange((_Atomic unsigned char *)bytes + p->index, (unsigned char)value)
                   : atomic_exchange((_Atomic int64_t *)words + p->index, value);
}

/* What it leaves is known now. made == STALE: by a load and a store. */
static void add(const place *p, history_event *e)
{
    const int64_t addend = e->left;
    unsigned char byte = (unsigned char)addend, was = 0;
    if (made == STALE && rank == size - 1) {
        e->seen = load(p);
        sched_yield();
        store(p, e->seen + addend);
    } else if (p->byte) {
        CHECK(dome_region_fetch_add(regions[1], p->index, 1, &byte, &was) == DOME_OK);
        e->seen = was;
    } else {
        CHECK(dome_region_fetch_add(regions[0], p->index, 1, &addend, &e->seen) == DOME_OK);
    }
    e->left = p->byte ? (unsigned char)(e->seen + addend) : e->seen + addend;
}

static void store_with_neighbours(const place *p, int64_t value)
{
    uint64_t *around = (uint64_t *)(void *)(bytes + p->index / 8 * 8), copy = *around;
    memcpy((char *)&copy + p->index % 8, &(unsigned char){(unsigned char)value}, 1);
    sched_yield();
    *(volatile uint64_t *)around = copy;
}

static void perform(history_event *e)
{
    const place *p = &places[e->where];
    const bool mine = rank == size - 1;
    switch (e->kind) {
    case HISTORY_LOAD:
        e->seen = load(p);
        break;
    case HISTORY_STORE:
        if (mine && made == BYTE)
            store_with_neighbours(p, e->left);
        else
            store(p, e->left);
        break;
    case HISTORY_SWAP:
        e->seen = swap(p, e->left);
        break;
    case HISTORY_ADD:
        add(p, e);
        break;
    default:
        if (mine && made == UNLOCKED)
            break;
        CHECK((e->kind == HISTORY_ACQUIRE ? dome_lock_acquire : dome_lock_release)(locks[e->where]) == DOME_OK);
    }
}

/* What this task saw or left there before; -1: nothing. */
static int64_t known(const program *p, uint64_t event)
{
    for (uint64_t k = event; k-- > 0;)
        if (p->events[k].kind <= HISTORY_ADD && p->events[k].where == p->events[event].where)
            return p->events[k].kind == HISTORY_LOAD ? p->events[k].seen : p->events[k].left;
    return -1;
}

static void run(program *p)
{
    const bool mine = rank == size - 1;
    for (uint64_t k = 0; k < p->count; k++) {
        history_event *e = &p->events[k], *after = k + 1 < p->count ? e + 1 : NULL;
        hold_on(p->pauses[k]);
        if (mine && made == KEEPS && e->kind == HISTORY_LOAD && known(p, k) >= 0) {
            e->seen = known(p, k);
        } else if (mine && made == LATE && e->kind == HISTORY_STORE && after && after->kind == HISTORY_LOAD &&
                   after->where != e->where) {
            perform(after);
            hold_on(15);
            perform(e);
            k++;
        } else {
            perform(e);
        }
    }
}

/* ---- judging ---- */

static history join(const program *programs)
{
    history h = {.tasks = (unsigned)size};
    for (int r = 0; r < size; r++) {
        h.counts[r] = (unsigned)programs[r].count;
        memcpy(h.events[r], programs[r].events, sizeof h.events[r]);
    }
    return h;
}

static void exchange(history *h)
{
    history_event *first = NULL;
    for (unsigned t = 0; t < h->tasks; t++)
        for (unsigned k = 0; k < h->counts[t]; k++) {
            history_event *e = &h->events[t][k];
            if (e->kind != HISTORY_LOAD && e->kind != HISTORY_SWAP)
                continue;
            if (first && first->where == e->where && first->seen != e->seen) {
                const int64_t seen = first->seen;
                first->seen = e->seen;
                e->seen = seen;
                return;
            }
            first = first ? first : e;
        }
}

/* A task saw what another one had left. */
static bool tasks_met(const history *h)
{
    for (unsigned t = 0; t < h->tasks; t++)
        for (unsigned k = 0; k < h->counts[t]; k++) {
            const history_event *e = &h->events[t][k];
            if ((e->kind == HISTORY_LOAD || e->kind == HISTORY_SWAP) && e->seen > 0 && (e->seen - 1) / HISTORY_EVENTS != t)
                return true;
        }
    return false;
}

/* counts: histories refused, and those in which tasks met. */
static void judge(const program *programs, program_kind kind, int64_t counts[2])
{
    const dome_member_table *members = env->lazy.members;
    history h = join(programs);
    const bool sequential = kind != RACING || members->count == (unsigned)size;
    if (made == EXCHANGED)
        exchange(&h);
    counts[1] += tasks_met(&h);
    if (history_is_explained(&h, sequential ? HISTORY_SEQUENTIAL : HISTORY_TOTAL_STORE))
        return;
    if (counts[0]++ == 0 && made == NONE)
        history_print(&h);
}

static void begin_round(uint64_t seed, uint64_t round)
{
    draw_state = draw_mix(seed + draw_mix(round + 1));
    if (round % 8 == 7) { /* other homes */
        relayout(WORDS, 512, (int)(round / 8 % LAYOUTS));
        relayout(BYTES, 4096, (int)(round / 8 % LAYOUTS));
    }
    draw_places();
    if (rank == (int)(round % (uint64_t)size))
        for (unsigned k = 0; k < place_count; k++)
            store(&places[k], 0);
}

static void play(uint64_t seed, uint64_t round, int64_t counts[2])
{
    static program programs[HISTORY_TASKS];
    program p;
    begin_round(seed, round);
    const program_kind kind = made == UNLOCKED || consistency == DOME_RELEASE ? LOCKED : (program_kind)draw(KINDS);
    const int judging = (int)draw((uint64_t)size);
    const uint64_t whose = kind == ONE_OF_EACH ? 0 : (uint64_t)rank + 1; /* tasks of a member draw the same: who of them plays */
    draw_state = draw_mix(draw_state + draw_mix(whose));
    if (kind == ONE_OF_EACH)
        draw_state = draw_mix(draw_state + (uint64_t)env->lazy.members->member);
    draw_program(&p, kind);
    dome_barrier(env);
    run(&p);
    dome_barrier(env);
    dome_gather(env, judging, DOME_U8, &p, sizeof p, programs);
    if (rank == judging)
        judge(programs, kind, counts);
}

static void start(int argc, char **argv)
{
    init_unbalanced(argc, argv);
    rank = dome_rank(env);
    size = dome_size(env);
    CHECK(size <= HISTORY_TASKS);
    regions[0] = dome_region_new(env, "words", DOME_I64, WORDS, DOME_REGION_OPTIONS(.block = 512, .consistency = consistency));
    regions[1] = dome_region_new(env, "bytes", DOME_U8, BYTES, DOME_REGION_OPTIONS(.block = 4096, .consistency = consistency));
    words = dome_region_data(regions[0]);
    bytes = dome_region_data(regions[1]);
    for (int k = 0; k < HISTORY_LOCKS; k++)
        locks[k] = dome_lock_new(env, NULL);
}

/* So many that a test takes some seconds. */
static uint64_t usual_rounds(void)
{
    return size <= 3 ? 1000 : size <= 5 ? 500 : 60;
}

int main(int argc, char **argv)
{
    const char *given[] = {"0", "1", "none", "sequential"};
    int64_t mine[2] = {0, 0}, all[2] = {0, 0};
    for (int k = 1; k < argc && k <= 4 && argv[k][0] != '-'; k++)
        given[k - 1] = argv[k];
    consistency = strcmp(given[3], "release") == 0 ? DOME_RELEASE : DOME_SEQUENTIAL;
    start(argc, argv);
    while (strcmp(mistakes[made], given[2]) != 0)
        CHECK(++made <= EXCHANGED);
    const uint64_t wanted = strtoull(given[0], NULL, 10), seed = strtoull(given[1], NULL, 10);
    const uint64_t rounds = wanted ? wanted : usual_rounds();
    for (uint64_t round = 0; round < rounds && all[0] == 0;) {
        for (uint64_t end = round + 20; round < end; round++)
            play(seed, round, mine);
        memcpy(all, mine, sizeof all);
        dome_allreduce(env, DOME_I64, all, 2, DOME_SUM);
    }
    dome_print(
        env, "%" PRIu64 " histories of %d tasks in %u members, seed %" PRIu64 ": tasks met in %" PRId64 ", %" PRId64 " refused\n",
        rounds, size, env->lazy.members->count, seed, all[1], all[0]);
    CHECK(made == NONE ? all[0] == 0 : all[0] > 0);
    CHECK(size == 1 || all[1] > 0);
    return dome_finalize(env) ? 1 : 0;
}
