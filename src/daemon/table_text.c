/* A table as text: `table`, a line for each host and program, and `end`, which says how many there are. */
#include "daemon/table.h"

#include <string.h>

dome_record dome__table_program_record(const dome_program *p, bool whole)
{
    dome_record r = dome__record_new("program");
    const struct {
        const char *name;
        int64_t value;
    } numbers[] = {{"id", p->id},
                   {"uid", p->uid},
                   {"gid", p->gid},
                   {"tasks", p->tasks},
                   {"least", p->least},
                   {"priority", p->priority},
                   {"again", p->again},
                   {"state", p->state},
                   {"wish", p->wish},
                   {"attempt", p->attempt},
                   {"size", p->size},
                   {"target", p->target},
                   {"rigid", p->rigid},
                   {"checkpoint", p->checkpoint},
                   {"status", p->status},
                   {"submitted", p->submitted},
                   {"started", p->started},
                   {"ended", p->ended},
                   {"used", p->plan.used},
                   {"waited", p->plan.waited},
                   {"held", p->plan.held},
                   {"parks", p->plan.parks},
                   {"parked", p->plan.parked},
                   {"changed", p->plan.changed},
                   {"floor", p->plan.floor}};
    for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++)
        dome__record_add_number(&r, numbers[i].name, numbers[i].value);
    dome__record_add(&r, "owner", p->owner);
    dome__record_add(&r, "directory", p->directory);
    dome__record_add(&r, "output", p->output);
    dome__record_add(&r, "host", p->host);
    dome__record_add(&r, "home", p->home);
    dome__record_add(&r, "why", p->why);
    dome__record_add_all(&r, "word", p->words);
    dome__record_add(&r, "topology", p->plan.topology);
    dome__places_add_to(&p->plan.is, &r, "is");
    dome__places_add_to(&p->plan.goal, &r, "goal");
    if (whole) {
        dome__record_add(&r, "nonce", p->plan.nonce);
        dome__record_add(&r, "limits", p->limits);
        dome__record_add_all(&r, "option", p->options);
        dome__record_add_all(&r, "env", p->environment);
    }
    return r;
}

dome_record dome__table_host_record(const dome_host *h)
{
    dome_record r = dome__record_new("host");
    dome__record_add(&r, "name", h->name);
    dome__record_add_number(&r, "node", h->node);
    dome__record_add_number(&r, "slots", h->slots);
    dome__record_add_number(&r, "there", h->there);
    dome__record_add_number(&r, "left", h->left);
    dome__record_add_number(&r, "lost", h->lost);
    dome__record_add_number(&r, "use", h->use);
    dome__record_add_number(&r, "load", h->load);
    dome__record_add_number(&r, "owner", h->owner);
    dome__record_add(&r, "architecture", h->architecture);
    return r;
}

/* Takes the record over. */
static void append(GString *text, dome_record record)
{
    char *line = dome__record_line(&record);
    g_string_append(text, line);
    g_string_append_c(text, '\n');
    g_free(line);
    dome__record_clear(&record);
}

char *dome__table_text(const dome_table *table)
{
    GString *text = g_string_new(NULL);
    dome_record head = dome__record_new("table"), end = dome__record_new("end");
    dome__record_add_number(&head, "version", DOME_DAEMON_VERSION);
    dome__record_add_number(&head, "serial", table->serial);
    dome__record_add_number(&head, "next", table->next);
    dome__record_add_number(&head, "clock", table->clock);
    append(text, head);
    for (guint i = 0; i < table->hosts->len; i++)
        append(text, dome__table_host_record(table->hosts->pdata[i]));
    for (guint i = 0; i < table->programs->len; i++)
        append(text, dome__table_program_record(table->programs->pdata[i], true));
    dome__record_add_number(&end, "lines", table->hosts->len + table->programs->len);
    append(text, end);
    return g_string_free(text, FALSE);
}

/* ---- reading ---- */

static char *copy(const dome_record *r, const char *name)
{
    const char *value = dome__record_get(r, name);
    return g_strdup(value ? value : "");
}

/* False if one is missing or out of range. */
static bool take(const dome_record *r, const char *name, int64_t least, int64_t most, int64_t *to)
{
    return dome__record_get(r, name) && dome__record_number(r, name, least, most, 0, to);
}

static bool take_bool(const dome_record *r, const char *name, bool *to)
{
    int64_t value = 0;
    const bool good = take(r, name, 0, 1, &value);
    *to = value != 0;
    return good;
}

static bool take_numbers(const dome_record *r, dome_program *p)
{
    int64_t state = 0, wish = 0;
    const bool good = take(r, "id", 1, G_MAXINT64 - 1, &p->id) && take(r, "uid", 0, UINT32_MAX, &p->uid) &&
                      take(r, "gid", 0, UINT32_MAX, &p->gid) && take(r, "tasks", 1, 1000000, &p->tasks) &&
                      take(r, "least", 1, p->tasks, &p->least) && take(r, "priority", -1000, 1000, &p->priority) &&
                      take_bool(r, "again", &p->again) && take(r, "state", 0, DOME_PROGRAM_ENDED, &state) &&
                      take(r, "wish", 0, DOME_WISH_END, &wish) && take(r, "attempt", 0, G_MAXINT64 - 1, &p->attempt) &&
                      take(r, "size", 0, 1000000, &p->size) && take(r, "target", 0, 1000000, &p->target) &&
                      take_bool(r, "rigid", &p->rigid) && take(r, "checkpoint", 0, G_MAXINT64, &p->checkpoint) &&
                      take(r, "status", 0, 255, &p->status) && take(r, "submitted", 0, G_MAXINT64, &p->submitted) &&
                      take(r, "started", 0, G_MAXINT64, &p->started) && take(r, "ended", 0, G_MAXINT64, &p->ended);
    p->state = (dome_program_state)state;
    p->wish = (dome_program_wish)wish;
    return good;
}

static bool take_plan(const dome_record *r, dome_program_plan *plan)
{
    char *mistake = NULL;
    plan->topology = copy(r, "topology");
    plan->nonce = copy(r, "nonce");
    plan->wishes = plan->topology[0] ? dome__topologies_parse(plan->topology, &mistake) : NULL;
    const bool good = !mistake && take(r, "used", 0, G_MAXINT64 / 2, &plan->used) &&
                      take(r, "waited", 0, G_MAXINT64 / 2, &plan->waited) && take(r, "changed", 0, G_MAXINT64, &plan->changed) &&
                      dome__record_number(r, "floor", 0, 1000000, 0, &plan->floor) && take_bool(r, "held", &plan->held) &&
                      take_bool(r, "parks", &plan->parks) && take_bool(r, "parked", &plan->parked) &&
                      dome__places_from(r, "is", &plan->is) && dome__places_from(r, "goal", &plan->goal);
    g_free(mistake);
    return good;
}

static bool read_program(dome_table *table, const dome_record *r)
{
    dome_program *p = g_new0(dome_program, 1);
    p->owner = copy(r, "owner");
    p->directory = copy(r, "directory");
    p->output = copy(r, "output");
    p->host = copy(r, "host");
    p->home = copy(r, "home");
    p->why = copy(r, "why");
    p->limits = copy(r, "limits");
    p->words = dome__record_all(r, "word");
    p->options = dome__record_all(r, "option");
    p->environment = dome__record_all(r, "env");
    g_ptr_array_add(table->programs, p);
    return take_numbers(r, p) && take_plan(r, &p->plan) && p->words[0] && p->id < table->next;
}

static bool read_host(dome_table *table, const dome_record *r)
{
    dome_host *h = g_new0(dome_host, 1);
    int64_t use = 0, owner = 0;
    h->name = copy(r, "name");
    h->architecture = copy(r, "architecture");
    g_ptr_array_add(table->hosts, h);
    const bool good = take(r, "node", 0, UINT32_MAX, &h->node) && take(r, "slots", 1, 1000000, &h->slots) &&
                      take_bool(r, "there", &h->there) && take_bool(r, "left", &h->left) && take_bool(r, "lost", &h->lost) &&
                      take(r, "use", 0, DOME_HOST_DRAINED, &use) && take(r, "load", 0, 100000000, &h->load) &&
                      take(r, "owner", 0, DOME_OWNER_LEAVE_HOST, &owner) && h->name[0];
    h->owner = (dome_owner_phase)owner;
    h->use = (dome_host_use)use;
    return good;
}

/* One line; *ended: it was the last. */
static bool read_line(dome_table *table, const dome_record *r, bool *ended)
{
    int64_t lines = 0;
    if (strcmp(r->verb, "host") == 0)
        return read_host(table, r);
    if (strcmp(r->verb, "program") == 0)
        return read_program(table, r);
    *ended = true;
    return strcmp(r->verb, "end") == 0 && take(r, "lines", 0, G_MAXINT64, &lines) &&
           lines == (int64_t)table->hosts->len + table->programs->len;
}

static bool read_head(dome_table *table, const dome_record *r, char **message)
{
    int64_t version = 0;
    if (strcmp(r->verb, "table") != 0 || !take(r, "version", 0, G_MAXINT64, &version)) {
        *message = g_strdup("it is no table of programs");
        return false;
    }
    if (version != DOME_DAEMON_VERSION) {
        *message = g_strdup_printf("it is of version %" G_GINT64_FORMAT ", this is version %d", version, DOME_DAEMON_VERSION);
        return false;
    }
    if (take(r, "serial", 0, G_MAXINT64 - 1, &table->serial) && take(r, "next", 1, G_MAXINT64 - 1, &table->next) &&
        take(r, "clock", 0, G_MAXINT64 / 2, &table->clock))
        return true;
    *message = g_strdup("its first line is not complete");
    return false;
}

dome_table *dome__table_read(const char *text, char **message)
{
    dome_table *table = dome__table_new();
    bool good = true, ended = false;
    *message = NULL;
    for (guint number = 1; good && !ended; number++) {
        const char *stop = strchr(text, '\n');
        dome_record r = {0};
        good = stop && dome__record_parse(text, (size_t)(stop - text), &r) &&
               (number == 1 ? read_head(table, &r, message) : read_line(table, &r, &ended));
        if (!good && !*message)
            *message = g_strdup_printf("line %u is damaged or missing", number);
        dome__record_clear(&r);
        text = stop ? stop + 1 : text;
    }
    if (good && !*text)
        return table;
    if (!*message)
        *message = g_strdup("there is text behind its end");
    dome__table_free(table);
    return NULL;
}
