#include "program/descriptors.h"

#include <fcntl.h>
#include <glib.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The descriptors that the process was given, separated by blanks, with one at each end. All others end with the view. */
static char *given;

static void for_descriptors(void (*visit)(int fd, void *ctx), void *ctx)
{
    GDir *dir = g_dir_open("/proc/self/fd", 0, NULL);
    for (const char *name; dir && (name = g_dir_read_name(dir));)
        if (atoi(name) > STDERR_FILENO)
            visit(atoi(name), ctx);
    if (dir)
        g_dir_close(dir);
}

static void note_given(int fd, void *list)
{
    int flags = fcntl(fd, F_GETFD);
    if (flags >= 0 && !(flags & FD_CLOEXEC))
        g_string_append_printf(list, "%d ", fd);
}

void dome__descriptors_begin(void)
{
    if (given)
        return;
    GString *list = g_string_new(" ");
    for_descriptors(note_given, list);
    given = g_string_free(list, FALSE);
}

/* The descriptors that are in both lists. */
static char *in_both(const char *some, const char *others)
{
    GString *list = g_string_new(" ");
    char **words = g_strsplit(some, " ", 0);
    for (char **word = words; *word; word++) {
        char *spaced = g_strdup_printf(" %s ", *word);
        if (**word && strstr(others, spaced))
            g_string_append_printf(list, "%s ", *word);
        g_free(spaced);
    }
    g_strfreev(words);
    return g_string_free(list, FALSE);
}

/* PVM's library makes the closing of a connection wait until the other end has all data: for a host that has been cut off that
 * would take long. */
static void close_own(int fd, void *held)
{
    const struct linger none = {0};
    char word[16];
    g_snprintf(word, sizeof word, " %d ", fd);
    if (strstr(held, word) || strstr(given, word))
        return;
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof none);
}

void dome__descriptors_take_along(int fd)
{
    if (fd >= 0)
        fcntl(fd, F_SETFD, 0);
}

bool dome__descriptors_keep(int fd)
{
    return fd >= 0 && fcntl(fd, F_SETFD, FD_CLOEXEC) == 0;
}

void dome__descriptors_set(const char *descriptors, int flags)
{
    char **words = g_strsplit(descriptors, " ", 0);
    for (char **word = words; *word; word++)
        if (**word)
            fcntl(atoi(*word), F_SETFD, flags);
    g_strfreev(words);
}

void dome__descriptors_close(const char *descriptors)
{
    char **words = g_strsplit(descriptors, " ", 0);
    for (char **word = words; *word; word++)
        if (**word)
            close(atoi(*word));
    g_strfreev(words);
}

const char *dome__descriptors_given(void)
{
    return given;
}

void dome__descriptors_only(const char *list)
{
    char *before = given;
    given = in_both(before, list);
    g_free(before);
}

void dome__descriptors_close_others(char *held)
{
    for_descriptors(close_own, held);
}
