#include "files/csv.h"

#include <glib.h>
#include <string.h>

enum { OTHER, NEWLINE, SEPARATOR, QUOTE, COMMENT, BLANK, CLASSES };

/* With a state, where a record begins. */
enum { BEGINS = 0x80 };

/* ---- the automaton ---- */

static void set(dome_csv_format *f, dome_csv_state from, const uint8_t to[CLASSES])
{
    for (int byte = 0; byte < 256; byte++)
        f->steps[from][byte] = to[f->classes[byte]];
}

bool dome__csv_format(dome_csv_format *f, char separator, char comment)
{
    static const char taken[] = "\n\r\"+-.0123456789";
    const bool blanks = separator == ' ';
    if (!separator || strchr(taken, separator) || g_ascii_isalpha(separator) ||
        (comment &&
         (strchr(taken, comment) || comment == separator || comment == ' ' || comment == '\t' || g_ascii_isalpha(comment))))
        return false;
    *f = (dome_csv_format){.separator = separator};
    f->classes[(uint8_t)' '] = f->classes[(uint8_t)'\t'] = f->classes[(uint8_t)'\r'] = BLANK;
    if (!blanks)
        f->classes[(uint8_t)separator] = SEPARATOR;
    if (comment)
        f->classes[(uint8_t)comment] = COMMENT;
    f->classes[(uint8_t)'\n'] = NEWLINE;
    f->classes[(uint8_t)'"'] = QUOTE;
    enum { LINE = DOME_CSV_LINE, FIELD = DOME_CSV_FIELD, PLAIN = DOME_CSV_PLAIN, QUOTED = DOME_CSV_QUOTED };
    enum { CLOSED = DOME_CSV_CLOSED, REMARK = DOME_CSV_REMARK, AFTER = DOME_CSV_COMMENT };
    const uint8_t behind = blanks ? FIELD : PLAIN, behind_quote = blanks ? FIELD : CLOSED;
    /*                                           other           newline separator       quote            comment blank */
    set(f, DOME_CSV_LINE, (const uint8_t[CLASSES]){PLAIN | BEGINS, LINE, FIELD | BEGINS, QUOTED | BEGINS, REMARK, LINE});
    set(f, DOME_CSV_FIELD, (const uint8_t[CLASSES]){PLAIN, LINE, FIELD, QUOTED, AFTER, FIELD});
    set(f, DOME_CSV_PLAIN, (const uint8_t[CLASSES]){PLAIN, LINE, FIELD, PLAIN, AFTER, behind});
    set(f, DOME_CSV_QUOTED, (const uint8_t[CLASSES]){QUOTED, QUOTED, QUOTED, CLOSED, QUOTED, QUOTED});
    set(f, DOME_CSV_CLOSED, (const uint8_t[CLASSES]){PLAIN, LINE, FIELD, QUOTED, AFTER, behind_quote});
    set(f, DOME_CSV_REMARK, (const uint8_t[CLASSES]){REMARK, LINE, REMARK, REMARK, REMARK, REMARK});
    set(f, DOME_CSV_COMMENT, (const uint8_t[CLASSES]){AFTER, LINE, AFTER, AFTER, AFTER, AFTER});
    return true;
}

static uint8_t step(const dome_csv_format *f, uint8_t state, char byte)
{
    return f->steps[state & ~BEGINS][(uint8_t)byte];
}

/* ---- scanning ---- */

void dome__csv_scan_begin(dome_csv_scan *scan)
{
    *scan = (dome_csv_scan){.lines = 0};
    for (int s = 0; s < DOME_CSV_STATES; s++)
        scan->state[s] = (dome_csv_state)s;
}

/* Goes through a piece from two states at once. Returns how many records begin. */
static void run(const dome_csv_format *f, dome_csv_state state[2], uint64_t records[2], const char *text, size_t bytes)
{
    uint8_t a = (uint8_t)state[0], b = (uint8_t)state[1];
    uint64_t from_a = 0, from_b = 0;
    for (size_t i = 0; i < bytes; i++) {
        a = step(f, a, text[i]);
        b = step(f, b, text[i]);
        from_a += a >> 7;
        from_b += b >> 7;
    }
    state[0] = (dome_csv_state)(a & ~BEGINS);
    state[1] = (dome_csv_state)(b & ~BEGINS);
    records[0] = from_a;
    records[1] = from_b;
}

/* States that have become the same stay so: after the first lines there are rarely more than two. */
static void scan_piece(const dome_csv_format *f, dome_csv_scan *scan, const char *text, size_t bytes)
{
    dome_csv_state after[DOME_CSV_STATES + 1];
    uint64_t records[DOME_CSV_STATES + 1];
    int place[DOME_CSV_STATES], states = 0; /* of each state's run */
    for (int s = 0; s < DOME_CSV_STATES; s++) {
        int before = 0;
        while (before < s && scan->state[before] != scan->state[s])
            before++;
        place[s] = before < s ? place[before] : states;
        if (before == s)
            after[states++] = scan->state[s];
    }
    after[states] = after[states - 1];
    for (int k = 0; k < states; k += 2)
        run(f, after + k, records + k, text, bytes);
    for (int s = 0; s < DOME_CSV_STATES; s++) {
        scan->records[s] += records[place[s]];
        scan->state[s] = after[place[s]];
    }
}

void dome__csv_scan(const dome_csv_format *f, dome_csv_scan *scan, const char *text, size_t bytes)
{
    enum { PIECE = 4096 };
    for (size_t done = 0, n; done < bytes; done += n) {
        n = MIN(bytes - done, PIECE);
        scan_piece(f, scan, text + done, n);
        for (size_t i = 0; i < n; i++)
            scan->lines += text[done + i] == '\n';
    }
}

size_t dome__csv_first(const dome_csv_format *f, dome_csv_state *state, const char *text, size_t bytes)
{
    uint8_t at = (uint8_t)*state;
    for (size_t i = 0; i < bytes; i++) {
        at = step(f, at, text[i]);
        if (at & BEGINS)
            return i;
    }
    *state = (dome_csv_state)at;
    return bytes;
}

size_t dome__csv_record(const dome_csv_format *f, const char *text, size_t bytes, bool *complete)
{
    uint8_t at = DOME_CSV_LINE;
    for (size_t i = 0; i < bytes; i++) {
        at = step(f, at, text[i]);
        if (at == DOME_CSV_LINE && text[i] == '\n') {
            *complete = true;
            return i;
        }
    }
    *complete = false;
    return bytes;
}

/* ---- fields ---- */

static bool is(const dome_csv_format *f, const char *at, const char *end, int class)
{
    return at < end && f->classes[(uint8_t)*at] == class;
}

static const char *skip_blanks(const dome_csv_format *f, const char *at, const char *end)
{
    while (is(f, at, end, BLANK))
        at++;
    return at;
}

/* Whether a field ends here. */
static bool ends(const dome_csv_format *f, const char *at, const char *end)
{
    return at == end || is(f, at, end, SEPARATOR) || is(f, at, end, COMMENT) || (f->separator == ' ' && is(f, at, end, BLANK));
}

/* A field whose quote stands at `at`. Returns where it ends. */
static const char *take_quoted(const dome_csv_format *f, const char *at, const char *end, dome_csv_field *field)
{
    field->text = ++at;
    for (; at < end; at++) {
        if (*at != '"')
            continue;
        if (at + 1 == end || at[1] != '"')
            break;
        field->doubled = true;
        at++;
    }
    field->length = (size_t)(at - field->text);
    field->open = at == end;
    at += at < end;
    if (f->separator != ' ')
        at = skip_blanks(f, at, end);
    field->extra = !ends(f, at, end);
    while (!ends(f, at, end))
        at++;
    return at;
}

static const char *take_plain(const dome_csv_format *f, const char *at, const char *end, dome_csv_field *field)
{
    field->text = at;
    while (!ends(f, at, end))
        at++;
    field->length = (size_t)(at - field->text);
    while (field->length > 0 && f->classes[(uint8_t)field->text[field->length - 1]] == BLANK)
        field->length--;
    return at;
}

size_t dome__csv_split(const dome_csv_format *f, const char *text, size_t bytes, dome_csv_field *fields, size_t room)
{
    const char *at = text, *end = text + bytes;
    size_t count = 0;
    for (bool more = true; more; count++) {
        dome_csv_field field = {0};
        at = skip_blanks(f, at, end);
        if (f->separator == ' ' && (at == end || is(f, at, end, COMMENT)))
            break;
        at = is(f, at, end, QUOTE) ? take_quoted(f, at, end, &field) : take_plain(f, at, end, &field);
        if (count < room)
            fields[count] = field;
        more = f->separator == ' ' ? is(f, at, end, BLANK) : is(f, at, end, SEPARATOR);
        at += more;
    }
    return count;
}

size_t dome__csv_unquote(const dome_csv_field *field, char *to)
{
    size_t length = 0;
    for (size_t i = 0; i < field->length; i++) {
        to[length++] = field->text[i];
        i += field->doubled && field->text[i] == '"';
    }
    return length;
}

bool dome__csv_is_missing(const char *text, size_t length)
{
    static const char *const words[] = {"", "NA", "N/A", "null", "none", "NaN"};
    for (size_t k = 0; k < G_N_ELEMENTS(words); k++)
        if (strlen(words[k]) == length && g_ascii_strncasecmp(text, words[k], length) == 0)
            return true;
    return false;
}
