/* Vectors as Zarr arrays.
 *
 * Writing: the values of a chunk lie one after the other in the vector. The task that owns the first of them writes the chunk; it
 * first fetches those that other tasks own, which only the last chunk of a span can have. So the files do not depend on the
 * tasks. Reading: the chunks may have any shape; each task reads those that have some of its values. */
#include "core/type_private.h"
#include "files/zarr.h"
#include "io/file_formats.h"
#include "system/files.h"
#include "system/sized.h"
#include "transport/agree.h"
#include "transport/collective.h"
#include "transport/transport.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

/* Attributes of the user's are part of the metadata in version 3. */
static const uint64_t METADATA_LIMIT = 64 << 20;

/* A path that ends in .zarr, or an array in such a folder: group.zarr/array. */
static bool takes(const char *path)
{
    for (const char *at = path; (at = strstr(at, ".zarr")); at++)
        if (at[5] == 0 || at[5] == '/')
            return true;
    return false;
}

/* The path without slashes at its end. g_free'd by the caller. */
static char *trimmed(const char *path)
{
    size_t bytes = strlen(path);
    while (bytes > 1 && path[bytes - 1] == '/')
        bytes--;
    return g_strndup(path, bytes);
}

/* ---- writing ---- */

/* State of writing one vector on this task. */
typedef struct writing {
    dome_shared_file file;
    const dvec *x;
    dome_zarr zarr;
    char *metadata;
    dome_span rests[2]; /* elements after the spans that belong to their last chunks, */
    char *rest[2];      /* and these */
    char *chunk;        /* one chunk */
} writing;

/* The elements of other tasks that a rank needs for the last chunk of each span. */
static void find_rests(const writing *w, int rank, dome_span rests[2])
{
    dome_span spans[2];
    uint64_t index[DOME_MAX_DIMENSIONS], width = w->x->width;
    int nspans = dvec__spans_of(w->x, rank, spans);
    memset(rests, 0, 2 * sizeof *rests);
    for (int s = 0; s < nspans; s++) {
        uint64_t end = spans[s].first + spans[s].count;
        dome_zarr_runs runs;
        dome__zarr_chunk_at(&w->zarr, end * width - 1, index);
        dome__zarr_begin_runs(&w->zarr, index, &runs);
        dome__zarr_next_run(&w->zarr, &runs);
        uint64_t after = (runs.value + runs.count + width - 1) / width;
        if (runs.value >= spans[s].first * width && after > end)
            rests[s] = (dome_span){end, after - end};
    }
}

static int wants_rests(const void *ctx, int rank, dvec_want wants[DVEC_WANTS])
{
    dome_span rests[2];
    int count = 0;
    find_rests(ctx, rank, rests);
    for (int s = 0; s < 2; s++)
        if (rests[s].count > 0)
            wants[count++] = (dvec_want){rests[s].first, rests[s].count, s ? rests[0].count : 0};
    return count;
}

/* Allocates what this task needs. */
static void make_buffers(writing *w)
{
    uint64_t rest = 0;
    if (w->x->distribution != DOME_WHOLE)
        find_rests(w, w->x->env->rank, w->rests);
    for (int s = 0; s < 2; s++)
        rest += w->rests[s].count;
    rest *= DVEC_ELEMENT(w->x);
    w->rest[0] = rest < SIZE_MAX ? g_try_malloc0((gsize)rest + 1) : NULL;
    w->chunk = w->zarr.chunk_bytes < SIZE_MAX ? g_try_malloc((gsize)w->zarr.chunk_bytes) : NULL;
    if (!w->rest[0] || !w->chunk)
        dome__shared_note(&w->file, DOME_ERR_MEMORY, "no memory for chunks of '%s'", w->file.path);
    else
        w->rest[1] = w->rest[0] + w->rests[0].count * DVEC_ELEMENT(w->x);
}

/* Writes the chunk at `index`, whose first `own` values are at `data`, and the others, if it has more, at `rest`. */
static bool write_chunk(writing *w, const uint64_t index[], const char *data, uint64_t own, const char *rest, uint64_t count)
{
    const dome_zarr *z = &w->zarr;
    const dome_file_item *item = &z->array.item;
    const void *chunk = w->chunk;
    void *encoded = NULL;
    uint64_t bytes = z->chunk_bytes;
    char *message = NULL, *name = dome__zarr_chunk_name(z, index);
    if (own == z->chunk_values && dome__item_is_native(item, w->x->type)) {
        chunk = data;
    } else {
        dome__item_pack(item, w->x->type, w->chunk, data, own);
        dome__item_pack(item, w->x->type, w->chunk + own * item->bytes, rest, count - own);
        dome__zarr_fill(z, w->chunk, count, z->chunk_values - count);
    }
    if (z->ncodecs && !dome__zarr_encode(z, chunk, &encoded, &bytes, &message))
        dome__shared_note(&w->file, DOME_ERR_MEMORY, "'%s/%s' %s", w->file.path, name, message);
    else
        dome__shared_put(&w->file, name, encoded ? encoded : chunk, bytes);
    g_free(encoded);
    g_free(message);
    g_free(name);
    return !w->file.status && !w->file.broken;
}

/* A whole vector's chunks are shared evenly. */
static void write_chunks(writing *w)
{
    const dvec *x = w->x;
    dome_span spans[2];
    const char *data = x->data;
    int nspans = dvec__spans_of(x, x->env->rank, spans);
    uint64_t number = 0;
    for (int s = 0; s < nspans; s++) {
        dome_zarr_walk walk;
        dome_zarr_runs runs;
        uint64_t first = spans[s].first * x->width, end = first + spans[s].count * x->width;
        for (bool more = dome__zarr_first_chunk(&w->zarr, &walk, first, end); more;
             more = dome__zarr_next_chunk(&w->zarr, &walk)) {
            dome__zarr_begin_runs(&w->zarr, walk.index, &runs);
            dome__zarr_next_run(&w->zarr, &runs);
            if (runs.value < first ||
                (x->distribution == DOME_WHOLE && number++ % (uint64_t)x->env->size != (uint64_t)x->env->rank))
                continue;
            uint64_t own = MIN(runs.count, end - runs.value);
            if (!write_chunk(w, walk.index, data + (runs.value - first) * DVEC_VALUE(x), own, w->rest[s], runs.count))
                return;
        }
        data += spans[s].count * DVEC_ELEMENT(x);
    }
}

/* On rank 0: whether something may be replaced. A folder is deleted with all that is in it: only an array is, or an empty one. */
static bool may_replace(dome_shared_file *f)
{
    static const char *const known[] = {".zarray", ".zattrs", "zarr.json"};
    bool array = false, empty = true;
    char *other = NULL;
    GError *error = NULL;
    GDir *dir = g_dir_open(f->path, 0, &error);
    if (error && error->code != G_FILE_ERROR_NOENT && error->code != G_FILE_ERROR_NOTDIR)
        dome__shared_note(f, DOME_ERR_IO, "'%s' is there, and what is in it cannot be listed", f->path);
    g_clear_error(&error);
    for (const char *name; dir && !other && (name = g_dir_read_name(dir));) {
        bool expected = name[strspn(name, "c.0123456789")] == 0; /* a chunk, or a folder of them */
        for (size_t i = 0; i < G_N_ELEMENTS(known); i++)
            expected = expected || !strcmp(name, known[i]);
        empty = false;
        if (!strcmp(name, "zarr.json")) {
            const char *reason;
            char *path = g_build_filename(f->path, name, NULL), *text = dome__file_read(path, METADATA_LIMIT, &reason);
            array = array || (text && dome__zarr_is_array(text));
            g_free(path);
            g_free(text);
        } else if (!strcmp(name, ".zarray")) {
            array = true;
        }
        if (!expected)
            other = g_strescape(name, NULL);
    }
    if (dir)
        g_dir_close(dir);
    if (other)
        dome__shared_note(f, DOME_ERR_IO, "'%s' is there and has more in it than a Zarr array: '%s'", f->path, other);
    else if (!array && !empty)
        dome__shared_note(f, DOME_ERR_IO, "'%s' is there and not a Zarr array", f->path);
    g_free(other);
    return !f->status;
}

/* Describes the array. Hosts may have libraries that differ. */
static void describe(writing *w, const dvec_zarr_options *o)
{
    uint64_t shape[DOME_MAX_DIMENSIONS];
    const dvec *x = w->x;
    char *message;
    int ndim = dvec__shape(x, shape);
    const dome_zarr_vector vector = {x->type, ndim, shape, x->width, dome_layout_block_size(x->layout)};
    if (!dome__zarr_describe(&w->zarr, o->version, &vector, o->chunk, o->level, &message) ||
        !(w->metadata = dome__zarr_metadata(&w->zarr, &message))) {
        dome__shared_note(&w->file, x->type->kind == DOME_KIND_STRUCT && o->version == 3 ? DOME_ERR_TYPE : DOME_ERR_STATE,
                          "'%s' %s", w->file.path, message);
        g_free(message);
    }
}

static int write_all(writing *w, const dvec_zarr_options *o)
{
    dome_shared_file *f = &w->file;
    bool first = w->x->env->rank == 0;
    describe(w, o);
    if (!f->status)
        make_buffers(w);
    int status = dome__shared_agree(f);
    if (!status && w->x->distribution != DOME_WHOLE)
        status = dvec__fetch(w->x, wants_rests, w, w->rest[0]);
    if (status)
        return status;
    if (first && may_replace(f))
        dome__shared_make_folder(f);
    status = dome__shared_agree(f);
    if (!status)
        status = dome__shared_find(f);
    if (status)
        return status;
    write_chunks(w);
    if (first)
        dome__shared_put(f, dome__zarr_metadata_name(o->version), w->metadata, strlen(w->metadata));
    return dome__shared_finish(f);
}

/* x is settled. */
static int write_zarr(const dvec *x, const char *path, const dvec_zarr_options *options)
{
    writing w = {.x = x};
    char *folder = trimmed(path);
    dome__shared_begin(&w.file, x->env, folder);
    int status = write_all(&w, options);
    dome__shared_end(&w.file);
    dome__zarr_clear(&w.zarr);
    g_free(w.metadata);
    g_free(w.rest[0]);
    g_free(w.chunk);
    g_free(folder);
    return status;
}

static int write_as_usual(const dvec *x, const char *path)
{
    return write_zarr(x, path, &(dvec_zarr_options){.version = 2});
}

static int check_options(dome_env *env, const dvec_zarr_options *given, dvec_zarr_options *o)
{
    enum { MOST_LEVEL = 22 };
    *o = (dvec_zarr_options){.size = sizeof *o};
    if (given && !dome__sized_copy(o, sizeof *o, given, given->size, sizeof *o))
        return dome__fail(
            env, DOME_ERR_ARGUMENT,
            "the options have size %zu instead of %zu, or one that this library does not know: use DVEC_ZARR_OPTIONS",
            given->size, sizeof *o);
    if (o->version == 0)
        o->version = 2;
    if (o->version != 2 && o->version != 3)
        return dome__fail(env, DOME_ERR_ARGUMENT, "there is no version %d of Zarr: 2 or 3", o->version);
    if (o->level < 0 || o->level > MOST_LEVEL)
        return dome__fail(env, DOME_ERR_ARGUMENT, "there is no level %d of zstd: 0 to %d", o->level, MOST_LEVEL);
    return DOME_OK;
}

dome_status dvec_write_zarr(const dvec *x, const char *path, const dvec_zarr_options *options)
{
    DOME_NEEDS(x, "the vector", DOME_ERR_ARGUMENT);
    dome_operation op;
    dvec_zarr_options o;
    uint64_t words[4] = {dome__text_word(x->env, path)};
    if (options)
        memcpy(&words[1], (uint64_t[]){(uint64_t)options->version, (uint64_t)options->level, options->chunk}, 3 * sizeof *words);
    dome__begin_with(&op, x->env, DOME_OP_DVEC_WRITE_ZARR, x->object, words, options ? 4 : 1);
    if (!path || !*path)
        return dome__end(&op, dome__fail(x->env, DOME_ERR_ARGUMENT, "no file is named"));
    int status = check_options(x->env, options, &o);
    if (!status)
        status = dvec__settle(x, NULL);
    if (!status)
        status = write_zarr(x, path, &o);
    return dome__end(&op, status);
}

/* ---- reading ---- */

/* State of reading one vector on this task. */
typedef struct reading {
    dome_shared_file file;
    dome_zarr zarr;
    dvec *x;
    char *folder;
    char *text; /* the metadata */
    uint64_t bytes;
    void *chunk; /* one chunk, if there are codecs */
} reading;

static bool exists(const char *folder, const char *name)
{
    struct stat s;
    char *path = g_build_filename(folder, name, NULL);
    bool result = stat(path, &s) == 0;
    g_free(path);
    return result;
}

/* On rank 0: the version of the array in the folder; 0 with a note. */
static int find_version(reading *r)
{
    struct stat s;
    if (stat(r->folder, &s) < 0)
        dome__shared_note_errno(&r->file, "opened");
    else if (!S_ISDIR(s.st_mode))
        dome__shared_note(&r->file, DOME_ERR_FORMAT, "'%s' is not a folder, as Zarr arrays are", r->folder);
    else if (exists(r->folder, dome__zarr_metadata_name(3)))
        return 3;
    else if (exists(r->folder, dome__zarr_metadata_name(2)))
        return 2;
    else if (exists(r->folder, ".zgroup"))
        dome__shared_note(&r->file, DOME_ERR_FORMAT, "'%s' is a Zarr group; name one of its arrays", r->folder);
    else
        dome__shared_note(&r->file, DOME_ERR_FORMAT, "'%s' is not a Zarr array: it has neither .zarray nor zarr.json", r->folder);
    return 0;
}

static void parse(reading *r, int version)
{
    char *message;
    if (!dome__zarr_parse(&r->zarr, version, r->text, (size_t)r->bytes, &message))
        dome__shared_note_format(&r->file, message);
}

/* On rank 0: opens and reads the metadata. */
static void open_first(reading *r, int version)
{
    dome_shared_file *f = &r->file;
    if (!dome__shared_open(f))
        return;
    if (f->bytes > METADATA_LIMIT) {
        dome__shared_note(f, DOME_ERR_FORMAT, "'%s' has %" PRIu64 " bytes, more than metadata have", f->path, f->bytes);
        return;
    }
    r->bytes = f->bytes;
    r->text = g_malloc((gsize)r->bytes + 1);
    if (dome__shared_read(f, 0, r->text, r->bytes))
        parse(r, version);
}

/* Sends the metadata to all tasks; each parses them in the same way. */
static int share_metadata(reading *r, int version)
{
    dome_transport *t = r->file.env->transport;
    int failed = dome__bcast(t, 0, DOME_U64, &r->bytes, 1);
    if (!failed) {
        if (t->group.rank > 0)
            r->text = g_malloc((gsize)r->bytes + 1);
        failed = dome__bcast(t, 0, DOME_U8, r->text, r->bytes);
    }
    if (failed)
        return dome__fail_transport(r->file.env, failed);
    if (t->group.rank > 0)
        parse(r, version); /* what it notes is reported by dome__file_vector */
    return DOME_OK;
}

static void note_chunk(reading *r, const char *name, char *message)
{
    dome__shared_note(&r->file, DOME_ERR_FORMAT, "'%s/%s' %s", r->folder, name, message);
    g_free(message);
}

/* Copies the values first ... end - 1 that are in a chunk to `data`. */
static bool read_chunk(reading *r, const uint64_t index[], const char *name, char *data, uint64_t first, uint64_t end)
{
    const dome_zarr *z = &r->zarr;
    const void *found;
    uint64_t bytes, most = dome__zarr_most_bytes(z);
    char *message;
    if (!dome__shared_get(&r->file, name, most, &found, &bytes))
        return false;
    if (!found && bytes > 0) {
        note_chunk(r, name, g_strdup_printf("has %" PRIu64 " bytes, more than the %" PRIu64 " of a chunk", bytes, most));
    } else if (found && !z->ncodecs && bytes != z->chunk_bytes) {
        note_chunk(
            r, name,
            g_strdup_printf("is truncated: it has %" PRIu64 " of the %" PRIu64 " bytes of a chunk", bytes, z->chunk_bytes));
    } else if (found && z->ncodecs) {
        if (!r->chunk)
            r->chunk = g_try_malloc((gsize)z->chunk_bytes);
        if (!r->chunk)
            dome__shared_note(&r->file, DOME_ERR_MEMORY, "no memory for chunks of '%s'", r->folder);
        else if (!dome__zarr_decode(z, r->chunk, found, bytes, &message))
            note_chunk(r, name, message);
        found = r->chunk;
    }
    if (!r->file.status)
        dome__zarr_unpack(z, index, r->x->type, data, first, end, found);
    return !r->file.status;
}

static void read_chunks(reading *r)
{
    const dvec *x = r->x;
    dome_span spans[2];
    char *data = x->data;
    int nspans = dvec__spans_of(x, x->env->rank, spans);
    for (int s = 0; s < nspans; s++) {
        dome_zarr_walk walk;
        uint64_t first = spans[s].first * x->width, end = first + spans[s].count * x->width;
        bool good = true;
        for (bool more = dome__zarr_first_chunk(&r->zarr, &walk, first, end); more && good;
             more = dome__zarr_next_chunk(&r->zarr, &walk)) {
            char *name = dome__zarr_chunk_name(&r->zarr, walk.index);
            good = read_chunk(r, walk.index, name, data, first, end);
            g_free(name);
        }
        data += spans[s].count * DVEC_ELEMENT(x);
    }
}

static int read_all(reading *r, const char *name, const dvec_options *options)
{
    dome_shared_file *f = &r->file;
    bool rank0 = f->env->rank == 0;
    uint64_t version = rank0 ? (uint64_t)find_version(r) : 0;
    int status = dome__shared_agree(f);
    if (status)
        return status;
    int failed = dome__bcast(f->env->transport, 0, DOME_U64, &version, 1);
    if (failed)
        return dome__fail_transport(f->env, failed);
    char *path = g_build_filename(r->folder, dome__zarr_metadata_name((int)version), NULL);
    f->path = path;
    if (rank0)
        open_first(r, (int)version);
    status = dome__shared_agree(f);
    if (!status)
        status = share_metadata(r, (int)version);
    if (!status) {
        r->x = dome__file_vector(f, &r->zarr.array, name, options);
        status = r->x ? dome__shared_find(f) : (int)dome_error_status(f->env);
    }
    if (!status) {
        read_chunks(r);
        status = dome__shared_finish(f);
    }
    if (!status) { /* chunks of an array that is replaced meanwhile would look like chunks that are not there */
        if (rank0)
            dome__shared_unchanged(f);
        status = dome__shared_agree(f);
    }
    f->path = r->folder;
    g_free(path);
    return status;
}

static dvec *read_zarr(dome_env *env, const char *name, const char *path, const dvec_options *options)
{
    reading r = {.folder = trimmed(path)};
    dome__shared_begin(&r.file, env, r.folder);
    int status = read_all(&r, name, options);
    if (status && r.x) {
        dome_object_free(r.x->object);
        r.x = NULL;
    }
    dome__shared_end(&r.file);
    dome__zarr_clear(&r.zarr);
    g_free(r.folder);
    g_free(r.text);
    g_free(r.chunk);
    return r.x;
}

const dome_file_format dome__zarr_format = {takes, write_as_usual, read_zarr};
