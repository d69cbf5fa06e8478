#include "system/own_folder.h"

#include "system/environment_variables.h"
#include "system/owners.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <limits.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LINKS_MAX = 40, PASS = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };

/* State of walking a path: the folder reached, and the rest of the path from there. */
typedef struct walk {
    int folder;
    GString *reached, *rest;
    int links;
    mode_t mode; /* of folders that are made */
    uid_t root;  /* the owner of / */
    char *why;
    bool distrusted; /* why: somebody else may have put something there; else errno tells */
} walk;

bool dome__is_ours(const struct stat *s)
{
    return s->st_uid == geteuid() && (s->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

static bool distrust(walk *w, char *why)
{
    w->why = why;
    w->distrusted = true;
    return false;
}

static bool refuse_errno(walk *w)
{
    const int error = errno;
    w->why = g_strdup_printf("%s: %s", w->reached->str, g_strerror(error));
    errno = error;
    return false;
}

static bool belongs_to_another(walk *w, const struct stat *s)
{
    char *user = dome__user_text(s->st_uid);
    distrust(w, g_strdup_printf("%s belongs to user %s", w->reached->str, user));
    g_free(user);
    return false;
}

static bool is_open_to_others(walk *w, const struct stat *s)
{
    char *user = dome__user_text(s->st_uid);
    distrust(w, g_strdup_printf("%s, of user %s: others may write there (mode %04o)", w->reached->str, user,
                                (unsigned)s->st_mode & 07777));
    g_free(user);
    return false;
}

/* The owner of a folder or link on the path can redirect it, so it must be this user or root. Who owns / controls all there is:
 * root, but where users have other numbers than outside (user namespaces) root may be seen as any number. */
static bool check_owner(walk *w, const struct stat *s)
{
    return s->st_uid == geteuid() || s->st_uid == 0 || s->st_uid == w->root || belongs_to_another(w, s);
}

/* In a folder with the sticky bit only its owner, root and an entry's owner can replace the entry. */
static bool check_folder(walk *w)
{
    struct stat s;
    if (fstat(w->folder, &s) < 0)
        return refuse_errno(w);
    if (!check_owner(w, &s))
        return false;
    return (s.st_mode & S_ISVTX) || !dome__others_may_write(w->folder, &s) || is_open_to_others(w, &s);
}

static bool go_to(walk *w, int folder)
{
    if (folder < 0)
        return refuse_errno(w);
    if (w->folder >= 0)
        close(w->folder);
    w->folder = folder;
    return check_folder(w);
}

/* An emulator of user programs (qemu) may know another folder by the name /, and be right about all names below it. */
static bool go_to_root(walk *w)
{
    struct stat s;
    int root = open("/proc/self/root", PASS & ~O_NOFOLLOW);
    if (root < 0)
        root = open("/", PASS);
    g_string_assign(w->reached, "/");
    w->root = root >= 0 && fstat(root, &s) == 0 ? s.st_uid : 0;
    return go_to(w, root);
}

/* Puts the target of a link before the rest of the path. */
static bool follow(walk *w, const char *name, const struct stat *s)
{
    char target[PATH_MAX];
    gsize parent = w->reached->len;
    g_string_append_printf(w->reached, "%s%s", parent > 1 ? "/" : "", name);
    if (!check_owner(w, s))
        return false;
    ssize_t n = readlinkat(w->folder, name, target, sizeof target - 1);
    if (n >= 0 && (n == sizeof target - 1 || ++w->links > LINKS_MAX)) {
        errno = ELOOP;
        n = -1;
    }
    if (n < 0)
        return refuse_errno(w);
    target[n] = '\0';
    g_string_prepend_c(w->rest, '/');
    g_string_prepend(w->rest, target);
    g_string_truncate(w->reached, parent);
    return target[0] != '/' || go_to_root(w);
}

static bool step(walk *w, const char *name)
{
    struct stat s;
    if (fstatat(w->folder, name, &s, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(s.st_mode))
        return follow(w, name, &s);
    g_string_append_printf(w->reached, "%s%s", w->reached->len > 1 ? "/" : "", name);
    int next = openat(w->folder, name, PASS);
    if (next < 0 && errno == ENOENT && (mkdirat(w->folder, name, w->mode) == 0 || errno == EEXIST))
        next = openat(w->folder, name, PASS);
    return go_to(w, next);
}

/* Takes the next name off the rest; NULL at the end; g_free'd. */
static char *next_name(walk *w)
{
    gsize slashes = strspn(w->rest->str, "/"), length = strcspn(w->rest->str + slashes, "/");
    char *name = length ? g_strndup(w->rest->str + slashes, length) : NULL;
    g_string_erase(w->rest, 0, (gssize)(slashes + length));
    return name;
}

/* The last folder must be this user's alone. */
static bool check_own(walk *w)
{
    struct stat s;
    if (fstat(w->folder, &s) < 0)
        return refuse_errno(w);
    if (s.st_uid != geteuid())
        return belongs_to_another(w, &s);
    return dome__is_ours(&s) || is_open_to_others(w, &s);
}

/* The last folder may be root's; the sticky bit does not keep others from putting something there. */
static bool check_trusted(walk *w)
{
    struct stat s;
    if (fstat(w->folder, &s) < 0)
        return refuse_errno(w);
    if (s.st_uid != geteuid() && s.st_uid != 0)
        return belongs_to_another(w, &s);
    return !dome__others_may_write(w->folder, &s) || is_open_to_others(w, &s);
}

static bool walk_along(walk *w, const char *path)
{
    char *whole = g_canonicalize_filename(path, NULL);
    w->reached = g_string_new(NULL);
    w->rest = g_string_new(whole);
    bool good = go_to_root(w);
    for (char *name; good && (name = next_name(w)); g_free(name))
        good = strcmp(name, ".") == 0 || step(w, name);
    g_free(whole);
    return good;
}

static void end_walk(walk *w)
{
    const int error = errno;
    if (w->folder >= 0)
        close(w->folder);
    g_string_free(w->reached, TRUE);
    g_string_free(w->rest, TRUE);
    errno = error;
}

int dome__own_folder(const char *path, char **why)
{
    walk w = {.folder = -1, .mode = 0700};
    const bool good = walk_along(&w, path) && check_own(&w);
    int folder = good ? openat(w.folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (good && folder < 0)
        refuse_errno(&w);
    *why = w.why;
    end_walk(&w);
    return folder;
}

bool dome__trusted_folder(const char *path, char **why)
{
    walk w = {.folder = -1, .mode = 0755};
    const bool good = walk_along(&w, path) && check_trusted(&w);
    *why = w.distrusted ? w.why : NULL;
    end_walk(&w);
    if (!w.distrusted)
        g_free(w.why);
    return good;
}

char *dome__cache_path(void)
{
    const char *given = g_getenv(DOME_VARIABLE_CACHE);
    return given && *given ? g_strdup(given) : g_build_filename(g_get_user_cache_dir(), "dome", NULL);
}

/* ---- temporary folders ---- */

static const char WORK[] = "dome-work.";

/* Folders left by killed processes are removed at this age, in seconds. */
enum { LEFT = 3600 };

DIR *dome__folder_list(int folder)
{
    int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = copy >= 0 ? fdopendir(copy) : NULL;
    if (copy >= 0 && !dir)
        close(copy);
    return dir;
}

void dome__work_folder_remove(int parent, int folder, char *name)
{
    DIR *dir = dome__folder_list(folder);
    for (const struct dirent *e; dir && (e = readdir(dir));)
        unlinkat(folder, e->d_name, 0);
    if (dir)
        closedir(dir);
    close(folder);
    unlinkat(parent, name, AT_REMOVEDIR);
    g_free(name);
}

/* Opens a folder if only this user can have made it. */
static int open_work(int parent, const char *name)
{
    struct stat s;
    int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0 || (fstat(folder, &s) == 0 && dome__is_ours(&s)))
        return folder;
    close(folder);
    errno = EPERM;
    return -1;
}

static void sweep(int parent)
{
    time_t old = time(NULL) - LEFT;
    DIR *dir = dome__folder_list(parent);
    for (const struct dirent *e; dir && (e = readdir(dir));) {
        struct stat s;
        if (!g_str_has_prefix(e->d_name, WORK) || fstatat(parent, e->d_name, &s, AT_SYMLINK_NOFOLLOW) < 0 ||
            !S_ISDIR(s.st_mode) || s.st_mtime >= old)
            continue;
        int folder = open_work(parent, e->d_name);
        if (folder >= 0)
            dome__work_folder_remove(parent, folder, g_strdup(e->d_name));
    }
    if (dir)
        closedir(dir);
}

int dome__work_folder(int parent, char **name)
{
    sweep(parent);
    *name = g_strdup_printf("%s%08x%08x", WORK, g_random_int(), g_random_int());
    int folder = mkdirat(parent, *name, 0700) == 0 ? open_work(parent, *name) : -1;
    if (folder < 0)
        g_clear_pointer(name, g_free);
    return folder;
}
