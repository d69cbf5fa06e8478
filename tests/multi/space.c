/* Memory of the program at its own addresses, which tasks keep equal: the program's globals, a heap of which little is used, a
 * heap of another task. What tasks write at random between meetings, in sections, on stacks in that memory, is compared with what
 * each task computes alone. */
#include "checked.h"
#include "draw.h"

#include "peer/peer.h"
#include "region/region_profile.h"
#include "space/space.h"
#include "system/bytes.h"
#include "system/thread.h"
#include "transport/agree.h"

#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

enum { PAGE = 4096, ROUNDS = 120, LOG = 4096 };

/* Whole pages of the program's data. */
typedef struct globals {
    unsigned char bytes[3 * PAGE];
    int64_t total, log[LOG];
    unsigned char pinned[PAGE];
    int64_t rest[PAGE / 8 - (1 + LOG) % (PAGE / 8)];
} globals;
static _Alignas(PAGE) globals shared = {.bytes = {'a', 'b', 'c'}, .total = 0};

#ifdef __SANITIZE_THREAD__ /* ThreadSanitizer knows no other memory than what lies there, and in the program */
#define HEAP   ((unsigned char *)0x7e9000000000)
#define OTHERS ((unsigned char *)0x7eb000000000)
#else
#define HEAP   ((unsigned char *)0x200000000000)
#define OTHERS ((unsigned char *)0x210000000000)
#endif
#define HEAP_BYTES ((uint64_t)1 << 36)

static dome_space *space;
static int rank, size;
static uint64_t seed = 7;

/* ---- bytes at random, in several places ---- */

enum { PLACES = 4, PLACE = 3 * PAGE, BYTES = PLACES * PLACE };

/* In globals, at the heap's beginning, far behind in it, and in the last task's heap. */
static unsigned char *byte_at(unsigned k)
{
    unsigned char *const places[PLACES] = {shared.bytes, HEAP, HEAP + HEAP_BYTES / 2, OTHERS + PAGE};
    return places[k / PLACE] + k % PLACE;
}

static unsigned char model[BYTES];
static int written[BYTES]; /* the round in which the byte was written last */

/* Which task writes a byte in this round. */
static int writer_of(unsigned k, int round, unsigned chunk)
{
    return (int)(draw_mix((uint64_t)round << 32 | k / chunk) % (uint64_t)size);
}

/* Reads this task's own choice of bytes that nobody writes in this round. */
static void read_some(int round, uint64_t *own)
{
    const uint64_t before = draw_state;
    draw_state = *own;
    for (unsigned n = (unsigned)draw(30); n > 0; n--) {
        const unsigned k = (unsigned)draw(BYTES);
        if (written[k] != round)
            CHECK(*byte_at(k) == model[k]);
    }
    *own = draw_state;
    draw_state = before;
}

static void write_some(int round, uint64_t *own)
{
    static const unsigned chunks[] = {1, 7, 64, 5000, BYTES};
    static unsigned char next[BYTES];
    const unsigned chunk = chunks[draw(5)], times = (unsigned)draw(60);
    const uint64_t begin = draw_state;
    memcpy(next, model, BYTES);
    for (int pass = 0; pass < 2; pass++) { /* first the plan, then the stores */
        draw_state = begin;
        for (unsigned n = 0; n < times; n++) {
            const unsigned first = (unsigned)draw(BYTES), count = 1 + (unsigned)draw(n % 9 ? 300 : 9000);
            const unsigned char value = (unsigned char)draw(256);
            for (unsigned k = first; k < first + count && k < BYTES; k++) {
                written[k] = round;
                next[k] = value;
                if (pass && writer_of(k, round, chunk) == rank)
                    *byte_at(k) = value;
            }
            if (pass)
                read_some(round, own);
        }
    }
    memcpy(model, next, BYTES);
}

/* Each task comes to some sections; each adds one line to the log. Returns the number of all. */
static int64_t add_lines(int round)
{
    int64_t all = 0;
    for (int task = 0; task < size; task++) {
        const int64_t times = (int64_t)(draw_mix((uint64_t)round * 64 + (uint64_t)task) % 5);
        for (int64_t n = 0; n < times && task == rank; n++) {
            CHECK(dome__space_enter(space) == DOME_OK);
            CHECK(shared.total == 0 || shared.log[(shared.total - 1) % LOG] >= 0);
            shared.log[shared.total++ % LOG] = (int64_t)round * size + task;
            dome__space_leave(space, n % 2);
        }
        all += times;
    }
    return all;
}

static void check_lines(int round, int64_t before, int64_t all)
{
    int64_t of_task[64] = {0};
    CHECK(shared.total == before + all);
    for (int64_t k = before; k < before + all; k++) {
        CHECK(shared.log[k % LOG] / size == round);
        of_task[shared.log[k % LOG] % size]++;
    }
    for (int task = 0; task < size; task++)
        CHECK(of_task[task] == (int64_t)(draw_mix((uint64_t)round * 64 + (uint64_t)task) % 5));
}

static void check_random(void)
{
    uint64_t own = (uint64_t)rank + 100;
    int64_t lines = 0;
    dome__space_stay(space, byte_at(PLACE + PAGE));
    dome__space_stay(space, byte_at(BYTES - 1));
    draw_state = seed;
    for (int round = 1; round <= ROUNDS; round++) {
        const uint64_t place = draw(3);
        const bool moves = draw(2), sections = draw(2), writes = draw(4);
        if (writes)
            write_some(round, &own);
        const int64_t more = sections ? add_lines(round) : 0;
        CHECK(dome__space_meet(space, place, moves) == DOME_OK);
        if (sections)
            check_lines(round, lines, more);
        lines += more;
        if (sections) /* before others write on */
            CHECK(dome__space_meet(space, 9, false) == DOME_OK);
    }
    for (unsigned k = 0; k < BYTES; k++)
        CHECK(*byte_at(k) == model[k]);
    CHECK(dome__space_meet(space, 8, false) == DOME_OK);
}

/* ---- the rest ---- */

static void check_words(void)
{
    dome_release_word word = {0};
    if (rank == 0)
        word = (dome_release_word){.place = 77, .moves = true, .words = {1, 2, [DOME_RELEASE_WORDS - 1] = 3}};
    CHECK(dome__space_meet_by(space, &word) == DOME_OK);
    CHECK(word.place == 77 && word.moves && word.words[0] == 1 && word.words[1] == 2 && word.words[DOME_RELEASE_WORDS - 1] == 3);
}

/* Frames of many pages, of which other tasks have parts. */
static uint64_t descend(int depth, volatile uint64_t *outer)
{
    volatile uint64_t frame[PAGE / 8];
    for (int k = 0; k < PAGE / 8; k += 64)
        frame[k] = *outer + (uint64_t)k;
    return depth == 0 ? frame[64] : descend(depth - 1, frame) + frame[0];
}

static ucontext_t task_context, fibre;
static uint64_t result;

static void run_fibre(void)
{
    volatile uint64_t one = 1;
    result = descend(40, &one);
}

static void run_there(void *stack, size_t bytes)
{
    getcontext(&fibre);
    fibre.uc_stack.ss_sp = stack;
    fibre.uc_stack.ss_size = bytes;
    fibre.uc_link = &task_context;
    makecontext(&fibre, run_fibre, 0);
    swapcontext(&task_context, &fibre);
}

/* A fibre whose stack all tasks share: one task after the other uses it. */
static void check_stack(void)
{
    enum { STACK = 1 << 20 };
    for (int round = 0; round < 2 * size; round++) {
        result = 0;
        if (round % size == rank)
            run_there(HEAP + HEAP_BYTES / 4, STACK);
        CHECK(result == (round % size == rank ? 40 + 65 : 0));
        CHECK(dome__space_meet(space, 5, true) == DOME_OK);
    }
}

/* A system call fails where an access would wait, unless the bytes are wanted before. */
static void check_system_calls(void)
{
    enum { MANY = 5 * PAGE };
    unsigned char *at = HEAP + HEAP_BYTES / 8 + 100;
    int ends[2];
    CHECK(pipe(ends) == 0);
    for (int task = 0; task < size; task++) {
        if (task == rank) {
            dome__space_want(space, at, MANY, false);
            CHECK(write(ends[1], at, MANY) == MANY);
            memset(at, task + 1, MANY);
            dome__space_want(space, at + MANY, MANY, true);
            CHECK(read(ends[0], at + MANY, MANY) == MANY);
        }
        CHECK(dome__space_meet(space, 4, true) == DOME_OK);
        CHECK(at[0] == task + 1 && at[MANY - 1] == task + 1);
        CHECK(at[MANY] == task && at[2 * MANY - 1] == task);
        CHECK(dome__space_meet(space, 3, false) == DOME_OK);
    }
    close(ends[0]);
    close(ends[1]);
}

/* Tasks write many units in turns, mostly the same ones behind the same place, so that homes move before these are written; now
 * and then others do. Few of the units are read, and some of them while others are written. */
static void check_turns(void)
{
    enum { UNITS = 128, TURNS = 90, PHASES = 3, GROUP = 16 };
    static int64_t last[UNITS];
    int64_t *const at = (int64_t *)(void *)(HEAP + HEAP_BYTES / 64);
    for (int round = 1; round <= TURNS; round++) {
        const int phase = round % PHASES, surprise = round % 13 == 0;
        for (int k = 0; k < UNITS; k++) {
            int64_t *unit = at + (size_t)k * PAGE / sizeof *at;
            const bool rests = (k + round) % 5 == 0;
            if (rests && draw_mix((uint64_t)(round * UNITS + k) * 8 + (uint64_t)rank) % 3 == 0)
                CHECK(unit[k] == last[k] && unit[PAGE / 8 - 1] == last[k]);
            if (!rests && (k / GROUP + phase + surprise) % size == rank)
                unit[k] = unit[PAGE / 8 - 1] = (int64_t)round * 1000 + k;
            if (k % 40 == rank && round % 4 == 0) { /* in the middle */
                CHECK(dome__space_enter(space) == DOME_OK);
                shared.rest[rank]++;
                dome__space_leave(space, true);
            }
        }
        for (int k = 0; k < UNITS; k++)
            if ((k + round) % 5 != 0)
                last[k] = (int64_t)round * 1000 + k;
        CHECK(dome__space_meet(space, 20 + (uint64_t)(round + 1) % PHASES, true) == DOME_OK);
        for (int k = rank % 3; k < UNITS && round % 2; k += 7)
            CHECK(at[(size_t)k * PAGE / sizeof *at + (size_t)k] == last[k]);
        CHECK(dome__space_meet(space, 23 + (uint64_t)(round + 1) % PHASES, true) == DOME_OK);
    }
    for (int k = 0; k < UNITS; k++)
        CHECK(at[(size_t)k * PAGE / sizeof *at + (size_t)k] == last[k]);
    CHECK(dome__space_meet(space, 26, false) == DOME_OK);
}

/* Behind one place tasks read many units that others have written, so that all read there together; meanwhile the owner and a
 * third task write other words of these units. Sometimes other tasks read, or nobody does. */
static void check_reading_together(void)
{
    enum { UNITS = 200, ROUNDS = 60, FRONT = 0, MIDDLE = 200, BACK = PAGE / 8 - 1 };
    static int64_t front[UNITS], middle[UNITS], back[UNITS];
    int64_t *const at = (int64_t *)(void *)(HEAP + HEAP_BYTES / 32);
    for (int64_t round = 1; round <= ROUNDS; round++) {
        for (int k = 0; k < UNITS; k++) {
            if ((k + round) % 7 == 0)
                continue;
            front[k] = round * 1000 + k;
            if (k % size == rank)
                at[(size_t)k * PAGE / 8 + FRONT] = front[k];
        }
        CHECK(dome__space_meet(space, 30, true) == DOME_OK);
        const int reader = round % 11 == 0 ? size : round % 5 == 0 ? (int)round % size : -1; /* size: none; -1: all */
        for (int k = 0; k < UNITS; k++) {
            int64_t *unit = at + (size_t)k * PAGE / 8;
            if (k % 3 == 0 && k % size == rank)
                unit[BACK] = round;
            if (k % 4 == 0 && (k + 1) % size == rank)
                unit[MIDDLE] = -round;
            if ((reader == rank || reader < 0) && k / 4 % 3 != rank % 3)
                CHECK(unit[FRONT] == front[k]);
            back[k] = k % 3 == 0 ? round : 0;
            middle[k] = k % 4 == 0 ? -round : 0;
        }
        CHECK(dome__space_meet(space, 31, round % 2 == 0) == DOME_OK);
        for (int k = rank; k < UNITS; k += 9)
            CHECK(at[(size_t)k * PAGE / 8 + BACK] == back[k] && at[(size_t)k * PAGE / 8 + MIDDLE] == middle[k]);
        CHECK(dome__space_meet(space, 32, true) == DOME_OK);
    }
    for (int k = 0; k < UNITS; k++)
        CHECK(at[(size_t)k * PAGE / 8 + FRONT] == front[k] && at[(size_t)k * PAGE / 8 + BACK] == back[k]);
    CHECK(dome__space_meet(space, 33, false) == DOME_OK);
}

/* What a task defers comes to others all the same, which wait for the last step while that task does something else. */
static void check_deferring(void)
{
    enum { STEPS = 200 };
    volatile int64_t *const step = (int64_t *)(void *)(HEAP + HEAP_BYTES / 128), *const data = step + PAGE;
    for (int64_t k = 1; k <= STEPS && rank == 0; k++) {
        data[k] = 3 * k;
        *step = k;
        if (dome__space_defer(space))
            continue;
        CHECK(dome__space_enter(space) == DOME_OK);
        dome__space_leave(space, true);
    }
    for (int64_t now = 0; rank > 0 && now < STEPS;) {
        const uint64_t seen = dome__space_told(space);
        CHECK(dome__space_enter(space) == DOME_OK);
        now = *step;
        dome__space_leave(space, false);
        for (int64_t k = 1; k <= now; k++)
            CHECK(data[k] == 3 * k);
        if (now < STEPS)
            CHECK(dome__space_await(space, seen) == DOME_OK);
    }
    if (rank == 0)
        usleep(50000);
    CHECK(dome__space_meet(space, 27, false) == DOME_OK);
}

/* A task sleeps until another one tells it of a change. */
static void check_telling(void)
{
    volatile int64_t *turn = (int64_t *)(void *)(HEAP + 64 * PAGE);
    CHECK(dome__space_meet(space, 2, false) == DOME_OK);
    const int64_t before = *turn;
    CHECK(dome__space_meet(space, 2, false) == DOME_OK);
    for (int k = 0; k < 10; k++)
        for (bool done = false; !done;) {
            const uint64_t seen = dome__space_told(space);
            CHECK(dome__space_enter(space) == DOME_OK);
            done = *turn % size == rank;
            if (done)
                ++*turn;
            dome__space_leave(space, done);
            if (!done)
                CHECK(dome__space_await(space, seen) == DOME_OK);
        }
    CHECK(dome__space_meet(space, 2, false) == DOME_OK);
    CHECK(*turn == before + (int64_t)10 * size);
}

/* A message that would give the token to a task that there is not (GIVE of token.c) changes nothing. */
static void check_damaged(void)
{
    uint8_t message[13] = {2};
    dome__put_u32(message + 9, (uint32_t)size);
    CHECK(dome__peer_tell(env->peer, (rank + 1) % size, DOME_PEER_SPACE, message, sizeof message) == DOME_PEER_OK);
    check_telling();
}

static _Atomic bool stops;

/* Without an alternate stack, and with all signals blocked: a fault would end the process. */
static void *read_always(void *at)
{
    const volatile unsigned char *byte = at;
    uint64_t reads = 0;
    while (!stops || reads < 1000) {
        if (*byte != 'c')
            return at;
        reads++;
    }
    return NULL;
}

static void check_pins(void)
{
    pthread_t thread;
    void *other;
    if (rank == 0)
        shared.pinned[0] = 'c';
    CHECK(dome__space_meet(space, 10, true) == DOME_OK);
    dome__space_pin(space, shared.pinned, 1);
    CHECK(dome__space_meet(space, 10, true) == DOME_OK);
    CHECK(shared.pinned[0] == 'c');
    CHECK(dome__thread_start(&thread, read_always, shared.pinned) == 0);
    for (int k = 0; k < 100; k++) {
        if (k % size == rank)
            shared.pinned[1 + k] = 1;
        if (k % 3 == 0) {
            CHECK(dome__space_enter(space) == DOME_OK);
            shared.pinned[500]++;
            dome__space_leave(space, false);
        }
        CHECK(dome__space_meet(space, 10, k % 2) == DOME_OK);
        CHECK(shared.pinned[1 + k] == 1);
    }
    stops = true;
    CHECK(pthread_join(thread, &other) == 0 && !other);
    CHECK(shared.pinned[500] == 34 * size % 256);
    CHECK(dome__space_meet(space, 10, true) == DOME_OK);
}

/* Task 0 changes a few of many pages that all tasks read: more than can be hot at a time. */
static void check_many_hot(void)
{
    enum { PAGES = 56, EACH = 7, TIMES = 200 };
    unsigned char *at = HEAP + HEAP_BYTES / 16, expected[PAGES] = {0};
    for (int time = 1; time <= TIMES; time++) {
        for (int k = 0; k < EACH; k++) {
            const int page = (time * EACH + k) % PAGES;
            expected[page] = (unsigned char)time;
            if (rank == 0)
                at[page * PAGE] = (unsigned char)time;
        }
        CHECK(dome__space_meet(space, 11, true) == DOME_OK);
        for (int page = 0; page < PAGES; page++)
            CHECK(at[page * PAGE] == expected[page]);
        CHECK(dome__space_meet(space, 12, true) == DOME_OK);
    }
}

/* The last task fetches a hot unit while a byte of it has a value that it has neither before nor behind. */
static void check_middle(void)
{
    volatile unsigned char *at = HEAP + HEAP_BYTES / 16 * 3;
    enum { TIMES = 6 };
    for (int time = 1; time <= TIMES; time++) {
        if (rank == 0)
            at[0] = (unsigned char)time;
        CHECK(dome__space_meet(space, 13, true) == DOME_OK);
        if (rank == 1)
            CHECK(at[0] == time);
        CHECK(dome__space_meet(space, 14, true) == DOME_OK);
    }
    if (rank == 0)
        at[0] = 99;
    CHECK(dome__agree(env, DOME_OK, NULL) == DOME_OK);
    if (rank == size - 1)
        CHECK(at[5] == 0);
    CHECK(dome__agree(env, DOME_OK, NULL) == DOME_OK);
    if (rank == 0)
        at[0] = TIMES;
    for (int time = 0; time < 20; time++) {
        CHECK(dome__space_meet(space, 14, true) == DOME_OK);
        CHECK(at[0] == TIMES);
    }
}

/* A page that tasks write in sections, in each interval, is written without a fault. */
static void check_hot_sections(void)
{
    enum { FIRST = 10, TIMES = 50, FAULTS = 8 };
    const dome_region_figures *figures = dome__region_profile_add(env, "heap");
    uint64_t *at = (uint64_t *)(void *)(HEAP + HEAP_BYTES / 16 * 7), before = 0;
    for (int time = 1; time <= TIMES; time++) {
        CHECK(dome__space_enter(space) == DOME_OK);
        at[0]++;
        at[rank + 1] = (uint64_t)time;
        dome__space_leave(space, true);
        CHECK(dome__space_meet(space, 15, true) == DOME_OK);
        for (int k = 0; k < size; k++)
            CHECK(at[k + 1] == (uint64_t)time);
        CHECK(at[0] == (uint64_t)(time * size));
        if (time == FIRST)
            before = figures->writes;
        CHECK(dome__space_meet(space, 15, true) == DOME_OK);
    }
    CHECK(figures->writes - before <= FAULTS);
}

/* A process made by fork has memory of its own, as of the call: its parent writes pages before the child has touched them. */
static void check_fork(void)
{
    int status = 0, ends[2];
    char byte = 0;
    unsigned char *untouched = HEAP + HEAP_BYTES / 16 * 5;
    CHECK(pipe(ends) == 0);
    HEAP[0] = HEAP[PAGE] = 5;
    const pid_t child = fork();
    if (child == 0) {
        close(ends[1]); /* it ends with its parent */
        const bool told = read(ends[0], &byte, 1) == 1;
        HEAP[0]++;
        _exit(told && HEAP[PAGE] == 5 && untouched[0] == 0 ? HEAP[0] : 1);
    }
    HEAP[PAGE] = untouched[0] = 7;
    CHECK(write(ends[1], &byte, 1) == 1);
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 6);
    CHECK(HEAP[0] == 5 && HEAP[PAGE] == 7);
    close(ends[0]);
    close(ends[1]);
    CHECK(dome__space_meet(space, 1, false) == DOME_OK);
}

/* Memory that is filled. Each task fills a part, but for some pages, which it opens all the same; other tasks write these, and a
 * byte of some that it fills. Then all is read, and the parts change hands. by_columns: not one page behind the other. */
enum { FILLED = 640, HOLE = 37, SHARED_EVERY = 16 };

static unsigned char filled(int page, int round)
{
    return (unsigned char)(page * 7 + round * 3 + 1);
}

static void fill(unsigned char *at, int round, bool by_columns)
{
    enum { COLUMNS = 4 };
    const int each = FILLED / size, me = (rank + round) % size, first = me * each, row = by_columns ? each / COLUMNS : each;
    for (int k = 0; k < row; k++)
        for (int page = first + k; page < first + each; page += row) {
            if (page % HOLE == HOLE - 1 && page % each > 0)
                continue;
            memset(at + (size_t)page * PAGE, filled(page, round), PAGE - 1);
        }
    for (int page = 0; page < FILLED; page++) { /* bytes of others' pages */
        const bool hole = page % HOLE == HOLE - 1, theirs = page / each == (me + 1) % size && page < each * size;
        if (theirs && (hole || page % SHARED_EVERY == 0))
            at[(size_t)page * PAGE + PAGE - 1] = filled(page, round);
    }
}

static void check_filled(const unsigned char *at, int round)
{
    const int each = FILLED / size;
    for (int page = 0; page < each * size; page++) {
        const bool hole = page % HOLE == HOLE - 1 && page % each > 0, last = page % HOLE == HOLE - 1 || page % SHARED_EVERY == 0;
        const unsigned char *p = at + (size_t)page * PAGE;
        if (!hole)
            CHECK(p[0] == filled(page, round) && p[PAGE - 2] == filled(page, round));
        if (hole)
            CHECK(p[0] == 0 && p[PAGE - 2] == 0);
        CHECK(p[PAGE - 1] == (last ? filled(page, round) : 0));
    }
}

static void check_filling(void)
{
    unsigned char *const parts[] = {HEAP + HEAP_BYTES / 16 * 9, HEAP + HEAP_BYTES / 16 * 11};
    for (int round = 0; round < 5; round++)
        for (int part = 0; part < 2; part++) {
            fill(parts[part], round, part == 1);
            CHECK(dome__space_meet(space, 40 + (uint64_t)part, true) == DOME_OK);
            if (round % 2 == 0 || rank == 0)
                check_filled(parts[part], round);
            CHECK(dome__space_meet(space, 42 + (uint64_t)part, true) == DOME_OK);
        }
}

int main(int argc, char **argv)
{
    init_unbalanced(argc, argv);
    if (argc > 1 && argv[1][0] != '-') /* another seed than the usual one */
        seed = strtoull(argv[1], NULL, 10);
    rank = dome_rank(env);
    size = dome_size(env);
    if (size > 1) {
        space = dome__space_new(env);
        CHECK(space);
        const dome_space_range ranges[] = {{"globals", &shared, sizeof shared, .keep = true, .home = 0},
                                           {"heap", HEAP, HEAP_BYTES, .home = 0},
                                           {"heap of the last task", OTHERS, HEAP_BYTES, .home = size - 1}};
        memcpy(model, shared.bytes, PLACE);
        CHECK(dome__space_add(space, ranges, 3) == DOME_OK);
        CHECK(dome__space_has(space, &shared.total) && dome__space_has(space, HEAP + HEAP_BYTES - 1));
        CHECK(!dome__space_has(space, HEAP + HEAP_BYTES) && !dome__space_has(space, &space));
        check_random();
        check_words();
        check_stack();
        check_system_calls();
        check_telling();
        check_turns();
        check_reading_together();
        check_deferring();
        check_damaged();
        check_pins();
        check_many_hot();
        check_middle();
        check_hot_sections();
        check_fork();
        check_filling();
        if (rank == size - 1)
            memset(shared.rest, 4, sizeof shared.rest);
        CHECK(dome__space_meet(space, 6, true) == DOME_OK);
        dome__space_free(space);
        CHECK(rank > 0 || *(unsigned char *)shared.rest == 4);
    }
    dome_print(env, "ok space on %d tasks: %u checks\n", size, checks);
    return dome_finalize(env) ? 1 : 0;
}
