#include "launch/launch.h"

#include "hub/hub.h"
#include "system/child.h"
#include "system/entropy.h"
#include "system/environment_variables.h"
#include "system/say.h"
#include "system/terminal.h"
#include "transport/address.h"
#include "wire/wire.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

void dome__open_streams(void)
{
    int fd;
    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

/* Whether the hub can have connections to all tasks. */
static bool has_room(const dome_launch_request *request, char **message)
{
    unsigned files;
    const int most = dome__hub_most_tasks(request->all_output, &files);
    if (request->tasks <= most)
        return true;
    *message = g_strdup_printf("%d tasks are more than the process that watches over them can have connections to, %d%s: the "
                               "limit on open files is %u (ulimit -Hn) on host %s: raise it, or run fewer tasks%s",
                               request->tasks, most, request->all_output ? " with --dome-output all" : "", files,
                               g_get_host_name(), request->all_output ? ", or leave out --dome-output all" : "");
    return false;
}

/* Whether the launcher can start so many tasks. of_host: on this host alone. */
static bool are_few_enough(const dome_launch_request *request, bool of_host, char **message)
{
    const dome_launcher *launcher = request->launcher;
    const int most = of_host ? launcher->most.on_host : launcher->most.in_program;
    if (request->tasks <= most)
        return true;
    *message = dome__launcher_too_many(launcher, request->tasks, of_host ? 1 : 0);
    return false;
}

/* Finds the user's machine, or starts a private one. */
static bool start_machine(dome_launch *launch, const dome_launch_request *request, char **message)
{
    const dome_launcher *launcher = request->launcher;
    const char *note = launcher->machine.prepare();
    char *left = NULL;
    if (!request->hosts && launcher->machine.there(&left))
        return true;
    if (!are_few_enough(request, !request->hosts, message)) {
        g_free(left);
        return false;
    }
    if (left)
        dome__say("%s", left);
    g_free(left);
    if (note && dome__terminal_is(STDERR_FILENO)) /* for the user who watches; not in every log */
        dome__say("%s", note);
    char *address = !request->hosts ? NULL : request->address ? g_strdup(request->address) : dome__outside_address();
    bool good = (!request->hosts || dome__address_is_outside(address, message)) &&
                dome__private_machine_start(&launch->machine, address, request->hosts, request->most_hosts,
                                            MAX(request->timeout, 10), message);
    g_free(address);
    return good;
}

/* Listens for tasks: on loopback only, unless outside (the machine has or may have other hosts). */
static bool listen_for_tasks(dome_launch *launch, bool outside, char **message)
{
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(outside ? INADDR_ANY : INADDR_LOOPBACK)};
    socklen_t length = sizeof here;
    launch->listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (launch->listen_fd < 0 || bind(launch->listen_fd, (struct sockaddr *)&here, sizeof here) < 0 ||
        listen(launch->listen_fd, 1024) < 0 || getsockname(launch->listen_fd, (struct sockaddr *)&here, &length) < 0) {
        *message = g_strdup_printf("cannot listen for the program's tasks: %s", g_strerror(errno));
        return false;
    }
    guint8 random[DOME_COOKIE_LENGTH / 2];
    if (!dome__random(random, sizeof random)) {
        *message = g_strdup_printf("no random numbers for the program's cookie: %s", g_strerror(errno));
        return false;
    }
    GString *cookie = g_string_new(NULL), *hub = g_string_new(NULL);
    for (size_t i = 0; i < sizeof random; i++)
        g_string_append_printf(cookie, "%02x", random[i]);
    g_string_append_printf(hub, "%s;127.0.0.1:%d", cookie->str, ntohs(here.sin_port));
    struct ifaddrs *interfaces = NULL;
    if (outside && getifaddrs(&interfaces) == 0) {
        for (struct ifaddrs *i = interfaces; i; i = i->ifa_next) {
            char text[INET_ADDRSTRLEN];
            if (!i->ifa_addr || i->ifa_addr->sa_family != AF_INET || (i->ifa_flags & IFF_LOOPBACK) || !(i->ifa_flags & IFF_UP))
                continue;
            const struct sockaddr_in *in = (const struct sockaddr_in *)(const void *)i->ifa_addr;
            g_string_append_printf(hub, ",%s:%d", inet_ntop(AF_INET, &in->sin_addr, text, sizeof text), ntohs(here.sin_port));
        }
        freeifaddrs(interfaces);
    }
    g_string_append_printf(hub, ";%s", launch->machine.directory ? launch->machine.directory : "");
    launch->cookie = g_string_free(cookie, FALSE);
    launch->hub = g_string_free(hub, FALSE);
    return true;
}

bool dome__launch_open(dome_launch *launch, const dome_launch_request *request, char **message)
{
    *launch = (dome_launch){
        .timeout = request->timeout,
        .before_init = request->before_init,
        .script = request->script,
        .size_auto = request->size_auto,
        .by_command = request->by_command,
        .listen_fd = -1,
        .signal_fd = -1,
        .report_fd = request->report_fd > 0 ? request->report_fd : -1,
        .shown_fd = request->shown_fd > 0 ? request->shown_fd : -1,
        .output = DOME_STREAM_NONE,
        .once = request->once,
        .path = request->path,
        .directory = request->directory,
        .words = request->words,
        .heals = request->heals && request->path,
        .tells = request->tells,
        .logs = request->logs,
        .left = request->left,
    };
    dome__private_machine_init(&launch->machine, request->launcher);
    /* A process that ignores SIGCHLD cannot learn how its children end. */
    const struct sigaction heard = {.sa_handler = SIG_DFL};
    sigaction(SIGCHLD, &heard, &launch->child_action);
    bool good = are_few_enough(request, false, message) && has_room(request, message);
    good = good &&
           (request->only_listen || !(request->launcher->can & DOME_LAUNCHER_MACHINE) || start_machine(launch, request, message));
    bool outside = request->only_listen || request->hosts || !launch->machine.directory;
    good = good && listen_for_tasks(launch, outside, message);
    if (!good) {
        dome__private_machine_take_down(&launch->machine);
        sigaction(SIGCHLD, &launch->child_action, NULL);
    }
    return good;
}

void dome__launch_close(dome_launch *launch)
{
    close(launch->listen_fd);
    dome__private_machine_take_down(&launch->machine);
    sigaction(SIGCHLD, &launch->child_action, NULL);
    if (launch->machine.lock_fd >= 0)
        close(launch->machine.lock_fd);
    g_clear_pointer(&launch->machine.directory, g_free);
    g_clear_pointer(&launch->cookie, g_free);
    g_clear_pointer(&launch->hub, g_free);
}

static dome_hub hub_of(const dome_launch *launch)
{
    return (dome_hub){
        .listen_fd = launch->listen_fd,
        .cookie = launch->cookie,
        .timeout = launch->timeout,
        .signal_fd = launch->signal_fd,
        .report_fd = launch->report_fd,
        .shown_fd = MAX(launch->shown_fd, 0),
        .rank0_output = MAX(launch->output.out, 0),
        .machine = {launch->machine.launcher, launch->machine.daemon, launch->machine.directory, launch->machine.others},
        .script = launch->script,
        .size_auto = launch->size_auto,
        .by_command = launch->by_command,
    };
}

static void tell_started(const dome_launch *launch, pid_t rank0)
{
    if (launch->report_fd >= 0)
        dome__wire_send(
            launch->report_fd, NULL,
            &(dome_wire_message){.kind = DOME_WIRE_STARTED,
                                 .started = {(uint32_t)rank0, (uint32_t)launch->machine.daemon, launch->machine.directory}});
}

/* In a child: gives up what only the hub needs. blocked: signals that stay blocked for dome_init; NULL: none. */
static void leave_hub(const dome_launch *launch, const sigset_t *blocked)
{
    const int own[] = {launch->signal_fd, launch->listen_fd, launch->report_fd, launch->shown_fd};
    for (size_t i = 0; i < G_N_ELEMENTS(own); i++)
        if (own[i] >= 0)
            close(own[i]);
    dome__private_machine_leave(&launch->machine);
    dome__stream_take(&launch->output, STDOUT_FILENO);
    sigset_t mask = launch->mask;
    if (blocked)
        sigorset(&mask, &mask, blocked);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    sigaction(SIGCHLD, &launch->child_action, NULL);
}

/* Settings that the hub changes for itself, and that exec would keep. */
static void note_before(dome_launch *launch)
{
    struct sigaction action;
    launch->ignores_pipe = sigaction(SIGPIPE, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
    launch->ignores_size = sigaction(SIGXFSZ, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
    getrlimit(RLIMIT_NOFILE, &launch->files);
    if (launch->path && stat(launch->path, &launch->file) < 0)
        launch->file = (struct stat){0};
    launch->resolved = launch->path ? realpath(launch->path, NULL) : NULL;
}

static void be_as_before(const dome_launch *launch)
{
    signal(SIGPIPE, launch->ignores_pipe ? SIG_IGN : SIG_DFL);
    signal(SIGXFSZ, launch->ignores_size ? SIG_IGN : SIG_DFL);
    setrlimit(RLIMIT_NOFILE, &launch->files);
}

static bool is_program(const dome_launch *launch, const char *path)
{
    struct stat now;
    return path && stat(path, &now) == 0 && now.st_dev == launch->file.st_dev && now.st_ino == launch->file.st_ino &&
           now.st_mtim.tv_sec == launch->file.st_mtim.tv_sec && now.st_mtim.tv_nsec == launch->file.st_mtim.tv_nsec;
}

/* A path that leads to the file that was started: a link may lead elsewhere by now. NULL: there is none. */
static const char *path_of(const dome_launch *launch)
{
    return is_program(launch, launch->path) ? launch->path : is_program(launch, launch->resolved) ? launch->resolved : NULL;
}

static pid_t start_rank0(void *ctx, const char *view)
{
    const dome_launch *launch = ctx;
    const char *path = path_of(launch);
    char **environment = g_environ_unsetenv(g_environ_setenv(g_get_environ(), DOME_VARIABLE_VIEW, view, TRUE), DOME_VARIABLE_HUB);
    sigset_t requests; /* would end it before dome_init can take them, which then lets them come (program/exec.c) */
    sigemptyset(&requests);
    sigaddset(&requests, SIGTERM);
    sigaddset(&requests, SIGUSR1);
    const pid_t pid = fork();
    if (pid == 0) {
        leave_hub(launch, &requests);
        be_as_before(launch);
        if (path && (!launch->directory || chdir(launch->directory) == 0))
            execve(path, launch->words, environment);
        _exit(127);
    }
    g_strfreev(environment);
    if (pid > 0)
        dome__private_machine_guard_rank0(&launch->machine, pid);
    return MAX(pid, 0);
}

static bool same_file(void *ctx)
{
    return path_of(ctx) != NULL;
}

static void healing(void *ctx, pid_t rank0)
{
    tell_started(ctx, rank0);
}

/* There is no hub: ends this process, in which the program has not begun. */
static void give_up(dome_launch *launch, const char *what) __attribute__((noreturn));

static void give_up(dome_launch *launch, const char *what)
{
    const int error = errno;
    dome__say("cannot start the process that watches over the program: %s: %s", what, g_strerror(error));
    dome__private_machine_take_down(&launch->machine);
    _exit(1);
}

/* Where that cannot be, output appears as it is written. */
static void open_output(dome_launch *launch)
{
    g_unsetenv(DOME_VARIABLE_ONCE); /* of a program that has started this one */
    if (!launch->once)
        return;
    if (dome__stream_open(&launch->output, STDOUT_FILENO))
        g_setenv(DOME_VARIABLE_ONCE, "1", TRUE);
    else
        dome__say("after a loss the program's lines may appear twice: its output cannot be led through this process: %s",
                  strerror(errno));
}

void dome__launch_fork(dome_launch *launch)
{
    fflush(NULL);
    launch->signal_fd = dome__hub_signals(&launch->mask);
    if (launch->signal_fd < 0)
        give_up(launch, "its signals");
    note_before(launch);
    open_output(launch);
    pid_t pid = fork();
    if (pid == 0) {
        leave_hub(launch, NULL);
        return;
    }
    if (pid < 0)
        give_up(launch, "fork");
    dome_hub hub = hub_of(launch);
    hub.rank0 = pid;
    hub.rank0_is_child = true;
    hub.rank0_in_init = !launch->before_init;
    signal(SIGPIPE, SIG_IGN);
    dome__private_machine_guard_rank0(&launch->machine, pid);
    hub.heals = launch->heals;
    hub.tells = launch->tells;
    hub.logs = launch->logs;
    hub.left = launch->left;
    hub.start_rank0 = start_rank0;
    hub.same_file = same_file;
    hub.healing = healing;
    hub.ctx = launch;
    tell_started(launch, pid);
    int number, status = dome__hub_run(&hub, &number);
    dome__private_machine_end_guard(&launch->machine);
    if (number && number != SIGKILL) { /* the waiting parent sees how rank 0 ended */
        struct sigaction action = {.sa_handler = SIG_DFL};
        sigset_t set;
        sigaction(number, &action, NULL);
        sigemptyset(&set);
        sigaddset(&set, number);
        raise(number);
        sigprocmask(SIG_UNBLOCK, &set, NULL);
    }
    _exit(status);
}

void dome__launch_fork_hub(dome_launch *launch)
{
    sigset_t old;
    fflush(NULL);
    pid_t parent = getpid();
    launch->signal_fd = dome__hub_signals(&old);
    if (launch->signal_fd < 0)
        give_up(launch, "its signals");
    pid_t pid = fork();
    if (pid == 0) {
        setsid();
        dome_hub hub = hub_of(launch);
        hub.rank0 = parent;
        int number;
        _exit(dome__hub_run(&hub, &number));
    }
    if (pid < 0)
        give_up(launch, "fork");
    sigprocmask(SIG_SETMASK, &old, NULL);
    sigaction(SIGCHLD, &launch->child_action, NULL);
    close(launch->signal_fd);
    close(launch->listen_fd);
    launch->hub_pid = pid;
}

void dome__launch_drop_hub(dome_launch *launch)
{
    dome__child_kill(launch->hub_pid);
}
