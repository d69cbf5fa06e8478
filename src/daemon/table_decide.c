/* Which programs run, and where: the table as src/manage sees it, and its decisions as goals of programs. Each daemon decides for
 * itself, and all decide alike; the daemon of a program's hub then gives the orders. */
#include "daemon/table.h"
#include "manage/priority.h"
#include "system/environment_variables.h"

#include <string.h>

typedef struct cluster {
    dome_table *table;
    int count, programs;
    dome_host **of; /* by host of the cluster */
    dome_managed_host *hosts;
    dome_program **which;
    dome_managed_program *managed;
    int *present, *tasks; /* programs x hosts */
    bool changed;
} cluster;

bool dome__program_has_place(const dome_program *p)
{
    return p->state == DOME_PROGRAM_STARTS || p->state == DOME_PROGRAM_RUNS || p->state == DOME_PROGRAM_STOPPED;
}

int64_t dome__program_least(const dome_program *p)
{
    return dome__program_has_place(p) ? MAX(p->least, p->plan.floor) : p->least;
}

bool dome__program_saves(const dome_program *p)
{
    static const char option[] = "--dome-checkpoint-dir", memory[] = "memory:", none[] = "none:";
    const char *given = g_environ_getenv(p->environment, DOME_VARIABLE_OPTIONS), *at = given ? strstr(given, option) : NULL;
    const char *directory = at ? at + strlen(option) + (at[strlen(option)] != 0) : NULL;
    for (char **word = p->words; *word; word++)
        if (g_str_has_prefix(*word, option))
            directory = (*word)[strlen(option)] == '=' ? *word + strlen(option) + 1 : word[1];
    return directory && !g_str_has_prefix(directory, memory) && !g_str_has_prefix(directory, none);
}

/* ---- the cluster ---- */

static dome_managed_use use_of(const dome_host *h)
{
    static const dome_managed_use uses[] = {DOME_MANAGED_OPEN, DOME_MANAGED_KEEPS, DOME_MANAGED_CLOSED, DOME_MANAGED_LEFT};
    if (h->use == DOME_HOST_DRAINED)
        return DOME_MANAGED_LEFT;
    const dome_managed_use use = h->there ? uses[h->owner] : DOME_MANAGED_KEEPS;
    return h->use == DOME_HOST_DISABLED ? MAX(use, DOME_MANAGED_KEEPS) : use;
}

static void add_hosts(cluster *c)
{
    for (guint i = 0; i < c->table->hosts->len; i++) {
        dome_host *h = c->table->hosts->pdata[i];
        if (h->lost)
            continue;
        c->of[c->count] = h;
        c->hosts[c->count++] = (dome_managed_host){.name = h->name,
                                                   .architecture = h->architecture,
                                                   .processors = (int)h->slots,
                                                   .speed = 1,
                                                   .load = h->there ? (double)h->load / 100 : 0,
                                                   .use = use_of(h)};
    }
}

/* A program that its user has stopped or ended, and one that is on its way to another host, take no part. */
static bool takes_part(const dome_program *p)
{
    return p->state != DOME_PROGRAM_ENDED && p->wish == DOME_WISH_RUN && !p->plan.parks;
}

static dome_managed_state state_of(const dome_program *p)
{
    if (p->state == DOME_PROGRAM_WAITS)
        return DOME_MANAGED_WAITING;
    return p->plan.held || p->state == DOME_PROGRAM_STOPPED ? DOME_MANAGED_SUSPENDED : DOME_MANAGED_RUNNING;
}

static void add_program(cluster *c, dome_program *p)
{
    const dome_host *hub = dome__table_host(c->table, p->host);
    const bool away = dome__program_has_place(p) && (!hub || !hub->there), fixed = p->rigid || away;
    int *present = c->present + (size_t)c->programs * (size_t)c->count, home = 0, first = 0;
    for (int h = 0; h < c->count; h++)
        home = strcmp(c->of[h]->name, p->home) == 0 ? h + 1 : home, first = c->of[h] == hub ? h + 1 : first;
    for (int h = 0; h < c->count; h++)
        present[h] = (int)dome__places_get(&p->plan.goal, c->of[h]->name);
    c->which[c->programs] = p;
    c->managed[c->programs++] = (dome_managed_program){.priority = (int)p->priority,
                                                       .submitted = (double)p->id,
                                                       .used = (double)p->plan.used,
                                                       .waited = (double)p->plan.waited,
                                                       .changed = (double)p->plan.changed,
                                                       .least = (int)(fixed ? MAX(p->target, 1) : dome__program_least(p)),
                                                       .most = (int)(fixed ? MAX(p->target, 1) : p->tasks),
                                                       .topologies = fixed ? NULL : p->plan.wishes,
                                                       .home = home,
                                                       .first = first,
                                                       .bound = fixed || p->tasks == 1,
                                                       .away = away,
                                                       .state = state_of(p),
                                                       .tasks = present};
}

/* Whether a host's owner wants no task to compute there. */
static bool is_owners(const dome_host *h)
{
    return h->there && h->owner >= DOME_OWNER_STOP_TASKS;
}

/* Whether another of higher priority has places on the host. */
static bool has_higher(const dome_table *table, const char *host, const dome_program *than)
{
    bool has = false;
    for (guint i = 0; i < table->programs->len && !has; i++) {
        const dome_program *p = table->programs->pdata[i];
        has = takes_part(p) && p->priority > than->priority && dome__places_get(&p->plan.goal, host) > 0;
    }
    return has;
}

/* Whether the program has had enough time to leave a host for another program or for the owner: its loop boundaries are far
 * apart, or it has none. */
static bool lingers(const dome_table *table, const dome_program *p)
{
    bool lingers = false;
    for (guint i = 0; i < p->plan.is.all->len && table->clock - p->plan.changed >= DOME_TABLE_LATE; i++) {
        const dome_place *place = &g_array_index(p->plan.is.all, dome_place, i);
        const dome_host *host = dome__table_host(table, place->host);
        lingers |= place->tasks > dome__places_get(&p->plan.goal, place->host) &&
                   (has_higher(table, place->host, p) || (host && is_owners(host)));
    }
    return lingers && takes_part(p) && p->state == DOME_PROGRAM_RUNS && !p->plan.held && !p->rigid;
}

/* The program is taken as it is, until it changes: so it is suspended while the owner is there, or while the others run if they
 * cannot do without its places. */
static bool settle(const dome_table *table, dome_program *p)
{
    if (!lingers(table, p))
        return false;
    p->rigid = true;
    dome__places_clear(&p->plan.goal);
    p->plan.goal = dome__places_copy(&p->plan.is);
    p->target = dome__places_sum(&p->plan.goal);
    return true;
}

/* ---- goals ---- */

static const int *row_of(const cluster *c, int k)
{
    return c->tasks + (size_t)k * (size_t)c->count;
}

static void set_goal(cluster *c, dome_program *p, const int *row)
{
    dome_places goal = dome__places_new();
    for (int h = 0; h < c->count; h++)
        dome__places_set(&goal, c->of[h]->name, row[h]);
    if (dome__places_equal(&goal, &p->plan.goal)) {
        dome__places_clear(&goal);
        return;
    }
    dome__places_clear(&p->plan.goal);
    p->plan.goal = goal;
    p->target = dome__places_sum(&goal);
    p->plan.changed = c->table->clock;
    c->changed = true;
}

static void hold(cluster *c, dome_program *p, bool held)
{
    if (p->plan.held == held)
        return;
    p->plan.held = held;
    p->plan.changed = c->table->clock;
    c->changed = true;
}

static void park(cluster *c, dome_program *p)
{
    p->plan.parks = true;
    p->plan.held = false;
    c->changed = true;
}

/* -1: none of the cluster's */
static int hub_of(const cluster *c, const dome_program *p)
{
    int h = 0;
    while (h < c->count && strcmp(c->of[h]->name, p->host) != 0)
        h++;
    return h < c->count ? h : -1;
}

static bool disturbs_an_owner(const cluster *c, const dome_program *p)
{
    bool disturbs = false;
    for (int h = 0; h < c->count; h++)
        disturbs |= is_owners(c->of[h]) && dome__places_get(&p->plan.goal, c->of[h]->name) > 0;
    return disturbs;
}

/* Task 0 stays on the host of the hub. */
static void keep_first(const cluster *c, int hub, int *row)
{
    int most = -1;
    if (hub < 0 || row[hub] > 0)
        return;
    for (int h = 0; h < c->count; h++)
        if (most < 0 || row[h] > row[most])
            most = h;
    row[most]--;
    row[hub]++;
}

/* Its tasks go elsewhere. The host of the hub can be left by a program alone that ends with a checkpoint. */
static void change(cluster *c, dome_program *p, int *row)
{
    const int hub = hub_of(c, p);
    const bool must_leave = hub >= 0 && c->hosts[hub].use == DOME_MANAGED_LEFT;
    if (must_leave && dome__program_saves(p)) {
        park(c, p);
    } else if (hub >= 0 && is_owners(c->of[hub])) {
        hold(c, p, true);
    } else if (p->rigid || p->tasks == 1) {
        hold(c, p, disturbs_an_owner(c, p));
    } else {
        keep_first(c, hub, row);
        hold(c, p, false);
        set_goal(c, p, row);
    }
}

/* No place for it, and a task of it is on a host that none may stay on. */
static void leave(cluster *c, dome_program *p)
{
    if (dome__program_saves(p))
        park(c, p);
    else
        hold(c, p, disturbs_an_owner(c, p) || p->plan.held);
}

/* ---- beginnings ---- */

/* The host of its hub: that where it was submitted, or the one with most of its tasks. -1: none is there. */
static int hub_for(const cluster *c, const dome_program *p, const int *row)
{
    int hub = -1;
    for (int h = 0; h < c->count; h++) {
        if (!row[h] || !c->of[h]->there)
            continue;
        if (strcmp(c->of[h]->name, p->home) == 0)
            return h;
        if (hub < 0 || row[h] > row[hub])
            hub = h;
    }
    return hub;
}

/* At once: programs that are to leave its places do so while it is still starting. */
static void start(cluster *c, dome_program *p, const int *row)
{
    const int hub = hub_for(c, p, row);
    if (hub < 0)
        return;
    g_free(p->host);
    p->host = g_strdup(c->of[hub]->name);
    p->state = DOME_PROGRAM_STARTS;
    p->attempt++;
    p->rigid = false;
    p->plan.floor = p->least < p->tasks ? p->least : 1;
    set_goal(c, p, row);
    dome__places_clear(&p->plan.is);
    p->plan.is = dome__places_copy(&p->plan.goal);
    p->size = p->target;
    p->plan.changed = c->table->clock;
    c->changed = true;
}

static void obey(cluster *c, int k, dome_manage_verb verb)
{
    dome_program *p = c->which[k];
    switch (verb) {
    case DOME_MANAGE_NOTHING:
        if (p->state == DOME_PROGRAM_STOPPED) /* its user wants it to go on, and there is no room */
            hold(c, p, true);
        return;
    case DOME_MANAGE_START:
        start(c, p, row_of(c, k));
        return;
    case DOME_MANAGE_CHANGE:
        change(c, p, c->tasks + (size_t)k * (size_t)c->count);
        return;
    case DOME_MANAGE_SUSPEND:
        hold(c, p, true);
        return;
    case DOME_MANAGE_RESUME:
        hold(c, p, false);
        return;
    case DOME_MANAGE_PARK:
        leave(c, p);
        return;
    }
}

bool dome__table_decide(dome_table *table)
{
    const size_t hosts = table->hosts->len + 1, programs = table->programs->len + 1;
    if (!dome__table_has_majority(table))
        return false;
    cluster c = {.table = table,
                 .of = g_new0(dome_host *, hosts),
                 .hosts = g_new0(dome_managed_host, hosts),
                 .which = g_new0(dome_program *, programs),
                 .managed = g_new0(dome_managed_program, programs),
                 .present = g_new0(int, hosts *programs),
                 .tasks = g_new0(int, hosts *programs)};
    dome_manage_verb *verbs = g_new0(dome_manage_verb, programs);
    add_hosts(&c);
    for (guint i = 0; i < table->programs->len; i++)
        c.changed |= settle(table, table->programs->pdata[i]);
    for (guint i = 0; i < table->programs->len; i++)
        if (takes_part(table->programs->pdata[i]))
            add_program(&c, table->programs->pdata[i]);
    const dome_managed managed = {c.hosts, c.count, c.managed, c.programs};
    dome__priority_decide(&managed, (double)table->clock, verbs, c.tasks);
    for (int k = 0; k < c.programs && c.count > 0; k++)
        obey(&c, k, verbs[k]);
    g_free(c.of), g_free(c.hosts), g_free(c.which), g_free(c.managed), g_free(c.present), g_free(c.tasks), g_free(verbs);
    return c.changed;
}

bool dome__table_is_restless(const dome_table *table)
{
    bool restless = false;
    for (guint i = 0; i < table->programs->len; i++) {
        const dome_program *p = table->programs->pdata[i];
        restless |=
            p->state != DOME_PROGRAM_ENDED && p->wish == DOME_WISH_RUN &&
            (p->state == DOME_PROGRAM_WAITS || p->plan.held || p->plan.parks ||
             table->clock - p->plan.changed <= (int64_t)DOME_PRIORITY_REST || !dome__places_equal(&p->plan.is, &p->plan.goal));
    }
    return restless;
}
