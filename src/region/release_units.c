#include "region/release_private.h"

#include "core/atomic_add.h"
#include "peer/peer_need.h"
#include "region/member.h"
#include "region/unit_size.h"
#include "system/bytes.h"
#include "transport/agree.h"
#include "transport/collective.h"
#include "transport/message.h"

#include <errno.h>
#include <semaphore.h>
#include <sys/mman.h>

/* ---- fetching ---- */

/* A question of a thread for units of one home, and the answer. */
typedef struct fetching {
    dome_release_units *units;
    const uint64_t *which;
    uint32_t count, bytes;
    int from;
    uint8_t *values;
    sem_t *come;
} fetching;

/* Of questions at a time; units of one, and their bytes. */
enum { MOST_FETCHES = 16, MOST_LISTED = 64, MOST_FETCHED = 1 << 18 };

/* In the channel's thread. If the home is lost, the thread waits until this process goes back or ends. */
static void fetched(void *ctx, const dome_peer_answer *answer)
{
    fetching *f = ctx;
    if (answer->status != DOME_PEER_OK)
        return;
    f->from = answer->from;
    f->bytes = answer->bytes;
    f->values = g_memdup2(answer->data, answer->bytes);
    sem_post(f->come);
}

/* The parts of an answer. */
typedef struct coming {
    dome_release_state state;
    const uint8_t *zeros, *values; /* zeros: bits by unit; NULL: none */
    bool good;
} coming;

static bool is_zeros(const coming *c, uint32_t k)
{
    return c->zeros && c->zeros[k / 8] >> k % 8 & 1;
}

static coming take_apart(const fetching *f, uint64_t each)
{
    coming c = {.values = f->values};
    uint64_t values = 0;
    if (has_sections(f->units) && f->bytes >= SECTIONS_HEAD) {
        c.state = (dome_release_state){dome__get_u64(f->values), dome__get_u64(f->values + 8), f->values + SECTIONS_HEAD,
                                       dome__get_u32(f->values + 16)};
        if (f->bytes - SECTIONS_HEAD < (uint64_t)c.state.bytes + (f->count + 7) / 8)
            return (coming){0};
        c.zeros = f->values + SECTIONS_HEAD + c.state.bytes;
        c.values = c.zeros + (f->count + 7) / 8;
    }
    for (uint32_t k = 0; k < f->count; k++)
        values += is_zeros(&c, k) ? 0 : each;
    c.good = f->bytes == (uint64_t)(c.values - f->values) + values;
    return c;
}

/* In the thread that has asked. Units of memory with sections come to the number of this task's memory, or it to theirs. */
static void install(const fetching *f)
{
    dome_release_units *u = f->units;
    const uint64_t each = dome__release_packed_bytes(u, f->from);
    const coming c = take_apart(f, each);
    const uint8_t *at = c.values;
    if (c.zeros)
        dome__release_reach(u->setup.release, f->from, &c.state);
    uint64_t untouched = 0;
    pthread_mutex_lock(&u->setup.release->lock);
    for (uint32_t k = 0; c.good && k < f->count; k++) {
        const uint64_t unit = f->which[k];
        const bool zeros = is_zeros(&c, k),
                   lacks = !(u->state[unit] & VALID); /* another thread may have got it, and written to it */
        if (lacks && zeros && !dome__release_is_untouched(u, unit, &untouched))
            memset(place_of(u, unit), 0, u->setup.unit);
        else if (lacks && !zeros)
            dome__release_unpack(u, unit, f->from, at);
        if (lacks && has_sections(u))
            dome__release_renew(u, unit, c.state.taken);
        at += zeros ? 0 : each;
        u->state[unit] |= VALID;
    }
    u->figures->units[u->setup.release->env->lazy.members->of[f->from]] += f->count;
    u->figures->bytes += f->bytes;
    pthread_mutex_unlock(&u->setup.release->lock);
}

/* As many of the wanted units, from *next on, as one question may ask for. */
static fetching take_some(dome_release_units *u, const GArray *wanted, guint *next)
{
    const uint64_t *which = &g_array_index(wanted, uint64_t, *next);
    const uint64_t most = CLAMP(MOST_FETCHED / u->setup.unit, 1, MOST_LISTED);
    uint32_t count = 1;
    for (++*next; *next < wanted->len && count < most && home_of(u, which[count]) == home_of(u, which[0]); ++*next)
        count++;
    return (fetching){.units = u, .which = which, .count = count};
}

/* Asks for them. */
static void ask_for(fetching *f, uint64_t have)
{
    const dome_release_units *u = f->units;
    const dome_release *r = u->setup.release;
    uint8_t message[FETCH_HEAD + 8 * MOST_LISTED];
    dome__release_put(message, FETCH, u);
    dome__put_u64(message + MESSAGE, r->meets);
    dome__put_u64(message + MESSAGE + 8, have);
    message[MESSAGE + 16] = has_sections(u) && r->sections->inside;
    for (uint32_t k = 0; k < f->count; k++)
        dome__put_u64(message + FETCH_HEAD + 8 * (size_t)k, f->which[k]);
    const dome_peer_question q = {home_of(u, f->which[0]), DOME_PEER_RELEASE, message, FETCH_HEAD + 8 * f->count, fetched, f};
    dome__peer_needed(dome__peer_ask_then(r->peer, &q), q.rank); /* at most MOST_FETCHES: they have room */
}

/* Some of the wanted units, from *next on. */
static void fetch_some(dome_release_units *u, const GArray *wanted, guint *next)
{
    fetching f[MOST_FETCHES];
    const uint64_t have = has_sections(u) ? dome__release_section(u->setup.release) : 0;
    guint asked = 0;
    sem_t come;
    sem_init(&come, 0, 0);
    for (; asked < MOST_FETCHES && *next < wanted->len; asked++) {
        f[asked] = take_some(u, wanted, next);
        f[asked].come = &come;
        ask_for(&f[asked], have);
    }
    for (guint k = 0; k < asked; k++)
        while (sem_wait(&come) < 0 && errno == EINTR)
            continue;
    sem_destroy(&come);
    for (guint k = 0; k < asked; k++) {
        install(&f[k]);
        g_free(f[k].values);
    }
}

static int by_home(const void *a, const void *b, void *units)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    const int home = home_of(units, x), other = home_of(units, y);
    return home != other ? home - other : (x > y) - (x < y);
}

/* Fetches units of which this task has no valid copy. */
static void fetch(dome_release_units *u, const GArray *units)
{
    const dome_release *r = u->setup.release;
    dome_transport *t = r->env->transport;
    const bool counts = dome__clock_runs_here(r->env);
    GArray *wanted = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    g_array_append_vals(wanted, units->data, units->len);
    if (r->env->size > 2)
        g_array_sort_with_data(wanted, by_home, u);
    for (guint k = 0; k < wanted->len;) {
        const int home = home_of(u, g_array_index(wanted, uint64_t, k));
        const uint64_t start = counts ? dome__account_begin_wait(&t->account, DOME_WAITS(home, DOME_WAITS_SERVICE), 0) : 0;
        fetch_some(u, wanted, &k);
        const uint64_t took = start ? dome__account_end_wait(&t->account, home, start) : 0;
        if (start && t->waited)
            t->waited(t, home, start, took);
    }
    g_array_unref(wanted);
}

void dome__release_fetch(dome_release_units *units, const GArray *wanted)
{
    GArray *come = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    fetch(units, wanted);
    pthread_mutex_lock(&units->setup.release->lock);
    for (guint k = 0; k < wanted->len; k++) /* one may have been dropped meanwhile */
        if (is_valid(units, g_array_index(wanted, uint64_t, k)))
            g_array_append_val(come, g_array_index(wanted, uint64_t, k));
    dome__release_allow_all(units, come, DOME_ACCESS_READ);
    pthread_mutex_unlock(&units->setup.release->lock);
    g_array_unref(come);
}

/* ---- accesses ---- */

/* The right that a unit's state is for. A unit that was dropped meanwhile has none: the access faults once more. */
static dome_access right_of(const dome_release_units *u, uint64_t unit)
{
    if (!is_valid(u, unit))
        return DOME_ACCESS_NONE;
    return u->state[unit] & DIRTY || is_private(u, unit) ? DOME_ACCESS_WRITE : DOME_ACCESS_READ;
}

/* Which of some units may be written. AHEAD: all, though there was no fault but at the first one; FILL: that one, and those that
 * are zeros, as memory that is being filled. */
typedef enum writing { NONE, ALL, AHEAD, FILL } writing;

static void begin_write(dome_release_units *u, uint64_t unit, writing writes)
{
    if (!is_valid(u, unit) || u->state[unit] & DIRTY || is_private(u, unit))
        return;
    if (writes == AHEAD || (writes == FILL && is_fresh(u, unit))) {
        dome__release_open_ahead(u, unit);
    } else if (writes == ALL) {
        dome__release_note_begun(u, unit);
        dome__release_begin_write(u, unit);
    }
}

/* By runs: each is a system call. */
static void give_rights(dome_release_units *u, uint64_t first, uint64_t count, writing writes)
{
    pthread_mutex_lock(&u->setup.release->lock);
    for (uint64_t k = first; k < first + count; k++) {
        if (writes != NONE)
            begin_write(u, k, k == first ? ALL : writes);
        if (is_valid(u, k) && (k == first || writes != AHEAD))
            dome__release_note_access(u, k);
    }
    for (uint64_t k = first, end; k < first + count; k = end) {
        const dome_access right = right_of(u, k);
        for (end = k + 1; end < first + count && right_of(u, end) == right;)
            end++;
        if (right != DOME_ACCESS_NONE)
            dome__release_allow(u, k, end - k, right);
    }
    pthread_mutex_unlock(&u->setup.release->lock);
}

static void want_units(dome_release_units *u, uint64_t first, uint64_t count, writing writes)
{
    GArray *wanted = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    pthread_mutex_lock(&u->setup.release->lock);
    for (uint64_t k = first; k < first + count; k++)
        if (!is_valid(u, k))
            g_array_append_val(wanted, k);
    dome__release_note_asked(u, wanted);
    pthread_mutex_unlock(&u->setup.release->lock);
    fetch(u, wanted);
    g_array_unref(wanted);
    give_rights(u, first, count, writes);
}

/* ---- several units for one fault ---- */

/* Whether the program may read the unit, and others are to hear if it writes it. */
static bool is_shut(const dome_release_units *u, uint64_t unit)
{
    return is_valid(u, unit) && !is_private(u, unit) && !(u->state[unit] & (DIRTY | PINNED | HOT));
}

/* Whether a fault at the first unit may bring the other one, too. */
static bool is_like(const dome_release_units *u, uint64_t first, uint64_t other)
{
    if (is_private(u, first))
        return is_private(u, other);
    return is_valid(u, first) ? is_shut(u, other) : !is_valid(u, other) && home_of(u, other) == home_of(u, first);
}

/* Faults each of which was at the unit behind those that the one before had brought. What is known of them stands at the next
 * unit, so a loop may go through some arrays, or through one by columns. But such streaks may bring more than is needed, which
 * then travels again and again: of few units only those count that are touched one immediately behind the other. */
typedef struct streak {
    unsigned faults;
    bool fresh; /* the units were zeros, and are written */
} streak;

enum { MOST_FAULTS = 15, FRESH = 16, MEETS = 32 }; /* a word: so many faults, whether fresh, the barrier */

static uint16_t barrier_of(const dome_release_units *u)
{
    return (uint16_t)(u->setup.release->meets * MEETS);
}

/* valid: of units that are here already, and are opened; the others are fetched, and have streaks of their own. */
static void put_streak(dome_release_units *u, uint64_t next, bool valid, streak s)
{
    if (next < u->setup.units)
        u->streaks[2 * next + valid] = (uint16_t)(barrier_of(u) | (s.fresh ? FRESH : 0) | MIN(s.faults, MOST_FAULTS));
}

/* Whether this task has opened, or fetched, many units since the last barrier. */
static bool are_many(const dome_release_units *u, bool valid)
{
    enum { MANY = 512 };
    return (valid ? u->setup.release->begun->len : u->setup.release->fetched) >= MANY;
}

/* The one that this fault continues. */
static streak streak_at(const dome_release_units *u, uint64_t unit, bool valid)
{
    const uint16_t word = u->streaks[2 * unit + valid];
    const bool now = word / MEETS == barrier_of(u) / MEETS && ((unit == u->next && !valid) || are_many(u, valid));
    return now ? (streak){word & MOST_FAULTS, word & FRESH} : (streak){0};
}

/* Whoever touches one unit after the other gets more and more ahead: private units, which need a right alone, or units of one
 * home; zeros have short answers. Returns the number of units. The lock is held. */
static uint64_t run_from(const dome_release_units *u, uint64_t unit, streak s)
{
    enum { MOST = 64, MOST_WITHOUT = 512, MOST_SHUT = 16 };
    uint64_t count = 1;
    const bool private = is_private(u, unit);
    const uint64_t most = private || s.fresh ? MOST_WITHOUT : is_valid(u, unit) ? MOST_SHUT : MOST;
    const unsigned small = private ? 0 : 2; /* neighbours that are read by two or three bring no others */
    const uint64_t ahead = s.faults <= small ? 1 : MIN((uint64_t)1 << (s.faults - small), most);
    while (count < ahead && unit + count < u->setup.units && is_like(u, unit, unit + count))
        count++;
    return count;
}

/* Whether units may be opened ahead: each open one is compared at each flush of memory. */
static bool opens_ahead(const dome_release_units *u)
{
    const dome_release *r = u->setup.release;
    return u->writers && !(r->sections && r->sections->entered);
}

/* The next units will be like these. */
static void note_streak(dome_release_units *u, uint64_t unit, uint64_t count, bool valid, streak before)
{
    const uint64_t last = unit + count - 1;
    pthread_mutex_lock(&u->setup.release->lock);
    u->next = valid ? u->next : unit + count;
    put_streak(u, unit + count, valid, (streak){before.faults + 1, !(u->marks[last] & OLD_USED) && u->state[last] & DIRTY});
    pthread_mutex_unlock(&u->setup.release->lock);
}

/* What the home writes goes to nobody at once: a turn is a first store behind a barrier. */
static void fault(void *ctx, size_t offset, bool write)
{
    dome_release_units *u = ctx;
    const uint64_t unit = offset / u->setup.unit;
    const dome_region_stop stop = dome__region_stop_begin(u->setup.release->env, u->figures);
    dome__unit_writes_touch(u->writes, offset, write);
    if (write && is_home(u, unit))
        dome__unit_writes_turn(u->writes, unit);
    pthread_mutex_lock(&u->setup.release->lock);
    const bool ahead = write && opens_ahead(u), valid = is_valid(u, unit) && !is_private(u, unit),
               runs = !valid || (ahead && is_shut(u, unit));
    const streak before = streak_at(u, unit, valid);
    const uint64_t count = runs ? run_from(u, unit, before) : 1;
    pthread_mutex_unlock(&u->setup.release->lock);
    if (count > 1)
        want_units(u, unit, count, ahead ? (valid ? AHEAD : FILL) : NONE);
    if (count == 1 || (write && !is_private(u, unit) && !ahead))
        want_units(u, unit, 1, write ? ALL : NONE);
    if (runs)
        note_streak(u, unit, count, valid, before);
    dome__region_fault_end(&stop, write);
}

void dome__release_units_want(dome_release_units *units, uint64_t first, uint64_t bytes, bool write)
{
    const uint64_t size = units->setup.unit;
    const dome_region_stop stop = dome__region_stop_begin(units->setup.release->env, units->figures);
    if (bytes > 0)
        want_units(units, first / size, (first + bytes - 1) / size - first / size + 1, write ? ALL : NONE);
    dome__region_stop_end(&stop);
}

/* ---- units that can always be read ---- */

void dome__release_units_pin(dome_release_units *units, uint64_t first, uint64_t bytes)
{
    dome_release_units *u = units;
    const uint64_t end = (first + bytes - 1) / u->setup.unit + 1;
    pthread_mutex_lock(&u->setup.release->lock);
    for (uint64_t k = first / u->setup.unit; k < end; k++) {
        if (u->state[k] & PINNED)
            continue;
        u->state[k] |= PINNED;
        g_array_append_val(u->pinned, k);
        dome__release_allow(u, k, 1, is_private(u, k) ? DOME_ACCESS_WRITE : DOME_ACCESS_READ);
    }
    pthread_mutex_unlock(&u->setup.release->lock);
}

void dome__release_refresh(dome_release *release)
{
    for (guint n = 0; n < release->regions->len; n++) {
        dome_release_units *u = release->regions->pdata[n];
        for (guint k = 0; u && k < u->pinned->len; k++)
            if (!is_valid(u, g_array_index(u->pinned, uint64_t, k)))
                want_units(u, g_array_index(u->pinned, uint64_t, k), 1, NONE);
    }
}

/* ---- additions ---- */

/* The lock is held. before: may be NULL. */
static void add_values(dome_release_units *u, uint64_t first, uint64_t count, const void *values, void *before)
{
    const size_t size = dome_type_size(u->setup.type);
    dome__release_keep(u, first * size / u->setup.unit);
    dome__atomic_add(u->setup.type, place_of(u, 0) + first * size, values, before, count);
    u->changed[first * size / u->setup.unit] = u->setup.release->epoch + 1;
}

/* The task that asks says at the barrier that the unit is written: this home may be in that barrier already. */
void dome__release_add_here(dome_release_units *units, const void *message, size_t bytes, int from, uint64_t id)
{
    dome_release_units *u = units;
    const uint8_t *at = message;
    const dome_type type = u->setup.type;
    const dome_format format = dome__format_with(u->setup.release->env->transport, from);
    const size_t size = dome_type_size(type), packed = dome_type_bytes(type, format), head = ADD_MESSAGE - MESSAGE - 8;
    if (bytes < head)
        return;
    const uint64_t first = dome__get_u64(at), count = dome__get_u32(at + 8), each = u->setup.unit / size;
    if (first / each >= u->setup.units || !is_home(u, first / each) || count > each - first % each ||
        bytes != head + count * packed)
        return;
    char *values = g_malloc(2 * count * size + count * packed + 1), *before = values + count * size,
         *reply = before + count * size;
    dome_type_unpack(type, format, values, at + head, (size_t)count); /* the message may be at any address */
    add_values(u, first, count, values, before);
    dome_type_pack(type, format, reply, before, (size_t)count);
    dome__peer_reply(u->setup.release->peer, from, id, reply, (uint32_t)(count * packed));
    g_free(values);
}

/* This task's copy of the unit lacks the sum: it is dropped, when what the task has written to it is at the home. */
static void note_addition(dome_release_units *u, uint64_t unit)
{
    pthread_mutex_lock(&u->setup.release->lock);
    if (!(u->state[unit] & WRITTEN))
        g_array_append_val(u->written, unit);
    u->state[unit] |= WRITTEN;
    dome__release_drop(u, unit, 1);
    pthread_mutex_unlock(&u->setup.release->lock);
}

/* Values of one unit, at its home. */
static void add_there(dome_release_units *u, uint64_t first, uint64_t count, const void *values, void *before)
{
    const dome_type type = u->setup.type;
    const uint64_t unit = first * dome_type_size(type) / u->setup.unit;
    const dome_release *r = u->setup.release;
    const dome_format format = dome__format_with(r->env->transport, home_of(u, unit));
    const size_t packed = count * dome_type_bytes(type, format), bytes = ADD_MESSAGE + packed;
    uint8_t *message = g_malloc(bytes);
    if (u->state[unit] & DIRTY)
        dome__release_publish(u, CHANGE);
    dome__release_put(message, ADD, u);
    dome__put_u64(message + MESSAGE, r->meets);
    dome__put_u64(message + MESSAGE + 8, first);
    dome__put_u32(message + MESSAGE + 16, (uint32_t)count);
    dome_type_pack(type, format, message + ADD_MESSAGE, values, (size_t)count);
    const dome_peer_question q = {.rank = home_of(u, unit), .tag = DOME_PEER_RELEASE, .data = message, .bytes = (uint32_t)bytes};
    const dome_region_stop stop = dome__region_stop_begin(r->env, u->figures);
    GByteArray *reply = dome__peer_need(r->peer, r->env->transport, &q);
    dome__region_stop_end(&stop);
    if (before && reply->len == packed)
        dome_type_unpack(type, format, before, reply->data, (size_t)count);
    g_byte_array_unref(reply);
    g_free(message);
    note_addition(u, unit);
}

void dome__release_units_add(dome_release_units *units, uint64_t first, uint64_t count, const void *values, void *before)
{
    dome_release_units *u = units;
    const size_t size = dome_type_size(u->setup.type);
    const uint64_t each = u->setup.unit / size;
    for (uint64_t done = 0, some; done < count; done += some) {
        const uint64_t value = first + done, unit = value / each;
        const char *from = (const char *)values + done * size;
        char *to = before ? (char *)before + done * size : NULL;
        some = MIN(count - done, (unit + 1) * each - value);
        if (!is_home(u, unit)) {
            add_there(u, value, some, from, to);
            continue;
        }
        dome__release_units_want(u, value * size, some * size, true);
        pthread_mutex_lock(&u->setup.release->lock);
        add_values(u, value, some, from, to);
        pthread_mutex_unlock(&u->setup.release->lock);
    }
}

/* ---- homes ---- */

static int owner_of(const dome_release_units *u, const dome_layout *layout, uint64_t unit)
{
    return dome__unit_size_owner(layout, u->setup.element, u->setup.unit, unit);
}

static void find_homes(const dome_release_units *u, const dome_layout *layout)
{
    for (uint64_t k = 0; k < u->setup.units; k++)
        u->homes[k] = owner_of(u, layout, k) + 1;
}

void dome__release_units_fetch(dome_release_units *units, const dome_layout *layout)
{
    dome_release_units *u = units;
    const dome_release *r = u->setup.release;
    GArray *wanted = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    for (uint64_t k = 0; k < u->setup.units; k++)
        if (owner_of(u, layout, k) == r->env->rank && !is_valid(u, k))
            g_array_append_val(wanted, k);
    fetch(u, wanted);
    g_array_unref(wanted);
}

void dome__release_units_stay(dome_release_units *units, uint64_t byte)
{
    const uint64_t unit = byte / units->setup.unit;
    pthread_mutex_lock(&units->setup.release->lock);
    units->state[unit] |= STAYS;
    pthread_mutex_unlock(&units->setup.release->lock);
}

void dome__release_units_collect(dome_release_units *units)
{
    GArray *wanted = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    for (uint64_t k = units->moved_first; k < units->moved_end; k++)
        if (!is_valid(units, k))
            g_array_append_val(wanted, k);
    fetch(units, wanted);
    g_array_unref(wanted);
}

static void forget_readers(dome_release_units *u)
{
    GHashTableIter at;
    gpointer readers;
    g_hash_table_iter_init(&at, u->readers);
    while (g_hash_table_iter_next(&at, NULL, &readers)) {
        dome__release_readers_drop(u->setup.release, readers);
        g_hash_table_iter_remove(&at);
    }
}

/* The new homes know of no readers; these have valid copies until the units are written. */
void dome__release_units_adopt(dome_release_units *units, const dome_layout *layout)
{
    pthread_mutex_lock(&units->setup.release->lock);
    find_homes(units, layout);
    forget_readers(units);
    for (uint64_t k = 0; k < units->setup.units; k++)
        units->state[k] &= (uint32_t)~KEPT;
    pthread_mutex_unlock(&units->setup.release->lock);
}

/* ---- beginning and end ---- */

static void readers_free(gpointer data)
{
    g_array_unref(data);
}

/* All zeros. What is not touched needs no memory. NULL: *why not. */
static void *table_of(uint64_t count, uint64_t each, const char **why)
{
    void *table = mmap(NULL, count * each, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (table != MAP_FAILED)
        return table;
    *why = g_strerror(errno);
    return NULL;
}

static void make_tables(dome_release_units *u, const char **why)
{
    const dome_release_setup *s = &u->setup;
    u->homes = table_of(s->units, sizeof *u->homes, why);
    u->state = table_of(s->units, sizeof *u->state, why);
    u->changed = table_of(s->units, sizeof *u->changed, why);
    u->old = table_of(s->units, s->unit, why);
    u->streaks = table_of(s->units, 2 * sizeof *u->streaks, why);
    u->marks = table_of(s->units, sizeof *u->marks, why);
    if (!s->layout) {
        u->writers = table_of(s->units, sizeof *u->writers, why);
        u->trends = table_of(s->units, sizeof *u->trends, why);
    }
}

static void free_table(void *table, uint64_t bytes)
{
    if (table)
        munmap(table, bytes);
}

dome_release_units *dome__release_units_make(const dome_release_setup *setup, const char **why)
{
    const dome_release_setup *s = setup;
    dome_release *r = s->release;
    dome_release_units *u = g_new0(dome_release_units, 1);
    *why = NULL;
    u->setup = *s;
    u->setup.what = u->setup.name = NULL; /* the caller's */
    u->figures = dome__region_profile_add(s->release->env, s->name);
    u->figures->release = true;
    u->writes = dome__region_profile_watch(
        s->release->env, u->figures,
        &(dome_unit_writes_setup){.task = s->release->env->rank, .element = s->element, .unit = s->unit, .units = s->units});
    u->pages = (size_t)(s->unit / dome__memory_page(s->memory));
    u->readers = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, readers_free);
    u->dirty = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    u->pinned = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    u->written = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    u->delta = dome__delta_new(s->atom);
    make_tables(u, why);
    for (uint64_t k = 0; s->layout && !*why && k < s->units; k++) /* all copies are zeros */
        u->state[k] = VALID | SHARED;
    if (s->layout && !*why)
        find_homes(u, s->layout);
    pthread_mutex_lock(&r->lock);
    u->number = r->regions->len;
    g_ptr_array_add(r->regions, u);
    pthread_mutex_unlock(&r->lock);
    if (!*why)
        *why = dome__memory_on_fault(s->memory, fault, u);
    if (*why)
        g_clear_pointer(&u, dome__release_units_free);
    return u;
}

dome_release_units *dome__release_units_new(const dome_release_setup *setup, dome_status *status)
{
    dome_release *r = setup->release;
    const char *why = NULL;
    dome_release_units *u = dome__release_units_make(setup, &why);
    char *text = why ? g_strdup_printf("%s cannot be shared with other hosts: %s", setup->what, why) : NULL;
    *status = (dome_status)dome__agree(r->env, why ? DOME_ERR_STATE : DOME_OK, text);
    g_free(text);
    if (*status != DOME_OK)
        g_clear_pointer(&u, dome__release_units_free);
    return u;
}

void dome__release_units_free(dome_release_units *units)
{
    if (!units)
        return;
    dome_release *r = units->setup.release;
    pthread_mutex_lock(&r->lock);
    r->regions->pdata[units->number] = NULL;
    forget_readers(units);
    pthread_mutex_unlock(&r->lock);
    dome__unit_writes_stop(units->writes);
    const uint64_t count = units->setup.units;
    free_table(units->old, units->setup.unit * count);
    free_table(units->homes, sizeof *units->homes * count);
    free_table(units->state, sizeof *units->state * count);
    free_table(units->changed, sizeof *units->changed * count);
    free_table(units->streaks, 2 * sizeof *units->streaks * count);
    free_table(units->marks, sizeof *units->marks * count);
    free_table(units->writers, sizeof *units->writers * count);
    free_table(units->trends, sizeof *units->trends * count);
    g_hash_table_unref(units->readers);
    g_array_unref(units->dirty);
    g_array_unref(units->pinned);
    g_array_unref(units->written);
    dome__delta_free(units->delta);
    g_free(units->shown);
    g_free(units);
}
