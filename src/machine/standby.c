#include "machine/standby.h"

#include "system/child.h"
#include "system/files.h"
#include "system/io.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- task 0 ---- */

static void put(GByteArray *text, const char *word)
{
    g_byte_array_append(text, (const guint8 *)word, (guint)strlen(word) + 1);
}

int dome__standby_order(const char *path, char **words, char **environment)
{
    char count[16];
    GByteArray *text = g_byte_array_new();
    g_snprintf(count, sizeof count, "%u", g_strv_length(words));
    put(text, count);
    put(text, path);
    for (char **word = words; *word; word++)
        put(text, *word);
    for (char **each = environment; *each; each++)
        put(text, *each);
    dome_file_limit limit;
    int fd = memfd_create("dome-newcomers", MFD_CLOEXEC);
    dome__file_limit_begin(&limit);
    const ssize_t written = fd < 0 ? -1 : write(fd, text->data, text->len);
    dome__file_limit_end(&limit);
    if (fd >= 0 && written != (ssize_t)text->len) {
        const int error = written < 0 ? errno : EIO;
        close(fd);
        errno = error;
        fd = -1;
    }
    g_byte_array_unref(text);
    return fd;
}

/* ---- the process ---- */

/* Enough for all words and the environment of a process: Linux allows less by far, unless its stack has no limit. */
static const uint64_t ORDER_MOST = (uint64_t)1 << 30;

/* The words of the file, as one array; NULL: it cannot be read. */
static char **read_order(const dome_standby_request *r)
{
    char *path = g_strdup_printf("/proc/%d/fd/%d", r->process, r->descriptor);
    const char *reason;
    struct stat s;
    const int fd = dome__file_open(path, O_RDONLY, &reason);
    GPtrArray *words = g_ptr_array_new();
    char *text = NULL;
    if (fd >= 0 && fstat(fd, &s) == 0 && s.st_size > 0 && (uint64_t)s.st_size < ORDER_MOST) {
        text = g_malloc0((gsize)s.st_size + 1);
        const uint64_t bytes = dome__io_read_at(fd, text, (uint64_t)s.st_size, 0);
        for (uint64_t at = 0; at < bytes; at += strlen(text + at) + 1)
            g_ptr_array_add(words, text + at);
    }
    if (fd >= 0)
        close(fd);
    g_free(path);
    g_ptr_array_add(words, NULL);
    const bool whole = words->len > 2 && (guint)atoi(words->pdata[0]) + 3 <= words->len;
    if (!whole)
        g_free(text);
    return (char **)g_ptr_array_free(words, !whole);
}

static char *start_standby(const dome_standby_request *r)
{
    char **order = read_order(r), **hosts = g_strsplit(r->hosts, " ", 0), *why = NULL;
    if (!order) {
        g_strfreev(hosts);
        return g_strdup("!task 0 has not said how newcomers are started");
    }
    const int count = atoi(order[0]), size = (int)g_strv_length(hosts);
    char **words = g_new0(char *, count + 1);
    memcpy(words, order + 2, (size_t)count * sizeof *words);
    clearenv();
    for (char **each = order + 2 + count; *each; each++)
        putenv(*each);
    const char **names = g_new0(const char *, size);
    int *ids = g_new0(int, size);
    for (int k = 0; k < size; k++)
        names[k] = strcmp(hosts[k], "-") == 0 ? NULL : hosts[k];
    GString *said = g_string_new("=");
    const dome_spawn program = {.path = order[1], .arguments = words, .size = size, .names = names};
    if (r->launcher->standby(&program, ids, r->timeout, r->patience, &why)) {
        for (int k = 0; k < size; k++)
            g_string_append_printf(said, "%s%d", k ? " " : "", ids[k]);
    } else {
        g_string_printf(said, "!%s", why ? why : "they cannot be started");
        g_strdelimit(said->str, "\n", ' ');
    }
    g_free(why);
    g_free(ids);
    g_free(names);
    g_free(words);
    clearenv(); /* its words are those of the order */
    g_free(order[0]);
    g_free(order);
    g_strfreev(hosts);
    return g_string_free(said, FALSE);
}

/* Does not return. */
static void be_starter(const dome_standby_request *r, int line) __attribute__((noreturn));

static void be_starter(const dome_standby_request *r, int line)
{
    char byte;
    char *said = start_standby(r), *text = g_strconcat(said, "\n", NULL);
    if (send(line, text, strlen(text), MSG_NOSIGNAL) == (ssize_t)strlen(text))
        while (recv(line, &byte, 1, 0) < 0 && errno == EINTR)
            continue;
    g_free(text);
    g_free(said);
    _exit(0);
}

pid_t dome__standby_start(const dome_standby_request *request, int *fd)
{
    /* PVM's library cannot use high descriptors, and lines must close when tasks end. */
    const dome_child_setup setup = {.line = DOME_CHILD_TALKS, .line_as = STDERR_FILENO + 1, .close_from = STDERR_FILENO + 2};
    const pid_t pid = dome__child_fork(&setup, fd);
    if (pid == 0)
        be_starter(request, *fd);
    return MAX(pid, 0);
}

char *dome__standby_read(const char *line, int *ids, int n)
{
    char **words = line[0] == '=' ? g_strsplit(line + 1, " ", 0) : NULL;
    if (!words || (int)g_strv_length(words) != n) {
        g_strfreev(words);
        return g_strdup(line[0] == '!' && line[1] ? line + 1 : "the process that starts new tasks has ended");
    }
    for (int k = 0; k < n; k++)
        ids[k] = atoi(words[k]);
    g_strfreev(words);
    return NULL;
}
