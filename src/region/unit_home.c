#include "region/unit_home.h"

#include <string.h>

void dome__unit_home_init(dome_unit_home *home, unsigned member)
{
    memset(home, 0, sizeof *home);
    dome__unit_set_add(&home->copies, member);
    home->turn = (uint16_t)member;
    home->exclusive = true;
}

bool dome__unit_home_is_idle(const dome_unit_home *home)
{
    return home->phase == DOME_UNIT_FREE && !home->timing;
}

/* ---- serving ---- */

static void grant(const dome_unit_call *c, unsigned member)
{
    dome__unit_send(c, member, (dome_unit_message){.kind = DOME_UNIT_GRANT, .done = true, .of = 1});
}

/* Who sends the values: this member, or the first that has them. */
static int supplier(const dome_unit_home *h, const dome_unit_call *c)
{
    return dome__unit_set_has(&h->copies, c->self) ? (int)c->self : dome__unit_set_next(&h->copies, 0);
}

/* False: what is sent leads to DONE later. */
static bool serve_read(const dome_unit_home *h, const dome_unit_call *c)
{
    const dome_unit_message share = {.kind = DOME_UNIT_SHARE, .data = true, .to = h->turn, .of = 1};
    const bool has = dome__unit_set_has(&h->copies, h->turn);
    if (has)
        grant(c, h->turn);
    else
        dome__unit_send(c, (unsigned)supplier(h, c), share);
    return has;
}

static bool serve_write(const dome_unit_home *h, const dome_unit_call *c)
{
    const int values = dome__unit_set_has(&h->copies, h->turn) ? -1 : supplier(h, c);
    dome_unit_set others = h->copies;
    dome__unit_set_remove(&others, h->turn);
    const uint16_t of = (uint16_t)dome__unit_set_count(&others);
    if (!of)
        grant(c, h->turn);
    for (int k = -1; (k = dome__unit_set_next(&others, (unsigned)k + 1)) >= 0;)
        dome__unit_send(c, (unsigned)k,
                        (dome_unit_message){.kind = DOME_UNIT_YIELD, .data = k == values, .to = h->turn, .of = of});
    return !of;
}

static void go_on(dome_unit_home *h, const dome_unit_call *c);

/* The member that was served has what it has asked for. */
static void finish(dome_unit_home *h, const dome_unit_call *c)
{
    if (h->writing)
        h->copies = dome__unit_set_of(h->turn);
    else
        dome__unit_set_add(&h->copies, h->turn);
    h->exclusive = h->writing;
    h->granted = c->now;
    go_on(h, c);
}

static void serve(dome_unit_home *h, const dome_unit_call *c, unsigned member)
{
    h->writing = dome__unit_set_has(&h->writes, member);
    dome__unit_set_remove(&h->writes, member);
    dome__unit_set_remove(&h->reads, member);
    h->turn = (uint16_t)member;
    h->phase = DOME_UNIT_BUSY;
    if (h->writing ? serve_write(h, c) : serve_read(h, c))
        finish(h, c);
}

/* The next member round from the last that waits; -1: none does. */
static int next_in_turn(const dome_unit_home *h)
{
    dome_unit_set all = h->reads;
    for (int w = 0; w < DOME_UNIT_WORDS; w++)
        all.words[w] |= h->writes.words[w];
    const unsigned from = h->turn + 1u;
    const int next = from < DOME_UNIT_MOST ? dome__unit_set_next(&all, from) : -1;
    return next >= 0 ? next : dome__unit_set_next(&all, 0);
}

/* Whether a member would take away what was granted to another a moment ago. */
static bool is_held(const dome_unit_home *h, const dome_unit_call *c, unsigned member)
{
    const bool takes = h->exclusive || dome__unit_set_has(&h->writes, member);
    return takes && member != h->turn && dome__unit_set_has(&h->copies, h->turn) && c->now - h->granted < c->hold;
}

static void wait_for_hold(dome_unit_home *h, const dome_unit_call *c)
{
    const dome_unit_act act = {.action = DOME_UNIT_WAIT, .wait = c->hold - (c->now - h->granted)};
    h->phase = DOME_UNIT_HELD;
    if (!h->timing)
        c->act(c->ctx, &act);
    h->timing = true;
}

static void go_on(dome_unit_home *h, const dome_unit_call *c)
{
    const int next = next_in_turn(h);
    h->phase = DOME_UNIT_FREE;
    if (next < 0)
        return;
    if (is_held(h, c, (unsigned)next))
        wait_for_hold(h, c);
    else
        serve(h, c, (unsigned)next);
}

/* ---- events ---- */

static bool ask(dome_unit_home *h, const dome_unit_call *c, unsigned from, bool writes)
{
    const bool served = h->phase == DOME_UNIT_BUSY && from == h->turn;
    if (served || dome__unit_set_has(&h->reads, from) || dome__unit_set_has(&h->writes, from))
        return false;
    dome__unit_set_add(writes ? &h->writes : &h->reads, from);
    if (h->phase == DOME_UNIT_FREE)
        go_on(h, c);
    else if (h->phase == DOME_UNIT_HELD && from == h->turn)
        serve(h, c, from);
    return true;
}

/* From that member, or from this one, which has granted. */
static bool done(dome_unit_home *h, const dome_unit_call *c, unsigned from, unsigned member)
{
    if (h->phase != DOME_UNIT_BUSY || member != h->turn || (from != member && from != c->self))
        return false;
    finish(h, c);
    return true;
}

bool dome__unit_home_take(dome_unit_home *home, const dome_unit_call *call, unsigned from, dome_unit_message message)
{
    switch (message.kind) {
    case DOME_UNIT_ASK_READ:
    case DOME_UNIT_ASK_WRITE:
        return ask(home, call, from, message.kind == DOME_UNIT_ASK_WRITE);
    case DOME_UNIT_DONE:
        return done(home, call, from, message.to);
    default:
        return false;
    }
}

void dome__unit_home_timer(dome_unit_home *home, const dome_unit_call *call)
{
    home->timing = false;
    if (home->phase == DOME_UNIT_HELD)
        go_on(home, call);
}
