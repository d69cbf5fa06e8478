/* Vectors as data sets of HDF5 files. A contiguous data set is values in a row, at an offset that libhdf5 knows: rank 0 asks it,
 * and then every task reads or writes its own part as in any other file. */
#include "files/hdf5.h"
#include "files/npy.h"
#include "io/file_formats.h"
#include "system/io.h"
#include "transport/agree.h"
#include "transport/collective.h"
#include "transport/transport.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* "FILE.h5:/dataset" */
typedef struct place {
    char *file, *set; /* set with its first '/'; NULL if the path names none */
} place;

static const char *const suffixes[] = {".h5", ".hdf5"};

static place place_of(const char *path)
{
    place p = {0};
    const char *colon = NULL;
    for (size_t i = 0; i < G_N_ELEMENTS(suffixes); i++) {
        char *mark = g_strconcat(suffixes[i], ":/", NULL), *found = strstr(path, mark);
        if (found && (!colon || found < colon))
            colon = found + strlen(suffixes[i]);
        g_free(mark);
    }
    p.file = colon ? g_strndup(path, (gsize)(colon - path)) : g_strdup(path);
    p.set = colon && !g_str_has_suffix(colon, "/") ? g_strdup(colon + 1) : NULL;
    return p;
}

static void free_place(place *p)
{
    g_free(p->file);
    g_free(p->set);
}

static bool takes(const char *path)
{
    for (size_t i = 0; i < G_N_ELEMENTS(suffixes); i++) {
        char *mark = g_strconcat(suffixes[i], ":/", NULL);
        bool found = strstr(path, mark) || g_str_has_suffix(path, suffixes[i]);
        g_free(mark);
        if (found)
            return true;
    }
    return false;
}

static int check_place(dome_env *env, const place *p)
{
    return p->set ? DOME_OK
                  : dome__fail(env, DOME_ERR_ARGUMENT, "no data set of '%s' is named, as in '%s:/name'", p->file, p->file);
}

/* ---- reading ---- */

/* The state of a task that reads a scattered data set. */
typedef struct reader {
    const place *place;
    const dome_file_item *item;
    dome_hdf5_isolated *open; /* NULL: nothing has been read yet */
} reader;

static bool read_scattered(dome_shared_file *f, uint64_t offset, void *data, uint64_t bytes)
{
    reader *r = f->context;
    char *message = NULL;
    if (!r->open)
        r->open = dome__hdf5_begin_reading(r->place->file, r->place->set, r->item, &message);
    if (r->open && dome__hdf5_read(r->open, offset, data, bytes, &message))
        return true;
    dome__shared_note_format(f, message);
    return false;
}

/* On rank 0: opens the file, and describes the data set in the form of a .npy header, which all tasks parse. */
static char *describe(dome_shared_file *f, const place *p, dome_npy *npy, uint64_t *offset)
{
    char *message = NULL;
    dome_hdf5_set found = {.offset = *offset};
    if (!dome__shared_open(f))
        return NULL;
    if (f->bytes == 0)
        message = g_strdup("is empty");
    else
        dome__hdf5_describe(p->file, f->bytes, p->set, &found, &message);
    npy->header_bytes = found.header_bytes;
    *offset = found.offset;
    if (message)
        dome__shared_note_format(f, message);
    else
        dome__shared_unchanged(f); /* libhdf5 has opened it by its name */
    return found.header;
}

static int share_description(dome_shared_file *f, const place *p, dome_npy *npy, uint64_t *offset)
{
    bool first = f->env->rank == 0;
    char *header = first ? describe(f, p, npy, offset) : NULL;
    int status = dome__shared_agree(f);
    int failed = status ? 0 : dome__bcast(f->env->transport, 0, DOME_U64, offset, 1);
    if (failed)
        status = dome__fail_transport(f->env, failed);
    if (!status)
        status = dome__file_share_header(f, npy, &header);
    g_free(header);
    return status;
}

/* libhdf5 has opened the file by its name in each task. Collective; returns a status. */
static int agree_on_end(dome_shared_file *f)
{
    if (f->env->rank == 0)
        dome__shared_unchanged(f);
    return dome__shared_agree(f);
}

static dvec *read_set(dome_env *env, const char *name, const place *p, const dvec_options *options)
{
    dome_shared_file f;
    dome_npy npy = {0};
    reader r = {.place = p, .item = &npy.array.item};
    uint64_t offset = 0;
    dvec *x = NULL;
    dome__shared_begin(&f, env, p->file);
    if (share_description(&f, p, &npy, &offset) == DOME_OK)
        x = dome__file_vector(&f, &npy.array, name, options);
    bool scattered = offset == DOME_HDF5_SCATTERED;
    if (scattered) {
        f.read = read_scattered;
        f.context = &r;
        offset = 0;
    }
    if (x && (dome__file_read_values(&f, x, &npy.array.item, offset) || (scattered && agree_on_end(&f)))) {
        dome_object_free(x->object);
        x = NULL;
    }
    dome__hdf5_end_reading(r.open);
    dome__shared_end(&f);
    dome__npy_clear(&npy);
    return x;
}

static dvec *read_hdf5(dome_env *env, const char *name, const char *path, const dvec_options *options)
{
    place p = place_of(path);
    dvec *x = check_place(env, &p) ? NULL : read_set(env, name, &p, options);
    free_place(&p);
    return x;
}

/* ---- writing ---- */

static void note(dome_shared_file *f, char *message)
{
    dome__shared_note(f, DOME_ERR_IO, "'%s' %s", f->path, message);
    g_free(message);
}

/* A data set that is being added to an existing file. */
typedef struct adding {
    dome_hdf5_isolated *open;
    uint64_t before; /* length of the file */
} adding;

/* The file ends where it did, unless libhdf5 needs more, or may need it: without its end libhdf5 opens a file no more. */
static void shorten(dome_shared_file *f, uint64_t needed)
{
    const adding *a = f->context;
    struct stat s;
    if (fstat(f->fd, &s) < 0 || ftruncate(f->fd, (off_t)MIN((uint64_t)s.st_size, MAX(a->before, needed))) < 0)
        dome__shared_note_errno(f, "made as short as it was");
}

static void give_up(dome_shared_file *f)
{
    adding *a = f->context;
    uint64_t needed = dome__hdf5_take_back(a->open);
    a->open = NULL;
    shorten(f, needed);
}

/* Names the data set, whose values are on the disk, and drops the rest of the room. */
static void complete(dome_shared_file *f)
{
    adding *a = f->context;
    char *message = NULL;
    uint64_t needed;
    bool good = dome__hdf5_name(a->open, &needed, &message);
    a->open = NULL;
    if (!good) {
        note(f, message);
        shorten(f, needed);
    } else if (dome__shared_measure(f) && (ftruncate(f->fd, (off_t)f->bytes) < 0 || fsync(f->fd) < 0)) {
        dome__shared_note_errno(f, "written");
    }
}

/* Room behind the values that the library may need for its own data. */
static const uint64_t RESERVED_BYTES = 1 << 20;

/* There is room on the disk before libhdf5 changes the file. */
static void add_to_file(dome_shared_file *f, adding *a, const place *p, const dome_file_array *array, uint64_t *offset)
{
    char *message = NULL;
    uint64_t bytes = 0;
    dome__file_array_bytes(array, &bytes);
    if (!dome__shared_open_to_add(f) || !dome__shared_reserve(f, f->bytes + bytes + RESERVED_BYTES))
        return;
    a->before = f->bytes;
    f->context = a;
    a->open = dome__hdf5_add(p->file, p->set, array, offset, &message);
    if (!a->open) {
        note(f, message);
        shorten(f, *offset);
        return;
    }
    f->complete = complete;
    f->drop = give_up;
    dome__shared_measure(f);
}

/* Copies part of the file that libhdf5 has made to the new one. */
static void copy_part(dome_shared_file *f, int from, uint64_t begin, uint64_t end)
{
    char piece[4096];
    while (begin < end && !f->status) {
        const uint64_t n = MIN(end - begin, sizeof piece);
        if (dome__io_read_at(from, piece, n, begin) < n) {
            errno = errno ? errno : EIO;
            dome__shared_note_errno(f, "written");
            return;
        }
        dome__shared_write(f, begin, piece, n);
        begin += n;
    }
}

/* libhdf5 wants a file with a name, which would be left behind if the program ended now. So it makes one without values, of which
 * all but their place is copied to the new file. */
static void make_file(dome_shared_file *f, const place *p, const dome_file_array *array, uint64_t *offset)
{
    char *message = NULL;
    struct stat s;
    dome_new_file empty;
    uint64_t bytes = 0;
    dome__file_array_bytes(array, &bytes);
    if (dome__new_file_begin(&empty, p->file, 0600, true) < 0) {
        dome__shared_note_errno(f, "written");
        dome__new_file_end(&empty);
        return;
    }
    bool good = dome__hdf5_make(empty.hidden, p->set, array, offset, &message);
    if (!good)
        note(f, message);
    else if (fstat(empty.fd, &s) < 0)
        dome__shared_note_errno(f, "written");
    else if (dome__shared_make(f, (uint64_t)s.st_size)) {
        copy_part(f, empty.fd, 0, bytes ? *offset : (uint64_t)s.st_size);
        if (bytes)
            copy_part(f, empty.fd, *offset + bytes, (uint64_t)s.st_size);
    }
    dome__new_file_end(&empty);
}

/* On rank 0: a file that has nothing but this data set, or nothing at all, is replaced by a new one. */
static void begin_file(dome_shared_file *f, adding *a, const place *p, const dome_file_array *array, uint64_t *offset)
{
    char *message = NULL;
    struct stat s;
    uint64_t bytes;
    bool alone = true;
    if (!dome__file_array_bytes(array, &bytes) || bytes > INT64_MAX / 2)
        dome__shared_note(f, DOME_ERR_IO, "'%s' would be longer than any file can be", f->path);
    else if (stat(p->file, &s) == 0 && S_ISREG(s.st_mode) && s.st_size > 0 &&
             !dome__hdf5_is_alone(p->file, p->set, &alone, &message))
        note(f, message);
    else if (alone)
        make_file(f, p, array, offset);
    else
        add_to_file(f, a, p, array, offset);
}

static int write_set(const dvec *x, const place *p)
{
    dome_env *env = x->env;
    dome_shared_file f;
    dome_file_array array;
    adding a = {0};
    uint64_t shape[DOME_MAX_DIMENSIONS], offset = 0;
    dome__shared_begin(&f, env, p->file);
    dome__file_array_describe(&array, x->type, dvec__shape(x, shape), shape, x->width);
    if (env->rank == 0)
        begin_file(&f, &a, p, &array, &offset);
    int status = dome__shared_agree(&f);
    int failed = status ? 0 : dome__bcast(env->transport, 0, DOME_U64, &offset, 1);
    if (failed)
        status = dome__fail_transport(env, failed);
    if (!status)
        status = dome__file_write_values(&f, x, &array.item, offset);
    dome__shared_end(&f);
    dome__file_array_clear(&array);
    return status;
}

static int write_hdf5(const dvec *x, const char *path)
{
    place p = place_of(path);
    int status = check_place(x->env, &p);
    if (!status)
        status = write_set(x, &p);
    free_place(&p);
    return status;
}

const dome_file_format dome__hdf5_format = {takes, write_hdf5, read_hdf5};
