#include "files/npy.h"

#include "core/type_private.h"
#include "system/bytes.h"

#include <glib.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

static const char MAGIC[6] = {'\x93', 'N', 'U', 'M', 'P', 'Y'};

enum { ALIGNMENT = 64, DEPTH = 16 };

static const uint64_t HEADER_LIMIT = 16 << 20, ITEM_LIMIT = 1 << 30;

/* NumPy leaves room in the header for the first dimension to grow to this many digits. */
enum { GROWTH_DIGITS = 21 };

static bool refuse(char **message, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool refuse(char **message, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    *message = g_strdup_vprintf(format, args);
    va_end(args);
    return false;
}

void dome__npy_clear(dome_npy *npy)
{
    dome__file_array_clear(&npy->array);
    *npy = (dome_npy){0};
}

/* ---- the first bytes ---- */

bool dome__npy_start(const void *start, size_t bytes, uint64_t *header_bytes, char **message)
{
    const uint8_t *p = start;
    if (bytes < sizeof MAGIC || memcmp(p, MAGIC, sizeof MAGIC) != 0)
        return refuse(message, bytes == 0 ? "is empty" : "is not a .npy file");
    if (bytes < DOME_NPY_START)
        return refuse(message, "is truncated: it ends within its header");
    unsigned major = p[6], minor = p[7];
    if (major < 1 || major > 3 || minor != 0)
        return refuse(message, "has .npy version %u.%u, of which Dome knows nothing", major, minor);
    uint64_t text = major == 1 ? dome__get_le_u16(p + 8) : dome__get_le_u32(p + 8);
    *header_bytes = text + (major == 1 ? 10 : 12);
    if (*header_bytes > HEADER_LIMIT)
        return refuse(message, "has a header of %" PRIu64 " bytes, more than a .npy file needs", *header_bytes);
    if (*header_bytes < DOME_NPY_START)
        return refuse(message, "has an empty header");
    return true;
}

/* ---- a parser for the few Python literals that headers contain ---- */

typedef struct parser {
    const char *begin, *at, *end;
    bool utf8; /* or Latin-1 */
    char **message;
} parser;

/* Text from the file in a message: printable and not too long. */
static char *quoted(const char *text, size_t bytes)
{
    GString *s = g_string_new("'");
    for (size_t i = 0; i < bytes && i < 40; i++)
        g_string_append_c(s, g_ascii_isprint(text[i]) ? text[i] : '?');
    g_string_append(s, bytes > 40 ? "...'" : "'");
    return g_string_free(s, FALSE);
}

static bool expected(parser *p, const char *what)
{
    if (*p->message)
        return false;
    size_t left = (size_t)(p->end - p->at);
    char *found = left ? quoted(p->at, MIN(left, 12)) : g_strdup("the header ends");
    refuse(p->message, "has a damaged header: %s expected at byte %zu, but %s%s", what, (size_t)(p->at - p->begin),
           left ? "there is " : "", found);
    g_free(found);
    return false;
}

static void skip_space(parser *p)
{
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r'))
        p->at++;
}

/* Consumes the character c, if it is next. */
static bool take(parser *p, char c)
{
    skip_space(p);
    if (p->at == p->end || *p->at != c)
        return false;
    p->at++;
    return true;
}

static bool need(parser *p, char c)
{
    char what[] = {'\'', c, '\'', 0};
    return take(p, c) || expected(p, what);
}

static bool take_word(parser *p, const char *word)
{
    size_t bytes = strlen(word);
    skip_space(p);
    if ((size_t)(p->end - p->at) < bytes || memcmp(p->at, word, bytes) != 0)
        return false;
    p->at += bytes;
    return true;
}

static bool hex(parser *p, int digits, gunichar *value)
{
    *value = 0;
    for (int i = 0; i < digits; i++, p->at++) {
        if (p->at == p->end || !g_ascii_isxdigit(*p->at))
            return false;
        *value = *value * 16 + (gunichar)g_ascii_xdigit_value(*p->at);
    }
    return true;
}

static bool escape(parser *p, GString *text)
{
    static const char plain[] = "\\\\''\"\"n\nt\tr\r";
    gunichar value;
    if (p->at == p->end)
        return false;
    char c = *p->at++;
    for (size_t i = 0; i + 1 < sizeof plain; i += 2)
        if (plain[i] == c) {
            g_string_append_c(text, plain[i + 1]);
            return true;
        }
    if (c != 'x' && c != 'u' && c != 'U')
        return false;
    if (!hex(p, c == 'x' ? 2 : c == 'u' ? 4 : 8, &value) || value == 0 || !g_unichar_validate(value))
        return false;
    g_string_append_unichar(text, value);
    return true;
}

/* A string, as UTF-8. */
static bool string(parser *p, char **result)
{
    skip_space(p);
    const char *begin = p->at;
    if (p->at < p->end && *p->at == 'u')
        p->at++;
    if (p->at == p->end || (*p->at != '\'' && *p->at != '"')) {
        p->at = begin;
        return expected(p, "a string");
    }
    char quote = *p->at++;
    GString *text = g_string_new(NULL);
    bool good = true;
    while (good && p->at < p->end && *p->at != quote) {
        char c = *p->at++;
        if (c == '\\')
            good = escape(p, text);
        else if (c == '\0' || c == '\n')
            good = false;
        else if ((c & 0x80) && !p->utf8)
            g_string_append_unichar(text, (uint8_t)c);
        else
            g_string_append_c(text, c);
    }
    if (!good || p->at == p->end || !g_utf8_validate(text->str, (gssize)text->len, NULL)) {
        g_string_free(text, TRUE);
        p->at = begin;
        return expected(p, "a well-formed string");
    }
    p->at++;
    *result = g_string_free(text, FALSE);
    return true;
}

static bool integer(parser *p, uint64_t *result)
{
    skip_space(p);
    const char *begin = p->at;
    if (p->at == p->end || !g_ascii_isdigit(*p->at))
        return expected(p, "a number that is not negative");
    *result = 0;
    for (; p->at < p->end && g_ascii_isdigit(*p->at); p->at++)
        if (__builtin_mul_overflow(*result, 10u, result) || __builtin_add_overflow(*result, (uint64_t)(*p->at - '0'), result)) {
            p->at = begin;
            return expected(p, "a number below 2^64");
        }
    if (p->at < p->end && *p->at == 'L') /* written by Python 2 */
        p->at++;
    return true;
}

/* A tuple of numbers, as the shape of an array. */
static bool shape(parser *p, dome_file_array *array)
{
    unsigned count = 0;
    if (!need(p, '('))
        return false;
    while (!take(p, ')')) {
        uint64_t value;
        if (!integer(p, &value))
            return false;
        if (!dome__file_array_add(array, value))
            return refuse(p->message, "has a shape of more than 2^64 values");
        count++;
        if (take(p, ','))
            continue;
        if (count == 1)
            return expected(p, "','");
        if (!need(p, ')'))
            return false;
        break;
    }
    return true;
}

/* ---- dtypes ---- */

bool dome__npy_basic(const char *dtype, dome_file_item *item, bool *padding, char **message)
{
    static const struct {
        const char *code;
        dome_type_kind kind;
    } known[] = {{"b1", DOME_KIND_U8},   {"i1", DOME_KIND_I8},  {"i2", DOME_KIND_I16}, {"i4", DOME_KIND_I32},
                 {"i8", DOME_KIND_I64},  {"u1", DOME_KIND_U8},  {"u2", DOME_KIND_U16}, {"u4", DOME_KIND_U32},
                 {"u8", DOME_KIND_U64},  {"f4", DOME_KIND_F32}, {"f8", DOME_KIND_F64}, {"c8", DOME_KIND_C64},
                 {"c16", DOME_KIND_C128}};
    const char *code = dtype;
    char order = '|';
    *padding = false;
    if (*code && strchr("<>|=", *code))
        order = *code++;
    for (size_t i = 0; i < G_N_ELEMENTS(known); i++) {
        if (strcmp(code, known[i].code) != 0)
            continue;
        item->kind = known[i].kind;
        item->bytes = g_ascii_strtoull(code + 1, NULL, 10);
        item->big_endian = order == '>';
        if (item->bytes > 1 && order != '<' && order != '>')
            break;
        return true;
    }
    char *shown = quoted(dtype, strlen(dtype));
    const char *end = code + (*code != 0);
    while (g_ascii_isdigit(*end))
        end++;
    bool sized = *code && end > code + 1;
    if (*code == 'O') {
        refuse(message, "holds Python objects (dtype %s), which only Python can read", shown);
    } else if (*code == 'V' && sized && !*end) {
        if (strlen(code + 1) > 9 || (item->bytes = g_ascii_strtoull(code + 1, NULL, 10)) == 0)
            refuse(message, "holds raw bytes without a type (dtype %s)", shown);
        *padding = true;
    } else if (*code == 'U' || *code == 'S' || *code == 'a') {
        refuse(message, "holds strings (dtype %s), which no type of Dome's does", shown);
    } else if (*code == 'M' || *code == 'm') {
        refuse(message, "holds dates or times (dtype %s), which no type of Dome's does", shown);
    } else if (item->bytes > 1) {
        refuse(message, "does not say its order of bytes (dtype %s)", shown);
    } else if (*code && strchr("biufc", *code) && sized && !*end) {
        refuse(message, "has dtype %s, which no type of Dome's can hold", shown);
    } else {
        refuse(message, "has a dtype that means nothing: %s", shown);
    }
    g_free(shown);
    return *message == NULL;
}

static bool dtype(parser *p, dome_file_item *item, bool *padding, int depth);

static bool field_name(parser *p, char **name)
{
    char *title = NULL;
    if (!take(p, '('))
        return string(p, name);
    bool good = string(p, &title) && need(p, ',') && string(p, name) && need(p, ')');
    g_free(title);
    return good;
}

/* ('name', dtype) or ('name', dtype, shape) */
static bool field(parser *p, dome_file_item *item, bool *padding, int depth)
{
    if (!need(p, '(') || !field_name(p, &item->name) || !need(p, ',') || !dtype(p, item, padding, depth))
        return false;
    item->count = 1;
    if (!take(p, ','))
        return need(p, ')');
    if (take(p, ')'))
        return true;
    dome_file_array several = {.length = 1, .width = 1};
    skip_space(p);
    bool tuple = p->at < p->end && *p->at == '(';
    if (!(tuple ? shape(p, &several) : integer(p, &several.length)))
        return false;
    take(p, ',');
    if (!need(p, ')'))
        return false;
    if (__builtin_mul_overflow(several.length, several.width, &item->count) || item->count > ITEM_LIMIT)
        return refuse(p->message, "has elements that are too long");
    return item->count > 0 || refuse(p->message, "has a field of no values");
}

/* A list of fields. Padding appears in it as fields without a name. */
static bool structure(parser *p, dome_file_item *item, int depth)
{
    GArray *fields = g_array_new(FALSE, TRUE, sizeof(dome_file_item));
    GHashTable *names = g_hash_table_new(g_str_hash, g_str_equal);
    bool good = depth < DEPTH || refuse(p->message, "has structures nested too deeply");
    item->kind = DOME_KIND_STRUCT;
    item->bytes = 0;
    while (good && !take(p, ']')) {
        dome_file_item one = {0};
        bool padding = false;
        good = field(p, &one, &padding, depth + 1);
        if (good && !padding && !*one.name)
            good = refuse(p->message, "has a field without a name");
        if (good && padding && *one.name) {
            char *shown = quoted(one.name, strlen(one.name));
            good = refuse(p->message, "holds raw bytes without a type in field %s", shown);
            g_free(shown);
        }
        if (good && !padding && !g_hash_table_add(names, one.name)) {
            char *shown = quoted(one.name, strlen(one.name));
            good = refuse(p->message, "has two fields called %s", shown);
            g_free(shown);
        }
        one.offset = item->bytes;
        if (good) {
            item->bytes += one.count * one.bytes; /* both at most ITEM_LIMIT */
            good = item->bytes <= ITEM_LIMIT || refuse(p->message, "has elements that are too long");
        }
        if (good && !take(p, ',')) {
            skip_space(p);
            good = (p->at < p->end && *p->at == ']') || expected(p, "',' or ']'");
        }
        if (padding || (!good && !one.name))
            dome__item_clear(&one);
        else
            g_array_append_val(fields, one);
    }
    g_hash_table_destroy(names);
    item->nfields = fields->len;
    item->fields = (dome_file_item *)(void *)g_array_free(fields, FALSE);
    if (good && item->nfields == 0)
        return refuse(p->message, "has elements without fields");
    return good;
}

static bool dtype(parser *p, dome_file_item *item, bool *padding, int depth)
{
    *padding = false;
    if (take(p, '['))
        return structure(p, item, depth);
    char *text = NULL;
    if (!string(p, &text))
        return false;
    bool good = dome__npy_basic(text, item, padding, p->message);
    g_free(text);
    return good;
}

/* ---- headers ---- */

enum { DESCR = 1, ORDER = 2, SHAPE = 4, ALL_KEYS = 7 };

static bool entry(parser *p, dome_npy *npy, unsigned *keys)
{
    static const char *const names[] = {"descr", "fortran_order", "shape"};
    char *name = NULL;
    if (!string(p, &name))
        return false;
    unsigned key = 0;
    for (unsigned i = 0; i < G_N_ELEMENTS(names); i++)
        if (!strcmp(name, names[i]))
            key = 1u << i;
    if (!key || *keys & key) {
        char *shown = quoted(name, strlen(name));
        refuse(p->message, key ? "has a header with %s twice" : "has a header with %s, of which Dome knows nothing", shown);
        g_free(shown);
        g_free(name);
        return false;
    }
    g_free(name);
    *keys |= key;
    if (!need(p, ':'))
        return false;
    bool padding;
    switch (key) {
    case DESCR:
        if (!dtype(p, &npy->array.item, &padding, 0))
            return false;
        npy->array.item.count = 1;
        return !padding || refuse(p->message, "holds raw bytes without a type");
    case ORDER:
        if (take_word(p, "True"))
            return refuse(p->message, "is in Fortran order; numpy.ascontiguousarray gives one in C order");
        return take_word(p, "False") || expected(p, "True or False");
    default:
        if (!shape(p, &npy->array))
            return false;
        if (npy->array.ndim == 0)
            return refuse(p->message, "holds a single value without dimensions, not a vector");
        return npy->array.width > 0 || refuse(p->message, "has elements without values");
    }
}

bool dome__npy_parse(dome_npy *npy, const void *header, size_t bytes, char **message)
{
    *npy = (dome_npy){0};
    *message = NULL;
    if (!dome__npy_start(header, bytes, &npy->header_bytes, message))
        return false;
    if (bytes < npy->header_bytes)
        return refuse(message, "is truncated: it ends within its header");
    const char *begin = header;
    int major = begin[6];
    parser p = {.begin = begin,
                .at = begin + (major == 1 ? 10 : 12),
                .end = begin + npy->header_bytes,
                .utf8 = major == 3,
                .message = message};
    unsigned keys = 0;
    if (!need(&p, '{'))
        return false;
    while (!take(&p, '}')) {
        if (!entry(&p, npy, &keys))
            return false;
        if (!take(&p, ',')) {
            if (!need(&p, '}'))
                return false;
            break;
        }
    }
    skip_space(&p);
    if (p.at != p.end)
        return expected(&p, "nothing more");
    if (keys != ALL_KEYS)
        return refuse(message, "has a header without '%s'",
                      !(keys & DESCR)   ? "descr"
                      : !(keys & ORDER) ? "fortran_order"
                                        : "shape");
    return true;
}

bool dome__npy_file_bytes(const dome_npy *npy, uint64_t *bytes)
{
    return dome__file_array_bytes(&npy->array, bytes) && !__builtin_add_overflow(*bytes, npy->header_bytes, bytes) &&
           *bytes <= INT64_MAX;
}

bool dome__npy_check_size(const dome_npy *npy, uint64_t file_bytes, char **message)
{
    uint64_t bytes;
    if (!dome__npy_file_bytes(npy, &bytes))
        return refuse(message, "is truncated: its header promises more data than any file can hold");
    if (file_bytes < bytes)
        return refuse(message, "is truncated: it has %" PRIu64 " bytes of the %" PRIu64 " that its header promises", file_bytes,
                      bytes);
    if (file_bytes > bytes)
        return refuse(message, "has %" PRIu64 " bytes, %" PRIu64 " more than its header promises", file_bytes,
                      file_bytes - bytes);
    return true;
}

/* ---- writing ---- */

/* A Python string in ASCII. */
static void write_string(GString *out, const char *text)
{
    bool utf8 = g_utf8_validate(text, -1, NULL);
    g_string_append_c(out, '\'');
    while (*text) {
        gunichar c = utf8 ? g_utf8_get_char(text) : (uint8_t)*text;
        text = utf8 ? g_utf8_next_char(text) : text + 1;
        if (c == '\'' || c == '\\')
            g_string_append_printf(out, "\\%c", (char)c);
        else if (c >= 0x20 && c < 0x7f)
            g_string_append_c(out, (char)c);
        else
            g_string_append_printf(out, c < 0x100 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x", (unsigned)c);
    }
    g_string_append_c(out, '\'');
}

/* Bytes that belong to no field. NumPy reads lengths of at most nine digits. */
static void write_padding(GString *out, uint64_t begin, uint64_t end)
{
    for (uint64_t bytes; begin < end; begin += bytes) {
        bytes = MIN(end - begin, 999999999);
        g_string_append_printf(out, "%s('', '|V%" PRIu64 "')", begin ? ", " : "", bytes);
    }
}

static void write_descr(GString *out, const dome_file_item *item, bool padding)
{
    if (item->kind != DOME_KIND_STRUCT) {
        char letter = item->kind >= DOME_KIND_C64   ? 'c'
                      : item->kind >= DOME_KIND_F32 ? 'f'
                      : item->kind >= DOME_KIND_U8  ? 'u'
                                                    : 'i';
        char order = item->bytes == 1 ? '|' : item->big_endian ? '>' : '<';
        g_string_append_printf(out, "'%c%c%" PRIu64 "'", order, letter, item->bytes);
        return;
    }
    g_string_append_c(out, '[');
    uint64_t at = 0;
    for (size_t i = 0; i < item->nfields; i++) {
        const dome_file_item *f = &item->fields[i];
        if (padding)
            write_padding(out, at, f->offset);
        g_string_append(out, i || (padding && f->offset) ? ", (" : "(");
        at = f->offset + f->count * f->bytes;
        write_string(out, f->name);
        g_string_append(out, ", ");
        write_descr(out, f, padding);
        if (f->count != 1)
            g_string_append_printf(out, ", (%" PRIu64 ",)", f->count);
        g_string_append_c(out, ')');
    }
    if (padding)
        write_padding(out, at, item->bytes);
    g_string_append_c(out, ']');
}

char *dome__npy_descr(const dome_file_item *item)
{
    GString *out = g_string_new(NULL);
    write_descr(out, item, false);
    return g_string_free(out, FALSE);
}

char *dome__npy_header(dome_npy *npy)
{
    GString *text = g_string_new("{'descr': ");
    write_descr(text, &npy->array.item, true);
    g_string_append_printf(text, ", 'fortran_order': False, 'shape': (%" PRIu64 ",", npy->array.shape[0]);
    for (int d = 1; d < npy->array.ndim; d++)
        g_string_append_printf(text, d > 1 ? ", %" PRIu64 : " %" PRIu64, npy->array.shape[d]);
    g_string_append(text, "), }");
    char digits[GROWTH_DIGITS + 1];
    for (int grown = g_snprintf(digits, sizeof digits, "%" PRIu64, npy->array.shape[0]); grown < GROWTH_DIGITS; grown++)
        g_string_append_c(text, ' ');

    /* Spaces and a newline, so that the data begin at a multiple of 64 bytes. */
    size_t start = 10;
    size_t bytes = (start + text->len + 1) / ALIGNMENT * ALIGNMENT + ALIGNMENT;
    if (bytes - start > UINT16_MAX) {
        start = 12;
        bytes = (start + text->len + 1) / ALIGNMENT * ALIGNMENT + ALIGNMENT;
    }
    uint8_t *header = g_malloc(bytes);
    memset(header, ' ', bytes);
    memcpy(header, MAGIC, sizeof MAGIC);
    header[6] = start == 10 ? 1 : 2;
    header[7] = 0;
    for (size_t i = 8; i < start; i++)
        header[i] = (uint8_t)((bytes - start) >> 8 * (i - 8));
    memcpy(header + start, text->str, text->len);
    header[bytes - 1] = '\n';
    g_string_free(text, TRUE);
    npy->header_bytes = bytes;
    return (char *)header;
}
