#include "pvm/pvm.h"

#include "system/child.h"
#include "system/deadline.h"
#include "system/environment_variables.h"
#include "system/files.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <netinet/in.h>
#include <poll.h>
#include <pvm3.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* NULL: PVM_ROOT is unset or empty. */
static const char *root_set(void)
{
    const char *root = g_getenv("PVM_ROOT");
    return root && *root ? root : NULL;
}

/* An address file of a daemon is shorter than this. */
enum { MOST_ADDRESS = 4096 };

bool dome__pvm_environment(void)
{
    if (!root_set())
        g_setenv("PVM_ROOT", DOME_PVM_DEFAULT_ROOT, TRUE);
    if (geteuid() == 0 && !g_getenv("PVM_ALLOW_ROOT")) {
        g_setenv("PVM_ALLOW_ROOT", "1", TRUE);
        return true;
    }
    return false;
}

char *dome__pvm_daemon_program(char **trouble)
{
    const char *root = root_set() ? root_set() : DOME_PVM_DEFAULT_ROOT;
    char *program = g_build_filename(root, "lib", "pvmd", NULL);
    *trouble = NULL;
    if (access(program, X_OK) == 0)
        return program;
    g_free(program);
    program = g_find_program_in_path("pvmd");
    if (!program)
        *trouble = g_strdup_printf("no PVM daemon in $PVM_ROOT/lib (PVM_ROOT is %s) or on the PATH", root);
    else if (root_set())
        *trouble =
            g_strdup_printf("PVM_ROOT is %s, and there is no lib/pvmd in it: programs use %s, from the PATH", root, program);
    return program;
}

/* Whether a daemon answers at an address from its file: the path of a local socket, or host and port in hexadecimal. */
static bool answers(const char *text)
{
    int fd = -1;
    bool connected = false;
    unsigned host, port;
    if (text[0] == '/') {
        struct sockaddr_un to = {.sun_family = AF_UNIX};
        g_strlcpy(to.sun_path, text, sizeof to.sun_path);
        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        connected = fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof to) == 0;
        if (connected && !dome__pvm_process_listens(fd, text)) {
            connected = false;
            errno = ECONNREFUSED;
        }
    } else if (sscanf(text, "%8x:%4x", &host, &port) == 2) {
        struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(host)};
        fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        struct pollfd p = {.fd = fd, .events = POLLOUT};
        int error = 0;
        socklen_t length = sizeof error;
        connected = fd >= 0 && (connect(fd, (struct sockaddr *)&to, sizeof to) == 0 ||
                                (errno == EINPROGRESS && poll(&p, 1, 2000) == 1 &&
                                 getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) == 0 && error == 0));
    }
    if (fd >= 0)
        close(fd);
    return connected;
}

static char *file_of_daemon(const char *kind)
{
    const char *tmp = g_getenv("PVM_TMP"), *vmid = g_getenv("PVM_VMID");
    return g_strdup_printf("%s/%s.%u%s%s", tmp ? tmp : "/tmp", kind, (unsigned)geteuid(), vmid ? "." : "", vmid ? vmid : "");
}

char *dome__pvm_daemon_file(void)
{
    return file_of_daemon("pvmd");
}

char *dome__pvm_daemon_log(void)
{
    return file_of_daemon("pvml");
}

bool dome__pvm_daemon_answers(char **stale)
{
    *stale = NULL;
    const char *socket_text = g_getenv("PVMSOCK");
    if (socket_text && answers(socket_text))
        return true;
    char *path = dome__pvm_daemon_file(), *text = NULL;
    bool live = false;
    const char *reason;
    if ((text = dome__file_read(path, MOST_ADDRESS, &reason))) { /* untrusted: any user may have created a file of that name */
        live = answers(g_strstrip(text));
        if (!live)
            *stale = g_strdup(path);
    }
    g_free(text);
    g_free(path);
    return live;
}

bool dome__pvm_daemon_gone(void)
{
    char *stale = NULL;
    errno = 0;
    const bool gone = !dome__pvm_daemon_answers(&stale) && (errno == ECONNREFUSED || errno == ENOENT);
    g_free(stale);
    return gone;
}

/* Reads the line in which the daemon prints its address on standard output; if there is none, the daemon has failed. */
static bool read_address(int fd, char *line, size_t size, double timeout)
{
    size_t have = 0;
    const dome_deadline until = dome__deadline_in(timeout);
    while (have + 1 < size) {
        ssize_t n = dome__deadline_read(fd, line + have, size - 1 - have, until);
        if (n <= 0)
            return false;
        have += (size_t)n;
        line[have] = 0;
        char *end = strchr(line, '\n');
        if (end) {
            *end = 0;
            return end > line + 1;
        }
    }
    return false;
}

/* Makes the kernel send this process SIGTERM when the other end of the socket is closed: this needs no monitoring process and
 * survives exec. The socket becomes standard input, which tasks inherit from the daemon and find empty. */
static void hang_on(int lifeline)
{
    fcntl(lifeline, F_SETOWN, getpid());
    fcntl(lifeline, F_SETSIG, SIGTERM);
    fcntl(lifeline, F_SETFL, fcntl(lifeline, F_GETFL) | O_ASYNC);
    dup2(lifeline, 0);
}

/* In the daemon's process. */
static void become_daemon(const char *program, const char *name, const char *error_path, int lifeline) __attribute__((noreturn));

static void become_daemon(const char *program, const char *name, const char *error_path, int lifeline)
{
    setsid(); /* the daemon must not get signals from the keyboard */
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur > 1024) {
        files.rlim_cur = 1024; /* the daemon uses select, and closes every possible descriptor at each spawn */
        setrlimit(RLIMIT_NOFILE, &files);
    }
    const int error = open(error_path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (error >= 0)
        dup2(error, 2);
    if (lifeline >= 0)
        hang_on(lifeline);
    execl(program, program, name, (char *)NULL);
    _exit(127);
}

/* The status, as of waitpid, of a daemon that has closed its standard output without a line. Kills it if it does not end soon. */
static int status_of_failed(pid_t pid)
{
    int status = 0;
    pid_t ended = 0;
    for (int i = 0; i < 100 && (ended = waitpid(pid, &status, WNOHANG)) == 0; i++)
        g_usleep(10000);
    if (ended == 0)
        dome__child_kill(pid);
    return ended > 0 ? status : 0;
}

/* Whether a signal from outside has ended the process. After a crash another attempt would crash, too. */
static bool was_killed(int status)
{
    return WIFSIGNALED(status) && (WTERMSIG(status) == SIGKILL || WTERMSIG(status) == SIGTERM);
}

/* The daemon's own message: from standard error, else from its log. g_free'd by the caller. */
static char *why_not_started(const char *program, const char *directory, const char *id, const char *error_path, int status)
{
    char *log = g_strdup_printf("%s/pvml.%u.%s", directory, (unsigned)geteuid(), id), *text = NULL;
    if (!g_file_get_contents(error_path, &text, NULL, NULL) || !text[0]) {
        g_free(text);
        text = NULL;
        g_file_get_contents(log, &text, NULL, NULL);
    }
    if (WIFSIGNALED(status)) {
        g_free(text);
        text = g_strdup_printf("it was ended by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    }
    if (text)
        g_strdelimit(g_strstrip(text), "\n", ';');
    char *message =
        g_strdup_printf("the PVM daemon %s did not start%s%s", program, text && text[0] ? ": " : "", text ? text : "");
    g_free(text);
    g_free(log);
    return message;
}

pid_t dome__pvm_daemon_start(const char *directory, const char *address, int lifeline, double timeout, char **message)
{
    char *trouble, *program = dome__pvm_daemon_program(&trouble);
    if (!program) {
        *message = g_strconcat(trouble, ": install the package pvm, set PVM_ROOT, or run with --dome-transport self", NULL);
        g_free(trouble);
        return 0;
    }
    g_free(trouble);
    g_unsetenv("PVMSOCK");
    g_setenv("PVM_TMP", directory, TRUE);
    char *id = g_path_get_basename(directory); /* distinguishes the slave daemons of several runs on one host */
    g_setenv("PVM_VMID", id, TRUE);
    char *name = address ? g_strdup_printf("-n%s", address) : NULL;
    char *error_path = g_build_filename(directory, "pvmd.err", NULL);
    const dome_child_setup setup = {
        .line = DOME_CHILD_TELLS, .line_as = STDOUT_FILENO, .null = DOME_CHILD_IN | DOME_CHILD_ERR, .unblocked = true};
    int out;
    pid_t pid = dome__child_fork(&setup, &out);
    if (pid == 0)
        become_daemon(program, name, error_path, lifeline);
    char line[256];
    if (pid < 0) {
        *message = g_strdup_printf("cannot start %s: %s", program, g_strerror(errno));
        pid = 0;
    } else if (read_address(out, line, sizeof line, timeout)) {
        g_setenv("PVMSOCK", line, TRUE);
    } else {
        const int status = status_of_failed(pid);
        *message = why_not_started(program, directory, id, error_path, status);
        pid = was_killed(status) ? -1 : 0;
    }
    if (out >= 0)
        close(out);
    g_free(id);
    g_free(error_path);
    g_free(name);
    g_free(program);
    return pid;
}

void dome__pvm_write_rsh(const char *directory)
{
    /* PVM waits a minute for an answer, and never ends a command that gives none: hence `timeout`. The last argument is the
     * command that PVM wants to run. A login without a terminal lacks the user's PVM settings, so they are passed. On the other
     * host the files of the daemon (its log among them) get a directory of their own, which a shell removes when the daemon has
     * ended. Files of which no process is left, after a power failure for example, are removed here, unless they are so new that
     * a daemon may be about to start. */
    static const char script[] =
        "#!/bin/sh\n"
        "# Starts a pvmd on another host: HOST [-l USER] [-n] COMMAND\n"
        "host=$1; shift; user=\n"
        "while [ $# -gt 1 ]; do case $1 in -l) user=$2; shift 2 ;; *) shift ;; esac; done\n"
        "ssh='ssh -o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=5 -o ServerAliveCountMax=2'\n"
        "exec timeout --foreground 20 ${DOME_RSH:-$ssh} ${user:+-l \"$user\"} \"$host\" exec /bin/sh -c \\\n"
        "    \"'\"'PVM_ROOT=${PVM_ROOT:-" DOME_PVM_DEFAULT_ROOT
        "}; PVM_ALLOW_ROOT=1; for dir in /tmp/dome-host.*; do [ -d \"$dir\" ] && [ ! -h \"$dir\" ] && [ -O \"$dir\" ] && "
        "[ -n \"$(find \"$dir\" -maxdepth 0 -mmin +1)\" ] && ! grep -qsz \"^PVM_TMP=$dir\\$\" /proc/[0-9]*/environ && "
        "rm -rf \"$dir\"; done; PVM_TMP=$(mktemp -d /tmp/dome-host.XXXXXX) || exit; "
        "export PVM_ROOT PVM_ALLOW_ROOT PVM_TMP; '\"$1\"'; status=$?; dir=$PVM_TMP; unset PVM_TMP; "
        "(trap \"\" TERM HUP; cd /; for p in $(grep -lsz \"^PVM_TMP=$dir\\$\" /proc/[0-9]*/environ | tr -dc \"0-9\\n\"); "
        "do while kill -0 $p; do sleep 0.5; done; done; rm -rf \"$dir\") </dev/null >/dev/null 2>&1 & "
        "exit $status'\"'\"\n";
    char *path = g_build_filename(directory, "rsh", NULL);
    if (g_file_set_contents(path, script, -1, NULL) && chmod(path, 0700) == 0) {
        const char *own = g_getenv("PVM_RSH");
        if (own && !g_getenv(DOME_VARIABLE_RSH))
            g_setenv(DOME_VARIABLE_RSH, own, TRUE);
        g_setenv("PVM_RSH", path, TRUE);
    }
    g_free(path);
}

static const char *why_not_added(int code)
{
    switch (code) {
    case PvmIPLoopback:
        return "this host's name resolves to a loopback address, so no other host could reach it: give the master an address "
               "with "
               "--address, or correct /etc/hosts";
    case PvmCantStart:
        return "its pvmd could not be started: does `ssh -o BatchMode=yes HOST true` work, and is the package pvm installed "
               "there?";
    case PvmDupHost:
        return "it is in the machine already";
    case PvmDSysErr:
        return "this host's pvmd cannot start others: does `getent services exec` print a line? If not, install the package "
               "netbase";
    case PvmBadVersion:
        return "its pvmd is of another version";
    case PvmNoHost:
        return "there is no host of that name";
    default:
        return "PVM refused";
    }
}

/* The last line printed by the command that should have started a pvmd on host, from the daemon's log; NULL if none. */
static char *said_by_rsh(const char *host)
{
    char *log = dome__pvm_daemon_log();
    char *before = g_strdup_printf(" stderr@%s: ", host), *text = NULL, *found = NULL;
    if (g_file_get_contents(log, &text, NULL, NULL)) {
        for (char *at = strstr(text, before); at; at = strstr(at, before)) {
            at += strlen(before);
            char *line = g_strndup(at, strcspn(at, "\r\n"));
            bool guess = strstr(line, "WIN32"); /* PVM also tries the host as a WIN32 one; prefer other messages */
            g_free(guess ? line : found);
            found = guess ? found : line;
        }
    }
    g_free(text);
    g_free(before);
    g_free(log);
    return found;
}

/* PVM itself starts five at a time. Options of how a daemon is started (so=) are left to it, and the user's own machine, whose
 * command to reach hosts only its daemon knows. */
static bool needs_hoster(char **lines)
{
    enum { AT_ONCE = 5 };
    for (char **line = lines; *line; line++)
        if (strstr(*line, "so="))
            return false;
    return g_getenv("PVM_VMID") && g_strv_length(lines) > AT_ONCE;
}

bool dome__pvm_add_hosts(char **lines, bool *old, char **message)
{
    guint n = g_strv_length(lines);
    GString *failed = g_string_new(NULL);
    const pid_t hoster = needs_hoster(lines) ? dome__pvm_hoster_start() : 0;
    pvm_setopt(PvmAutoErr, 0);
    if (pvm_mytid() < 0) {
        dome__pvm_hoster_end(hoster);
        *message = g_strdup("cannot enrol in the PVM virtual machine");
        g_string_free(failed, TRUE);
        return false;
    }
    int *infos = g_new0(int, n + 1);
    char **full = g_new0(char *, n + 1);
    for (guint i = 0; i < n; i++)
        full[i] = g_strconcat(lines[i], g_getenv("PVM_VMID") ? " id=" : "", g_getenv("PVM_VMID"), NULL);
    int cc = n ? pvm_addhosts(full, (int)n, infos) : 0;
    dome__pvm_hoster_end(hoster);
    g_strfreev(full);
    for (guint i = 0; i < n; i++) {
        int code = cc < 0 ? cc : infos[i];
        if (old)
            old[i] = code == PvmDupHost;
        if (code < 0 && code != PvmDupHost) {
            char *host = g_strndup(lines[i], strcspn(lines[i], " \t"));
            char *said = code == PvmCantStart ? said_by_rsh(host) : NULL;
            g_string_append_printf(failed, "%shost %s cannot be added: %s%s (PVM error %d)", failed->len ? "; " : "", host,
                                   said ? "its pvmd could not be started: " : "", said ? said : why_not_added(code), code);
            g_free(said);
            g_free(host);
        }
    }
    g_free(infos);
    pvm_exit();
    bool good = failed->len == 0;
    *message = g_string_free(failed, good);
    return good;
}
