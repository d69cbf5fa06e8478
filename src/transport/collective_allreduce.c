/* All-reduce in a group of tasks, for short and long data. */
#include "transport/collective_private.h"

static bool is_paired(const dome_folded *f)
{
    return f->g->place < 2 * f->extra;
}

/* data = data (op) theirs, or theirs (op) data if `lower`: theirs is of lower ranks. Overwrites theirs. */
static void combine_in_order(const dome_combining *c, void *theirs, bool lower)
{
    if (!c->count)
        return;
    if (lower) {
        c->combine(theirs, c->data, c->count, c->ctx);
        copy(c->type, c->data, theirs, c->count);
    } else {
        c->combine(c->data, theirs, c->count, c->ctx);
    }
}

/* Recursive doubling: each round exchanges all of the data with a group twice as far away. */
static int doubling(dome_transport *t, const dome_folded *f, const dome_combining *c, void *theirs)
{
    int status = DOME_OK;
    for (int bit = 1; bit < f->power && !status; bit *= 2) {
        int other = f->group ^ bit, peer = dome__standing(f, other);
        status = dome__trade(t, c->type, (outgoing){peer, c->data, c->count}, (incoming){peer, theirs, c->count});
        if (!status)
            combine_in_order(c, theirs, other < f->group);
    }
    return status;
}

/* Long data: recursive halving, then recursive doubling. In each round of the first half a group keeps one half of its range and
 * combines it with its peer's, until each group has one piece of the result; the second half gathers the pieces in reverse order.
 * This takes twice the rounds of `doubling`, but each task sends less than twice the data. (Rabenseifner 2004, "Optimization of
 * collective reduction operations", section 2.) */
static int halving(dome_transport *t, const dome_folded *f, const dome_combining *c, void *theirs)
{
    struct {
        dome_combining kept, given;
    } level[32];
    int depth = 0, status = DOME_OK;
    uint64_t first = 0, end = c->count;
    for (int bit = f->power / 2; bit && !status; bit /= 2, depth++) {
        int other = f->group ^ bit, peer = dome__standing(f, other);
        const uint64_t middle = first + (end - first) / 2;
        const bool low = other > f->group;
        const dome_combining lower = combining_of(c, first, middle), upper = combining_of(c, middle, end);
        level[depth].kept = low ? lower : upper;
        level[depth].given = low ? upper : lower;
        const dome_combining *kept = &level[depth].kept, *given = &level[depth].given;
        status = dome__trade(t, c->type, (outgoing){peer, given->data, given->count}, (incoming){peer, theirs, kept->count});
        if (!status)
            combine_in_order(kept, theirs, !low);
        first = low ? first : middle;
        end = low ? middle : end;
    }
    for (int bit = 1; depth-- && !status; bit *= 2) {
        const int peer = dome__standing(f, f->group ^ bit);
        const dome_combining *kept = &level[depth].kept, *given = &level[depth].given;
        status = dome__trade(t, c->type, (outgoing){peer, kept->data, kept->count}, (incoming){peer, given->data, given->count});
    }
    return status;
}

int dome__group_allreduce(dome_transport *t, const dome_group *g, const dome_combining *c, bool is_long)
{
    dome_folded f = dome__fold(g);
    if (f.group < 0) {
        int other = member(g, g->place + 1), status = put(t, other, c->type, c->data, c->count);
        return status ? status : take(t, other, c->type, c->data, c->count);
    }
    void *theirs;
    int status = dome__collective_room(t, c->type, c->count, &theirs), other = is_paired(&f) ? member(g, g->place - 1) : -1;
    if (!status && is_paired(&f)) {
        status = take(t, other, c->type, theirs, c->count);
        if (!status)
            combine_in_order(c, theirs, true);
    }
    if (!status)
        status = f.power == 2 || !is_long ? doubling(t, &f, c, theirs) : halving(t, &f, c, theirs);
    if (!status && is_paired(&f))
        status = put(t, other, c->type, c->data, c->count);
    g_free(theirs);
    return status;
}
