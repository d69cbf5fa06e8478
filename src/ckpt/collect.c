#include "ckpt/collect.h"

#include "ckpt/link.h"
#include "system/files.h"
#include "system/io.h"
#include "system/say.h"
#include "transport/agree.h"
#include "transport/collective.h"
#include "transport/message.h"
#include "transport/transport.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Folder for pieces of other groups. */
static const char COLLECTED[] = "collected";

static int checked(dome_env *env, int status)
{
    return status ? dome__fail_transport(env, status) : DOME_OK;
}

/* ---- groups ---- */

static char *probe_path(const char *directory, uint64_t nonce, int rank)
{
    return g_strdup_printf("%s/probe-%016" PRIx64 "-%d", directory, nonce, rank);
}

static void number_groups(const dome_env *env, dome_ckpt_pieces *pieces, const uint64_t *first)
{
    int size = env->size, *group = g_new(int, size), *leader = g_new(int, size);
    pieces->count = 0;
    for (int r = 0; r < size; r++) {
        if (first[r] == (uint64_t)r) {
            leader[pieces->count] = r;
            group[r] = pieces->count++;
        } else {
            group[r] = group[first[r]];
        }
    }
    pieces->group = group;
    pieces->leader = leader;
}

int dome__find_groups(dome_env *env, const char *directory, dome_store_owner owner, dome_ckpt_pieces *pieces)
{
    dome_transport *t = env->transport;
    uint64_t nonce = (uint64_t)g_random_int() << 32 | g_random_int();
    int status = checked(env, dome__bcast(t, 0, DOME_U64, &nonce, 1));
    if (status != DOME_OK)
        return status;
    char *probe = probe_path(directory, nonce, t->group.rank), *text = NULL;
    int fd =
        dome__store_make_directory(directory, owner, &text) ? open(probe, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
    if (fd < 0 && !text)
        text = g_strdup_printf("checkpoint directory '%s' cannot be written to: %s", directory, strerror(errno));
    else if (fd >= 0)
        close(fd);
    status = dome__agree(env, text ? DOME_ERR_IO : DOME_OK, text);
    uint64_t first = (uint64_t)t->group.rank, *all = g_new0(uint64_t, t->group.size);
    for (int r = 0; status == DOME_OK && r < t->group.rank; r++) {
        char *other = probe_path(directory, nonce, r);
        if (access(other, F_OK) == 0)
            first = (uint64_t)r;
        g_free(other);
        if (first == (uint64_t)r)
            break;
    }
    if (status == DOME_OK)
        status = checked(env, dome__allgather(t, DOME_U64, &first, 1, all));
    if (fd >= 0)
        unlink(probe);
    if (status == DOME_OK)
        number_groups(env, pieces, all);
    g_free(all);
    g_free(probe);
    g_free(text);
    return status;
}

void dome__clean_directory(const char *directory)
{
    GDir *dir = g_dir_open(directory, 0, NULL);
    for (const char *name; dir && (name = g_dir_read_name(dir));) {
        char *path = g_build_filename(directory, name, NULL);
        if (g_str_has_prefix(name, "probe-"))
            unlink(path);
        else if (strcmp(name, COLLECTED) == 0 && unlink(path) != 0)
            dome__remove_directory(path);
        g_free(path);
    }
    if (dir)
        g_dir_close(dir);
}

static bool leads(const dome_env *env, const dome_ckpt_pieces *pieces)
{
    int rank = env->rank;
    return pieces->leader[pieces->group[rank]] == rank;
}

/* In the link of copies to a group: its leader, then the tasks of the group before, by rank. */
static int *sources_of(const dome_env *env, const dome_ckpt_pieces *pieces, int group, int *count)
{
    int *ranks = g_new(int, (gsize)env->size + 1);
    *count = 0;
    ranks[(*count)++] = pieces->leader[group];
    for (int r = 0; r < env->size; r++)
        if ((pieces->group[r] + 1) % pieces->count == group)
            ranks[(*count)++] = r;
    return ranks;
}

/* A task of a group sends to the next one; its leader receives from the one before. */
static void open_links(const dome_env *env, dome_ckpt_pieces *pieces)
{
    const int own = pieces->group[env->rank], next = (own + 1) % pieces->count;
    int count, place = 0, *ranks = sources_of(env, pieces, next, &count);
    for (int k = 1; k < count; k++)
        place = ranks[k] == env->rank ? k : place;
    dome__ckpt_link_open(&pieces->out, env->peer, DOME_PEER_COPIES, place, count, ranks);
    if (!leads(env, pieces))
        return;
    ranks = sources_of(env, pieces, own, &count);
    dome__ckpt_link_open(&pieces->in, env->peer, DOME_PEER_COPIES, 0, count, ranks);
}

int dome__connect_groups(dome_env *env, dome_ckpt_pieces *pieces)
{
    char *message = NULL;
    open_links(env, pieces);
    dome__ckpt_link_reach(&pieces->out, 0, &message);
    const int status = dome__agree(env, message ? DOME_ERR_START : DOME_OK, message);
    g_free(message);
    return status;
}

void dome__groups_free(dome_ckpt_pieces *pieces)
{
    dome__ckpt_link_close(&pieces->out);
    dome__ckpt_link_close(&pieces->in);
    g_free(pieces->group);
    g_free(pieces->leader);
    *pieces = (dome_ckpt_pieces){0};
}

/* ---- finding files ---- */

/* A file in a group's directory. */
typedef struct item {
    uint64_t number, piece, pieces, group, good;
} item;

enum { WORDS = sizeof(item) / sizeof(uint64_t) };

/* Exchanges the lists of all groups' files that look good. */
static int list_items(dome_env *env, const char *directory, const char *program, const dome_ckpt_pieces *pieces,
                      uint64_t *highest, GArray **items)
{
    dome_transport *t = env->transport;
    GArray *own = g_array_new(FALSE, FALSE, sizeof(item));
    char *message = NULL;
    uint64_t next = 1;
    GPtrArray *there = NULL;
    if (leads(env, pieces) && dome__store_next_number(directory, &next, &message))
        there = dome__store_list(directory, &message);
    for (guint i = 0; there && i < there->len; i++) {
        const dome_store_item *f = there->pdata[i];
        item x = {f->number, f->piece, f->pieces, (uint64_t)pieces->group[t->group.rank], 0};
        /* A file that refers to others dates from a time with a single directory. */
        if (f->file && !f->damage && dome__ckpt_head(f->file)->earlier->len == 0 &&
            dome__ckpt_is_of(dome__ckpt_head(f->file), program))
            g_array_append_val(own, x);
    }
    if (there)
        g_ptr_array_unref(there);
    int status = dome__agree(env, message ? DOME_ERR_IO : DOME_OK, message);
    g_free(message);
    uint64_t mine = (uint64_t)own->len * WORDS, *counts = g_new0(uint64_t, t->group.size), sum = 0;
    if (status == DOME_OK)
        status = checked(env, dome__allgather(t, DOME_U64, &mine, 1, counts));
    for (int r = 0; r < t->group.size; r++)
        sum += counts[r];
    *items = g_array_new(FALSE, TRUE, sizeof(item));
    g_array_set_size(*items, (guint)(sum / WORDS));
    if (status == DOME_OK && sum > 0)
        status = checked(env, dome__allgatherv(t, DOME_U64, own->data, counts, (*items)->data));
    if (status == DOME_OK)
        status = checked(env, dome__allreduce(t, DOME_U64, &next, 1, dome__combine_max_u64, NULL));
    *highest = next;
    g_array_unref(own);
    g_free(counts);
    return status;
}

static bool has(const GArray *items, uint64_t number, uint64_t piece, uint64_t pieces)
{
    for (guint i = 0; i < items->len; i++) {
        const item *x = &g_array_index(items, item, i);
        if (x->number == number && x->piece == piece && x->pieces == pieces && x->good)
            return true;
    }
    return false;
}

/* Whether good pieces of this division contain all blocks: each block is in its group's piece and in the next group's. */
static bool covered(const GArray *items, uint64_t number, uint64_t pieces)
{
    if (pieces == 0)
        return has(items, number, 0, 0);
    for (uint64_t p = 1; p <= pieces; p++)
        if (!has(items, number, p, pieces) && !has(items, number, p % pieces + 1, pieces))
            return false;
    return true;
}

/* The newest of the numbers below `below` that may be complete, if all heads are good; with *pieces of its division. 0: none. */
static uint64_t newest_below(const GArray *items, uint64_t below, uint64_t from, uint64_t wanted, uint64_t *pieces)
{
    uint64_t best = 0;
    *pieces = 0;
    for (guint i = 0; i < items->len; i++) {
        const item *x = &g_array_index(items, item, i);
        if (x->number >= below || x->number < from || (wanted > 0 && x->number != wanted) || x->number < best ||
            !covered(items, x->number, x->pieces))
            continue;
        if (x->number > best || x->pieces == 0) {
            best = x->number;
            *pieces = x->pieces;
        }
    }
    return best;
}

/* The files of one checkpoint. */
typedef struct found {
    GArray *items; /* those of all checkpoints */
    uint64_t number, division;
} found;

/* A good file of it. */
static bool is_part(const found *f, const item *x)
{
    return x->number == f->number && x->pieces == f->division && x->good;
}

/* Verifies the data of this group's part of a checkpoint. */
static int verify(dome_env *env, const char *directory, const dome_ckpt_pieces *pieces, const found *f)
{
    dome_transport *t = env->transport;
    GArray *items = f->items;
    uint64_t *damaged = g_new0(uint64_t, items->len + 1);
    for (guint i = 0; i < items->len; i++) {
        const item *x = &g_array_index(items, item, i);
        if (x->number != f->number || x->pieces != f->division || !leads(env, pieces) ||
            (int)x->group != pieces->group[t->group.rank])
            continue;
        char *message = NULL, *path = dome__ckpt_file_path(directory, f->number, (uint32_t)x->piece, (uint32_t)x->pieces);
        dome_ckpt_file *file = dome__ckpt_open(path, &message);
        damaged[i] = !file || !dome__ckpt_verify(file, &message);
        if (damaged[i])
            dome__say("%s: it is not used", message);
        dome__ckpt_close(file);
        g_free(message);
        g_free(path);
    }
    int status = checked(env, dome__allreduce(t, DOME_U64, damaged, items->len, dome__combine_max_u64, NULL));
    for (guint i = 0; i < items->len; i++)
        g_array_index(items, item, i).good &= !damaged[i];
    g_free(damaged);
    return status;
}

/* ---- moving files ---- */

enum { CHUNK = 4 << 20 };

static char *broken(const char *path, const char *reason)
{
    return g_strdup_printf("checkpoint '%s' cannot be brought to another host: %s", path, reason);
}

/* Sends a file to another task. The length of each chunk precedes it; the length 0 ends the file. */
static int send_file(dome_env *env, int to, const char *path, char **text)
{
    char *buffer = g_malloc(CHUNK);
    const char *reason;
    int fd = dome__file_open(path, O_RDONLY, &reason), status = DOME_OK;
    uint64_t n;
    if (fd < 0)
        *text = broken(path, reason);
    do {
        ssize_t got = fd >= 0 ? dome__io_read_some(fd, buffer, CHUNK) : 0;
        if (got < 0)
            *text = broken(path, strerror(errno));
        n = got > 0 ? (uint64_t)got : 0;
        status = checked(env, dome__send(env->transport, to, DOME_CHANNEL_CONTROL, DOME_U64, &n, 1));
        if (status == DOME_OK && n > 0)
            status = checked(env, dome__send(env->transport, to, DOME_CHANNEL_CONTROL, DOME_U8, buffer, n));
    } while (status == DOME_OK && n > 0);
    if (fd >= 0)
        close(fd);
    g_free(buffer);
    return status;
}

static int receive_file(dome_env *env, int from, const char *path, char **text)
{
    char *buffer = g_malloc(CHUNK), *part = g_strconcat(path, ".part", NULL), *folder = g_path_get_dirname(path);
    int fd = dome__store_new_file(folder, part, text), status = DOME_OK;
    uint64_t n, at = 0;
    do {
        status = checked(env, dome__recv(env->transport, from, DOME_CHANNEL_CONTROL, DOME_U64, &n, 1));
        if (status == DOME_OK && n > 0)
            status = checked(env, dome__recv(env->transport, from, DOME_CHANNEL_CONTROL, DOME_U8, buffer, n));
        if (status == DOME_OK && n > 0 && !*text)
            dome__store_write(fd, buffer, n, at, text);
        at += n;
    } while (status == DOME_OK && n > 0);
    if (fd >= 0) {
        if (!*text && status == DOME_OK && dome__store_sync(fd, NULL, NULL, text) && rename(part, path) != 0)
            *text = broken(path, strerror(errno));
        close(fd);
        unlink(part);
    }
    g_free(folder);
    g_free(buffer);
    g_free(part);
    return status;
}

static char *path_of(const char *directory, const item *x)
{
    return dome__ckpt_file_path(directory, x->number, (uint32_t)x->piece, (uint32_t)x->pieces);
}

/* Task 0 receives the pieces that it lacks, in a folder inside its own directory. */
static int gather_files(dome_env *env, const char *directory, const char *folder, const dome_ckpt_pieces *pieces, const found *f,
                        char **text)
{
    int rank = env->rank, status = DOME_OK;
    for (guint i = 0; i < f->items->len && status == DOME_OK; i++) {
        const item *x = &g_array_index(f->items, item, i);
        int owner = pieces->leader[x->group];
        if (!is_part(f, x) || owner == 0)
            continue;
        char *from = path_of(directory, x), *to = path_of(folder, x);
        if (rank == owner)
            status = send_file(env, 0, from, text);
        else if (rank == 0)
            status = receive_file(env, owner, to, text);
        g_free(from);
        g_free(to);
    }
    return status;
}

static void merge(const char *directory, const char *folder, const dome_ckpt_pieces *pieces, const found *f, char **text)
{
    GPtrArray *files = g_ptr_array_new();
    for (guint i = 0; i < f->items->len && !*text; i++) {
        const item *x = &g_array_index(f->items, item, i);
        if (!is_part(f, x))
            continue;
        char *path = path_of(pieces->leader[x->group] == 0 ? directory : folder, x);
        dome_ckpt_file *file = dome__ckpt_open(path, text);
        if (file)
            g_ptr_array_add(files, file);
        g_free(path);
    }
    if (!*text)
        dome__store_merge((dome_ckpt_file **)files->pdata, files->len, NULL, directory, text);
    for (guint i = 0; i < files->len; i++)
        dome__ckpt_close(files->pdata[i]);
    g_ptr_array_unref(files);
}

static bool group_has(const GArray *items, uint64_t number, int group)
{
    for (guint i = 0; i < items->len; i++) {
        const item *x = &g_array_index(items, item, i);
        if (x->number == number && x->pieces == 0 && (int)x->group == group && x->good)
            return true;
    }
    return false;
}

/* Makes the checkpoint whole on task 0, then copies it to all groups. */
static int bring(dome_env *env, const char *directory, const dome_ckpt_pieces *pieces, const found *f)
{
    int rank = env->rank, status = DOME_OK;
    char *text = NULL, *folder = g_build_filename(directory, COLLECTED, NULL);
    char *whole = dome__ckpt_file_path(directory, f->number, 0, 0);
    if (!group_has(f->items, f->number, 0)) {
        if (rank == 0 && mkdir(folder, 0700) < 0) /* an existing folder has been removed at the start */
            text = broken(folder, strerror(errno));
        status = gather_files(env, directory, folder, pieces, f, &text);
        if (rank == 0 && status == DOME_OK && !text)
            merge(directory, folder, pieces, f, &text);
        if (rank == 0)
            dome__remove_directory(folder);
        if (status == DOME_OK)
            status = dome__agree(env, text ? DOME_ERR_IO : DOME_OK, text);
        g_clear_pointer(&text, g_free);
    }
    for (int g = 1; g < pieces->count && status == DOME_OK; g++) {
        if (group_has(f->items, f->number, g))
            continue;
        if (rank == 0)
            status = send_file(env, pieces->leader[g], whole, &text);
        else if (rank == pieces->leader[g])
            status = receive_file(env, 0, whole, &text);
    }
    if (status == DOME_OK)
        status = dome__agree(env, text ? DOME_ERR_IO : DOME_OK, text);
    g_free(text);
    g_free(folder);
    g_free(whole);
    return status;
}

int dome__collect(dome_env *env, const dome_collect_request *request, uint64_t *number, uint64_t *next)
{
    const uint64_t from = request->from, wanted = request->wanted;
    GArray *items;
    uint64_t division;
    int status = list_items(env, request->directory, request->program, request->pieces, next, &items);
    *number = 0;
    for (guint i = 0; i < items->len; i++)
        g_array_index(items, item, i).good = 1;
    for (uint64_t below = UINT64_MAX, best; status == DOME_OK && *number == 0;) {
        best = newest_below(items, below, from, wanted, &division);
        if (best == 0)
            break;
        const found f = {items, best, division};
        status = verify(env, request->directory, request->pieces, &f);
        if (status == DOME_OK && covered(items, best, division)) {
            status = bring(env, request->directory, request->pieces, &f);
            *number = status == DOME_OK ? best : 0;
            break;
        }
        /* Damaged pieces no longer count: try another division, or else the number before. */
        below = newest_below(items, best + 1, best, wanted, &division) == best ? best + 1 : best;
    }
    g_array_unref(items);
    return status;
}
