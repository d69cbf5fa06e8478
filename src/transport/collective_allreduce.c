/* All-reduce in a group of tasks, for short and long data. */
#include "transport/collective_private.h"

static bool is_paired(const dome_folded *f)
{
    return f->g->place < 2 * f->extra;
}

/* inout = inout (op) in, or in (op) inout if `lower`: in is from lower ranks. Overwrites in. */
static void combine_in_order(dome_type type, void *inout, void *in, uint64_t count, bool lower, dome_combine combine, void *ctx)
{
    if (!count)
        return;
    if (lower) {
        combine(in, inout, count, ctx);
        copy(type, inout, in, count);
    } else {
        combine(inout, in, count, ctx);
    }
}

/* Recursive doubling: each round exchanges all of the data with a group twice as far away. */
static int doubling(dome_transport *t, const dome_folded *f, dome_type type, void *data, void *theirs, uint64_t count,
                    dome_combine combine, void *ctx)
{
    int status = DOME_OK;
    for (int bit = 1; bit < f->power && !status; bit *= 2) {
        int other = f->group ^ bit, peer = dome__standing(f, other);
        status = dome__trade(t, type, peer, data, count, peer, theirs, count);
        if (!status)
            combine_in_order(type, data, theirs, count, other < f->group, combine, ctx);
    }
    return status;
}

/* Long data: recursive halving, then recursive doubling. In each round of the first half a group keeps one half of its range and
 * combines it with its peer's, until each group has one piece of the result; the second half gathers the pieces in reverse order.
 * This takes twice the rounds of `doubling`, but each task sends less than twice the data. (Rabenseifner 2004, "Optimization of
 * collective reduction operations", section 2.) */
static int halving(dome_transport *t, const dome_folded *f, dome_type type, void *data, void *theirs, uint64_t count,
                   dome_combine combine, void *ctx)
{
    struct {
        uint64_t kept, kept_end, given, given_end;
    } level[32];
    int depth = 0, status = DOME_OK;
    uint64_t first = 0, end = count;
    for (int bit = f->power / 2; bit && !status; bit /= 2, depth++) {
        int other = f->group ^ bit, peer = dome__standing(f, other);
        uint64_t middle = first + (end - first) / 2;
        bool low = other > f->group;
        level[depth].kept = low ? first : middle;
        level[depth].kept_end = low ? middle : end;
        level[depth].given = low ? middle : first;
        level[depth].given_end = low ? end : middle;
        first = level[depth].kept;
        end = level[depth].kept_end;
        status = dome__trade(t, type, peer, at(type, data, level[depth].given), level[depth].given_end - level[depth].given, peer,
                             theirs, end - first);
        if (!status)
            combine_in_order(type, at(type, data, first), theirs, end - first, !low, combine, ctx);
    }
    for (int bit = 1; depth-- && !status; bit *= 2) {
        int peer = dome__standing(f, f->group ^ bit);
        status = dome__trade(t, type, peer, at(type, data, level[depth].kept), level[depth].kept_end - level[depth].kept, peer,
                             at(type, data, level[depth].given), level[depth].given_end - level[depth].given);
    }
    return status;
}

int dome__group_allreduce(dome_transport *t, const dome_group *g, dome_type type, void *data, uint64_t count, bool is_long,
                          dome_combine combine, void *ctx)
{
    dome_folded f = dome__fold(g);
    if (f.group < 0) {
        int other = member(g, g->place + 1), status = put(t, other, type, data, count);
        return status ? status : take(t, other, type, data, count);
    }
    void *theirs;
    int status = dome__collective_room(t, type, count, &theirs), other = is_paired(&f) ? member(g, g->place - 1) : -1;
    if (!status && is_paired(&f)) {
        status = take(t, other, type, theirs, count);
        if (!status)
            combine_in_order(type, data, theirs, count, true, combine, ctx);
    }
    if (!status)
        status = f.power == 2 || !is_long ? doubling(t, &f, type, data, theirs, count, combine, ctx)
                                          : halving(t, &f, type, data, theirs, count, combine, ctx);
    if (!status && is_paired(&f))
        status = put(t, other, type, data, count);
    g_free(theirs);
    return status;
}
