#include "comm/log_room.h"

#include "system/files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* What is free beyond this, and beyond what was once in use, goes back to the system. */
static const uint64_t FREE_LEAST = 64 << 20;

/* That is forgotten by this part of it for each piece. */
enum { FORGOTTEN = 1024 };

static const uint64_t PAGE = 64 << 10; /* of all machines */

#define SIGN UINT64_C(0x646f6d656c6f6731)

typedef struct head {
    uint64_t sign, turn, bytes;
} head;

_Static_assert(sizeof(head) <= DOME_LOG_PIECE_HEAD, "a piece begins with its head");

struct dome_log_room {
    char *stem;
    int fd;
    uint64_t file, end; /* number and length of this task's own file */
    uint64_t turns;
    GQueue free;                     /* own pieces, the last one given back first */
    uint64_t free_bytes, used_bytes; /* of own pieces */
    uint64_t used_most;              /* at any time, but long ago counts less */
    GHashTable *in_use;              /* pieces of predecessors' files, by the file's number */
    bool alone;                      /* there are no such files */
};

dome_log_room *dome__log_room_new(const char *stem)
{
    dome_log_room *room = g_new0(dome_log_room, 1);
    room->stem = g_strdup(stem);
    room->fd = -1;
    room->in_use = g_hash_table_new(g_direct_hash, g_direct_equal);
    return room;
}

void dome__log_room_leave(dome_log_piece *piece)
{
    munmap(piece->at, piece->bytes);
    g_free(piece);
}

void dome__log_room_free(dome_log_room *room)
{
    if (!room)
        return;
    for (GList *link; (link = g_queue_pop_head_link(&room->free));)
        dome__log_room_leave(link->data);
    if (room->fd >= 0)
        close(room->fd);
    g_hash_table_unref(room->in_use);
    g_free(room->stem);
    g_free(room);
}

/* ---- own pieces ---- */

static char *path_of(const dome_log_room *room, uint64_t file)
{
    return g_strdup_printf("%s-%" PRIu64, room->stem, file);
}

static bool open_own(dome_log_room *room, char **why)
{
    enum { TRIES = 1 << 20 };
    for (int k = 0; room->fd < 0 && k < TRIES; k++) {
        char *path = path_of(room, ++room->file);
        room->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        const int error = errno;
        if (room->fd < 0 && error != EEXIST)
            *why = g_strdup_printf("'%s' cannot be made: %s", path, g_strerror(error));
        g_free(path);
        if (room->fd < 0 && error != EEXIST)
            return false;
    }
    return room->fd >= 0;
}

/* The space is there before anything is written through the mapping, where a lack of it would end the process. */
static int lengthen(const dome_log_room *room, uint64_t bytes)
{
    dome_file_limit limit;
    dome__file_limit_begin(&limit);
    int error = posix_fallocate(room->fd, (off_t)room->end, (off_t)bytes);
    if (error == EOPNOTSUPP || error == EINVAL)
        error = ftruncate(room->fd, (off_t)(room->end + bytes)) == 0 ? 0 : errno;
    dome__file_limit_end(&limit);
    return error;
}

static void *map_new(dome_log_room *room, uint64_t bytes, char **why)
{
    if (!room->stem) {
        void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (at == MAP_FAILED)
            *why = g_strdup(g_strerror(errno));
        return at == MAP_FAILED ? NULL : at;
    }
    if (room->fd < 0 && !open_own(room, why))
        return NULL;
    int error = lengthen(room, bytes);
    void *at =
        error ? MAP_FAILED : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, room->fd, (off_t)room->end);
    if (at != MAP_FAILED)
        return at;
    error = error ? error : errno;
    *why = g_strdup_printf("'%s-%" PRIu64 "': %s", room->stem, room->file, dome__file_error(error));
    return NULL;
}

static dome_log_piece *piece_new(dome_log_room *room, uint64_t bytes, char **why)
{
    bytes = (bytes + PAGE - 1) / PAGE * PAGE;
    void *at = map_new(room, bytes, why);
    if (!at)
        return NULL;
    dome_log_piece *piece = g_new0(dome_log_piece, 1);
    *piece = (dome_log_piece){.file = room->file, .place = room->end, .bytes = bytes, .at = at};
    room->end += bytes;
    return piece;
}

/* Not one that is much too long. */
static dome_log_piece *from_free(dome_log_room *room, uint64_t bytes)
{
    for (GList *link = room->free.head; link; link = link->next) {
        dome_log_piece *piece = link->data;
        if (piece->bytes < bytes || piece->bytes / 4 > bytes)
            continue;
        g_queue_unlink(&room->free, link);
        room->free_bytes -= piece->bytes;
        return piece;
    }
    return NULL;
}

dome_log_piece *dome__log_room_take(dome_log_room *room, uint64_t bytes, char **why)
{
    if (bytes > INT64_MAX / 2 - PAGE) {
        *why = g_strdup(g_strerror(ENOMEM));
        return NULL;
    }
    dome_log_piece *piece = from_free(room, bytes);
    if (!piece)
        piece = piece_new(room, bytes, why);
    if (!piece)
        return NULL;
    room->used_bytes += piece->bytes;
    room->used_most = MAX(room->used_most, room->used_bytes);
    piece->turn = ++room->turns;
    piece->used = DOME_LOG_PIECE_HEAD;
    piece->kept = piece->copied = 0;
    piece->link = (GList){.data = piece};
    *(head *)(void *)piece->at = (head){SIGN, piece->turn, piece->bytes};
    return piece;
}

bool dome__log_room_is_own(const dome_log_room *room, const dome_log_piece *piece)
{
    return !room->stem || (room->fd >= 0 && piece->file == room->file);
}

/* The place in the file stays empty. */
static void release(const dome_log_room *room, dome_log_piece *piece)
{
    if (room->fd >= 0 &&
        fallocate(room->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)piece->place, (off_t)piece->bytes))
        errno = 0; /* a file system without holes keeps the space until the file is removed */
    dome__log_room_leave(piece);
}

void dome__log_room_give(dome_log_room *room, dome_log_piece *piece)
{
    if (!dome__log_room_is_own(room, piece)) {
        void *file = GSIZE_TO_POINTER(piece->file);
        const gsize others = GPOINTER_TO_SIZE(g_hash_table_lookup(room->in_use, file)) - 1;
        g_hash_table_insert(room->in_use, file, GSIZE_TO_POINTER(others));
        dome__log_room_leave(piece);
        return;
    }
    room->used_bytes -= piece->bytes;
    room->used_most -= room->used_most / FORGOTTEN;
    if (room->free_bytes + room->used_bytes + piece->bytes > MAX(FREE_LEAST, room->used_most / 4 * 5)) {
        release(room, piece);
        return;
    }
    room->free_bytes += piece->bytes;
    g_queue_push_head_link(&room->free, &piece->link);
}

/* ---- of predecessors ---- */

/* Whatever a file may be, no access to memory may go beyond its end. */
static void *map_noted(const dome_log_room *room, const dome_log_piece *noted)
{
    const char *reason;
    struct stat s;
    char *path = path_of(room, noted->file);
    const int fd = dome__file_open(path, O_RDONLY | O_NOFOLLOW, &reason);
    g_free(path);
    if (fd < 0)
        return NULL;
    void *at = MAP_FAILED;
    if (fstat(fd, &s) == 0 && noted->bytes <= (uint64_t)s.st_size && noted->place <= (uint64_t)s.st_size - noted->bytes)
        at = mmap(NULL, noted->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, (off_t)noted->place);
    close(fd);
    return at == MAP_FAILED ? NULL : at;
}

dome_log_piece *dome__log_room_find(dome_log_room *room, const dome_log_piece *noted)
{
    if (!room->stem || noted->file > G_MAXUINT32 || noted->place % PAGE || noted->bytes % PAGE || !noted->bytes ||
        noted->used > noted->bytes)
        return NULL;
    head *at = map_noted(room, noted);
    if (!at)
        return NULL;
    if (at->sign != SIGN || at->turn != noted->turn || at->bytes != noted->bytes) {
        munmap(at, noted->bytes);
        return NULL;
    }
    dome_log_piece *piece = g_new(dome_log_piece, 1);
    *piece = *noted;
    piece->copied = 0;
    piece->at = (char *)at;
    piece->link = (GList){.data = piece};
    void *file = GSIZE_TO_POINTER(piece->file);
    const gsize others = GPOINTER_TO_SIZE(g_hash_table_lookup(room->in_use, file));
    g_hash_table_insert(room->in_use, file, GSIZE_TO_POINTER(others + 1));
    if (room->fd < 0)
        room->file = MAX(room->file, piece->file);
    return piece;
}

int dome__log_room_sync(const dome_log_room *room)
{
    return room->fd < 0 || fdatasync(room->fd) == 0 ? 0 : errno;
}

static bool is_needed(const dome_log_room *room, uint64_t file)
{
    return (room->fd >= 0 && file == room->file) || g_hash_table_lookup(room->in_use, GSIZE_TO_POINTER(file));
}

static bool none_in_use(const dome_log_room *room)
{
    GHashTableIter i;
    void *file, *pieces;
    g_hash_table_iter_init(&i, room->in_use);
    while (g_hash_table_iter_next(&i, &file, &pieces))
        if (pieces)
            return false;
    return true;
}

void dome__log_room_tidy(dome_log_room *room)
{
    if (room->alone)
        return;
    room->alone = none_in_use(room);
    char *folder = room->stem ? g_path_get_dirname(room->stem) : NULL, *base = folder ? g_path_get_basename(room->stem) : NULL;
    GDir *dir = folder ? g_dir_open(folder, 0, NULL) : NULL;
    for (const char *name; dir && (name = g_dir_read_name(dir));) {
        uint64_t file;
        if (!g_str_has_prefix(name, base) || name[strlen(base)] != '-' ||
            !g_ascii_string_to_unsigned(name + strlen(base) + 1, 10, 1, G_MAXUINT32, &file, NULL) || is_needed(room, file))
            continue;
        char *path = g_build_filename(folder, name, NULL);
        unlink(path); /* in vain: it takes space, and harms nothing */
        g_free(path);
    }
    if (dir)
        g_dir_close(dir);
    g_free(base);
    g_free(folder);
}

void dome__log_room_files(const dome_log_room *room, GArray *numbers)
{
    GHashTableIter i;
    void *file, *pieces;
    if (room->fd >= 0)
        g_array_append_val(numbers, room->file);
    g_hash_table_iter_init(&i, room->in_use);
    while (g_hash_table_iter_next(&i, &file, &pieces)) {
        const uint64_t number = GPOINTER_TO_SIZE(file);
        if (pieces)
            g_array_append_val(numbers, number);
    }
}
