/* When a view begins: which checkpoints of single tasks there are on the hosts, and bringing them to the tasks that go back. */
#include "copies/copies_private.h"
#include "system/bytes.h"
#include "system/files.h"
#include "system/io.h"
#include "system/say.h"
#include "transport/agree.h"
#include "transport/collective.h"
#include "transport/message.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WORDS = sizeof(dome_copies_item) / sizeof(uint64_t), CHUNK = 1 << 20 };

static int checked(dome_env *env, int status)
{
    return status ? dome__fail_transport(env, status) : DOME_OK;
}

static bool leads(const dome_env *env, const dome_copies_view *v)
{
    return v->first[v->group[env->rank]] == env->rank;
}

static char *path_of(const dome_env *env, const dome_copies_view *v, const dome_copies_item *x)
{
    return dome__ckpt_file_path(v->directory, x->number, (uint32_t)x->rank + 1, (uint32_t)env->size);
}

/* ---- listing ---- */

static void remove_messages(const dome_env *env, const dome_copies_view *v, int rank)
{
    char *stem = dome__copies_stem(v->directory, v->program, rank, env->size);
    dome__keeper_tidy(stem, NULL, 0);
    g_free(stem);
}

/* Of this group. */
static GArray *list_here(const dome_env *env, const dome_copies_view *v, bool anew, char **message)
{
    GArray *own = g_array_new(FALSE, FALSE, sizeof(dome_copies_item));
    GPtrArray *there = leads(env, v) ? dome__store_list(v->directory, message) : NULL;
    for (guint i = 0; there && i < there->len; i++) {
        const dome_store_item *f = there->pdata[i];
        if (!dome__copies_is_own(f, v->program, env->size))
            continue;
        const dome_copies_item x = {f->number, f->piece - 1, (uint64_t)v->group[env->rank], !f->damage};
        if (!anew)
            g_array_append_val(own, x);
        else if (unlink(f->path) != 0 && errno != ENOENT && !*message)
            *message = g_strdup_printf("'%s' cannot be removed: %s", f->path, g_strerror(errno));
    }
    for (int r = 0; anew && leads(env, v) && r < env->size; r++)
        remove_messages(env, v, r);
    if (there)
        g_ptr_array_unref(there);
    return own;
}

int dome__copies_list(dome_env *env, const dome_copies_view *v, GArray **items)
{
    dome_transport *t = env->transport;
    uint64_t goes_on = !v->anew, *counts = g_new0(uint64_t, env->size), sum = 0;
    char *message = NULL;
    int status = checked(env, dome__allreduce(t, DOME_U64, &goes_on, 1, dome__combine_max_u64, NULL));
    GArray *own = status == DOME_OK ? list_here(env, v, !goes_on, &message) : NULL;
    if (status == DOME_OK)
        status = dome__agree(env, message ? DOME_ERR_IO : DOME_OK, message);
    uint64_t mine = own ? (uint64_t)own->len * WORDS : 0;
    if (status == DOME_OK)
        status = checked(env, dome__allgather(t, DOME_U64, &mine, 1, counts));
    for (int r = 0; r < env->size; r++)
        sum += counts[r];
    *items = g_array_new(FALSE, TRUE, sizeof(dome_copies_item));
    g_array_set_size(*items, (guint)(sum / WORDS));
    if (status == DOME_OK && sum > 0)
        status = checked(env, dome__allgatherv(t, DOME_U64, own->data, counts, (*items)->data));
    if (own)
        g_array_unref(own);
    g_free(counts);
    g_free(message);
    return status;
}

/* ---- choosing ---- */

/* The newest of a task that is good, its own group's if that has it; NULL: there is none. */
static dome_copies_item *newest_of(const dome_copies_view *v, GArray *items, int rank)
{
    dome_copies_item *best = NULL;
    for (guint i = 0; i < items->len; i++) {
        dome_copies_item *x = &g_array_index(items, dome_copies_item, i);
        if (!x->good || (int)x->rank != rank)
            continue;
        if (!best || x->number > best->number || (x->number == best->number && (int)x->group == v->group[rank]))
            best = x;
    }
    return best;
}

static bool is_damaged(const dome_env *env, const dome_copies_view *v, const dome_copies_item *x)
{
    char *message = NULL, *path = path_of(env, v, x);
    dome_ckpt_file *file = dome__ckpt_open(path, &message);
    const bool damaged = !file || !dome__ckpt_verify(file, &message);
    if (damaged) {
        dome__say("%s: it is not used", message);
        unlink(path);
    }
    dome__ckpt_close(file);
    g_free(message);
    g_free(path);
    return damaged;
}

/* Leaders verify what was chosen. *again: something is damaged, and chosen no more. */
static int verify(dome_env *env, const dome_copies_view *v, GArray *items, const uint64_t *stays, bool *again)
{
    uint64_t *damaged = g_new0(uint64_t, env->size);
    for (int r = 0; r < env->size; r++) {
        const dome_copies_item *x = stays[r] ? NULL : newest_of(v, items, r);
        if (x && leads(env, v) && (int)x->group == v->group[env->rank])
            damaged[r] = is_damaged(env, v, x);
    }
    const int status =
        checked(env, dome__allreduce(env->transport, DOME_U64, damaged, (uint64_t)env->size, dome__combine_max_u64, NULL));
    *again = false;
    for (int r = 0; r < env->size && status == DOME_OK; r++) {
        dome_copies_item *x = damaged[r] ? newest_of(v, items, r) : NULL;
        if (x)
            x->good = 0;
        *again |= x != NULL;
    }
    g_free(damaged);
    return status;
}

/* ---- sending ---- */

/* The names of the task's files of messages in this directory. */
static GPtrArray *names_of(const char *stem)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    char *folder = g_path_get_dirname(stem), *base = g_path_get_basename(stem);
    GDir *dir = g_dir_open(folder, 0, NULL);
    for (const char *name; dir && (name = g_dir_read_name(dir));)
        if (g_str_has_prefix(name, base) && name[strlen(base)] == '-' && !g_str_has_suffix(name, DOME_STORE_PART))
            g_ptr_array_add(names, g_strdup(name + strlen(base) + 1));
    if (dir)
        g_dir_close(dir);
    g_free(base);
    g_free(folder);
    return names;
}

static int tell(dome_env *env, int to, const void *data, uint64_t bytes)
{
    return checked(env, dome__send(env->transport, to, DOME_CHANNEL_CONTROL, DOME_U8, data, bytes));
}

static int hear(dome_env *env, int from, void *data, uint64_t bytes)
{
    return checked(env, dome__recv(env->transport, from, DOME_CHANNEL_CONTROL, DOME_U8, data, bytes));
}

/* Two words: where in the file, and how many bytes follow; none: that is the file's length. UINT64_MAX: it cannot be read. */
static int tell_part(dome_env *env, int to, uint64_t at, uint64_t bytes)
{
    uint8_t words[16];
    dome__put_u64(words, at);
    dome__put_u64(words + 8, bytes);
    return tell(env, to, words, sizeof words);
}

/* Without the holes. */
static int send_file(dome_env *env, int to, const char *path)
{
    const char *reason;
    const int fd = dome__file_open(path, O_RDONLY | O_NOFOLLOW, &reason);
    char *buffer = g_malloc(CHUNK);
    struct stat s;
    bool good = fd >= 0 && fstat(fd, &s) == 0;
    int status = DOME_OK;
    for (off_t at = 0, end = good ? s.st_size : 0, hole = 0; good && at < end && status == DOME_OK;) {
        if (at >= hole) {
            const off_t data = lseek(fd, at, SEEK_DATA);
            if (data < 0 && errno == ENXIO)
                break;
            at = data < 0 ? at : data;
            hole = lseek(fd, at, SEEK_HOLE);
            hole = hole <= at ? end : hole;
        }
        const uint64_t n = dome__io_read_at(fd, buffer, (uint64_t)MIN(hole - at, CHUNK), (uint64_t)at);
        good = n > 0;
        if (good)
            status = tell_part(env, to, (uint64_t)at, n);
        if (good && status == DOME_OK)
            status = tell(env, to, buffer, n);
        at += (off_t)n;
    }
    if (status == DOME_OK)
        status = tell_part(env, to, good ? (uint64_t)s.st_size : UINT64_MAX, 0);
    if (fd >= 0)
        close(fd);
    g_free(buffer);
    return status;
}

static int send_all(dome_env *env, const dome_copies_view *v, const dome_copies_item *x)
{
    enum { NAME = 16 };
    const int to = (int)x->rank;
    char *stem = dome__copies_stem(v->directory, v->program, to, env->size), *path = path_of(env, v, x);
    GPtrArray *names = names_of(stem);
    int status = send_file(env, to, path);
    for (guint k = 0; k < names->len && status == DOME_OK; k++) {
        char name[NAME] = "", *file = g_strdup_printf("%s-%s", stem, (const char *)names->pdata[k]);
        g_strlcpy(name, names->pdata[k], sizeof name);
        status = tell(env, to, name, sizeof name);
        if (status == DOME_OK)
            status = send_file(env, to, file);
        g_free(file);
    }
    if (status == DOME_OK)
        status = tell(env, to, (const char[NAME]){0}, NAME);
    g_ptr_array_unref(names);
    g_free(stem);
    g_free(path);
    return status;
}

/* ---- receiving ---- */

static void set(char **why, char *text)
{
    if (*why)
        g_free(text);
    else
        *why = text;
}

static int receive_file(dome_env *env, int from, const char *path, char **why)
{
    char *buffer = g_malloc(CHUNK), *folder = g_path_get_dirname(path), *bad = NULL;
    const int fd = dome__store_new_file(folder, path, &bad);
    uint64_t at = 0, n = 0;
    int status;
    do {
        uint8_t words[16];
        status = hear(env, from, words, sizeof words);
        at = status == DOME_OK ? dome__get_u64(words) : 0;
        n = status == DOME_OK ? dome__get_u64(words + 8) : 0;
        if (n > CHUNK)
            status = dome__fail(env, DOME_ERR_COMM, "what task %d sends of a checkpoint makes no sense", from);
        if (status == DOME_OK && n > 0)
            status = hear(env, from, buffer, n);
        if (status == DOME_OK && n > 0 && !bad)
            dome__store_write(fd, buffer, n, at, &bad);
    } while (status == DOME_OK && n > 0);
    if (status == DOME_OK && at == UINT64_MAX)
        set(&bad, g_strdup_printf("task %d on host %s cannot read its copy of the checkpoint", from, env->hosts[from]));
    else if (status == DOME_OK && !bad && (ftruncate(fd, (off_t)at) != 0 || fsync(fd) != 0))
        bad = g_strdup_printf("'%s': %s", path, g_strerror(errno));
    if (fd >= 0)
        close(fd);
    if (bad)
        set(why, bad);
    g_free(folder);
    g_free(buffer);
    return status;
}

static char *part_of(const char *path)
{
    return g_strconcat(path, DOME_STORE_PART, NULL);
}

/* Under names that nobody looks for. */
static int receive_messages(dome_env *env, int from, const char *stem, GPtrArray *files, char **why)
{
    enum { NAME = 16 };
    int status = DOME_OK;
    for (;;) {
        char name[NAME];
        guint64 number;
        status = hear(env, from, name, sizeof name);
        if (status != DOME_OK || !name[0])
            return status;
        name[NAME - 1] = 0;
        if (!g_ascii_string_to_unsigned(name, 10, 1, G_MAXUINT32, &number, NULL))
            return dome__fail(env, DOME_ERR_COMM, "what task %d sends of a checkpoint makes no sense", from);
        char *path = g_strdup_printf("%s-%" G_GUINT64_FORMAT, stem, number), *part = part_of(path);
        g_ptr_array_add(files, path);
        status = receive_file(env, from, part, why);
        g_free(part);
        if (status != DOME_OK)
            return status;
    }
}

static void give_name(const char *path, char **why)
{
    char *part = part_of(path);
    if (!*why && rename(part, path) != 0)
        *why = g_strdup_printf("'%s': %s", path, g_strerror(errno));
    g_free(part);
}

/* Files of messages that an earlier process of the task has left here are not those to which the checkpoint refers. */
static void replace_messages(const char *stem, GPtrArray *files, char **why)
{
    GPtrArray *old = names_of(stem);
    for (guint k = 0; k < old->len && !*why; k++) {
        char *path = g_strdup_printf("%s-%s", stem, (const char *)old->pdata[k]);
        unlink(path);
        g_free(path);
    }
    g_ptr_array_unref(old);
    for (guint k = 0; k < files->len; k++)
        give_name(files->pdata[k], why);
}

static int receive_all(dome_env *env, const dome_copies_view *v, const dome_copies_item *x, int from, char **why)
{
    char *stem = dome__copies_stem(v->directory, v->program, env->rank, env->size), *path = path_of(env, v, x),
         *part = part_of(path);
    GPtrArray *files = g_ptr_array_new_with_free_func(g_free);
    int status = receive_file(env, from, part, why);
    if (status == DOME_OK)
        status = receive_messages(env, from, stem, files, why);
    if (status == DOME_OK && !*why)
        replace_messages(stem, files, why);
    if (status == DOME_OK)
        give_name(path, why);
    g_ptr_array_unref(files);
    g_free(stem);
    g_free(path);
    g_free(part);
    return status;
}

static int bring(dome_env *env, const dome_copies_view *v, const dome_copies_item *x, char **why)
{
    const int holder = v->first[x->group];
    if ((int)x->group == v->group[x->rank])
        return DOME_OK;
    if (env->rank == holder)
        return send_all(env, v, x);
    return env->rank == (int)x->rank ? receive_all(env, v, x, holder, why) : DOME_OK;
}

/* This group's files of a task are older than the newest. */
static void drop_older(const dome_env *env, const dome_copies_view *v, const GArray *items, const dome_copies_item *newest)
{
    for (guint i = 0; i < items->len; i++) {
        const dome_copies_item *x = &g_array_index(items, dome_copies_item, i);
        if (x->rank != newest->rank || x->number >= newest->number || (int)x->group != v->group[env->rank] || !leads(env, v))
            continue;
        char *path = path_of(env, v, x);
        unlink(path);
        g_free(path);
    }
}

int dome__copies_fetch(dome_env *env, const dome_copies_view *v, GArray *items)
{
    uint64_t stays = v->stays, *all = g_new0(uint64_t, env->size);
    char *why = NULL;
    bool again = true;
    int status = checked(env, dome__allgather(env->transport, DOME_U64, &stays, 1, all));
    while (status == DOME_OK && again)
        status = verify(env, v, items, all, &again);
    for (int r = 0; r < env->size && status == DOME_OK; r++) {
        const dome_copies_item *x = all[r] ? NULL : newest_of(v, items, r);
        if (x)
            status = bring(env, v, x, &why);
        if (x && status == DOME_OK && !why)
            drop_older(env, v, items, x);
    }
    if (status == DOME_OK)
        status = dome__agree(env, why ? DOME_ERR_IO : DOME_OK, why);
    g_free(why);
    g_free(all);
    return status;
}
