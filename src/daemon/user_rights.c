#include "daemon/user_rights.h"

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

static char *read_of(pid_t process, const char *file)
{
    char *path = g_strdup_printf("/proc/%d/%s", (int)process, file), *text = NULL;
    g_file_get_contents(path, &text, NULL, NULL);
    g_free(path);
    return text ? text : g_strdup("");
}

/* Lines in the order of the limits' numbers, behind a title: a name in 25 columns, the soft limit, the hard one, a unit. */
static void add_limits(GString *text, const char *table)
{
    enum { NAME = 25 };
    char **lines = g_strsplit(table, "\n", 0);
    for (int k = 0; k < RLIM_NLIMITS && lines[0] && lines[k + 1]; k++) {
        char soft[32], hard[32];
        if (strlen(lines[k + 1]) <= NAME || sscanf(lines[k + 1] + NAME, " %31s %31s", soft, hard) != 2)
            break;
        g_string_append_printf(text, " %d:%s:%s", k, soft, hard);
    }
    g_strfreev(lines);
}

/* By /proc: prlimit would need more rights than a root in a container may have. */
char *dome__owner_limits(pid_t process)
{
    GString *text = g_string_new(NULL);
    char *status = read_of(process, "status"), *limits = read_of(process, "limits");
    const char *line = strstr(status, "\nUmask:");
    unsigned mask;
    if (line && sscanf(line, "\nUmask: %o", &mask) == 1)
        g_string_append_printf(text, "umask:%u", mask & 0777);
    add_limits(text, limits);
    g_free(status);
    g_free(limits);
    return g_string_free(text, FALSE);
}

static bool read_limit(const char *word, rlim_t *value)
{
    guint64 number;
    const bool unlimited = strcmp(word, "unlimited") == 0,
               good = unlimited || g_ascii_string_to_unsigned(word, 10, 0, G_MAXUINT64, &number, NULL);
    *value = unlimited ? RLIM_INFINITY : good ? (rlim_t)number : 0;
    return good;
}

static bool set_limit(const char *word)
{
    struct rlimit limit;
    char soft[32], hard[32];
    unsigned number, mask;
    int end = 0;
    if (sscanf(word, "umask:%u%n", &mask, &end) == 1 && !word[end]) {
        umask((mode_t)mask & 0777);
        return true;
    }
    if (sscanf(word, "%u:%31[a-z0-9]:%31[a-z0-9]%n", &number, soft, hard, &end) != 3 || word[end] ||
        !read_limit(soft, &limit.rlim_cur) || !read_limit(hard, &limit.rlim_max))
        return false;
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
