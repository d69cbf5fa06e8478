#include "daemon/daemon.h"

#include "daemon/ask_daemon.h"
#include "daemon/daemon_group.h"
#include "daemon/keeper.h"
#include "daemon/locals.h"
#include "daemon/remote_line.h"
#include "daemon/requests.h"
#include "daemon/server.h"
#include "system/files.h"
#include "system/say.h"
#include "system/time.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* Seconds: between two attempts to write the table, to come into the group, or to compare tables; until the programs of a daemon
 * that has begun on a side without a majority are ended; for a goodbye. */
static const double AGAIN = 5, REJOIN = 2, COMPARE = 2, ALONE = 10, GOODBYE = 1;

/* Seconds between two ticks, while something waits for time alone, and otherwise. */
static const double TICK = 1, SLOW_TICK = 5;
enum { TABLE_MOST = 256 << 20 };

/* A user who waits for an answer: to an order, or for the end of a program. */
typedef struct ask {
    int64_t number; /* of the order; 0: of none */
    int64_t program;
    uint64_t client;
    bool submits, came;
    char *answer;
} ask;

/* A child that asks another host's daemon. */
typedef struct abroad {
    pid_t child;
    uid_t uid;
} abroad;

typedef struct dome_daemon {
    const dome_daemon_setup *setup;
    dome_engine *engine; /* NULL: it has ended, and is sought */
    dome_group *group;
    dome_server *server;
    dome_locals *locals;
    dome_host_watch *watch;
    GArray *abroad; /* abroad: requests that go to other hosts */
    GArray *asks;   /* ask */
    GQueue *late;   /* lines that the engine has not taken yet */
    int64_t next_ask;
    int signals, files;
    bool dirty, saved, unsaid, ending, left, joined, lost_majority;
    double begun, minority_since, save_at, engine_at, compare_at, end_at;
    double ticked_at, tick_at; /* the last tick came; this daemon sends one */
    int status;
} dome_daemon;

static void clear_ask(void *item)
{
    g_free(((ask *)item)->answer);
}

/* ---- the group ---- */

static void send_late(dome_daemon *d)
{
    while (d->engine && !g_queue_is_empty(d->late)) {
        const char *line = g_queue_peek_head(d->late);
        if (!d->setup->engine->send(d->engine, line, strlen(line)))
            return;
        g_free(g_queue_pop_head(d->late));
    }
}

static void send(void *ctx, const dome_record *message)
{
    enum { LATE_MOST = 10000 };
    dome_daemon *d = ctx;
    if (g_queue_get_length(d->late) < LATE_MOST)
        g_queue_push_tail(d->late, dome__record_line(message));
    send_late(d);
}

static void applied(void *ctx, const dome_record *order, bool own, const char *answer)
{
    dome_daemon *d = ctx;
    int64_t number;
    d->dirty |= g_str_has_prefix(answer, "done") && strcmp(answer, DOME_TABLE_SAME) != 0;
    if (strcmp(order->verb, "tick") == 0)
        d->ticked_at = d->tick_at = dome__now();
    d->left |= own && strcmp(order->verb, "leave") == 0;
    if (!own || !dome__record_number(order, "ask", 1, G_MAXINT64, 0, &number) || !number)
        return;
    for (guint i = 0; i < d->asks->len; i++) {
        ask *a = &g_array_index(d->asks, ask, i);
        if (a->number == number && !a->came) {
            a->came = true;
            a->answer = g_strdup(answer);
        }
    }
}

static void foreign(void *ctx, uint32_t node, int64_t version, bool leave)
{
    dome_daemon *d = ctx;
    dome__say("domed: host %u has a daemon of version %" G_GINT64_FORMAT ", this one is of version %d; they do not work together",
              node, version, DOME_DAEMON_VERSION);
    if (leave) {
        dome__say("domed: most daemons are of the other version: this one ends; its programs go on");
        d->ending = d->left = true;
        d->status = 3;
    }
}

static void delivered(void *ctx, uint32_t node, const char *text, size_t length)
{
    dome__group_deliver(((dome_daemon *)ctx)->group, node, text, length);
}

static void members(void *ctx, const uint32_t *nodes, size_t count, const uint32_t *lost, size_t lost_count)
{
    dome_daemon *d = ctx;
    d->lost_majority |= lost_count > 0;
    dome__group_members(d->group, d->setup->engine->node(d->engine), nodes, count, lost, lost_count);
}

static bool open_engine(dome_daemon *d, double now)
{
    char *message = NULL;
    const dome_engine_events events = {delivered, members, d};
    d->engine_at = now + REJOIN;
    d->engine = d->setup->engine->open(&events, &message);
    if (!d->engine && !d->unsaid)
        dome__say("domed: there is no group by %s: %s; nothing is started until there is", d->setup->engine->name, message);
    if (d->engine && d->unsaid)
        dome__say("domed: there is a group by %s", d->setup->engine->name);
    d->unsaid = !d->engine;
    g_free(message);
    return d->engine != NULL;
}

/* Corosync has ended, or is not there yet. */
static void lose_engine(dome_daemon *d, double now)
{
    d->setup->engine->close(d->engine);
    d->engine = NULL;
    d->engine_at = now;
    dome__group_lost(d->group);
    g_queue_foreach(d->late, (GFunc)(void (*)(void))g_free, NULL);
    g_queue_clear(d->late);
}

/* ---- time, and what this host is like ---- */

/* How many daemons that are there come before this one. */
static int place_of(const dome_daemon *d, const dome_table *table)
{
    int before = 0;
    for (guint i = 0; i < table->hosts->len; i++) {
        const dome_host *h = table->hosts->pdata[i];
        if (strcmp(h->name, d->setup->name) == 0)
            break;
        before += h->there;
    }
    return before;
}

/* The first daemon tells the others how much time has passed; if it is silent, the next does. -1: no time passes. */
static double next_tick(const dome_daemon *d)
{
    const dome_table *table = dome__group_table(d->group);
    bool alive = false;
    if (!d->engine || !dome__group_is_settled(d->group))
        return -1;
    for (guint i = 0; i < table->programs->len && !alive; i++)
        alive = ((const dome_program *)table->programs->pdata[i])->state != DOME_PROGRAM_ENDED;
    return alive ? d->tick_at + (dome__table_is_restless(table) ? TICK : SLOW_TICK) * (1 + 2 * place_of(d, table)) : -1;
}

static void pass_time(dome_daemon *d, double now)
{
    dome_record order;
    const double next = next_tick(d);
    if (d->engine && dome__group_is_settled(d->group) &&
        dome__host_watch_look(d->watch, dome__group_table(d->group), now, &order)) {
        send(d, &order);
        dome__record_clear(&order);
    }
    if (next < 0) {
        d->ticked_at = d->tick_at = now;
    } else if (now >= next) {
        order = dome__record_new("tick");
        dome__record_add_number(&order, "seconds", CLAMP((int64_t)(now - d->ticked_at + 0.5), 1, DOME_TABLE_TICK));
        send(d, &order);
        dome__record_clear(&order);
        d->tick_at = now;
    }
}

/* ---- the table's file ---- */

static char *table_path(const dome_daemon *d)
{
    return g_build_filename(d->setup->folder, "table", NULL);
}

static dome_table *read_table(const dome_daemon *d)
{
    const char *reason = NULL;
    char *path = table_path(d), *message = NULL, *text = NULL;
    dome_table *table = NULL;
    if (access(path, F_OK) < 0 && errno == ENOENT)
        table = dome__table_new();
    else if ((text = dome__file_read(path, TABLE_MOST, &reason)))
        table = dome__table_read(text, &message);
    if (!table)
        dome__say("domed: the table of programs %s cannot be read: %s; move it away to begin without it", path,
                  message ? message : reason);
    g_free(message);
    g_free(text);
    g_free(path);
    return table;
}

static void save(dome_daemon *d, double now)
{
    const char *reason = NULL;
    char *path = table_path(d), *text = dome__table_text(dome__group_table(d->group));
    const bool was = d->saved;
    d->saved = dome__file_replace(path, text, 0600, &reason);
    d->dirty = !d->saved;
    d->save_at = now + AGAIN;
    if (!d->saved && was)
        dome__say("domed: the table of programs %s cannot be written: %s; nothing is started until it can", path, reason);
    else if (d->saved && !was)
        dome__say("domed: the table of programs is written again");
    g_free(text);
    g_free(path);
}

/* ---- users ---- */

static void answer(dome_daemon *d, uint64_t client, bool done, const char *text)
{
    dome_record line = dome__record_new(done ? "done" : "no");
    dome__record_add(&line, "text", text);
    dome__server_say(d->server, client, &line);
    dome__record_clear(&line);
}

/* The command asks again (tools/daemon_client.c). */
static void answer_soon(dome_daemon *d, uint64_t client)
{
    dome_record line = dome__record_new("no");
    dome__record_add(&line, "text", "the daemons are about to compare their tables; try again");
    dome__record_add_number(&line, "soon", 1);
    dome__server_say(d->server, client, &line);
    dome__record_clear(&line);
}

static void list(dome_daemon *d, uint64_t client)
{
    const dome_table *table = dome__group_table(d->group);
    for (guint i = 0; i < table->hosts->len + table->programs->len; i++) {
        dome_record line = i < table->hosts->len
                               ? dome__table_host_record(table->hosts->pdata[i])
                               : dome__table_program_record(table->programs->pdata[i - table->hosts->len], false);
        dome__server_say(d->server, client, &line);
        dome__record_clear(&line);
    }
    answer(d, client, true, d->setup->name);
}

static void wait_for(dome_daemon *d, uint64_t client, const dome_record *request)
{
    const dome_program *p = NULL;
    char *why = dome__request_program(dome__group_table(d->group), dome__record_get(request, "program"), &p);
    if (why) {
        answer(d, client, false, why);
        g_free(why);
        return;
    }
    const ask a = {.program = p->id, .client = client};
    g_array_append_val(d->asks, a);
    dome__server_hold(d->server, client);
}

static const char *cannot_now(const dome_daemon *d)
{
    if (!d->engine)
        return "there is no group of daemons now: does Corosync run?";
    if (!dome__table_has_majority(dome__group_table(d->group)))
        return "this host is on a side without a majority of the hosts";
    return NULL;
}

static char *order(dome_daemon *d, const dome_server_user *user, const dome_record *request)
{
    dome_record order;
    char *why = dome__request_order(dome__group_table(d->group), d->setup->name, user, request, &order);
    if (why)
        return why;
    dome__record_add_number(&order, "ask", d->next_ask);
    char *line = dome__record_line(&order);
    if (strlen(line) > DOME_RECORD_MOST) {
        why = g_strdup_printf("the words and the environment are longer than %d bytes", DOME_RECORD_MOST);
    } else {
        const ask a = {.number = d->next_ask++, .client = user->client, .submits = strcmp(request->verb, "submit") == 0};
        g_array_append_val(d->asks, a);
        dome__server_hold(d->server, user->client);
        send(d, &order);
    }
    g_free(line);
    dome__record_clear(&order);
    return why;
}

/* Reaps the children that have ended. Returns how many of a user's still run. */
static guint count_abroad(dome_daemon *d, uid_t uid)
{
    guint count = 0;
    for (guint i = d->abroad->len; i-- > 0;) {
        const abroad *a = &g_array_index(d->abroad, abroad, i);
        if (waitpid(a->child, NULL, WNOHANG) != 0)
            g_array_remove_index_fast(d->abroad, i);
        else
            count += a->uid == uid;
    }
    return count;
}

/* The user's connection becomes that of a child, which asks the other host. */
static char *send_abroad(dome_daemon *d, const dome_server_user *user, const dome_record *request)
{
    enum { OF_USER = 8, OF_ALL = 64 };
    const int fd = dome__server_fd(d->server, user->client);
    if (user->pid == 0)
        return g_strdup("a request goes to one host alone");
    if (count_abroad(d, user->uid) >= OF_USER || d->abroad->len >= OF_ALL)
        return g_strdup("too many requests to other hosts");
    char *name = dome__request_user(user);
    const dome_ask_daemon ask = {d->setup->key_file, dome__record_get(request, "on"), name};
    const abroad a = {name && fd >= 0 ? dome__ask_daemon(&ask, request, fd) : -1, user->uid};
    g_free(name);
    if (a.child < 0)
        return g_strdup("the other host cannot be asked now");
    g_array_append_val(d->abroad, a);
    dome__server_forget(d->server, user->client);
    return NULL;
}

static void requested(void *ctx, const dome_server_user *user, const dome_record *request)
{
    dome_daemon *d = ctx;
    char *why = dome__request_version(request);
    if (!why && dome__record_get(request, "on")) {
        why = send_abroad(d, user, request);
    } else if (!why && strcmp(request->verb, "list") == 0) {
        list(d, user->client);
    } else if (!why && strcmp(request->verb, "wait") == 0) {
        wait_for(d, user->client, request);
    } else if (!why && d->engine && !dome__group_is_settled(d->group)) {
        answer_soon(d, user->client);
    } else if (!why && !(why = g_strdup(cannot_now(d)))) {
        why = order(d, user, request);
    }
    if (why)
        answer(d, user->client, false, why);
    g_free(why);
}

/* A program that is not on disk has not been submitted. */
static bool take_back(dome_daemon *d, const ask *a)
{
    gint64 id;
    if (d->saved || !a->submits || !g_str_has_prefix(a->answer, "done j") ||
        !g_ascii_string_to_signed(a->answer + strlen("done j"), 10, 1, G_MAXINT64, &id, NULL))
        return false;
    const dome_program *p = dome__table_program(dome__group_table(d->group), id);
    if (!p || (p->state != DOME_PROGRAM_WAITS && strcmp(p->host, d->setup->name) != 0))
        return false;
    dome_record order = dome__record_new("forget");
    dome__record_add_number(&order, "program", id);
    send(d, &order);
    dome__record_clear(&order);
    return true;
}

/* Whether the program has ended, and the waiting user knows. */
static bool tell_end(dome_daemon *d, const ask *a)
{
    const dome_program *p = dome__table_program(dome__group_table(d->group), a->program);
    if (p && p->state != DOME_PROGRAM_ENDED)
        return false;
    dome_record line = dome__record_new("done");
    dome__record_add_number(&line, "status", p ? p->status : 1);
    dome__record_add(&line, "text", p ? p->why : "it is no longer listed");
    dome__server_say(d->server, a->client, &line);
    dome__record_clear(&line);
    return true;
}

static void tell(dome_daemon *d)
{
    for (guint i = d->asks->len; i-- > 0;) {
        const ask *a = &g_array_index(d->asks, ask, i);
        if (a->number == 0 && !tell_end(d, a))
            continue;
        if (a->number != 0 && !a->came)
            continue;
        if (a->came && take_back(d, a))
            answer(d, a->client, false, "the table of programs cannot be written: is the disk full?");
        else if (a->came)
            answer(d, a->client, g_str_has_prefix(a->answer, "done"), strchr(a->answer, ' ') ? strchr(a->answer, ' ') + 1 : "");
        g_array_remove_index(d->asks, i);
    }
}

/* ---- the loop ---- */

/* Programs are ended where another side may start them: at once where hosts were lost, after a while where they have never been
 * there. */
static bool must_end(dome_daemon *d, double now)
{
    if (!d->engine) /* for the others this host is gone */
        return d->joined || now - d->begun > ALONE;
    if (dome__table_has_majority(dome__group_table(d->group))) {
        d->minority_since = 0;
        d->lost_majority = false;
        return false;
    }
    if (d->minority_since == 0)
        d->minority_since = now;
    return d->lost_majority || now - d->minority_since > ALONE;
}

static void turn(dome_daemon *d, double now)
{
    send_late(d);
    count_abroad(d, 0);
    if (d->dirty && (d->saved || now >= d->save_at))
        save(d, now);
    tell(d);
    if (dome__group_is_settled(d->group) || !d->engine) {
        d->compare_at = now + COMPARE;
    } else if (now >= d->compare_at) {
        d->compare_at = now + COMPARE;
        dome__group_again(d->group);
    }
    d->joined |= d->engine && dome__group_is_settled(d->group);
    if (d->engine && !dome__group_is_settled(d->group))
        return;
    pass_time(d, now);
    const dome_locals_view view = {dome__group_table(d->group), d->saved && d->engine, must_end(d, now)};
    dome__locals_turn(d->locals, &view, now);
}

static void say_goodbye(dome_daemon *d, double now)
{
    d->ending = true;
    d->end_at = now + GOODBYE;
    if (d->setup->engine == &dome__engine_alone || !d->engine || !dome__group_is_settled(d->group)) {
        d->left = true;
        return;
    }
    dome_record order = dome__record_new("leave");
    dome__record_add(&order, "name", d->setup->name);
    send(d, &order);
    dome__record_clear(&order);
}

static void hear_signals(dome_daemon *d, double now)
{
    struct signalfd_siginfo info;
    while (read(d->signals, &info, sizeof info) == sizeof info)
        if (!d->ending)
            say_goodbye(d, now);
}

static void hear_files(dome_daemon *d)
{
    char events[4096];
    while (read(d->files, events, sizeof events) > 0)
        dome__locals_look(d->locals);
}

static double next_turn(const dome_daemon *d, double now)
{
    double next = dome__locals_next(d->locals, now);
    if (!d->engine)
        next = MIN(next, d->engine_at);
    if (!g_queue_is_empty(d->late))
        next = MIN(next, now + 0.01);
    if (d->dirty)
        next = MIN(next, d->save_at);
    if (d->engine && !dome__group_is_settled(d->group))
        next = MIN(next, d->compare_at);
    if (d->ending)
        next = MIN(next, d->end_at);
    if (d->engine && dome__group_is_settled(d->group)) {
        const double tick = next_tick(d);
        next = MIN(next, dome__host_watch_next(d->watch));
        next = tick >= 0 ? MIN(next, tick) : next;
    }
    return MAX(next - now, 0);
}

static void loop(dome_daemon *d)
{
    GArray *polls = g_array_new(FALSE, FALSE, sizeof(struct pollfd));
    while (!d->ending || (!d->left && dome__now() < d->end_at)) {
        double now = dome__now();
        const struct pollfd own[] = {{.fd = d->signals, .events = POLLIN},
                                     {.fd = d->files, .events = POLLIN},
                                     {.fd = d->engine ? d->setup->engine->fd(d->engine) : -1, .events = POLLIN}};
        g_array_set_size(polls, 0);
        g_array_append_vals(polls, own, G_N_ELEMENTS(own));
        dome__server_poll(d->server, polls);
        const guint locals = polls->len;
        dome__locals_poll(d->locals, polls);
        struct pollfd *p = (struct pollfd *)(void *)polls->data;
        if (poll(p, polls->len, (int)(next_turn(d, now) * 1000) + 1) < 0)
            continue;
        now = dome__now();
        hear_signals(d, now);
        if (p[1].revents)
            hear_files(d);
        if (d->engine && p[2].revents && !d->setup->engine->dispatch(d->engine))
            lose_engine(d, now);
        if (!d->engine && now >= d->engine_at)
            open_engine(d, now);
        dome__locals_hear(d->locals, p + locals, polls->len - locals, now);
        dome__server_turn(d->server, p + G_N_ELEMENTS(own), locals - (guint)G_N_ELEMENTS(own), now);
        turn(d, now);
    }
    g_array_unref(polls);
}

/* ---- beginning and end ---- */

/* A daemon for each folder. One that was killed a moment ago may not have ended yet. -1: there is another. */
static int take_folder(const char *folder)
{
    enum { TRIES = 20, PAUSE = 100000 };
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int error = fd < 0 ? errno : EWOULDBLOCK;
    for (int k = 0; error == EWOULDBLOCK && k < TRIES; k++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            return fd;
        error = errno;
        g_usleep(PAUSE);
    }
    dome__say("domed: %s: %s", folder, error == EWOULDBLOCK ? "another domed uses it" : g_strerror(error));
    if (fd >= 0)
        close(fd);
    return -1;
}

static bool open_descriptors(dome_daemon *d)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    d->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    d->files = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (d->signals >= 0 && d->files >= 0 && inotify_add_watch(d->files, d->setup->folder, IN_MOVED_TO) >= 0)
        return true;
    dome__say("domed: it cannot watch its folder: %s", g_strerror(errno));
    return false;
}

static bool open_to_hosts(dome_daemon *d)
{
    char *message = NULL;
    size_t length = 0;
    if (d->setup->listen && d->setup->makes_key && dome__remote_key_make(d->setup->key_file))
        dome__say("domed: the key %s is new: hosts that are to ask this one need a copy", d->setup->key_file);
    char *key = d->setup->listen ? dome__remote_key(d->setup->key_file, &length, &message) : NULL;
    const bool good = !d->setup->listen || (key && dome__server_listen(d->server, d->setup->listen, key, length, &message));
    if (!good)
        dome__say("domed: %s", message);
    g_free(message);
    return good;
}

static bool open_all(dome_daemon *d, double now)
{
    char *message = NULL;
    const dome_group_acts acts = {send, applied, foreign, d};
    const dome_locals_setup locals = {
        d->setup->folder, d->setup->name, d->setup->dome, d->setup->engine == &dome__engine_alone, send, d};
    dome_table *table = read_table(d);
    if (!table)
        return false;
    d->group = dome__group_new(&acts, d->setup->name, d->setup->slots, table);
    d->locals = dome__locals_new(&locals, now);
    d->watch = dome__host_watch_new(&d->setup->watch, now);
    if (!open_descriptors(d))
        return false;
    d->server = dome__server_open(d->setup->socket, requested, d, &message);
    if (!d->server)
        dome__say("domed: %s", message);
    g_free(message);
    return d->server && open_to_hosts(d);
}

int dome__daemon_run(const dome_daemon_setup *setup)
{
    const double now = dome__now();
    dome_daemon d = {.setup = setup, .next_ask = 1, .signals = -1, .files = -1, .saved = true, .begun = now};
    const int lock = take_folder(setup->folder);
    d.asks = g_array_new(FALSE, FALSE, sizeof(ask));
    g_array_set_clear_func(d.asks, clear_ask);
    d.late = g_queue_new();
    d.abroad = g_array_new(FALSE, FALSE, sizeof(abroad));
    const bool open = lock >= 0 && open_all(&d, now);
    if (open) {
        open_engine(&d, now);
        loop(&d);
    }
    if (d.engine)
        setup->engine->close(d.engine);
    dome__server_close(d.server);
    dome__locals_free(d.locals);
    dome__host_watch_free(d.watch);
    dome__group_free(d.group);
    g_queue_free_full(d.late, g_free);
    g_array_unref(d.asks);
    g_array_unref(d.abroad);
    close(d.signals);
    close(d.files);
    if (lock >= 0)
        close(lock);
    return open ? d.status : 1;
}
