#include "daemon/locals.h"

#include "daemon/ask_hub.h"
#include "daemon/keeper.h"
#include "system/child.h"
#include "system/environment_variables.h"
#include "system/files.h"
#include "system/io.h"
#include "transport/address.h"
#include "wire/order.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Seconds: between two looks at a keeper, whose end is told by its file, and two questions to a hub; for an order; until a
 * program that does not end is killed, and one that first writes a checkpoint; until an order is given again, at first, and at
 * most if it is refused again and again; until a program of a lost host is started here, so that a side that was cut off has
 * ended it. */
static const double LOOK = 5, ASK = 15, END = 10, PARK = 90, AGAIN = 1, AGAIN_MOST = 30, SOON = 0.1, FENCE = 3;
enum { ORDER_SECONDS = 60, ASK_SECONDS = 5, TASKS_MOST = 1000000 };

typedef enum job { JOB_NONE, JOB_ASK, JOB_STOP, JOB_GO, JOB_SIZE } job;

typedef struct local {
    int64_t id, attempt;
    bool known;  /* its keeper was looked for */
    bool runs;   /* as it was last seen */
    bool told;   /* that it runs, or has ended */
    bool fenced; /* it was ended because another side may start it */
    pid_t run;   /* of `dome run` */
    double born; /* seen first */
    double look_at, ask_at, order_at, end_at;
    int ends; /* signals sent to end it */
    job job;
    pid_t child; /* that does the job */
    int fd;
    bool asks_again; /* its tasks may have changed */
    char *size;      /* the last order about its places, */
    int refusals;    /* so often in a row not carried out */
    double size_at;  /* and not given again until then */
    dome_places on;  /* as its hub has said last; the table may not know it yet. Empty: not yet */
    GString *said;
} local;

struct dome_locals {
    dome_locals_setup setup;
    GPtrArray *all; /* local */
};

static void free_local(void *item)
{
    local *l = item;
    if (l->fd >= 0)
        close(l->fd);
    dome__child_kill(l->child);
    g_string_free(l->said, TRUE);
    g_free(l->size);
    dome__places_clear(&l->on);
    g_free(l);
}

static local *find(const dome_locals *locals, int64_t id, int64_t attempt)
{
    for (guint i = 0; i < locals->all->len; i++) {
        local *l = locals->all->pdata[i];
        if (l->id == id && l->attempt == attempt)
            return l;
    }
    return NULL;
}

static local *add(dome_locals *locals, int64_t id, int64_t attempt, double now)
{
    local *l = g_new0(local, 1);
    *l = (local){.id = id, .attempt = attempt, .fd = -1, .born = now, .on = dome__places_new(), .said = g_string_new(NULL)};
    g_ptr_array_add(locals->all, l);
    return l;
}

dome_locals *dome__locals_new(const dome_locals_setup *setup, double now)
{
    dome_locals *locals = g_new0(dome_locals, 1);
    locals->setup = *setup;
    locals->all = g_ptr_array_new_with_free_func(free_local);
    GDir *folder = g_dir_open(setup->folder, 0, NULL);
    for (const char *name; folder && (name = g_dir_read_name(folder));) {
        gint64 id, attempt;
        int end = 0;
        if (sscanf(name, "j%" G_GINT64_FORMAT ".%" G_GINT64_FORMAT ".run%n", &id, &attempt, &end) == 2 && end && !name[end] &&
            !find(locals, id, attempt))
            add(locals, id, attempt, now);
    }
    if (folder)
        g_dir_close(folder);
    return locals;
}

void dome__locals_free(dome_locals *locals)
{
    if (!locals)
        return;
    g_ptr_array_unref(locals->all);
    g_free(locals);
}

/* ---- saying ---- */

static dome_record about(const local *l, const char *verb)
{
    dome_record order = dome__record_new(verb);
    dome__record_add_number(&order, "program", l->id);
    dome__record_add_number(&order, "attempt", l->attempt);
    return order;
}

/* Takes the order over. */
static void say(const dome_locals *locals, dome_record order)
{
    locals->setup.send(locals->setup.ctx, &order);
    dome__record_clear(&order);
}

static void say_state(const dome_locals *locals, const local *l, const char *verb)
{
    dome_record order = about(l, verb);
    if (strcmp(verb, "started") == 0)
        dome__record_add_number(&order, "time", g_get_real_time() / G_USEC_PER_SEC);
    say(locals, order);
}

static void say_end(const dome_locals *locals, const local *l, int64_t status, const char *why, int64_t time)
{
    dome_record order = about(l, "ended");
    dome__record_add_number(&order, "status", status);
    dome__record_add(&order, "why", why);
    dome__record_add_number(&order, "time", time);
    say(locals, order);
}

/* ---- starting ---- */

/* Whether its virtual machine is for this host alone: then no host can be added later. */
static bool stays_here(const dome_locals *locals, const dome_program *p)
{
    char address[INET_ADDRSTRLEN];
    const bool here = dome__places_get(&p->plan.goal, locals->setup.name) == p->target;
    return locals->setup.alone || (here && (p->tasks == 1 || !dome__outside_interface(address)));
}

/* A hostfile for `dome run --hosts`: where the tasks are to be. NULL: on this host alone. */
static char *write_hosts(const dome_locals *locals, const dome_program *p, const local *l)
{
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < p->plan.goal.all->len; i++) {
        const dome_place *place = &g_array_index(p->plan.goal.all, dome_place, i);
        g_string_append_printf(text, "%s slots=%" G_GINT64_FORMAT "\n", place->host, place->tasks);
    }
    char *path = g_strdup_printf("%s/j%" G_GINT64_FORMAT ".%" G_GINT64_FORMAT ".hosts", locals->setup.folder, l->id, l->attempt);
    const char *reason;
    if (stays_here(locals, p) || !dome__file_replace(path, text->str, 0644, &reason))
        g_clear_pointer(&path, g_free);
    g_string_free(text, TRUE);
    return path;
}

static void add_word(GPtrArray *words, const char *word)
{
    g_ptr_array_add(words, g_strdup(word));
}

/* Its greatest number is this daemon's business alone, since its user may change it. */
static char **words_of(const dome_locals *locals, const dome_program *p, const char *hosts)
{
    GPtrArray *words = g_ptr_array_new();
    char number[32];
    add_word(words, locals->setup.dome);
    add_word(words, "run");
    const struct {
        const char *option;
        int64_t value;
    } numbers[] = {{"-n", p->target}, {"--min", p->least}, {"--max", TASKS_MOST}};
    for (size_t i = 0; i < (p->least < p->tasks ? G_N_ELEMENTS(numbers) : 1); i++) {
        g_snprintf(number, sizeof number, "%" G_GINT64_FORMAT, numbers[i].value);
        add_word(words, numbers[i].option);
        add_word(words, number);
    }
    if (hosts) {
        add_word(words, "--hosts");
        add_word(words, hosts);
    }
    for (char **option = p->options; *option; option++)
        add_word(words, *option);
    add_word(words, "--");
    for (char **word = p->words; *word; word++)
        add_word(words, *word);
    g_ptr_array_add(words, NULL);
    return (char **)g_ptr_array_free(words, FALSE);
}

/* After a loss, or on its way to another host, it goes on from its newest checkpoint, if it writes any. */
static char **variables_of(const dome_program *p)
{
    const char *options = g_environ_getenv(p->environment, DOME_VARIABLE_OPTIONS);
    GPtrArray *variables = g_ptr_array_new();
    if (p->attempt > 1 && dome__program_saves(p))
        g_ptr_array_add(variables, g_strdup_printf(DOME_VARIABLE_OPTIONS "=%s --dome-restart=auto", options ? options : ""));
    g_ptr_array_add(variables, g_strdup_printf(DOME_VARIABLE_SUBMITTED "=j%" G_GINT64_FORMAT, p->id));
    g_ptr_array_add(variables, NULL);
    return (char **)g_ptr_array_free(variables, FALSE);
}

static void start(const dome_locals *locals, const dome_program *p, local *l, double now)
{
    char *message = NULL, *hosts = write_hosts(locals, p, l), **words = words_of(locals, p, hosts), **variables = variables_of(p);
    if (dome__keeper_start(locals->setup.folder, p, words, hosts, variables, &message)) {
        l->runs = l->told = true;
        l->look_at = now + SOON;
        l->ask_at = now + AGAIN;
        say_state(locals, l, "started");
    } else {
        say_end(locals, l, 126, message, g_get_real_time() / G_USEC_PER_SEC);
        l->told = true;
    }
    g_free(message);
    g_free(hosts);
    g_strfreev(words);
    g_strfreev(variables);
}

/* ---- orders to the hub ---- */

static void begin(const dome_program *p, local *l, job job, const char *order)
{
    l->child = dome__ask_hub(p, l->run, order, job == JOB_ASK ? ASK_SECONDS : ORDER_SECONDS, &l->fd);
    if (l->child < 0) {
        l->child = 0;
        l->fd = -1;
        return;
    }
    l->job = job;
    g_string_truncate(l->said, 0);
}

/* A program without a hub is one process on this host. */
static void stop_alone(const dome_locals *locals, const local *l, bool stop)
{
    if (kill(-l->run, stop ? SIGSTOP : SIGCONT) == 0)
        say_state(locals, l, stop ? "stopped" : "goes-on");
}

/* The order stays the hub's: its answer is not waited for. */
static void abandon(local *l)
{
    close(l->fd);
    l->fd = -1;
    dome__child_kill(l->child);
    l->child = 0;
    l->job = JOB_NONE;
    l->asks_again = true;
}

static bool is_to_change(const dome_program *p, const local *l)
{
    return p->state == DOME_PROGRAM_RUNS && !p->rigid && p->tasks > 1 && !dome__places_equal(&p->plan.is, &p->plan.goal) &&
           !l->asks_again && (l->on.all->len == 0 || dome__places_equal(&l->on, &p->plan.is));
}

/* False: this very order has been refused a moment ago. */
static bool change(const dome_program *p, local *l, double now)
{
    char *line = dome__places_order(&p->plan.is, &p->plan.goal, dome__program_least(p), p->tasks);
    const bool same = g_strcmp0(line, l->size) == 0, due = !same || now >= l->size_at;
    if (!same)
        l->refusals = 0;
    if (due) {
        g_free(l->size);
        l->size = g_strdup(line);
        begin(p, l, JOB_SIZE, line);
    }
    g_free(line);
    return due;
}

static void order(const dome_locals *locals, const dome_program *p, local *l, double now)
{
    const bool stopped = p->wish == DOME_WISH_STOP || p->plan.held, stop = stopped && p->state == DOME_PROGRAM_RUNS,
               go = p->wish == DOME_WISH_RUN && !stopped && p->state == DOME_PROGRAM_STOPPED;
    if (l->job == JOB_SIZE && l->fd >= 0 && stop)
        abandon(l);
    if (l->job != JOB_NONE || !l->run || now < l->order_at)
        return;
    l->order_at = now + SOON;
    if ((stop || go) && p->tasks == 1) {
        stop_alone(locals, l, stop);
    } else if (stop || go) {
        begin(p, l, stop ? JOB_STOP : JOB_GO, stop ? "suspend" : "resume");
    } else if (is_to_change(p, l) && change(p, l, now)) {
        return;
    } else if ((now >= l->ask_at || l->asks_again) && p->tasks > 1) {
        l->ask_at = now + ASK;
        begin(p, l, JOB_ASK, NULL);
    } else {
        l->order_at = 0;
    }
}

/* A host may have a longer name there. */
static void name_hosts(const dome_table *table, const dome_record *is, dome_places *on)
{
    dome_places said;
    *on = dome__places_new();
    if (!dome__places_from(is, "on", &said))
        return;
    for (guint i = 0; i < said.all->len; i++) {
        const dome_place *place = &g_array_index(said.all, dome_place, i);
        const char *name = place->host;
        for (guint k = 0; k < table->hosts->len; k++)
            if (dome__order_same_host(((const dome_host *)table->hosts->pdata[k])->name, name))
                name = ((const dome_host *)table->hosts->pdata[k])->name;
        dome__places_set(on, name, dome__places_get(on, name) + place->tasks);
    }
    dome__places_clear(&said);
}

static void take_report(const dome_locals *locals, const dome_table *table, const dome_program *p, local *l, const char *answer)
{
    int64_t tasks, checkpoint, suspended;
    dome_record is, order;
    dome_places on;
    if (!dome__record_parse(answer, strlen(answer), &is))
        return;
    const bool good = dome__record_number(&is, "tasks", 1, 1000000, 0, &tasks) && tasks > 0 &&
                      dome__record_number(&is, "checkpoint", -1, G_MAXINT64, 0, &checkpoint) &&
                      dome__record_number(&is, "suspended", 0, 1, 0, &suspended);
    name_hosts(table, &is, &on);
    dome__record_clear(&is);
    if (!good) {
        dome__places_clear(&on);
        return;
    }
    if (!dome__places_equal(&on, &p->plan.is)) {
        order = about(l, "size");
        dome__record_add_number(&order, "tasks", tasks);
        dome__places_add_to(&on, &order, "on");
        say(locals, order);
    }
    dome__places_clear(&l->on);
    l->on = on;
    l->asks_again = false;
    if (checkpoint > p->checkpoint) {
        order = about(l, "checkpoint");
        dome__record_add_number(&order, "number", checkpoint);
        say(locals, order);
    }
    if (suspended != (p->state == DOME_PROGRAM_STOPPED))
        say_state(locals, l, suspended ? "stopped" : "goes-on");
}

/* Where its tasks are then, a report says. A program that cannot change, or does not for so long, is left alone from now on:
 * until it has changed after all. */
static void take_size(const dome_locals *locals, local *l, const char *answer, double now)
{
    const bool done = g_str_has_prefix(answer, "done"), none = strcmp(answer, "none") == 0;
    l->asks_again = true;
    l->refusals = done || none ? 0 : l->refusals + 1;
    l->size_at = now + MIN(AGAIN * l->refusals, AGAIN_MOST);
    if (done || none || dome__order_is_for_now(answer))
        return;
    dome_record order = about(l, "size");
    dome__record_add_number(&order, "rigid", 1);
    say(locals, order);
}

static void take_answer(const dome_locals *locals, const dome_table *table, const dome_program *p, local *l, double now)
{
    const char *answer = l->said->str;
    const job job = l->job;
    const bool done = g_str_has_prefix(answer, "done");
    l->job = JOB_NONE;
    l->order_at = done || job == JOB_ASK ? 0 : now + (job == JOB_SIZE || strcmp(answer, "none") == 0 ? SOON : AGAIN);
    if (job == JOB_ASK && g_str_has_prefix(answer, "is "))
        take_report(locals, table, p, l, answer);
    else if (job == JOB_SIZE)
        take_size(locals, l, answer, now);
    else if (done && job == JOB_STOP)
        say_state(locals, l, "stopped");
    else if (done && job == JOB_GO)
        say_state(locals, l, "goes-on");
}

/* ---- ends ---- */

static void end(local *l, bool at_once, double patience, double now)
{
    if (!l->run || now < l->end_at)
        return;
    if (l->ends++ == 0 && !at_once) {
        kill(l->run, SIGTERM);
        kill(-l->run, SIGCONT); /* it may be stopped */
        l->end_at = now + patience;
    } else {
        kill(-l->run, SIGKILL);
        l->end_at = now + AGAIN;
    }
    l->look_at = now + SOON;
}

/* Looks whether its keeper is there. Returns whether it is over, and what of it is in `last`, to be cleared. */
static bool look(const dome_locals *locals, local *l, dome_record *last, double now)
{
    if (l->known && now < l->look_at)
        return false;
    const dome_keeper_state state = dome__keeper_look(locals->setup.folder, l->id, l->attempt, &l->run, last);
    l->known = true;
    l->runs = state == DOME_KEEPER_RUNS;
    l->look_at = now + (l->runs && !l->run ? SOON : LOOK);
    return !l->runs;
}

/* Its keeper is not there: it has never begun, has ended, or is gone. */
static void take_over(const dome_locals *locals, const dome_locals_view *view, const dome_program *p, local *l,
                      const dome_record *last, double now)
{
    int64_t status, time;
    if (last->verb && !l->fenced) {
        dome__record_number(last, "status", 0, 255, 1, &status);
        dome__record_number(last, "time", 0, G_MAXINT64, 0, &time);
        say_end(locals, l, status, dome__record_get(last, "why"), time);
        l->told = true;
    } else if (p->state == DOME_PROGRAM_STARTS && !l->told) {
        const bool early = p->attempt > 1 && !p->plan.parked && now < l->born + FENCE;
        l->look_at = now + SOON;
        if (p->wish == DOME_WISH_END)
            say_end(locals, l, 143, "it was ended before it began", g_get_real_time() / G_USEC_PER_SEC);
        else if (view->may_start && !early)
            start(locals, p, l, now);
    } else {
        say_state(locals, l, "gone");
        l->told = true;
    }
}

static bool is_here(const dome_locals *locals, const dome_program *p)
{
    return strcmp(p->host, locals->setup.name) == 0 && p->state != DOME_PROGRAM_ENDED && p->state != DOME_PROGRAM_WAITS;
}

/* Returns whether nothing is left of it. */
static bool turn(const dome_locals *locals, const dome_locals_view *view, local *l, double now)
{
    const dome_program *p = dome__table_program(view->table, l->id);
    const bool mine = p && p->attempt == l->attempt && is_here(locals, p);
    dome_record last = {0};
    const bool over = look(locals, l, &last, now);
    bool nothing = false;
    if (over && !mine) {
        dome__keeper_forget(locals->setup.folder, l->id, l->attempt);
        if (p && p->state == DOME_PROGRAM_ENDED && p->again)
            dome__keeper_forget_output(p);
        nothing = true;
    } else if (over && !view->must_end) {
        take_over(locals, view, p, l, &last, now);
    } else if (l->runs && (!mine || view->must_end)) {
        l->fenced = true;
        end(l, view->must_end, END, now);
    } else if (l->runs && p->wish == DOME_WISH_END) {
        end(l, false, END, now);
    } else if (l->runs && p->plan.parks) {
        end(l, false, PARK, now); /* with a checkpoint */
    } else if (l->runs && p->state == DOME_PROGRAM_STARTS) {
        say_state(locals, l, "started"); /* by the daemon before this one */
        l->look_at = now + SOON;
    } else if (l->runs) {
        order(locals, p, l, now);
    }
    dome__record_clear(&last);
    return nothing;
}

void dome__locals_turn(dome_locals *locals, const dome_locals_view *view, double now)
{
    for (guint i = 0; i < view->table->programs->len; i++) {
        const dome_program *p = view->table->programs->pdata[i];
        if (is_here(locals, p) && !find(locals, p->id, p->attempt))
            add(locals, p->id, p->attempt, now);
    }
    for (guint i = locals->all->len; i-- > 0;) {
        local *l = locals->all->pdata[i];
        if (l->job != JOB_NONE && l->fd < 0) {
            const dome_program *p = dome__table_program(view->table, l->id);
            if (p && p->attempt == l->attempt)
                take_answer(locals, view->table, p, l, now);
            l->job = JOB_NONE;
        }
        if (turn(locals, view, l, now))
            g_ptr_array_remove_index(locals->all, i);
    }
}

void dome__locals_look(dome_locals *locals)
{
    for (guint i = 0; i < locals->all->len; i++)
        ((local *)locals->all->pdata[i])->look_at = 0;
}

/* ---- polling ---- */

void dome__locals_poll(dome_locals *locals, GArray *polls)
{
    for (guint i = 0; i < locals->all->len; i++) {
        const local *l = locals->all->pdata[i];
        const struct pollfd p = {.fd = l->fd, .events = POLLIN};
        g_array_append_val(polls, p);
    }
}

void dome__locals_hear(dome_locals *locals, const struct pollfd *polls, guint count, double now)
{
    (void)now;
    for (guint i = 0; i < locals->all->len && i < count; i++) {
        local *l = locals->all->pdata[i];
        char buffer[1024];
        if (l->fd < 0 || !polls[i].revents)
            continue;
        const ssize_t n = dome__io_read_some(l->fd, buffer, sizeof buffer);
        if (n > 0) {
            g_string_append_len(l->said, buffer, n);
            continue;
        }
        close(l->fd);
        l->fd = -1;
        dome__child_reap(l->child);
        l->child = 0;
    }
}

double dome__locals_next(const dome_locals *locals, double now)
{
    double next = now + LOOK;
    for (guint i = 0; i < locals->all->len; i++) {
        const local *l = locals->all->pdata[i];
        const double moments[] = {l->look_at, l->order_at, l->size_at, l->ends ? l->end_at : 0};
        for (size_t k = 0; k < G_N_ELEMENTS(moments); k++)
            if (moments[k] > now)
                next = MIN(next, moments[k]);
    }
    return next;
}
