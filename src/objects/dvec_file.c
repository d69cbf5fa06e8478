/* Vectors as .npy files. Rank 0 opens the file. Each other task finds out whether it sees the same file: if so it reads or writes
 * its own part of the file, otherwise it exchanges its part with rank 0. */
#define _FILE_OFFSET_BITS 64

#include "core/files.h"
#include "core/type_private.h"
#include "objects/dvec_private.h"
#include "objects/npy.h"
#include "transport/agree.h"
#include "transport/collective.h"
#include "transport/message.h"
#include "transport/transport.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Parts are converted and sent in pieces of about this many bytes. */
static const uint64_t PIECE_BYTES = 8 << 20;

/* Identifies rank 0's file: a task compares it with the file that it finds under the same name. */
typedef struct identity {
    uint64_t inode, bytes, seconds, nanoseconds;
} identity;

enum { IDENTITY_WORDS = 4 };

/* State of reading or writing one vector on this task. */
typedef struct transfer {
    dome_env *env;
    const dvec *x; /* what is read goes to its memory */
    const char *path;
    dome_npy npy;
    int file; /* -1: not seen */
    char *buffer;
    uint64_t piece; /* values that fit into a piece */
    int status;     /* the first failure of this task, */
    char *text;     /* and its text */
    int broken;     /* status of a failed communication, which has been reported and ends the transfer */
} transfer;

static void note(transfer *f, int status, const char *format, ...) __attribute__((format(printf, 3, 4)));

static void note(transfer *f, int status, const char *format, ...)
{
    if (f->status)
        return;
    va_list args;
    va_start(args, format);
    f->text = g_strdup_vprintf(format, args);
    va_end(args);
    f->status = status;
}

static void note_errno(transfer *f, const char *what)
{
    int code = errno;
    note(f, code == ENOMEM ? DOME_ERR_MEMORY : DOME_ERR_IO, "'%s' cannot be %s: %s", f->path, what, dome__file_error(code));
}

/* Takes the message, whose text follows the file's name. */
static void note_format(transfer *f, char *message)
{
    note(f, DOME_ERR_FORMAT, "'%s' %s", f->path, message);
    g_free(message);
}

/* A failure noted by any task becomes the failure of all. Rank 0 then removes the new file first, since reporting the failure may
 * end the program. */
static int agree(transfer *f, dome_new_file *new)
{
    dome_transport *t = f->env->transport;
    int64_t worst = f->status;
    int failed = dome__allreduce(t, DOME_I64, &worst, 1, dome__combine_max_i64, NULL);
    if ((failed || worst) && new)
        dome__new_file_end(new);
    if (failed)
        return dome__fail_transport(f->env, failed);
    return worst ? dome__agree(f->env, f->status, f->text) : DOME_OK;
}

static identity identify(const struct stat *s)
{
    return (identity){(uint64_t)s->st_ino, (uint64_t)s->st_size, (uint64_t)s->st_mtim.tv_sec, (uint64_t)s->st_mtim.tv_nsec};
}

/* On a task other than rank 0: opens path if it is rank 0's file. */
static int open_same(const char *path, int flags, const identity *expected, bool times)
{
    struct stat s;
    int file = open(path, flags | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return -1;
    if (fstat(file, &s) == 0 && S_ISREG(s.st_mode)) {
        identity found = identify(&s);
        if (found.inode == expected->inode && found.bytes == expected->bytes &&
            (!times || (found.seconds == expected->seconds && found.nanoseconds == expected->nanoseconds)))
            return file;
    }
    close(file);
    return -1;
}

static bool pread_all(int file, void *data, uint64_t bytes, uint64_t offset)
{
    for (char *at = data; bytes;) {
        ssize_t n = pread(file, at, MIN(bytes, 1u << 30), (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            errno = n ? errno : EIO;
            return false;
        }
        at += n;
        offset += (uint64_t)n;
        bytes -= (uint64_t)n;
    }
    return true;
}

static bool pwrite_all(int file, const void *data, uint64_t bytes, uint64_t offset)
{
    dome_file_limit limit;
    bool good = true;
    dome__file_limit_begin(&limit);
    for (const char *at = data; bytes && good;) {
        ssize_t n = pwrite(file, at, MIN(bytes, 1u << 30), (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        good = n > 0;
        if (n == 0)
            errno = ENOSPC;
        if (!good)
            break;
        at += n;
        offset += (uint64_t)n;
        bytes -= (uint64_t)n;
    }
    dome__file_limit_end(&limit);
    return good;
}

static bool set_length(int file, uint64_t bytes)
{
    dome_file_limit limit;
    dome__file_limit_begin(&limit);
    bool good = ftruncate(file, (off_t)bytes) == 0;
    dome__file_limit_end(&limit);
    return good;
}

static uint64_t offset_of(const transfer *f, uint64_t value)
{
    return f->npy.header_bytes + value * f->npy.item.bytes;
}

static void make_buffer(transfer *f)
{
    f->piece = MAX(1, PIECE_BYTES / f->npy.item.bytes);
    f->buffer = g_try_malloc(f->piece * f->npy.item.bytes);
    if (!f->buffer)
        note(f, DOME_ERR_MEMORY, "no memory to convert '%s'", f->path);
}

static void finish(transfer *f)
{
    if (f->file >= 0)
        close(f->file);
    g_free(f->buffer);
    g_free(f->text);
    dome__npy_clear(&f->npy);
}

/* Reports that a message could not be sent or received. */
static void check(transfer *f, int failed)
{
    if (failed && !f->broken)
        f->broken = dome__fail_transport(f->env, failed);
}

/* Tells rank 0 which tasks see the file; only rank 0 gets the result, g_free'd by the caller. */
static uint8_t *gather_seen(transfer *f)
{
    uint8_t mine = f->file >= 0, *seen = g_malloc0((gsize)f->env->transport->size);
    check(f, dome__gather(f->env->transport, 0, DOME_U8, &mine, 1, seen));
    return seen;
}

/* Handles a piece of a rank's part: `count` values of the vector from index `first` on, at `data` if the rank is this task.
 * Returns false to stop the transfer. */
typedef bool (*piece_step)(transfer *f, int rank, uint64_t first, uint64_t count, char *data);

static void for_pieces(transfer *f, int rank, piece_step step)
{
    const dvec *x = f->x;
    dome_span spans[2];
    char *data = rank == f->env->transport->rank ? x->data : NULL;
    int nspans = dome_layout_spans(x->layout, x->distribution == DOME_WHOLE ? 0 : rank, spans);
    bool on = !f->broken;
    for (int s = 0; s < nspans; s++) {
        uint64_t first = spans[s].first * x->width, end = first + spans[s].count * x->width;
        while (on && first < end) {
            uint64_t count = MIN(end - first, f->piece);
            on = step(f, rank, first, count, data) && !f->broken;
            first += count;
            data = data ? data + count * DVEC_VALUE(x) : NULL;
        }
    }
}

/* ---- reading ---- */

static bool read_own(transfer *f, int rank, uint64_t first, uint64_t count, char *data)
{
    (void)rank;
    bool native = dome__npy_is_native(&f->npy.item, f->x->type);
    if (!pread_all(f->file, native ? data : f->buffer, count * f->npy.item.bytes, offset_of(f, first)))
        note_errno(f, "read");
    else if (!native)
        dome__npy_unpack(&f->npy.item, f->x->type, data, f->buffer, count);
    return !f->status;
}

/* An empty message tells the receiver that rank 0 has failed and will send no more. */
static bool serve(transfer *f, int rank, uint64_t first, uint64_t count, char *data)
{
    (void)data;
    uint64_t bytes = count * f->npy.item.bytes;
    if (!f->status && !pread_all(f->file, f->buffer, bytes, offset_of(f, first)))
        note_errno(f, "read");
    check(f, dome__send(f->env->transport, rank, DOME_CHANNEL_DATA, DOME_U8, f->buffer, f->status ? 0 : bytes));
    return !f->status;
}

static bool take_served(transfer *f, int rank, uint64_t first, uint64_t count, char *data)
{
    (void)rank, (void)first;
    void *packed;
    uint64_t bytes;
    check(f, dome__recv_new(f->env->transport, 0, DOME_CHANNEL_DATA, DOME_U8, &packed, &bytes));
    if (!f->broken && bytes == count * f->npy.item.bytes)
        dome__npy_unpack(&f->npy.item, f->x->type, data, packed, count);
    else if (!f->broken)
        note(f, DOME_ERR_IO, "'%s' cannot be read by rank 0", f->path);
    g_free(packed);
    return !f->status;
}

/* On rank 0: opens the file and returns its header. */
static char *open_first(transfer *f, identity *id)
{
    struct stat s;
    char *message = NULL, start[DOME_NPY_START], *header = NULL;
    f->file = open(f->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (f->file < 0 || fstat(f->file, &s) < 0) {
        note_errno(f, "opened");
        return NULL;
    }
    if (!S_ISREG(s.st_mode)) {
        note(f, DOME_ERR_IO, "'%s' is not a regular file", f->path);
        return NULL;
    }
    *id = identify(&s);
    size_t bytes = (size_t)MIN(id->bytes, (uint64_t)DOME_NPY_START);
    if (!pread_all(f->file, start, bytes, 0)) {
        note_errno(f, "read");
        return NULL;
    }
    if (!dome__npy_start(start, bytes, &f->npy.header_bytes, &message)) {
        note_format(f, message);
        return NULL;
    }
    bytes = (size_t)MIN(f->npy.header_bytes, id->bytes);
    header = g_malloc(bytes);
    if (!pread_all(f->file, header, bytes, 0))
        note_errno(f, "read");
    else if (!dome__npy_parse(&f->npy, header, bytes, &message) || !dome__npy_check_size(&f->npy, id->bytes, &message))
        note_format(f, message);
    return header;
}

/* Sends the file's identity and header to all tasks; each parses it in the same way. */
static int share_header(transfer *f, char **header, identity *id)
{
    dome_transport *t = f->env->transport;
    uint64_t words[IDENTITY_WORDS + 1] = {id->inode, id->bytes, id->seconds, id->nanoseconds, f->npy.header_bytes};
    int failed = dome__bcast(t, 0, DOME_U64, words, IDENTITY_WORDS + 1);
    if (!failed) {
        *id = (identity){words[0], words[1], words[2], words[3]};
        if (t->rank > 0)
            *header = g_malloc(words[IDENTITY_WORDS]);
        failed = dome__bcast(t, 0, DOME_U8, *header, words[IDENTITY_WORDS]);
    }
    if (failed)
        return dome__fail_transport(f->env, failed);
    char *message = NULL;
    if (t->rank > 0 && !dome__npy_parse(&f->npy, *header, words[IDENTITY_WORDS], &message))
        note_format(f, message);
    return f->status ? dome__fail(f->env, f->status, "%s", f->text) : DOME_OK;
}

#define ALIGNMENT_OF(ctype)                                                                                                      \
    offsetof(                                                                                                                    \
        struct {                                                                                                                 \
            char c;                                                                                                              \
            ctype x;                                                                                                             \
        },                                                                                                                       \
        x)

static size_t alignment(dome_type type)
{
    static const size_t of_kind[] = {
#define KIND_ALIGNMENT(name, ctype, suffix) ALIGNMENT_OF(ctype),
        DOME_TYPE_LIST(KIND_ALIGNMENT)
#undef KIND_ALIGNMENT
    };
    const dome_field *fields = type->fields;
    size_t nfields = type->nfields, most = 1;
    if (nfields == 0)
        return of_kind[dome_type_kind_of(type)];
    for (size_t i = 0; i < nfields; i++)
        most = MAX(most, alignment(fields[i].type));
    return most;
}

static bool fits_item(const void *item, dome_type type)
{
    return dome__npy_fits(item, type);
}

/* The program's own type for such items, if it has described one. Of several the first by name, so that all tasks choose the
 * same. */
static dome_type known_type(const dome_env *env, const dome_npy_item *item)
{
    return dome__types_find(env, fits_item, item);
}

/* The type in memory for the items of a file. A structure that the program has not described is laid out as C does. NULL on
 * failure. */
static dome_type type_of(dome_env *env, const dome_npy_item *item)
{
    if (item->kind != DOME_KIND_STRUCT)
        return dome_type_basic(item->kind);
    dome_type type = known_type(env, item);
    if (type)
        return type;
    dome_field *fields = g_new0(dome_field, item->nfields);
    size_t size = 0, most = 1;
    bool good = true;
    for (size_t i = 0; i < item->nfields && good; i++) {
        const dome_npy_item *f = &item->fields[i];
        dome_type inner = type_of(env, f);
        good = inner != NULL;
        if (!good)
            break;
        size_t align = alignment(inner);
        most = MAX(most, align);
        size = (size + align - 1) / align * align;
        fields[i] = (dome_field){f->name, inner, size, (size_t)f->count};
        if (f->count > (SIZE_MAX / 4 - size) / dome_type_size(inner)) {
            dome__fail(env, DOME_ERR_MEMORY, "elements of this file are too long for this machine");
            good = false;
        } else {
            size += (size_t)f->count * dome_type_size(inner);
        }
    }
    if (good) {
        char *descr = dome__npy_descr(item);
        char *name = g_strdup_printf("npy-%016" PRIx64, dome__hash_bytes(0, descr, strlen(descr)));
        type = dome_type_struct(env, name, (size + most - 1) / most * most, fields, item->nfields, sizeof(dome_field));
        g_free(name);
        g_free(descr);
    }
    g_free(fields);
    return type;
}

static dvec *new_vector(transfer *f, const char *name, const dvec_options *options)
{
    dome_env *env = f->env;
    dvec_options o = options ? *options : *DVEC_OPTIONS(.width = 0);
    if (o.width && o.width != f->npy.width) {
        dome__fail(env, DOME_ERR_SHAPE, "'%s' has width %" PRIu64 ", not %zu", f->path, f->npy.width, o.width);
        return NULL;
    }
    if (f->npy.length > INT64_MAX || f->npy.width > SIZE_MAX)
        note(f, DOME_ERR_MEMORY, "'%s' is too long for this machine", f->path);
    if (agree(f, NULL))
        return NULL;
    o.width = (size_t)f->npy.width;
    dome_type type = type_of(env, &f->npy.item);
    dvec *x = type ? dvec_new_with(env, name, type, f->npy.length, &o) : NULL;
    if (x)
        dvec__complete(x);
    return x;
}

static int read_parts(transfer *f, const identity *id)
{
    dome_transport *t = f->env->transport;
    make_buffer(f);
    int status = agree(f, NULL);
    if (status)
        return status;
    if (t->rank > 0)
        f->file = open_same(f->path, O_RDONLY, id, true);
    uint8_t *seen = gather_seen(f);
    for_pieces(f, t->rank, f->file >= 0 ? read_own : take_served);
    for (int r = 1; r < t->size && t->rank == 0; r++)
        if (!seen[r])
            for_pieces(f, r, serve);
    g_free(seen);
    return f->broken ? f->broken : agree(f, NULL);
}

dvec *dvec_read_with(dome_env *env, const char *name, const char *path, const dvec_options *options)
{
    DOME_NEEDS(env, "the environment", NULL);
    dvec_options known;
    if (!dvec__options(env, &options, &known))
        return NULL;
    dome_operation op;
    uint64_t words[5] = {dome__text_word(env, name), dome__text_word(env, path)};
    if (options)
        memcpy(&words[2], (uint64_t[]){options->distribution, options->width, options->block}, 3 * sizeof *words);
    dome__begin_with(&op, env, DOME_OP_DVEC_READ, NULL, words, options ? 5 : 2);
    if (!path || !*path) {
        dome__end(&op, dome__fail(env, DOME_ERR_ARGUMENT, "no file is named"));
        return NULL;
    }

    transfer f = {.env = env, .path = path, .file = -1};
    identity id = {0};
    dvec *x = NULL;
    char *header = env->transport->rank == 0 ? open_first(&f, &id) : NULL;
    int status = agree(&f, NULL);
    if (!status)
        status = share_header(&f, &header, &id);
    if (!status) {
        f.x = x = new_vector(&f, name, options);
        status = x ? read_parts(&f, &id) : (int)dome_error_status(env);
    }
    if (status && x) {
        dome_object_free(x->object);
        x = NULL;
    }
    g_free(header);
    finish(&f);
    dome__end(&op, status);
    return x;
}

dvec *dvec_read(dome_env *env, const char *name, const char *path)
{
    DOME_NEEDS(env, "the environment", NULL);
    return dvec_read_with(env, name, path, NULL);
}

/* ---- writing ---- */

/* A piece in the format of the file. */
static const void *packed(transfer *f, const char *data, uint64_t count)
{
    if (dome__npy_is_native(&f->npy.item, f->x->type))
        return data;
    dome__npy_pack(&f->npy.item, f->x->type, f->buffer, data, count);
    return f->buffer;
}

static bool write_own(transfer *f, int rank, uint64_t first, uint64_t count, char *data)
{
    (void)rank;
    if (!pwrite_all(f->file, packed(f, data, count), count * f->npy.item.bytes, offset_of(f, first)))
        note_errno(f, "written");
    return !f->status;
}

static bool hand_over(transfer *f, int rank, uint64_t first, uint64_t count, char *data)
{
    (void)rank, (void)first;
    uint64_t bytes = count * f->npy.item.bytes;
    check(f, dome__send(f->env->transport, 0, DOME_CHANNEL_DATA, DOME_U8, packed(f, data, count), bytes));
    return true;
}

/* Receives the remaining pieces even after a failure, which their sender does not know of yet. */
static bool take_over(transfer *f, int rank, uint64_t first, uint64_t count, char *data)
{
    (void)data;
    uint64_t bytes = count * f->npy.item.bytes;
    check(f, dome__recv(f->env->transport, rank, DOME_CHANNEL_DATA, DOME_U8, f->buffer, bytes));
    if (!f->broken && !f->status && !pwrite_all(f->file, f->buffer, bytes, offset_of(f, first)))
        note_errno(f, "written");
    return true;
}

/* Whether the other tasks can open an unnamed file of rank 0's: through /proc. */
static bool on_one_host(const dome_env *env)
{
    for (int r = 1; r < env->transport->size; r++)
        if (strcmp(env->hosts[r], env->hosts[0]) != 0)
            return false;
    return true;
}

/* On rank 0: creates the file in its full length, with its header. */
static bool make_file(transfer *f, dome_new_file *new, const char *header, identity *id)
{
    struct stat s, before;
    bool there = stat(f->path, &before) == 0;
    uint64_t bytes;
    if (there && !S_ISREG(before.st_mode)) {
        note(f, DOME_ERR_IO, "'%s' is there and not a regular file", f->path);
        return false;
    }
    f->file = dome__new_file_begin(new, f->path, 0666, !on_one_host(f->env));
    if (f->file < 0)
        note_errno(f, "written");
    else if (!dome__npy_file_bytes(&f->npy, &bytes))
        note(f, DOME_ERR_IO, "'%s' would be longer than any file can be", f->path);
    else if (!pwrite_all(f->file, header, f->npy.header_bytes, 0) || !set_length(f->file, bytes) || fstat(f->file, &s) < 0)
        note_errno(f, "written");
    else if (there && fchmod(f->file, before.st_mode & 0777) < 0)
        note_errno(f, "given the rights it has");
    if (!f->status)
        *id = identify(&s);
    return !f->status;
}

/* Some file systems report a lack of room only at the end. Rank 0 keeps its file open until it has its name. */
static void flush(transfer *f)
{
    if (f->file >= 0 && fsync(f->file) < 0 && errno != EINVAL)
        note_errno(f, "written");
    if (f->file >= 0 && f->env->transport->rank > 0) {
        if (close(f->file) < 0)
            note_errno(f, "written");
        f->file = -1;
    }
}

static void put_in_place(transfer *f, dome_new_file *new)
{
    if (!dome__new_file_place(new)) {
        note_errno(f, "written");
        return;
    }
    char *folder = g_path_get_dirname(new->target);
    int directory = open(folder, O_RDONLY | O_CLOEXEC | O_DIRECTORY);
    if (directory >= 0) {
        if (fsync(directory) < 0 && errno != EINVAL)
            note_errno(f, "written for good");
        close(directory);
    }
    g_free(folder);
}

static void write_parts(transfer *f)
{
    dome_transport *t = f->env->transport;
    bool whole = f->x->distribution == DOME_WHOLE;
    uint8_t *seen = gather_seen(f);
    if (!whole || t->rank == 0)
        for_pieces(f, t->rank, f->file >= 0 ? write_own : hand_over);
    for (int r = 1; r < t->size && t->rank == 0 && !whole; r++)
        if (!seen[r])
            for_pieces(f, r, take_over);
    g_free(seen);
    flush(f);
}

/* new: rank 0's. */
static int write_file(transfer *f, dome_new_file *new)
{
    dome_transport *t = f->env->transport;
    identity id = {0};
    char *header = dome__npy_header(&f->npy);
    if (t->rank == 0)
        make_file(f, new, header, &id);
    g_free(header);
    make_buffer(f);
    int status = agree(f, new);
    if (status)
        return status;

    uint64_t words[] = {id.inode, id.bytes, (uint64_t)getpid(), new->hidden != NULL, new->number};
    check(f, dome__bcast(t, 0, DOME_U64, words, G_N_ELEMENTS(words)));
    if (!f->broken && t->rank > 0) {
        char *name = dome__new_file_name(f->path, words[3] != 0, words[2], words[4]);
        f->file = open_same(name, O_WRONLY, &(identity){.inode = words[0], .bytes = words[1]}, false);
        g_free(name);
    }
    if (!f->broken)
        write_parts(f);
    if (f->broken)
        dome__new_file_end(new);
    status = f->broken ? f->broken : agree(f, new);
    if (status)
        return status;
    if (t->rank == 0)
        put_in_place(f, new);
    return agree(f, new);
}

dome_status dvec_write(const dvec *x, const char *path)
{
    DOME_NEEDS(x, "the vector", DOME_ERR_ARGUMENT);
    dome_operation op;
    dome__begin(&op, x->env, DOME_OP_DVEC_WRITE, x->object, dome__text_word(x->env, path));
    if (!path || !*path)
        return dome__end(&op, dome__fail(x->env, DOME_ERR_ARGUMENT, "no file is named"));
    int status = dvec__settle(x, NULL);
    if (!status) {
        transfer f = {.env = x->env, .x = x, .path = path, .file = -1};
        dome_new_file new = {.fd = -1};
        dome__npy_describe(&f.npy, x->type, x->length, x->width);
        status = write_file(&f, &new);
        if (x->env->transport->rank == 0)
            f.file = -1; /* the new file's */
        dome__new_file_end(&new);
        finish(&f);
    }
    return dome__end(&op, status);
}
