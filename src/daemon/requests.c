#include "daemon/requests.h"

#include "daemon/user_rights.h"

#include <grp.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

#define ADMINISTRATORS "dome"

/* NULL: the user has no name. */
static char *name_of(uid_t uid)
{
    const struct passwd *entry = getpwuid(uid);
    return entry ? g_strdup(entry->pw_name) : NULL;
}

bool dome__request_is_administrator(const dome_server_user *user)
{
    if (user->uid == 0 || user->uid == geteuid())
        return true;
    const struct group *group = getgrnam(ADMINISTRATORS);
    if (!group)
        return false;
    bool is = group->gr_gid == user->gid;
    char *name = name_of(user->uid);
    for (char **member = group->gr_mem; name && !is && *member; member++)
        is = strcmp(*member, name) == 0;
    g_free(name);
    return is;
}

char *dome__request_user(const dome_server_user *user)
{
    return name_of(user->uid);
}

char *dome__request_version(const dome_record *request)
{
    int64_t version;
    if (!dome__record_number(request, "version", 0, G_MAXINT64, 0, &version) || version != DOME_DAEMON_VERSION)
        return g_strdup_printf("the daemon is of version %d, and the command of version %" G_GINT64_FORMAT, DOME_DAEMON_VERSION,
                               version);
    return NULL;
}

char *dome__request_program(const dome_table *table, const char *word, const dome_program **program)
{
    if (!word)
        return g_strdup("no program is named");
    GPtrArray *meant = dome__table_meant(table, word);
    char *why = NULL;
    if (meant->len == 1)
        *program = meant->pdata[0];
    else if (meant->len == 0)
        why = g_strdup_printf("there is no program %s; dome ps lists them", word);
    else
        why = g_strdup_printf("%u programs are called %s: name one by its number, such as j%" G_GINT64_FORMAT, meant->len, word,
                              ((const dome_program *)meant->pdata[0])->id);
    g_ptr_array_unref(meant);
    return why;
}

/* Takes the values of these names over. */
static void copy(dome_record *to, const dome_record *from, const char *const *names)
{
    for (; *names; names++) {
        char **values = dome__record_all(from, *names);
        dome__record_add_all(to, *names, values);
        g_strfreev(values);
    }
}

static char *submit(const char *host, const dome_server_user *user, const dome_record *request, dome_record *order)
{
    static const char *const names[] = {"directory", "output",   "word",  "env",      "option", "tasks",
                                        "least",     "priority", "again", "topology", "nonce",  NULL};
    const char *directory = dome__record_get(request, "directory"), *output = dome__record_get(request, "output");
    if (!directory || !output || !g_path_is_absolute(directory) || !g_path_is_absolute(output))
        return g_strdup("the directory and the file for the output must be whole paths");
    if (user->pid == 0)
        return g_strdup("programs are submitted to the daemon of the own host");
    if (geteuid() != 0 && user->uid != geteuid())
        return g_strdup("this daemon runs the programs of its own user alone");
    char *owner = name_of(user->uid);
    if (!owner)
        return g_strdup_printf("user %u has no name on this host", (unsigned)user->uid);
    char *limits = dome__owner_limits(user->pid);
    copy(order, request, names);
    dome__record_add_number(order, "uid", user->uid);
    dome__record_add_number(order, "gid", user->gid);
    dome__record_add(order, "owner", owner);
    dome__record_add(order, "home", host);
    dome__record_add(order, "limits", limits);
    dome__record_add_number(order, "time", g_get_real_time() / G_USEC_PER_SEC);
    g_free(limits);
    g_free(owner);
    return NULL;
}

static char *about_program(const dome_table *table, const dome_server_user *user, const dome_record *request, dome_record *order)
{
    static const char *const names[] = {"what", "tasks", "least", "priority", NULL};
    const dome_program *p = NULL;
    char *why = dome__request_program(table, dome__record_get(request, "program"), &p);
    if (why)
        return why;
    if (p->uid != (int64_t)user->uid && !dome__request_is_administrator(user))
        return g_strdup_printf("j%" G_GINT64_FORMAT " is a program of %s's", p->id, p->owner);
    dome__record_add_number(order, "program", p->id);
    copy(order, request, names);
    return NULL;
}

static char *about_host(const dome_server_user *user, const dome_record *request, dome_record *order)
{
    static const char *const names[] = {"name", "what", NULL};
    if (!dome__request_is_administrator(user))
        return g_strdup("hosts are for administrators: root and members of the group " ADMINISTRATORS);
    copy(order, request, names);
    return NULL;
}

char *dome__request_order(const dome_table *table, const char *host, const dome_server_user *user, const dome_record *request,
                          dome_record *order)
{
    char *why = NULL;
    *order = dome__record_new(request->verb);
    if (strcmp(request->verb, "submit") == 0)
        why = submit(host, user, request, order);
    else if (strcmp(request->verb, "wish") == 0 || strcmp(request->verb, "limits") == 0)
        why = about_program(table, user, request, order);
    else if (strcmp(request->verb, "use") == 0 || strcmp(request->verb, "lost") == 0)
        why = about_host(user, request, order);
    else
        why = g_strdup("the request is not understood");
    if (why)
        dome__record_clear(order);
    return why;
}
