#include "system/owners.h"

#include <errno.h>
#include <glib.h>
#include <grp.h>
#include <pthread.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

/* For the texts of an entry of passwd or group; a longer one counts as foreign. */
enum { ROOM = 65536 };

char *dome__user_text(uid_t user)
{
    char room[4096];
    struct passwd entry, *found = NULL;
    if (getpwuid_r(user, &entry, room, sizeof room, &found) != 0 || !found)
        return g_strdup_printf("%u", (unsigned)user);
    return g_strdup_printf("%s (%u)", entry.pw_name, (unsigned)user);
}

/* ---- groups ---- */

/* Whether members are added to the group by name, other than this user and root. */
static bool has_added(gid_t gid, char *room)
{
    char names[4096];
    struct passwd own, *me = NULL;
    struct group entry, *group = NULL;
    if (getgrgid_r(gid, &entry, room, ROOM, &group) != 0)
        return true;
    if (!group)
        return gid != getegid(); /* of a group without a name nothing else is known */
    if (getpwuid_r(geteuid(), &own, names, sizeof names, &me) != 0)
        me = NULL;
    bool added = false;
    for (char **member = entry.gr_mem; *member && !added; member++)
        added = strcmp(*member, "root") != 0 && (!me || strcmp(*member, me->pw_name) != 0);
    return added;
}

/* Whether it is the first group of another user. */
static bool is_of_another(gid_t gid, char *room)
{
    struct passwd entry, *found = NULL;
    bool of_another = false;
    int error = 0;
    setpwent();
    while (!of_another && (error = getpwent_r(&entry, room, ROOM, &found)) == 0 && found)
        of_another = entry.pw_gid == gid && entry.pw_uid != geteuid() && entry.pw_uid != 0;
    endpwent();
    return of_another || (error != 0 && error != ENOENT);
}

/* Looked up once: where users are on another machine it may take long. */
static bool is_own_group(gid_t gid)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static bool known, own;
    static gid_t of;
    pthread_mutex_lock(&mutex);
    if (!known || of != gid) {
        char *room = g_malloc(ROOM);
        own = !has_added(gid, room) && !is_of_another(gid, room);
        of = gid;
        known = true;
        g_free(room);
    }
    const bool found = own;
    pthread_mutex_unlock(&mutex);
    return found;
}

/* With a list of further users (an ACL) the bits of the group are what any of them may have at most. */
static bool has_list(int fd)
{
    char path[64];
    g_snprintf(path, sizeof path, "/proc/self/fd/%d", fd); /* fgetxattr takes no O_PATH */
    return getxattr(path, "system.posix_acl_access", NULL, 0) > 0 || (errno != ENODATA && errno != ENOTSUP);
}

/* ---- the rule ---- */

bool dome__others_may_write(int fd, const struct stat *s)
{
    if (s->st_mode & S_IWOTH)
        return true;
    return (s->st_mode & S_IWGRP) && (!is_own_group(s->st_gid) || has_list(fd));
}

char *dome__file_distrust(int fd)
{
    struct stat s;
    if (fstat(fd, &s) != 0)
        return g_strdup(g_strerror(errno));
    if (s.st_uid != geteuid() && s.st_uid != 0) {
        char *user = dome__user_text(s.st_uid), *text = g_strdup_printf("it belongs to user %s", user);
        g_free(user);
        return text;
    }
    return dome__others_may_write(fd, &s) ? g_strdup_printf("others may write to it (mode %04o)", (unsigned)s.st_mode & 07777)
                                          : NULL;
}
