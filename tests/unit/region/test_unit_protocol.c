/* The sequential protocol: every order in which accesses of a few tasks and the messages of their members can follow each other.
 *
 * A model has members with tasks, which make a number of accesses: each any load or store of any unit. All messages are in
 * queues, one for each pair that keeps an order, and any queue's first may be next. A copy is the newest or is not: a store makes
 * it the newest and all others old, those on their way too. So a load of the newest copy returns the last store in the order in
 * which accesses happen, which respects each task's program: what every load returns is explained by one order of all.
 *
 * Planted mistakes, each of which must be found, show that the search can fail. */
#include "region/unit_home.h"
#include "region/unit_member.h"
#include "transport/mac.h"

#include <glib.h>

#include <string.h>

enum { MEMBERS = 3, TASKS = 4, UNITS = 2, QUEUE = 8 };

/* ---- the model ---- */

typedef enum mistake {
    NO_MISTAKE,
    LOST_YIELD,       /* one of two members that have copies is not told to give up */
    EARLY_GRANT,      /* the first of two grants counts as all */
    NOT_LOWERED,      /* a task keeps its right */
    KEEPS_WRITE,      /* a task that is to read only may still write */
    RAISED_TOO_FAR,   /* a reader may write */
    OLD_VALUES,       /* the values of a grant are old */
    UPGRADE_TRUSTED,  /* who asks to write gets no values, as if its copy were still there */
    LOST_DONE,        /* the home never knows that a request is done */
    LOST_TIMER,       /* the hold never ends */
    READER_FORGOTTEN, /* the home forgets whom it let read */
    RIGHT_IGNORED,    /* a task asks again and again for the right that it is given */
    DONE_TOO_EARLY,   /* the home's member says DONE although another grants, too */
    SELF_LATER,       /* what a member tells itself is not its next event */
    UNFAIR,           /* the last member has its turn when no other waits */
    TASK_OVERTAKES,   /* what a task is told arrives in any order */
    MEMBER_OVERTAKES, /* what a member is told arrives in any order */
    MOVED_UNFETCHED,  /* another home believes that it alone has a copy */
    TAKEN_UNSEEN,     /* what tasks have taken is not looked at */
    TAKEN_UNCHECKED,  /* a task looks at the offer, and notes later what it takes */
    OFFER_KEPT,       /* an offer does not end */
    MISTAKES
} mistake;

typedef struct setup {
    int members, units, moves;
    int tasks[MEMBERS];
    int accesses; /* of each task */
    bool hold;
    bool later; /* a task that was given a right may lose it again before its access */
    bool slow;  /* only on request: -m slow */
    mistake mistake;
} setup;

static setup now;

/* Words between a member's first task and its tasks, behind the members' own. */
typedef enum word { RAISE = DOME_UNIT_GRANT + 1, LOWER, FAULT, LOWERED } word;

typedef enum values { NO_VALUES, OLD, NEWEST } values;

typedef struct message {
    uint8_t word, unit, to, of;
    uint8_t values; /* SHARE, YIELD: whether some are to be sent */
    uint8_t right;  /* RAISE, LOWER, FAULT; GRANT: the home knows that it is the last */
} message;

typedef struct queue {
    uint8_t count;
    message messages[QUEUE];
} queue;

typedef struct task {
    uint8_t left;        /* accesses */
    uint8_t wants, unit; /* the right that its access needs; NONE: it makes none */
    uint8_t told;        /* its member knows */
    uint8_t right[UNITS];
    uint8_t taken[UNITS];  /* the right that it has taken by itself, as it has noted */
    uint8_t looks;         /* it has no right for its access, and looks at the offer */
    uint8_t takes, before; /* what it has noted, and is to look at again; what stood there */
} task;

typedef struct unit {
    uint8_t home;
    dome_unit_home at_home;
    dome_unit_member at[MEMBERS];
    uint8_t newest[MEMBERS]; /* by member: its copy is */
    uint8_t offer[MEMBERS];  /* by member, to its tasks */
    uint8_t passed[MEMBERS]; /* so many others were served while its request waits at the home */
} unit;

typedef struct model {
    uint8_t moves; /* still to come */
    task tasks[TASKS];
    unit units[UNITS];
    queue between[MEMBERS][MEMBERS]; /* from, to */
    queue down[TASKS], up[TASKS];    /* to and from tasks */
} model;

static const char *broken; /* what does not hold */

static void breaks(const char *what)
{
    if (!broken)
        broken = what;
}

static int member_of(int t)
{
    int m = 0;
    while (t >= now.tasks[m])
        t -= now.tasks[m++];
    return m;
}

static int first_task(int member)
{
    int t = 0;
    for (int m = 0; m < member; m++)
        t += now.tasks[m];
    return t;
}

static int tasks(void)
{
    return first_task(now.members);
}

static void put(queue *q, message l)
{
    if (q->count == QUEUE)
        breaks("a queue is longer than any should be");
    else
        q->messages[q->count++] = l;
}

static message take(queue *q, int k)
{
    const message l = q->messages[k];
    memmove(q->messages + k, q->messages + k + 1, (size_t)(QUEUE - 1 - k) * sizeof l);
    q->count--;
    return l;
}

/* ---- what the machines want done ---- */

typedef struct place {
    model *m;
    int unit, self;
    bool at_home, served; /* served: the home has begun to serve a request */
    bool skipped;         /* LOST_YIELD: one was */
} place;

static void send_message(place *p, unsigned to, dome_unit_message msg)
{
    unit *u = &p->m->units[p->unit];
    message l = {.word = msg.kind,
                 .unit = (uint8_t)p->unit,
                 .to = (uint8_t)msg.to,
                 .of = (uint8_t)msg.of,
                 .values = msg.data,
                 .right = msg.done};
    if (msg.kind == DOME_UNIT_GRANT && msg.data)
        l.values = u->newest[p->self] && now.mistake != OLD_VALUES ? NEWEST : OLD;
    if (now.mistake == LOST_YIELD && l.word == DOME_UNIT_YIELD && l.of == 2 && !p->skipped) {
        p->skipped = true;
        return;
    }
    if (now.mistake == LOST_YIELD && l.word == DOME_UNIT_YIELD)
        l.of = 1;
    if (now.mistake == EARLY_GRANT && l.word == DOME_UNIT_GRANT)
        l.of = 1;
    if (now.mistake == UPGRADE_TRUSTED && l.word == DOME_UNIT_YIELD)
        l.values = NO_VALUES;
    if (now.mistake == DONE_TOO_EARLY && l.word == DOME_UNIT_GRANT && l.of == 2 && p->self == u->home) {
        l.right = 1;
        put(&p->m->between[p->self][p->self], (message){.word = DOME_UNIT_DONE, .unit = l.unit, .to = (uint8_t)to});
    }
    if (now.mistake == LOST_DONE && l.word == DOME_UNIT_DONE)
        return;
    p->served |= p->at_home;
    put(&p->m->between[p->self][to], l);
}

static void tell_task(place *p, const dome_unit_act *a)
{
    const int t = first_task(p->self) + (int)a->to;
    message l = {.word = a->action == DOME_UNIT_RAISE ? RAISE : LOWER, .unit = (uint8_t)p->unit, .right = (uint8_t)a->right};
    if (l.word == LOWER && (now.mistake == NOT_LOWERED || (now.mistake == KEEPS_WRITE && a->right == DOME_UNIT_READ))) {
        put(&p->m->up[t], (message){.word = LOWERED, .unit = (uint8_t)p->unit});
        return;
    }
    if (l.word == RAISE && now.mistake == RAISED_TOO_FAR)
        l.right = DOME_UNIT_WRITE;
    put(&p->m->down[t], l);
}

static void set_offer(const place *p, uint8_t right)
{
    unit *u = &p->m->units[p->unit];
    const int first = first_task(p->self);
    if (now.mistake != OFFER_KEPT || right > u->offer[p->self])
        u->offer[p->self] = right;
    for (int t = 1; t < now.tasks[p->self] && now.mistake != TAKEN_UNSEEN; t++)
        if (p->m->tasks[first + t].taken[p->unit] > right)
            dome__unit_member_took(&u->at[p->self], (unsigned)t, (dome_unit_right)p->m->tasks[first + t].taken[p->unit]);
}

static void act(void *ctx, const dome_unit_act *a)
{
    place *p = ctx;
    switch (a->action) {
    case DOME_UNIT_SEND:
        send_message(p, a->to, a->message);
        break;
    case DOME_UNIT_WAIT: /* the home says itself that its timer runs */
        break;
    case DOME_UNIT_RAISE:
    case DOME_UNIT_LOWER:
        tell_task(p, a);
        break;
    case DOME_UNIT_OFFER:
        set_offer(p, (uint8_t)a->right);
        break;
    }
}

/* Time stands still: what was granted is held until the timer. */
static dome_unit_call call_of(place *p, bool timer)
{
    return (dome_unit_call){
        .self = (unsigned)p->self, .home = p->m->units[p->unit].home, .now = timer, .hold = now.hold, .act = act, .ctx = p};
}

/* ---- accesses ---- */

static void age(queue *q, int u)
{
    for (int k = 0; k < q->count; k++)
        if (q->messages[k].unit == u && q->messages[k].word == DOME_UNIT_GRANT && q->messages[k].values)
            q->messages[k].values = OLD;
}

static void store(model *m, int member, int u)
{
    memset(m->units[u].newest, 0, MEMBERS);
    m->units[u].newest[member] = 1;
    for (int a = 0; a < now.members; a++)
        for (int b = 0; b < now.members; b++)
            age(&m->between[a][b], u);
}

/* The access of a task that may make it. */
static bool access_now(model *m, int t)
{
    task *k = &m->tasks[t];
    const int member = member_of(t);
    if (!k->wants || k->right[k->unit] < k->wants)
        return false;
    if (!m->units[k->unit].newest[member])
        breaks(k->wants == DOME_UNIT_WRITE ? "a store to old values" : "a load of old values");
    if (k->wants == DOME_UNIT_WRITE)
        store(m, member, k->unit);
    k->wants = k->unit = k->told = 0;
    return true;
}

/* A task that is not its member's first looks whether its right is offered, before it tells the first. */
static void fault(model *m, int t)
{
    task *k = &m->tasks[t];
    if (!k->looks && t != first_task(member_of(t))) {
        k->looks = 1;
        return;
    }
    k->looks = 0;
    k->told = 1;
    put(&m->up[t], (message){.word = FAULT, .unit = k->unit, .right = k->wants});
}

static bool begin_access(model *m, int t, int u, uint8_t right)
{
    task *k = &m->tasks[t];
    if (k->wants || !k->left)
        return false;
    k->left--;
    k->wants = right;
    k->unit = (uint8_t)u;
    if (!access_now(m, t))
        fault(m, t);
    return true;
}

/* Two steps, between which it hears nothing from its member's first task. */
static bool look(model *m, int t)
{
    task *k = &m->tasks[t];
    const uint8_t offer = m->units[k->unit].offer[member_of(t)];
    if (!k->looks || k->takes)
        return false;
    if (offer < k->wants) {
        fault(m, t);
        return true;
    }
    k->before = k->taken[k->unit];
    k->takes = offer;
    if (now.mistake != TAKEN_UNCHECKED)
        k->taken[k->unit] = MAX(k->before, offer);
    return true;
}

static bool look_again(model *m, int t)
{
    task *k = &m->tasks[t];
    const uint8_t takes = k->takes;
    if (!takes)
        return false;
    const bool good = now.mistake == TAKEN_UNCHECKED || m->units[k->unit].offer[member_of(t)] == takes;
    k->taken[k->unit] = good ? MAX(k->before, takes) : k->before;
    k->takes = k->before = 0;
    if (good) {
        k->right[k->unit] = takes;
        k->looks = 0;
        access_now(m, t);
    } else {
        fault(m, t);
    }
    return true;
}

/* A task that was given a right goes on, or finds that it has lost it. */
static bool try_again(model *m, int t)
{
    if (!m->tasks[t].wants || m->tasks[t].told || m->tasks[t].looks)
        return false;
    if (!access_now(m, t))
        fault(m, t);
    return true;
}

static bool task_hears(model *m, int t, int k)
{
    if (k >= m->down[t].count || m->tasks[t].takes)
        return false;
    task *of = &m->tasks[t];
    const message l = take(&m->down[t], k);
    if (l.word == LOWER) {
        of->right[l.unit] = MIN(of->right[l.unit], l.right);
        of->taken[l.unit] = MIN(of->taken[l.unit], l.right);
        put(&m->up[t], (message){.word = LOWERED, .unit = l.unit});
        return true;
    }
    if (now.mistake != RIGHT_IGNORED)
        of->right[l.unit] = MAX(of->right[l.unit], l.right);
    if (of->unit == l.unit)
        of->told = 0;
    if (!now.later)
        try_again(m, t);
    return true;
}

/* ---- members ---- */

static bool member_hears_task(model *m, int t)
{
    if (!m->up[t].count)
        return false;
    const message l = take(&m->up[t], 0);
    const int member = member_of(t);
    place p = {.m = m, .unit = l.unit, .self = member};
    const dome_unit_call c = call_of(&p, false);
    dome_unit_member *at = &m->units[l.unit].at[member];
    const unsigned local = (unsigned)(t - first_task(member));
    if (l.word == FAULT)
        dome__unit_member_fault(at, &c, local, l.right == DOME_UNIT_WRITE);
    else if (!dome__unit_member_lowered(at, &c, local))
        breaks("a task was lowered that should not be");
    return true;
}

static bool waits_at_home(const unit *u, int member)
{
    return dome__unit_set_has(&u->at_home.reads, (unsigned)member) || dome__unit_set_has(&u->at_home.writes, (unsigned)member);
}

/* Nobody is passed more often than the home promises. */
static void count_passed(const place *p, unit *u)
{
    const int most = (now.hold ? 2 : 1) * (now.members - 1);
    for (int k = 0; p->served && k < now.members; k++) {
        u->passed[k] = waits_at_home(u, k) ? (uint8_t)(u->passed[k] + 1) : 0;
        if (u->passed[k] > most)
            breaks("a request is passed too often");
    }
}

static bool home_hears(model *m, int from, int u, dome_unit_message msg)
{
    unit *of = &m->units[u];
    place p = {.m = m, .unit = u, .self = of->home, .at_home = true};
    const dome_unit_call c = call_of(&p, false);
    const bool forgets = now.mistake == UNFAIR && msg.kind == DOME_UNIT_DONE && waits_at_home(of, now.members - 1);
    const dome_unit_home before = of->at_home;
    if (forgets) {
        dome__unit_set_remove(&of->at_home.reads, (unsigned)now.members - 1);
        dome__unit_set_remove(&of->at_home.writes, (unsigned)now.members - 1);
    }
    const bool good = dome__unit_home_take(&of->at_home, &c, (unsigned)from, msg);
    if (forgets && of->at_home.phase == DOME_UNIT_FREE) { /* no other waits: as it should be */
        of->at_home = before;
        dome__unit_home_take(&of->at_home, &c, (unsigned)from, msg);
    } else if (forgets) {
        of->at_home.reads.words[0] |= before.reads.words[0] & 1u << (now.members - 1);
        of->at_home.writes.words[0] |= before.writes.words[0] & 1u << (now.members - 1);
    }
    if (now.mistake == READER_FORGOTTEN && msg.kind == DOME_UNIT_DONE && dome__unit_set_count(&of->at_home.copies) > 1)
        dome__unit_set_remove(&of->at_home.copies, msg.to);
    count_passed(&p, of);
    return good;
}

static bool member_hears_member(model *m, int from, int to, int k)
{
    if (k >= m->between[from][to].count)
        return false;
    const message l = take(&m->between[from][to], k);
    unit *u = &m->units[l.unit];
    const dome_unit_message msg = {.kind = l.word, .data = l.values, .done = l.right, .to = l.to, .of = l.of};
    bool good;
    if (l.word <= DOME_UNIT_DONE) {
        good = to == u->home && home_hears(m, from, l.unit, msg);
    } else {
        place p = {.m = m, .unit = l.unit, .self = to};
        const dome_unit_call c = call_of(&p, false);
        if (l.word == DOME_UNIT_GRANT && l.values)
            u->newest[to] = l.values == NEWEST;
        good = dome__unit_member_take(&u->at[to], &c, msg);
    }
    if (!good)
        breaks("a message that fits nothing");
    return true;
}

static bool ring(model *m, int u)
{
    unit *of = &m->units[u];
    if (!of->at_home.timing || now.mistake == LOST_TIMER)
        return false;
    place p = {.m = m, .unit = u, .self = of->home, .at_home = true};
    const dome_unit_call c = call_of(&p, true);
    dome__unit_home_timer(&of->at_home, &c);
    count_passed(&p, of);
    return true;
}

/* ---- a boundary ---- */

static bool is_quiet(const model *m)
{
    bool quiet = true;
    for (int a = 0; a < now.members; a++)
        for (int b = 0; b < now.members; b++)
            quiet &= !m->between[a][b].count;
    for (int t = 0; t < tasks(); t++)
        quiet &= !m->down[t].count && !m->up[t].count && !m->tasks[t].wants;
    for (int u = 0; u < now.units; u++) {
        quiet &= dome__unit_home_is_idle(&m->units[u].at_home);
        for (int a = 0; a < now.members; a++)
            quiet &= dome__unit_member_is_idle(&m->units[u].at[a]);
    }
    return quiet;
}

/* To a member that has the unit alone. */
static bool move_home(model *m, int u, int to)
{
    unit *of = &m->units[u];
    const bool has = of->at[to].have == DOME_UNIT_WRITE || now.mistake == MOVED_UNFETCHED;
    if (!m->moves || to == of->home || !has || !is_quiet(m))
        return false;
    m->moves--;
    dome__unit_home_init(&of->at_home, (unsigned)to);
    of->home = (uint8_t)to;
    return true;
}

/* ---- what holds in every state ---- */

static void check(const model *m)
{
    for (int u = 0; u < now.units; u++) {
        int writer = -1, reader = -1; /* members */
        for (int t = 0; t < tasks(); t++) {
            const int right = m->tasks[t].right[u], member = member_of(t);
            if (!right)
                continue;
            if ((writer >= 0 && writer != member) || (right == DOME_UNIT_WRITE && reader >= 0 && reader != member))
                breaks("a member may write what another may read");
            reader = member;
            if (right == DOME_UNIT_WRITE)
                writer = member;
        }
    }
}

/* Nothing can happen any more. */
static void check_end(const model *m)
{
    for (int t = 0; t < tasks(); t++)
        if (m->tasks[t].left || m->tasks[t].wants)
            breaks("a task waits for ever");
    if (!is_quiet(m))
        breaks("something is under way for ever");
}

/* ---- all orders ---- */

/* States that were seen, by a code of 64 bits, whose last says that it leads to the present one. */
typedef struct seen {
    uint64_t *codes, size, count;
} seen;

static seen states;
static uint64_t ends;

static uint64_t *slot(const seen *s, uint64_t code)
{
    uint64_t at = (code >> 8) % s->size;
    while (s->codes[at] && (s->codes[at] | 1) != (code | 1))
        at = (at + 1) % s->size;
    return &s->codes[at];
}

static void grow(seen *s)
{
    seen more = {g_new0(uint64_t, 2 * s->size + 1024), 2 * s->size + 1024, s->count};
    for (uint64_t k = 0; k < s->size; k++)
        if (s->codes[k])
            *slot(&more, s->codes[k]) = s->codes[k];
    g_free(s->codes);
    *s = more;
}

typedef struct text {
    uint8_t bytes[600];
    size_t count;
} text;

static void say(text *x, unsigned value)
{
    g_assert_cmpuint(value, <, 256);
    x->bytes[x->count++] = (uint8_t)value;
}

static void say_queue(text *x, const queue *q)
{
    say(x, q->count);
    memcpy(x->bytes + x->count, q->messages, q->count * sizeof *q->messages);
    x->count += q->count * sizeof *q->messages;
}

static void say_set(text *x, const dome_unit_set *s)
{
    say(x, (unsigned)s->words[0]);
}

static void say_home(text *x, const dome_unit_home *h)
{
    say_set(x, &h->copies);
    say_set(x, &h->reads);
    say_set(x, &h->writes);
    say(x, h->turn);
    say(x, h->phase * 8u + h->exclusive * 4u + (h->phase == DOME_UNIT_BUSY && h->writing) * 2u + h->timing);
}

static void say_member(text *x, const dome_unit_member *m)
{
    say(x, m->have * 64u + m->asked * 16u + m->filled);
    say(x, m->loses);
    if (m->loses)
        say(x, m->to * 2u + m->data);
    say(x, m->of * 8u + m->got);
    say_set(x, &m->readers);
    say_set(x, &m->writers);
    say_set(x, &m->waits_read);
    say_set(x, &m->waits_write);
    say_set(x, &m->lowers);
}

static void say_unit(text *x, const unit *u)
{
    say(x, u->home);
    say_home(x, &u->at_home);
    for (int a = 0; a < now.members; a++) {
        say_member(x, &u->at[a]);
        say(x, u->newest[a]);
        say(x, u->offer[a]);
        say(x, u->passed[a]);
    }
}

static uint64_t code_of(const model *m)
{
    text x = {.count = 0};
    say(&x, m->moves);
    for (int t = 0; t < tasks(); t++) {
        memcpy(x.bytes + x.count, &m->tasks[t], sizeof m->tasks[t]);
        x.count += sizeof m->tasks[t];
        say_queue(&x, &m->down[t]);
        say_queue(&x, &m->up[t]);
    }
    for (int u = 0; u < now.units; u++)
        say_unit(&x, &m->units[u]);
    for (int a = 0; a < now.members; a++)
        for (int b = 0; b < now.members; b++)
            say_queue(&x, &m->between[a][b]);
    g_assert_cmpuint(x.count, <, sizeof x.bytes);
    dome_mac key = {{1, 2}, 0};
    uint8_t code[DOME_MAC_BYTES];
    uint64_t first;
    dome__mac_next(&key, x.bytes, x.count, code);
    memcpy(&first, code, sizeof first);
    return first | 2; /* never 0, nor 1 */
}

/* A step of a task, of which there are so many kinds. */
enum { OF_TASK = 2 * UNITS + 6, OF_PAIR = 2, OF_UNIT = 1 + MEMBERS };

static bool step_task(model *m, int t, int k)
{
    if (k < 2 * now.units)
        return begin_access(m, t, k / 2, k % 2 ? DOME_UNIT_WRITE : DOME_UNIT_READ);
    switch (k - 2 * UNITS) {
    case 0:
        return try_again(m, t);
    case 1:
        return member_hears_task(m, t);
    case 2:
        return task_hears(m, t, 0);
    case 3:
        return now.mistake == TASK_OVERTAKES && task_hears(m, t, 1);
    case 4:
        return look(m, t);
    case 5:
        return look_again(m, t);
    default:
        return false;
    }
}

static bool step_pair(model *m, int pair, int k)
{
    return (k == 0 || now.mistake == MEMBER_OVERTAKES) && member_hears_member(m, pair / now.members, pair % now.members, k);
}

static bool step_unit(model *m, int u, int k)
{
    return k == 0 ? ring(m, u) : k - 1 < now.members && move_home(m, u, k - 1);
}

/* A member that tells itself something; -1: none does. */
static int tells_itself(const model *m)
{
    for (int a = 0; a < now.members; a++)
        if (m->between[a][a].count && now.mistake != SELF_LATER)
            return a;
    return -1;
}

/* Makes step k, if it is possible. *more: there are others behind it. */
static bool step(model *m, int k, bool *more)
{
    const int self = tells_itself(m);
    *more = self < 0;
    if (self >= 0)
        return member_hears_member(m, self, self, 0);
    *more = true;
    if (k < tasks() * OF_TASK)
        return step_task(m, k / OF_TASK, k % OF_TASK);
    k -= tasks() * OF_TASK;
    if (k < now.members * now.members * OF_PAIR)
        return step_pair(m, k / OF_PAIR, k % OF_PAIR);
    k -= now.members * now.members * OF_PAIR;
    *more = k < now.units * OF_UNIT;
    return *more && step_unit(m, k / OF_UNIT, k % OF_UNIT);
}

enum { MOST_STATES = 30000000 };

/* A task that goes on at once makes each of its accesses after so many steps; without that there are circles: a right that is
 * lost again and again before it is used. */
static bool is_new(const model *m, uint64_t *code)
{
    *code = code_of(m);
    if (2 * states.count >= states.size)
        grow(&states);
    uint64_t *at = slot(&states, *code);
    if (*at && (*at & 1) && !now.later)
        breaks("a circle: steps without an access");
    if (*at)
        return false;
    *at = *code | 1;
    states.count++;
    if (states.count > MOST_STATES)
        breaks("more states than there should be");
    return true;
}

static void explore(const model *m)
{
    uint64_t code;
    if (!is_new(m, &code))
        return;
    bool moves = false, more = true;
    for (int k = 0; more && !broken; k++) {
        model next = *m;
        if (!step(&next, k, &more))
            continue;
        moves = true;
        check(&next);
        if (!broken)
            explore(&next);
    }
    if (!moves && !broken)
        check_end(m);
    ends += !moves;
    *slot(&states, code) &= ~UINT64_C(1);
}

/* Returns what does not hold; NULL: all does. */
static const char *explore_all(const setup *s)
{
    model m;
    memset(&m, 0, sizeof m);
    now = *s;
    broken = NULL;
    states = (seen){0};
    ends = 0;
    m.moves = (uint8_t)s->moves;
    for (int t = 0; t < tasks(); t++)
        m.tasks[t].left = (uint8_t)s->accesses;
    for (int u = 0; u < s->units; u++) {
        m.units[u].home = (uint8_t)u;
        dome__unit_home_init(&m.units[u].at_home, (unsigned)u);
        dome__unit_member_init(&m.units[u].at[u], DOME_UNIT_WRITE);
        m.units[u].newest[u] = 1;
        m.units[u].offer[u] = DOME_UNIT_WRITE;
    }
    explore(&m);
    g_free(states.codes);
    return broken;
}

/* ---- tests ---- */

static const setup setups[] = {
    {.members = 2, .units = 1, .tasks = {1, 1}, .accesses = 4},
    {.members = 2, .units = 1, .tasks = {1, 1}, .accesses = 4, .hold = true, .moves = 1},
    {.members = 2, .units = 1, .tasks = {1, 1}, .accesses = 4, .later = true},
    {.members = 2, .units = 1, .tasks = {1, 2}, .accesses = 2, .moves = 1},
    {.members = 2, .units = 2, .tasks = {1, 1}, .accesses = 3, .later = true},
    {.members = 2, .units = 2, .tasks = {1, 1}, .accesses = 3, .hold = true},
    {.members = 3, .units = 1, .tasks = {1, 1, 1}, .accesses = 2},
    {.members = 3, .units = 1, .tasks = {1, 1, 1}, .accesses = 2, .hold = true, .moves = 1},
    {.members = 3, .units = 2, .tasks = {1, 1, 1}, .accesses = 1},
    {.members = 2, .units = 1, .tasks = {1, 2}, .accesses = 2, .later = true, .hold = true, .slow = true},
    {.members = 2, .units = 1, .tasks = {2, 2}, .accesses = 2, .slow = true},
    {.members = 3, .units = 1, .tasks = {1, 1, 1}, .accesses = 2, .later = true, .hold = true, .slow = true},
    {.members = 3, .units = 1, .tasks = {1, 1, 1}, .accesses = 3, .hold = true, .slow = true},
    {.members = 3, .units = 2, .tasks = {1, 1, 1}, .accesses = 1, .later = true, .moves = 1, .slow = true},
    {.members = 3, .units = 2, .tasks = {1, 1, 1}, .accesses = 2, .slow = true},
};

static void test_all_orders(void)
{
    for (size_t k = 0; k < G_N_ELEMENTS(setups); k++) {
        const setup *s = &setups[k];
        if (s->slow && !g_test_slow())
            continue;
        const gint64 began = g_get_monotonic_time();
        const char *what = explore_all(s);
        g_test_message("%d members with %d tasks, %d units, %d accesses each%s%s%s: %" G_GUINT64_FORMAT
                       " states, %" G_GUINT64_FORMAT " ends, %.1f s",
                       s->members, tasks(), s->units, s->accesses, s->hold ? ", held" : "", s->later ? ", later" : "",
                       s->moves ? ", a home moves" : "", states.count, ends,
                       (double)(g_get_monotonic_time() - began) / G_USEC_PER_SEC);
        g_assert_cmpstr(what, ==, NULL);
        g_assert_cmpuint(ends, >, 0);
    }
}

static const char *const names[MISTAKES] = {
    [LOST_YIELD] = "a copy that is not given up",
    [EARLY_GRANT] = "a grant too few",
    [NOT_LOWERED] = "a task that keeps its right",
    [KEEPS_WRITE] = "a task that keeps the right to write",
    [RAISED_TOO_FAR] = "a reader that may write",
    [OLD_VALUES] = "a grant with old values",
    [UPGRADE_TRUSTED] = "an upgrade without values",
    [LOST_DONE] = "a request that is never done",
    [LOST_TIMER] = "a hold without an end",
    [READER_FORGOTTEN] = "a reader that the home forgets",
    [RIGHT_IGNORED] = "a task that asks for ever",
    [DONE_TOO_EARLY] = "a request that is done too early",
    [SELF_LATER] = "a member that hears itself too late",
    [UNFAIR] = "an unfair home",
    [TASK_OVERTAKES] = "messages to a task out of order",
    [MEMBER_OVERTAKES] = "messages to a member out of order",
    [MOVED_UNFETCHED] = "a home that moves to a member without the unit",
    [TAKEN_UNSEEN] = "a right that a task has taken unseen",
    [TAKEN_UNCHECKED] = "a right that is taken when it is not offered any more",
    [OFFER_KEPT] = "an offer without an end",
};

/* Each is found with some setup. */
static void test_mistakes(void)
{
    for (int k = NO_MISTAKE + 1; k < MISTAKES; k++) {
        const char *found = NULL;
        size_t at = 0;
        for (; !found && at < G_N_ELEMENTS(setups) && !setups[at].slow; at++) {
            setup s = setups[at];
            s.mistake = (mistake)k;
            found = explore_all(&s);
        }
        g_test_message("%s: %s, after %" G_GUINT64_FORMAT " states of setup %zu", names[k], found ? found : "not found",
                       states.count, at);
        g_assert_nonnull(found);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/unit-protocol/all-orders", test_all_orders);
    g_test_add_func("/unit-protocol/mistakes", test_mistakes);
    return g_test_run();
}
