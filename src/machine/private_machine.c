#include "machine/private_machine.h"

#include "machine/remote.h"
#include "system/child.h"
#include "system/deadline.h"
#include "system/files.h"
#include "system/io.h"
#include "system/run_directory.h"
#include "system/say.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static void take_down_left_behind(const void *ctx, const char *path)
{
    const dome_launcher *launcher = ctx;
    launcher->machine.take_down(path, false);
}

/* Chooses a name for the directory, which is created only after the guard has started. The name is absolute: daemons run in
 * other directories than the program. */
static char *choose_directory(const dome_launcher *launcher)
{
    char *given = g_canonicalize_filename(g_get_tmp_dir(), NULL);
    const char *parent = strlen(given) > 48 ? "/tmp" : given; /* names of local sockets are limited to about 100 bytes */
    dome__run_directory_sweep(parent, take_down_left_behind, launcher);
    char *name = dome__run_directory_name(parent);
    g_free(given);
    return name;
}

/* Checks that there is room for the daemon's files, because the daemon itself gives no useful message if there is none. Sets
 * errno if not. A file size limit (ulimit -f) does not count as lack of room. */
static bool has_room(const char *directory)
{
    enum { ROOM = 64 << 10 };
    char *path = g_build_filename(directory, "room", NULL), *data = g_malloc0(ROOM);
    dome_file_limit limit;
    dome__file_limit_begin(&limit);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600), error = fd < 0 ? errno : 0;
    if (fd >= 0 && !dome__io_write(fd, data, ROOM))
        error = errno;
    if (fd >= 0 && close(fd) < 0 && !error)
        error = errno; /* a file server may report a quota only on close */
    dome__file_limit_end(&limit);
    unlink(path);
    g_free(path);
    g_free(data);
    errno = error;
    return error == 0 || error == EFBIG;
}

static bool make_directory(dome_private_machine *m, char **message)
{
    bool made = g_mkdir(m->directory, 0700) == 0, locked = made && (m->lock_fd = dome__run_directory_lock(m->directory)) >= 0;
    if (locked && has_room(m->directory))
        return true;
    int error = errno;
    char *parent = g_path_get_dirname(m->directory);
    *message = locked
                   ? g_strdup_printf("there is no room in %s for the files of the private virtual machine: %s; make some, or set "
                                     "TMPDIR to another directory",
                                     parent, g_strerror(error))
                   : g_strdup_printf("cannot make a directory in %s for the private virtual machine: %s; set TMPDIR to another",
                                     parent, g_strerror(error));
    g_free(parent);
    if (!made)
        g_clear_pointer(&m->directory, g_free); /* this run has created nothing that has to be removed */
    return false;
}

/* The guard process: waits until the hub is gone, then takes down what the hub has left. */
static void guard(const dome_private_machine *m, int hub)
{
    static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP};
    setsid();
    prctl(PR_SET_NAME, "dome-guard"); /* it must survive when all processes with the program's name are killed */
    for (size_t i = 0; i < G_N_ELEMENTS(ignored); i++)
        signal(ignored[i], SIG_IGN);
    pid_t rank0 = 0;
    while (dome__io_read_some(hub, &rank0, sizeof rank0) > 0)
        continue;
    if (rank0 > 0)
        kill(rank0, SIGCONT); /* it ends by itself once it runs; it may have been stopped */
    int fd = open(m->directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    while (fd >= 0 && flock(fd, LOCK_EX) < 0 && errno == EINTR) /* a later run that holds the lock takes the machine down */
        continue;
    /* Rank 0 prints a line before the daemon ends it: give it time. */
    for (int i = 0; i < 30 && access(m->directory, F_OK) == 0; i++)
        g_usleep(10000);
    if (access(m->directory, F_OK) == 0) {
        m->launcher->machine.enter(m->directory);
        m->launcher->machine.take_down(m->directory, m->others);
    }
    _exit(0);
}

/* Forks the guard, a small process that takes the private machine down if the hub is killed. It has its own session and is not a
 * PVM task: a daemon that ends kills its tasks, so no task could clean up after it. If both hub and guard are killed, the daemon
 * ends by itself, and a later run removes the directory. Returns the daemon's end of the lifeline. */
static int start_guard(dome_private_machine *m)
{
    int line[2] = {-1, -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, line) == 0)
        shutdown(line[1], SHUT_WR); /* reading from the daemon's end gives end of file, as /dev/null does */
    m->lifeline = line[1];
    int hub;
    /* A reader of the program's output must not wait for the guard. */
    m->guard = dome__child_fork(&(dome_child_setup){.line = DOME_CHILD_HEARS, .null = DOME_CHILD_STANDARD}, &hub);
    if (m->guard == 0) {
        if (line[0] >= 0)
            close(line[0]);
        guard(m, hub);
    }
    m->guard_fd = hub;
    return line[0];
}

/* The answer of the child process if all hosts have been added. */
static const char ADDED[] = "added\n";

/* Why not all of these hosts answer that were in the machine before: g_free'd; NULL: they do. The daemons of the others have just
 * answered. */
static char *silent_hosts(char **lines, const bool *old)
{
    bool *answers = g_new0(bool, g_strv_length(lines) + 1);
    GString *text = g_string_new(NULL);
    GPtrArray *asked = g_ptr_array_new();
    for (guint i = 0; lines[i]; i++)
        if (old[i])
            g_ptr_array_add(asked, lines[i]);
    g_ptr_array_add(asked, NULL);
    dome__hosts_run((char **)asked->pdata, "true", answers);
    for (guint i = 0; i + 1 < asked->len; i++) {
        const char *line = asked->pdata[i];
        if (!answers[i])
            g_string_append_printf(text, "%shost %.*s is in the virtual machine, but does not answer", text->len ? "; " : "",
                                   (int)strcspn(line, " \t"), line);
    }
    g_ptr_array_unref(asked);
    g_free(answers);
    return g_string_free(text, text->len == 0);
}

/* The work of a child process: returns its answer, g_free'd. */
typedef struct work {
    const dome_launcher *launcher;
    char **lines, **skip;
    const int *daemons;
    bool look;
    double seconds;
} work;

static char *add(const work *w)
{
    char *why = NULL;
    bool *old = g_new0(bool, g_strv_length(w->lines) + 1), good = w->launcher->machine.add(w->lines, old, &why);
    if (good && w->look)
        good = !(why = silent_hosts(w->lines, old));
    g_free(old);
    return good ? g_strdup(ADDED) : why;
}

static bool is_in(char *const *names, const char *name)
{
    return names && g_strv_contains((const char *const *)names, name);
}

static char *look(const work *w)
{
    char **others = w->launcher->machine.others();
    if (!others)
        return NULL;
    const guint most = g_strv_length(w->lines) + g_strv_length(others);
    char **hosts = g_new0(char *, most + 1), **commands = g_new0(char *, most + 1);
    bool *answers = g_new0(bool, most + 1);
    guint n = 0;
    for (guint i = 0; w->lines[i]; i++, n++) {
        hosts[n] = g_strdup(w->lines[i]);
        commands[n] = w->daemons[i] ? g_strdup_printf("kill -0 %d", w->daemons[i]) : g_strdup("true");
    }
    for (guint i = 0; others[i]; i++)
        if (!is_in(w->lines, others[i]) && !is_in(w->skip, others[i])) {
            hosts[n] = g_strdup(others[i]);
            commands[n++] = g_strdup("true");
        }
    dome__hosts_run_each(hosts, (const char *const *)commands, w->seconds, answers);
    GString *silent = g_string_new(NULL);
    for (guint i = 0; i < n; i++)
        if (!answers[i])
            g_string_append_printf(silent, "%s%s", silent->len ? " " : "", hosts[i]);
    g_string_append_c(silent, '\n');
    g_free(answers);
    g_strfreev(commands);
    g_strfreev(hosts);
    g_strfreev(others);
    return g_string_free(silent, FALSE);
}

static pid_t start_child(char *(*function)(const work *w), const work *w, int *fd)
{
    /* PVM's library cannot use high descriptors, and lines must close when tasks end. */
    const dome_child_setup setup = {.line = DOME_CHILD_TELLS, .line_as = STDERR_FILENO + 1, .close_from = STDERR_FILENO + 2};
    pid_t pid = dome__child_fork(&setup, fd);
    if (pid == 0) {
        const char *said = function(w);
        if (said)
            dome__io_write(*fd, said, strlen(said));
        _exit(0);
    }
    return MAX(pid, 0);
}

pid_t dome__machine_add(const dome_launcher *launcher, char **lines, bool look_too, int *fd)
{
    return start_child(add, &(work){.launcher = launcher, .lines = lines, .look = look_too}, fd);
}

pid_t dome__machine_probe(const dome_launcher *launcher, char **hosts, const int *daemons, char **skip, double seconds, int *fd)
{
    return start_child(look, &(work){.launcher = launcher, .lines = hosts, .daemons = daemons, .skip = skip, .seconds = seconds},
                       fd);
}

int dome__machine_add_seconds(char **lines)
{
    return 25 + (int)g_strv_length(lines);
}

const char *dome__machine_add_failed(const char *said)
{
    if (strcmp(said, ADDED) == 0)
        return NULL;
    return said[0] ? said : "hosts cannot be added to the virtual machine";
}

/* The same, and waits for it. */
static bool add_hosts(const dome_launcher *launcher, char **lines, char **message)
{
    int fd;
    pid_t pid = dome__machine_add(launcher, lines, false, &fd);
    if (pid == 0) {
        *message = g_strdup(g_strerror(errno));
        return false;
    }
    GString *text = g_string_new(NULL);
    char buffer[1024];
    ssize_t n;
    int seconds = dome__machine_add_seconds(lines);
    const dome_deadline until = dome__deadline_in(seconds);
    while ((n = dome__deadline_read(fd, buffer, sizeof buffer, until)) > 0)
        g_string_append_len(text, buffer, n);
    if (n < 0 && errno == ETIMEDOUT) {
        kill(pid, SIGKILL);
        char *names = g_strjoinv(", ", lines);
        g_string_printf(text, "hosts cannot be added: no answer within %d s from all of: %s (host down or link cut)", seconds,
                        names);
        g_free(names);
    }
    close(fd);
    dome__child_reap(pid);
    const char *failed = dome__machine_add_failed(text->str);
    *message = g_strdup(failed);
    g_string_free(text, TRUE);
    return !failed;
}

void dome__private_machine_init(dome_private_machine *m, const dome_launcher *launcher)
{
    *m = (dome_private_machine){.launcher = launcher, .lock_fd = -1, .guard_fd = -1, .lifeline = -1};
}

bool dome__private_machine_start(dome_private_machine *m, const char *address, char **hosts, bool most_hosts, double timeout,
                                 char **message)
{
    m->directory = choose_directory(m->launcher);
    m->others = hosts != NULL;
    if (!m->directory) {
        *message = g_strdup_printf("no random numbers for the name of the private virtual machine: %s", g_strerror(errno));
        return false;
    }
    int lifeline = start_guard(m);
    if (make_directory(m, message))
        m->daemon = m->launcher->machine.start(m->directory, address, m->others, lifeline, timeout, message);
    if (lifeline >= 0)
        close(lifeline);
    if (m->daemon <= 0 || !hosts || !hosts[0])
        return m->daemon > 0;
    if (add_hosts(m->launcher, hosts, message))
        return true;
    if (waitpid(m->daemon, NULL, WNOHANG) > 0)
        m->daemon = -1;
    if (!most_hosts || m->daemon < 0)
        return false;
    dome__say("continuing without these hosts: %s", *message);
    g_clear_pointer(message, g_free);
    return true;
}

void dome__private_machine_guard_rank0(const dome_private_machine *m, pid_t rank0)
{
    ssize_t told = m->guard_fd >= 0 ? write(m->guard_fd, &rank0, sizeof rank0) : 0;
    (void)told; /* the program can run without the guard */
}

void dome__private_machine_leave(const dome_private_machine *m)
{
    const int own[] = {m->lock_fd, m->guard_fd, m->lifeline};
    for (size_t i = 0; i < G_N_ELEMENTS(own); i++)
        if (own[i] >= 0)
            close(own[i]);
}

void dome__private_machine_end_guard(const dome_private_machine *m)
{
    if (m->guard_fd >= 0) {
        kill(m->guard, SIGKILL); /* the machine is down */
        close(m->guard_fd);      /* where the system refuses to kill, the guard ends by itself */
        dome__child_reap(m->guard);
    }
    if (m->lifeline >= 0)
        close(m->lifeline);
}

void dome__private_machine_take_down(const dome_private_machine *m)
{
    if (m->directory)
        m->launcher->machine.take_down(m->directory, m->others);
    dome__private_machine_end_guard(m);
}
