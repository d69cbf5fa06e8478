#include "core/own_folder.h"

#include "core/environment_variables.h"

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
    char *why;
} walk;

bool dome__is_ours(const struct stat *s)
{
    return s->st_uid == geteuid() && (s->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

static bool refuse(walk *w, char *why)
{
    w->why = why;
    return false;
}

static bool refuse_errno(walk *w)
{
    return refuse(w, g_strdup_printf("%s: %s", w->reached->str, g_strerror(errno)));
}

/* The owner of a folder or link on the path can redirect it, so it must be this user or root. */
static bool check_owner(walk *w, const struct stat *s)
{
    if (s->st_uid == geteuid() || s->st_uid == 0)
        return true;
    return refuse(w, g_strdup_printf("%s belongs to user %u", w->reached->str, (unsigned)s->st_uid));
}

/* In a folder with the sticky bit only its owner, root and an entry's owner can replace the entry. */
static bool check_folder(walk *w)
{
    struct stat s;
    if (fstat(w->folder, &s) < 0)
        return refuse_errno(w);
    if (!check_owner(w, &s))
        return false;
    if ((s.st_mode & (S_IWGRP | S_IWOTH)) && !(s.st_mode & S_ISVTX))
        return refuse(w, g_strdup_printf("%s: others may write there", w->reached->str));
    return true;
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

static bool go_to_root(walk *w)
{
    g_string_assign(w->reached, "/");
    return go_to(w, open("/", PASS));
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
    if (next < 0 && errno == ENOENT && (mkdirat(w->folder, name, 0700) == 0 || errno == EEXIST))
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
static bool check_last(walk *w)
{
    struct stat s;
    if (fstat(w->folder, &s) < 0)
        return refuse_errno(w);
    if (s.st_uid != geteuid())
        return refuse(w, g_strdup_printf("%s belongs to user %u", w->reached->str, (unsigned)s.st_uid));
    return dome__is_ours(&s) || refuse(w, g_strdup_printf("%s: others may write there", w->reached->str));
}

int dome__own_folder(const char *path, char **why)
{
    char *whole = g_canonicalize_filename(path, NULL);
    walk w = {.folder = -1, .reached = g_string_new(NULL), .rest = g_string_new(whole)};
    bool good = go_to_root(&w);
    for (char *name; good && (name = next_name(&w)); g_free(name))
        good = strcmp(name, ".") == 0 || step(&w, name);
    good = good && check_last(&w);
    int folder = good ? openat(w.folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (good && folder < 0)
        refuse_errno(&w);
    if (w.folder >= 0)
        close(w.folder);
    *why = w.why;
    g_string_free(w.reached, TRUE);
    g_string_free(w.rest, TRUE);
    g_free(whole);
    return folder;
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
