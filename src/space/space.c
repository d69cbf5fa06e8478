#include "space/space.h"

#include "peer/peer_start.h"
#include "region/member.h"
#include "space/token.h"
#include "system/fault.h"
#include "transport/agree.h"

#include <string.h>

typedef struct range {
    const char *name;
    char *at, *end;
    dome_memory *memory;
    dome_release_units *units;
    bool keep;
} range;

struct dome_space {
    dome_env *env;
    dome_release *release;
    dome_token *token;
    GArray *ranges; /* range, in ascending order */
    void *stack;    /* for signals; NULL: the thread had one */
};

/* ---- ranges ---- */

/* The first range that ends behind the address; its number. */
static guint find(const dome_space *space, const char *address)
{
    guint low = 0, high = space->ranges->len;
    while (low < high) {
        const guint middle = low + (high - low) / 2;
        if (g_array_index(space->ranges, range, middle).end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool dome__space_has(const dome_space *space, const void *address)
{
    const guint k = find(space, address);
    return k < space->ranges->len && g_array_index(space->ranges, range, k).at <= (const char *)address;
}

void dome__space_pin(dome_space *space, const void *address, uint64_t bytes)
{
    const guint k = find(space, address);
    if (!dome__space_has(space, address) || bytes == 0)
        return;
    const range *r = &g_array_index(space->ranges, range, k);
    const uint64_t first = (uint64_t)((const char *)address - r->at), most = (uint64_t)(r->end - r->at) - first;
    dome__release_units_pin(r->units, first, MIN(bytes, most));
}

void dome__space_want(dome_space *space, const void *address, uint64_t bytes, bool write)
{
    const char *from = address, *end = from + bytes;
    for (guint k = find(space, from); k < space->ranges->len && bytes > 0; k++) {
        const range *r = &g_array_index(space->ranges, range, k);
        if (r->at >= end)
            break;
        const char *first = MAX(from, r->at), *last = MIN(end, r->end);
        dome__release_units_want(r->units, (uint64_t)(first - r->at), (uint64_t)(last - first), write);
    }
}

void dome__space_stay(dome_space *space, const void *address)
{
    if (!dome__space_has(space, address))
        return;
    const range *r = &g_array_index(space->ranges, range, find(space, address));
    dome__release_units_stay(r->units, (uint64_t)((const char *)address - r->at));
}

void dome__space_collect(dome_space *space)
{
    for (guint k = 0; k < space->ranges->len; k++)
        dome__release_units_collect(g_array_index(space->ranges, range, k).units);
}

/* ---- who watches ---- */

bool dome__space_part(const dome_space *space, unsigned k, dome_space_memory *part)
{
    if (k >= space->ranges->len)
        return false;
    const range *r = &g_array_index(space->ranges, range, k);
    *part = (dome_space_memory){r->name, r->at, (uint64_t)(r->end - r->at), r->memory};
    return true;
}

void dome__space_mirror(dome_space *space, unsigned k, void *mirror)
{
    dome__release_units_mirror(g_array_index(space->ranges, range, k).units, mirror);
}

void dome__space_hold(dome_space *space)
{
    dome__release_hold(space->release);
}

void dome__space_let_go(dome_space *space)
{
    dome__release_let_go(space->release);
}

/* ---- a new range ---- */

static const char *check(const dome_space *space, const dome_space_range *range)
{
    const guint k = find(space, range->address);
    const char *end = (const char *)range->address + range->bytes;
    if (range->bytes == 0)
        return "it is empty";
    return k < space->ranges->len && g_array_index(space->ranges, struct range, k).at < end ? "it overlaps another range" : NULL;
}

static const char *add(dome_space *space, const dome_space_range *wish)
{
    range r = {.name = wish->name, .at = wish->address, .end = (char *)wish->address + wish->bytes, .keep = wish->keep};
    const char *why = check(space, wish);
    if (!why)
        r.memory = dome__memory_new("dome-space", wish->bytes, &why);
    if (r.memory && dome__memory_bytes(r.memory) != wish->bytes)
        why = "its size is no multiple of the page";
    else if (r.memory)
        why = dome__memory_replace(r.memory, wish->address, wish->keep);
    if (why) {
        dome__memory_free(r.memory);
        return why;
    }
    const uint64_t page = dome__memory_page(r.memory);
    r.units = dome__release_units_make(&(dome_release_setup){.release = space->release,
                                                             .what = wish->name,
                                                             .name = wish->name,
                                                             .memory = r.memory,
                                                             .element = 1,
                                                             .atom = 1,
                                                             .home = wish->home,
                                                             .unit = page,
                                                             .units = wish->bytes / page},
                                       &why);
    if (!why) /* if not, the program needs the memory until its end all the same */
        g_array_insert_val(space->ranges, find(space, r.at), r);
    return why;
}

/* They have been added. */
static dome_status show(const dome_space *space, const dome_space_range *ranges, unsigned count)
{
    dome_release_units **units = g_new(dome_release_units *, count);
    for (unsigned k = 0; k < count; k++)
        units[k] = g_array_index(space->ranges, range, find(space, ranges[k].address)).units;
    const int status = dome__release_units_show(units, count);
    g_free(units);
    return (dome_status)status;
}

dome_status dome__space_add(dome_space *space, const dome_space_range *ranges, unsigned count)
{
    char *text = NULL;
    for (unsigned k = 0; k < count && !text; k++) {
        const char *why = add(space, &ranges[k]);
        if (why)
            text = g_strdup_printf("the program's %s (%" G_GUINT64_FORMAT " bytes at %p) cannot be shared by tasks: %s",
                                   ranges[k].name, ranges[k].bytes, ranges[k].address, why);
    }
    dome_status status = (dome_status)dome__agree(space->env, text ? DOME_ERR_START : DOME_OK, text);
    g_free(text);
    return status ? status : show(space, ranges, count);
}

/* ---- where tasks synchronise ---- */

static int go_on(const dome_space *space, int status)
{
    dome__token_met(space->token);
    return status ? status : dome__release_go_on(space->release);
}

int dome__space_meet(dome_space *space, uint64_t place, bool moves)
{
    dome__token_meeting(space->token);
    const int status = dome__release_meet_at(space->release, place, moves);
    return go_on(space, status);
}

int dome__space_meet_by(dome_space *space, dome_release_word *word)
{
    dome__token_meeting(space->token);
    const int status = dome__release_meet_by(space->release, word);
    return go_on(space, status);
}

static int waited(const dome_space *space, int status)
{
    return status ? dome__fail_transport(space->env, status) : DOME_OK;
}

int dome__space_enter(dome_space *space)
{
    return waited(space, dome__token_enter(space->token));
}

void dome__space_leave_for(dome_space *space, const dome_space_telling *telling)
{
    dome__token_leave(space->token, telling);
}

void dome__space_leave(dome_space *space, bool tell)
{
    uint8_t *all = g_malloc((gsize)space->env->size);
    memset(all, 1, (size_t)space->env->size);
    dome__space_leave_for(space, &(dome_space_telling){tell ? all : NULL, false, -1});
    g_free(all);
}

bool dome__space_defer(dome_space *space)
{
    return dome__token_defer(space->token);
}

uint64_t dome__space_told(dome_space *space)
{
    return dome__token_told(space->token);
}

int dome__space_await(dome_space *space, uint64_t seen)
{
    return waited(space, dome__token_await(space->token, seen));
}

/* ---- beginning and end ---- */

/* Without memory that tasks share, all messages go over the channel. */
static dome_mail *new_mail(dome_env *env, int *status)
{
    const dome_member_table *members = env->lazy.members;
    dome_memory *memory = dome__member_memory_if(env, dome__mail_bytes(members->most), status);
    return memory ? dome__mail_new(&(dome_mail_setup){memory, members->task, members->tasks, members->ranks, env->size}) : NULL;
}

static int begin(dome_space *space)
{
    dome_env *env = space->env;
    int status = dome__member_start(env, "a program's memory");
    if (status == DOME_OK)
        status = dome__peer_start(env, "a program's memory");
    if (status != DOME_OK)
        return status;
    env->transport->is_ruled = dome__memory_is_ruled;
    if (!env->lazy.members->release)
        env->lazy.members->release = dome__release_new(env);
    space->release = env->lazy.members->release;
    dome_mail *mail = new_mail(env, &status);
    if (status != DOME_OK)
        return status;
    space->token = dome__token_new(env, space->release, mail);
    const char *why = dome__fault_stack_begin(&space->stack); /* faults come on stacks that are in ranges themselves */
    char *text = why ? g_strdup_printf("a stack for signals cannot be had: %s", why) : NULL;
    status = dome__agree(env, why ? DOME_ERR_START : DOME_OK, text);
    g_free(text);
    return status;
}

/* Nobody asks this task for a unit any more when all have come here. The program goes on to use the memory. */
void dome__space_free(dome_space *space)
{
    if (!space)
        return;
    for (guint k = 0; k < space->ranges->len && space->env->rank == 0; k++)
        if (g_array_index(space->ranges, range, k).keep)
            dome__release_units_collect(g_array_index(space->ranges, range, k).units);
    dome__agree(space->env, DOME_OK, NULL);
    for (guint k = 0; k < space->ranges->len; k++) {
        const range *r = &g_array_index(space->ranges, range, k);
        dome__memory_release(r->memory);
        dome__release_units_free(r->units);
    }
    if (space->token)
        dome__peer_on(space->env->peer, DOME_PEER_SPACE, NULL, NULL);
    dome__token_free(space->token);
    dome__fault_stack_end(space->stack);
    g_array_unref(space->ranges);
    g_free(space);
}

dome_space *dome__space_new(dome_env *env)
{
    dome_space *space = g_new0(dome_space, 1);
    space->env = env;
    space->ranges = g_array_new(FALSE, FALSE, sizeof(range));
    if (begin(space) != DOME_OK)
        g_clear_pointer(&space, dome__space_free);
    return space;
}
