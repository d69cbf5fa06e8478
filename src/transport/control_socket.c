#include "transport/control_socket.h"

#include "system/deadline.h"
#include "system/entropy.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* Connections of other users that are closed in one call. */
enum { OF_OTHERS = 256 };

/* For so many seconds others may keep a socket busy; microseconds between two attempts. */
enum { PATIENCE = 5, PAUSE = 2000 };

enum { RANDOM_BYTES = 8, RANDOM_DIGITS = 2 * RANDOM_BYTES };

/* ---- names ---- */

/* A socket that listens, of whichever user. */
typedef struct named {
    int pid; /* as its name says */
    unsigned long inode;
    char *name;
    int fd; /* a connection to it; -1: none */
} named;

static char *name_of(const char *what, int pid)
{
    uint8_t random[RANDOM_BYTES];
    if (!dome__random(random, sizeof random))
        return NULL;
    GString *name = g_string_new(NULL);
    g_string_printf(name, "%s/%u/%d/", what, (unsigned)geteuid(), pid);
    for (size_t i = 0; i < sizeof random; i++)
        g_string_append_printf(name, "%02x", random[i]);
    return g_string_free(name, FALSE);
}

/* A first byte of 0 makes it an abstract socket address. */
static socklen_t address_of(struct sockaddr_un *address, const char *name)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    g_strlcpy(address->sun_path + 1, name, sizeof address->sun_path - 1);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(address->sun_path + 1));
}

/* Reads a line of /proc/net/unix. Whoever binds a name chooses its bytes. */
static bool read_line(const char *line, const char *what, named *found)
{
    enum { LISTENS = 1 << 16 }; /* as <linux/net.h> has it, for the kernel alone: __SO_ACCEPTCON */
    unsigned flags, uid;
    int digits = 0, end = 0;
    const char *name = strstr(line, " @");
    if (!name || sscanf(line, "%*[^:]: %*x %*x %x %*x %*x %lu", &flags, &found->inode) != 2 || !(flags & LISTENS))
        return false;
    name += 2;
    const size_t length = strlen(what);
    if (strncmp(name, what, length) != 0 ||
        sscanf(name + length, "/%10u/%7d/%n%*[0-9a-f]%n", &uid, &found->pid, &digits, &end) < 2 ||
        end - digits != RANDOM_DIGITS || name[length + (size_t)end] || uid != geteuid() || found->pid <= 0)
        return false;
    found->name = g_strdup(name);
    found->fd = -1;
    return true;
}

static void clear_named(void *item)
{
    g_free(((named *)item)->name);
}

static int by_pid(const void *a, const void *b)
{
    int x = ((const named *)a)->pid, y = ((const named *)b)->pid;
    return (x > y) - (x < y);
}

/* pid 0: of any. */
static GArray *find(const char *what, int pid)
{
    char *text = NULL;
    GArray *all = g_array_new(FALSE, FALSE, sizeof(named));
    g_array_set_clear_func(all, clear_named);
    g_file_get_contents("/proc/self/net/unix", &text, NULL, NULL);
    char **lines = g_strsplit(text ? text : "", "\n", 0);
    for (char **line = lines; *line; line++) {
        named one;
        if (!read_line(*line, what, &one))
            continue;
        if (pid == 0 || one.pid == pid)
            g_array_append_val(all, one);
        else
            g_free(one.name);
    }
    g_strfreev(lines);
    g_free(text);
    g_array_sort(all, by_pid);
    return all;
}

/* ---- listening ---- */

bool dome__control_socket_is_own(int fd)
{
    struct ucred peer;
    socklen_t length = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.uid == geteuid();
}

int dome__control_socket_listen(const char *what)
{
    struct sockaddr_un address;
    char *name = name_of(what, (int)getpid());
    if (!name)
        return -1;
    socklen_t length = address_of(&address, name);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && (bind(fd, (struct sockaddr *)&address, length) < 0 || listen(fd, SOMAXCONN) < 0)) {
        close(fd);
        fd = -1;
    }
    g_free(name);
    return fd;
}

int dome__control_socket_accept(int fd)
{
    for (int i = 0; i < OF_OTHERS; i++) {
        int client = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (client < 0 || dome__control_socket_is_own(client))
            return client;
        close(client);
    }
    errno = EACCES;
    return -1;
}

/* ---- connecting ---- */

/* Whether a process of this user holds the socket. */
static bool is_held(const named *n)
{
    char *path = g_strdup_printf("/proc/%d/fd", n->pid), *socket = g_strdup_printf("socket:[%lu]", n->inode), link[64];
    bool held = false;
    GDir *dir = g_dir_open(path, 0, NULL);
    for (const char *fd; dir && !held && (fd = g_dir_read_name(dir));) {
        char *at = g_build_filename(path, fd, NULL);
        const ssize_t length = readlink(at, link, sizeof link - 1);
        link[MAX(length, 0)] = '\0';
        held = strcmp(link, socket) == 0;
        g_free(at);
    }
    if (dir)
        g_dir_close(dir);
    struct stat s;
    held = held && stat(path, &s) == 0 && s.st_uid == geteuid();
    g_free(socket);
    g_free(path);
    return held;
}

/* -1 with errno EAGAIN: too many others wait there. */
static int try_name(const char *name)
{
    struct sockaddr_un address;
    socklen_t length = address_of(&address, name);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    int error = connect(fd, (struct sockaddr *)&address, length) < 0 ? errno : dome__control_socket_is_own(fd) ? 0 : EACCES;
    if (error == 0)
        return fd;
    close(fd);
    errno = error;
    return -1;
}

/* Connects to all of them, or to one. Sockets that could not be connected to are removed. One of this user's that others keep
 * busy is waited for. */
static void connect_to(GArray *all, bool one)
{
    const dome_deadline until = dome__deadline_in(PATIENCE);
    for (bool busy = true; busy;) {
        busy = false;
        const bool late = dome__deadline_passed(until);
        for (guint i = 0; i < all->len;) {
            named *n = &g_array_index(all, named, i);
            n->fd = n->fd >= 0 ? n->fd : try_name(n->name);
            if (n->fd < 0 && (late || errno != EAGAIN || !is_held(n))) {
                g_array_remove_index(all, i);
                continue;
            }
            busy |= n->fd < 0;
            if (n->fd >= 0 && one)
                return;
            i++;
        }
        if (busy)
            g_usleep(PAUSE);
    }
}

int dome__control_socket_connect(const char *what, int pid)
{
    int fd = -1;
    GArray *all = find(what, pid);
    connect_to(all, true);
    for (guint i = 0; i < all->len && fd < 0; i++)
        fd = g_array_index(all, named, i).fd;
    g_array_unref(all);
    return fd;
}

GArray *dome__control_socket_connect_all(const char *what)
{
    GArray *all = find(what, 0), *fds = g_array_new(FALSE, FALSE, sizeof(int));
    connect_to(all, false);
    for (guint i = 0; i < all->len; i++)
        g_array_append_val(fds, g_array_index(all, named, i).fd);
    g_array_unref(all);
    return fds;
}

GArray *dome__control_socket_list(const char *what)
{
    GArray *all = find(what, 0), *pids = g_array_new(FALSE, FALSE, sizeof(int));
    for (guint i = 0; i < all->len; i++)
        if (is_held(&g_array_index(all, named, i)))
            g_array_append_val(pids, g_array_index(all, named, i).pid);
    g_array_unref(all);
    return pids;
}
