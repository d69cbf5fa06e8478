/* Vectors as .npy files. */
#include "files/npy.h"
#include "io/file_formats.h"

static bool takes(const char *path)
{
    (void)path;
    return true;
}

/* ---- reading ---- */

/* On rank 0: opens the file and returns its header. */
static char *open_first(dome_shared_file *f, dome_npy *npy)
{
    char *message = NULL, start[DOME_NPY_START], *header = NULL;
    if (!dome__shared_open(f))
        return NULL;
    size_t bytes = (size_t)MIN(f->bytes, (uint64_t)DOME_NPY_START);
    if (!dome__shared_read(f, 0, start, bytes))
        return NULL;
    if (!dome__npy_start(start, bytes, &npy->header_bytes, &message)) {
        dome__shared_note_format(f, message);
        return NULL;
    }
    bytes = (size_t)MIN(npy->header_bytes, f->bytes);
    header = g_malloc(bytes);
    if (dome__shared_read(f, 0, header, bytes) &&
        (!dome__npy_parse(npy, header, bytes, &message) || !dome__npy_check_size(npy, f->bytes, &message)))
        dome__shared_note_format(f, message);
    return header;
}

static dvec *read_npy(dome_env *env, const char *name, const char *path, const dvec_options *options)
{
    dome_shared_file f;
    dome_npy npy = {0};
    dvec *x = NULL;
    dome__shared_begin(&f, env, path);
    char *header = env->rank == 0 ? open_first(&f, &npy) : NULL;
    int status = dome__shared_agree(&f);
    if (!status)
        status = dome__file_share_header(&f, &npy, &header);
    if (!status)
        x = dome__file_vector(&f, &npy.array, name, options);
    if (x && dome__file_read_values(&f, x, &npy.array.item, npy.header_bytes)) {
        dome_object_free(x->object);
        x = NULL;
    }
    g_free(header);
    dome__shared_end(&f);
    dome__npy_clear(&npy);
    return x;
}

/* ---- writing ---- */

/* On rank 0: makes the file, with its header. */
static void make_file(dome_shared_file *f, const dome_npy *npy, const char *header)
{
    uint64_t bytes;
    if (!dome__npy_file_bytes(npy, &bytes))
        dome__shared_note(f, DOME_ERR_IO, "'%s' would be longer than any file can be", f->path);
    else if (dome__shared_make(f, bytes))
        dome__shared_write(f, 0, header, npy->header_bytes);
}

static int write_npy(const dvec *x, const char *path)
{
    dome_shared_file f;
    dome_npy npy = {0};
    uint64_t shape[DOME_MAX_DIMENSIONS];
    dome__shared_begin(&f, x->env, path);
    dome__file_array_describe(&npy.array, x->type, dvec__shape(x, shape), shape, x->width);
    char *header = dome__npy_header(&npy);
    if (x->env->rank == 0)
        make_file(&f, &npy, header);
    g_free(header);
    int status = dome__file_write_values(&f, x, &npy.array.item, npy.header_bytes);
    dome__shared_end(&f);
    dome__npy_clear(&npy);
    return status;
}

const dome_file_format dome__npy_format = {takes, write_npy, read_npy};
