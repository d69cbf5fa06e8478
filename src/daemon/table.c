#include "daemon/table.h"

#include "manage/share_policy.h"

#include <limits.h>
#include <string.h>

static void free_program(void *item)
{
    dome_program *p = item;
    g_free(p->owner);
    g_free(p->directory);
    g_free(p->output);
    g_strfreev(p->words);
    g_strfreev(p->environment);
    g_strfreev(p->options);
    g_free(p->limits);
    g_free(p->host);
    g_free(p->home);
    g_free(p->why);
    g_free(p);
}

static void free_host(void *item)
{
    dome_host *h = item;
    g_free(h->name);
    g_free(h);
}

dome_table *dome__table_new(void)
{
    dome_table *table = g_new0(dome_table, 1);
    table->next = 1;
    table->programs = g_ptr_array_new_with_free_func(free_program);
    table->hosts = g_ptr_array_new_with_free_func(free_host);
    return table;
}

void dome__table_free(dome_table *table)
{
    if (!table)
        return;
    g_ptr_array_unref(table->programs);
    g_ptr_array_unref(table->hosts);
    g_free(table);
}

/* ---- finding ---- */

dome_program *dome__table_program(const dome_table *table, int64_t id)
{
    for (guint i = 0; i < table->programs->len; i++) {
        dome_program *p = table->programs->pdata[i];
        if (p->id == id)
            return p;
    }
    return NULL;
}

dome_host *dome__table_host(const dome_table *table, const char *name)
{
    for (guint i = 0; i < table->hosts->len; i++) {
        dome_host *h = table->hosts->pdata[i];
        if (g_strcmp0(h->name, name) == 0)
            return h;
    }
    return NULL;
}

const char *dome__program_name(const dome_program *program)
{
    const char *first = program->words[0], *slash = strrchr(first, '/');
    return slash ? slash + 1 : first;
}

GPtrArray *dome__table_meant(const dome_table *table, const char *word)
{
    GPtrArray *meant = g_ptr_array_new();
    gint64 id;
    if (word[0] == 'j' && g_ascii_string_to_signed(word + 1, 10, 1, G_MAXINT64, &id, NULL)) {
        dome_program *p = dome__table_program(table, id);
        if (p)
            g_ptr_array_add(meant, p);
        return meant;
    }
    for (guint i = 0; i < table->programs->len; i++) {
        dome_program *p = table->programs->pdata[i];
        if (p->state != DOME_PROGRAM_ENDED && strcmp(dome__program_name(p), word) == 0)
            g_ptr_array_add(meant, p);
    }
    return meant;
}

const char *dome__program_state_name(dome_program_state state)
{
    static const char *const names[] = {"waits", "starts", "runs", "stopped", "ended"};
    return names[state];
}

const char *dome__host_use_name(dome_host_use use)
{
    static const char *const names[] = {"enabled", "disabled", "drained"};
    return names[use];
}

bool dome__table_has_majority(const dome_table *table)
{
    guint all = 0, there = 0;
    bool first = false;
    for (guint i = 0; i < table->hosts->len; i++) {
        const dome_host *h = table->hosts->pdata[i];
        if (h->left)
            continue;
        first |= all == 0 && h->there;
        all++;
        there += h->there;
    }
    return 2 * there > all || (all > 0 && 2 * there == all && first);
}

/* ---- who gets what ---- */

static bool has_place(const dome_program *p)
{
    return p->state == DOME_PROGRAM_STARTS || p->state == DOME_PROGRAM_RUNS || p->state == DOME_PROGRAM_STOPPED;
}

static bool is_of_use(const dome_host *h)
{
    return h->there && h->use == DOME_HOST_ENABLED;
}

static int by_priority(const void *a, const void *b)
{
    const dome_program *x = *(dome_program *const *)a, *y = *(dome_program *const *)b;
    if (x->priority != y->priority)
        return x->priority > y->priority ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

/* The host for a program's hub: the one where it was submitted, if that is of use and nothing was lost there; else the one with
 * the fewest hubs for its slots, the first by name. NULL: there is none. */
static const dome_host *place(const dome_table *table, const dome_program *program)
{
    const dome_host *best = NULL, *home = dome__table_host(table, program->home);
    int64_t best_hubs = 0;
    if (home && is_of_use(home) && program->attempt == 0)
        return home;
    for (guint i = 0; i < table->hosts->len; i++) {
        const dome_host *h = table->hosts->pdata[i];
        int64_t hubs = 0;
        if (!is_of_use(h))
            continue;
        for (guint k = 0; k < table->programs->len; k++) {
            const dome_program *p = table->programs->pdata[k];
            hubs += has_place(p) && strcmp(p->host, h->name) == 0;
        }
        if (!best || hubs * best->slots < best_hubs * h->slots) {
            best = h;
            best_hubs = hubs;
        }
    }
    return best;
}

static int count_slots(const dome_table *table)
{
    int64_t slots = 0;
    for (guint i = 0; i < table->hosts->len; i++) {
        const dome_host *h = table->hosts->pdata[i];
        slots += is_of_use(h) ? h->slots : 0;
    }
    return (int)MIN(slots, INT_MAX);
}

static void begin(dome_program *p, const dome_host *host, int64_t tasks)
{
    g_free(p->host);
    p->host = g_strdup(host->name);
    p->state = DOME_PROGRAM_STARTS;
    p->attempt++;
    p->size = p->target = tasks;
    p->rigid = false;
}

static void share(GPtrArray *queue, dome_share *shares, int slots)
{
    for (guint i = 0; i < queue->len; i++) {
        const dome_program *p = queue->pdata[i];
        shares[i] = (dome_share){.least = (int)p->least,
                                 .most = (int)p->tasks,
                                 .has = has_place(p) ? (int)MAX(p->size, 1) : 0,
                                 .fixed = p->rigid || p->state == DOME_PROGRAM_STOPPED};
    }
    dome__share_out(shares, queue->len, slots);
}

/* Gives each program its tasks: what waits begins where there is room by now, not only when others have made it. */
static void settle(dome_table *table)
{
    GPtrArray *queue = g_ptr_array_new();
    int free = count_slots(table);
    for (guint i = 0; i < table->programs->len; i++) {
        const dome_program *p = table->programs->pdata[i];
        if (p->state != DOME_PROGRAM_ENDED)
            g_ptr_array_add(queue, table->programs->pdata[i]);
        free -= has_place(p) ? (int)MAX(p->size, p->target) : 0;
    }
    g_ptr_array_sort(queue, by_priority);
    dome_share *shares = g_new0(dome_share, queue->len + 1);
    share(queue, shares, count_slots(table));
    bool any = false;
    for (guint i = 0; i < queue->len; i++)
        any |= has_place(queue->pdata[i]);
    for (guint i = 0; i < queue->len && dome__table_has_majority(table); i++) {
        dome_program *p = queue->pdata[i];
        const dome_host *host = place(table, p);
        if (has_place(p)) {
            p->target = shares[i].gets;
            continue;
        }
        if (!shares[i].gets || p->wish != DOME_WISH_RUN || !host || (p->least > free && any))
            continue;
        begin(p, host, CLAMP(MIN(shares[i].gets, free), p->least, p->tasks));
        free -= (int)p->size;
        any = true;
    }
    g_free(shares);
    g_ptr_array_unref(queue);
}

static void end(dome_program *p, int64_t status, const char *why, int64_t time)
{
    p->state = DOME_PROGRAM_ENDED;
    p->status = status;
    g_free(p->why);
    p->why = g_strdup(why ? why : "");
    p->ended = time;
    p->size = p->target = 0;
    g_clear_pointer(&p->environment, g_strfreev);
    p->environment = g_new0(char *, 1);
}

/* The oldest of those that have ended are no longer listed. */
static void forget_old(dome_table *table)
{
    guint ended = 0;
    for (guint i = table->programs->len; i-- > 0;) {
        const dome_program *p = table->programs->pdata[i];
        if (p->state == DOME_PROGRAM_ENDED && ++ended > DOME_TABLE_ENDED)
            g_ptr_array_remove_index(table->programs, i);
    }
}

/* ---- orders of users ---- */

static char *submit(dome_table *table, const dome_record *o)
{
    int64_t uid, gid, tasks, least, priority, again, time;
    char **words = dome__record_all(o, "word");
    bool good =
        dome__record_number(o, "uid", 0, UINT32_MAX, -1, &uid) && uid >= 0 &&
        dome__record_number(o, "gid", 0, UINT32_MAX, -1, &gid) && gid >= 0 &&
        dome__record_number(o, "tasks", 1, 1000000, 1, &tasks) && dome__record_number(o, "least", 1, tasks, tasks, &least) &&
        dome__record_number(o, "priority", -1000, 1000, 0, &priority) && dome__record_number(o, "again", 0, 1, 1, &again) &&
        dome__record_number(o, "time", 0, G_MAXINT64, 0, &time) && words[0] && dome__record_get(o, "directory") &&
        dome__record_get(o, "output") && dome__record_get(o, "home") && dome__record_get(o, "owner");
    guint alive = 0;
    for (guint i = 0; good && i < table->programs->len; i++) {
        const dome_program *p = table->programs->pdata[i];
        alive += p->uid == uid && p->state != DOME_PROGRAM_ENDED;
    }
    if (!good || alive >= DOME_TABLE_OF_USER) {
        g_strfreev(words);
        return good ? g_strdup_printf("no %s has %u programs that have not ended", dome__record_get(o, "owner"), alive)
                    : g_strdup("no the program is not described completely");
    }
    dome_program *p = g_new0(dome_program, 1);
    *p = (dome_program){.id = table->next++,
                        .uid = uid,
                        .gid = gid,
                        .owner = g_strdup(dome__record_get(o, "owner")),
                        .directory = g_strdup(dome__record_get(o, "directory")),
                        .output = g_strdup(dome__record_get(o, "output")),
                        .words = words,
                        .environment = dome__record_all(o, "env"),
                        .options = dome__record_all(o, "option"),
                        .limits = g_strdup(dome__record_get(o, "limits") ? dome__record_get(o, "limits") : ""),
                        .tasks = tasks,
                        .least = least,
                        .priority = priority,
                        .again = again,
                        .host = g_strdup(""),
                        .home = g_strdup(dome__record_get(o, "home")),
                        .why = g_strdup(""),
                        .submitted = time};
    g_ptr_array_add(table->programs, p);
    return g_strdup_printf("done j%" G_GINT64_FORMAT, p->id);
}

static char *wish(dome_program *p, const dome_record *o)
{
    static const char *const names[] = {"run", "stop", "end"};
    const char *what = dome__record_get(o, "what");
    size_t k = 0;
    while (k < G_N_ELEMENTS(names) && g_strcmp0(names[k], what) != 0)
        k++;
    if (k == G_N_ELEMENTS(names))
        return g_strdup("no the order is not understood");
    if (p->wish == DOME_WISH_END && k != DOME_WISH_END)
        return g_strdup("no the program is being ended");
    p->wish = (dome_program_wish)k;
    if (p->wish == DOME_WISH_END && p->state == DOME_PROGRAM_WAITS)
        end(p, 143, "it was ended before it began", p->submitted);
    return g_strdup_printf("done j%" G_GINT64_FORMAT, p->id);
}

static char *limit(dome_program *p, const dome_record *o)
{
    int64_t tasks, least, priority;
    if (!dome__record_number(o, "tasks", 1, 1000000, p->tasks, &tasks) ||
        !dome__record_number(o, "least", 1, 1000000, MIN(p->least, tasks), &least) ||
        !dome__record_number(o, "priority", -1000, 1000, p->priority, &priority) || least > tasks)
        return g_strdup("no numbers of tasks are from 1 to 1000000, the least first; a priority is from -1000 to 1000");
    p->tasks = tasks;
    p->least = least;
    p->priority = priority;
    return g_strdup_printf("done j%" G_GINT64_FORMAT ": %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT
                           " tasks, priority %" G_GINT64_FORMAT,
                           p->id, least, tasks, priority);
}

/* ---- orders of daemons ---- */

/* Its hub is gone. */
static void lose(dome_program *p, const char *why)
{
    p->size = p->target = 0;
    if (p->wish == DOME_WISH_END) {
        end(p, 143, "it was ended", p->started);
    } else if (p->again) {
        p->state = DOME_PROGRAM_WAITS;
        g_free(p->host);
        p->host = g_strdup("");
    } else {
        end(p, 1, why, p->started);
    }
}

static char *note_size(dome_program *p, const dome_record *o)
{
    int64_t tasks, rigid;
    if (!dome__record_number(o, "tasks", 1, 1000000, p->size, &tasks) || !dome__record_number(o, "rigid", 0, 1, 0, &rigid))
        return g_strdup("no the size is not understood");
    p->size = tasks;
    p->rigid |= rigid != 0;
    return g_strdup("done");
}

static char *note_end(dome_program *p, const dome_record *o)
{
    int64_t status, time;
    if (!dome__record_number(o, "status", 0, 255, 1, &status) || !dome__record_number(o, "time", 0, G_MAXINT64, 0, &time))
        return g_strdup("no the end is not understood");
    end(p, status, dome__record_get(o, "why"), time);
    return g_strdup("done");
}

static char *note_state(dome_program *p, dome_program_state state, const dome_record *o)
{
    int64_t time;
    if (!dome__record_number(o, "time", 0, G_MAXINT64, p->started, &time))
        return g_strdup("no the state is not understood");
    p->state = state;
    p->started = time;
    return g_strdup("done");
}

/* What the daemon of its host says of the program's present attempt. */
static char *note(dome_program *p, const dome_record *o)
{
    int64_t attempt;
    if (!dome__record_number(o, "attempt", 1, G_MAXINT64, 0, &attempt) || attempt != p->attempt || !has_place(p))
        return g_strdup("no that attempt is over");
    if (strcmp(o->verb, "started") == 0 || strcmp(o->verb, "goes-on") == 0)
        return note_state(p, DOME_PROGRAM_RUNS, o);
    if (strcmp(o->verb, "stopped") == 0)
        return note_state(p, DOME_PROGRAM_STOPPED, o);
    if (strcmp(o->verb, "size") == 0)
        return note_size(p, o);
    if (strcmp(o->verb, "checkpoint") == 0) {
        if (!dome__record_number(o, "number", 1, G_MAXINT64, p->checkpoint, &p->checkpoint))
            return g_strdup("no the checkpoint is not understood");
        return g_strdup("done");
    }
    if (strcmp(o->verb, "gone") == 0) {
        lose(p, "its processes are gone");
        return g_strdup("done");
    }
    return note_end(p, o);
}

static char *about_program(dome_table *table, const dome_record *o)
{
    int64_t id;
    if (!dome__record_number(o, "program", 1, G_MAXINT64, 0, &id))
        return g_strdup("no the order is not understood");
    dome_program *p = dome__table_program(table, id);
    if (!p)
        return g_strdup_printf("no there is no program j%" G_GINT64_FORMAT, id);
    if (p->state == DOME_PROGRAM_ENDED)
        return g_strdup_printf("no j%" G_GINT64_FORMAT " has ended", id);
    if (strcmp(o->verb, "wish") == 0)
        return wish(p, o);
    if (strcmp(o->verb, "limits") == 0)
        return limit(p, o);
    if (strcmp(o->verb, "forget") != 0)
        return note(p, o);
    g_ptr_array_remove(table->programs, p);
    return g_strdup("done");
}

/* ---- hosts ---- */

static int by_name(const void *a, const void *b)
{
    return strcmp((*(dome_host *const *)a)->name, (*(dome_host *const *)b)->name);
}

/* A side without a majority waits with its programs: the other side starts them, and this one ends them. */
static void lose_programs(dome_table *table)
{
    for (guint i = 0; i < table->programs->len && dome__table_has_majority(table); i++) {
        dome_program *p = table->programs->pdata[i];
        const dome_host *host = has_place(p) ? dome__table_host(table, p->host) : NULL;
        if (has_place(p) && (!host || host->lost)) {
            char *why = g_strdup_printf("host %s was lost", p->host);
            lose(p, why);
            g_free(why);
        }
    }
}

static char *add_host(dome_table *table, const dome_record *o)
{
    const char *name = dome__record_get(o, "name");
    int64_t node, slots;
    if (!name || !*name || !dome__record_number(o, "node", 0, UINT32_MAX, 0, &node) ||
        !dome__record_number(o, "slots", 1, 1000000, 1, &slots))
        return g_strdup("no the host is not described completely");
    dome_host *h = dome__table_host(table, name);
    if (!h) {
        h = g_new0(dome_host, 1);
        h->name = g_strdup(name);
        g_ptr_array_add(table->hosts, h);
        g_ptr_array_sort(table->hosts, by_name);
    }
    h->node = node;
    h->slots = slots;
    h->there = true;
    h->left = h->lost = false;
    return g_strdup("done");
}

static char *use_host(dome_table *table, const dome_record *o)
{
    static const char *const names[] = {"enable", "disable", "drain"};
    const char *name = dome__record_get(o, "name"), *what = dome__record_get(o, "what");
    dome_host *h = name ? dome__table_host(table, name) : NULL;
    size_t k = 0;
    if (!h)
        return g_strdup_printf("no there is no host %s", name ? name : "");
    while (k < G_N_ELEMENTS(names) && g_strcmp0(names[k], what) != 0)
        k++;
    if (k == G_N_ELEMENTS(names))
        return g_strdup("no the order is not understood");
    h->use = (dome_host_use)k;
    return g_strdup_printf("done %s: %s", h->name, dome__host_use_name(h->use));
}

static char *leave(dome_table *table, const dome_record *o)
{
    dome_host *h = dome__table_host(table, dome__record_get(o, "name"));
    if (!h)
        return g_strdup("no there is no such host");
    h->there = false;
    h->left = true;
    return g_strdup("done");
}

static char *lose_host(dome_table *table, const dome_record *o)
{
    dome_host *h = dome__table_host(table, dome__record_get(o, "name"));
    if (!h || h->there)
        return g_strdup(h ? "no its daemon is there" : "no there is no such host");
    h->lost = true;
    return g_strdup_printf("done %s: lost", h->name);
}

static char *count_members(dome_table *table, const dome_record *o)
{
    char **nodes = dome__record_all(o, "node"), **lost = dome__record_all(o, "lost");
    for (guint i = 0; i < table->hosts->len; i++) {
        dome_host *h = table->hosts->pdata[i];
        char node[32];
        g_snprintf(node, sizeof node, "%" G_GINT64_FORMAT, h->node);
        h->there = h->there && g_strv_contains((const char *const *)nodes, node);
        h->lost |= !h->there && g_strv_contains((const char *const *)lost, node);
    }
    g_strfreev(lost);
    g_strfreev(nodes);
    return g_strdup("done");
}

char *dome__table_apply(dome_table *table, const dome_record *order)
{
    static const struct {
        const char *verb;
        char *(*act)(dome_table *table, const dome_record *order);
    } verbs[] = {{"submit", submit},         {"wish", about_program},    {"limits", about_program}, {"started", about_program},
                 {"stopped", about_program}, {"goes-on", about_program}, {"size", about_program},   {"checkpoint", about_program},
                 {"ended", about_program},   {"gone", about_program},    {"forget", about_program}, {"lost", lose_host},
                 {"host", add_host},         {"use", use_host},          {"leave", leave},          {"members", count_members}};
    for (size_t i = 0; i < G_N_ELEMENTS(verbs); i++)
        if (strcmp(verbs[i].verb, order->verb) == 0) {
            char *answer = verbs[i].act(table, order);
            if (!g_str_has_prefix(answer, "done"))
                return answer;
            table->serial += dome__table_has_majority(table);
            lose_programs(table);
            settle(table);
            forget_old(table);
            return answer;
        }
    return g_strdup("no the order is not understood");
}
