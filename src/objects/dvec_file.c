/* Vectors as .npy files: each task reads or writes its own part. */
#include "core/type_private.h"
#include "objects/dvec_private.h"
#include "objects/npy.h"
#include "objects/shared_file.h"
#include "transport/agree.h"
#include "transport/collective.h"
#include "transport/transport.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Parts are converted in pieces of about this many bytes. */
static const uint64_t PIECE_BYTES = 8 << 20;

/* State of reading or writing one vector on this task. */
typedef struct transfer {
    dome_shared_file file;
    const dvec *x; /* what is read goes to its memory */
    dome_npy npy;
    char *buffer;
    uint64_t piece; /* values that fit into a piece */
} transfer;

static uint64_t offset_of(const transfer *f, uint64_t value)
{
    return f->npy.header_bytes + value * f->npy.item.bytes;
}

static void make_buffer(transfer *f)
{
    f->piece = MAX(1, PIECE_BYTES / f->npy.item.bytes);
    f->buffer = g_try_malloc(f->piece * f->npy.item.bytes);
    if (!f->buffer)
        dome__shared_note(&f->file, DOME_ERR_MEMORY, "no memory to convert '%s'", f->file.path);
}

static void finish(transfer *f)
{
    dome__shared_end(&f->file);
    g_free(f->buffer);
    dome__npy_clear(&f->npy);
}

/* Handles a piece of this task's part: `count` values of the vector from index `first` on, at `data`. Returns false to stop. */
typedef bool (*piece_step)(transfer *f, uint64_t first, uint64_t count, char *data);

static void for_pieces(transfer *f, piece_step step)
{
    const dvec *x = f->x;
    dome_span spans[2];
    char *data = x->data;
    int nspans = dome_layout_spans(x->layout, x->distribution == DOME_WHOLE ? 0 : x->env->rank, spans);
    for (int s = 0; s < nspans; s++) {
        uint64_t first = spans[s].first * x->width, end = first + spans[s].count * x->width;
        while (first < end) {
            uint64_t count = MIN(end - first, f->piece);
            if (!step(f, first, count, data))
                return;
            first += count;
            data += count * DVEC_VALUE(x);
        }
    }
}

/* ---- reading ---- */

static bool read_piece(transfer *f, uint64_t first, uint64_t count, char *data)
{
    bool native = dome__npy_is_native(&f->npy.item, f->x->type);
    if (!dome__shared_read(&f->file, offset_of(f, first), native ? data : f->buffer, count * f->npy.item.bytes))
        return false;
    if (!native)
        dome__npy_unpack(&f->npy.item, f->x->type, data, f->buffer, count);
    return true;
}

/* On rank 0: opens the file and returns its header. */
static char *open_first(transfer *f)
{
    char *message = NULL, start[DOME_NPY_START], *header = NULL;
    if (!dome__shared_open(&f->file))
        return NULL;
    size_t bytes = (size_t)MIN(f->file.bytes, (uint64_t)DOME_NPY_START);
    if (!dome__shared_read(&f->file, 0, start, bytes))
        return NULL;
    if (!dome__npy_start(start, bytes, &f->npy.header_bytes, &message)) {
        dome__shared_note_format(&f->file, message);
        return NULL;
    }
    bytes = (size_t)MIN(f->npy.header_bytes, f->file.bytes);
    header = g_malloc(bytes);
    if (dome__shared_read(&f->file, 0, header, bytes) &&
        (!dome__npy_parse(&f->npy, header, bytes, &message) || !dome__npy_check_size(&f->npy, f->file.bytes, &message)))
        dome__shared_note_format(&f->file, message);
    return header;
}

/* Sends the header to all tasks; each parses it in the same way. */
static int share_header(transfer *f, char **header)
{
    dome_env *env = f->file.env;
    dome_transport *t = env->transport;
    uint64_t bytes = f->npy.header_bytes;
    int failed = dome__bcast(t, 0, DOME_U64, &bytes, 1);
    if (!failed) {
        if (t->rank > 0)
            *header = g_malloc(bytes);
        failed = dome__bcast(t, 0, DOME_U8, *header, bytes);
    }
    if (failed)
        return dome__fail_transport(env, failed);
    char *message = NULL;
    if (t->rank > 0 && !dome__npy_parse(&f->npy, *header, bytes, &message))
        dome__shared_note_format(&f->file, message);
    return f->file.status ? dome__fail(env, f->file.status, "%s", f->file.text) : DOME_OK;
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
    dome_env *env = f->file.env;
    dvec_options o = options ? *options : *DVEC_OPTIONS(.width = 0);
    if (o.width && o.width != f->npy.width) {
        dome__fail(env, DOME_ERR_SHAPE, "'%s' has width %" PRIu64 ", not %zu", f->file.path, f->npy.width, o.width);
        return NULL;
    }
    if (f->npy.length > INT64_MAX || f->npy.width > SIZE_MAX)
        dome__shared_note(&f->file, DOME_ERR_MEMORY, "'%s' is too long for this machine", f->file.path);
    if (dome__shared_agree(&f->file))
        return NULL;
    o.width = (size_t)f->npy.width;
    dome_type type = type_of(env, &f->npy.item);
    dvec *x = type ? dvec_new_with(env, name, type, f->npy.length, &o) : NULL;
    if (x)
        dvec__complete(x);
    return x;
}

static int read_parts(transfer *f)
{
    make_buffer(f);
    int status = dome__shared_agree(&f->file);
    if (!status)
        status = dome__shared_find(&f->file);
    if (status)
        return status;
    for_pieces(f, read_piece);
    return dome__shared_finish(&f->file);
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

    transfer f = {0};
    dvec *x = NULL;
    dome__shared_begin(&f.file, env, path);
    char *header = env->rank == 0 ? open_first(&f) : NULL;
    int status = dome__shared_agree(&f.file);
    if (!status)
        status = share_header(&f, &header);
    if (!status) {
        f.x = x = new_vector(&f, name, options);
        status = x ? read_parts(&f) : (int)dome_error_status(env);
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

static bool write_piece(transfer *f, uint64_t first, uint64_t count, char *data)
{
    return dome__shared_write(&f->file, offset_of(f, first), packed(f, data, count), count * f->npy.item.bytes);
}

/* On rank 0: makes the file, with its header. */
static void make_file(transfer *f, const char *header)
{
    uint64_t bytes;
    if (!dome__npy_file_bytes(&f->npy, &bytes))
        dome__shared_note(&f->file, DOME_ERR_IO, "'%s' would be longer than any file can be", f->file.path);
    else if (dome__shared_make(&f->file, bytes))
        dome__shared_write(&f->file, 0, header, f->npy.header_bytes);
}

static int write_file(transfer *f)
{
    char *header = dome__npy_header(&f->npy);
    bool first = f->x->env->rank == 0;
    if (first)
        make_file(f, header);
    g_free(header);
    make_buffer(f);
    int status = dome__shared_agree(&f->file);
    if (!status)
        status = dome__shared_find(&f->file);
    if (status)
        return status;
    if (first || f->x->distribution != DOME_WHOLE)
        for_pieces(f, write_piece);
    return dome__shared_finish(&f->file);
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
        transfer f = {.x = x};
        dome__shared_begin(&f.file, x->env, path);
        dome__npy_describe(&f.npy, x->type, x->length, x->width);
        status = write_file(&f);
        finish(&f);
    }
    return dome__end(&op, status);
}
