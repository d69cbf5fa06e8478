#include "daemon/daemon_group.h"

#include <string.h>

/* Bytes of a table in one message; as text of a record a byte may become three. */
enum { PART = 60 << 10, PARTS_MOST = 4096 };

/* What a daemon has said of itself. */
typedef struct hello {
    uint32_t node;
    int64_t version, serial;
    bool came;
    char *line; /* of it, for the order `host` */
} hello;

struct dome_group {
    dome_group_acts acts;
    char *name;
    int64_t slots;
    dome_table *table;
    uint32_t here;
    GArray *members; /* hello, by node */
    GArray *lost;    /* uint32_t: hosts that are gone, which the table does not know yet */
    GQueue *waiting; /* orders that came while tables were compared: lines */
    bool settled;
    uint32_t sender; /* the daemon whose table is taken over; 0: not known yet */
    GString *text;   /* what has come of it */
};

static void clear_hello(void *item)
{
    g_free(((hello *)item)->line);
}

dome_group *dome__group_new(const dome_group_acts *acts, const char *name, int64_t slots, dome_table *table)
{
    dome_group *g = g_new0(dome_group, 1);
    g->acts = *acts;
    g->name = g_strdup(name);
    g->slots = slots;
    g->table = table;
    g->members = g_array_new(FALSE, TRUE, sizeof(hello));
    g_array_set_clear_func(g->members, clear_hello);
    g->lost = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    g->waiting = g_queue_new();
    g->text = g_string_new(NULL);
    return g;
}

void dome__group_free(dome_group *g)
{
    if (!g)
        return;
    g_free(g->name);
    dome__table_free(g->table);
    g_array_unref(g->members);
    g_array_unref(g->lost);
    g_queue_free_full(g->waiting, g_free);
    g_string_free(g->text, TRUE);
    g_free(g);
}

const dome_table *dome__group_table(const dome_group *g)
{
    return g->table;
}

bool dome__group_is_settled(const dome_group *g)
{
    return g->settled;
}

static hello *member(dome_group *g, uint32_t node)
{
    for (guint i = 0; i < g->members->len; i++) {
        hello *h = &g_array_index(g->members, hello, i);
        if (h->node == node)
            return h;
    }
    return NULL;
}

/* ---- orders ---- */

static void apply(dome_group *g, const dome_record *order, bool own)
{
    char *answer = dome__table_apply(g->table, order);
    g->acts.applied(g->acts.ctx, order, own, answer);
    g_free(answer);
}

static void apply_line(dome_group *g, const char *line, bool own)
{
    dome_record order;
    if (!dome__record_parse(line, strlen(line), &order))
        return;
    apply(g, &order, own);
    dome__record_clear(&order);
}

static void apply_members(dome_group *g)
{
    dome_record order = dome__record_new("members");
    for (guint i = 0; i < g->members->len; i++)
        dome__record_add_number(&order, "node", g_array_index(g->members, hello, i).node);
    for (guint i = 0; i < g->lost->len; i++)
        dome__record_add_number(&order, "lost", g_array_index(g->lost, uint32_t, i));
    g_array_set_size(g->lost, 0);
    apply(g, &order, false);
    dome__record_clear(&order);
}

/* ---- comparing tables ---- */

static void say_hello(dome_group *g)
{
    dome_record m = dome__record_new("hello");
    dome__record_add_number(&m, "version", DOME_DAEMON_VERSION);
    dome__record_add_number(&m, "serial", g->table->serial);
    dome__record_add(&m, "name", g->name);
    dome__record_add_number(&m, "slots", g->slots);
    g->acts.send(g->acts.ctx, &m);
    dome__record_clear(&m);
}

static int by_node(const void *a, const void *b)
{
    const hello *x = a, *y = b;
    return (x->node > y->node) - (x->node < y->node);
}

/* Tables are compared from the beginning. What daemons of another version have said stays: they do not say it again. */
static void begin_round(dome_group *g)
{
    g->settled = false;
    g->sender = 0;
    g_string_truncate(g->text, 0);
    for (guint i = 0; i < g->members->len; i++) {
        hello *h = &g_array_index(g->members, hello, i);
        h->came = h->came && h->version != DOME_DAEMON_VERSION;
    }
}

void dome__group_again(dome_group *g)
{
    begin_round(g);
    say_hello(g);
}

void dome__group_lost(dome_group *g)
{
    begin_round(g);
    g_array_set_size(g->members, 0);
}

/* Whether all who are there were there before. */
static bool is_part(dome_group *g, const uint32_t *nodes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!member(g, nodes[i]))
            return false;
    return true;
}

void dome__group_members(dome_group *g, uint32_t here, const uint32_t *nodes, size_t count, const uint32_t *lost,
                         size_t lost_count)
{
    const bool shrinks = g->settled && is_part(g, nodes, count);
    g->here = here;
    if (lost_count)
        g_array_append_vals(g->lost, lost, (guint)lost_count);
    if (shrinks) {
        for (guint i = g->members->len; i-- > 0;) {
            bool there = false;
            for (size_t k = 0; k < count; k++)
                there |= nodes[k] == g_array_index(g->members, hello, i).node;
            if (!there)
                g_array_remove_index(g->members, i);
        }
        apply_members(g);
        return;
    }
    g->settled = false;
    g->sender = 0;
    g_string_truncate(g->text, 0);
    g_array_set_size(g->members, 0);
    for (size_t i = 0; i < count; i++) {
        const hello h = {.node = nodes[i]};
        g_array_append_val(g->members, h);
    }
    g_array_sort(g->members, by_node);
    say_hello(g);
}

static void send_table(dome_group *g)
{
    char *text = dome__table_text(g->table);
    const size_t length = strlen(text), parts = length / PART + 1;
    for (size_t i = 0; i < parts; i++) {
        char *part = g_strndup(text + i * PART, MIN(PART, length - i * PART));
        dome_record m = dome__record_new("table");
        dome__record_add_number(&m, "part", (int64_t)i);
        dome__record_add_number(&m, "of", (int64_t)parts);
        dome__record_add(&m, "text", part);
        g->acts.send(g->acts.ctx, &m);
        dome__record_clear(&m);
        g_free(part);
    }
    g_free(text);
}

/* Daemons of another version take no part; those of the version that fewer have must leave. */
static void look_at_versions(dome_group *g)
{
    guint same = 0, other = 0;
    for (guint i = 0; i < g->members->len; i++)
        *(g_array_index(g->members, hello, i).version == DOME_DAEMON_VERSION ? &same : &other) += 1;
    for (guint i = 0; i < g->members->len; i++) {
        const hello *h = &g_array_index(g->members, hello, i);
        const bool newer = h->version > DOME_DAEMON_VERSION;
        if (h->version != DOME_DAEMON_VERSION)
            g->acts.foreign(g->acts.ctx, h->node, h->version, other > same || (other == same && newer));
    }
}

static void take_hello(dome_group *g, uint32_t node, const dome_record *m)
{
    hello *h = member(g, node);
    int64_t version, serial, slots;
    const char *name = dome__record_get(m, "name");
    if (g->sender || !h || !name || !dome__record_number(m, "version", 0, G_MAXINT64, 0, &version) ||
        !dome__record_number(m, "serial", 0, G_MAXINT64, 0, &serial) || !dome__record_number(m, "slots", 1, 1000000, 1, &slots))
        return;
    if (g->settled) { /* somebody has missed a part of the last round: the engine may tell a newcomer of the others one by one */
        begin_round(g);
        if (node != g->here)
            say_hello(g);
    }
    dome_record order = dome__record_new("host");
    dome__record_add(&order, "name", name);
    dome__record_add_number(&order, "node", node);
    dome__record_add_number(&order, "slots", slots);
    g_free(h->line);
    h->line = dome__record_line(&order);
    dome__record_clear(&order);
    h->version = version;
    h->serial = serial;
    h->came = true;
    const hello *best = NULL;
    for (guint i = 0; i < g->members->len; i++) {
        const hello *other = &g_array_index(g->members, hello, i);
        if (!other->came)
            return;
        if (other->version == DOME_DAEMON_VERSION && (!best || other->serial > best->serial))
            best = other;
    }
    look_at_versions(g);
    g->sender = best ? best->node : 0;
    if (g->sender == g->here)
        send_table(g);
}

static void settle(dome_group *g)
{
    char *message = NULL;
    dome_table *table = dome__table_read(g->text->str, &message);
    g_string_truncate(g->text, 0);
    g_free(message);
    if (!table) /* the next who comes sends his */
        return;
    dome__table_free(g->table);
    g->table = table;
    g->settled = true;
    g->sender = 0;
    apply_members(g);
    for (guint i = 0; i < g->members->len; i++) {
        const hello *h = &g_array_index(g->members, hello, i);
        if (h->version == DOME_DAEMON_VERSION)
            apply_line(g, h->line, false);
    }
    for (char *line; (line = g_queue_pop_head(g->waiting));) {
        apply_line(g, line + 1, line[0] == '=');
        g_free(line);
    }
}

static void take_part(dome_group *g, uint32_t node, const dome_record *m)
{
    int64_t part, of;
    const char *text = dome__record_get(m, "text");
    if (g->settled || node != g->sender || !dome__record_number(m, "of", 1, PARTS_MOST, 0, &of) ||
        !dome__record_number(m, "part", 0, PARTS_MOST, 0, &part))
        return;
    g_string_append(g->text, text ? text : "");
    if (part + 1 == of)
        settle(g);
}

void dome__group_deliver(dome_group *g, uint32_t node, const char *text, size_t length)
{
    dome_record m;
    const hello *h = member(g, node);
    if (!dome__record_parse(text, length, &m))
        return;
    if (strcmp(m.verb, "hello") == 0)
        take_hello(g, node, &m);
    else if (strcmp(m.verb, "table") == 0)
        take_part(g, node, &m);
    else if (!g->settled) /* a mark tells whether it is this daemon's */
        g_queue_push_tail(g->waiting, g_strdup_printf("%c%.*s", node == g->here ? '=' : '-', (int)length, text));
    else if (h && h->version == DOME_DAEMON_VERSION)
        apply(g, &m, node == g->here);
    dome__record_clear(&m);
}
