#include "region/unit_member.h"

#include <string.h>

void dome__unit_member_init(dome_unit_member *member, dome_unit_right have)
{
    memset(member, 0, sizeof *member);
    member->have = (uint8_t)have;
}

bool dome__unit_member_is_idle(const dome_unit_member *member)
{
    return !member->asked && !member->loses && dome__unit_set_is_empty(&member->waits_read) &&
           dome__unit_set_is_empty(&member->waits_write);
}

/* ---- rights of tasks ---- */

static void offer(const dome_unit_call *c, dome_unit_right right)
{
    const dome_unit_act act = {.action = DOME_UNIT_OFFER, .right = right};
    c->act(c->ctx, &act);
}

void dome__unit_member_took(dome_unit_member *member, unsigned task, dome_unit_right right)
{
    dome__unit_set_add(&member->readers, task);
    if (right == DOME_UNIT_WRITE)
        dome__unit_set_add(&member->writers, task);
}

static void raise_task(dome_unit_member *m, const dome_unit_call *c, unsigned task)
{
    const dome_unit_act act = {.action = DOME_UNIT_RAISE, .to = task, .right = (dome_unit_right)m->have};
    dome__unit_set_add(&m->readers, task);
    if (m->have == DOME_UNIT_WRITE)
        dome__unit_set_add(&m->writers, task);
    c->act(c->ctx, &act);
}

static void raise_all(dome_unit_member *m, const dome_unit_call *c, dome_unit_set *waits)
{
    for (int k = -1; (k = dome__unit_set_next(waits, (unsigned)k + 1)) >= 0;) {
        dome__unit_set_remove(waits, (unsigned)k);
        raise_task(m, c, (unsigned)k);
    }
}

static void ask(dome_unit_member *m, const dome_unit_call *c, dome_unit_right right)
{
    m->asked = (uint8_t)right;
    m->filled = false;
    m->got = m->of = 0;
    dome__unit_send(c, c->home,
                    (dome_unit_message){.kind = (uint8_t)(right == DOME_UNIT_WRITE ? DOME_UNIT_ASK_WRITE : DOME_UNIT_ASK_READ)});
}

/* Tasks that wait for a right that the member has get it. */
static void raise_waiting(dome_unit_member *m, const dome_unit_call *c)
{
    if (m->have != DOME_UNIT_NONE)
        raise_all(m, c, &m->waits_read);
    if (m->have == DOME_UNIT_WRITE)
        raise_all(m, c, &m->waits_write);
}

/* For the others the member asks. */
static void settle(dome_unit_member *m, const dome_unit_call *c)
{
    raise_waiting(m, c);
    if (m->asked)
        return;
    if (!dome__unit_set_is_empty(&m->waits_write))
        ask(m, c, DOME_UNIT_WRITE);
    else if (!dome__unit_set_is_empty(&m->waits_read))
        ask(m, c, DOME_UNIT_READ);
}

void dome__unit_member_fault(dome_unit_member *member, const dome_unit_call *call, unsigned task, bool write)
{
    dome__unit_set_add(write ? &member->waits_write : &member->waits_read, task);
    if (!member->loses)
        settle(member, call);
}

/* ---- losing ---- */

static void send_done(const dome_unit_call *c, unsigned member)
{
    dome__unit_send(c, c->home, (dome_unit_message){.kind = DOME_UNIT_DONE, .to = (uint16_t)member});
}

static void end_loss(dome_unit_member *m, const dome_unit_call *c)
{
    const bool done = m->of == 1 && c->self == c->home;
    m->have = m->loses == DOME_UNIT_SHARE ? DOME_UNIT_READ : DOME_UNIT_NONE;
    m->loses = 0;
    dome__unit_send(c, m->to, (dome_unit_message){.kind = DOME_UNIT_GRANT, .data = m->data, .done = done, .of = m->of});
    if (done)
        send_done(c, m->to);
    m->of = 0;
    settle(m, c);
}

static bool begin_loss(dome_unit_member *m, const dome_unit_call *c, dome_unit_message message)
{
    if (m->have == DOME_UNIT_NONE || m->loses || m->got)
        return false;
    const bool shares = message.kind == DOME_UNIT_SHARE;
    offer(c, shares ? DOME_UNIT_READ : DOME_UNIT_NONE);
    const dome_unit_set tasks = shares ? m->writers : m->readers;
    m->loses = message.kind;
    m->data = message.data;
    m->to = message.to;
    m->of = message.of;
    m->lowers = tasks;
    for (int k = -1; (k = dome__unit_set_next(&tasks, (unsigned)k + 1)) >= 0;) {
        const dome_unit_act act = {
            .action = DOME_UNIT_LOWER, .to = (unsigned)k, .right = shares ? DOME_UNIT_READ : DOME_UNIT_NONE};
        c->act(c->ctx, &act);
    }
    if (dome__unit_set_is_empty(&tasks))
        end_loss(m, c);
    return true;
}

bool dome__unit_member_lowered(dome_unit_member *member, const dome_unit_call *call, unsigned task)
{
    if (!member->loses || !dome__unit_set_has(&member->lowers, task))
        return false;
    dome__unit_set_remove(&member->lowers, task);
    dome__unit_set_remove(&member->writers, task);
    if (member->loses == DOME_UNIT_YIELD)
        dome__unit_set_remove(&member->readers, task);
    if (dome__unit_set_is_empty(&member->lowers))
        end_loss(member, call);
    return true;
}

/* ---- getting ---- */

static bool take_grant(dome_unit_member *m, const dome_unit_call *c, dome_unit_message message)
{
    if (!m->asked || m->loses || !message.of || (m->got && message.of != m->of))
        return false;
    m->of = message.of;
    m->filled |= message.data;
    if (++m->got < m->of)
        return true;
    if (m->have == DOME_UNIT_NONE && !m->filled)
        return false;
    m->have = m->asked;
    m->asked = DOME_UNIT_NONE;
    m->got = m->of = 0;
    m->filled = false;
    offer(c, (dome_unit_right)m->have);
    raise_waiting(m, c); /* before the home is told, which takes time */
    if (!message.done)
        send_done(c, c->self);
    settle(m, c);
    return true;
}

bool dome__unit_member_take(dome_unit_member *member, const dome_unit_call *call, dome_unit_message message)
{
    switch (message.kind) {
    case DOME_UNIT_SHARE:
    case DOME_UNIT_YIELD:
        return begin_loss(member, call, message);
    case DOME_UNIT_GRANT:
        return take_grant(member, call, message);
    default:
        return false;
    }
}
