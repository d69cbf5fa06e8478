/* Sections: what a task changes while it has the token (src/sections, space/token.h). */
#include "region/release_private.h"
#include "sections/section_pull.h"
#include "system/bytes.h"
#include "transport/collective.h"

#include <errno.h>
#include <malloc.h>
#include <semaphore.h>

/* Of a unit that this task writes `old` is what is published of it, at its home too, and the program may write on meanwhile. */

void dome__release_sections_begin(dome_release *release, void (*settle)(void *ctx), void *ctx)
{
    dome_release_sections *s = g_new0(dome_release_sections, 1);
    s->log = dome__section_log_new();
    s->unsettled = g_array_new(FALSE, FALSE, sizeof(waiting_fetch));
    s->settle = settle;
    s->ctx = ctx;
    pthread_mutex_lock(&release->lock);
    release->sections = s;
    pthread_mutex_unlock(&release->lock);
}

void dome__release_sections_end(dome_release *release)
{
    pthread_mutex_lock(&release->lock);
    dome_release_sections *s = release->sections;
    release->sections = NULL;
    pthread_mutex_unlock(&release->lock);
    if (!s)
        return;
    dome__section_log_free(s->log);
    for (guint k = 0; k < s->unsettled->len; k++)
        g_array_unref(g_array_index(s->unsettled, waiting_fetch, k).which);
    g_array_unref(s->unsettled);
    g_free(s);
}

bool dome__release_has_changed(dome_release *release)
{
    bool changed = false;
    pthread_mutex_lock(&release->lock);
    for (guint n = 0; n < release->regions->len && !changed; n++) {
        const dome_release_units *u = release->regions->pdata[n];
        for (guint k = u && u->writers ? u->dirty->len : 0; k-- > 0 && !changed;) /* the last ones are most likely written now */
            changed = !is_as_before(u, g_array_index(u->dirty, uint64_t, k));
    }
    pthread_mutex_unlock(&release->lock);
    return changed;
}

/* Whether there was anything to tell. */
static bool tell_unit(dome_release_units *u, uint64_t unit, GByteArray *told)
{
    size_t bytes;
    dome__delta_clear(u->delta);
    dome__delta_find(u->delta, unit * u->setup.unit, place_of(u, unit), old_of(u, unit), u->setup.unit, DOME_DELTA_TAKE);
    const void *records = dome__delta_records(u->delta, &bytes);
    if (bytes > 0) {
        u->marks[unit] |= OLD_USED;
        dome__section_put(told, key_of(u, unit), records, bytes);
        u->state[unit] |= LOGGED | (u->state[unit] & LOGGED || bytes > u->setup.unit / 4 ? MUCH : 0);
    }
    return bytes > 0;
}

/* Units about which there was nothing to tell are looked at no more, until they are written again. */
static void clean(dome_release_units *u, const GArray *same)
{
    dome__release_allow_all(u, same, DOME_ACCESS_READ);
    for (guint k = 0; k < same->len; k++) {
        const uint64_t unit = g_array_index(same, uint64_t, k);
        if (!is_as_before(u, unit)) { /* meanwhile */
            dome__release_allow(u, unit, 1, DOME_ACCESS_WRITE);
            g_array_append_val(u->dirty, unit);
            u->state[unit] &= (uint32_t)~STILLS;
        } else {
            u->state[unit] = (uint32_t)((u->state[unit] & ~(DIRTY | STILLS)) | CLEAN);
        }
    }
}

/* A right is taken away only from a unit that was not written for some sections: each time may cost a fault. */
static bool is_still(dome_release_units *u, uint64_t unit)
{
    enum { SEVERAL_TIMES = 8 };
    u->state[unit] += STILL;
    return (u->state[unit] & STILLS) >= SEVERAL_TIMES * STILL;
}

/* runs: nobody writes between two looks. Otherwise another task might see a later store without one before it. */
static void tell_units(dome_release_units *u, bool cleans, bool runs, GByteArray *told)
{
    GArray *same = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    guint kept = 0;
    if (runs)
        dome__release_allow_all(u, u->dirty, DOME_ACCESS_READ);
    for (guint k = 0; k < u->dirty->len; k++) {
        const uint64_t unit = g_array_index(u->dirty, uint64_t, k);
        if (tell_unit(u, unit, told)) {
            u->state[unit] &= (uint32_t)~STILLS;
        } else if (cleans && is_still(u, unit)) {
            g_array_append_val(same, unit);
            continue;
        }
        g_array_index(u->dirty, uint64_t, kept++) = unit;
    }
    g_array_set_size(u->dirty, kept);
    if (runs)
        dome__release_allow_all(u, u->dirty, DOME_ACCESS_WRITE);
    clean(u, same);
    g_array_unref(same);
}

static void answer_unsettled(dome_release_sections *s)
{
    for (guint k = 0; k < s->unsettled->len; k++)
        dome__release_answer(&g_array_index(s->unsettled, waiting_fetch, k));
    g_array_set_size(s->unsettled, 0);
}

bool dome__release_publish_section(dome_release *release, bool runs)
{
    dome_release_sections *s = release->sections;
    GByteArray *told = g_byte_array_new();
    pthread_mutex_lock(&release->lock);
    for (guint n = 0; n < release->regions->len; n++) {
        dome_release_units *u = release->regions->pdata[n];
        if (u && u->writers && u->dirty->len > 0)
            tell_units(u, !s->in_barrier, runs, told);
    }
    const bool any = told->len > 0;
    if (any)
        dome__section_log_add(s->log, release->env->rank, s->in_barrier, told);
    answer_unsettled(s);
    pthread_mutex_unlock(&release->lock);
    g_byte_array_unref(told);
    return any;
}

/* ---- sections of others ---- */

/* Records of other tasks, for this task's copy; old: and for what it was. */
static void apply_records(dome_release_units *u, const void *records, size_t bytes, char *old)
{
    const uint64_t all = u->setup.unit * u->setup.units;
    if (dome__delta_set_records(u->delta, records, bytes, all)) {
        dome__delta_apply(u->delta, place_of(u, 0), all, old);
        if (u->mirror)
            dome__delta_apply(u->delta, u->mirror, all, NULL);
        u->figures->bytes += bytes;
    }
}

/* Of one unit. */
static void write_records(dome_release_units *u, uint64_t unit, const void *records, size_t bytes)
{
    const bool both = has_before(u, unit);
    u->marks[unit] |= both ? OLD_USED : 0;
    apply_records(u, records, bytes, both ? u->old : NULL);
}

/* A copy that is old gets it when it is fetched. */
static void take_part(void *ctx, uint64_t key, const void *records, size_t bytes)
{
    uint64_t unit;
    dome_release_units *u = units_of(ctx, key, &unit);
    if (!u || unit >= u->setup.units)
        return;
    u->state[unit] |= TOO;
    if (!is_valid(u, unit))
        return;
    if (dome__release_is_wanted(u, unit))
        write_records(u, unit, records, bytes);
    else
        dome__release_drop(u, unit, 1);
}

void dome__release_take_sections(dome_release *release)
{
    dome__section_log_take(release->sections->log, release->env->rank, take_part, release);
}

void dome__release_enter(dome_release *release)
{
    pthread_mutex_lock(&release->lock);
    release->sections->entered = release->sections->inside = true;
    dome__release_take_sections(release);
    pthread_mutex_unlock(&release->lock);
}

void dome__release_owe(dome_release *release)
{
    pthread_mutex_lock(&release->lock);
    release->sections->entered = true;
    pthread_mutex_unlock(&release->lock);
}

void dome__release_leave(dome_release *release)
{
    pthread_mutex_lock(&release->lock);
    release->sections->inside = false;
    pthread_mutex_unlock(&release->lock);
}

uint64_t dome__release_section(dome_release *release)
{
    pthread_mutex_lock(&release->lock);
    const uint64_t end = dome__section_log_end(release->sections->log);
    pthread_mutex_unlock(&release->lock);
    return end;
}

uint64_t dome__release_reached(dome_release *release)
{
    pthread_mutex_lock(&release->lock);
    const uint64_t reached = release->sections->reached;
    pthread_mutex_unlock(&release->lock);
    return reached;
}

bool dome__release_sections_since(dome_release *release, uint64_t have, uint64_t most, GByteArray *to)
{
    const guint before = to->len;
    uint8_t meets[8];
    pthread_mutex_lock(&release->lock);
    const dome_section_log *log = release->sections->log;
    const dome_section_range range = {have, dome__section_log_end(log), 0, most};
    dome__put_u64(meets, release->meets);
    g_byte_array_append(to, meets, sizeof meets);
    const bool all = dome__section_log_since(log, &range, to) <= most;
    pthread_mutex_unlock(&release->lock);
    if (!all)
        g_byte_array_set_size(to, before);
    return all;
}

/* What came from before the last meeting is known. */
void dome__release_hear(dome_release *release, const void *sections, size_t bytes)
{
    pthread_mutex_lock(&release->lock);
    if (bytes >= 8 && dome__get_u64(sections) == release->meets)
        dome__section_log_hear(release->sections->log, (const uint8_t *)sections + 8, bytes - 8);
    pthread_mutex_unlock(&release->lock);
}

void dome__release_merge(dome_release *release, uint64_t all_have)
{
    enum { MUCH = 1 << 26 };
    pthread_mutex_lock(&release->lock);
    dome__section_log_merge(release->sections->log, all_have, MUCH);
    pthread_mutex_unlock(&release->lock);
}

/* The C library keeps what is freed. */
void dome__release_clear_sections(dome_release *release)
{
    enum { MUCH = 1 << 26 };
    const bool much = dome__section_log_bytes(release->sections->log) > MUCH;
    dome__section_log_clear(release->sections->log);
    if (much)
        malloc_trim(0);
}

/* Sections that are asked for, as of a meeting. */
typedef struct pulling {
    dome_release *release;
    uint64_t meets;
    void (*come)(void *ctx);
    void *ctx;
} pulling;

static void pulled(void *ctx, const void *bytes, size_t count)
{
    pulling *p = ctx;
    pthread_mutex_lock(&p->release->lock);
    if (p->meets == p->release->meets)
        dome__section_log_hear(p->release->sections->log, bytes, count);
    pthread_mutex_unlock(&p->release->lock);
    p->come(p->ctx);
    g_free(p);
}

uint64_t dome__release_meets(dome_release *release)
{
    pthread_mutex_lock(&release->lock);
    const uint64_t meets = release->meets;
    pthread_mutex_unlock(&release->lock);
    return meets;
}

void dome__release_pull(dome_release *release, int rank, uint64_t meets, void (*come)(void *ctx), void *ctx)
{
    pulling *p = g_new(pulling, 1);
    *p = (pulling){release, meets, come, ctx};
    const dome_section_pull pull = {.peer = release->peer,
                                    .tag = DOME_PEER_RELEASE,
                                    .from = rank,
                                    .head = {LOG},
                                    .have = dome__release_section(release),
                                    .come = pulled,
                                    .ctx = p};
    dome__section_pull(&pull);
}

static void post(void *ctx)
{
    sem_post(ctx);
}

/* In a thread that may wait. */
static void pull_and_wait(dome_release *r, int rank)
{
    sem_t come;
    sem_init(&come, 0, 0);
    dome__release_pull(r, rank, dome__release_meets(r), post, &come);
    while (sem_wait(&come) < 0 && errno == EINTR)
        continue;
    sem_destroy(&come);
}

int dome__release_catch_up(dome_release *release, int rank, uint64_t section)
{
    if (dome__release_section(release) < section)
        pull_and_wait(release, rank);
    pthread_mutex_lock(&release->lock);
    dome__release_take_sections(release);
    pthread_mutex_unlock(&release->lock);
    return dome__barrier(release->env->transport);
}

void dome__release_reach(dome_release *release, int rank, const dome_release_state *state)
{
    dome_section_log *log = release->sections->log;
    pthread_mutex_lock(&release->lock);
    release->sections->reached += dome__section_log_taken(log) < state->end;
    dome__section_log_hear(log, state->sections, state->bytes);
    const bool lacks = dome__section_log_end(log) < state->end;
    pthread_mutex_unlock(&release->lock);
    if (lacks)
        pull_and_wait(release, rank);
    pthread_mutex_lock(&release->lock);
    if (dome__section_log_taken(log) < state->end)
        dome__release_take_sections(release);
    pthread_mutex_unlock(&release->lock);
}

static void renew_part(void *ctx, uint64_t key, const void *records, size_t bytes)
{
    (void)key;
    apply_records(ctx, records, bytes, NULL);
}

void dome__release_renew(dome_release_units *units, uint64_t unit, uint64_t taken)
{
    dome__section_log_behind(units->setup.release->sections->log, key_of(units, unit), taken, renew_part, units);
}

/* ---- sections before a barrier ---- */

/* All copies are as this one. */
static void drop_unit(dome_release_units *u, uint64_t unit)
{
    GArray *readers = dome__release_readers_of(u, unit);
    for (guint k = 0; readers && k < readers->len; k++)
        g_array_index(readers, reader, k).middle = false;
    u->state[unit] &= (uint32_t) ~(DIRTY | WRITTEN | LOGGED | KEPT | IMPLIED | CLEAN);
    u->changed[unit] = 0;
}

/* These units are hot from now on, as if they had been sent with the exchange. If there are too many, the rest lose the right to
 * be written, so that the next store is noticed. */
static void heat_logged(dome_release *r, const dome_release_units *u, const GArray *units)
{
    GArray *cold = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    for (guint k = 0; k < units->len; k++)
        if (!dome__release_heat(r, key_of(u, g_array_index(units, uint64_t, k))))
            g_array_append_val(cold, g_array_index(units, uint64_t, k));
    dome__release_allow_all(u, cold, DOME_ACCESS_READ);
    dome__release_free_many(u, cold);
    g_array_unref(cold);
}

/* Whether others' copies are worth that changes are sent to them. At the home: another task reads them; its first home, of which
 * nothing is known, is not counted. Of what other tasks change alone, again and again, they might be the better home. */
static bool is_to_last(const dome_release_units *u, uint64_t unit, uint32_t state)
{
    const GArray *readers = is_home(u, unit) ? dome__release_readers_of(u, unit) : NULL;
    return is_home(u, unit) ? readers && readers->len > 0 : !(state & MUCH) || state & TOO;
}

/* Units all of whose changes are in sections need no notice. Others' copies of one that is not to last end by a notice, so that
 * its home may write it on without a word. */
void dome__release_drop_logged(dome_release *release)
{
    for (guint n = 0; n < release->regions->len; n++) {
        dome_release_units *u = release->regions->pdata[n];
        if (!u || !u->writers || u->written->len == 0)
            continue;
        GArray *same = g_array_new(FALSE, FALSE, sizeof(uint64_t));
        guint kept = 0;
        for (guint k = 0; k < u->written->len; k++) {
            const uint64_t unit = g_array_index(u->written, uint64_t, k);
            const uint32_t state = u->state[unit];
            u->state[unit] &= (uint32_t) ~(LOGGED | MUCH);
            if (state & LOGGED && is_valid(u, unit) && is_as_before(u, unit) && is_to_last(u, unit, state))
                g_array_append_val(same, unit);
            else
                g_array_index(u->written, uint64_t, kept++) = unit;
        }
        if (same->len > 0) {
            g_array_set_size(u->written, kept);
            kept = 0;
            for (guint k = 0; k < same->len; k++)
                drop_unit(u, g_array_index(same, uint64_t, k));
            for (guint k = 0; k < u->dirty->len; k++)
                if (u->state[g_array_index(u->dirty, uint64_t, k)] & DIRTY)
                    g_array_index(u->dirty, uint64_t, kept++) = g_array_index(u->dirty, uint64_t, k);
            g_array_set_size(u->dirty, kept);
            heat_logged(release, u, same);
        }
        g_array_unref(same);
    }
}
