/* Functions that the formats of files share: the vector for an array, and values that lie one after the other in a file, of which
 * each task reads or writes its own part. */
#include "core/type_private.h"
#include "files/npy.h"
#include "io/file_formats.h"
#include "transport/agree.h"
#include "transport/collective.h"
#include "transport/transport.h"

#include <inttypes.h>
#include <string.h>

/* Parts are converted in pieces of about this many bytes. */
static const uint64_t PIECE_BYTES = 8 << 20;

/* ---- descriptions ---- */

int dome__file_share_header(dome_shared_file *f, dome_npy *npy, char **header)
{
    dome_env *env = f->env;
    dome_transport *t = env->transport;
    uint64_t bytes = npy->header_bytes;
    int failed = dome__bcast(t, 0, DOME_U64, &bytes, 1);
    if (!failed) {
        if (t->group.rank > 0)
            *header = g_malloc(bytes);
        failed = dome__bcast(t, 0, DOME_U8, *header, bytes);
    }
    if (failed)
        return dome__fail_transport(env, failed);
    char *message = NULL;
    dome__npy_clear(npy);
    if (!dome__npy_parse(npy, *header, bytes, &message))
        dome__shared_note_format(f, message);
    return f->status ? dome__fail(env, f->status, "%s", f->text) : DOME_OK;
}

/* ---- the vector ---- */

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
    return dome__item_fits(item, type);
}

/* The program's own type for such items, if it has described one. Of several the first by name, so that all tasks choose the
 * same. */
static dome_type known_type(const dome_env *env, const dome_file_item *item)
{
    return dome__types_find(env, fits_item, item);
}

/* The type in memory for the items of a file. A structure that the program has not described is laid out as C does. NULL on
 * failure. */
static dome_type type_of(dome_env *env, const dome_file_item *item)
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
        const dome_file_item *f = &item->fields[i];
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

dvec *dome__file_vector(dome_shared_file *f, dome_file_array *array, const char *name, const dvec_options *options)
{
    dvec_options o = options ? *options : *DVEC_OPTIONS(.width = 0);
    uint64_t width = array->width;
    bool fits = !o.width || dome__file_array_split(array, o.width);
    if (array->length > INT64_MAX || array->width > SIZE_MAX)
        dome__shared_note(f, DOME_ERR_MEMORY, "'%s' is too long for this machine", f->path);
    if (dome__shared_agree(f))
        return NULL;
    if (!fits) {
        dome__fail(f->env, DOME_ERR_SHAPE,
                   "'%s' has no elements of width %zu, which is not a product of its last dimensions; its width is %" PRIu64,
                   f->path, o.width, width);
        return NULL;
    }
    o.width = (size_t)array->width;
    dome_type type = type_of(f->env, &array->item);
    dvec *x = type ? dvec_new_with(f->env, name, type, array->length, &o) : NULL;
    if (x) {
        dvec__take_shape(x, array->ndim, array->shape);
        dvec__complete(x);
    }
    return x;
}

/* ---- values ---- */

/* State of reading or writing one vector on this task. */
typedef struct transfer {
    dome_shared_file *file;
    const dvec *x; /* what is read goes to its memory */
    const dome_file_item *item;
    uint64_t offset; /* of the first value */
    bool native;     /* memory and file have the same form */
    char *buffer;    /* for others */
    uint64_t piece;  /* values that fit into a piece */
} transfer;

static void begin(transfer *t, dome_shared_file *f, const dvec *x, const dome_file_item *item, uint64_t offset)
{
    *t = (transfer){.file = f, .x = x, .item = item, .offset = offset, .native = dome__item_is_native(item, x->type)};
    t->piece = MAX(1, PIECE_BYTES / item->bytes);
    if (t->native)
        return;
    t->buffer = g_try_malloc(t->piece * item->bytes);
    if (!t->buffer)
        dome__shared_note(f, DOME_ERR_MEMORY, "no memory to convert '%s'", f->path);
}

static bool read_piece(transfer *t, uint64_t first, uint64_t count, char *data)
{
    if (!dome__shared_read(t->file, t->offset + first * t->item->bytes, t->native ? data : t->buffer, count * t->item->bytes))
        return false;
    if (!t->native)
        dome__item_unpack(t->item, t->x->type, data, t->buffer, count);
    return true;
}

static bool write_piece(transfer *t, uint64_t first, uint64_t count, char *data)
{
    if (!t->native)
        dome__item_pack(t->item, t->x->type, t->buffer, data, count);
    return dome__shared_write(t->file, t->offset + first * t->item->bytes, t->native ? data : t->buffer, count * t->item->bytes);
}

/* Handles a piece of this task's part: `count` values of the vector from index `first` on, at `data`. Returns false to stop. */
typedef bool (*piece_step)(transfer *t, uint64_t first, uint64_t count, char *data);

static void for_pieces(transfer *t, piece_step step)
{
    const dvec *x = t->x;
    dome_span spans[2];
    char *data = x->data;
    int nspans = dvec__spans_of(x, x->env->rank, spans);
    for (int s = 0; s < nspans; s++) {
        uint64_t first = spans[s].first * x->width, end = first + spans[s].count * x->width;
        while (first < end) {
            uint64_t count = MIN(end - first, t->piece);
            if (!step(t, first, count, data))
                return;
            first += count;
            data += count * DVEC_VALUE(x);
        }
    }
}

/* here: whether this task has a part to handle. */
static int transfer_values(dome_shared_file *f, const dvec *x, const dome_file_item *item, uint64_t offset, bool here,
                           piece_step step)
{
    transfer t;
    begin(&t, f, x, item, offset);
    int status = dome__shared_agree(f);
    if (!status)
        status = dome__shared_find(f);
    if (!status) {
        if (here)
            for_pieces(&t, step);
        status = dome__shared_finish(f);
    }
    g_free(t.buffer);
    return status;
}

int dome__file_read_values(dome_shared_file *f, dvec *x, const dome_file_item *item, uint64_t offset)
{
    return transfer_values(f, x, item, offset, true, read_piece);
}

int dome__file_write_values(dome_shared_file *f, const dvec *x, const dome_file_item *item, uint64_t offset)
{
    return transfer_values(f, x, item, offset, x->env->rank == 0 || x->distribution != DOME_WHOLE, write_piece);
}
