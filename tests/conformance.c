#include "conformance.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what goes along ---- */

typedef struct battery {
    dome_env *env;
    const conformance *c;
    uint64_t random;
    dome_object *object;
    dome_object_info info;
    uint64_t blocks;
    dome_span run[2]; /* this task's blocks */
    int runs;
} battery;

static void fail(const battery *b, const char *format, ...) __attribute__((format(printf, 2, 3), noreturn));

static void fail(const battery *b, const char *format, ...)
{
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    dome_abort(b->env, "conformance of %s: %s", b->c->what, text);
}

#define EXPECT(condition, ...)                                                                                                   \
    do {                                                                                                                         \
        if (!(condition))                                                                                                        \
            fail(b, __VA_ARGS__);                                                                                                \
    } while (0)

#define EXPECT_STATUS(expected, call)                                                                                            \
    do {                                                                                                                         \
        int status_ = (call);                                                                                                    \
        if (status_ != (expected))                                                                                               \
            fail(b, "%s gives %s instead of %s", #call, dome_status_name(status_), dome_status_name(expected));                  \
    } while (0)

static uint64_t next_random(battery *b, uint64_t below)
{
    b->random ^= b->random << 13;
    b->random ^= b->random >> 7;
    b->random ^= b->random << 17;
    return (b->random >> 11) % below;
}

/* Memory of exactly this size, so that tools notice who goes beyond. */
static void *memory(const battery *b, uint64_t bytes)
{
    void *data = malloc(bytes ? bytes : 1);
    EXPECT(data, "no memory for the test");
    return data;
}

/* Sets all from the object's description. */
static void look(battery *b)
{
    b->info.size = sizeof b->info;
    EXPECT_STATUS(DOME_OK, dome_object_describe(b->object, &b->info));
    const dome_layout *layout = b->info.layout;
    b->blocks = layout ? dome_layout_blocks(layout) : 1;
    b->runs = 0;
    if (b->info.distribution == DOME_WHOLE) {
        b->run[0] = (dome_span){0, b->blocks};
        b->runs = b->blocks > 0;
        return;
    }
    uint64_t start, count = dome_layout_run(layout, dome_rank(b->env), &start);
    uint64_t head = count < b->blocks - start ? count : b->blocks - start;
    if (head > 0)
        b->run[b->runs++] = (dome_span){start, head};
    if (count > head)
        b->run[b->runs++] = (dome_span){0, count - head};
}

static bool has_blocks(const battery *b)
{
    return b->runs > 0;
}

static void expect_content(battery *b, bool as_made, const char *when)
{
    bool is = b->c->check(b->object, b->c->ctx);
    if (as_made)
        EXPECT(is, "the content is not as it was made %s", when);
    else if (has_blocks(b))
        EXPECT(!is, "check does not notice that the content was altered %s", when);
}

static void alter(battery *b, const char *when)
{
    b->c->alter(b->object, b->c->ctx);
    EXPECT_STATUS(DOME_OK, dome_object_sync(b->object));
    expect_content(b, false, when);
}

/* ---- the checks ---- */

static void check_identity(battery *b, const char *name)
{
    dome_object *o = b->object;
    const dome_object_ops *ops = dome_object_operations(o);
    EXPECT(dome_object_find(b->env, name) == o, "'%s' cannot be found by its name", name);
    EXPECT(strcmp(dome_object_name(o), name) == 0, "'%s' is called '%s'", name, dome_object_name(o));
    EXPECT(dome_object_env(o) == b->env, "the environment is another one");
    EXPECT(dome_object_id(o) > 0, "the id is 0");
    EXPECT(ops->kind && *ops->kind, "there is no kind");
    EXPECT(ops->describe && ops->packed_bytes && ops->pack && ops->unpack && ops->destroy, "a required slot is empty");
    int seen = 0;
    for (dome_object *k = NULL; (k = dome_object_next(b->env, k));)
        seen += k == o;
    EXPECT(seen == 1, "the registry has it %d times", seen);
}

static void check_description(battery *b)
{
    dome_object_info again = {.size = sizeof again};
    look(b);
    EXPECT_STATUS(DOME_OK, dome_object_describe(b->object, &again));
    EXPECT(again.type == b->info.type && again.length == b->info.length && again.width == b->info.width &&
               again.distribution == b->info.distribution && again.layout == b->info.layout,
           "describe says different things at different times");
    EXPECT(b->info.width > 0, "the width is 0");
    switch (b->info.distribution) {
    case DOME_DYNAMIC:
        EXPECT(dome_object_operations(b->object)->adopt, "it is DOME_DYNAMIC and has no adopt");
        EXPECT(b->info.layout, "it is DOME_DYNAMIC and has no layout");
        EXPECT(dome_layout_equal(b->info.layout, dome_env_layout(b->env, b->info.length, dome_layout_block_size(b->info.layout))),
               "its layout is not the one that objects of its length share");
        break;
    case DOME_BLOCK:
        EXPECT(b->info.layout && dome_layout_tasks(b->info.layout) == dome_size(b->env), "its layout is not over all tasks");
        break;
    case DOME_WHOLE:
        EXPECT(!b->info.layout || dome_layout_tasks(b->info.layout) == 1,
               "it is DOME_WHOLE and its layout is over several tasks");
        break;
    default:
        fail(b, "the distribution is %d", (int)b->info.distribution);
    }
    if (b->info.layout)
        EXPECT(dome_layout_length(b->info.layout) == b->info.length, "length and layout do not fit");
}

static void check_cost(battery *b)
{
    double *cost = memory(b, b->blocks * sizeof *cost), one;
    for (int r = 0; r < b->runs; r++) {
        EXPECT_STATUS(DOME_OK, dome_object_cost(b->object, b->run[r].first, b->run[r].count, cost));
        for (uint64_t k = 0; k < b->run[r].count; k++) {
            EXPECT(cost[k] >= 0 && isfinite(cost[k]), "a block costs %g", cost[k]);
            EXPECT_STATUS(DOME_OK, dome_object_cost(b->object, b->run[r].first + k, 1, &one));
            EXPECT(one == cost[k], "the cost of a block depends on the run it is asked for in");
        }
    }
    free(cost);
}

/* One way in which content leaves an object and comes back. */
enum way { AS_NATIVE, AS_PORTABLE, AS_FILE };

static uint64_t way_bytes(battery *b, enum way way, dome_span run)
{
    uint64_t bytes = UINT64_MAX;
    if (way == AS_FILE)
        EXPECT_STATUS(DOME_OK, dome_object_write_bytes(b->object, run.first, run.count, &bytes));
    else
        EXPECT_STATUS(DOME_OK, dome_object_packed_bytes(b->object, run.first, run.count,
                                                        way == AS_NATIVE ? DOME_NATIVE : DOME_PORTABLE, &bytes));
    EXPECT(bytes < UINT64_C(1) << 40, "a run of blocks has %llu bytes", (unsigned long long)bytes);
    return bytes;
}

static void *way_out(battery *b, enum way way, dome_span run, uint64_t *bytes)
{
    *bytes = way_bytes(b, way, run);
    void *data = memory(b, *bytes);
    memset(data, 0xa5, *bytes);
    if (way == AS_FILE)
        EXPECT_STATUS(DOME_OK, dome_object_write(b->object, run.first, run.count, data, *bytes));
    else
        EXPECT_STATUS(DOME_OK, dome_object_pack(b->object, run.first, run.count, way == AS_NATIVE ? DOME_NATIVE : DOME_PORTABLE,
                                                data, *bytes));
    return data;
}

static int way_in(battery *b, enum way way, dome_span run, const void *data, uint64_t bytes)
{
    return way == AS_FILE
               ? dome_object_read(b->object, run.first, run.count, data, bytes)
               : dome_object_unpack(b->object, run.first, run.count, way == AS_NATIVE ? DOME_NATIVE : DOME_PORTABLE, data, bytes);
}

static const char *const way_names[] = {"in native form", "in portable form", "as a checkpoint stores it"};

/* Out, altered, in again: whole runs, then block by block. */
static void check_way(battery *b, enum way way, bool single)
{
    uint64_t pieces = 0, done = 0;
    for (int r = 0; r < b->runs; r++)
        pieces += single ? b->run[r].count : 1;
    struct {
        dome_span run;
        void *data;
        uint64_t bytes;
    } *saved = memory(b, pieces * sizeof *saved);

    for (int r = 0; r < b->runs; r++) {
        uint64_t step = single ? 1 : b->run[r].count;
        for (uint64_t k = 0; k < b->run[r].count; k += step, done++) {
            uint64_t bytes;
            saved[done].run = (dome_span){b->run[r].first + k, step};
            saved[done].data = way_out(b, way, saved[done].run, &saved[done].bytes);
            void *again = way_out(b, way, saved[done].run, &bytes);
            EXPECT(bytes == saved[done].bytes && memcmp(again, saved[done].data, bytes) == 0,
                   "the same blocks give different bytes %s", way_names[way]);
            free(again);
        }
    }
    expect_content(b, true, "after its blocks were packed");
    alter(b, "before its blocks come back");
    for (uint64_t i = 0; i < pieces; i++) {
        EXPECT_STATUS(DOME_OK, way_in(b, way, saved[i].run, saved[i].data, saved[i].bytes));
        free(saved[i].data);
    }
    EXPECT_STATUS(DOME_OK, dome_object_sync(b->object));
    EXPECT(b->c->check(b->object, b->c->ctx), "the content does not come back %s%s", way_names[way],
           single ? ", block by block" : "");
    free(saved);
}

/* Bytes come from other tasks and from files. */
static void check_wrong_bytes(battery *b, enum way way)
{
    for (int r = 0; r < b->runs; r++) {
        uint64_t bytes;
        void *data = way_out(b, way, b->run[r], &bytes);
        char *longer = memory(b, bytes + 1);
        memcpy(longer, data, bytes);
        longer[bytes] = 0;
        EXPECT_STATUS(DOME_ERR_FORMAT, way_in(b, way, b->run[r], longer, bytes + 1));
        free(longer);
        if (bytes > 0) {
            char *shorter = memory(b, bytes - 1);
            memcpy(shorter, data, bytes - 1);
            EXPECT_STATUS(DOME_ERR_FORMAT, way_in(b, way, b->run[r], shorter, bytes - 1));
            free(shorter);
            EXPECT_STATUS(DOME_ERR_FORMAT, way_in(b, way, b->run[r], data, 0));
        }
        EXPECT_STATUS(DOME_OK, way_in(b, way, b->run[r], data, bytes));
        free(data);
    }
    EXPECT_STATUS(DOME_OK, dome_object_sync(b->object));
    expect_content(b, true, "after it refused wrong numbers of bytes");
}

static void expect_changed(battery *b, bool expected, const char *when)
{
    bool *changed = memory(b, b->blocks * sizeof *changed);
    for (int r = 0; r < b->runs; r++) {
        for (uint64_t k = 0; k < b->run[r].count; k++)
            changed[k] = !expected;
        EXPECT_STATUS(DOME_OK, dome_object_changed(b->object, b->run[r].first, b->run[r].count, changed));
        for (uint64_t k = 0; k < b->run[r].count; k++)
            EXPECT(changed[k] == expected, "block %llu counts as %s %s", (unsigned long long)(b->run[r].first + k),
                   changed[k] ? "changed" : "unchanged", when);
    }
    free(changed);
}

/* Whether it tells what was written; otherwise everything always counts as changed. */
static bool knows_changes(const battery *b)
{
    const dome_object_ops *ops = dome_object_operations(b->object);
    return (ops->size > offsetof(dome_object_ops, delta) && ops->delta) || (ops->changed && ops->mark_saved);
}

static dome_status count_blocks(void *ctx, uint64_t first, uint64_t count)
{
    (void)first;
    *(uint64_t *)ctx += count;
    return DOME_OK;
}

static dome_status refuse_blocks(void *ctx, uint64_t first, uint64_t count)
{
    (void)ctx, (void)first, (void)count;
    return DOME_ERR_MEMORY;
}

static void expect_delta(battery *b, unsigned mark, bool all, const char *when)
{
    uint64_t own = 0, visited = 0;
    for (int r = 0; r < b->runs; r++)
        own += b->run[r].count;
    EXPECT_STATUS(DOME_OK, dome_object_delta(b->object, mark, count_blocks, &visited));
    EXPECT(visited == (all ? own : 0), "%llu of %llu blocks differ from mark %u %s", (unsigned long long)visited,
           (unsigned long long)own, mark, when);
    EXPECT_STATUS(all && own > 0 ? DOME_ERR_MEMORY : DOME_OK, dome_object_delta(b->object, mark, refuse_blocks, NULL));
}

/* Marks know nothing of each other. */
static void check_marks(battery *b)
{
    const dome_object_ops *ops = dome_object_operations(b->object);
    const bool several = ops->size > offsetof(dome_object_ops, delta) && ops->delta;
    const unsigned last = DOME_MARKS - 1;
    EXPECT_STATUS(DOME_OK, dome_object_delta(b->object, 0, NULL, NULL));
    EXPECT_STATUS(DOME_OK, dome_object_delta(b->object, last, NULL, NULL));
    expect_delta(b, 0, !knows_changes(b), "after it was set");
    expect_delta(b, last, !several, "after it was set");
    void *data[2];
    uint64_t bytes[2];
    for (int r = 0; r < b->runs; r++)
        data[r] = way_out(b, AS_PORTABLE, b->run[r], &bytes[r]);
    alter(b, "after two marks were set");
    EXPECT_STATUS(DOME_OK, dome_object_delta(b->object, last, NULL, NULL));
    expect_delta(b, 0, true, "after it was altered, and another mark set");
    expect_delta(b, last, !several, "after it was altered, and this mark set");
    for (int r = 0; r < b->runs; r++) {
        EXPECT_STATUS(DOME_OK, way_in(b, AS_PORTABLE, b->run[r], data[r], bytes[r]));
        free(data[r]);
    }
    expect_delta(b, last, true, "after it was unpacked");
    EXPECT_STATUS(DOME_ERR_ARGUMENT, dome_object_delta(b->object, DOME_MARKS, NULL, NULL));
}

static void check_changed(battery *b)
{
    const bool knows = knows_changes(b);

    expect_changed(b, true, "before anything was saved");
    EXPECT_STATUS(DOME_OK, dome_object_mark_saved(b->object));
    expect_changed(b, !knows, "after everything was saved");

    void *data[2];
    uint64_t bytes[2];
    for (int r = 0; r < b->runs; r++)
        data[r] = way_out(b, AS_PORTABLE, b->run[r], &bytes[r]);
    expect_changed(b, !knows, "after it was only packed");
    alter(b, "after mark_saved");
    expect_changed(b, true, "after it was altered");
    EXPECT_STATUS(DOME_OK, dome_object_mark_saved(b->object));
    expect_changed(b, !knows, "after everything was saved again");
    for (int r = 0; r < b->runs; r++) {
        EXPECT_STATUS(DOME_OK, way_in(b, AS_PORTABLE, b->run[r], data[r], bytes[r]));
        free(data[r]);
    }
    expect_changed(b, true, "after it was unpacked");
    expect_content(b, true, "after the changes were undone");
}

/* ---- layouts ---- */

static uint64_t hash_bytes(const unsigned char *data, uint64_t bytes)
{
    uint64_t hash = 14695981039346656037u;
    for (uint64_t i = 0; i < bytes; i++)
        hash = (hash ^ data[i]) * 1099511628211u;
    return hash ^ bytes;
}

/* The hash of each block's portable bytes, from whichever task has it; tasks that both have it must agree. */
static uint64_t *portable_hashes(battery *b)
{
    uint64_t n = b->blocks, *mine = memory(b, 2 * n * sizeof *mine), *theirs = memory(b, 2 * n * sizeof *theirs),
             *all = memory(b, 2 * n * sizeof *all);
    memset(mine, 0, 2 * n * sizeof *mine);
    memset(all, 0, 2 * n * sizeof *all);
    for (int r = 0; r < b->runs; r++) {
        for (uint64_t k = b->run[r].first; k < b->run[r].first + b->run[r].count; k++) {
            uint64_t bytes;
            void *data = way_out(b, AS_PORTABLE, (dome_span){k, 1}, &bytes);
            mine[2 * k] = 1;
            mine[2 * k + 1] = hash_bytes(data, bytes);
            free(data);
        }
    }
    for (int root = 0; root < dome_size(b->env); root++) {
        memcpy(theirs, mine, 2 * n * sizeof *theirs);
        dome_bcast(b->env, root, DOME_U64, theirs, (size_t)(2 * n));
        for (uint64_t k = 0; k < n; k++) {
            if (!theirs[2 * k])
                continue;
            EXPECT(!all[2 * k] || all[2 * k + 1] == theirs[2 * k + 1], "tasks have different content in block %llu",
                   (unsigned long long)k);
            all[2 * k] = 1;
            all[2 * k + 1] = theirs[2 * k + 1];
        }
    }
    for (uint64_t k = 0; k < n; k++)
        EXPECT(all[2 * k], "nobody has block %llu", (unsigned long long)k);
    free(mine);
    free(theirs);
    return all;
}

static dome_layout *random_layout(battery *b, int kind)
{
    uint64_t block = dome_layout_block_size(b->info.layout);
    int size = dome_size(b->env);
    if (kind == 0)
        return dome_layout_even(b->info.length, block, size);
    uint64_t *counts = calloc((size_t)size, sizeof *counts);
    uint64_t start = kind > 1 && b->blocks ? next_random(b, b->blocks) : 0, left = b->blocks;
    EXPECT(counts, "no memory for the test");
    if (kind <= 2) { /* everything to one task, in order and around the end */
        counts[next_random(b, (uint64_t)size)] = left;
    } else {
        for (int r = 0; r < size - 1; r++) {
            counts[r] = next_random(b, 3) == 0 ? 0 : next_random(b, left + 1);
            left -= counts[r];
        }
        counts[size - 1] = left;
    }
    dome_layout *layout = dome_layout_new(b->info.length, block, size, start, counts);
    EXPECT(layout, "no layout for the test");
    free(counts);
    return layout;
}

static void move_randomly(battery *b)
{
    dome_layout *layout = random_layout(b, 3);
    EXPECT_STATUS(DOME_OK, dome_env_relayout(b->env, layout));
    dome_layout_unref(layout);
    look(b);
}

/* What was written before a move still counts as changed after it, wherever it is. */
static void check_changed_moves(battery *b)
{
    EXPECT_STATUS(DOME_OK, dome_object_mark_saved(b->object));
    for (int r = 0; r < b->runs; r++) {
        for (uint64_t k = b->run[r].first; k < b->run[r].first + b->run[r].count; k++) {
            uint64_t bytes;
            if (k % 2 == 1)
                continue;
            void *data = way_out(b, AS_NATIVE, (dome_span){k, 1}, &bytes);
            EXPECT_STATUS(DOME_OK, way_in(b, AS_NATIVE, (dome_span){k, 1}, data, bytes));
            free(data);
        }
    }
    move_randomly(b);
    for (int r = 0; r < b->runs; r++) {
        for (uint64_t k = b->run[r].first; k < b->run[r].first + b->run[r].count; k++) {
            bool changed = false;
            EXPECT_STATUS(DOME_OK, dome_object_changed(b->object, k, 1, &changed));
            EXPECT(changed || k % 2 == 1, "block %llu was written and moved, and counts as unchanged", (unsigned long long)k);
        }
    }
}

/* The object, and another of its kind, go from layout to layout and stay what they are. */
static void check_relayout(battery *b, int rounds)
{
    char name[64];
    snprintf(name, sizeof name, "%s'", dome_object_name(b->object));
    dome_object *twin = b->c->make(b->env, name, b->c->ctx);
    EXPECT(twin, "a second object cannot be made");
    uint64_t *before = portable_hashes(b);

    for (int round = 0; round < rounds; round++) {
        dome_layout *layout = random_layout(b, round < 3 ? round : round % 7 == 6 ? 0 : 3);
        EXPECT_STATUS(DOME_OK, dome_env_relayout(b->env, layout));
        look(b);
        EXPECT(dome_layout_equal(b->info.layout, layout), "it does not follow the new layout");
        EXPECT(dome_layout_equal(dome_env_layout(b->env, b->info.length, dome_layout_block_size(layout)), layout),
               "the environment does not know the new layout");
        dome_layout_unref(layout);
        expect_content(b, true, "after it moved to another layout");
        EXPECT(b->c->check(twin, b->c->ctx), "another object of its kind is not as it was after it moved to another layout");
        uint64_t *after = portable_hashes(b);
        EXPECT(memcmp(before, after, 2 * b->blocks * sizeof *before) == 0, "portable bytes depend on the layout");
        free(after);
        if (round % 4 == 1) {
            check_way(b, AS_PORTABLE, false);
            check_way(b, AS_NATIVE, true);
        }
        if (round % 4 == 2) {
            check_cost(b);
            check_wrong_bytes(b, AS_NATIVE);
            check_changed(b);
            check_marks(b);
        }
    }
    for (int round = 0; round < 4; round++)
        check_changed_moves(b);
    EXPECT_STATUS(DOME_OK, dome_object_mark_saved(b->object));
    alter(b, "before it moves");
    uint64_t *altered = portable_hashes(b);
    move_randomly(b);
    expect_changed(b, true, "after it was altered and moved");
    uint64_t *moved = portable_hashes(b);
    EXPECT(memcmp(altered, moved, 2 * b->blocks * sizeof *moved) == 0, "altered content does not move as it is");
    free(altered);
    free(moved);
    free(before);
    dome_object_free(twin);
}

/* Many more layouts, every other time back to one it had before. */
static void check_many_layouts(battery *b)
{
    uint64_t *before = portable_hashes(b);
    dome_layout *home = dome_layout_ref(b->info.layout);
    for (int round = 0; round < b->c->layouts; round++) {
        dome_layout *layout = round % 2 ? dome_layout_ref(home) : random_layout(b, 1 + (int)next_random(b, 4));
        EXPECT_STATUS(DOME_OK, dome_env_relayout(b->env, layout));
        look(b);
        expect_content(b, true, "after many moves");
        if (next_random(b, 20) == 0) {
            dome_layout_unref(home);
            home = dome_layout_ref(layout);
        }
        dome_layout_unref(layout);
    }
    uint64_t *after = portable_hashes(b);
    EXPECT(memcmp(before, after, 2 * b->blocks * sizeof *before) == 0, "portable bytes are not the same after many moves");
    dome_layout_unref(home);
    free(before);
    free(after);
}

/* Layouts that are not for this object are refused and leave it as it is. */
static void check_refused_layouts(battery *b)
{
    uint64_t block = dome_layout_block_size(b->info.layout);
    dome_layout *longer = dome_layout_even(b->info.length + 1, block, dome_size(b->env));
    dome_layout *coarser = dome_layout_even(b->info.length, block * 2, dome_size(b->env));
    EXPECT(longer && coarser, "no memory for the test");
    EXPECT(dome_object_adopt(b->object, longer) != DOME_OK, "it adopts the layout of another length");
    EXPECT(dome_object_adopt(b->object, coarser) != DOME_OK, "it adopts the layout of another block size");
    dome_layout_unref(longer);
    dome_layout_unref(coarser);
    look(b);
    expect_content(b, true, "after it refused layouts");
}

void conformance_run(dome_env *env, const conformance *c, uint64_t seed)
{
    static const char name[] = "conformance";
    battery state = {.env = env, .c = c, .random = seed * 2654435761u + 88172645463325252u}, *b = &state;
    size_t count = dome_object_count(env);

    b->object = c->make(env, name, c->ctx);
    EXPECT(b->object, "no object was made");
    EXPECT_STATUS(DOME_OK, dome_object_sync(b->object));
    check_identity(b, name);
    check_description(b);
    expect_content(b, true, "at first");
    free(portable_hashes(b));
    check_cost(b);
    for (int way = AS_NATIVE; way <= AS_FILE; way++) {
        check_way(b, way, false);
        check_way(b, way, true);
        check_wrong_bytes(b, way);
    }
    check_changed(b);
    check_marks(b);
    if (b->info.distribution == DOME_DYNAMIC) {
        check_refused_layouts(b);
        check_many_layouts(b);
        check_relayout(b, 12);
    }
    dome_object_free(b->object);
    EXPECT(!dome_object_find(env, name), "it can be found after it was freed");
    EXPECT(dome_object_count(env) == count, "it leaves objects behind");

    b->object = c->make(env, name, c->ctx); /* the name is free again; the layout is the one it last had */
    EXPECT(b->object, "it cannot be made a second time");
    look(b);
    expect_content(b, true, "when made a second time");
    dome_object_free(b->object);
}

void conformance_keep(dome_env *env, const conformance *c)
{
    battery state = {.env = env, .c = c}, *b = &state;
    b->object = c->make(env, c->what, c->ctx);
    EXPECT(b->object, "no object was made");
    EXPECT_STATUS(DOME_OK, dome_object_sync(b->object));
    look(b);
    expect_content(b, true, dome_is_restarting(env) ? "after a restart" : "at first");
    if (dome_is_restarting(env)) {
        expect_changed(b, !knows_changes(b), "after a restart");
    }
}
