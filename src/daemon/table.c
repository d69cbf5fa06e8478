#include "daemon/table.h"

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
    g_free(p->plan.topology);
    g_free(p->plan.nonce);
    dome__topologies_free(p->plan.wishes);
    dome__places_clear(&p->plan.is);
    dome__places_clear(&p->plan.goal);
    g_free(p);
}

static void free_host(void *item)
{
    dome_host *h = item;
    g_free(h->name);
    g_free(h->architecture);
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

/* ---- ends ---- */

/* It has no tasks. */
static void empty(dome_program *p)
{
    p->size = p->target = 0;
    p->plan.held = p->plan.parks = false;
    g_array_set_size(p->plan.is.all, 0);
    g_array_set_size(p->plan.goal.all, 0);
}

static void end(dome_program *p, int64_t status, const char *why, int64_t time)
{
    p->state = DOME_PROGRAM_ENDED;
    p->status = status;
    g_free(p->why);
    p->why = g_strdup(why ? why : "");
    p->ended = time;
    empty(p);
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

/* The program that this request has made before; NULL: none. */
static const dome_program *made_before(const dome_table *table, int64_t uid, const char *nonce)
{
    for (guint i = 0; nonce[0] && i < table->programs->len; i++) {
        const dome_program *p = table->programs->pdata[i];
        if (p->uid == uid && strcmp(p->plan.nonce, nonce) == 0)
            return p;
    }
    return NULL;
}

static const char *text_of(const dome_record *o, const char *name)
{
    const char *text = dome__record_get(o, name);
    return text ? text : "";
}

static guint count_alive(const dome_table *table, int64_t uid)
{
    guint alive = 0;
    for (guint i = 0; i < table->programs->len; i++) {
        const dome_program *p = table->programs->pdata[i];
        alive += p->uid == uid && p->state != DOME_PROGRAM_ENDED;
    }
    return alive;
}

/* Why a program with these wishes cannot have such numbers of tasks, g_free'd; NULL: it can. */
static char *no_wish(const dome_topologies *wishes, int64_t least, int64_t tasks)
{
    if (!wishes || dome__topologies_within(wishes, (int)least, (int)tasks))
        return NULL;
    return g_strdup_printf("no the topology has no wish of %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT " tasks", least, tasks);
}

/* Reads the numbers and the wishes. Returns why the program is not taken, g_free'd. */
static char *describe(const dome_record *o, dome_program *p)
{
    char *mistake = NULL;
    int64_t again;
    const bool good = dome__record_number(o, "uid", 0, UINT32_MAX, -1, &p->uid) && p->uid >= 0 &&
                      dome__record_number(o, "gid", 0, UINT32_MAX, -1, &p->gid) && p->gid >= 0 &&
                      dome__record_number(o, "tasks", 1, 1000000, 1, &p->tasks) &&
                      dome__record_number(o, "least", 1, p->tasks, p->tasks, &p->least) &&
                      dome__record_number(o, "priority", -1000, 1000, 0, &p->priority) &&
                      dome__record_number(o, "again", 0, 1, 1, &again) &&
                      dome__record_number(o, "time", 0, G_MAXINT64, 0, &p->submitted) && dome__record_get(o, "word") &&
                      dome__record_get(o, "directory") && dome__record_get(o, "output") && dome__record_get(o, "home") &&
                      dome__record_get(o, "owner");
    if (!good)
        return g_strdup("no the program is not described completely");
    p->again = again != 0;
    const char *topology = text_of(o, "topology");
    p->plan.wishes = topology[0] ? dome__topologies_parse(topology, &mistake) : NULL;
    char *why = mistake ? g_strdup_printf("no the topology: %s", mistake) : no_wish(p->plan.wishes, p->least, p->tasks);
    g_free(mistake);
    return why;
}

static char *submit(dome_table *table, const dome_record *o)
{
    dome_program new = {0};
    char *why = describe(o, &new);
    const dome_program *before = why ? NULL : made_before(table, new.uid, text_of(o, "nonce"));
    const guint alive = count_alive(table, new.uid);
    if (!why && before)
        why = g_strdup_printf("done j%" G_GINT64_FORMAT, before->id);
    else if (!why && alive >= DOME_TABLE_OF_USER)
        why = g_strdup_printf("no %s has %u programs that have not ended", text_of(o, "owner"), alive);
    if (why) {
        dome__topologies_free(new.plan.wishes);
        return why;
    }
    dome_program *p = g_memdup2(&new, sizeof new);
    p->id = table->next++;
    p->owner = g_strdup(text_of(o, "owner"));
    p->directory = g_strdup(text_of(o, "directory"));
    p->output = g_strdup(text_of(o, "output"));
    p->words = dome__record_all(o, "word");
    p->environment = dome__record_all(o, "env");
    p->options = dome__record_all(o, "option");
    p->limits = g_strdup(text_of(o, "limits"));
    p->host = g_strdup("");
    p->home = g_strdup(text_of(o, "home"));
    p->why = g_strdup("");
    p->plan.topology = g_strdup(text_of(o, "topology"));
    p->plan.nonce = g_strdup(text_of(o, "nonce"));
    p->plan.is = dome__places_new();
    p->plan.goal = dome__places_new();
    p->plan.changed = table->clock;
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
    const int64_t floor = dome__program_has_place(p) ? MAX(least, p->plan.floor) : least;
    char *why = tasks < floor
                    ? g_strdup_printf("no j%" G_GINT64_FORMAT " has %" G_GINT64_FORMAT " tasks or more until it begins again",
                                      p->id, floor)
                    : no_wish(p->plan.wishes, floor, tasks);
    if (why)
        return why;
    p->tasks = tasks;
    p->least = least;
    p->priority = priority;
    return g_strdup_printf("done j%" G_GINT64_FORMAT ": %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT
                           " tasks, priority %" G_GINT64_FORMAT,
                           p->id, least, tasks, priority);
}

/* ---- orders of daemons ---- */

static void wait_again(dome_program *p, bool parked)
{
    empty(p);
    p->plan.parked = parked;
    p->state = DOME_PROGRAM_WAITS;
    g_free(p->host);
    p->host = g_strdup("");
}

/* Its hub is gone. */
static void lose(dome_program *p, const char *why)
{
    if (p->wish == DOME_WISH_END) {
        end(p, 143, "it was ended", p->started);
    } else if (p->again || p->plan.parks) {
        wait_again(p, false);
    } else {
        end(p, 1, why, p->started);
    }
}

/* What it has done by itself, or by its user's order, is what it is to have. */
static char *note_size(dome_program *p, const dome_record *o)
{
    int64_t tasks, rigid;
    dome_places on;
    if (!dome__record_number(o, "tasks", 1, 1000000, p->size, &tasks) || !dome__record_number(o, "rigid", 0, 1, 0, &rigid) ||
        !dome__places_from(o, "on", &on))
        return g_strdup("no the size is not understood");
    const bool changing = !dome__places_equal(&p->plan.is, &p->plan.goal);
    if (on.all->len == 0)
        dome__places_set(&on, p->host, tasks);
    if (dome__record_get(o, "tasks")) {
        p->rigid &= dome__places_equal(&on, &p->plan.is); /* else it has changed after all */
        dome__places_clear(&p->plan.is);
        p->plan.is = dome__places_copy(&on);
    }
    dome__places_clear(&on);
    p->size = dome__places_sum(&p->plan.is);
    p->rigid |= rigid != 0;
    if (!changing || rigid) {
        dome__places_clear(&p->plan.goal);
        p->plan.goal = dome__places_copy(&p->plan.is);
    }
    p->target = dome__places_sum(&p->plan.goal);
    return g_strdup("done");
}

static char *note_end(dome_program *p, const dome_record *o)
{
    int64_t status, time;
    if (!dome__record_number(o, "status", 0, 255, 1, &status) || !dome__record_number(o, "time", 0, G_MAXINT64, 0, &time))
        return g_strdup("no the end is not understood");
    if (p->plan.parks && status != 0 && p->wish != DOME_WISH_END) {
        wait_again(p, true);
        return g_strdup("done");
    }
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
    if (!dome__record_number(o, "attempt", 1, G_MAXINT64, 0, &attempt) || attempt != p->attempt || !dome__program_has_place(p))
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
        const dome_host *host = dome__program_has_place(p) ? dome__table_host(table, p->host) : NULL;
        if (dome__program_has_place(p) && (!host || host->lost)) {
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
        h->architecture = g_strdup("");
        g_ptr_array_add(table->hosts, h);
        g_ptr_array_sort(table->hosts, by_name);
    }
    h->node = node;
    h->slots = slots;
    h->there = true;
    h->left = h->lost = false;
    return g_strdup("done");
}

static char *note_load(dome_table *table, const dome_record *o)
{
    dome_host *h = dome__table_host(table, dome__record_get(o, "name"));
    const char *architecture = dome__record_get(o, "architecture");
    int64_t load, owner;
    if (!h || !dome__record_number(o, "load", 0, 100000000, 0, &load) ||
        !dome__record_number(o, "owner", 0, DOME_OWNER_LEAVE_HOST, 0, &owner))
        return g_strdup("no the load is not understood");
    h->load = load;
    h->owner = (dome_owner_phase)owner;
    g_free(h->architecture);
    h->architecture = g_strdup(architecture ? architecture : "");
    return g_strdup(DOME_TABLE_SAME);
}

static char *tick(dome_table *table, const dome_record *o)
{
    int64_t seconds;
    if (!dome__record_number(o, "seconds", 1, DOME_TABLE_TICK, 1, &seconds))
        return g_strdup("no the time is not understood");
    table->clock += seconds;
    for (guint i = 0; i < table->programs->len; i++) {
        dome_program *p = table->programs->pdata[i];
        if (p->state == DOME_PROGRAM_RUNS)
            p->plan.used += seconds * p->size;
        else if (p->state != DOME_PROGRAM_ENDED && p->wish == DOME_WISH_RUN)
            p->plan.waited += seconds;
    }
    return g_strdup(DOME_TABLE_SAME);
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
    } verbs[] = {{"submit", submit},
                 {"wish", about_program},
                 {"limits", about_program},
                 {"started", about_program},
                 {"stopped", about_program},
                 {"goes-on", about_program},
                 {"size", about_program},
                 {"checkpoint", about_program},
                 {"ended", about_program},
                 {"gone", about_program},
                 {"forget", about_program},
                 {"lost", lose_host},
                 {"host", add_host},
                 {"load", note_load},
                 {"tick", tick},
                 {"use", use_host},
                 {"leave", leave},
                 {"members", count_members}};
    for (size_t i = 0; i < G_N_ELEMENTS(verbs); i++)
        if (strcmp(verbs[i].verb, order->verb) == 0) {
            char *answer = verbs[i].act(table, order);
            if (!g_str_has_prefix(answer, "done"))
                return answer;
            table->serial += dome__table_has_majority(table);
            lose_programs(table);
            if (dome__table_decide(table) && strcmp(answer, DOME_TABLE_SAME) == 0) {
                g_free(answer);
                answer = g_strdup("done");
            }
            forget_old(table);
            return answer;
        }
    return g_strdup("no the order is not understood");
}
