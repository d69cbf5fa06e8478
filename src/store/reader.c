#include "store/reader_private.h"

#include "system/files.h"
#include "system/io.h"
#include "system/owners.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- names ---- */

static const char PREFIX[] = "ckpt-", SUFFIX[] = ".dckpt";

char *dome__ckpt_file_path(const char *directory, uint64_t number, uint32_t piece, uint32_t pieces)
{
    char *of = pieces > 0 ? g_strdup_printf(".%uof%u", piece, pieces) : g_strdup("");
    char *path = g_strdup_printf("%s/%s%08" PRIu64 "%s%s", directory, PREFIX, number, of, SUFFIX);
    g_free(of);
    return path;
}

static uint64_t digits(const char **at)
{
    char *end;
    if (!g_ascii_isdigit(**at))
        return 0;
    errno = 0;
    uint64_t value = g_ascii_strtoull(*at, &end, 10);
    *at = end;
    return errno == 0 ? value : 0;
}

bool dome__ckpt_parse_name(const char *name, uint64_t *number, uint32_t *piece, uint32_t *pieces)
{
    *piece = *pieces = 0;
    if (!g_str_has_prefix(name, PREFIX))
        return false;
    const char *at = name + strlen(PREFIX);
    *number = digits(&at);
    if (*number > 0 && *at == '.' && g_ascii_isdigit(at[1])) {
        at++;
        uint64_t first = digits(&at), second = 0;
        if (g_str_has_prefix(at, "of")) {
            at += 2;
            second = digits(&at);
        }
        if (first == 0 || first > second || second > UINT32_MAX)
            return false;
        *piece = (uint32_t)first;
        *pieces = (uint32_t)second;
    }
    if (*number == 0 || strcmp(at, SUFFIX) != 0)
        return false;
    /* A checkpoint has exactly one name. */
    char *same = dome__ckpt_file_path(".", *number, *piece, *pieces);
    bool canonical = strcmp(same + 2, name) == 0;
    g_free(same);
    return canonical;
}

/* ---- opening ---- */

/* Puts the file before a message, and what kind of file it is. */
static void name_file(const char *path, char **message)
{
    char *text = *message;
    *message = g_strdup_printf("checkpoint '%s' %s", path, text);
    g_free(text);
}

bool dome__ckpt_read_at(int fd, void *buffer, uint64_t bytes, uint64_t offset, char **message)
{
    const uint64_t n = dome__io_read_at(fd, buffer, bytes, offset);
    if (n < bytes && errno)
        return dome__ckpt_refuse(message, "cannot be read: %s", strerror(errno));
    if (n < bytes)
        return dome__ckpt_refuse(message, "is truncated: it ends at byte %" PRIu64, offset + n);
    return true;
}

static bool from_file(void *fd, void *to, uint64_t bytes, uint64_t offset, char **message)
{
    return dome__ckpt_read_at(*(int *)fd, to, bytes, offset, message);
}

static dome_ckpt *read_head(int fd, char **message)
{
    struct stat st;
    dome_checksum sum;
    uint8_t header[DOME_CKPT_HEADER];
    uint64_t head_bytes;
    if (fstat(fd, &st) != 0) {
        dome__ckpt_refuse(message, "cannot be read: %s", strerror(errno));
        return NULL;
    }
    uint64_t file_bytes = (uint64_t)st.st_size, start = MIN(file_bytes, sizeof header);
    if (!dome__ckpt_read_at(fd, header, start, 0, message) ||
        !dome__ckpt_head_bytes(header, start, file_bytes, &head_bytes, message))
        return NULL;
    /* The memory is not written to before the checksum has shown that the head is real. */
    void *head = head_bytes <= G_MAXSIZE ? g_try_malloc(head_bytes) : NULL;
    if (head && !dome__ckpt_read_sum(header, head_bytes, from_file, &fd, &sum, message)) {
        g_free(head);
        return NULL;
    }
    if (!head) {
        dome__ckpt_refuse(message, "has a head of %" PRIu64 " bytes, more than there is memory for", head_bytes);
        return NULL;
    }
    dome_ckpt *ckpt =
        dome__ckpt_read_at(fd, head, head_bytes, 0, message) ? dome__ckpt_decode(head, head_bytes, file_bytes, message) : NULL;
    g_free(head);
    return ckpt;
}

dome_ckpt_file *dome__ckpt_adopt(const char *name, int fd, dome_ckpt *head)
{
    dome_ckpt_file *file = g_new0(dome_ckpt_file, 1);
    file->references = 1;
    pthread_mutex_init(&file->patching, NULL);
    file->fd = fd;
    file->path = g_strdup(name);
    file->ckpt = head;
    file->earlier = g_new0(dome_ckpt_file *, head->earlier->len);
    return file;
}

static bool only_trusted;

void dome__ckpt_only_trusted(bool only)
{
    only_trusted = only;
}

static bool is_trusted(int fd, char **message)
{
    char *why = only_trusted ? dome__file_distrust(fd) : NULL;
    const bool trusted = !why;
    if (!trusted)
        dome__ckpt_refuse(message, "is not read: %s; --dome-checkpoint-trust would read it", why);
    g_free(why);
    return trusted;
}

/* Opens one file without its chain. A file of deltas has no table then. */
static dome_ckpt_file *open_alone(const char *path, char **message)
{
    dome_ckpt *ckpt = NULL;
    const char *reason;
    int fd = dome__file_open(path, O_RDONLY, &reason);
    if (fd < 0)
        dome__ckpt_refuse(message, "cannot be opened: %s", reason);
    else if (is_trusted(fd, message))
        ckpt = read_head(fd, message);
    if (!ckpt) {
        if (fd >= 0)
            close(fd);
        name_file(path, message);
        return NULL;
    }
    return dome__ckpt_adopt(path, fd, ckpt);
}

dome_ckpt_file *dome__ckpt_ref(dome_ckpt_file *file)
{
    g_atomic_int_inc(&file->references);
    return file;
}

void dome__ckpt_close(dome_ckpt_file *file)
{
    if (!file || !g_atomic_int_dec_and_test(&file->references))
        return;
    dome__ckpt_forget_window(file);
    g_free(file->chain);
    for (guint i = 0; i < file->ckpt->earlier->len; i++)
        dome__ckpt_close(file->earlier[i]);
    g_free(file->earlier);
    if (file->fd >= 0)
        close(file->fd);
    g_free(file->path);
    dome__ckpt_free(file->ckpt);
    pthread_mutex_destroy(&file->patching);
    g_free(file);
}

const dome_ckpt *dome__ckpt_head(const dome_ckpt_file *file)
{
    return file->ckpt;
}

dome_ckpt *dome__ckpt_take_head(dome_ckpt_file *file)
{
    dome_ckpt *ckpt = file->ckpt;
    for (guint i = 0; i < ckpt->earlier->len; i++)
        g_clear_pointer(&file->earlier[i], dome__ckpt_close);
    dome__ckpt_forget_window(file);
    file->ckpt = dome__ckpt_new("", 0, 0);
    dome__ckpt_close(file);
    return ckpt;
}

const char *dome__ckpt_path(const dome_ckpt_file *file)
{
    return file->path;
}

/* ---- earlier files ---- */

/* Opens an earlier file: it must be in the same directory, and its head must have the checksum that was noted. */
dome_ckpt_file *dome__ckpt_open_earlier(dome_ckpt_file *file, guint index, char **message)
{
    if (file->earlier[index])
        return file->earlier[index];
    const dome_ckpt_earlier *e = &g_array_index(file->ckpt->earlier, dome_ckpt_earlier, index);
    char *directory = g_path_get_dirname(file->path);
    char *path = dome__ckpt_file_path(directory, e->number, file->ckpt->piece, file->ckpt->pieces);
    char *reason = NULL;
    dome_ckpt_file *earlier = open_alone(path, &reason);
    if (earlier && (earlier->ckpt->file_bytes != e->file_bytes || !dome__checksum_equal(&earlier->ckpt->sum, &e->sum))) {
        dome__ckpt_refuse(&reason, "checkpoint '%s' is another one than was there before", path);
        dome__ckpt_close(earlier);
        earlier = NULL;
    }
    if (!earlier) {
        dome__ckpt_refuse(message, "needs an earlier one: %s", reason);
        name_file(file->path, message);
    }
    g_free(reason);
    g_free(path);
    g_free(directory);
    return file->earlier[index] = earlier;
}

bool dome__ckpt_check_earlier(dome_ckpt_file *file, char **message)
{
    for (guint i = 0; i < file->ckpt->earlier->len; i++)
        if (!dome__ckpt_open_earlier(file, i, message))
            return false;
    return true;
}

dome_ckpt_file *dome__ckpt_open(const char *path, char **message)
{
    dome_ckpt_file *file = open_alone(path, message);
    if (!file || !file->ckpt->windows || dome__ckpt_resolve(file, message))
        return file;
    dome__ckpt_close(file);
    return NULL;
}

static dome_ckpt_file *holder(dome_ckpt_file *file, uint64_t source, char **message)
{
    if (source == file->ckpt->number)
        return file;
    for (guint i = 0; i < file->ckpt->earlier->len; i++)
        if (g_array_index(file->ckpt->earlier, dome_ckpt_earlier, i).number == source)
            return dome__ckpt_open_earlier(file, i, message);
    g_assert_not_reached(); /* excluded by decoding */
}

/* ---- blocks ---- */

static const char DAMAGED[] = "is damaged (checksum differs)";

bool dome__ckpt_block_fails(const dome_ckpt_file *file, const dome_ckpt_file *holder, const dome_ckpt_object *object,
                            uint64_t block, const char *reason, char **message)
{
    char *name = dome__ckpt_shown(object->name);
    char *where = holder == file ? g_strdup("") : g_strdup_printf(" (in '%s')", holder->path);
    dome__ckpt_refuse(message, "checkpoint '%s': object %s, block %" PRIu64 "%s: %s", file->path, name, block, where, reason);
    g_free(where);
    g_free(name);
    return false;
}

/* The location of the bytes of a block. NULL: the block is missing. */
static dome_ckpt_file *locate(dome_ckpt_file *file, const dome_ckpt_object *object, uint64_t block, const dome_ckpt_entry **entry,
                              char **message)
{
    const dome_ckpt_entry *e = *entry = dome__ckpt_entry(file->ckpt, object, block);
    if (!e)
        dome__ckpt_block_fails(file, file, object, block, "there is no such block", message);
    else if (e->source == 0)
        dome__ckpt_block_fails(file, file, object, block, "is not in this piece", message);
    return e && e->source != 0 ? holder(file, e->source, message) : NULL;
}

bool dome__ckpt_read(dome_ckpt_file *file, const dome_ckpt_object *object, uint64_t block, void *buffer, char **message)
{
    const dome_ckpt_entry *e;
    dome_ckpt_file *from = locate(file, object, block, &e, message);
    char *reason = NULL;
    if (!from)
        return false;
    if (!dome__ckpt_read_at(from->fd, buffer, e->length, e->offset, &reason)) {
        dome__ckpt_block_fails(file, from, object, block, reason, message);
        g_free(reason);
        return false;
    }
    dome_checksum sum = dome__checksum(buffer, e->length);
    if (!dome__checksum_equal(&sum, &e->sum))
        return dome__ckpt_block_fails(file, from, object, block, DAMAGED, message);
    return dome__ckpt_patch(file, object, block, buffer, message);
}

bool dome__ckpt_fits(dome_ckpt_file *file, const dome_ckpt_object *object, uint64_t block, const void *bytes, char **message)
{
    const dome_ckpt_entry *e = dome__ckpt_entry(file->ckpt, object, block);
    dome_checksum sum = dome__checksum(bytes, e->length);
    return dome__checksum_equal(&sum, &e->sum) || dome__ckpt_block_fails(file, file, object, block, DAMAGED, message);
}

/* How many blocks, the first one included, lie side by side and fit into the room; *bytes: their length. */
static uint64_t side_by_side(const dome_ckpt *ckpt, const dome_ckpt_object *object, dome_span blocks, uint64_t room,
                             uint64_t *bytes)
{
    const dome_ckpt_entry *first = dome__ckpt_entry(ckpt, object, blocks.first);
    uint64_t count = 1;
    for (*bytes = first->length; count < blocks.count; count++) {
        const dome_ckpt_entry *e = dome__ckpt_entry(ckpt, object, blocks.first + count);
        if (!e || e->source != first->source || e->offset != first->offset + *bytes || e->length > room - *bytes)
            break;
        *bytes += e->length;
    }
    return count;
}

bool dome__ckpt_read_run(dome_ckpt_file *file, const dome_ckpt_object *object, dome_span blocks, const dome_ckpt_taker *taker,
                         char **message)
{
    void *buffer = taker->buffer;
    while (blocks.count > 0) {
        const dome_ckpt_entry *e;
        dome_ckpt_file *from = locate(file, object, blocks.first, &e, message);
        if (!from)
            return false;
        uint64_t bytes, count = side_by_side(file->ckpt, object, blocks, taker->room, &bytes);
        char *reason = NULL;
        bool good = dome__ckpt_read_at(from->fd, buffer, bytes, e->offset, &reason);
        if (!good && count > 1) { /* one by one up to the block that cannot be read */
            count = 1;
            g_clear_pointer(&reason, g_free);
            good = dome__ckpt_read_at(from->fd, buffer, e->length, e->offset, &reason);
        }
        if (!good)
            dome__ckpt_block_fails(file, from, object, blocks.first, reason, message);
        g_free(reason);
        char *at = buffer;
        for (uint64_t b = blocks.first; good && b < blocks.first + count; b++) {
            e = dome__ckpt_entry(file->ckpt, object, b);
            dome_checksum sum = dome__checksum(at, e->length);
            good = dome__checksum_equal(&sum, &e->sum) || dome__ckpt_block_fails(file, from, object, b, DAMAGED, message);
            good = good && dome__ckpt_patch(file, object, b, at, message) &&
                   (!taker->take || taker->take(taker->ctx, b, at, e->length, message));
            at += e->length;
        }
        if (!good)
            return false;
        blocks.first += count;
        blocks.count -= count;
    }
    return true;
}

static bool check_patched(dome_ckpt_file *file, const dome_ckpt_object *object, uint64_t block, char **message)
{
    const uint64_t length = dome__ckpt_entry(file->ckpt, object, block)->length;
    void *buffer = length <= G_MAXSIZE ? g_try_malloc((gsize)MAX(length, 1)) : NULL;
    const bool good = buffer ? dome__ckpt_read(file, object, block, buffer, message)
                             : dome__ckpt_block_fails(file, file, object, block, "there is no memory for it", message);
    g_free(buffer);
    return good;
}

bool dome__ckpt_check(dome_ckpt_file *file, const dome_ckpt_object *object, uint64_t block, char **message)
{
    enum { CHUNK = 1 << 20 };
    const dome_ckpt_entry *e = dome__ckpt_entry(file->ckpt, object, block);
    if (e && dome__ckpt_is_patched(file->ckpt, e))
        return check_patched(file, object, block, message);
    dome_ckpt_file *from = locate(file, object, block, &e, message);
    char *reason = NULL;
    if (!from)
        return false;
    char *chunk = g_malloc(MIN(e->length, CHUNK) + 1);
    dome_checksumming *summing = dome__checksum_begin();
    for (uint64_t at = 0, n; at < e->length && !reason; at += n) {
        n = MIN(e->length - at, CHUNK);
        if (dome__ckpt_read_at(from->fd, chunk, n, e->offset + at, &reason))
            dome__checksum_add(summing, chunk, n);
    }
    dome_checksum sum = dome__checksum_end(summing);
    bool good = !reason && dome__checksum_equal(&sum, &e->sum);
    if (!good)
        dome__ckpt_block_fails(file, from, object, block, reason ? reason : DAMAGED, message);
    g_free(chunk);
    g_free(reason);
    return good;
}

static bool is_short(const dome_ckpt_file *file, const dome_ckpt_object *object, uint64_t block)
{
    const dome_ckpt_entry *e = dome__ckpt_entry(file->ckpt, object, block);
    return e->source != 0 && e->length <= DOME_CKPT_READ;
}

/* The blocks that the file, which may be a piece, has. */
static bool verify_blocks(dome_ckpt_file *file, const dome_ckpt_object *object, dome_span blocks, char *buffer, char **message)
{
    const uint64_t end = blocks.first + blocks.count;
    const dome_ckpt_taker taker = {.buffer = buffer, .room = DOME_CKPT_READ};
    bool good = true;
    for (uint64_t b = blocks.first, n; good && b < end; b += n) {
        for (n = 0; b + n < end && is_short(file, object, b + n);)
            n++;
        if (n > 0) {
            good = dome__ckpt_read_run(file, object, (dome_span){b, n}, &taker, message);
        } else {
            n = 1;
            good = dome__ckpt_entry(file->ckpt, object, b)->source == 0 || dome__ckpt_check(file, object, b, message);
        }
    }
    return good;
}

bool dome__ckpt_verify_part(dome_ckpt_file *file, uint64_t part, uint64_t parts, char **message)
{
    enum { RUN = 256 }; /* entries whose blocks lie side by side, mostly */
    bool good = dome__ckpt_check_earlier(file, message);
    char *buffer = g_malloc(DOME_CKPT_READ);
    for (guint i = 0; good && i < file->ckpt->objects->len; i++) {
        const dome_ckpt_object *object = dome__ckpt_object(file->ckpt, i);
        for (uint64_t b = 0, n; good && b < object->blocks; b += n) {
            const uint64_t entry = object->first_entry + b;
            n = MIN(RUN - entry % RUN, object->blocks - b);
            if (entry / RUN % parts == part)
                good = verify_blocks(file, object, (dome_span){b, n}, buffer, message);
        }
    }
    g_free(buffer);
    return good && dome__ckpt_check_results(file, part, parts, message);
}

bool dome__ckpt_verify(dome_ckpt_file *file, char **message)
{
    return dome__ckpt_verify_part(file, 0, 1, message);
}
