#include "copies/copies_keeper.h"

#include "copies/copies.h"
#include "system/bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Places in a file, and files, have smaller numbers. */
#define MOST (UINT64_C(1) << 60)

/* What is kept for one task. */
typedef struct kept {
    int log, part;         /* the file of messages that is open, and the checkpoint that is not complete yet; -1: none */
    uint64_t file, number; /* their numbers */
    uint64_t newest;       /* the checkpoint that is complete; 0: none */
} kept;

struct dome_keeper {
    char *directory, *program;
    int size;
    bool memory;
    kept *of; /* by rank */
};

dome_keeper *dome__keeper_new(const char *directory, const char *program, int size, bool memory)
{
    dome_keeper *k = g_new(dome_keeper, 1);
    *k = (dome_keeper){g_strdup(directory), g_strdup(program), size, memory, g_new0(kept, size)};
    for (int r = 0; r < size; r++)
        k->of[r].log = k->of[r].part = -1;
    return k;
}

static void close_file(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

void dome__keeper_free(dome_keeper *k)
{
    if (!k)
        return;
    for (int r = 0; r < k->size; r++) {
        close_file(&k->of[r].log);
        close_file(&k->of[r].part);
    }
    g_free(k->of);
    g_free(k->directory);
    g_free(k->program);
    g_free(k);
}

void dome__keeper_note(dome_keeper *k, int rank, uint64_t number)
{
    k->of[rank].newest = MAX(k->of[rank].newest, number);
}

static char *path_of(const dome_keeper *k, int rank, uint64_t number)
{
    return dome__ckpt_file_path(k->directory, number, (uint32_t)rank + 1, (uint32_t)k->size);
}

static char *part_of(const dome_keeper *k, int rank, uint64_t number)
{
    char *path = path_of(k, rank, number), *part = g_strconcat(path, DOME_STORE_PART, NULL);
    g_free(path);
    return part;
}

static char *fails(const char *path)
{
    return g_strdup_printf("'%s': %s", path, g_strerror(errno));
}

static char *nonsense(void)
{
    return g_strdup("what it was asked to keep makes no sense");
}

/* ---- messages ---- */

static char *sync_log(const dome_keeper *k, const kept *of)
{
    if (of->log < 0 || k->memory || fdatasync(of->log) == 0)
        return NULL;
    return g_strdup_printf("messages cannot be written: %s", g_strerror(errno));
}

static char *open_log(const dome_keeper *k, int rank, uint64_t file)
{
    kept *of = &k->of[rank];
    struct stat s;
    if (of->log >= 0 && of->file == file)
        return NULL;
    char *why = sync_log(k, of);
    close_file(&of->log);
    if (why)
        return why;
    char *stem = dome__copies_stem(k->directory, k->program, rank, k->size), *path = g_strdup_printf("%s-%" PRIu64, stem, file);
    of->file = file;
    of->log = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600);
    if (of->log < 0)
        why = fails(path);
    else if (fstat(of->log, &s) != 0 || !S_ISREG(s.st_mode) || s.st_nlink != 1)
        why = g_strdup_printf("'%s' is no file of this program's", path);
    if (why)
        close_file(&of->log);
    g_free(path);
    g_free(stem);
    return why;
}

/* A piece is mapped as a whole, so the file is as long. */
static char *lengthen(int fd, uint64_t bytes)
{
    struct stat s;
    if (fstat(fd, &s) == 0 && ((uint64_t)s.st_size >= bytes || ftruncate(fd, (off_t)bytes) == 0))
        return NULL;
    return g_strdup_printf("messages cannot be written: %s", g_strerror(errno));
}

static char *take_range(const dome_keeper *k, int rank, dome_bytes *from)
{
    const uint64_t file = dome__read_u64(from), place = dome__read_u64(from), bytes = dome__read_u64(from),
                   at = dome__read_u64(from), length = (uint64_t)(from->end - from->at);
    if (from->bad || !file || file > G_MAXUINT32 || place > MOST || bytes > MOST || at > bytes || length > bytes - at)
        return nonsense();
    char *why = open_log(k, rank, file);
    if (!why)
        why = lengthen(k->of[rank].log, place + bytes);
    if (!why)
        dome__store_write(k->of[rank].log, from->at, length, place + at, &why);
    return why;
}

static bool is_used(uint64_t file, const uint64_t *used, size_t count)
{
    bool found = false;
    for (size_t k = 0; k < count; k++)
        found |= used[k] == file;
    return found;
}

void dome__keeper_tidy(const char *stem, const uint64_t *used, size_t count)
{
    char *folder = g_path_get_dirname(stem), *base = g_path_get_basename(stem);
    GDir *dir = g_dir_open(folder, 0, NULL);
    for (const char *name; dir && (name = g_dir_read_name(dir));) {
        uint64_t file;
        if (!g_str_has_prefix(name, base) || name[strlen(base)] != '-')
            continue;
        char *number = g_strdup(name + strlen(base) + 1), *path = g_build_filename(folder, name, NULL);
        if (g_str_has_suffix(number, DOME_STORE_PART))
            number[strlen(number) - strlen(DOME_STORE_PART)] = 0;
        if (g_ascii_string_to_unsigned(number, 10, 1, G_MAXUINT32, &file, NULL) &&
            (!is_used(file, used, count) || g_str_has_suffix(name, DOME_STORE_PART)))
            unlink(path); /* in vain: it takes space, and harms nothing */
        g_free(path);
        g_free(number);
    }
    if (dir)
        g_dir_close(dir);
    g_free(base);
    g_free(folder);
}

/* ---- checkpoints ---- */

static char *take_part(const dome_keeper *k, int rank, dome_bytes *from)
{
    kept *of = &k->of[rank];
    char *why = NULL;
    const uint64_t number = dome__read_u64(from), offset = dome__read_u64(from);
    if (from->bad || !number || number > MOST || offset > MOST)
        return nonsense();
    if (of->part < 0 || of->number != number) {
        char *part = part_of(k, rank, number);
        close_file(&of->part);
        of->number = number;
        of->part = dome__store_new_file(k->directory, part, &why);
        g_free(part);
    }
    if (!why)
        dome__store_write(of->part, from->at, (uint64_t)(from->end - from->at), offset, &why);
    return why;
}

static char *sync_folder(const char *directory)
{
    const int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    char *why = fd < 0 || (fsync(fd) != 0 && errno != EINVAL) ? fails(directory) : NULL;
    if (fd >= 0)
        close(fd);
    return why;
}

/* From now on the file is a checkpoint. */
static char *give_name(const dome_keeper *k, int rank)
{
    kept *of = &k->of[rank];
    char *part = part_of(k, rank, of->number), *path = path_of(k, rank, of->number), *why = sync_log(k, of);
    if (!why && !k->memory)
        dome__store_sync(of->part, NULL, NULL, &why);
    close_file(&of->part);
    if (!why && rename(part, path) != 0)
        why = fails(path);
    if (!why && !k->memory)
        why = sync_folder(k->directory);
    if (why)
        unlink(part);
    g_free(part);
    g_free(path);
    return why;
}

static void drop_before(kept *of, const dome_keeper *k, int rank)
{
    if (of->newest && of->newest != of->number) {
        char *path = path_of(k, rank, of->newest);
        unlink(path); /* in vain: the one that is newer is used */
        g_free(path);
    }
    of->newest = of->number;
}

static char *take_commit(const dome_keeper *k, int rank, dome_bytes *from)
{
    kept *of = &k->of[rank];
    struct stat s;
    const uint64_t number = dome__read_u64(from), bytes = dome__read_u64(from);
    GArray *used = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    while (!from->bad && from->at < from->end) {
        const uint64_t file = dome__read_u64(from);
        g_array_append_val(used, file);
    }
    char *why = NULL;
    if (from->bad || of->part < 0 || of->number != number || fstat(of->part, &s) != 0 || (uint64_t)s.st_size != bytes)
        why = nonsense();
    if (!why)
        why = give_name(k, rank);
    if (!why) {
        char *stem = dome__copies_stem(k->directory, k->program, rank, k->size);
        drop_before(of, k, rank);
        dome__keeper_tidy(stem, (const uint64_t *)(const void *)used->data, used->len);
        g_free(stem);
    }
    g_array_unref(used);
    return why;
}

char *dome__keeper_take(dome_keeper *k, int from, const void *request, size_t bytes)
{
    dome_bytes in = dome__bytes_of(request, bytes);
    const uint64_t kind = dome__read_u64(&in);
    if (in.bad || kind >= DOME_KEEPER_KINDS || from < 0 || from >= k->size)
        return nonsense();
    return kind == DOME_KEEPER_RANGE  ? take_range(k, from, &in)
           : kind == DOME_KEEPER_PART ? take_part(k, from, &in)
                                      : take_commit(k, from, &in);
}
