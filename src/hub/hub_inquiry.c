/* Asks tasks that have not moved for long whether they wait for ever (inquiry.h): the hub's part of it that sends. */
#include "hub/hub_private.h"
#include "system/unconst.h"

/* Seconds between two inquiries that found a message under way, and for the answers. */
static const double AGAIN = 1, PATIENCE = 3;

static void forget(hub_inquiry *q)
{
    g_clear_pointer(&q->of, dome__inquiry_free);
    g_clear_pointer(&q->moved_at, g_free);
    q->size = 0;
}

void dome__hub_inquiry_close(hub_state *s)
{
    forget(&s->inquiry);
}

/* Whether these are the tasks that were asked, and none has moved since. */
static bool is_same(const hub_inquiry *q, const hub_client *const *tasks, int size)
{
    bool same = q->of && q->size == size;
    for (int r = 0; same && r < size; r++)
        same = dome__inquiry_is_asked(q->of, r) == (tasks[r] != NULL) && (!tasks[r] || tasks[r]->beat.moved_at == q->moved_at[r]);
    return same;
}

static void send(const hub_state *s, int rank, dome_wire_kind kind, const GArray *numbers)
{
    hub_client *c = dome__hub_watch_of(s, (uint32_t)rank);
    if (c && !c->closed && c->view == s->view.number)
        dome__hub_send(c, &(dome_wire_message){.kind = kind, .numbers = {s->inquiry.number, dome__unconst(numbers)}});
}

static void begin(hub_state *s, const hub_client *const *tasks, int size)
{
    hub_inquiry *q = &s->inquiry;
    bool *asked = g_new0(bool, size);
    forget(q);
    q->size = size;
    q->moved_at = g_new0(double, size);
    for (int r = 0; r < size; r++) {
        asked[r] = tasks[r] != NULL;
        q->moved_at[r] = tasks[r] ? tasks[r]->beat.moved_at : 0;
    }
    q->of = dome__inquiry_new(size, asked);
    q->number++;
    q->began = s->now;
    g_free(asked);
    for (int r = 0; r < size; r++)
        if (tasks[r])
            send(s, r, DOME_WIRE_WAITS, NULL);
}

bool dome__hub_for_ever(hub_state *s, const hub_client *const *tasks, int size)
{
    hub_inquiry *q = &s->inquiry;
    const bool same = is_same(q, tasks, size);
    const dome_inquiry_state state = same ? dome__inquiry_state(q->of) : DOME_INQUIRY_MOVES;
    if (state == DOME_INQUIRY_FOR_EVER)
        return true;
    if (!q->of || !same) {
        if (s->now >= q->again)
            begin(s, tasks, size);
    } else if (state == DOME_INQUIRY_MOVES || s->now - q->began > PATIENCE) {
        forget(q);
        q->again = s->now + AGAIN;
    }
    return false;
}

void dome__hub_inquiry_answer(hub_state *s, const hub_client *c, const dome_wire_message *answer)
{
    hub_inquiry *q = &s->inquiry;
    if (!q->of || answer->numbers.inquiry != q->number || c->view != s->view.number)
        return;
    dome__hub_judge_soon(s);
    if (answer->kind == DOME_WIRE_GIVEN) {
        dome__inquiry_take_given(q->of, c->rank, answer->numbers.numbers);
        return;
    }
    dome__inquiry_take_waits(q->of, c->rank, answer->numbers.numbers);
    if (dome__inquiry_state(q->of) != DOME_INQUIRY_GIVEN)
        return;
    for (int r = 0; r < q->size; r++)
        if (dome__inquiry_pairs(q->of, r))
            send(s, r, DOME_WIRE_GIVEN, dome__inquiry_pairs(q->of, r));
}
