#include "daemon/owner.h"

#include <glib.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

const char *dome__owner_become(int64_t uid, int64_t gid, const char *name)
{
    if (geteuid() != 0)
        return uid == (int64_t)geteuid() ? NULL : "this daemon is not root's: it runs its user's programs alone";
    if (initgroups(name, (gid_t)gid) < 0)
        return "the groups of its owner cannot be set";
    if (setgid((gid_t)gid) < 0 || setuid((uid_t)uid) < 0)
        return "its owner's rights cannot be taken on";
    if (uid != 0 && setuid(0) == 0)
        return "root's rights cannot be given up";
    return NULL;
}

static void add_umask(GString *text, pid_t process)
{
    char *path = g_strdup_printf("/proc/%d/status", (int)process), *status = NULL;
    unsigned mask;
    if (g_file_get_contents(path, &status, NULL, NULL)) {
        const char *line = strstr(status, "\nUmask:");
        if (line && sscanf(line, "\nUmask: %o", &mask) == 1)
            g_string_append_printf(text, "umask:%u ", mask & 0777);
    }
    g_free(status);
    g_free(path);
}

char *dome__owner_limits(pid_t process)
{
    GString *text = g_string_new(NULL);
    add_umask(text, process);
    for (int k = 0; k < RLIM_NLIMITS; k++) {
        struct rlimit limit;
        if (prlimit(process, (__rlimit_resource_t)k, NULL, &limit) == 0)
            g_string_append_printf(text, "%d:%" G_GUINT64_FORMAT ":%" G_GUINT64_FORMAT " ", k, (guint64)limit.rlim_cur,
                                   (guint64)limit.rlim_max);
    }
    if (text->len)
        g_string_truncate(text, text->len - 1);
    return g_string_free(text, FALSE);
}

static bool set_limit(const char *word)
{
    guint64 soft, hard;
    unsigned number, mask;
    int end = 0;
    if (sscanf(word, "umask:%u%n", &mask, &end) == 1 && !word[end]) {
        umask((mode_t)mask & 0777);
        return true;
    }
    if (sscanf(word, "%u:%" G_GUINT64_FORMAT ":%" G_GUINT64_FORMAT "%n", &number, &soft, &hard, &end) != 3 || word[end])
        return false;
    const struct rlimit limit = {(rlim_t)soft, (rlim_t)hard};
    if (number < RLIM_NLIMITS)
        setrlimit((__rlimit_resource_t)number, &limit); /* refused: it has this daemon's */
    return true;
}

bool dome__owner_set_limits(const char *text)
{
    char **words = g_strsplit(text, " ", 0);
    bool good = true;
    for (char **word = words; good && *word; word++)
        good = !**word || set_limit(*word);
    g_strfreev(words);
    return good;
}
