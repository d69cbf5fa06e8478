#include "transport/door.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* A first byte of 0 makes it an abstract socket address, which has no file. */
static socklen_t address_of(struct sockaddr_un *address, const char *what, int pid)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    int n = snprintf(address->sun_path + 1, sizeof address->sun_path - 1, "%s/%u/%d", what, (unsigned)geteuid(), pid);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

static bool same_user(int fd)
{
    struct ucred peer;
    socklen_t length = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.uid == geteuid();
}

int dome__door_listen(const char *what)
{
    struct sockaddr_un address;
    socklen_t length = address_of(&address, what, (int)getpid());
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && (bind(fd, (struct sockaddr *)&address, length) < 0 || listen(fd, SOMAXCONN) < 0)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

int dome__door_accept(int fd)
{
    int client = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (client >= 0 && !same_user(client)) {
        close(client);
        client = -1;
        errno = EACCES;
    }
    return client;
}

int dome__door_connect(const char *what, int pid)
{
    struct sockaddr_un address;
    socklen_t length = address_of(&address, what, pid);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && (connect(fd, (struct sockaddr *)&address, length) < 0 || !same_user(fd))) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static int by_number(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

GArray *dome__door_list(const char *what)
{
    char *list = NULL, *mine = g_strdup_printf(" @%s/%u/", what, (unsigned)geteuid());
    GArray *pids = g_array_new(FALSE, FALSE, sizeof(int));
    if (g_file_get_contents("/proc/self/net/unix", &list, NULL, NULL))
        for (char *at = strstr(list, mine); at; at = strstr(at, mine)) {
            at += strlen(mine);
            int pid = atoi(at);
            bool seen = pid <= 0; /* a connected socket is listed with the same name */
            for (guint i = 0; i < pids->len && !seen; i++)
                seen = g_array_index(pids, int, i) == pid;
            if (!seen)
                g_array_append_val(pids, pid);
        }
    g_array_sort(pids, by_number);
    g_free(mine);
    g_free(list);
    return pids;
}
