#include "wire/shown.h"

#include <string.h>

/* FNV-1a, of 64 bits. */
static const uint64_t HASH_BEGIN = 14695981039346656037u, HASH_FACTOR = 1099511628211u;

static uint64_t hash_on(uint64_t hash, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (uint8_t)text[i]) * HASH_FACTOR;
    return hash;
}

static dome_shown_place line_begin(uint64_t line)
{
    return (dome_shown_place){.line = line, .hash = HASH_BEGIN};
}

void dome__shown_begin(dome_shown *s, dome_shown_past *past, uint64_t bytes, bool told)
{
    if (!past->begun) {
        past->end = line_begin(0);
        past->from = bytes;
    }
    past->begun = 1;
    *s = (dome_shown){.past = past,
                      .at = past->end,
                      .held = g_string_new(NULL),
                      .told = told,
                      .again = g_string_new(NULL),
                      .since = past->end.line};
}

void dome__shown_clear(dome_shown *s)
{
    g_string_free(s->held, TRUE);
    g_string_free(s->again, TRUE);
}

/* ---- lines before the first boundary ---- */

/* A line that is new: one of the first, or perhaps one of those once more. */
static void note_new(dome_shown_past *past, uint64_t hash)
{
    if (!past->first_over && past->firsts < DOME_SHOWN_FIRST)
        past->first[past->firsts++] = hash;
    for (uint64_t i = 0; past->first_over && i < past->firsts; i++)
        past->recurs[i] |= past->first[i] == hash;
}

static bool is_preamble(dome_shown *s, uint64_t hash)
{
    const dome_shown_past *past = s->past;
    for (uint64_t i = s->first_at; i < past->firsts; i++)
        if (past->first[i] == hash && !past->recurs[i]) {
            s->first_at = i + 1;
            return true;
        }
    return false;
}

/* ---- lines ---- */

/* A whole line that was shown before has come once more. */
static void compare(dome_shown_past *past, const dome_shown_place *at)
{
    if (past->end.line - at->line <= DOME_SHOWN_LINES)
        past->different += past->line[at->line % DOME_SHOWN_LINES].hash != at->hash;
}

static void end_line(dome_shown *s, uint64_t bytes)
{
    dome_shown_past *past = s->past;
    past->line[s->at.line % DOME_SHOWN_LINES].hash = s->at.hash;
    past->line[s->at.line % DOME_SHOWN_LINES].bytes = bytes;
    note_new(past, s->at.hash);
    s->since = MIN(s->since, s->at.line);
    s->at = line_begin(s->at.line + 1);
    past->end = s->at;
}

/* The program prints again what has been shown. Returns how much of the text that is. */
static size_t take_again(dome_shown *s, const char *text, size_t length, uint64_t bytes, GString *out)
{
    dome_shown_past *past = s->past;
    const char *end = memchr(text, '\n', length);
    const bool last = s->at.line == past->end.line;
    size_t n = end ? (size_t)(end - text) : length;
    if (last)
        n = MIN(n, past->end.column - s->at.column);
    s->at.hash = hash_on(s->at.hash, text, n);
    s->at.column += n;
    if (last && s->at.column == past->end.column) { /* it has come to the end */
        past->different += !past->unhashed && s->at.hash != past->end.hash;
        past->unhashed = 0;
        past->end.hash = s->at.hash;
    } else if (last && end && n == (size_t)(end - text)) { /* its line is shorter */
        past->different++;
        past->unhashed = 0;
        g_string_append_c(out, '\n');
        past->bytes = bytes + out->len;
        end_line(s, past->bytes);
        n++;
    } else if (end) {
        compare(past, &s->at);
        s->at = line_begin(s->at.line + 1);
        n++;
    }
    return n;
}

static size_t take_new(dome_shown *s, const char *text, size_t length, uint64_t bytes, GString *out)
{
    dome_shown_past *past = s->past;
    const char *end = memchr(text, '\n', length);
    const size_t n = end ? (size_t)(end - text) : length;
    g_string_append_len(out, text, (gssize)(n + (end != NULL)));
    s->at.hash = hash_on(s->at.hash, text, n);
    s->at.column += n;
    past->bytes = bytes + out->len;
    past->end = s->at;
    if (end)
        end_line(s, past->bytes);
    return n + (end != NULL);
}

/* The line in `again` is not the one that was shown in its place: what was shown of that stands, and nothing behind it counts. */
static void diverge(dome_shown *s, uint64_t bytes, GString *out)
{
    dome_shown_past *past = s->past;
    const bool last = s->at.line == past->end.line;
    if (past->end.column)
        g_string_append_c(out, '\n');
    past->bytes = bytes + out->len;
    past->unhashed = 0;
    s->at = last ? past->end : line_begin(s->at.line);
    past->end = s->at;
    if (last)
        end_line(s, past->bytes);
}

/* As take_again, for a program that may go another way: a line is kept until it is known whether it is another. */
static size_t take_told(dome_shown *s, const char *text, size_t length, uint64_t bytes, GString *out)
{
    dome_shown_past *past = s->past;
    const char *newline = memchr(text, '\n', length);
    const size_t n = newline ? (size_t)(newline - text) + 1 : length;
    const bool last = s->at.line == past->end.line;
    g_string_append_len(s->again, text, (gssize)n);
    const size_t printed = s->again->len - (newline != NULL), shown = last ? past->end.column - s->at.column : printed;
    if (!newline && (!last || printed < shown))
        return n;
    const uint64_t hash = hash_on(s->at.hash, s->again->str, MIN(printed, shown));
    const uint64_t line = past->line[s->at.line % DOME_SHOWN_LINES].hash;
    const bool known = last ? !past->unhashed : past->end.line - s->at.line <= DOME_SHOWN_LINES;
    const bool same = printed >= shown && (!known || hash == (last ? past->end.hash : line));
    g_autoptr(GString) rest = s->again;
    s->again = g_string_new(NULL);
    if (!same)
        diverge(s, bytes, out);
    else if (last)
        g_string_erase(rest, 0, (gssize)shown);
    else
        g_string_truncate(rest, 0);
    if (same)
        s->at = last ? past->end : line_begin(s->at.line + 1);
    if (rest->len)
        take_new(s, rest->str, rest->len, bytes, out);
    return n;
}

static bool is_behind(const dome_shown *s)
{
    const dome_shown_place *end = &s->past->end;
    return s->at.line < end->line || (s->at.line == end->line && s->at.column < end->column);
}

static void take(dome_shown *s, const char *text, size_t length, uint64_t bytes, GString *out)
{
    for (size_t done = 0; done < length;)
        done += (!is_behind(s) ? take_new : s->told ? take_told : take_again)(s, text + done, length - done, bytes, out);
}

/* The loop has begun, with what is held. */
static void begin_loop(dome_shown *s, uint64_t bytes, GString *out)
{
    s->zone = DOME_SHOWN_LOOP;
    take(s, s->held->str, s->held->len, bytes, out);
    g_string_truncate(s->held, 0);
}

/* A whole line is held. */
static void take_held(dome_shown *s, uint64_t bytes, GString *out)
{
    if (!is_preamble(s, hash_on(HASH_BEGIN, s->held->str, s->held->len - 1))) {
        if (s->zone == DOME_SHOWN_MADE) {
            begin_loop(s, bytes, out);
            return;
        }
        g_string_append_len(out, s->held->str, (gssize)s->held->len);
    }
    g_string_truncate(s->held, 0);
}

void dome__shown_take(dome_shown *s, const char *text, size_t length, uint64_t bytes, GString *out)
{
    while (s->zone != DOME_SHOWN_LOOP && length > 0) {
        const char *end = memchr(text, '\n', length);
        const size_t n = end ? (size_t)(end - text) + 1 : length;
        g_string_append_len(s->held, text, (gssize)n);
        text += n;
        length -= n;
        if (end)
            take_held(s, bytes, out);
    }
    take(s, text, length, bytes, out);
}

void dome__shown_made(dome_shown *s)
{
    if (s->zone == DOME_SHOWN_MAKES)
        s->zone = DOME_SHOWN_MADE;
}

/* ---- boundaries ---- */

void dome__shown_pass(dome_shown *s, uint64_t bytes, GString *out)
{
    begin_loop(s, bytes, out);
    s->past->first_over = 1;
}

/* The mark of this boundary, or the place for it: that of the oldest. */
static dome_shown_mark *mark_of(dome_shown_past *past, uint64_t loop)
{
    for (int i = 0; i < DOME_SHOWN_MARKS; i++)
        if (past->mark[i].used && past->mark[i].loop == loop)
            return &past->mark[i];
    return &past->mark[past->marks++ % DOME_SHOWN_MARKS];
}

static void set_mark(dome_shown *s, uint64_t loop, bool whole)
{
    dome_shown_place at = s->at;
    at.column += s->again->len;
    at.hash = hash_on(at.hash, s->again->str, s->again->len);
    *mark_of(s->past, loop) = (dome_shown_mark){.at = at, .loop = loop, .used = 1, .whole = whole};
}

void dome__shown_mark(dome_shown *s, uint64_t loop)
{
    set_mark(s, loop, false);
}

static const dome_shown_mark *find_mark(const dome_shown_past *past, uint64_t loop)
{
    for (int i = 0; i < DOME_SHOWN_MARKS; i++)
        if (past->mark[i].used && past->mark[i].loop == loop)
            return &past->mark[i];
    return NULL;
}

bool dome__shown_back(dome_shown *s, uint64_t loop)
{
    const dome_shown_mark *mark = loop ? find_mark(s->past, loop) : NULL;
    g_string_truncate(s->held, 0);
    g_string_truncate(s->again, 0);
    s->zone = mark && !mark->whole ? DOME_SHOWN_MAKES : DOME_SHOWN_LOOP;
    s->first_at = 0;
    s->at = !loop ? line_begin(0) : mark ? mark->at : s->past->end;
    if (loop && !mark)
        set_mark(s, loop, true);
    return s->zone != DOME_SHOWN_LOOP;
}

/* ---- the end ---- */

void dome__shown_rewind(dome_shown_past *past, uint64_t bytes, bool column)
{
    const uint64_t line = past->end.line, kept = MIN(line, DOME_SHOWN_LINES);
    uint64_t lost = 0;
    while (lost < kept && past->line[(line - lost - 1) % DOME_SHOWN_LINES].bytes > bytes)
        lost++;
    const uint64_t left = line - lost, begin = left ? past->line[(left - 1) % DOME_SHOWN_LINES].bytes : past->from;
    if (lost == 0 && past->bytes <= bytes && column)
        return;
    past->end = line_begin(left);
    if (column && bytes > begin && lost < kept + (line == kept))
        past->end.column = bytes - begin;
    past->unhashed = past->end.column > 0;
    past->bytes = MIN(past->bytes, bytes);
}

void dome__shown_end(dome_shown *s)
{
    if (is_behind(s))
        s->past->different += s->past->end.line - s->at.line + (s->past->end.column > 0);
    s->at = s->past->end;
}
