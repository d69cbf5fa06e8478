#include "supervision/order.h"

#include "transport/door.h"

#include <errno.h>
#include <glib.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

bool dome__order_parse(const char *line, int *change)
{
    enum { TASKS_MOST = 1000000 };
    guint64 count = 0;
    const bool grow = g_str_has_prefix(line, "grow "), shrink = g_str_has_prefix(line, "shrink ");
    if (!grow && !shrink)
        return false;
    if (!g_ascii_string_to_unsigned(strchr(line, ' ') + 1, 10, 1, TASKS_MOST, &count, NULL))
        return false;
    *change = grow ? (int)count : -(int)count;
    return true;
}

/* Seconds; more of them would not fit into an integer of microseconds. */
static const double LONGEST = 1e9;

char *dome__order_send(int pid, const char *line, double seconds)
{
    int fd = dome__door_connect(DOME_DOOR_ORDER, pid);
    if (fd < 0)
        return NULL;
    GString *answer = g_string_new(NULL);
    gint64 until = g_get_monotonic_time() + (gint64)(MIN(seconds, LONGEST) * 1e6);
    bool open = send(fd, line, strlen(line), MSG_NOSIGNAL) == (ssize_t)strlen(line), late = false;
    while (open && !late && !strchr(answer->str, '\n')) {
        char buffer[512];
        gint64 left = (until - g_get_monotonic_time()) / 1000;
        struct pollfd p = {.fd = fd, .events = POLLIN};
        int ready = left > 0 ? poll(&p, 1, (int)MIN(left, 60000)) : 0;
        late = left <= 0;
        if (ready <= 0)
            continue;
        ssize_t n = recv(fd, buffer, sizeof buffer, MSG_DONTWAIT);
        open = n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
        if (n > 0)
            g_string_append_len(answer, buffer, n);
    }
    close(fd);
    char *end = strchr(answer->str, '\n');
    if (end)
        g_string_truncate(answer, (gsize)(end - answer->str));
    else
        g_string_truncate(answer, 0);
    return g_string_free(answer, !end && !late);
}
