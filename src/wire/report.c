#include "wire/report.h"

#include "system/deadline.h"

#include "transport/control_socket.h"
#include "wire/hub_address.h"
#include "wire/wire.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Limits of an answer: time in ms, and length in bytes. */
enum { PATIENCE = 2000, LONGEST = 1 << 24 };

void dome__report_send(int fd, dome_mac *mac, char *(*text)(void *ctx), void *ctx)
{
    int room = 1 << 20;
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    GString *all = g_string_new(NULL);
    char *said = text(ctx);
    g_string_append(all, said);
    g_free(said);
    uint8_t code[DOME_MAC_BYTES];
    if (mac) {
        dome__mac_next(mac, all->str, all->len, code);
        g_string_append_len(all, (const char *)code, sizeof code);
    }
    ssize_t n;
    for (size_t sent = 0; sent < all->len; sent += (size_t)n)
        if ((n = send(fd, all->str + sent, all->len - sent, MSG_NOSIGNAL | MSG_DONTWAIT)) <= 0)
            break;
    g_string_free(all, TRUE);
}

bool dome__report_answer(int fd, char *(*text)(void *ctx), void *ctx)
{
    int client = dome__control_socket_accept(fd);
    if (client < 0)
        return errno == EACCES || errno == EAGAIN || errno == ECONNABORTED || errno == EINTR;
    dome__report_send(client, NULL, text, ctx);
    close(client);
    return true;
}

/* ---- the text ---- */

static void task_free(void *data)
{
    dome_report_task *t = data;
    g_free(t->host);
    g_free(t->operation);
    g_free(t->object);
    g_free(t);
}

static void view_free(void *data)
{
    dome__view_note_free(data);
}

dome_report *dome__report_new(void)
{
    dome_report *s = g_new0(dome_report, 1);
    s->checkpoint = -1;
    s->tasks = g_ptr_array_new_with_free_func(task_free);
    s->views = g_ptr_array_new_with_free_func(view_free);
    return s;
}

void dome__report_free(dome_report *s)
{
    g_free(s->host);
    g_strfreev(s->command);
    g_free(s->directory);
    g_free(s->machine);
    g_free(s->trace);
    g_ptr_array_unref(s->tasks);
    g_ptr_array_unref(s->views);
    g_free(s);
}

static void put_string(GKeyFile *file, const char *group, const char *key, const char *text)
{
    char *valid = g_utf8_make_valid(text ? text : "", -1);
    g_key_file_set_string(file, group, key, valid);
    g_free(valid);
}

static void put_view(GKeyFile *file, const dome_view_note *v)
{
    char group[32];
    snprintf(group, sizeof group, "view %" PRIu32, v->number);
    g_key_file_set_uint64(file, group, "number", v->number);
    g_key_file_set_integer(file, group, "tasks", v->tasks);
    g_key_file_set_integer(file, group, "hosts", v->hosts);
    g_key_file_set_double(file, group, "at", v->at);
    put_string(file, group, "kind", v->kind);
    put_string(file, group, "why", v->why);
    g_key_file_set_double(file, group, "noticing", v->parts.noticing);
    if (!v->timed)
        return;
    g_key_file_set_double(file, group, "members", v->parts.members);
    g_key_file_set_double(file, group, "blocks", v->parts.blocks);
    g_key_file_set_double(file, group, "joining", v->parts.joining);
    g_key_file_set_double(file, group, "preamble", v->parts.preamble);
}

char *dome__report_text(const dome_report *s)
{
    GKeyFile *file = g_key_file_new();
    g_key_file_set_integer(file, "program", "pid", s->pid);
    put_string(file, "program", "host", s->host);
    guint n = s->command ? g_strv_length(s->command) : 0;
    char **valid = g_new0(char *, n + 1);
    for (guint i = 0; i < n; i++)
        valid[i] = g_utf8_make_valid(s->command[i], -1);
    g_key_file_set_string_list(file, "program", "command", (const char *const *)valid, n);
    g_strfreev(valid);
    put_string(file, "program", "directory", s->directory);
    put_string(file, "program", "machine", s->machine);
    put_string(file, "program", "trace", s->trace);
    g_key_file_set_double(file, "program", "seconds", s->seconds);
    g_key_file_set_uint64(file, "program", "view", s->view);
    g_key_file_set_boolean(file, "program", "suspended", s->suspended);
    g_key_file_set_int64(file, "program", "checkpoint", s->checkpoint);
    g_key_file_set_double(file, "program", "checkpoint-seconds", s->checkpoint_seconds);
    g_key_file_set_uint64(file, "program", "views-left-out", s->views_left_out);
    for (guint i = 0; i < s->views->len; i++)
        put_view(file, s->views->pdata[i]);
    for (guint i = 0; i < s->tasks->len; i++) {
        const dome_report_task *t = s->tasks->pdata[i];
        char group[32];
        snprintf(group, sizeof group, "task %d", t->rank);
        g_key_file_set_integer(file, group, "rank", t->rank);
        g_key_file_set_integer(file, group, "pid", t->pid);
        put_string(file, group, "host", t->host);
        put_string(file, group, "operation", t->operation);
        put_string(file, group, "object", t->object);
        g_key_file_set_boolean(file, group, "waiting", t->waiting);
        g_key_file_set_uint64(file, group, "sequence", t->sequence);
        g_key_file_set_double(file, group, "busy", t->busy);
        g_key_file_set_double(file, group, "load", t->load);
        g_key_file_set_double(file, group, "silent", t->silent);
    }
    g_key_file_set_integer(file, "end", "tasks", (int)s->tasks->len);
    char *text = g_key_file_to_data(file, NULL, NULL);
    g_key_file_free(file);
    return text;
}

static char *get_string(GKeyFile *file, const char *group, const char *key)
{
    char *text = g_key_file_get_string(file, group, key, NULL);
    return text ? text : g_strdup("");
}

static dome_view_note *get_view(GKeyFile *file, const char *group)
{
    dome_view_note *v = g_new0(dome_view_note, 1);
    v->number = (uint32_t)g_key_file_get_uint64(file, group, "number", NULL);
    v->tasks = g_key_file_get_integer(file, group, "tasks", NULL);
    v->hosts = g_key_file_get_integer(file, group, "hosts", NULL);
    v->at = g_key_file_get_double(file, group, "at", NULL);
    v->kind = get_string(file, group, "kind");
    v->why = get_string(file, group, "why");
    v->timed = g_key_file_has_key(file, group, "members", NULL);
    v->parts.noticing = g_key_file_get_double(file, group, "noticing", NULL);
    v->parts.members = g_key_file_get_double(file, group, "members", NULL);
    v->parts.blocks = g_key_file_get_double(file, group, "blocks", NULL);
    v->parts.joining = g_key_file_get_double(file, group, "joining", NULL);
    v->parts.preamble = g_key_file_get_double(file, group, "preamble", NULL);
    return v;
}

dome_report *dome__report_parse(const char *text)
{
    GKeyFile *file = g_key_file_new();
    dome_report *s = NULL;
    char **groups = NULL;
    if (g_key_file_load_from_data(file, text, strlen(text), G_KEY_FILE_NONE, NULL) &&
        g_key_file_has_key(file, "program", "pid", NULL) && g_key_file_has_key(file, "end", "tasks", NULL)) {
        s = dome__report_new();
        s->pid = g_key_file_get_integer(file, "program", "pid", NULL);
        s->host = get_string(file, "program", "host");
        s->command = g_key_file_get_string_list(file, "program", "command", NULL, NULL);
        s->directory = get_string(file, "program", "directory");
        s->machine = get_string(file, "program", "machine");
        s->trace = get_string(file, "program", "trace");
        s->seconds = g_key_file_get_double(file, "program", "seconds", NULL);
        s->suspended = g_key_file_get_boolean(file, "program", "suspended", NULL);
        s->view = (uint32_t)g_key_file_get_uint64(file, "program", "view", NULL);
        s->checkpoint = g_key_file_get_int64(file, "program", "checkpoint", NULL);
        s->checkpoint_seconds = g_key_file_get_double(file, "program", "checkpoint-seconds", NULL);
        groups = g_key_file_get_groups(file, NULL);
        s->views_left_out = g_key_file_get_uint64(file, "program", "views-left-out", NULL);
        for (char **group = groups; *group; group++) {
            if (g_str_has_prefix(*group, "view "))
                g_ptr_array_add(s->views, get_view(file, *group));
            if (!g_str_has_prefix(*group, "task "))
                continue;
            dome_report_task *t = g_new0(dome_report_task, 1);
            t->rank = g_key_file_get_integer(file, *group, "rank", NULL);
            t->pid = g_key_file_get_integer(file, *group, "pid", NULL);
            t->host = get_string(file, *group, "host");
            t->operation = get_string(file, *group, "operation");
            t->object = get_string(file, *group, "object");
            t->waiting = g_key_file_get_boolean(file, *group, "waiting", NULL);
            t->sequence = g_key_file_get_uint64(file, *group, "sequence", NULL);
            t->busy = g_key_file_get_double(file, *group, "busy", NULL);
            t->load = g_key_file_get_double(file, *group, "load", NULL);
            t->silent = g_key_file_get_double(file, *group, "silent", NULL);
            g_ptr_array_add(s->tasks, t);
        }
        if ((int)s->tasks->len != g_key_file_get_integer(file, "end", "tasks", NULL))
            g_clear_pointer(&s, dome__report_free);
    }
    g_strfreev(groups);
    g_key_file_free(file);
    return s;
}

/* ---- asking ---- */

/* Reads until the other side closes the connection; NULL if that takes too long. Closes fd. */
static GString *read_all(int fd)
{
    GString *text = g_string_new(NULL);
    bool good = fd >= 0;
    const dome_deadline until = dome__deadline_in(PATIENCE / 1e3);
    while (good) {
        char buffer[8192];
        const ssize_t n = text->len < LONGEST ? dome__deadline_read(fd, buffer, sizeof buffer, until) : -1;
        if (n == 0)
            break;
        good = n > 0;
        g_string_append_len(text, buffer, good ? n : 0);
    }
    if (fd >= 0)
        close(fd);
    if (!good)
        g_string_free(text, TRUE);
    return good ? text : NULL;
}

GPtrArray *dome__report_ask_all(guint *silent)
{
    GPtrArray *texts = g_ptr_array_new_with_free_func(g_free);
    GArray *hubs = dome__control_socket_connect_all(DOME_CONTROL_REPORT);
    for (guint i = 0; i < hubs->len; i++) {
        GString *text = read_all(g_array_index(hubs, int, i));
        if (text)
            g_ptr_array_add(texts, g_string_free(text, FALSE));
    }
    if (silent)
        *silent = hubs->len - texts->len;
    g_array_unref(hubs);
    return texts;
}

/* Takes the code from the end of the answer, which becomes a text; NULL if the code is wrong. */
static char *checked(dome_mac *mac, GString *answer)
{
    const gsize length = answer->len - MIN(answer->len, DOME_MAC_BYTES);
    const bool good =
        answer->len >= DOME_MAC_BYTES && dome__mac_check(mac, answer->str, length, (const uint8_t *)answer->str + length);
    g_string_truncate(answer, length);
    return g_string_free(answer, !good);
}

char *dome__report_ask_hub(const char *text, char **message)
{
    dome_hub_address address = {0};
    char *answer = NULL;
    if (!dome__hub_address_parse(&address, text))
        return NULL;
    dome__hub_address_outside(&address);
    for (char **endpoint = address.endpoints; *endpoint && !answer; endpoint++) {
        dome_macs macs;
        GString *all = read_all(dome__hub_connect(&address, *endpoint, DOME_WIRE_ASK, PATIENCE / 1e3, &macs));
        const bool said = all && all->len > 0; /* else the program is just ending */
        answer = all ? checked(&macs.in, all) : NULL;
        if (said && !answer && !*message)
            *message = g_strdup_printf("the answer of the program at %s was altered or cut off on the way", *endpoint);
    }
    dome__hub_address_clear(&address);
    return answer;
}
