#include "region/unit_service.h"

#include "peer/peer_need.h"
#include "region/unit_packet.h"
#include "region/unit_table.h"
#include "system/time.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>

struct dome_unit_service {
    dome_peer *peer;
    dome_transport *transport;
    pthread_t owner; /* whose waits are counted */
    pthread_mutex_t lock;
    GHashTable *regions; /* dome_units by number */
};

struct dome_units {
    dome_unit_service *service;
    dome_units_setup setup;
    int *firsts, *ranks;
    uint16_t *home;             /* by unit */
    dome_unit_homes *homes;     /* of the member's first task; those of which this member is not the home stay unused */
    dome_unit_members *members; /* of the member's first task */
    GQueue own;                 /* dome_unit_packet *: to this task, not processed yet */
    GQueue waiters;             /* waiter * */
    uint64_t ahead, window;     /* a task that takes units one behind the other takes so many more, from there on */
    uint8_t *message;           /* room for one */
};

/* A thread that waits for rights. It goes on without the lock, which the thread that raises the last one still has. */
typedef struct sleeper {
    uint64_t missing; /* so many rights */
    sem_t raised;     /* none is missing */
} sleeper;

typedef struct waiter {
    uint64_t unit;
    dome_unit_right right;
    sleeper *sleeper;
    struct adding *adding; /* instead of a thread: what is done with the right */
} waiter;

/* What a task of another member has asked this home to add. */
typedef struct adding {
    waiter waiter;
    int from; /* rank */
    unsigned member;
    uint64_t id;
    GBytes *message;
} adding;

/* What a timer of a home is about: the region may be gone when it rings. */
typedef struct ringing {
    dome_unit_service *service;
    uint32_t region;
    uint64_t unit;
} ringing;

static bool is_first(const dome_units *u)
{
    return u->setup.task == 0;
}

/* ---- sending; the lock is held ---- */

/* member: that of the task with this rank. */
static void send_packet(dome_units *u, int rank, unsigned member, const dome_unit_packet *packet)
{
    uint32_t bytes = DOME_UNIT_PACKET;
    if (rank == u->ranks[u->setup.task]) {
        g_queue_push_tail(&u->own, g_memdup2(packet, sizeof *packet));
        return;
    }
    dome__unit_packet_put(packet, u->message);
    if (packet->word == DOME_UNIT_GRANT && packet->data)
        bytes += u->setup.calls.pack(u->setup.ctx, packet->unit, member, u->message + bytes);
    if (dome__peer_tell(u->service->peer, rank, DOME_PEER_REGION, u->message, bytes) == DOME_PEER_FULL)
        g_error("messages about units to task %d do not leave", rank); /* there is one request of a thread at a time */
}

static dome_unit_packet packet_of(const dome_units *u, uint8_t word, uint64_t unit)
{
    return (dome_unit_packet){.word = word, .from = (uint16_t)u->setup.member, .region = u->setup.region, .unit = unit};
}

/* ---- rights that a task takes by itself; the lock is held ---- */

static _Atomic uint8_t *taken_by(const dome_units *u, unsigned task, uint64_t unit)
{
    return &u->setup.offers[task * u->setup.units + unit];
}

/* No message to this task is processed between the two looks at the offer. */
static bool take_offer(const dome_units *u, uint64_t unit, dome_unit_right right)
{
    if (!u->setup.offers || is_first(u))
        return false;
    _Atomic uint8_t *offer = taken_by(u, 0, unit), *taken = taken_by(u, u->setup.task, unit);
    const uint8_t offered = atomic_load(offer), before = atomic_load(taken);
    if (offered < right)
        return false;
    atomic_store(taken, MAX(before, offered));
    if (atomic_load(offer) != offered) {
        atomic_store(taken, before);
        return false;
    }
    u->setup.calls.allow(u->setup.ctx, unit, (dome_unit_right)offered);
    return true;
}

/* In the first task. */
static void set_offer(const dome_units *u, uint64_t unit, dome_unit_right right)
{
    if (!u->setup.offers)
        return;
    atomic_store(taken_by(u, 0, unit), (uint8_t)right);
    for (unsigned t = 1; t < u->setup.tasks; t++) {
        const uint8_t taken = atomic_load(taken_by(u, t, unit));
        if (taken > right)
            dome__unit_member_took(dome__unit_members_take(u->members, unit), t, (dome_unit_right)taken);
    }
}

/* ---- a task and the first of its member; the lock is held ---- */

static void to_first(dome_units *u, uint8_t word, uint64_t unit, dome_unit_right right)
{
    dome_unit_packet packet = packet_of(u, word, unit);
    packet.from = (uint16_t)u->setup.task;
    packet.right = (uint8_t)right;
    send_packet(u, u->ranks[0], u->setup.member, &packet);
}

static void free_adding(adding *a)
{
    g_bytes_unref(a->message);
    g_free(a);
}

/* The task has the right. */
static void add(dome_units *u, adding *a)
{
    gsize bytes;
    const void *message = g_bytes_get_data(a->message, &bytes);
    GByteArray *reply = g_byte_array_new();
    if (u->setup.calls.add(u->setup.ctx, a->waiter.unit, a->member, message, (uint32_t)bytes, reply))
        dome__peer_reply(u->service->peer, a->from, a->id, reply->data, reply->len);
    g_byte_array_unref(reply);
    free_adding(a);
}

static void task_hears(dome_units *u, const dome_unit_packet *packet)
{
    u->setup.calls.allow(u->setup.ctx, packet->unit, (dome_unit_right)packet->right);
    if (packet->word == DOME_UNIT_TASK_LOWER) {
        if (u->setup.offers && !is_first(u) && atomic_load(taken_by(u, u->setup.task, packet->unit)) > packet->right)
            atomic_store(taken_by(u, u->setup.task, packet->unit), packet->right);
        to_first(u, DOME_UNIT_LOWERED, packet->unit, DOME_UNIT_NONE);
        return;
    }
    for (GList *at = u->waiters.head, *next; at; at = next) {
        waiter *w = at->data;
        next = at->next;
        if (w->unit != packet->unit || w->right > packet->right)
            continue;
        g_queue_delete_link(&u->waiters, at);
        if (w->adding)
            add(u, w->adding);
        else if (--w->sleeper->missing == 0)
            sem_post(&w->sleeper->raised);
    }
}

/* ---- what the machines want; the lock is held ---- */

static void ring(void *ctx);

/* For one unit. */
typedef struct place {
    dome_units *units;
    uint64_t unit;
} place;

static void send_message(const place *p, const dome_unit_act *a)
{
    dome_unit_packet packet = packet_of(p->units, a->message.kind, p->unit);
    packet.data = a->message.data;
    packet.done = a->message.done;
    packet.to = a->message.to;
    packet.of = a->message.of;
    send_packet(p->units, p->units->firsts[a->to], a->to, &packet);
}

static void tell_task(const place *p, const dome_unit_act *a, dome_unit_word word)
{
    dome_unit_packet packet = packet_of(p->units, (uint8_t)word, p->unit);
    packet.right = (uint8_t)a->right;
    if (a->to == p->units->setup.task)
        task_hears(p->units, &packet);
    else
        send_packet(p->units, p->units->ranks[a->to], p->units->setup.member, &packet);
}

static void act(void *ctx, const dome_unit_act *a)
{
    const place *p = ctx;
    dome_unit_service *s = p->units->service;
    ringing *r;
    switch (a->action) {
    case DOME_UNIT_SEND:
        send_message(p, a);
        break;
    case DOME_UNIT_WAIT:
        r = g_new(ringing, 1);
        *r = (ringing){s, p->units->setup.region, p->unit};
        dome__peer_after(s->peer, a->wait * 1e-6, ring, r);
        break;
    case DOME_UNIT_RAISE:
        tell_task(p, a, DOME_UNIT_TASK_RAISE);
        break;
    case DOME_UNIT_LOWER:
        tell_task(p, a, DOME_UNIT_TASK_LOWER);
        break;
    case DOME_UNIT_OFFER:
        set_offer(p->units, p->unit, a->right);
        break;
    }
}

static dome_unit_call call_of(place *p)
{
    const dome_units_setup *s = &p->units->setup;
    return (dome_unit_call){.self = s->member,
                            .home = p->units->home[p->unit],
                            .now = (uint32_t)(dome__now_ns() / 1000),
                            .hold = s->hold,
                            .act = act,
                            .ctx = p};
}

/* ---- events; the lock is held ---- */

static bool home_hears(dome_units *u, const dome_unit_packet *packet)
{
    place p = {u, packet->unit};
    const dome_unit_call call = call_of(&p);
    const dome_unit_message message = {.kind = packet->word, .to = packet->to};
    const bool good = call.home == u->setup.member &&
                      dome__unit_home_take(dome__unit_homes_take(u->homes, packet->unit), &call, packet->from, message);
    dome__unit_homes_put(u->homes, packet->unit);
    return good;
}

static bool member_hears(dome_units *u, const dome_unit_packet *packet)
{
    place p = {u, packet->unit};
    const dome_unit_call call = call_of(&p);
    dome_unit_member *member = dome__unit_members_take(u->members, packet->unit);
    const dome_unit_message message = {
        .kind = packet->word, .data = packet->data, .done = packet->done, .to = packet->to, .of = packet->of};
    bool good = true;
    if (packet->word == DOME_UNIT_FAULT)
        dome__unit_member_fault(member, &call, packet->from, packet->right == DOME_UNIT_WRITE);
    else if (packet->word == DOME_UNIT_LOWERED)
        good = dome__unit_member_lowered(member, &call, packet->from);
    else
        good = dome__unit_member_take(member, &call, message);
    dome__unit_members_put(u->members, packet->unit);
    return good;
}

static bool hears(dome_units *u, const dome_unit_packet *packet)
{
    if (packet->word >= DOME_UNIT_TASK_RAISE) {
        task_hears(u, packet);
        return true;
    }
    if (!is_first(u))
        return false;
    return packet->word <= DOME_UNIT_DONE ? home_hears(u, packet) : member_hears(u, packet);
}

/* An event, and all that this task then tells itself. */
static void take_event(dome_units *u, const dome_unit_packet *packet)
{
    dome_unit_packet *own;
    bool good = hears(u, packet);
    while (good && (own = g_queue_pop_head(&u->own))) {
        good = hears(u, own);
        g_free(own);
    }
    if (!good)
        g_error("a message about unit %" G_GUINT64_FORMAT " of a region fits nothing", packet->unit);
}

static dome_units *find(const dome_unit_service *s, uint32_t region)
{
    return g_hash_table_lookup(s->regions, GUINT_TO_POINTER(region));
}

static void ring(void *ctx)
{
    ringing *r = ctx;
    dome_unit_service *s = r->service;
    pthread_mutex_lock(&s->lock);
    dome_units *u = find(s, r->region);
    if (u) {
        place p = {u, r->unit};
        const dome_unit_call call = call_of(&p);
        dome__unit_home_timer(dome__unit_homes_take(u->homes, r->unit), &call);
        dome__unit_homes_put(u->homes, r->unit);
        for (dome_unit_packet *own; (own = g_queue_pop_head(&u->own)); g_free(own))
            take_event(u, own);
    }
    pthread_mutex_unlock(&s->lock);
    g_free(r);
}

/* ---- messages ---- */

/* Puts the values of a GRANT that has some in their place. False: the message has another length than it should have. */
static bool take_values(const dome_units *u, const dome_unit_packet *packet, const dome_peer_request *request)
{
    const uint32_t bytes = request->bytes - DOME_UNIT_PACKET;
    const char *values = (const char *)request->data + DOME_UNIT_PACKET;
    if (packet->unit >= u->setup.units)
        return false;
    if (packet->word != DOME_UNIT_GRANT || !packet->data)
        return bytes == 0;
    return packet->from < u->setup.members && u->setup.calls.unpack(u->setup.ctx, packet->unit, packet->from, values, bytes);
}

/* ---- asking ---- */

/* Another thread of this task has asked for that. */
static bool is_asked(const dome_units *u, uint64_t unit, dome_unit_right right)
{
    for (const GList *at = u->waiters.head; at; at = at->next) {
        const waiter *w = at->data;
        if (w->unit == unit && w->right >= right)
            return true;
    }
    return false;
}

/* The lock is held. */
static void ask_for(dome_units *u, waiter *w)
{
    const bool asked = is_asked(u, w->unit, w->right);
    g_queue_push_tail(&u->waiters, w);
    if (asked)
        return;
    to_first(u, DOME_UNIT_FAULT, w->unit, w->right);
    dome_unit_packet *own = g_queue_pop_head(&u->own);
    if (own)
        take_event(u, own);
    g_free(own);
}

/* ---- messages that ask for something ---- */

static void take_add(dome_units *u, const dome_unit_packet *packet, const dome_peer_request *q)
{
    if (!is_first(u) || packet->word != DOME_UNIT_ADD || packet->unit >= u->setup.units || packet->from >= u->setup.members ||
        u->home[packet->unit] != u->setup.member)
        return;
    adding *a = g_new(adding, 1);
    *a = (adding){.waiter = {.unit = packet->unit, .right = DOME_UNIT_WRITE, .adding = a},
                  .from = q->from,
                  .member = packet->from,
                  .id = q->id,
                  .message = g_bytes_new((const char *)q->data + DOME_UNIT_PACKET, q->bytes - DOME_UNIT_PACKET)};
    ask_for(u, &a->waiter);
}

static void take_message(void *ctx, const dome_peer_request *request)
{
    dome_unit_service *s = ctx;
    dome_unit_packet packet;
    if (request->id && request->bytes == 0) { /* dome__units_flush */
        dome__peer_reply(request->peer, request->from, request->id, NULL, 0);
        return;
    }
    if (request->bytes < DOME_UNIT_PACKET || !dome__unit_packet_get(&packet, request->data))
        return;
    pthread_mutex_lock(&s->lock);
    dome_units *u = find(s, packet.region);
    if (u && request->id)
        take_add(u, &packet, request);
    else if (u && packet.word < DOME_UNIT_ADD && take_values(u, &packet, request))
        take_event(u, &packet);
    pthread_mutex_unlock(&s->lock);
}

/* ---- a thread that waits ---- */

/* A thread asks for so many units at once, and for so many bytes: memory for what is under way is bounded. */
enum { MOST_WAITERS = 64, MOST_BYTES = 1 << 18 };

/* A task that takes unit after unit takes some ahead, twice as many each time: each would be a fault. */
static void take_ahead(dome_units *u, uint64_t unit, dome_unit_right right)
{
    enum { MOST = 16 };
    u->window = unit == u->ahead ? MIN(MOST, 2 * u->window + 1) : 0;
    u->ahead = unit + 1;
    for (uint64_t k = 0; k < u->window && u->ahead < u->setup.units && take_offer(u, u->ahead, right); k++)
        u->ahead++;
}

static void want_some(dome_units *u, uint64_t first, uint64_t count, bool write)
{
    const dome_unit_right right = write ? DOME_UNIT_WRITE : DOME_UNIT_READ;
    waiter waiters[MOST_WAITERS];
    sleeper sleeper = {0};
    sem_init(&sleeper.raised, 0, 0);
    pthread_mutex_lock(&u->service->lock);
    for (uint64_t k = first; k < first + count; k++)
        if (!take_offer(u, k, right))
            waiters[sleeper.missing++] = (waiter){.unit = k, .right = right, .sleeper = &sleeper};
    const uint64_t missing = sleeper.missing;
    for (uint64_t k = 0; k < missing; k++)
        ask_for(u, &waiters[k]);
    if (missing == 0)
        take_ahead(u, first + count - 1, right);
    pthread_mutex_unlock(&u->service->lock);
    while (missing > 0 && sem_wait(&sleeper.raised) < 0 && errno == EINTR)
        continue;
    sem_destroy(&sleeper.raised);
}

void dome__units_want(dome_units *units, uint64_t first, uint64_t count, bool write)
{
    const dome_unit_service *s = units->service;
    const uint64_t most = MAX(1, MIN(MOST_WAITERS, MOST_BYTES / units->setup.bytes));
    const bool counts = s->transport && pthread_equal(pthread_self(), s->owner);
    for (uint64_t k = 0; k < count; k += most) {
        const int home = units->firsts[units->home[first + k]];
        const uint64_t start =
            counts ? dome__account_begin_wait(&s->transport->account, DOME_WAITS(home, DOME_WAITS_SERVICE), 0) : 0;
        want_some(units, first + k, MIN(most, count - k), write);
        const uint64_t took = start ? dome__account_end_wait(&s->transport->account, home, start) : 0;
        if (start && s->transport->waited)
            s->transport->waited(s->transport, home, start, took);
    }
}

/* ---- additions ---- */

GByteArray *dome__units_add(dome_units *units, uint64_t unit, uint8_t *message, uint32_t bytes)
{
    const dome_unit_service *s = units->service;
    const dome_unit_packet packet = packet_of(units, DOME_UNIT_ADD, unit);
    const dome_peer_question q = {
        .rank = units->firsts[units->home[unit]], .tag = DOME_PEER_REGION, .data = message, .bytes = bytes};
    dome__unit_packet_put(&packet, message);
    return dome__peer_need(s->peer, s->transport, &q);
}

/* ---- other homes ---- */

dome_peer_status dome__units_flush(dome_units *units)
{
    dome_peer_status status = DOME_PEER_OK;
    pthread_mutex_lock(&units->service->lock); /* the event that gave this thread its right has sent all that it had to */
    pthread_mutex_unlock(&units->service->lock);
    for (unsigned m = 0; is_first(units) && status == DOME_PEER_OK && m < units->setup.members; m++) {
        GByteArray *reply = NULL;
        if (m == units->setup.member)
            continue;
        status = dome__peer_ask(units->service->peer, units->firsts[m], DOME_PEER_REGION, NULL, 0, &reply);
        if (reply)
            g_byte_array_unref(reply);
    }
    return status;
}

void dome__units_move(dome_units *units, const uint16_t *homes)
{
    pthread_mutex_lock(&units->service->lock);
    for (uint64_t k = 0; is_first(units) && k < units->setup.units; k++)
        if (homes[k] == units->setup.member && units->home[k] != homes[k])
            dome__unit_homes_settle(units->homes, k, units->setup.member);
    memcpy(units->home, homes, units->setup.units * sizeof *homes);
    pthread_mutex_unlock(&units->service->lock);
}

/* ---- beginning and end ---- */

dome_unit_service *dome__unit_service_new(dome_peer *peer, dome_transport *transport)
{
    dome_unit_service *s = g_new0(dome_unit_service, 1);
    s->peer = peer;
    s->transport = transport;
    s->owner = pthread_self();
    s->regions = g_hash_table_new(NULL, NULL);
    pthread_mutex_init(&s->lock, NULL);
    dome__peer_on(peer, DOME_PEER_REGION, take_message, s);
    return s;
}

void dome__unit_service_free(dome_unit_service *service)
{
    if (!service)
        return;
    g_hash_table_unref(service->regions);
    pthread_mutex_destroy(&service->lock);
    g_free(service);
}

/* Each unit is with its home. */
static void make_tables(dome_units *u)
{
    const dome_units_setup *s = &u->setup;
    u->homes = dome__unit_homes_new(s->units, s->members, s->member);
    u->members = dome__unit_members_new(s->units, s->tasks, DOME_UNIT_NONE);
    for (uint64_t k = 0; k < s->units; k++) {
        if (u->home[k] != s->member)
            continue;
        dome__unit_members_take(u->members, k)->have = DOME_UNIT_WRITE;
        dome__unit_members_put(u->members, k);
        set_offer(u, k, DOME_UNIT_WRITE);
    }
}

dome_units *dome__units_new(dome_unit_service *service, const dome_units_setup *setup)
{
    dome_units *u = g_new0(dome_units, 1);
    u->service = service;
    u->setup = *setup;
    u->firsts = g_memdup2(setup->firsts, setup->members * sizeof *setup->firsts);
    u->ranks = g_memdup2(setup->ranks, setup->tasks * sizeof *setup->ranks);
    u->home = g_memdup2(setup->homes, setup->units * sizeof *setup->homes);
    u->setup.firsts = u->firsts;
    u->setup.ranks = u->ranks;
    u->setup.homes = u->home;
    u->message = g_malloc(DOME_UNIT_PACKET + setup->bytes);
    if (is_first(u))
        make_tables(u);
    pthread_mutex_lock(&service->lock);
    g_hash_table_insert(service->regions, GUINT_TO_POINTER(setup->region), u);
    pthread_mutex_unlock(&service->lock);
    return u;
}

void dome__units_free(dome_units *units)
{
    if (!units)
        return;
    pthread_mutex_lock(&units->service->lock);
    g_hash_table_remove(units->service->regions, GUINT_TO_POINTER(units->setup.region));
    pthread_mutex_unlock(&units->service->lock);
    for (waiter *w; (w = g_queue_pop_head(&units->waiters));)
        if (w->adding)
            free_adding(w->adding);
    dome__unit_homes_free(units->homes);
    dome__unit_members_free(units->members);
    g_free(units->firsts);
    g_free(units->ranks);
    g_free(units->home);
    g_free(units->message);
    g_free(units);
}
