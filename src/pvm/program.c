#include "pvm/pvm.h"

#include "system/deadline.h"
#include "system/environment_variables.h"
#include "system/own_program.h"
#include "system/unconst.h"

#include <glib.h>
#include <poll.h>
#include <pvm3.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { TAG_START = 0x446f00, TAG_READY, TAG_STANDBY, TAG_ENROLLED };

/* The context of tasks that have inherited none. */
enum { BASE_CONTEXT = 0 };

enum { TASKS_PER_HOST = DOME_PVM_TASKS_PER_HOST, TASKS = DOME_PVM_TASKS };

/* Values of DOME_VARIABLE_JOIN: a task that was started by task 0, and one that tells task 0 when it has enrolled. */
static const char JOINS[] = "1", TELLS[] = "2";

typedef struct machine {
    int hosts;
    struct pvmhostinfo *info;
} machine;

/* Enrols this process. dome__pvm_enter applies from here until the transport is open. */
static bool enrol(char **message)
{
    dome__pvm_instead();
    if (!dome__pvm_is_enrolled())
        dome__pvm_enter();
    pvm_setopt(PvmAutoErr, 0);
    if (pvm_mytid() < 0) {
        *message = g_strdup("cannot enrol in the PVM virtual machine: its daemon does not answer");
        return false;
    }
    dome__pvm_enrolled();
    int *fds;
    dome__pvm_note_daemon_fd(pvm_getfds(&fds) > 0 ? fds[0] : -1);
    pvm_setopt(PvmRoute, PvmRouteDirect);
    pvm_setopt(PvmFragSize, 65536);
    return true;
}

/* The host's name; a daemon that serves this host only has its address as name instead. */
static const char *name_of(const struct pvmhostinfo *host)
{
    return strcmp(host->hi_name, DOME_PVM_INSIDE) == 0 ? g_get_host_name() : host->hi_name;
}

static const struct pvmhostinfo *host_of(const machine *m, int tid)
{
    int host = pvm_tidtohost(tid);
    for (int i = 0; i < m->hosts; i++)
        if (m->info[i].hi_tid == host)
            return &m->info[i];
    return NULL;
}

/* Sets hosts and data formats of the tasks, from the machine's configuration. */
static void locate(dome_members *p, const machine *m)
{
    p->hosts = g_new0(char *, p->size + 1);
    p->formats = g_new0(int, p->size);
    for (int r = 0; r < p->size; r++) {
        const struct pvmhostinfo *host = host_of(m, p->ids[r]);
        p->hosts[r] = g_strdup(host ? name_of(host) : "?");
        p->formats[r] = host ? host->hi_dsig : -1;
    }
}

bool dome__pvm_spawned(void)
{
    return g_getenv("PVMEPID") != NULL;
}

int dome__pvm_siblings(int *place)
{
    char *message = NULL;
    *place = 0;
    if (!enrol(&message)) {
        g_free(message);
        return 1;
    }
    int *tids, n = pvm_siblings(&tids), me = pvm_mytid();
    for (int i = 0; i < n; i++)
        if (tids[i] == me)
            *place = i;
    return n > 0 ? n : 1;
}

/* The names of the environment variables to export to other hosts: all but those that describe this host or this login. */
static char *exported(void)
{
    static const char *const own[] = {"HOME",       "USER",       "LOGNAME",         "SHELL",    "MAIL",
                                      "HOSTNAME",   "PWD",        "OLDPWD",          "SHLVL",    "_",
                                      "PATH",       "TERM",       "DISPLAY",         "TMPDIR",   "PVMSOCK",
                                      "PVMEPID",    "PVM_EXPORT", "PVM_TMP",         "PVM_VMID", "PVM_ROOT",
                                      "PVM_ARCH",   "PVM_RSH",    DOME_VARIABLE_HUB, "PVMCTX",   "PVMTMASK",
                                      "XAUTHORITY", NULL};
    char **all = g_listenv();
    GString *names = g_string_new(DOME_VARIABLE_JOIN);
    for (char **name = all; *name; name++) {
        if (g_strv_contains(own, *name) || g_str_has_prefix(*name, "SSH_") || g_str_has_prefix(*name, "XDG_") ||
            g_str_has_prefix(*name, "DBUS_") || g_str_has_prefix(*name, "LC_") || strlen(*name) > 150 || strchr(*name, ':') ||
            strcmp(*name, DOME_VARIABLE_JOIN) == 0 || strlen(g_getenv(*name)) > 2000)
            continue;
        g_string_append_printf(names, ":%s", *name);
    }
    g_strfreev(all);
    return g_string_free(names, FALSE);
}

static const char *why_not_spawned(int code)
{
    switch (code) {
    case PvmNoFile:
        return "the program does not exist there";
    case PvmOutOfRes:
    case PvmNoMem:
        return "it has no room for another process";
    case PvmNoHost:
    case PvmHostFail:
        return "it is no longer part of the machine";
    case PvmDenied:
        return "it refuses";
    case PvmSysErr:
        return "its PVM daemon does not answer";
    default:
        return "PVM cannot start it";
    }
}

static bool host_lost;

bool dome__pvm_lost(void)
{
    return host_lost || dome__pvm_daemon_gone();
}

/* A host that was in the list a moment ago and now is not, or does not answer, has been lost. */
static bool is_lost(int code)
{
    return code == PvmNoHost || code == PvmHostFail || code == PvmSysErr;
}

static void end_tasks(const int *tids, int n)
{
    for (int i = 0; i < n; i++)
        if (tids[i] > 0)
            pvm_sendsig(tids[i], SIGKILL);
}

/* ---- starting tasks on a host ---- */

enum { WAIT_MS = 100 };

/* Receives a message; 0 on timeout. pvm_trecv would measure by the wall clock, and wait too long or not at all if that is set
 * meanwhile. */
static int receive_within(int from, int tag, double seconds)
{
    const dome_deadline until = dome__deadline_in(seconds);
    for (;;) {
        int buffer = pvm_nrecv(from, tag);
        if (buffer != 0 || dome__deadline_passed(until))
            return buffer;
        int *fds, n = MAX(pvm_getfds(&fds), 0);
        struct pollfd *p = g_new0(struct pollfd, n + 1);
        for (int i = 0; i < n; i++)
            p[i] = (struct pollfd){.fd = fds[i], .events = POLLIN};
        poll(p, (nfds_t)n, MIN(dome__deadline_ms(until), WAIT_MS));
        g_free(p);
    }
}

/* A daemon has two descriptors for each task, and a third one while the task enrols: it asks for proof by a file. It uses select,
 * so it can have 1024, or fewer if the limit of this process is lower; OTHERS are for other purposes. */
enum { SELECT_DESCRIPTORS = 1024, OTHERS = 24 };

static int daemon_descriptors(void)
{
    struct rlimit files;
    const bool known = getrlimit(RLIMIT_NOFILE, &files) == 0;
    return (int)(known ? MIN(files.rlim_max, (rlim_t)SELECT_DESCRIPTORS) : SELECT_DESCRIPTORS) - OTHERS;
}

/* Seconds without news of tasks that have been started. */
static const double ENROLS_WITHIN = 10;

/* Tasks of a host that is given many at once. */
typedef struct crowd {
    int *tids;
    int started, enrolled, descriptors;
    bool *heard; /* by place: it has enrolled, or has ended */
} crowd;

static void note_enrolled(crowd *c, int tid)
{
    for (int i = 0; i < c->started; i++)
        if (c->tids[i] == tid && !c->heard[i]) {
            c->heard[i] = true;
            c->enrolled++;
        }
}

/* Waits until the daemon can start so many more. Tasks that give no sign are left to those who wait for them. */
static void await_room(crowd *c, int more)
{
    while (c->enrolled < c->started && 3 * (c->started + more) - c->enrolled > c->descriptors) {
        int tid = 0;
        if (receive_within(-1, TAG_ENROLLED, ENROLS_WITHIN) <= 0)
            return;
        pvm_upkint(&tid, 1, 1);
        note_enrolled(c, tid);
    }
}

/* As pvm_spawn does it, but if the daemon would run out of descriptors, in several turns. The tasks begin in the directory in
 * which this one began, or where the host does not have it, in the home directory. Returns how many were started; the reason for
 * the next one is in its place of tids. */
static int spawn_in_turns(const char *path, char **arguments, const char *host, int count, int *tids)
{
    enum { TURN = 16 };
    const char *directory = dome__own_directory();
    char *where = g_strdup_printf("%s:%s", host, directory ? directory : "");
    crowd c = {.tids = tids, .descriptors = daemon_descriptors(), .heard = g_new0(bool, count)};
    const bool at_once = 3 * count <= c.descriptors;
    g_setenv(DOME_VARIABLE_JOIN, at_once ? JOINS : TELLS, TRUE);
    while (c.started < count) {
        const int turn = at_once ? count : MIN(count - c.started, TURN);
        await_room(&c, turn);
        const int got = pvm_spawn(dome__unconst(path), arguments, PvmTaskHost, where, turn, tids + c.started);
        if (got < 0)
            tids[c.started] = got;
        if (got > 0 && !at_once)
            pvm_notify(PvmTaskExit, TAG_ENROLLED, got, tids + c.started);
        c.started += MAX(got, 0);
        if (got < turn)
            break;
    }
    g_free(where);
    g_free(c.heard);
    return c.started;
}

/* Spawns all count tasks on one host, or none. A host of this architecture uses the same path; on others the program's name is
 * looked up where their pvmd looks (ep= in the hostfile, $HOME/pvm3/bin/$PVM_ARCH), then the path is tried. */
static int spawn_on(const dome_spawn *program, const struct pvmhostinfo *host, const char *arch, int count, int *tids)
{
    const char *path = program->path;
    char *base = g_path_get_basename(path);
    bool alike = strcmp(host->hi_arch, arch) == 0;
    const char *tries[2] = {alike ? path : base, alike ? base : path};
    int started = 0, code = PvmNoFile;
    for (int t = 0; t < 2 && !started && code == PvmNoFile; t++) {
        started = spawn_in_turns(tries[t], program->arguments, host->hi_name, count, tids);
        code = started < count ? tids[started] : PvmOk;
    }
    g_free(base);
    if (started == count)
        return count;
    end_tasks(tids, started);
    return code < 0 ? code : PvmSysErr;
}

static bool configuration(machine *m, char **message)
{
    int arches;
    bool good = enrol(message);
    if (good && pvm_config(&m->hosts, &arches, &m->info) < 0) {
        *message = g_strdup("cannot get the list of hosts from the PVM daemon");
        good = false;
    }
    return good;
}

char **dome__pvm_hosts_of(const int *ids, int n)
{
    machine m;
    char *message = NULL, **names = NULL;
    dome__pvm_enter();
    if (configuration(&m, &message)) {
        names = g_new0(char *, n + 1);
        for (int r = 0; r < n; r++) {
            const struct pvmhostinfo *host = host_of(&m, ids[r]);
            names[r] = g_strdup(host ? name_of(host) : "");
        }
    }
    dome__pvm_leave();
    g_free(message);
    return names;
}

char **dome__pvm_program_hosts(char **message)
{
    machine m;
    dome__pvm_enter(); /* the program may be running */
    const bool known = configuration(&m, message);
    dome__pvm_leave();
    if (!known)
        return NULL;
    /* Hosts that stopped responding remain part of the machine for minutes. */
    char **avoid = g_strsplit(g_getenv(DOME_VARIABLE_AVOID) ? g_getenv(DOME_VARIABLE_AVOID) : "", " ", 0);
    char **names = g_new0(char *, m.hosts + 1);
    int own = 0, n = 0;
    while (own < m.hosts - 1 && m.info[own].hi_tid != pvm_tidtohost(pvm_mytid()))
        own++;
    for (int i = 0; i < m.hosts; i++) {
        const struct pvmhostinfo *host = &m.info[(own + i) % m.hosts];
        if (i == 0 || !g_strv_contains((const char *const *)avoid, host->hi_name))
            names[n++] = g_strdup(name_of(host));
    }
    g_strfreev(avoid);
    g_unsetenv(DOME_VARIABLE_AVOID);
    return names;
}

/* Starts the tasks from `first` on that are on the same host and not started yet. */
static void spawn_together(dome_members *p, const machine *m, const dome_spawn *program, int first, int *tids, char **message)
{
    const char *const *names = program->names;
    const struct pvmhostinfo *own = host_of(m, p->ids[0]), *host = NULL;
    int count = 0;
    for (int i = 0; i < m->hosts && !host; i++)
        if (strcmp(name_of(&m->info[i]), names[first]) == 0)
            host = &m->info[i];
    for (int r = first; r < p->size; r++)
        count += !p->ids[r] && strcmp(names[r], names[first]) == 0;
    int got = host ? spawn_on(program, host, own ? own->hi_arch : host->hi_arch, count, tids) : PvmNoHost;
    if (got < count) {
        host_lost = is_lost(got);
        *message = g_strdup_printf("%s cannot be started on host %s: %s (PVM error %d)%s", program->path, names[first],
                                   why_not_spawned(got), got,
                                   got == PvmOutOfRes || got == PvmNoMem ? "; use a smaller --dome-tasks" : "");
        return;
    }
    for (int r = first, i = 0; i < count; r++)
        if (!p->ids[r] && strcmp(names[r], names[first]) == 0)
            p->ids[r] = tids[i++];
}

/* Host by host, in the order of their lowest ranks; what these tasks need is in the environment meanwhile. */
static void spawn_all(dome_members *p, const machine *m, const dome_spawn *program, void (*starting)(void *ctx, const char *host),
                      void *ctx, char **message)
{
    char *exports = exported(), *before = g_strdup(g_getenv("PVM_EXPORT"));
    g_setenv("PVM_EXPORT", exports, TRUE);
    int *tids = g_new0(int, p->size);
    for (int r = 1; r < p->size && !*message; r++)
        if (!p->ids[r]) {
            if (starting)
                starting(ctx, program->names[r]);
            spawn_together(p, m, program, r, tids, message);
        }
    g_unsetenv(DOME_VARIABLE_JOIN);
    if (before)
        g_setenv("PVM_EXPORT", before, TRUE);
    else
        g_unsetenv("PVM_EXPORT");
    g_free(before);
    g_free(exports);
    g_free(tids);
}

/* Whether PVM can start so many tasks on each host, and have so many in all. there: by rank, not 0 for tasks that exist already;
 * NULL: none does. */
static bool are_few_enough(const dome_spawn *program, const int *there, int hosts, char **message)
{
    const char *const *names = program->names;
    const int size = program->size;
    int most = 0;
    GHashTable *count = g_hash_table_new(g_str_hash, g_str_equal);
    for (int r = 0; r < size; r++) {
        if (there && there[r])
            continue;
        int here = GPOINTER_TO_INT(g_hash_table_lookup(count, names[r])) + 1;
        g_hash_table_insert(count, dome__unconst(names[r]), GINT_TO_POINTER(here));
        most = MAX(most, here);
    }
    g_hash_table_destroy(count);
    if (size <= TASKS && most <= TASKS_PER_HOST)
        return true;
    *message = dome__launcher_too_many(&dome__launcher_pvm, size, hosts);
    return false;
}

dome_members *dome__pvm_start(const dome_spawn *program, const char *hub, const dome_again *again,
                              void (*starting)(void *ctx, const char *host), void *ctx, char **message)
{
    const int size = program->size;
    machine m;
    if (!configuration(&m, message) || !are_few_enough(program, again ? again->ids : NULL, m.hosts, message))
        return NULL;
    dome_members *p = g_new0(dome_members, 1);
    p->size = size;
    p->ids = g_new0(int, size);
    p->ids[0] = pvm_mytid();
    p->back = again ? g_new0(bool, size) : NULL;
    for (int r = 1; again && r < size; r++)
        p->back[r] = (p->ids[r] = again->ids[r]) != 0;
    p->view = again ? again->view : 0;
    p->hub = g_strdup(hub);
    p->directory = g_get_current_dir();
    p->context = pvm_newcontext();
    pvm_setcontext(p->context); /* spawned tasks inherit it */
    spawn_all(p, &m, program, starting, ctx, message);
    if (*message) {
        end_tasks(p->ids + 1, size - 1);
        dome__members_free(p);
        return NULL;
    }
    locate(p, &m);
    return p;
}

static void pack_program(const dome_members *p)
{
    pvm_initsend(PvmDataDefault);
    pvm_pkint(dome__unconst(&p->size), 1, 1);
    pvm_pkint(dome__unconst(&p->context), 1, 1);
    int view = (int)p->view;
    pvm_pkint(&view, 1, 1);
    pvm_pkint(p->ids, p->size, 1);
    pvm_pkint(p->formats, p->size, 1);
    for (int r = 0; r < p->size; r++)
        pvm_pkstr(p->hosts[r]);
    pvm_pkstr(p->hub);
    pvm_pkstr(p->directory);
    pvm_pkstr(p->program ? p->program : (char[]){""}); /* dome net has none */
}

/* Unpacks strings into a buffer as long as the whole message, which none can exceed. */
static dome_members *unpack_program(int buffer)
{
    int bytes, tag, from;
    pvm_bufinfo(buffer, &bytes, &tag, &from);
    char *text = g_malloc0((size_t)bytes + 1);
    dome_members *p = g_new0(dome_members, 1);
    int view = 0;
    bool good = pvm_upkint(&p->size, 1, 1) >= 0 && p->size > 0 && p->size <= TASKS && pvm_upkint(&p->context, 1, 1) >= 0 &&
                pvm_upkint(&view, 1, 1) >= 0 && view >= 0;
    p->view = (uint32_t)view;
    if (good) {
        p->ids = g_new0(int, p->size);
        p->formats = g_new0(int, p->size);
        p->hosts = g_new0(char *, p->size + 1);
        good = pvm_upkint(p->ids, p->size, 1) >= 0 && pvm_upkint(p->formats, p->size, 1) >= 0;
        for (int r = 0; r < p->size && good; r++) {
            good = pvm_upkstr(text) >= 0;
            p->hosts[r] = g_strdup(text);
        }
        good = good && pvm_upkstr(text) >= 0 && (p->hub = g_strdup(text)) && pvm_upkstr(text) >= 0 &&
               (p->directory = g_strdup(text)) && pvm_upkstr(text) >= 0 && (p->program = g_strdup(text));
    }
    g_free(text);
    if (good)
        return p;
    dome__members_free(p);
    return NULL;
}

dome_members *dome__pvm_lead(const char *hub, char **message)
{
    machine m;
    int arches, *tids, n = pvm_siblings(&tids);
    if (n < 1 || pvm_config(&m.hosts, &arches, &m.info) < 0) {
        *message = g_strdup("cannot get the list of tasks started together from the PVM daemon");
        return NULL;
    }
    dome_members *p = g_new0(dome_members, 1);
    p->size = n;
    p->ids = g_memdup2(tids, (gsize)n * sizeof *tids);
    p->hub = g_strdup(hub);
    p->directory = g_get_current_dir();
    p->context = pvm_newcontext();
    locate(p, &m);
    return p;
}

/* The program that a message of task 0 describes; NULL with *message if there is no message. */
static dome_members *take_program(int buffer, char **message)
{
    dome_members *p = buffer > 0 ? unpack_program(buffer) : NULL;
    if (p) {
        p->rank = -1;
        for (int r = 0; r < p->size; r++)
            if (p->ids[r] == pvm_mytid())
                p->rank = r;
        if (p->rank < 0) {
            dome__members_free(p);
            p = NULL;
        }
    }
    if (!p) {
        *message = g_strdup("no message from the program's task 0: it has ended, or the tasks were not started together");
        return NULL;
    }
    pvm_setcontext(p->context);
    return p;
}

enum { ANY_TAG = -1 };

/* Seconds between two looks whether the task for which this one waits is still there. */
static const double LOOK = 0.5;

/* For a newcomer of the next view: says that it is there, and waits for task 0 of that view, a process that then has another id.
 * Returns the buffer of its message, or 0. */
static int wait_on_standby(int from)
{
    int number = 0, patience = 0, buffer;
    pvm_upkint(&number, 1, 1);
    pvm_upkint(&patience, 1, 1);
    pvm_initsend(PvmDataDefault);
    pvm_pkint(&number, 1, 1);
    pvm_send(from, TAG_READY);
    pvm_setcontext(BASE_CONTEXT);
    gint64 gone = 0;
    while ((buffer = receive_within(-1, TAG_START, LOOK)) == 0) {
        const gint64 now = g_get_monotonic_time();
        if (!gone && pvm_pstat(from) != PvmOk)
            gone = now;
        if (gone && now - gone > patience * G_USEC_PER_SEC)
            break;
    }
    return buffer;
}

static void tell_enrolled(int to)
{
    int tid = pvm_mytid();
    pvm_setopt(PvmRoute, PvmAllowDirect); /* task 0 waits for its daemon meanwhile, and would not answer */
    pvm_initsend(PvmDataDefault);
    pvm_pkint(&tid, 1, 1);
    pvm_send(to, TAG_ENROLLED);
    pvm_setopt(PvmRoute, PvmRouteDirect);
}

dome_members *dome__pvm_join(double timeout, char **message)
{
    if (!enrol(message))
        return NULL;
    int *tids, from = -1;
    const char *joins = g_getenv(DOME_VARIABLE_JOIN);
    if (joins)
        from = pvm_parent();
    else if (pvm_siblings(&tids) > 0)
        from = tids[0];
    if (from > 0 && g_strcmp0(joins, TELLS) == 0)
        tell_enrolled(from);
    g_unsetenv(DOME_VARIABLE_JOIN);
    g_unsetenv("PVMEPID");
    g_unsetenv("PVMSPAWNWD"); /* the directory, as PVM's daemon was told it */
    int buffer = from > 0 ? receive_within(from, ANY_TAG, timeout) : 0, bytes, tag = TAG_START, sender;
    if (buffer > 0)
        pvm_bufinfo(buffer, &bytes, &tag, &sender);
    return take_program(tag == TAG_STANDBY ? wait_on_standby(from) : buffer, message);
}

/* A process that has become the program anew without having left PVM, to heal a loss, has the names of its sockets taken: they
 * consist of its number and a count. */
static void remove_own_sockets(void)
{
    const char *path = g_getenv("PVM_TMP") ? g_getenv("PVM_TMP") : "/tmp", *name;
    char *own = g_strdup_printf("pvmtmp%06d.", (int)getpid());
    GDir *dir = g_dir_open(path, 0, NULL);
    while (dir && (name = g_dir_read_name(dir))) {
        char *file = g_str_has_prefix(name, own) ? g_build_filename(path, name, NULL) : NULL;
        if (file)
            unlink(file);
        g_free(file);
    }
    if (dir)
        g_dir_close(dir);
    g_free(own);
}

int dome__pvm_enrol(char **message)
{
    remove_own_sockets();
    g_unsetenv("PVMEPID");
    g_unsetenv("PVMCTX");
    return enrol(message) ? pvm_mytid() : 0;
}

dome_members *dome__pvm_rejoin(double timeout, char **message)
{
    pvm_setcontext(BASE_CONTEXT);
    return take_program(receive_within(-1, TAG_START, timeout), message);
}

void dome__pvm_ready(const dome_members *p)
{
    dome__pvm_enter();
    pvm_initsend(PvmDataDefault);
    pvm_pkint(dome__unconst(&p->rank), 1, 1);
    pvm_send(p->ids[0], TAG_READY);
    dome__pvm_leave();
}

/* Waits until all tasks with an id, other than the first, have said that they are ready. A task that is ready may send messages
 * of the program at once, so only messages with this tag are received here. The notification that a task has ended has the same
 * tag and holds its tid, which is larger than any rank. */
static bool wait_ready(const int *ids, const char *const *hosts, int size, double timeout, char **message)
{
    bool *stands = g_new0(bool, size);
    int left = 0;
    for (int r = 1; r < size; r++) {
        int id = ids[r];
        stands[r] = id <= 0;
        left += id > 0;
        if (id > 0)
            pvm_notify(PvmTaskExit, TAG_READY, 1, &id);
    }
    const dome_deadline until = dome__deadline_in(timeout);
    while (left > 0 && !*message) {
        double seconds = dome__deadline_seconds(until);
        int buffer = seconds > 0 ? receive_within(-1, TAG_READY, seconds) : 0, word = -1;
        if (buffer < 0) {
            *message = g_strdup_printf("the PVM daemon does not answer (PVM error %d)", buffer);
        } else if (buffer == 0) {
            GString *absent = g_string_new(NULL);
            for (int r = 1, named = 0; r < size && named < 8; r++)
                if (!stands[r])
                    g_string_append_printf(absent, "%stask %d on host %s", named++ ? ", " : "", r, hosts[r]);
            *message =
                g_strdup_printf("%s%s did not join the program within %g s", absent->str, left > 8 ? ", ..." : "", timeout);
            g_string_free(absent, TRUE);
        } else {
            pvm_upkint(&word, 1, 1);
            if (word > 0 && word < size && !stands[word]) {
                stands[word] = true;
                left--;
            }
            for (int r = 1; r < size; r++)
                if (ids[r] == word && !stands[r]) /* the hub handles later losses */
                    *message = g_strdup_printf("task %d on host %s ended before it joined the program: it was killed, cannot run "
                                               "there, or left before dome_init",
                                               r, hosts[r]);
        }
    }
    g_free(stands);
    return !*message;
}

bool dome__pvm_standby(const dome_spawn *program, int *ids, double timeout, double patience, char **message)
{
    const int size = program->size;
    machine m;
    dome_members p = {.size = size, .ids = g_new(int, size)};
    if (!configuration(&m, message)) {
        g_free(p.ids);
        return false;
    }
    pvm_setcontext(pvm_newcontext()); /* the tasks that are started inherit it */
    p.ids[0] = pvm_mytid();
    for (int r = 1; r < size; r++)
        p.ids[r] = program->names[r] ? 0 : -1;
    if (are_few_enough(program, p.ids, m.hosts, message))
        spawn_all(&p, &m, program, NULL, NULL, message);
    pvm_setopt(PvmRoute, PvmAllowDirect); /* as in all_ready */
    for (int r = 1; r < size && !*message; r++) {
        int seconds = (int)patience;
        if (p.ids[r] < 0)
            continue;
        pvm_initsend(PvmDataDefault);
        pvm_pkint(&r, 1, 1);
        pvm_pkint(&seconds, 1, 1);
        pvm_send(p.ids[r], TAG_STANDBY);
    }
    pvm_setopt(PvmRoute, PvmRouteDirect);
    const bool good = !*message && wait_ready(p.ids, program->names, size, timeout, message);
    if (!good)
        end_tasks(p.ids + 1, size - 1);
    for (int r = 0; r < size; r++)
        ids[r] = good && r > 0 ? MAX(p.ids[r], 0) : 0;
    g_free(p.ids);
    return good;
}

bool dome__pvm_all_ready(const dome_members *p, double timeout, char **message)
{
    g_unsetenv("PVMEPID");
    if (p->size == 1) {
        pvm_setcontext(p->context);
        return true;
    }
    int n = p->size - 1;
    pack_program(p);
    /* Send through the daemons: setting up a direct route would block until the other task has enrolled. */
    pvm_setopt(PvmRoute, PvmAllowDirect);
    const int inherited = pvm_getcontext(); /* by the tasks that were started now, or together with this one */
    for (int r = 1; r <= n; r++) {
        pvm_setcontext(p->back && p->back[r] ? BASE_CONTEXT : inherited);
        pvm_send(p->ids[r], TAG_START);
    }
    pvm_setopt(PvmRoute, PvmRouteDirect);
    pvm_setcontext(p->context);
    return wait_ready(p->ids, (const char *const *)p->hosts, p->size, timeout, message);
}

void dome__pvm_kill_tasks(const int *tids, int n)
{
    close_range(STDERR_FILENO + 1, ~0U, 0); /* PVM's library cannot use high descriptors, such as after many connections */
    g_unsetenv("PVMEPID");
    pvm_setopt(PvmAutoErr, 0);
    if (pvm_mytid() < 0)
        return;
    end_tasks(tids, n);
    pvm_exit();
}

void dome__pvm_halt(void)
{
    g_unsetenv("PVMEPID");
    pvm_setopt(PvmAutoErr, 0);
    if (pvm_mytid() >= 0)
        pvm_halt();
}
