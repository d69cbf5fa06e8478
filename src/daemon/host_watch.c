#include "daemon/host_watch.h"

#include "daemon/table.h"
#include "system/environment_variables.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Seconds: between two looks at a host with an owner, while there are programs, and while there are none; over which loads are
 * averaged; between two words about the load. A pressure from which on threads wait. */
static const double OWNED = 0.5, LOOK = 1, SELDOM = 5, AVERAGE = 5, TELL = 5, WAITING = 0.1;

/* A change of the load that is told, and how often a new process is looked at: at first it may not have called exec yet. */
enum { TELL_HUNDREDTHS = 25, NICE = 19, CHECKS = 2 };

typedef struct own_process {
    uint64_t ticks;
    int checks;
    bool ours; /* of a program that was submitted */
    uint64_t round;
} own_process;

struct dome_host_watch {
    const dome_host_watch_setup *setup;
    char *architecture;
    GHashTable *processes; /* pid -> own_process */
    dome_host_ticks before;
    bool has_before;
    uint64_t round;
    double looked_at, look_at, told_at;
    double busy, own_busy, running, own_running; /* averages */
    dome_owner owner;
    dome_owner_phase phase;
    GHashTable *seen; /* path of a terminal or a console -> int64_t: the last time of its use, ns, by the clock of the host */
    dome_owner_phase told_phase;
    bool told, nice;
};

/* ---- texts ---- */

bool dome__host_ticks_parse(const char *text, dome_host_ticks *ticks)
{
    unsigned long long user, nice, system, idle, wait, hard, soft, stolen;
    const char *running = strstr(text, "\nprocs_running ");
    *ticks = (dome_host_ticks){0};
    if (sscanf(text, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system, &idle, &wait, &hard, &soft, &stolen) !=
            8 ||
        !running || sscanf(running, "\nprocs_running %d", &ticks->running) != 1)
        return false;
    ticks->busy = user + nice + system + hard + soft;
    ticks->idle = idle + wait + stolen;
    return true;
}

double dome__host_pressure_parse(const char *text)
{
    static const char some[] = "some avg10=";
    char *end = NULL;
    const double percent = g_str_has_prefix(text, some) ? g_ascii_strtod(text + strlen(some), &end) : 0;
    return percent >= 0 && percent <= 100 ? percent / 100 : 0;
}

double dome__host_load(double busy, double own_busy, double running, double own_running, double pressure)
{
    const double others = MAX(busy - own_busy, 0);
    return pressure >= WAITING ? MAX(others, running - own_running) : others;
}

/* ---- processes ---- */

static char *read_file(const char *path)
{
    char *text = NULL;
    g_file_get_contents(path, &text, NULL, NULL);
    return text ? text : g_strdup("");
}

/* NULL-terminated words, each ended by a 0: whether one has that beginning. */
static bool has_word(const char *words, gsize length, const char *beginning)
{
    const size_t n = strlen(beginning);
    for (const char *at = words; at < words + length; at += strlen(at) + 1)
        if (strncmp(at, beginning, n) == 0)
            return true;
    return false;
}

static bool is_ours(int pid)
{
    char *path = g_strdup_printf("/proc/%d/environ", pid), *words = NULL;
    gsize length = 0;
    const bool ours = g_file_get_contents(path, &words, &length, NULL) && has_word(words, length, DOME_VARIABLE_SUBMITTED "=");
    g_free(path);
    g_free(words);
    return ours;
}

/* Its state and its time; false: it is gone. */
static bool read_process(int pid, char *state, uint64_t *ticks)
{
    unsigned long long user, system;
    char *path = g_strdup_printf("/proc/%d/stat", pid), *text = read_file(path);
    const char *name_end = strrchr(text, ')');
    const bool good =
        name_end && sscanf(name_end + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", state, &user, &system) == 3;
    *ticks = good ? user + system : 0;
    g_free(path);
    g_free(text);
    return good;
}

/* All threads of a process: setpriority changes one alone. */
static void set_nice(int pid, int nice)
{
    char *path = g_strdup_printf("/proc/%d/task", pid);
    GDir *threads = g_dir_open(path, 0, NULL);
    for (const char *name; threads && (name = g_dir_read_name(threads));)
        if (setpriority(PRIO_PROCESS, (id_t)strtol(name, NULL, 10), nice) < 0 && errno != ESRCH)
            break;
    if (threads)
        g_dir_close(threads);
    g_free(path);
}

/* Of a process: the ticks since the last look are added, and whether it runs. */
static void look_at_process(dome_host_watch *w, int pid, uint64_t *own, int *running)
{
    own_process *p = g_hash_table_lookup(w->processes, GINT_TO_POINTER(pid));
    uint64_t ticks;
    char state;
    if (!p) {
        p = g_new0(own_process, 1);
        g_hash_table_insert(w->processes, GINT_TO_POINTER(pid), p);
    }
    p->round = w->round;
    if (!p->ours && p->checks < CHECKS) {
        p->checks++;
        p->ours = is_ours(pid);
        if (p->ours && w->nice)
            set_nice(pid, NICE);
    }
    if (!p->ours || !read_process(pid, &state, &ticks))
        return;
    *own += ticks - MIN(ticks, p->ticks);
    *running += state == 'R';
    p->ticks = ticks;
}

static gboolean is_gone(gpointer pid, gpointer process, gpointer round)
{
    (void)pid;
    return ((const own_process *)process)->round != *(const uint64_t *)round;
}

static void look_at_processes(dome_host_watch *w, uint64_t *own, int *running)
{
    DIR *all = opendir("/proc");
    w->round++;
    for (const struct dirent *entry; all && (entry = readdir(all));) {
        const int pid = (int)strtol(entry->d_name, NULL, 10);
        if (pid > 0)
            look_at_process(w, pid, own, running);
    }
    if (all)
        closedir(all);
    g_hash_table_foreach_remove(w->processes, is_gone, &w->round);
}

static void look_at_load(dome_host_watch *w, bool programs, double now)
{
    const double seconds = now - w->looked_at, part = w->has_before ? MIN(seconds / AVERAGE, 1) : 1,
                 hertz = (double)sysconf(_SC_CLK_TCK);
    char *text = read_file("/proc/stat");
    dome_host_ticks ticks;
    uint64_t own = 0;
    int own_running = 0;
    if (programs)
        look_at_processes(w, &own, &own_running);
    else
        g_hash_table_remove_all(w->processes);
    if (dome__host_ticks_parse(text, &ticks)) {
        if (w->has_before && seconds > 0) {
            w->busy += part * ((double)(ticks.busy - w->before.busy) / hertz / seconds - w->busy);
            w->own_busy += part * ((double)own / hertz / seconds - w->own_busy);
            w->running += part * (ticks.running - 1 - w->running); /* this process runs */
            w->own_running += part * (own_running - w->own_running);
        }
        w->before = ticks;
        w->has_before = true;
    }
    g_free(text);
}

/* ---- the owner ---- */

static int64_t ns_of(struct timespec time)
{
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* Whether it was used since the last look. The clock of the host may have jumped back: another time is enough. */
static bool is_used(dome_host_watch *w, const char *path)
{
    struct stat s;
    if (stat(path, &s) < 0)
        return false;
    /* reading a terminal or a device changes its time of access; a file may be written */
    const int64_t read = ns_of(s.st_atim), now = S_ISCHR(s.st_mode) ? read : MAX(read, ns_of(s.st_mtim)),
                  *before = g_hash_table_lookup(w->seen, path);
    const bool used = !before || *before != now;
    if (used)
        g_hash_table_insert(w->seen, g_strdup(path), g_memdup2(&now, sizeof now));
    return used;
}

/* Terminals have a time of access that the kernel renews at most every eight seconds. */
static bool is_typed(dome_host_watch *w)
{
    bool used = false;
    static const char *const folders[] = {"/dev/pts", "/dev"};
    for (size_t k = 0; k < G_N_ELEMENTS(folders); k++) {
        GDir *folder = g_dir_open(folders[k], 0, NULL);
        for (const char *name; folder && (name = g_dir_read_name(folder));) {
            if (k == 0 ? !g_ascii_isdigit(name[0]) : !g_str_has_prefix(name, "tty") || !g_ascii_isdigit(name[3]))
                continue;
            char *path = g_build_filename(folders[k], name, NULL);
            used |= is_used(w, path);
            g_free(path);
        }
        if (folder)
            g_dir_close(folder);
    }
    return used;
}

/* Whether the owner has been active since the last look. */
static bool is_active(dome_host_watch *w)
{
    bool active = w->setup->owner && is_typed(w);
    for (const char *const *path = w->setup->consoles; path && *path; path++)
        active |= is_used(w, *path);
    return active;
}

static void make_nice(dome_host_watch *w, bool nice)
{
    GHashTableIter at;
    gpointer key, value;
    /* A user's own daemon could not take it back. */
    if (w->nice == nice || geteuid() != 0)
        return;
    w->nice = nice;
    uint64_t own = 0;
    int running = 0;
    look_at_processes(w, &own, &running);
    g_hash_table_iter_init(&at, w->processes);
    while (g_hash_table_iter_next(&at, &key, &value))
        if (((const own_process *)value)->ours)
            set_nice(GPOINTER_TO_INT(key), nice ? NICE : 0);
}

/* ---- looks ---- */

dome_host_watch *dome__host_watch_new(const dome_host_watch_setup *setup, double now)
{
    struct utsname system;
    dome_host_watch *w = g_new0(dome_host_watch, 1);
    w->setup = setup;
    w->architecture = g_strdup(uname(&system) == 0 ? system.machine : "");
    g_strdelimit(w->architecture, "_", '-');
    w->processes = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    w->seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    w->looked_at = now;
    is_active(w); /* what was used before does not count */
    return w;
}

void dome__host_watch_free(dome_host_watch *w)
{
    if (!w)
        return;
    g_hash_table_unref(w->processes);
    g_hash_table_unref(w->seen);
    g_free(w->architecture);
    g_free(w);
}

static bool has_programs(const dome_table *table)
{
    bool has = false;
    for (guint i = 0; i < table->programs->len; i++)
        has |= ((const dome_program *)table->programs->pdata[i])->state != DOME_PROGRAM_ENDED;
    return has;
}

/* Whether the table should know more than it does. */
static bool is_news(const dome_host_watch *w, const dome_table *table, int64_t load, double now)
{
    const dome_host *h = dome__table_host(table, w->setup->name);
    const bool differs =
        !h || h->owner != w->phase || ABS(h->load - load) >= TELL_HUNDREDTHS || g_strcmp0(h->architecture, w->architecture) != 0;
    return differs && (!w->told || w->told_phase != w->phase || now - w->told_at >= TELL);
}

bool dome__host_watch_look(dome_host_watch *w, const dome_table *table, double now, dome_record *order)
{
    if (now < w->look_at)
        return false;
    const bool owned = w->setup->owner || (w->setup->consoles && w->setup->consoles[0]), programs = has_programs(table);
    w->look_at = now + (owned ? OWNED : programs ? LOOK : SELDOM);
    if (owned)
        w->phase = dome__owner_look(&w->owner, now, is_active(w));
    if (owned)
        make_nice(w, w->phase != DOME_OWNER_AWAY);
    double load = 0;
    if (!w->setup->dedicated) {
        look_at_load(w, programs, now);
        char *pressure = read_file("/proc/pressure/cpu");
        load = dome__host_load(w->busy, w->own_busy, w->running, w->own_running, dome__host_pressure_parse(pressure));
        g_free(pressure);
    }
    w->looked_at = now;
    const int64_t hundredths = (int64_t)floor(100 * MAX(load, 0) + 0.5);
    if (!is_news(w, table, hundredths, now))
        return false;
    *order = dome__record_new("load");
    dome__record_add(order, "name", w->setup->name);
    dome__record_add_number(order, "load", hundredths);
    dome__record_add_number(order, "owner", w->phase);
    dome__record_add(order, "architecture", w->architecture);
    w->told = true;
    w->told_at = now;
    w->told_phase = w->phase;
    return true;
}

double dome__host_watch_next(const dome_host_watch *w)
{
    return w->look_at;
}
