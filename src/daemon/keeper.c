#include "daemon/keeper.h"

#include "daemon/user_rights.h"
#include "system/child.h"
#include "system/files.h"
#include "system/io.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TEXT_MOST = 4096 };

static char *path_of(const char *folder, int64_t id, int64_t attempt, const char *end)
{
    return g_strdup_printf("%s/j%" G_GINT64_FORMAT ".%" G_GINT64_FORMAT "%s", folder, id, attempt, end);
}

/* ---- the program's first process ---- */

typedef struct beginning {
    const dome_program *program;
    char **words;
    const char *hosts;
    char **environment;
    int say; /* why it cannot begin is written there; closed by exec */
} beginning;

static void cannot(const beginning *b, const char *what, const char *why) __attribute__((noreturn));

static void cannot(const beginning *b, const char *what, const char *why)
{
    char text[TEXT_MOST];
    const int length = g_snprintf(text, sizeof text, "%s: %s", what, why);
    dome__io_write(b->say, text, (uint64_t)CLAMP(length, 0, (int)sizeof text - 1));
    _exit(126);
}

/* The owner of the program cannot read the daemon's folder: the file of hosts is opened here, before the rights change, and the
 * program inherits the descriptor. */
static void open_hosts(const beginning *b)
{
    const int fd = b->hosts ? open(b->hosts, O_RDONLY | O_NOFOLLOW) : -1;
    if (b->hosts && fd < 0)
        cannot(b, b->hosts, g_strerror(errno));
    for (char **word = b->words; b->hosts && *word; word++)
        if (strcmp(*word, b->hosts) == 0) {
            *word = g_strdup_printf("/proc/self/fd/%d", fd);
            return;
        }
}

/* Where the attempts of a program note what of its output has been shown: beside that, so that each host which can go on with the
 * one finds the other. */
static char *output_state_of(const dome_program *p)
{
    char *folder = g_path_get_dirname(p->output), *name = g_path_get_basename(p->output);
    char *path = g_strdup_printf("%s/.%s.j%" G_GINT64_FORMAT ".shown", folder, name, p->id);
    g_free(folder);
    g_free(name);
    return path;
}

/* The words with that option behind `dome run`, if the program has a hub, may begin again, and its output is a file beside which
 * there may be another. fd: the output. */
static char **with_output_state(const beginning *b, int fd)
{
    const dome_program *p = b->program;
    char *path = output_state_of(p), *folder = g_path_get_dirname(path);
    struct stat s;
    if (p->attempt == 1)
        unlink(path);
    if (!p->again || p->tasks < 2 || fstat(fd, &s) < 0 || !S_ISREG(s.st_mode) || access(folder, W_OK) < 0)
        return b->words;
    GPtrArray *words = g_ptr_array_new();
    g_ptr_array_add(words, b->words[0]);
    g_ptr_array_add(words, b->words[1]);
    g_ptr_array_add(words, g_strdup_printf("--output-state=%s", path));
    for (char **word = b->words + 2; *word; word++)
        g_ptr_array_add(words, *word);
    g_ptr_array_add(words, NULL);
    return (char **)g_ptr_array_free(words, FALSE);
}

static void become(const beginning *b, pid_t keeper) __attribute__((noreturn));

static void become(const beginning *b, pid_t keeper)
{
    const dome_program *p = b->program;
    if (p->uid != geteuid())
        open_hosts(b);
    dome__owner_set_limits(p->limits);
    const char *why = dome__owner_become(p->uid, p->gid, p->owner);
    if (why)
        cannot(b, "the program cannot be started as its owner", why);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != keeper)
        _exit(126);
    if (chdir(p->directory) < 0)
        cannot(b, p->directory, g_strerror(errno));
    const int out = open(p->output, O_WRONLY | O_CREAT | O_APPEND | O_NOCTTY | O_NONBLOCK | O_CLOEXEC, 0666);
    if (out < 0)
        cannot(b, p->output, g_strerror(errno));
    fcntl(out, F_SETFL, fcntl(out, F_GETFL) & ~O_NONBLOCK);
    if (dup2(out, STDOUT_FILENO) < 0 || dup2(out, STDERR_FILENO) < 0)
        cannot(b, p->output, g_strerror(errno));
    execve(b->words[0], with_output_state(b, out), b->environment);
    cannot(b, b->words[0], g_strerror(errno));
}

/* ---- the keeper ---- */

static bool write_end(const char *path, int status, const char *why)
{
    const char *reason;
    dome_record end = dome__record_new("ended");
    dome__record_add_number(&end, "status", status);
    dome__record_add(&end, "why", why);
    dome__record_add_number(&end, "time", time(NULL));
    char *line = dome__record_line(&end), *text = g_strconcat(line, "\n", NULL);
    const bool good = dome__file_replace(path, text, 0600, &reason);
    g_free(text);
    g_free(line);
    dome__record_clear(&end);
    return good;
}

/* What the child says before it becomes `dome run`; "": nothing. */
static void hear(int fd, char text[TEXT_MOST])
{
    const uint64_t n = fd >= 0 ? dome__io_read(fd, text, TEXT_MOST - 1) : 0;
    text[n] = '\0';
    if (fd >= 0)
        close(fd);
}

/* A disk that is full may have room later. */
static void tell_end(const char *folder, const dome_program *p, int status, const char *why)
{
    enum { TRIES = 1800, PAUSE = 2 };
    char *path = path_of(folder, p->id, p->attempt, DOME_KEEPER_END);
    for (int k = 0; k < TRIES && !write_end(path, status, why); k++)
        sleep(PAUSE);
    g_free(path);
}

/* Also of processes whose parents have ended: a hub's. */
static int await(pid_t run)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, 0)) != run)
        if (pid < 0 && errno != EINTR)
            return 1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void keep(const char *folder, beginning *b, int lock) __attribute__((noreturn));

static void keep(const char *folder, beginning *b, int lock)
{
    static const int ignored[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGPIPE};
    const pid_t self = getpid();
    char text[TEXT_MOST];
    int line = -1;
    setsid();
    prctl(PR_SET_NAME, "dome-keeper");
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    for (size_t i = 0; i < G_N_ELEMENTS(ignored); i++)
        signal(ignored[i], SIG_IGN);
    const dome_child_setup setup = {
        .line = DOME_CHILD_TELLS, .null = DOME_CHILD_STANDARD, .unblocked = true, .handles_none = true, .group = true};
    const pid_t run = dome__child_fork(&setup, &line);
    if (run == 0) {
        b->say = line;
        become(b, self);
    }
    if (run < 0) {
        tell_end(folder, b->program, 126, g_strerror(errno));
        _exit(1);
    }
    g_snprintf(text, sizeof text, "%d\n", (int)run);
    if (pwrite(lock, text, strlen(text), 0) < 0) /* the program goes on, and cannot be ended by its daemon */
        text[0] = '\0';
    hear(line, text);
    tell_end(folder, b->program, await(run), text);
    _exit(0);
}

/* Becomes the keeper, by one fork more: the daemon shall not be its parent, nor wait for it. It has nothing of the daemon's open
 * but the lock. */
static void leave(const char *folder, beginning *b, int lock) __attribute__((noreturn));

static void leave(const char *folder, beginning *b, int lock)
{
    const int kept = dup2(lock, STDERR_FILENO + 1);
    close_range(STDERR_FILENO + 2, ~0U, 0);
    if (kept < 0 || fcntl(kept, F_SETFD, FD_CLOEXEC) < 0)
        _exit(1);
    const pid_t keeper = dome__child_fork(&(dome_child_setup){0}, NULL);
    if (keeper == 0)
        keep(folder, b, kept);
    _exit(keeper < 0);
}

/* A descriptor whose lock the keeper inherits; -1 with errno. */
static int take_lock(const char *path)
{
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) == 0)
        return fd;
    const int error = errno;
    close(fd);
    errno = error;
    return -1;
}

static char **environment_of(const dome_program *p, char *const *variables)
{
    char **all = g_strdupv(p->environment);
    for (; *variables; variables++) {
        char **parts = g_strsplit(*variables, "=", 2);
        all = g_environ_setenv(all, parts[0], parts[1], TRUE);
        g_strfreev(parts);
    }
    return all;
}

bool dome__keeper_start(const char *folder, const dome_program *program, char **words, const char *hosts, char *const *variables,
                        char **message)
{
    char *path = path_of(folder, program->id, program->attempt, ".run");
    const int lock = take_lock(path);
    beginning b = {program, words, hosts, NULL, -1};
    pid_t keeper = -1;
    if (lock >= 0) {
        b.environment = environment_of(program, variables);
        const dome_child_setup setup = {.null = DOME_CHILD_STANDARD, .unblocked = true, .handles_none = true};
        keeper = dome__child_fork(&setup, NULL);
        if (keeper == 0)
            leave(folder, &b, lock);
        if (keeper > 0 && dome__child_reap(keeper) != 0) {
            keeper = -1;
            errno = EAGAIN;
        }
    }
    if (keeper < 0)
        *message = g_strdup_printf("%s: %s", path, g_strerror(errno));
    if (lock >= 0)
        close(lock);
    g_strfreev(b.environment);
    g_free(path);
    return keeper > 0;
}

/* ---- the daemon ---- */

void dome__keeper_forget_output(const dome_program *program)
{
    const dome_child_setup setup = {.null = DOME_CHILD_STANDARD, .unblocked = true, .handles_none = true};
    const pid_t child = dome__child_fork(&setup, NULL);
    if (child == 0) {
        if (dome__child_fork(&setup, NULL) == 0 && !dome__owner_become(program->uid, program->gid, program->owner))
            unlink(output_state_of(program));
        _exit(0);
    }
    if (child > 0)
        dome__child_reap(child);
}

static bool read_end(const char *path, dome_record *end)
{
    const char *reason;
    char *text = dome__file_read(path, TEXT_MOST * 4, &reason);
    const bool good = text && dome__record_parse(text, strcspn(text, "\n"), end);
    g_free(text);
    return good;
}

dome_keeper_state dome__keeper_look(const char *folder, int64_t id, int64_t attempt, pid_t *run, dome_record *end)
{
    char *path = path_of(folder, id, attempt, ".run"), *end_path = path_of(folder, id, attempt, DOME_KEEPER_END), text[32];
    dome_keeper_state state = DOME_KEEPER_NONE;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    *run = 0;
    if (access(end_path, F_OK) == 0 && read_end(end_path, end)) { /* its keeper may still be there for a moment */
        state = DOME_KEEPER_ENDED;
    } else if (fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK) {
        const ssize_t n = pread(fd, text, sizeof text - 1, 0);
        text[MAX(n, 0)] = '\0';
        *run = (pid_t)strtol(text, NULL, 10);
        state = DOME_KEEPER_RUNS;
    }
    if (fd >= 0)
        close(fd);
    g_free(path);
    g_free(end_path);
    return state;
}

void dome__keeper_forget(const char *folder, int64_t id, int64_t attempt)
{
    static const char *const ends[] = {".run", DOME_KEEPER_END, ".hosts"};
    for (size_t i = 0; i < G_N_ELEMENTS(ends); i++) {
        char *path = path_of(folder, id, attempt, ends[i]);
        unlink(path);
        g_free(path);
    }
}
