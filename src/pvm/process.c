/* What /proc says of daemons and tasks. */
#include "pvm/pvm.h"

#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

bool dome__pvm_process_read(dome_pvm_process *process)
{
    char path[64], *text = NULL, state = 'X';
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)process->pid);
    char *after = g_file_get_contents(path, &text, NULL, NULL) ? strrchr(text, ')') : NULL;
    bool there = after && sscanf(after, ") %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
                                 &state, &parent, &process->start) == 3;
    process->parent = parent;
    g_free(text);
    return there && state != 'Z' && state != 'X';
}

bool dome__pvm_process_is_daemon(pid_t pid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    char *exe = g_file_read_link(path, NULL), *base = exe ? g_path_get_basename(exe) : NULL;
    const bool daemon = base && g_str_has_prefix(base, "pvmd");
    g_free(base);
    g_free(exe);
    return daemon;
}

/* ---- who listens ---- */

/* "socket:[...]", as /proc names the local socket that listens at a path; NULL: the system does not say. */
static char *socket_at(const char *path)
{
    char *text = NULL, *found = NULL;
    if (!g_file_get_contents("/proc/net/unix", &text, NULL, NULL))
        return NULL;
    enum { LISTENS = 0x10000 }; /* __SO_ACCEPTCON of the kernel */
    char **lines = g_strsplit(text, "\n", -1);
    for (char **line = lines; *line && !found; line++) {
        unsigned long flags, inode; /* number: references protocol flags type state inode path */
        const char *end = *line + strlen(*line) - MIN(strlen(*line), strlen(path) + 1);
        if (sscanf(*line, "%*[^:]: %*x %*x %lx %*x %*x %lu", &flags, &inode) == 2 && flags & LISTENS && *end == ' ' &&
            strcmp(end + 1, path) == 0)
            found = g_strdup_printf("socket:[%lu]", inode);
    }
    g_strfreev(lines);
    g_free(text);
    return found;
}

static bool has_open(const char *process, const char *socket)
{
    char *folder = g_build_filename("/proc", process, "fd", NULL);
    GDir *dir = g_dir_open(folder, 0, NULL);
    bool has = false;
    for (const char *name; dir && !has && (name = g_dir_read_name(dir));) {
        char *path = g_build_filename(folder, name, NULL), *target = g_file_read_link(path, NULL);
        has = g_strcmp0(target, socket) == 0;
        g_free(target);
        g_free(path);
    }
    if (dir)
        g_dir_close(dir);
    g_free(folder);
    return has;
}

/* Whether a daemon has this socket open; true if the system does not say. */
static bool daemon_has(const char *socket)
{
    GDir *dir = socket ? g_dir_open("/proc", 0, NULL) : NULL;
    bool has = !dir;
    for (const char *name; dir && !has && (name = g_dir_read_name(dir));)
        has = g_ascii_isdigit(*name) && dome__pvm_process_is_daemon(atoi(name)) && has_open(name, socket);
    if (dir)
        g_dir_close(dir);
    return has;
}

bool dome__pvm_process_listens(int fd, const char *path)
{
    struct ucred listener = {0};
    socklen_t length = sizeof listener;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &listener, &length) < 0 || listener.pid <= 0)
        return true;
    dome_pvm_process process = {.pid = listener.pid};
    if (dome__pvm_process_read(&process))
        return true;
    char *socket = socket_at(path);
    const bool listens = daemon_has(socket);
    g_free(socket);
    return listens;
}
