#include "capture/capture.h"

#include "capture/streams.h"

#include <dirent.h>
#include <glib.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Calls function(ctx, number) for each number that a directory has as a name, until it returns false. */
static void each_number(const char *path, bool (*function)(void *ctx, int number), void *ctx)
{
    DIR *directory = opendir(path);
    if (!directory)
        return;
    const int own = dirfd(directory);
    for (const struct dirent *entry; (entry = readdir(directory));) {
        char *end;
        long number = strtol(entry->d_name, &end, 10);
        if (end == entry->d_name || *end || number == own)
            continue;
        if (!function(ctx, (int)number))
            break;
    }
    closedir(directory);
}

static bool note_thread(void *table, int number)
{
    g_hash_table_add(table, GINT_TO_POINTER(number));
    return true;
}

/* Which file a descriptor leads to, under whatever name; g_free'd by the caller. NULL: it is closed. */
static char *file_of(int descriptor)
{
    struct stat st;
    return fstat(descriptor, &st) == 0 ? g_strdup_printf("%" PRIu64 ":%" PRIu64, (uint64_t)st.st_dev, (uint64_t)st.st_ino) : NULL;
}

static bool note_descriptor(void *table, int number)
{
    g_hash_table_insert(table, GINT_TO_POINTER(number), file_of(number));
    return true;
}

static bool was_there(int descriptor)
{
    dome_capture_foreign *f = &dome__capture->foreign;
    const char *before = g_hash_table_lookup(f->descriptors, GINT_TO_POINTER(descriptor));
    char *now = file_of(descriptor);
    const bool same = before && now && strcmp(before, now) == 0;
    g_free(now);
    return same;
}

void dome__capture_foreign_begin(void)
{
    dome_capture_foreign *f = &dome__capture->foreign;
    if (f->threads)
        g_hash_table_remove_all(f->threads);
    else
        f->threads = g_hash_table_new(NULL, NULL);
    if (f->descriptors)
        g_hash_table_remove_all(f->descriptors);
    else
        f->descriptors = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    each_number("/proc/self/task", note_thread, f->threads);
    each_number("/proc/self/fd", note_descriptor, f->descriptors);
}

typedef struct search {
    const char *own;
    char *found;
} search;

static bool look_at_thread(void *ctx, int number)
{
    dome_capture_foreign *f = &dome__capture->foreign;
    search *s = ctx;
    if (g_hash_table_contains(f->threads, GINT_TO_POINTER(number)))
        return true;
    char *path = g_strdup_printf("/proc/self/task/%d/comm", number), *name = NULL;
    if (g_file_get_contents(path, &name, NULL, NULL)) { /* else it has ended meanwhile */
        s->found = g_strdup_printf("thread %d ('%s')", number, g_strchomp(name));
        g_free(name);
    }
    g_free(path);
    return !s->found;
}

static bool look_at_descriptor(void *ctx, int number)
{
    search *s = ctx;
    if (was_there(number) || dome__capture_stream_owns(number))
        return true;
    char *path = g_strdup_printf("/proc/self/fd/%d", number), *target = g_file_read_link(path, NULL);
    g_free(path);
    const size_t length = s->own ? strlen(s->own) : 0;
    const bool library = !target ||
                         (length > 0 && strncmp(target, s->own, length) == 0 && (target[length] == '/' || !target[length])) ||
                         g_str_has_prefix(target, "/proc/");
    if (!library)
        s->found = g_strdup_printf("descriptor %d (%s)", number, target);
    g_free(target);
    return !s->found;
}

char *dome__capture_foreign_find(const char *own)
{
    dome_capture_foreign *f = &dome__capture->foreign;
    search s = {.own = own};
    if (!f->threads)
        return NULL;
    each_number("/proc/self/task", look_at_thread, &s);
    if (!s.found)
        each_number("/proc/self/fd", look_at_descriptor, &s);
    return s.found;
}
