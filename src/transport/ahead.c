#include "transport/ahead.h"

#include "core/clock.h"
#include "transport/collective_private.h"
#include "transport/relay.h"

#include <time.h>

/* ns: polls by dome__ahead_poll are at least so far apart. */
enum { POLL_NS = 20000 };

/* The steps of a task in each all-reduce. A task sends at most one message to each other in one all-reduce. */
typedef enum step_kind { SEND, COMBINE, TAKE } step_kind;
typedef struct step {
    step_kind kind;
    int peer;
} step;

/* A transport's all-reduces under way. */
struct dome_ahead_line {
    GArray *steps;
    guint last_send; /* others depend on the steps before this one; 0: there is none */
    GQueue *under_way;
    bool driving; /* steps are being done: the receives among them do not drive */
    uint64_t polled_ns;
};

struct dome_ahead {
    dome_transport *transport;
    dome_type type;
    uint64_t count;
    char *data, *theirs;
    dome_combine combine;
    void *ctx;
    dome_stamp stamp;
    guint step; /* the next one */
    int status;
    char *reason;
};

/* ---- steps ---- */

static void add(struct dome_ahead_line *line, step_kind kind, int peer)
{
    g_array_append_val(line->steps, ((step){kind, peer}));
    if (kind == SEND)
        line->last_send = line->steps->len;
}

/* Recursive doubling, as in dome__group_allreduce. */
static void add_doubling(struct dome_ahead_line *line, const dome_group *g)
{
    dome_folded f = dome__fold(g);
    if (f.group < 0) {
        add(line, SEND, member(g, g->place + 1));
        add(line, TAKE, member(g, g->place + 1));
        return;
    }
    const int other = g->place < 2 * f.extra ? member(g, g->place - 1) : -1;
    if (other >= 0)
        add(line, COMBINE, other);
    for (int bit = 1; bit < f.power; bit *= 2) {
        add(line, SEND, dome__standing(&f, f.group ^ bit));
        add(line, COMBINE, dome__standing(&f, f.group ^ bit));
    }
    if (other >= 0)
        add(line, SEND, other);
}

/* By rank, the task that combines its data with others' on its way; -1 for a member of *top, the group that exchanges in the
 * end. g_free. */
static int *find_parents(const dome_transport *t, dome_group *top)
{
    *top = everybody(t);
    int *parent = g_new(int, t->group.size);
    const bool by_hosts = t->group.leader && t->group.leaders.count > 1;
    for (int r = 0; r < t->group.size; r++)
        parent[r] = by_hosts && t->group.leader[r] != r ? t->group.leader[r] : -1;
    if (by_hosts)
        *top = t->group.leaders;
    if (t->group.clusters) {
        g_free(parent);
        parent = dome__relay_parents(t, DOME_RELAY_BY_HOSTS);
        *top = t->group.clusters->heads;
        for (int k = 0; k < top->count; k++)
            parent[top->rank[k]] = -1;
    }
    return parent;
}

static struct dome_ahead_line *line_new(dome_transport *t)
{
    struct dome_ahead_line *line = g_new0(struct dome_ahead_line, 1);
    dome_group top;
    int *parent = find_parents(t, &top);
    line->steps = g_array_new(FALSE, FALSE, sizeof(step));
    line->under_way = g_queue_new();
    for (int r = 0; r < t->group.size; r++)
        if (parent[r] == t->group.rank)
            add(line, COMBINE, r);
    if (parent[t->group.rank] >= 0) {
        add(line, SEND, parent[t->group.rank]);
        add(line, TAKE, parent[t->group.rank]);
    } else {
        add_doubling(line, &top);
    }
    for (int r = 0; r < t->group.size; r++)
        if (parent[r] == t->group.rank)
            add(line, SEND, r);
    g_free(parent);
    return line;
}

void dome__ahead_line_free(dome_transport *t)
{
    struct dome_ahead_line *line = g_steal_pointer(&t->ahead);
    if (!line)
        return;
    g_array_unref(line->steps);
    g_queue_free(line->under_way);
    g_free(line);
}

/* ---- doing them ---- */

static const step *next_step(const dome_ahead *a)
{
    return &g_array_index(a->transport->ahead->steps, step, a->step);
}

static int do_step(dome_ahead *a)
{
    const step *s = next_step(a);
    dome_transport *t = a->transport;
    if (s->kind == SEND)
        return dome__send(t, s->peer, DOME_CHANNEL_AHEAD, a->type, a->data, a->count);
    char *to = s->kind == TAKE ? a->data : a->theirs;
    int status = dome__recv(t, s->peer, DOME_CHANNEL_AHEAD, a->type, to, a->count);
    if (status == DOME_OK && s->kind == COMBINE)
        a->combine(a->data, a->theirs, a->count, a->ctx);
    return status;
}

static bool can_do(const dome_ahead *a)
{
    const step *s = next_step(a);
    const dome_transport *t = a->transport;
    return s->kind == SEND ||
           (t->provider.can & DOME_TRANSPORT_PROBE && dome__transport_arrived(a->transport, s->peer, DOME_CHANNEL_AHEAD));
}

bool dome__ahead_complete(const dome_ahead *a)
{
    return a->status == DOME_OK && a->step == a->transport->ahead->steps->len;
}

/* Does the steps before `limit`; wait: one of them even if it has to wait. Messages do not belong to the operation in which the
 * task happens to send or receive them, and requests travel with the program's collectives alone. */
static void advance(dome_ahead *a, guint limit, bool wait)
{
    dome_transport *t = a->transport;
    const dome_stamp now = t->stamp;
    const bool flag = dome__group_put_flag(&t->group, false);
    t->stamp = a->stamp;
    for (; a->status == DOME_OK && a->step < limit && (wait || can_do(a)); wait = false) {
        a->status = do_step(a);
        a->step += a->status == DOME_OK;
    }
    if (a->status != DOME_OK)
        a->reason = g_strdup(t->reason);
    t->stamp = now;
    dome__group_put_flag(&t->group, flag);
}

/* For the watcher thread: the messages for which the all-reduces wait, if other tasks depend on steps of this one. The steps that
 * send are done as soon as those before them are. */
static void note_awaited(dome_transport *t)
{
    const struct dome_ahead_line *line = t->ahead;
    const dome_ahead *last = g_queue_peek_tail(line->under_way);
    const GList *at = last && last->step < line->last_send ? line->under_way->head : NULL;
    for (int k = 0; k < DOME_AHEAD_WAITS; k++) {
        const dome_ahead *a = at ? at->data : NULL;
        const step *s = a && a->status == DOME_OK && a->step < line->steps->len ? next_step(a) : NULL;
        const uint32_t waits = s && s->kind != SEND ? DOME_WAITS(s->peer, DOME_CHANNEL_AHEAD) : 0;
        dome__account_ahead_waits(&t->account, k, waits);
        at = at ? at->next : NULL;
    }
}

/* An all-reduce never overtakes one that began before it, so the messages between two tasks are in the order of the all-reduces
 * and need no number. */
static int drive(dome_transport *t, bool wait)
{
    struct dome_ahead_line *line = t->ahead;
    guint limit = line->steps->len;
    int status = DOME_OK;
    line->driving = true;
    for (GList *l = line->under_way->head; l; l = l->next) {
        dome_ahead *a = l->data;
        if (a->status == DOME_OK)
            advance(a, limit, wait && l == line->under_way->head);
        status = status ? status : a->status;
        limit = MIN(limit, a->step);
    }
    while (line->under_way->length && dome__ahead_complete(g_queue_peek_head(line->under_way)))
        g_queue_pop_head(line->under_way);
    note_awaited(t);
    line->driving = false;
    line->polled_ns = dome__now_ns();
    return status;
}

static int failed(dome_transport *t)
{
    for (const GList *l = t->ahead->under_way->head; l; l = l->next) {
        const dome_ahead *a = l->data;
        if (a->status != DOME_OK)
            return dome__transport_error(t, a->status, "%s", a->reason);
    }
    return DOME_OK;
}

int dome__ahead_drive(dome_transport *t)
{
    if (!t->ahead || t->ahead->driving || !t->ahead->under_way->length || drive(t, false) == DOME_OK)
        return DOME_OK;
    return failed(t);
}

void dome__ahead_poll_now(dome_transport *t)
{
    const struct dome_ahead_line *line = t->ahead;
    if (line->under_way->length && !line->driving && dome__since_ns(line->polled_ns) >= POLL_NS)
        drive(t, false);
}

/* Whether other tasks depend on steps of this one. */
static bool owes(const dome_transport *t)
{
    const struct dome_ahead_line *line = t->ahead;
    const dome_ahead *last = g_queue_peek_tail(line->under_way);
    const dome_ahead *first = g_queue_peek_head(line->under_way);
    return !line->driving && last && first->status == DOME_OK && last->step < line->last_send;
}

int dome__ahead_wait(dome_transport *t, int source, int channel)
{
    enum { YIELDS = 100, NAP_NS = 20000, LONGEST_NAP_NS = 160000, OFFERS = 200 };
    struct timespec nap = {.tv_nsec = NAP_NS};
    uint64_t yielded = 0;
    if (!(t->provider.can & DOME_TRANSPORT_PROBE))
        return DOME_OK;
    for (int turn = 0; owes(t) && !dome__transport_arrived(t, source, channel); turn++) {
        if (drive(t, false))
            return failed(t);
        dome__yielded(yielded, false);
        yielded = 0;
        if (turn < YIELDS) {
            yielded = dome__yield();
            continue;
        }
        nanosleep(&nap, NULL);
        nap.tv_nsec = MIN(2 * nap.tv_nsec, LONGEST_NAP_NS);
        if (turn > OFFERS) /* a task that this one waits for may itself wait until its data has been read */
            dome__transport_arrived(t, -1, channel);
    }
    dome__yielded(yielded, true);
    return DOME_OK;
}

/* ---- one all-reduce ---- */

dome_ahead *dome__ahead_begin(dome_transport *t, dome_type type, const void *data, uint64_t count, dome_combine combine,
                              void *ctx)
{
    if (!t->ahead)
        t->ahead = line_new(t);
    dome_ahead *a = g_new0(dome_ahead, 1);
    const size_t bytes = (size_t)count * dome_type_size(type);
    *a = (dome_ahead){.transport = t, .type = type, .count = count, .combine = combine, .ctx = ctx, .stamp = t->stamp};
    a->data = g_memdup2(data, bytes);
    a->theirs = g_malloc(bytes);
    g_queue_push_tail(t->ahead->under_way, a);
    dome__ahead_drive(t);
    return a;
}

int dome__ahead_finish(dome_ahead *a)
{
    while (a->status == DOME_OK && !dome__ahead_complete(a)) {
        const dome_ahead *first = g_queue_peek_head(a->transport->ahead->under_way);
        drive(a->transport, true);
        if (first->status != DOME_OK && first != a) { /* those behind it cannot go on */
            a->status = first->status;
            a->reason = g_strdup(first->reason);
        }
    }
    if (a->status != DOME_OK)
        dome__transport_error(a->transport, a->status, "%s", a->reason);
    return a->status;
}

const void *dome__ahead_data(const dome_ahead *a)
{
    return a->data;
}

void dome__ahead_free(dome_ahead *a)
{
    if (!a)
        return;
    if (a->transport->ahead) /* it is still there if it has failed */
        g_queue_remove(a->transport->ahead->under_way, a);
    g_free(a->data);
    g_free(a->theirs);
    g_free(a->reason);
    g_free(a);
}
