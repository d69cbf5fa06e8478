#include "supervision/launch.h"

#include "core/files.h"
#include "supervision/hub.h"
#include "supervision/wire.h"

#ifdef DOME_WITH_PVM
#include "pvm/pvm.h"
#endif

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PREFIX "dome-"

void dome__open_streams(void)
{
    int fd;
    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

#ifdef DOME_WITH_PVM

/* The hub holds a lock on its directory. One without is of a run whose processes were all killed at once. */
static int lock_directory(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static void sweep(const char *parent)
{
    GDir *dir = g_dir_open(parent, 0, NULL);
    char *mine = g_strdup_printf(PREFIX "%u-", (unsigned)geteuid());
    const char *name;
    while (dir && (name = g_dir_read_name(dir))) {
        if (!g_str_has_prefix(name, mine))
            continue;
        char *path = g_build_filename(parent, name, NULL);
        struct stat s;
        int fd = lock_directory(path);
        if (fd >= 0 && fstat(fd, &s) == 0 && s.st_uid == geteuid() && time(NULL) - s.st_mtime > 5)
            dome__hub_take_down(path, NULL);
        if (fd >= 0)
            close(fd);
        g_free(path);
    }
    if (dir)
        g_dir_close(dir);
    g_free(mine);
}

/* A name for the directory. It is made only when the guard knows of it. */
static char *choose_directory(void)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz012345";
    const char *parent = g_get_tmp_dir();
    if (strlen(parent) > 48) /* local sockets have short names */
        parent = "/tmp";
    sweep(parent);
    guint8 random[9];
    while (getrandom(random, sizeof random, 0) != sizeof random)
        continue; /* a signal came */
    char id[sizeof random] = "";
    for (size_t i = 0; i + 1 < sizeof random; i++)
        id[i] = letters[random[i] % 32];
    return g_strdup_printf("%s/" PREFIX "%u-%s", parent, (unsigned)geteuid(), id);
}

/* Whether there is room for the daemon's files: it says nothing of use, or nothing, when there is none. errno says why not. Where
 * files may not grow so far (ulimit -f) room is not what is missing. */
static bool has_room(const char *directory)
{
    enum { ROOM = 64 << 10 };
    char *path = g_build_filename(directory, "room", NULL), *data = g_malloc0(ROOM);
    dome_file_limit limit;
    dome__file_limit_begin(&limit);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600), error = fd < 0 ? errno : 0;
    for (ssize_t done = 0, n; fd >= 0 && !error && done < ROOM; done += MAX(n, 0))
        if ((n = write(fd, data, (size_t)(ROOM - done))) < 0 && errno != EINTR)
            error = errno;
    if (fd >= 0 && close(fd) < 0 && !error)
        error = errno; /* a quota on another machine */
    dome__file_limit_end(&limit);
    unlink(path);
    g_free(path);
    g_free(data);
    errno = error;
    return error == 0 || error == EFBIG;
}

static bool make_directory(dome_launch *launch, char **message)
{
    bool made = g_mkdir(launch->directory, 0700) == 0,
         locked = made && (launch->lock_fd = lock_directory(launch->directory)) >= 0;
    if (locked && has_room(launch->directory))
        return true;
    int error = errno;
    char *parent = g_path_get_dirname(launch->directory);
    *message = locked
                   ? g_strdup_printf("there is no room in %s for the files of the private virtual machine: %s; make some, or set "
                                     "TMPDIR to another directory",
                                     parent, g_strerror(error))
                   : g_strdup_printf("cannot make a directory in %s for the private virtual machine: %s; set TMPDIR to another",
                                     parent, g_strerror(error));
    g_free(parent);
    if (!made)
        g_clear_pointer(&launch->directory, g_free); /* nothing of ours is there to take away */
    return false;
}

/* Until the hub is gone; then it takes down what the hub has not. */
static void guard(const dome_launch *launch, int hub)
{
    static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP};
    setsid();
    prctl(PR_SET_NAME, "dome-guard"); /* it is to be there when all processes of the program's name are killed */
    for (size_t i = 0; i < G_N_ELEMENTS(ignored); i++)
        signal(ignored[i], SIG_IGN);
    int null = open("/dev/null", O_RDWR); /* nobody who reads our output waits for this process */
    for (int fd = 0; fd < 3; fd++)
        dup2(null, fd);
    pid_t rank0 = 0;
    ssize_t n;
    while ((n = read(hub, &rank0, sizeof rank0)) > 0 || (n < 0 && errno == EINTR))
        continue;
    if (rank0 > 0)
        kill(rank0, SIGCONT); /* it ends by itself, unless somebody has stopped it */
    int fd = open(launch->directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    while (fd >= 0 && flock(fd, LOCK_EX) < 0 && errno == EINTR) /* should a later run have it, that takes the machine down */
        continue;
    /* Rank 0 has something to say before the daemon takes it along. */
    for (int i = 0; i < 30 && access(launch->directory, F_OK) == 0; i++)
        g_usleep(10000);
    if (access(launch->directory, F_OK) == 0) {
        char *id = g_path_get_basename(launch->directory);
        g_unsetenv("PVMSOCK");
        g_setenv("PVM_TMP", launch->directory, TRUE);
        g_setenv("PVM_VMID", id, TRUE);
        dome__hub_take_down(launch->directory, launch->halt);
    }
    _exit(0);
}

/* Takes the private machine down when the process that started it is killed. It is small, of a session of its own, and not a
 * PVM task: a daemon that ends takes its tasks along, so none of them can clean up after it. Should both be killed, the daemon
 * ends by itself, and a later run removes the directory. Returns the daemon's end of the lifeline. */
static int start_guard(dome_launch *launch)
{
    int ends[2], line[2] = {-1, -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, line) == 0)
        shutdown(line[1], SHUT_WR); /* for whoever reads from the other there is nothing, as in /dev/null */
    launch->lifeline = line[1];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return line[0];
    launch->guard = fork();
    if (launch->guard == 0) {
        close(ends[1]);
        if (line[0] >= 0)
            close(line[0]);
        guard(launch, ends[0]);
    }
    close(ends[0]);
    if (launch->guard > 0)
        launch->guard_fd = ends[1];
    else
        close(ends[1]);
    return line[0];
}

/* What other hosts can use: this host's name, unless that is loopback; then the address of an interface. */
char *dome__launch_outside_address(void)
{
    char name[256] = "", text[INET_ADDRSTRLEN];
    char *found = NULL;
    struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *list = NULL;
    gethostname(name, sizeof name - 1);
    if (getaddrinfo(name, NULL, &hints, &list) == 0) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)(const void *)list->ai_addr;
        if (ntohl(in->sin_addr.s_addr) >> 24 != 127)
            found = g_strdup(name);
        freeaddrinfo(list);
    }
    struct ifaddrs *interfaces = NULL;
    if (!found && getifaddrs(&interfaces) == 0) {
        for (struct ifaddrs *i = interfaces; i && !found; i = i->ifa_next) {
            if (!i->ifa_addr || i->ifa_addr->sa_family != AF_INET || (i->ifa_flags & IFF_LOOPBACK) || !(i->ifa_flags & IFF_UP))
                continue;
            const struct sockaddr_in *in = (const struct sockaddr_in *)(const void *)i->ifa_addr;
            found = g_strdup(inet_ntop(AF_INET, &in->sin_addr, text, sizeof text));
        }
        freeifaddrs(interfaces);
    }
    return found;
}

/* PVM itself starts daemons that cannot reach this one, and waits for them. */
static bool usable_outside(const char *address, char **message)
{
    struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *list = NULL;
    if (!address) {
        *message = g_strdup("hosts cannot be added: this one has no address but loopback");
        return false;
    }
    int failed = getaddrinfo(address, NULL, &hints, &list);
    if (failed) {
        *message =
            g_strdup_printf("hosts cannot be added: the address %s of this host is not known: %s", address, gai_strerror(failed));
        return false;
    }
    const struct sockaddr_in *in = (const struct sockaddr_in *)(const void *)list->ai_addr;
    bool good = ntohl(in->sin_addr.s_addr) >> 24 != 127;
    if (!good)
        *message =
            g_strdup_printf("hosts cannot be added: %s is a loopback address, by which no other host reaches this one: give "
                            "another by --address",
                            address);
    freeaddrinfo(list);
    return good;
}

/* Host names of a private machine are looked up by a pvmd that listens on `address`; adding hosts is done by a process that
 * enrols and leaves, so that this one stays outside of PVM. */
static bool add_hosts(char **lines, char **message)
{
    int out[2];
    if (pipe(out) < 0) {
        *message = g_strdup(g_strerror(errno));
        return false;
    }
    pid_t pid = fork();
    if (pid == 0) {
        char *why = NULL;
        close(out[0]);
        bool good = dome__pvm_add_hosts(lines, &why);
        if (!good && why) {
            ssize_t ignored = write(out[1], why, strlen(why));
            (void)ignored;
        }
        _exit(good ? 0 : 1);
    }
    close(out[1]);
    GString *text = g_string_new(NULL);
    char buffer[1024];
    ssize_t n = 1;
    /* PVM waits for minutes for a host that is lost after its daemon was started. */
    int seconds = 25 + (int)g_strv_length(lines);
    gint64 until = g_get_monotonic_time() + seconds * G_USEC_PER_SEC;
    while (pid > 0 && n > 0) {
        gint64 left = until - g_get_monotonic_time();
        struct pollfd p = {.fd = out[0], .events = POLLIN};
        int ready = left > 0 ? poll(&p, 1, (int)(left / 1000) + 1) : 0;
        if (ready == 0) {
            kill(pid, SIGKILL);
            char *names = g_strjoinv(", ", lines);
            g_string_printf(text, "hosts cannot be added: no answer within %d s from all of: %s (host down or link cut)", seconds,
                            names);
            g_free(names);
            break;
        }
        n = ready > 0 ? read(out[0], buffer, sizeof buffer) : 1;
        g_string_append_len(text, buffer, ready > 0 && n > 0 ? n : 0);
    }
    close(out[0]);
    int status = 1;
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    bool good = pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (!good && !text->len)
        g_string_append(text, "hosts cannot be added to the virtual machine");
    *message = g_string_free(text, good);
    return good;
}

bool dome__launch_machine_there(void)
{
    char *stale = NULL;
    bool there = dome__pvm_daemon_answers(&stale);
    if (stale)
        fprintf(stderr,
                "dome: %s was left behind by a PVM daemon that has ended; using a private virtual machine (rm %s to mend)\n",
                stale, stale);
    g_free(stale);
    return there;
}

#else

bool dome__launch_machine_there(void)
{
    return false;
}

#endif

/* Seconds in which a host that is up answers. */
enum { PROBE = 4 };

static pid_t run_on(const char *line, const char *what)
{
    static const char command[] = "exec ${DOME_RSH:-${PVM_RSH:-ssh -o BatchMode=yes -o ConnectTimeout=3}} \"$@\"";
    char **words = g_strsplit_set(line, " \t", 0);
    const char *user = NULL;
    for (char **word = words; *word; word++)
        user = g_str_has_prefix(*word, "lo=") ? *word + 3 : user;
    pid_t pid = fork();
    if (pid == 0) {
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        setpgid(0, 0); /* the command may have children of its own */
        int null = open("/dev/null", O_RDWR);
        for (int fd = 0; fd < 3; fd++)
            dup2(null, fd);
        if (user)
            execl("/bin/sh", "sh", "-c", command, "sh", "-l", user, words[0], what, (char *)NULL);
        else
            execl("/bin/sh", "sh", "-c", command, "sh", words[0], what, (char *)NULL);
        _exit(127);
    }
    if (pid > 0)
        setpgid(pid, pid);
    g_strfreev(words);
    return pid;
}

void dome__hosts_run(char **lines, const char *command, bool *answers)
{
    guint n = g_strv_length(lines), left = 0;
    pid_t *pids = g_new0(pid_t, n + 1);
    for (guint i = 0; i < n; i++) {
        pids[i] = run_on(lines[i], command);
        left += pids[i] > 0;
    }
    for (gint64 until = g_get_monotonic_time() + PROBE * G_USEC_PER_SEC; left > 0;) {
        bool late = g_get_monotonic_time() > until;
        for (guint i = 0; i < n; i++) {
            int status;
            if (pids[i] <= 0)
                continue;
            if (late)
                kill(-pids[i], SIGKILL);
            pid_t ended = waitpid(pids[i], &status, late ? 0 : WNOHANG);
            if (ended == 0 || (ended < 0 && errno == EINTR))
                continue;
            answers[i] = ended > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
            pids[i] = 0;
            left--;
        }
        g_usleep(left > 0 ? 5000 : 0);
    }
    g_free(pids);
}

static void end_guard(const dome_launch *launch)
{
    if (launch->guard_fd >= 0) {
        kill(launch->guard, SIGKILL); /* there is nothing left to guard */
        waitpid(launch->guard, NULL, 0);
        close(launch->guard_fd);
    }
    if (launch->lifeline >= 0)
        close(launch->lifeline);
}

static void take_down(const dome_launch *launch)
{
    dome__hub_take_down(launch->directory, launch->halt);
    end_guard(launch);
}

static bool start_machine(dome_launch *launch, const dome_launch_request *request, char **message)
{
#ifdef DOME_WITH_PVM
    bool root = dome__pvm_environment();
    if (!request->hosts && dome__launch_machine_there())
        return true;
    if (root)
        fprintf(stderr, "dome: running as root: PVM_ALLOW_ROOT=1 is set for this run, since PVM refuses root without it\n");
    char *address = !request->hosts    ? g_strdup(DOME_PVM_INSIDE)
                    : request->address ? g_strdup(request->address)
                                       : dome__launch_outside_address();
    if (request->hosts && !usable_outside(address, message)) {
        g_free(address);
        return false;
    }
    launch->directory = choose_directory();
    launch->halt = request->hosts ? dome__pvm_halt : NULL;
    int lifeline = start_guard(launch);
    if (make_directory(launch, message)) {
        if (request->hosts)
            dome__pvm_write_rsh(launch->directory);
        launch->daemon = dome__pvm_daemon_start(launch->directory, address, lifeline, MAX(request->timeout, 10), message);
    }
    if (lifeline >= 0)
        close(lifeline);
    g_free(address);
    if (launch->daemon <= 0 || !request->hosts || !request->hosts[0])
        return launch->daemon > 0;
    if (add_hosts(request->hosts, message))
        return true;
    if (!request->most_hosts)
        return false;
    fprintf(stderr, "dome: going on without: %s\n", *message);
    g_clear_pointer(message, g_free);
    return true;
#else
    (void)launch;
    (void)request;
    *message = g_strdup("this library was built without PVM: only --dome-transport self is there");
    return false;
#endif
}

/* Loopback is enough for a machine of this host alone. */
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
    if (getrandom(random, sizeof random, 0) != sizeof random) {
        *message = g_strdup("no random numbers for the program's cookie");
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
    g_string_append_printf(hub, ";%s", launch->directory ? launch->directory : "");
    launch->cookie = g_string_free(cookie, FALSE);
    launch->hub = g_string_free(hub, FALSE);
    return true;
}

bool dome__launch_open(dome_launch *launch, const dome_launch_request *request, char **message)
{
    *launch = (dome_launch){.timeout = request->timeout,
                            .before_init = request->before_init,
                            .listen_fd = -1,
                            .signal_fd = -1,
                            .report_fd = request->report_fd > 0 ? request->report_fd : -1,
                            .lock_fd = -1,
                            .guard_fd = -1,
                            .lifeline = -1};
    /* Where SIGCHLD is ignored no process hears how its children end. */
    const struct sigaction heard = {.sa_handler = SIG_DFL};
    sigaction(SIGCHLD, &heard, &launch->child_action);
    bool good = request->only_listen || start_machine(launch, request, message);
    bool outside = request->only_listen || request->hosts || !launch->directory;
    good = good && listen_for_tasks(launch, outside, message);
    if (!good) {
        take_down(launch);
        sigaction(SIGCHLD, &launch->child_action, NULL);
    }
    return good;
}

void dome__launch_close(dome_launch *launch)
{
    close(launch->listen_fd);
    take_down(launch);
    sigaction(SIGCHLD, &launch->child_action, NULL);
    if (launch->lock_fd >= 0)
        close(launch->lock_fd);
    g_clear_pointer(&launch->directory, g_free);
    g_clear_pointer(&launch->cookie, g_free);
    g_clear_pointer(&launch->hub, g_free);
}

static dome_hub hub_of(const dome_launch *launch)
{
    return (dome_hub){
        .listen_fd = launch->listen_fd,
        .cookie = launch->cookie,
        .timeout = launch->timeout,
        .daemon = launch->daemon,
        .directory = launch->directory,
        .signal_fd = launch->signal_fd,
        .report_fd = launch->report_fd,
#ifdef DOME_WITH_PVM
        .kill_tasks = dome__pvm_kill_tasks,
        .halt = launch->halt,
#endif
    };
}

void dome__launch_fork(dome_launch *launch)
{
    sigset_t old;
    fflush(NULL);
    launch->signal_fd = dome__hub_signals(&old);
    pid_t pid = fork();
    if (pid == 0) {
        const int own[] = {launch->signal_fd, launch->listen_fd, launch->lock_fd,
                           launch->guard_fd,  launch->lifeline,  launch->report_fd};
        for (size_t i = 0; i < G_N_ELEMENTS(own); i++)
            if (own[i] >= 0)
                close(own[i]);
        sigprocmask(SIG_SETMASK, &old, NULL);
        sigaction(SIGCHLD, &launch->child_action, NULL);
        return;
    }
    if (pid < 0) {
        fprintf(stderr, "dome: cannot fork: %s\n", g_strerror(errno));
        take_down(launch);
        _exit(1);
    }
    dome_hub hub = hub_of(launch);
    hub.rank0 = pid;
    hub.rank0_is_child = true;
    hub.rank0_in_init = !launch->before_init;
    signal(SIGPIPE, SIG_IGN);
    ssize_t told = launch->guard_fd >= 0 ? write(launch->guard_fd, &pid, sizeof pid) : 0;
    (void)told; /* the program does not need the guard */
    if (hub.report_fd >= 0)
        dome__wire_send(hub.report_fd,
                        &(dome_wire_message){.kind = DOME_WIRE_STARTED,
                                             .started = {(uint32_t)pid, (uint32_t)launch->daemon, launch->directory}});
    int number, status = dome__hub_run(&hub, &number);
    end_guard(launch);
    if (number && number != SIGKILL) { /* whoever waits for us sees how rank 0 ended */
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
    pid_t pid = fork();
    if (pid == 0) {
        setsid();
        dome_hub hub = hub_of(launch);
        hub.rank0 = parent;
        int number;
        _exit(dome__hub_run(&hub, &number));
    }
    sigprocmask(SIG_SETMASK, &old, NULL);
    sigaction(SIGCHLD, &launch->child_action, NULL);
    close(launch->signal_fd);
    close(launch->listen_fd);
    if (pid < 0) {
        fprintf(stderr, "dome: cannot fork: %s\n", g_strerror(errno));
        exit(1);
    }
    launch->hub_pid = pid;
}

void dome__launch_drop_hub(dome_launch *launch)
{
    kill(launch->hub_pid, SIGKILL);
    waitpid(launch->hub_pid, NULL, 0);
}
