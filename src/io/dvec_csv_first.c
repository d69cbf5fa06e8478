/* The first record of a text file of columns, which rank 0 reads: how many columns there are, and what they are called. */
#include "io/dvec_csv.h"

#include <inttypes.h>
#include <string.h>

/* Bytes of a field that a message shows. */
enum { SHOWN = 40 };

static bool refuse(dvec_csv *r, const char *what)
{
    dome__shared_note(&r->file, DOME_ERR_FORMAT, "'%s' %s", r->file.path, what);
    return false;
}

/* Sets where the lines begin that count: behind a byte order mark and the lines to skip. False if the text ends before; *lines:
 * how many there were. */
static bool skip_lines(const dvec_csv *r, const char *text, size_t bytes, size_t *at, uint64_t *lines)
{
    *at = bytes >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    for (*lines = 0; *lines < r->options.skip; ++*lines) {
        const char *newline = memchr(text + *at, '\n', bytes - *at);
        if (!newline)
            return false;
        *at = (size_t)(newline - text) + 1;
    }
    return true;
}

uint64_t dvec__csv_lines(const char *text, size_t bytes)
{
    uint64_t lines = 0;
    for (size_t i = 0; i < bytes; i++)
        lines += text[i] == '\n';
    return lines;
}

void dvec__csv_show(GString *to, const char *text, size_t length)
{
    for (size_t i = 0; i < MIN(length, SHOWN); i++)
        g_string_append_c(to, g_ascii_iscntrl(text[i]) ? '?' : text[i]);
    g_string_append(to, length > SHOWN ? "..." : "");
}

static bool no_such_column(dvec_csv *r, const dvec_csv_wanted *w, const dome_csv_field *fields, bool twice)
{
    GString *text = g_string_new(NULL);
    for (uint64_t k = 0; k < MIN(r->fields, 12); k++) {
        g_string_append(text, k ? ", '" : "'");
        dvec__csv_show(text, fields[k].text, fields[k].length);
        g_string_append_c(text, '\'');
    }
    dome__shared_note(&r->file, DOME_ERR_FORMAT, "'%s' has %s '%s'; its columns are %s%s", r->file.path,
                      twice ? "two columns" : "no column", w->name, text->str, r->fields > 12 ? ", ..." : "");
    g_string_free(text, TRUE);
    return false;
}

/* Finds the numbers of columns that are asked for by name. */
static bool find_columns(dvec_csv *r, const dome_csv_field *fields)
{
    char *name = g_malloc(DVEC_CSV_PIECE);
    bool good = true;
    for (uint64_t k = 0; k < r->nwanted && good; k++) {
        dvec_csv_wanted *w = &r->wanted[k];
        uint64_t found = 0;
        for (uint64_t c = 0; c < r->fields && w->name; c++) {
            const size_t length = fields[c].length < DVEC_CSV_PIECE ? dome__csv_unquote(&fields[c], name) : 0;
            if (length == strlen(w->name) && memcmp(name, w->name, length) == 0) {
                w->number = c;
                found++;
            }
        }
        if (w->name && found != 1)
            good = no_such_column(r, w, fields, found > 1);
    }
    g_free(name);
    return good;
}

static bool has_names(const dvec_csv *r)
{
    for (uint64_t k = 0; k < r->nwanted; k++)
        if (r->wanted[k].name)
            return true;
    return false;
}

/* Takes the first record from the beginning of the text. False if more of the text is needed. */
static bool take_first(dvec_csv *r, const char *text, size_t bytes)
{
    const bool all = bytes == r->file.bytes;
    size_t at, length = 0;
    dome_csv_state state = DOME_CSV_LINE;
    bool complete = true;
    if (!skip_lines(r, text, bytes, &at, &r->lines)) {
        at = bytes;
        if (!all)
            return false;
    }
    r->first_byte = at;
    at += dome__csv_first(&r->format, &state, text + at, bytes - at);
    if (at < bytes)
        length = dome__csv_record(&r->format, text + at, bytes - at, &complete);
    if ((at == bytes || !complete) && !all)
        return false;
    r->fields = at < bytes ? dome__csv_split(&r->format, text + at, length, NULL, 0) : 0;
    if (has_names(r)) {
        dome_csv_field *fields = g_new(dome_csv_field, MAX(r->fields, 1));
        dome__csv_split(&r->format, text + at, length, fields, (size_t)r->fields);
        if (r->fields == 0)
            refuse(r, "has no line with the names of columns");
        else
            find_columns(r, fields);
        g_free(fields);
        const size_t next = at + length + (at < bytes && complete);
        r->lines += dvec__csv_lines(text + r->first_byte, next - (size_t)r->first_byte);
        r->first_byte = next;
    }
    return true;
}

/* Whether the bytes are text: other programs compress their files, or write UTF-16. */
static bool is_text(dvec_csv *r, const char *text, size_t bytes)
{
    if (bytes >= 2 && memcmp(text, "\x1f\x8b", 2) == 0)
        return refuse(r, "is compressed by gzip: decompress it first");
    if (bytes >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0))
        return refuse(r, "is in UTF-16: iconv -f UTF-16 -t UTF-8 makes it readable");
    if (memchr(text, 0, bytes))
        return refuse(r, "is no text: it has bytes that are 0");
    if (bytes > 0 && memchr(text, '\r', bytes - 1) && !memchr(text, '\n', bytes))
        return refuse(r, "has lines that end with carriage returns alone: tr '\\r' '\\n' makes it readable");
    return true;
}

void dvec__csv_open(dvec_csv *r)
{
    dome_shared_file *f = &r->file;
    size_t bytes = 0;
    char *text = NULL;
    bool good = dome__shared_open(f), done = false;
    while (good && !done) {
        bytes = (size_t)MIN(f->bytes, MAX(2 * (uint64_t)bytes, 65536));
        g_free(text);
        text = g_try_malloc(bytes + 1);
        if (!text)
            dome__shared_note(f, DOME_ERR_MEMORY, "no memory for the first line of '%s'", f->path);
        good = text && dome__shared_read(f, 0, text, bytes) && is_text(r, text, bytes);
        done = good && take_first(r, text, bytes);
    }
    g_free(text);
    for (uint64_t k = 0; done && k < r->nwanted; k++)
        if (r->wanted[k].number >= r->fields && r->fields > 0)
            dome__shared_note(f, DOME_ERR_FORMAT, "'%s' has %" PRIu64 " columns, and number %" PRIu64 " (from 0) is wanted",
                              f->path, r->fields, r->wanted[k].number);
}
