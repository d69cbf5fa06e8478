/* The blocks that count as changed since the last checkpoint: those that were written, and no others. */
#include <dome/dome.h>
#include <dome/structure.h>

#include <stdlib.h>
#include <string.h>

enum { N = 1 << 16 };

static dome_env *env;

#define CHECK(condition, ...)                                                                                                    \
    do {                                                                                                                         \
        if (!(condition))                                                                                                        \
            dome_abort(env, __VA_ARGS__);                                                                                        \
    } while (0)

static const char *const distributions[] = {"dynamic", "block", "whole"};

static dvec *make(const char *name, dome_distribution distribution)
{
    return dvec_new_with(env, name, DOME_F64, N, DVEC_OPTIONS(.distribution = distribution));
}

/* Sets for each block whether it counts as changed, and returns how many of this task's do; the flags of other tasks' blocks are
 * false. */
static uint64_t changed(dvec *x, bool flags[])
{
    dome_object_info info = {.size = sizeof info};
    dome_object *o = dvec_object(x);
    CHECK(dome_object_describe(o, &info) == DOME_OK, "a vector cannot be described");
    uint64_t blocks = dome_layout_blocks(info.layout), count = 0;
    int rank = info.distribution == DOME_WHOLE ? 0 : dome_rank(env);
    memset(flags, 0, blocks * sizeof *flags);
    for (uint64_t b = 0; b < blocks; b++)
        if (dome_layout_owner(info.layout, b) == rank) {
            CHECK(dome_object_changed(o, b, 1, &flags[b]) == DOME_OK, "changed fails");
            count += flags[b];
        }
    return count;
}

/* This task's blocks. */
static uint64_t owned(dvec *x)
{
    dome_object_info info = {.size = sizeof info};
    dome_object_describe(dvec_object(x), &info);
    return dome_layout_run(info.layout, info.distribution == DOME_WHOLE ? 0 : dome_rank(env), NULL);
}

static void save(dvec *x)
{
    CHECK(dome_object_mark_saved(dvec_object(x)) == DOME_OK, "mark_saved fails");
}

/* A scatter of a few elements marks the blocks that it writes, wherever they are. */
static void check_scatter(dome_distribution distribution, bool itself)
{
    static const int64_t targets[] = {0, 1, N / 2 + 1, N / 3, N - 1};
    enum { COUNT = sizeof targets / sizeof *targets };
    const char *what = distributions[distribution];
    bool flags[N], expected[N] = {false};
    dvec *z = make("scatter", distribution);
    size_t n = itself ? N : COUNT;
    dvec_options whole = {.size = sizeof whole, .distribution = DOME_WHOLE};
    dvec *index = dvec_new_with(env, NULL, DOME_I64, n, itself ? DVEC_OPTIONS(.distribution = distribution) : &whole);
    dvec *x = itself ? z : dvec_new_with(env, NULL, DOME_F64, n, &whole);
    dome_object_info info = {.size = sizeof info};
    dvec_span spans[2];
    dome_object_describe(dvec_object(z), &info);
    uint64_t size = dome_layout_block_size(info.layout), mine = 0;
    dvec_random(z, 3);
    dvec_local_spans(index, spans);
    for (int s = 0; s < 2; s++)
        for (size_t i = 0; i < spans[s].count; i++) /* with itself: all of them to the targets */
            ((int64_t *)spans[s].data)[i] = targets[(spans[s].first + i) % COUNT];
    save(z);
    CHECK(changed(z, flags) == 0, "%s: %d blocks count as changed after they were saved", what, (int)changed(z, flags));
    CHECK(dvec_scatter(z, x, index) == DOME_OK, "scatter fails");
    for (int k = 0; k < COUNT; k++)
        expected[(uint64_t)targets[k] / size] = true;
    dome_object_describe(dvec_object(z), &info);
    for (uint64_t b = 0; b < dome_layout_blocks(info.layout); b++)
        mine += expected[b] && dome_layout_owner(info.layout, b) == (distribution == DOME_WHOLE ? 0 : dome_rank(env));
    uint64_t got = changed(z, flags);
    CHECK(got == mine, "%s: after a scatter of %d %d blocks of this task count as changed instead of %d", what, (int)n, (int)got,
          (int)mine);
    for (uint64_t b = 0; b < N / size; b++)
        CHECK(!flags[b] || expected[b], "%s: block %d counts as changed", what, (int)b);
    dvec_adds(z, z, 1);
    CHECK(changed(z, flags) == owned(z), "%s: a sum leaves blocks unmarked", what);
    dvec_free(z);
    dvec_free(index);
    if (!itself)
        dvec_free(x);
}

/* A single element marks its block. */
static void check_set(dome_distribution distribution)
{
    bool flags[N];
    dvec *x = make("set", distribution);
    dome_object_info info = {.size = sizeof info};
    const double value = 7;
    dvec_random(x, 4);
    save(x);
    CHECK(dvec_set(x, N - 1, &value) == DOME_OK, "set fails");
    dome_object_describe(dvec_object(x), &info);
    uint64_t last = dome_layout_blocks(info.layout) - 1;
    bool mine = dome_layout_owner(info.layout, last) == (distribution == DOME_WHOLE ? 0 : dome_rank(env));
    CHECK(changed(x, flags) == mine && (!mine || flags[last]), "%s: other blocks count as changed than that of the element",
          distributions[distribution]);
    dvec_free(x);
}

/* Blocks written through a pointer count as changed; if the data does not move, however long ago the pointer was given out.
 * Reading does not count. */
static void check_pointers(dome_distribution distribution)
{
    const char *what = distributions[distribution];
    bool flags[N];
    dvec *x = make("lent", distribution), *y = make("read", distribution);
    dvec_span spans[2], read[2];
    dvec_random(x, 1);
    dvec_random(y, 2);
    dvec_local_spans_const(y, read);
    save(y);
    dvec_local_spans(x, spans);
    for (int turn = 0; turn < 3; turn++) {
        save(x);
        dvec_local_spans_const(y, read);
        if (distribution == DOME_DYNAMIC) { /* a new pointer must be requested, and then all blocks count as written */
            dvec_local_spans(x, spans);
            CHECK(changed(x, flags) == owned(x), "dynamic: what was given out to write does not count as changed in turn %d",
                  turn);
            continue;
        }
        CHECK(changed(x, flags) == 0, "%s: what nobody has written counts as changed in turn %d", what, turn);
        CHECK(changed(y, flags) == 0, "%s: what was only read counts as changed in turn %d", what, turn);
        int count = 0;
        for (int s = 0; s < 2; s++) {
            if (spans[s].count == 0)
                continue;
            ((double *)spans[s].data)[spans[s].count / 2] += 1;
            count++;
        }
        uint64_t got = changed(x, flags);
        CHECK(got == (uint64_t)count, "%s: %d blocks were written through a pointer in turn %d, and %d count as changed", what,
              count, turn, (int)got);
    }
    dvec_free(x);
    dvec_free(y);
}

int main(int argc, char **argv)
{
    env = dome_init(&argc, &argv);
    for (int d = DOME_DYNAMIC; d <= DOME_WHOLE; d++) {
        check_pointers((dome_distribution)d);
        check_set((dome_distribution)d);
        check_scatter((dome_distribution)d, false);
        check_scatter((dome_distribution)d, true);
    }
    dome_print(env, "ok\n");
    return dome_finalize(env);
}
