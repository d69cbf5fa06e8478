#include "wire/order.h"

#include "system/deadline.h"

#include "transport/control_socket.h"

#include <errno.h>
#include <glib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const char *const kinds[] = {[DOME_ORDER_GROW] = "grow",
                                    [DOME_ORDER_SHRINK] = "shrink",
                                    [DOME_ORDER_MOVE] = "move",
                                    [DOME_ORDER_SUSPEND] = "suspend",
                                    [DOME_ORDER_RESUME] = "resume"};

enum { TASKS_MOST = 1000000, NAME_MOST = 255 };

/* ---- lines ---- */

bool dome__order_is_host(const char *word)
{
    /* Words that PVM would take for something else begin with signs; a plan (view_plan.h) is separated by blanks. */
    for (const char *at = word; *at; at++)
        if (!g_ascii_isalnum(*at) && !strchr(at > word ? "-._:" : "", *at))
            return false;
    return word[0] && strlen(word) <= NAME_MOST;
}

static bool parse_count(const char *word, guint hosts, int *count)
{
    guint64 number = 0;
    const guint64 least = hosts ? 0 : 1;
    bool good = word && g_ascii_string_to_unsigned(word, 10, least, TASKS_MOST, &number, NULL);
    *count = (int)number;
    return good;
}

bool dome__order_parse(const char *line, dome_order *order)
{
    *order = (dome_order){0};
    char **words = g_strsplit(line, " ", 0);
    const guint n = g_strv_length(words);
    guint kind = 0;
    while (kind < G_N_ELEMENTS(kinds) && g_strcmp0(words[0], kinds[kind]) != 0)
        kind++;
    order->kind = (dome_order_kind)kind;
    const guint first = kind >= DOME_ORDER_MOVE ? 1 : 2;
    bool good = kind < G_N_ELEMENTS(kinds) && n >= first;
    if (good && kind >= DOME_ORDER_MOVE)
        good = n == (kind == DOME_ORDER_MOVE ? 3 : 1);
    else if (good)
        good = parse_count(words[1], n - first, &order->count);
    for (guint i = first; good && i < n; i++)
        good = dome__order_is_host(words[i]);
    if (good)
        order->hosts = g_strdupv(words + first);
    g_strfreev(words);
    return good;
}

void dome__order_clear(dome_order *order)
{
    g_clear_pointer(&order->hosts, g_strfreev);
}

bool dome__order_changes(const dome_order *order)
{
    return order->kind <= DOME_ORDER_MOVE;
}

char *dome__order_line(const dome_order *order)
{
    GString *line = g_string_new(kinds[order->kind]);
    if (order->kind == DOME_ORDER_GROW || order->kind == DOME_ORDER_SHRINK)
        g_string_append_printf(line, " %d", order->count);
    for (char **host = order->hosts; host && *host; host++)
        g_string_append_printf(line, " %s", *host);
    return g_string_free(line, FALSE);
}

/* ---- plans ---- */

bool dome__order_same_host(const char *a, const char *b)
{
    const size_t n = strlen(a), m = strlen(b);
    return strncmp(a, b, MIN(n, m)) == 0 && (n == m || (n < m ? b[n] : a[m]) == '.');
}

char *const *dome__order_new_hosts(const dome_order *order)
{
    if (order->kind == DOME_ORDER_MOVE)
        return order->hosts + 1;
    return order->kind == DOME_ORDER_GROW && order->hosts[0] ? order->hosts : NULL;
}

static bool is_on(const char *host, char *const *hosts)
{
    bool on = !hosts[0];
    for (; !on && *hosts; hosts++)
        on = dome__order_same_host(host, *hosts);
    return on;
}

/* The same for a name as the tasks say it; a host on which there are none keeps its own. */
static const char *name_of(int size, const char *const *hosts, const char *name)
{
    for (int r = 0; r < size; r++)
        if (dome__order_same_host(hosts[r], name))
            return hosts[r];
    return name;
}

static char *not_there(int size, const char *const *hosts, const char *name)
{
    GString *text = g_string_new(NULL);
    g_string_printf(text, DOME_ORDER_NOT_THERE " %s; its hosts are", name);
    for (int r = 0, named = 0; r < size && named < 8; r++) {
        bool before = false;
        for (int k = 0; k < r; k++)
            before |= strcmp(hosts[k], hosts[r]) == 0;
        if (!before)
            g_string_append_printf(text, "%s %s", named++ ? "," : "", hosts[r]);
    }
    return g_string_free(text, FALSE);
}

static char *stays_there(const char *host)
{
    return g_strdup_printf("task 0 is on host %s, where the program was started, and stays there", host);
}

static dome_view_plan grow(const dome_order *o, int size, const char *const *hosts)
{
    const guint named = g_strv_length(o->hosts);
    dome_view_plan plan = dome__view_plan_grow(size, o->count ? o->count : (int)named, NULL);
    for (int r = size; named && r < plan.size; r++)
        plan.members[r].host = g_intern_string(name_of(size, hosts, o->hosts[(guint)(r - size) % named]));
    return plan;
}

static char *shrink(const dome_order *o, int size, const char *const *hosts, dome_view_plan *plan)
{
    int there = 0;
    for (int r = 0; r < size; r++)
        there += is_on(hosts[r], o->hosts);
    const int leave = o->count ? o->count : there;
    for (char **host = o->hosts; *host; host++) {
        bool any = false;
        for (int r = 0; r < size; r++)
            any |= dome__order_same_host(hosts[r], *host);
        if (!any)
            return not_there(size, hosts, *host);
    }
    if (o->hosts[0] && leave == there && is_on(hosts[0], o->hosts))
        return stays_there(hosts[0]);
    if (o->hosts[0] && leave > there)
        return g_strdup_printf("only %d " DOME_ORDER_THERE " %s there", there, there == 1 ? "is" : "are");
    *plan = dome__view_plan_shrink(size, MAX(size - leave, 0));
    int left = leave, to = size - leave;
    for (int r = size - 1; r >= 0 && to > 0; r--) {
        if (left > 0 && is_on(hosts[r], o->hosts))
            left--;
        else
            plan->members[--to].before = r;
    }
    return NULL;
}

static char *move(const dome_order *o, int size, const char *const *hosts, dome_view_plan *plan)
{
    const char *from = name_of(size, hosts, o->hosts[0]), *to = name_of(size, hosts, o->hosts[1]);
    if (dome__order_same_host(from, to))
        return g_strdup_printf("they are on host %s " DOME_ORDER_HAS_THEM, to);
    if (dome__order_same_host(hosts[0], from))
        return stays_there(hosts[0]);
    *plan = dome__view_plan_move(size, hosts, from, to);
    return plan->size > 0 ? NULL : not_there(size, hosts, from);
}

char *dome__order_plan(const dome_order *o, int size, const char *const *hosts, dome_view_plan *plan)
{
    *plan = (dome_view_plan){0};
    if (size == 0)
        return g_strdup(DOME_ORDER_STARTING);
    switch (o->kind) {
    case DOME_ORDER_GROW:
        *plan = grow(o, size, hosts);
        return NULL;
    case DOME_ORDER_SHRINK:
        return shrink(o, size, hosts, plan);
    case DOME_ORDER_MOVE:
    case DOME_ORDER_SUSPEND:
    case DOME_ORDER_RESUME:
        break;
    }
    return move(o, size, hosts, plan);
}

/* ---- sending ---- */

bool dome__order_is_for_now(const char *answer)
{
    static const char *const reasons[] = {
        DOME_ORDER_STARTING, DOME_ORDER_CHANGING,  DOME_ORDER_OWN_REQUEST, DOME_ORDER_GOES_BACK, DOME_ORDER_TAKEN_BACK,
        DOME_ORDER_ANOTHER,  DOME_ORDER_ADDING,    DOME_ORDER_NOT_ADDED,   DOME_ORDER_LOST_NOW,  DOME_ORDER_SUSPENDED,
        DOME_ORDER_TOO_MANY, DOME_ORDER_NOT_THERE, DOME_ORDER_THERE,       DOME_ORDER_HAS_THEM};
    bool found = false;
    for (size_t i = 0; i < G_N_ELEMENTS(reasons) && !found; i++)
        found = strstr(answer, reasons[i]) != NULL;
    return found;
}

char *dome__order_send(int pid, const char *line, double seconds)
{
    int fd = dome__control_socket_connect(DOME_CONTROL_ORDER, pid);
    if (fd < 0)
        return NULL;
    GString *answer = g_string_new(NULL);
    const dome_deadline until = dome__deadline_in(seconds);
    bool open = send(fd, line, strlen(line), MSG_NOSIGNAL) == (ssize_t)strlen(line), late = false;
    while (open && !late && !strchr(answer->str, '\n')) {
        char buffer[512];
        const ssize_t n = dome__deadline_read(fd, buffer, sizeof buffer, until);
        late = n < 0 && errno == ETIMEDOUT;
        open = n > 0;
        g_string_append_len(answer, buffer, MAX(n, 0));
    }
    close(fd);
    char *end = strchr(answer->str, '\n');
    if (end)
        g_string_truncate(answer, (gsize)(end - answer->str));
    else
        g_string_truncate(answer, 0);
    return g_string_free(answer, !end && !late);
}
