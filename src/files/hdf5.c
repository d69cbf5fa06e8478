#include "files/hdf5.h"

#include "files/isolated.h"
#include "files/npy.h"
#ifdef DOME_WITH_HDF5
#include "files/hdf5_library.h"
#endif

#include <glib.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

static bool refuse(char **message, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Sets the message, unless there is one. */
static bool refuse(char **message, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (!*message)
        *message = g_strdup_vprintf(format, args);
    va_end(args);
    return false;
}

#ifdef DOME_WITH_HDF5

enum { DEPTH = 16, NAMES_SHOWN = 8, OBJECTS_SEEN = 1000, TEXT_SHOWN = 160 };

/* Values of a new data set begin at a multiple of this, as pages do. */
enum { ALIGNMENT = 4096 };

/* For chunks that several reads touch. */
static const size_t CHUNK_CACHE = 128 << 20;

/* An open file with one of its data sets, in the process that has opened it. */
typedef struct dome_hdf5 {
    hid_t file, set;
    char *path; /* of the data set */
    int ndim;
    hsize_t dims[H5S_MAX_RANK];
    size_t item_bytes;
} dome_hdf5;

/* Encloses all use of the library in a function: it prints nothing meanwhile. */
#define QUIETLY(...)                                                                                                             \
    do {                                                                                                                         \
        dome_hdf5_quiet quiet_;                                                                                                  \
        dome__hdf5_quiet_begin(&quiet_);                                                                                         \
        __VA_ARGS__;                                                                                                             \
        dome__hdf5_quiet_end(&quiet_);                                                                                           \
    } while (0)

/* ---- failures ---- */

/* Text from a file in a message of one line. */
static void append_shown(GString *out, const char *text)
{
    for (size_t i = 0; text[i] && i < TEXT_SHOWN; i++)
        g_string_append_c(out, g_ascii_iscntrl(text[i]) ? '?' : text[i]);
}

static herr_t first_reason(unsigned n, const H5E_error2_t *error, void *ctx)
{
    GString *text = ctx;
    (void)n;
    if (text->len == 0 && error->desc)
        append_shown(text, error->desc);
    return 0;
}

/* Fails with the library's own reason, after `what`. */
static bool failed(char **message, const char *what)
{
    GString *text = g_string_new(NULL);
    dome__h5.H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, first_reason, text);
    if (strstr(text->str, "unable to lock"))
        refuse(message, "is in use by another program: HDF5 cannot lock it");
    else if (strstr(text->str, "truncated file"))
        refuse(message, "is truncated: it is shorter than it says");
    else
        refuse(message, "%s: %s", what, text->len ? text->str : "HDF5 gives no reason");
    g_string_free(text, TRUE);
    return false;
}

/* ---- opening ---- */

static dome_hdf5 *new_handle(const char *set)
{
    dome_hdf5 *h = g_new0(dome_hdf5, 1);
    h->file = h->set = -1;
    h->path = g_strdup(set);
    return h;
}

static bool close_all(dome_hdf5 *h)
{
    bool good = true;
    if (h->set >= 0)
        good = dome__h5.H5Dclose(h->set) >= 0;
    if (h->file >= 0)
        good = dome__h5.H5Fclose(h->file) >= 0 && good;
    g_free(h->path);
    g_free(h);
    return good;
}

static bool open_file(dome_hdf5 *h, const char *file, unsigned flags, char **message)
{
    htri_t known = dome__h5.H5Fis_hdf5(file);
    if (known == 0)
        return refuse(message, "is not an HDF5 file");
    h->file = dome__h5.H5Fopen(file, flags, H5P_DEFAULT);
    return h->file >= 0 || failed(message, "cannot be opened as an HDF5 file");
}

/* Names of data sets, up to NAMES_SHOWN of them. */
typedef struct names {
    GString *text;
    unsigned objects, sets;
} names;

static herr_t add_name(hid_t file, const char *name, const H5O_info_t *info, void *ctx)
{
    names *n = ctx;
    (void)file;
    if (info->type == H5O_TYPE_DATASET && n->sets++ < NAMES_SHOWN) {
        g_string_append(n->text, n->text->len ? ", '/" : "'/");
        append_shown(n->text, name);
        g_string_append_c(n->text, '\'');
    }
    return ++n->objects >= OBJECTS_SEEN;
}

static bool no_such_set(const dome_hdf5 *h, char **message)
{
    names n = {.text = g_string_new(NULL)};
    dome__h5.H5Ovisit2(h->file, H5_INDEX_NAME, H5_ITER_INC, add_name, &n, H5O_INFO_BASIC);
    if (n.sets > NAMES_SHOWN)
        g_string_append(n.text, ", ...");
    refuse(message, n.sets ? "has no data set '%s'; it has %s" : "has no data set '%s', nor any other", h->path, n.text->str);
    g_string_free(n.text, TRUE);
    return false;
}

/* The object that has the name, or -1. */
static hid_t object_at(const dome_hdf5 *h, const char *path)
{
    return dome__h5.H5Oopen(h->file, path, H5P_DEFAULT);
}

static bool check_is_set(const dome_hdf5 *h, hid_t object, char **message)
{
    H5I_type_t type = dome__h5.H5Iget_type(object);
    return type == H5I_DATASET ||
           refuse(message, "has a %s at '%s', not a data set", type == H5I_GROUP ? "group" : "type", h->path);
}

static bool open_set(dome_hdf5 *h, char **message)
{
    hid_t object = object_at(h, h->path);
    if (object < 0)
        return no_such_set(h, message);
    bool good = check_is_set(h, object, message);
    dome__h5.H5Oclose(object);
    if (!good)
        return false;
    hid_t access = dome__h5.H5Pcreate(*dome__h5.H5P_CLS_DATASET_ACCESS_ID_g);
    dome__h5.H5Pset_chunk_cache(access, 12421, CHUNK_CACHE, 1);
    h->set = dome__h5.H5Dopen2(h->file, h->path, access);
    dome__h5.H5Pclose(access);
    if (h->set < 0)
        return failed(message, "has a damaged data set");
    hid_t space = dome__h5.H5Dget_space(h->set), type = dome__h5.H5Dget_type(h->set);
    h->ndim = dome__h5.H5Sget_simple_extent_dims(space, h->dims, NULL);
    h->item_bytes = dome__h5.H5Tget_size(type);
    bool known = h->ndim >= 0 && h->item_bytes > 0;
    dome__h5.H5Sclose(space);
    dome__h5.H5Tclose(type);
    return known || failed(message, "has a damaged data set");
}

static dome_hdf5 *open_to_read(const char *file, const char *set, char **message)
{
    dome_hdf5 *h = new_handle(set);
    if (open_file(h, file, H5F_ACC_RDONLY, message) && open_set(h, message))
        return h;
    close_all(h);
    return NULL;
}

static dome_hdf5 *open_quietly(const char *file, const char *set, char **message)
{
    dome_hdf5 *h;
    *message = NULL;
    if (!dome__hdf5_load(message))
        return NULL;
    QUIETLY(h = open_to_read(file, set, message));
    return h;
}

/* ---- types in files ---- */

static bool cannot_hold(const dome_hdf5 *h, const char *what, char **message)
{
    return refuse(message, "has %s in '%s', which no type of Dome's can hold", what, h->path);
}

static bool describe_integer(const dome_hdf5 *h, hid_t type, dome_file_item *item, char **message)
{
    static const dome_type_kind kinds[2][4] = {{DOME_KIND_U8, DOME_KIND_U16, DOME_KIND_U32, DOME_KIND_U64},
                                               {DOME_KIND_I8, DOME_KIND_I16, DOME_KIND_I32, DOME_KIND_I64}};
    H5T_order_t order = dome__h5.H5Tget_order(type);
    H5T_sign_t sign = dome__h5.H5Tget_sign(type);
    for (unsigned k = 0; k < 4; k++)
        if (item->bytes == UINT64_C(1) << k && dome__h5.H5Tget_precision(type) == 8u << k &&
            (sign == H5T_SGN_2 || sign == H5T_SGN_NONE) && (order == H5T_ORDER_LE || order == H5T_ORDER_BE)) {
            item->kind = kinds[sign == H5T_SGN_2][k];
            item->big_endian = order == H5T_ORDER_BE;
            return true;
        }
    return cannot_hold(h, "integers of an unusual form", message);
}

static bool describe_float(const dome_hdf5 *h, hid_t type, dome_file_item *item, char **message)
{
    const hid_t known[] = {*dome__h5.H5T_IEEE_F32LE_g, *dome__h5.H5T_IEEE_F32BE_g, *dome__h5.H5T_IEEE_F64LE_g,
                           *dome__h5.H5T_IEEE_F64BE_g};
    for (unsigned k = 0; k < G_N_ELEMENTS(known); k++)
        if (dome__h5.H5Tequal(type, known[k]) > 0) {
            item->kind = k < 2 ? DOME_KIND_F32 : DOME_KIND_F64;
            item->big_endian = k % 2;
            return true;
        }
    return cannot_hold(h, item->bytes == 2 ? "floating-point numbers of 2 bytes" : "floating-point numbers of an unusual form",
                       message);
}

static bool describe_type(const dome_hdf5 *h, hid_t type, dome_file_item *item, int depth, char **message);

/* Whether an enumeration of 1 byte has the names that h5py gives to NumPy's bool. */
static bool is_bool(hid_t type)
{
    static const char *const expected[] = {"FALSE", "TRUE"};
    bool good = dome__h5.H5Tget_size(type) == 1 && dome__h5.H5Tget_nmembers(type) == 2;
    for (unsigned k = 0; k < 2 && good; k++) {
        int8_t value = -1;
        char *name = dome__h5.H5Tget_member_name(type, k);
        good = dome__h5.H5Tget_member_value(type, k, &value) >= 0 && value == (int8_t)k && !g_strcmp0(name, expected[k]);
        dome__h5.H5free_memory(name);
    }
    return good;
}

static bool describe_enumeration(const dome_hdf5 *h, hid_t type, dome_file_item *item, char **message)
{
    hid_t base = dome__h5.H5Tget_super(type);
    bool good = base >= 0 && describe_integer(h, base, item, message);
    if (base >= 0)
        dome__h5.H5Tclose(base);
    if (good && is_bool(type))
        item->kind = DOME_KIND_U8;
    return good || failed(message, "has a damaged type");
}

/* A field of a structure. A field that is an array has a count. */
static bool describe_field(const dome_hdf5 *h, hid_t type, dome_file_item *item, int depth, char **message)
{
    item->count = 1;
    if (dome__h5.H5Tget_class(type) != H5T_ARRAY)
        return describe_type(h, type, item, depth, message);
    hsize_t dims[H5S_MAX_RANK];
    hid_t base = dome__h5.H5Tget_super(type);
    int ndim = dome__h5.H5Tget_array_ndims(type);
    bool good = base >= 0 && depth < 2 * DEPTH && ndim > 0 && ndim <= H5S_MAX_RANK &&
                dome__h5.H5Tget_array_dims2(type, dims) >= 0 && describe_field(h, base, item, depth + 1, message);
    for (int d = 0; d < ndim && good; d++)
        good = !__builtin_mul_overflow(item->count, dims[d], &item->count);
    if (base >= 0)
        dome__h5.H5Tclose(base);
    return good || failed(message, "has a damaged type");
}

/* Complex numbers are structures of two equal floating-point numbers, r and i, to h5py. */
static bool is_complex(dome_file_item *item)
{
    const dome_file_item *f = item->fields;
    if (item->nfields != 2 || strcmp(f[0].name, "r") != 0 || strcmp(f[1].name, "i") != 0 || f[0].kind != f[1].kind ||
        f[0].big_endian != f[1].big_endian || (f[0].kind != DOME_KIND_F32 && f[0].kind != DOME_KIND_F64) || f[0].count != 1 ||
        f[1].count != 1 || f[0].offset != 0 || f[1].offset != f[0].bytes || item->bytes != 2 * f[0].bytes)
        return false;
    item->kind = f[0].kind == DOME_KIND_F32 ? DOME_KIND_C64 : DOME_KIND_C128;
    item->big_endian = f[0].big_endian;
    for (size_t i = 0; i < 2; i++)
        dome__item_clear(&item->fields[i]);
    g_clear_pointer(&item->fields, g_free);
    item->nfields = 0;
    return true;
}

static int by_offset(const void *a, const void *b)
{
    const dome_file_item *x = a, *y = b;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static bool describe_structure(const dome_hdf5 *h, hid_t type, dome_file_item *item, int depth, char **message)
{
    int count = dome__h5.H5Tget_nmembers(type);
    if (depth >= DEPTH)
        return cannot_hold(h, "structures nested too deeply", message);
    if (count <= 0)
        return failed(message, "has a damaged type");
    item->kind = DOME_KIND_STRUCT;
    item->fields = g_new0(dome_file_item, (gsize)count);
    bool good = true;
    for (unsigned k = 0; k < (unsigned)count && good; k++) {
        dome_file_item *f = &item->fields[item->nfields++];
        hid_t member = dome__h5.H5Tget_member_type(type, k);
        char *name = dome__h5.H5Tget_member_name(type, k);
        f->name = g_strdup(name ? name : "");
        dome__h5.H5free_memory(name);
        f->offset = dome__h5.H5Tget_member_offset(type, k);
        good = member >= 0 && describe_field(h, member, f, depth + 1, message);
        if (member >= 0)
            dome__h5.H5Tclose(member);
    }
    qsort(item->fields, item->nfields, sizeof *item->fields, by_offset);
    if (good)
        is_complex(item);
    return good || failed(message, "has a damaged type");
}

static bool describe_type(const dome_hdf5 *h, hid_t type, dome_file_item *item, int depth, char **message)
{
    item->count = 1;
    item->bytes = dome__h5.H5Tget_size(type);
    switch (dome__h5.H5Tget_class(type)) {
    case H5T_INTEGER:
        return describe_integer(h, type, item, message);
    case H5T_FLOAT:
        return describe_float(h, type, item, message);
    case H5T_ENUM:
        return describe_enumeration(h, type, item, message);
    case H5T_COMPOUND:
        return describe_structure(h, type, item, depth, message);
    case H5T_STRING:
        return cannot_hold(h, "strings", message);
    case H5T_VLEN:
        return cannot_hold(h, "values of variable length", message);
    case H5T_ARRAY:
        return cannot_hold(h, "arrays as single values", message);
    case H5T_REFERENCE:
        return cannot_hold(h, "references", message);
    case H5T_OPAQUE:
        return cannot_hold(h, "raw bytes without a type", message);
    case H5T_BITFIELD:
        return cannot_hold(h, "bit fields", message);
    case H5T_TIME:
        return cannot_hold(h, "times", message);
    default:
        return failed(message, "has a damaged type");
    }
}

/* ---- describing ---- */

static bool describe_shape(const dome_hdf5 *h, dome_file_array *array, char **message)
{
    hid_t space = dome__h5.H5Dget_space(h->set);
    H5S_class_t kind = dome__h5.H5Sget_simple_extent_type(space);
    dome__h5.H5Sclose(space);
    if (kind != H5S_SIMPLE || h->ndim == 0)
        return refuse(message, "has %s in '%s', not a vector", kind == H5S_NULL ? "nothing" : "a single value without dimensions",
                      h->path);
    for (int d = 0; d < h->ndim; d++)
        if (!dome__file_array_add(array, h->dims[d]))
            return refuse(message, "has a shape of more than 2^64 values in '%s'", h->path);
    return array->width > 0 || refuse(message, "has elements without values in '%s'", h->path);
}

/* Whether the data set is in this file, and not reached by a link into another. */
static bool in_this_file(const dome_hdf5 *h)
{
    H5O_info_t file, set;
    return dome__h5.H5Oget_info2(h->file, &file, H5O_INFO_BASIC) >= 0 &&
           dome__h5.H5Oget_info2(h->set, &set, H5O_INFO_BASIC) >= 0 && file.fileno == set.fileno;
}

static uint64_t offset_of(const dome_hdf5 *h)
{
    uint64_t offset = DOME_HDF5_SCATTERED;
    hid_t list = dome__h5.H5Dget_create_plist(h->set);
    if (list < 0)
        return offset;
    H5D_space_status_t space; /* H5Dget_offset does not say reliably whether there is any */
    if (dome__h5.H5Pget_layout(list) == H5D_CONTIGUOUS && dome__h5.H5Pget_external_count(list) == 0 && in_this_file(h) &&
        dome__h5.H5Dget_space_status(h->set, &space) >= 0 && space == H5D_SPACE_STATUS_ALLOCATED) {
        haddr_t address = dome__h5.H5Dget_offset(h->set);
        if (address != HADDR_UNDEF)
            offset = address;
    }
    dome__h5.H5Pclose(list);
    return offset;
}

static bool describe(const dome_hdf5 *h, dome_file_array *array, uint64_t *offset, char **message)
{
    hid_t type = dome__h5.H5Dget_type(h->set);
    bool good = type >= 0 ? describe_type(h, type, &array->item, 0, message) : failed(message, "has a damaged type");
    if (type >= 0)
        dome__h5.H5Tclose(type);
    *offset = offset_of(h);
    return good && describe_shape(h, array, message);
}

/* ---- looking at files that may be damaged ---- */

/* The question about a file to a process of its own, and its answer: a head, followed by the description or the message. */
typedef struct question {
    const char *file, *set;
    const dome_file_array *array;
    const dome_file_item *item;
    uint64_t file_bytes, offset, bytes;
} question;

typedef struct answer {
    uint64_t good, number, bytes;
} answer;

static void *answer_with(bool good, uint64_t number, void *text, uint64_t text_bytes, size_t *bytes)
{
    answer head = {good, number, text ? text_bytes : 0};
    *bytes = sizeof head + (size_t)head.bytes;
    char *all = g_malloc(*bytes);
    memcpy(all, &head, sizeof head);
    if (head.bytes)
        memcpy(all + sizeof head, text, (size_t)head.bytes);
    return all;
}

static bool no_process(char **message)
{
    return refuse(message, "needs a process of its own for libhdf5, which cannot be started: %s", g_strerror(errno));
}

/* The other process's answer: bytes, or why it has none. */
typedef struct raw_answer {
    char *all;
    size_t bytes;
    const char *reason;
} raw_answer;

/* Takes an answer apart, and sets *text to what follows the head, with a zero byte. */
static bool take_answer(raw_answer raw, const question *q, answer *head, char **text, char **message)
{
    char *all = raw.all;
    const size_t bytes = raw.bytes;
    if (!all)
        return refuse(message, "is damaged: libhdf5, in a process of its own, %s on it", raw.reason);
    answer found = {0};
    if (bytes >= sizeof found)
        memcpy(&found, all, sizeof found);
    if (bytes < sizeof found || found.bytes != bytes - sizeof found || (found.good && q->bytes && found.bytes != q->bytes)) {
        g_free(all); /* a damaged file has damaged the process, too */
        return refuse(message, "is damaged: libhdf5, in a process of its own, crashes on it");
    }
    *head = found;
    *text = g_malloc0((gsize)head->bytes + 1);
    memcpy(*text, all + sizeof *head, (size_t)head->bytes);
    g_free(all);
    if (head->good)
        return true;
    *message = *text;
    *text = NULL;
    return false;
}

static bool ask(void *(*function)(void *ctx, size_t *bytes), question *q, answer *head, char **text, char **message)
{
    raw_answer raw = {0};
    raw.all = dome__isolated_call(function, q, &raw.bytes, &raw.reason);
    return raw.all || raw.reason ? take_answer(raw, q, head, text, message) : no_process(message);
}

/* A process that is asked several things about one file; `open` is the file there. */
struct dome_hdf5_isolated {
    dome_isolated_process *process;
    question question;
    dome_hdf5 *open;
};

static dome_hdf5_isolated *begin_isolated(dome_isolated_function function, const question *q, char **message)
{
    *message = NULL;
    if (!dome__hdf5_load(message))
        return NULL;
    dome_hdf5_isolated *h = g_new0(dome_hdf5_isolated, 1);
    h->question = *q;
    h->process = dome__isolated_begin(function, h);
    if (h->process)
        return h;
    no_process(message);
    g_free(h);
    return NULL;
}

static bool ask_again(dome_hdf5_isolated *h, const question *q, answer *head, char **text, char **message)
{
    raw_answer raw = {0};
    *message = NULL;
    raw.all = dome__isolated_ask(h->process, q, sizeof *q, &raw.bytes, &raw.reason);
    return take_answer(raw, q, head, text, message);
}

static void end_isolated(dome_hdf5_isolated *h)
{
    dome__isolated_end(h->process);
    g_free(h);
}

static bool check_length(const question *q, const dome_file_array *array, uint64_t offset, char **message)
{
    uint64_t bytes;
    bool fits = offset == DOME_HDF5_SCATTERED ||
                (dome__file_array_bytes(array, &bytes) && offset <= q->file_bytes && bytes <= q->file_bytes - offset);
    return fits || refuse(message, "is truncated: it ends at byte %" PRIu64 ", within the values of '%s'", q->file_bytes, q->set);
}

static void *look(void *ctx, size_t *bytes)
{
    const question *q = ctx;
    dome_npy npy = {0};
    uint64_t offset = 0;
    char *header = NULL, *message = NULL;
    dome_hdf5 *h = open_quietly(q->file, q->set, &message);
    bool good = false;
    if (h)
        QUIETLY(good = describe(h, &npy.array, &offset, &message));
    good = good && check_length(q, &npy.array, offset, &message);
    if (good)
        header = dome__npy_header(&npy);
    return good ? answer_with(true, offset, header, npy.header_bytes, bytes)
                : answer_with(false, 0, message, message ? strlen(message) : 0, bytes);
}

bool dome__hdf5_describe(const char *file, uint64_t file_bytes, const char *set, dome_hdf5_set *found, char **message)
{
    answer head = {0};
    *message = NULL;
    if (!dome__hdf5_load(message) ||
        !ask(look, &(question){.file = file, .set = set, .file_bytes = file_bytes}, &head, &found->header, message))
        return false;
    found->offset = head.number;
    found->header_bytes = head.bytes;
    return true;
}

/* ---- reading ---- */

/* The largest box of the array that begins with value `first` and has the values that follow it, at most `most`. Returns their
 * number. */
static uint64_t next_box(const dome_hdf5 *h, uint64_t first, uint64_t most, hsize_t start[], hsize_t count[])
{
    uint64_t stride = 1, rest = first;
    int along = h->ndim - 1;
    for (int d = h->ndim - 1; d >= 0; d--) { /* the first dimension of which whole steps fit */
        if (first % stride != 0 || stride > most)
            break;
        along = d;
        stride *= h->dims[d];
    }
    stride = 1;
    for (int d = h->ndim - 1; d >= 0; d--) {
        start[d] = rest % h->dims[d];
        rest /= h->dims[d];
        count[d] = d > along ? h->dims[d] : 1;
        if (d > along)
            stride *= h->dims[d];
    }
    count[along] = MIN(most / stride, h->dims[along] - start[along]);
    return count[along] * stride;
}

/* A filter that libhdf5 lacks, by the name that it is known by, or by that in the file. */
static bool lacks_filter(const dome_hdf5 *h, H5Z_filter_t filter, const char *in_file, char **message)
{
    static const struct {
        H5Z_filter_t number;
        const char *name;
    } registered[] = {{H5Z_FILTER_DEFLATE, "gzip"},
                      {H5Z_FILTER_SZIP, "szip"},
                      {305, "lzo"},
                      {307, "bzip2"},
                      {32000, "lzf"},
                      {32001, "blosc"},
                      {32004, "lz4"},
                      {32008, "bitshuffle"},
                      {32013, "zfp"},
                      {32015, "zstd"},
                      {32017, "sz"},
                      {32026, "blosc2"}};
    GString *name = g_string_new(NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(registered); i++)
        if (registered[i].number == filter)
            g_string_append(name, registered[i].name);
    if (!name->len)
        append_shown(name, in_file);
    refuse(message,
           "needs the filter %s (number %d) for '%s', which libhdf5 does not have here: give the data set another compression, "
           "such as "
           "gzip, or name the folder of the filter's plugin in HDF5_PLUGIN_PATH",
           name->len ? name->str : "without a name", filter, h->path);
    g_string_free(name, TRUE);
    return false;
}

/* Why values cannot be read. A filter that is not there is named only now: chunks on which it had no effect do not need it. */
static bool unreadable(const dome_hdf5 *h, char **message)
{
    hid_t list = dome__h5.H5Dget_create_plist(h->set);
    int count = list >= 0 ? dome__h5.H5Pget_nfilters(list) : 0;
    failed(message, "cannot be read by HDF5"); /* the next calls forget the reason */
    for (unsigned i = 0; (int)i < count; i++) {
        char name[TEXT_SHOWN] = "";
        unsigned flags, config;
        size_t values = 0;
        H5Z_filter_t filter = dome__h5.H5Pget_filter2(list, i, &flags, &values, NULL, sizeof name, name, &config);
        name[sizeof name - 1] = 0;
        if (filter >= 0 && dome__h5.H5Zfilter_avail(filter) <= 0) {
            g_clear_pointer(message, g_free);
            lacks_filter(h, filter, name, message);
            break;
        }
    }
    if (list >= 0)
        dome__h5.H5Pclose(list);
    return false;
}

static bool read_values(const dome_hdf5 *h, uint64_t first, uint64_t left, char *to, char **message)
{
    hid_t type = dome__h5.H5Dget_type(h->set), space = dome__h5.H5Dget_space(h->set);
    bool good = type >= 0 && space >= 0;
    while (good && left > 0) {
        hsize_t start[H5S_MAX_RANK], count[H5S_MAX_RANK], taken = next_box(h, first, left, start, count);
        hid_t memory = dome__h5.H5Screate_simple(1, &taken, NULL);
        good = memory >= 0 && dome__h5.H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
               dome__h5.H5Dread(h->set, type, memory, space, H5P_DEFAULT, to) >= 0;
        if (!good)
            unreadable(h, message);
        if (memory >= 0)
            dome__h5.H5Sclose(memory);
        first += taken;
        left -= taken;
        to += taken * h->item_bytes;
    }
    if (type >= 0)
        dome__h5.H5Tclose(type);
    if (space >= 0)
        dome__h5.H5Sclose(space);
    return good || failed(message, "cannot be read by HDF5");
}

/* Whether the data set has so many values of this size: the file may have changed since it was looked at. */
static bool has_values(const dome_hdf5 *h, const dome_file_item *item, uint64_t values)
{
    uint64_t all = 1;
    for (int d = 0; d < h->ndim; d++)
        if (__builtin_mul_overflow(all, h->dims[d], &all))
            return false;
    return h->item_bytes == item->bytes && values <= all;
}

/* In the other process. The pointers of questions are its own: it is a copy of this one. */
static void *read_isolated(void *ctx, const void *asked, size_t asked_bytes, size_t *bytes)
{
    dome_hdf5_isolated *a = ctx;
    question q;
    char *message = NULL;
    memcpy(&q, asked, MIN(sizeof q, asked_bytes));
    if (!a->open)
        a->open = open_quietly(q.file, q.set, &message);
    char *values = g_malloc(q.bytes);
    bool good = a->open && (has_values(a->open, q.item, (q.offset + q.bytes) / q.item->bytes) ||
                            refuse(&message, "changes while it is read"));
    if (good)
        QUIETLY(good = read_values(a->open, q.offset / a->open->item_bytes, q.bytes / a->open->item_bytes, values, &message));
    void *all = good ? answer_with(true, 0, values, q.bytes, bytes)
                     : answer_with(false, 0, message, message ? strlen(message) : 0, bytes);
    g_free(values);
    g_free(message);
    return all;
}

dome_hdf5_isolated *dome__hdf5_begin_reading(const char *file, const char *set, const dome_file_item *item, char **message)
{
    return begin_isolated(read_isolated, &(question){.file = file, .set = set, .item = item}, message);
}

bool dome__hdf5_read(dome_hdf5_isolated *h, uint64_t offset, void *data, uint64_t bytes, char **message)
{
    answer head = {0};
    char *values = NULL;
    question q = h->question;
    q.offset = offset;
    q.bytes = bytes;
    if (!ask_again(h, &q, &head, &values, message))
        return false;
    memcpy(data, values, (size_t)bytes);
    g_free(values);
    return true;
}

void dome__hdf5_end_reading(dome_hdf5_isolated *h)
{
    if (h)
        end_isolated(h);
}

/* ---- writing ---- */

static hid_t basic_type(const dome_file_item *item)
{
    switch (item->kind) {
    case DOME_KIND_I8:
        return *dome__h5.H5T_STD_I8LE_g;
    case DOME_KIND_I16:
        return *dome__h5.H5T_STD_I16LE_g;
    case DOME_KIND_I32:
        return *dome__h5.H5T_STD_I32LE_g;
    case DOME_KIND_I64:
        return *dome__h5.H5T_STD_I64LE_g;
    case DOME_KIND_U8:
        return *dome__h5.H5T_STD_U8LE_g;
    case DOME_KIND_U16:
        return *dome__h5.H5T_STD_U16LE_g;
    case DOME_KIND_U32:
        return *dome__h5.H5T_STD_U32LE_g;
    case DOME_KIND_U64:
        return *dome__h5.H5T_STD_U64LE_g;
    case DOME_KIND_F32:
    case DOME_KIND_C64:
        return *dome__h5.H5T_IEEE_F32LE_g;
    default:
        return *dome__h5.H5T_IEEE_F64LE_g;
    }
}

/* The type of little-endian items; -1 on failure. The caller closes it. */
static hid_t type_of(const dome_file_item *item)
{
    bool complex = item->kind == DOME_KIND_C64 || item->kind == DOME_KIND_C128;
    if (!complex && item->kind != DOME_KIND_STRUCT)
        return dome__h5.H5Tcopy(basic_type(item));
    hid_t type = dome__h5.H5Tcreate(H5T_COMPOUND, (size_t)item->bytes);
    bool good = type >= 0;
    if (complex) {
        good = good && dome__h5.H5Tinsert(type, "r", 0, basic_type(item)) >= 0 &&
               dome__h5.H5Tinsert(type, "i", (size_t)item->bytes / 2, basic_type(item)) >= 0;
    }
    for (size_t i = 0; i < item->nfields && good; i++) {
        const dome_file_item *f = &item->fields[i];
        hid_t one = type_of(f), field = one;
        if (one >= 0 && f->count != 1)
            field = dome__h5.H5Tarray_create2(one, 1, (hsize_t[]){f->count});
        good = field >= 0 && dome__h5.H5Tinsert(type, f->name, (size_t)f->offset, field) >= 0;
        if (field >= 0 && field != one)
            dome__h5.H5Tclose(field);
        if (one >= 0)
            dome__h5.H5Tclose(one);
    }
    if (!good && type >= 0) {
        dome__h5.H5Tclose(type);
        type = -1;
    }
    return type;
}

/* A property list for links that makes the groups of the path. */
static hid_t with_groups(void)
{
    hid_t list = dome__h5.H5Pcreate(*dome__h5.H5P_CLS_LINK_CREATE_ID_g);
    dome__h5.H5Pset_create_intermediate_group(list, 1);
    return list;
}

/* Makes the data set; without a name if `named` is false. Its bytes depend on the array alone. */
static bool make_set(dome_hdf5 *h, const dome_file_array *array, bool named, uint64_t *offset, char **message)
{
    hsize_t dims[DOME_MAX_DIMENSIONS];
    for (int d = 0; d < array->ndim; d++)
        dims[d] = array->shape[d];
    hid_t type = type_of(&array->item), space = dome__h5.H5Screate_simple(array->ndim, dims, NULL),
          list = dome__h5.H5Pcreate(*dome__h5.H5P_CLS_DATASET_CREATE_ID_g);
    dome__h5.H5Pset_layout(list, H5D_CONTIGUOUS);
    dome__h5.H5Pset_alloc_time(list, H5D_ALLOC_TIME_EARLY);
    dome__h5.H5Pset_fill_time(list, H5D_FILL_TIME_NEVER);
    dome__h5.H5Pset_obj_track_times(list, false);
    hid_t links = with_groups();
    if (type >= 0 && space >= 0)
        h->set = named ? dome__h5.H5Dcreate2(h->file, h->path, type, space, links, list, H5P_DEFAULT)
                       : dome__h5.H5Dcreate_anon(h->file, type, space, list, H5P_DEFAULT);
    if (h->set < 0)
        failed(message, "cannot hold this data set");
    dome__h5.H5Pclose(links);
    dome__h5.H5Pclose(list);
    if (type >= 0)
        dome__h5.H5Tclose(type);
    if (space >= 0)
        dome__h5.H5Sclose(space);
    if (h->set < 0)
        return false;
    haddr_t address = dome__h5.H5Dget_offset(h->set);
    *offset = address == HADDR_UNDEF ? 0 : address; /* a data set without values has no place */
    return address != HADDR_UNDEF || dome__h5.H5Dget_storage_size(h->set) == 0 ||
           failed(message, "has no place for this data set");
}

static bool make_file(const char *file, const char *set, const dome_file_array *array, uint64_t *offset, char **message)
{
    dome_hdf5 *h = new_handle(set);
    hid_t access = dome__h5.H5Pcreate(*dome__h5.H5P_CLS_FILE_ACCESS_ID_g);
    dome__h5.H5Pset_file_locking(access, false, true); /* nobody else knows the file, on which Dome has a lock */
    dome__h5.H5Pset_alignment(access, ALIGNMENT, ALIGNMENT);
    h->file = dome__h5.H5Fcreate(file, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    dome__h5.H5Pclose(access);
    bool good = (h->file >= 0 || failed(message, "cannot be written by HDF5")) && make_set(h, array, true, offset, message);
    return (close_all(h) || !good || failed(message, "cannot be written by HDF5")) && good;
}

static void *make_isolated(void *ctx, size_t *bytes)
{
    const question *q = ctx;
    uint64_t offset = 0;
    char *message = NULL;
    bool good;
    QUIETLY(good = make_file(q->file, q->set, q->array, &offset, &message));
    return answer_with(good, offset, message, message ? strlen(message) : 0, bytes);
}

bool dome__hdf5_make(const char *file, const char *set, const dome_file_array *array, uint64_t *offset, char **message)
{
    answer head = {0};
    char *text = NULL;
    *message = NULL;
    if (!dome__hdf5_load(message) ||
        !ask(make_isolated, &(question){.file = file, .set = set, .array = array}, &head, &text, message))
        return false;
    g_free(text);
    *offset = head.number;
    return true;
}

/* ---- adding to a file ---- */

static bool has_one_link(hid_t file, const char *name)
{
    char found[2] = "";
    H5G_info_t group;
    H5O_info_t root, set;
    if (dome__h5.H5Gget_info(file, &group) < 0 || group.nlinks != 1 ||
        dome__h5.H5Oget_info2(file, &root, H5O_INFO_BASIC | H5O_INFO_NUM_ATTRS) < 0 || root.num_attrs > 0)
        return false;
    ssize_t length = dome__h5.H5Lget_name_by_idx(file, ".", H5_INDEX_NAME, H5_ITER_INC, 0, found, sizeof found, H5P_DEFAULT);
    return length >= 0 && (size_t)length == strlen(name) && dome__h5.H5Lexists(file, name, H5P_DEFAULT) > 0 &&
           dome__h5.H5Oget_info_by_name2(file, name, &set, H5O_INFO_BASIC, H5P_DEFAULT) >= 0 && set.type == H5O_TYPE_DATASET &&
           set.rc == 1 && set.fileno == root.fileno;
}

static bool has_user_block(hid_t file)
{
    hsize_t bytes = 1;
    hid_t list = dome__h5.H5Fget_create_plist(file);
    bool known = list >= 0 && dome__h5.H5Pget_userblock(list, &bytes) >= 0;
    if (list >= 0)
        dome__h5.H5Pclose(list);
    return !known || bytes > 0;
}

static void *look_whether_alone(void *ctx, size_t *bytes)
{
    const question *q = ctx;
    char *message = NULL;
    bool good, alone = false;
    dome_hdf5 *h = new_handle(q->set);
    QUIETLY(good = open_file(h, q->file, H5F_ACC_RDONLY, &message);
            alone = good && has_one_link(h->file, q->set + 1) && !has_user_block(h->file));
    return answer_with(good, alone, message, message ? strlen(message) : 0, bytes);
}

bool dome__hdf5_is_alone(const char *file, const char *set, bool *alone, char **message)
{
    answer head = {0};
    char *text = NULL;
    *message = NULL;
    if (!dome__hdf5_load(message) || !ask(look_whether_alone, &(question){.file = file, .set = set}, &head, &text, message))
        return false;
    g_free(text);
    *alone = head.number != 0;
    return true;
}

/* Whether what stands before the last part of the name are groups, as far as there is anything. */
static bool are_groups(const dome_hdf5 *h, char **message)
{
    bool good = true;
    for (const char *slash = strchr(h->path + 1, '/'); slash && good; slash = strchr(slash + 1, '/')) {
        char *path = g_strndup(h->path, (gsize)(slash - h->path));
        hid_t object = object_at(h, path);
        good = object < 0 || dome__h5.H5Iget_type(object) == H5I_GROUP || refuse(message, "has no group at '%s'", path);
        if (object >= 0)
            dome__h5.H5Oclose(object);
        g_free(path);
    }
    return good;
}

/* Whether the name is free or that of a data set. */
static bool can_have_name(const dome_hdf5 *h, char **message)
{
    if (!are_groups(h, message))
        return false;
    hid_t object = object_at(h, h->path);
    if (object < 0)
        return true;
    bool good = check_is_set(h, object, message);
    dome__h5.H5Oclose(object);
    return good;
}

static dome_hdf5 *add(const char *file, const char *set, const dome_file_array *array, uint64_t *offset, char **message)
{
    dome_hdf5 *h = new_handle(set);
    if (open_file(h, file, H5F_ACC_RDWR, message) && can_have_name(h, message) && make_set(h, array, false, offset, message) &&
        (dome__h5.H5Fflush(h->file, H5F_SCOPE_LOCAL) >= 0 || failed(message, "cannot be written by HDF5")))
        return h; /* the end of the file is written before anything that refers to what lies before it */
    close_all(h);
    return NULL;
}

static uint64_t take_back(dome_hdf5 *h)
{
    haddr_t end = HADDR_UNDEF;
    dome__h5.H5Dclose(h->set);
    h->set = -1;
    const bool known = dome__h5.H5Fget_eoa(h->file, &end) >= 0 && end != HADDR_UNDEF;
    close_all(h);
    return known ? end : DOME_HDF5_UNKNOWN;
}

/* A data set that has the name keeps it until the new one is linked: it is moved to another name meanwhile. */
static bool give_name(dome_hdf5 *h, uint64_t *needed, char **message)
{
    hid_t links = with_groups();
    char *aside = g_strconcat(h->path, ".dome-old", NULL);
    hid_t object = object_at(h, h->path);
    bool replaces = object >= 0;
    if (replaces)
        dome__h5.H5Oclose(object);
    bool good = !replaces || dome__h5.H5Lmove(h->file, h->path, h->file, aside, H5P_DEFAULT, H5P_DEFAULT) >= 0;
    if (good && dome__h5.H5Olink(h->set, h->file, h->path, links, H5P_DEFAULT) < 0) {
        good = failed(message, "cannot hold this data set");
        if (replaces)
            dome__h5.H5Lmove(h->file, aside, h->file, h->path, H5P_DEFAULT, H5P_DEFAULT);
    } else if (good && replaces) {
        good = dome__h5.H5Ldelete(h->file, aside, H5P_DEFAULT) >= 0;
    }
    g_free(aside);
    dome__h5.H5Pclose(links);
    if (good)
        return close_all(h) || failed(message, "cannot be written by HDF5");
    failed(message, "cannot be written by HDF5");
    *needed = take_back(h);
    return false;
}

/* What the process that adds is asked: the number of a question tells. */
enum { TO_ADD, TO_NAME, TO_TAKE_BACK };

/* In the other process. */
static void *add_isolated(void *ctx, const void *asked, size_t asked_bytes, size_t *bytes)
{
    dome_hdf5_isolated *a = ctx;
    question q;
    uint64_t number = 0;
    char *message = NULL;
    bool good = true;
    memcpy(&q, asked, MIN(sizeof q, asked_bytes));
    if (q.offset == TO_ADD)
        QUIETLY(good = (a->open = add(q.file, q.set, q.array, &number, &message)) != NULL);
    else if (q.offset == TO_NAME)
        QUIETLY(number = DOME_HDF5_UNKNOWN; good = give_name(a->open, &number, &message));
    else
        QUIETLY(number = take_back(a->open));
    void *all = answer_with(good, number, message, message ? strlen(message) : 0, bytes);
    g_free(message);
    return all;
}

/* head->number stays DOME_HDF5_UNKNOWN if there is no answer. */
static bool ask_to(dome_hdf5_isolated *h, uint64_t what, answer *head, char **message)
{
    char *text = NULL;
    question q = h->question;
    q.offset = what;
    *head = (answer){.number = DOME_HDF5_UNKNOWN};
    bool good = ask_again(h, &q, head, &text, message);
    g_free(text);
    return good;
}

dome_hdf5_isolated *dome__hdf5_add(const char *file, const char *set, const dome_file_array *array, uint64_t *offset,
                                   char **message)
{
    answer head = {0};
    dome_hdf5_isolated *h = begin_isolated(add_isolated, &(question){.file = file, .set = set, .array = array}, message);
    const bool good = h && ask_to(h, TO_ADD, &head, message);
    *offset = good || head.number == DOME_HDF5_UNKNOWN ? head.number : 0;
    if (h && !good) {
        end_isolated(h);
        h = NULL;
    }
    return h;
}

uint64_t dome__hdf5_take_back(dome_hdf5_isolated *h)
{
    answer head = {0};
    char *message = NULL;
    ask_to(h, TO_TAKE_BACK, &head, &message);
    g_free(message);
    end_isolated(h);
    return head.number;
}

bool dome__hdf5_name(dome_hdf5_isolated *h, uint64_t *needed, char **message)
{
    answer head = {0};
    bool good = ask_to(h, TO_NAME, &head, message);
    *needed = head.number;
    end_isolated(h);
    return good;
}

#else /* without libhdf5 */

static bool without(char **message)
{
    *message = NULL;
    return refuse(message, "needs HDF5, without which this library was built");
}

bool dome__hdf5_describe(const char *file, uint64_t file_bytes, const char *set, dome_hdf5_set *found, char **message)
{
    (void)file, (void)file_bytes, (void)set, (void)found;
    return without(message);
}

dome_hdf5_isolated *dome__hdf5_begin_reading(const char *file, const char *set, const dome_file_item *item, char **message)
{
    (void)file, (void)set, (void)item, without(message);
    return NULL;
}

bool dome__hdf5_read(dome_hdf5_isolated *h, uint64_t offset, void *data, uint64_t bytes, char **message)
{
    (void)h, (void)offset, (void)data, (void)bytes;
    return without(message);
}

void dome__hdf5_end_reading(dome_hdf5_isolated *h)
{
    (void)h;
}

bool dome__hdf5_is_alone(const char *file, const char *set, bool *alone, char **message)
{
    (void)file, (void)set, (void)alone;
    return without(message);
}

bool dome__hdf5_make(const char *file, const char *set, const dome_file_array *array, uint64_t *offset, char **message)
{
    (void)file, (void)set, (void)array, (void)offset;
    return without(message);
}

dome_hdf5_isolated *dome__hdf5_add(const char *file, const char *set, const dome_file_array *array, uint64_t *offset,
                                   char **message)
{
    (void)file, (void)set, (void)array, (void)offset, without(message);
    return NULL;
}

uint64_t dome__hdf5_take_back(dome_hdf5_isolated *h)
{
    (void)h;
    return 0;
}

bool dome__hdf5_name(dome_hdf5_isolated *h, uint64_t *needed, char **message)
{
    (void)h, (void)needed;
    return without(message);
}

#endif
