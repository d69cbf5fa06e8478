#include "lammps_data.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 9, WORD = 64 };

typedef struct reader {
    const char *at, *end;
    uint64_t line;
    char *error;
    int words; /* number of words in this line; at most WORDS, and one word too many is cut */
    char word[WORDS][WORD];
    char style[WORD]; /* the first word of the line's comment */
    bool box[3], counted;
    unsigned char *given; /* for each atom: flags for its position and its velocity */
} reader;

enum { POSITION = 1, VELOCITY = 2 };

static bool fail(reader *in, const char *format, ...)
{
    va_list arguments;
    int n = snprintf(in->error, LAMMPS_ERROR, "line %" PRIu64 ": ", in->line);
    va_start(arguments, format);
    vsnprintf(in->error + n, LAMMPS_ERROR - (size_t)n, format, arguments);
    va_end(arguments);
    return false;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Copies the next word before `stop`; false if there is none. An unprintable character becomes '?', and so does the
 * rest of a word that is too long: then it is neither a number nor a name. */
static bool next_word(const char **at, const char *stop, char word[WORD])
{
    size_t n = 0;
    while (*at < stop && is_space(**at))
        ++*at;
    const char *start = *at;
    for (; *at < stop && !is_space(**at); ++*at)
        if (n < WORD - 1) {
            bool good = **at > ' ' && **at <= '~' && n < WORD - 2;
            word[n++] = good ? **at : '?';
        }
    word[n] = 0;
    return *at > start;
}

/* Splits the next line into words; false at the end of the text. */
static bool next_line(reader *in)
{
    if (in->at == in->end)
        return false;
    const char *stop = memchr(in->at, '\n', (size_t)(in->end - in->at)), *p = in->at;
    in->at = stop ? stop + 1 : in->end;
    if (!stop)
        stop = in->end;
    const char *comment = memchr(p, '#', (size_t)(stop - p));
    in->words = 0;
    while (in->words < WORDS && next_word(&p, comment ? comment : stop, in->word[in->words]))
        in->words++;
    in->style[0] = 0;
    if (comment) {
        comment++;
        next_word(&comment, stop, in->style);
    }
    in->line++;
    return true;
}

static bool next_data_line(reader *in)
{
    do {
        if (!next_line(in))
            return false;
    } while (in->words == 0);
    return true;
}

/* Whether the words of the line from word `first` on are exactly these. */
static bool says(const reader *in, int first, const char *text)
{
    char line[WORDS * (WORD + 1)] = "";
    for (int i = first, n = 0; i < in->words; i++)
        n += sprintf(line + n, "%s%s", i > first ? " " : "", in->word[i]);
    return first < in->words && strcmp(line, text) == 0;
}

/* Stricter than strtod and strtoull, which accept more than decimal numbers: names, hexadecimal, unexpected signs. */
static bool read_number(reader *in, int word, const char *what, double *value)
{
    char *end, *text = in->word[word];
    *value = strtod(text, &end);
    if (end == text || *end || text[strspn(text, "0123456789+-.eE")])
        return fail(in, "%s is not a number: %.40s", what, text);
    if (!isfinite(*value))
        return fail(in, "%s is too large: %.40s", what, text);
    return true;
}

static bool read_count(reader *in, int word, const char *what, uint64_t *value)
{
    const char *text = in->word[word];
    errno = 0;
    *value = strtoull(text, NULL, 10);
    if (text[strspn(text, "0123456789")])
        return fail(in, "%s is not a whole number: %.40s", what, text);
    if (errno)
        return fail(in, "%s is too large: %.40s", what, text);
    return true;
}

static bool is_section(const reader *in)
{
    return in->word[0][0] >= 'A' && in->word[0][0] <= 'Z';
}

static bool read_side(reader *in, lammps_atoms *atoms, int d)
{
    double low, high;
    if (!read_number(in, 0, in->word[2], &low) || !read_number(in, 1, in->word[3], &high))
        return false;
    if (!(low < high) || !isfinite(high - low))
        return fail(in, "the box has no extent from %s = %g to %s = %g", in->word[2], low, in->word[3], high);
    atoms->low[d] = low;
    atoms->side[d] = high - low;
    in->box[d] = true;
    return true;
}

static bool read_header_line(reader *in, lammps_atoms *atoms)
{
    static const char *const sides[] = {"xlo xhi", "ylo yhi", "zlo zhi"};
    for (int d = 0; d < 3; d++)
        if (says(in, 2, sides[d]))
            return read_side(in, atoms, d);
    if (says(in, 3, "xy xz yz"))
        return fail(in, "the box is tilted; this program takes boxes with right angles");
    if (in->words < 2 || !strchr("+-.0123456789", in->word[0][0]))
        return fail(in, "neither a line of a header nor the name of a section: %.40s", in->word[0]);
    uint64_t count;
    if (!read_count(in, 0, in->word[1], &count))
        return false;
    if (says(in, 1, "atoms")) {
        atoms->n = count;
        in->counted = true;
    } else if (says(in, 1, "atom types") ? count != 1 : count != 0) {
        return fail(in, "%s %s: this program takes atoms of one type, and nothing else", in->word[0], in->word[1]);
    }
    return true;
}

/* Reads up to the first section; its name is then the present line. */
static bool read_header(reader *in, lammps_atoms *atoms)
{
    if (!next_line(in))
        return fail(in, "the file is empty");
    for (;;) {
        if (!next_data_line(in))
            return fail(in, "the file ends before the section Atoms");
        if (is_section(in))
            break;
        if (!read_header_line(in, atoms))
            return false;
    }
    if (!in->counted || atoms->n == 0)
        return fail(in, "the header promises no atoms");
    for (int d = 0; d < 3; d++)
        if (!in->box[d])
            return fail(in, "the header lacks %clo %chi", 'x' + d, 'x' + d);
    /* A line of an atom has at least 10 characters: "1 1 0 0 0" and its end, which may be missing in the last line. */
    if (atoms->n > ((uint64_t)(in->end - in->at) + 1) / 10)
        return fail(in, "the header promises %" PRIu64 " atoms, more than the rest of the file can hold", atoms->n);
    return true;
}

/* One line of a section: id, in Atoms the type, three numbers, and in Atoms optionally three that count how often the
 * atom went around the box. */
static bool read_atom(reader *in, lammps_atoms *atoms, int what, double *to)
{
    int at = what == POSITION ? 2 : 1;
    uint64_t id, type = 1;
    if (in->words != at + 3 && (what != POSITION || in->words != at + 6))
        return fail(in,
                    what == POSITION ? "an atom has 5 or 8 numbers: id, type, x, y, z" : "a velocity has 4 numbers: id, x, y, z");
    if (!read_count(in, 0, "id", &id) || (at == 2 && !read_count(in, 1, "type", &type)))
        return false;
    if (id < 1 || id > atoms->n)
        return fail(in, "id %" PRIu64 " is outside 1 ... %" PRIu64, id, atoms->n);
    if (type != 1)
        return fail(in, "type %" PRIu64 " is outside 1 ... 1", type);
    if (in->given[id - 1] & what)
        return fail(in, "atom %" PRIu64 " was given before", id);
    in->given[id - 1] |= (unsigned char)what;
    for (int k = at; k < in->words; k++) {
        double value;
        if (!read_number(in, k, what == POSITION ? "position" : "velocity", &value))
            return false;
        if (what == POSITION && k < at + 3)
            value -= atoms->low[k - at];
        if (!isfinite(value))
            return fail(in, "position is too large: %.40s", in->word[k]);
        if (k < at + 3)
            to[3 * (id - 1) + (uint64_t)(k - at)] = value;
    }
    return true;
}

static bool read_atoms(reader *in, lammps_atoms *atoms, int what, double *to)
{
    const char *name = what == POSITION ? "Atoms" : "Velocities";
    if (in->style[0] && strcmp(in->style, "atomic") != 0)
        return fail(in, "the atom style is %.40s; this program takes atomic", in->style);
    if (in->given[0] & what)
        return fail(in, "a second section %s", name);
    for (uint64_t k = 0; k < atoms->n; k++) {
        if (!next_data_line(in))
            return fail(in, "the file ends after %" PRIu64 " of %" PRIu64 " lines of %s", k, atoms->n, name);
        if (is_section(in))
            return fail(in, "%s ends after %" PRIu64 " of %" PRIu64 " lines", name, k, atoms->n);
        if (!read_atom(in, atoms, what, to))
            return false;
    }
    return true;
}

/* Masses, and coefficients of the potential if there are any: all must be 1, by the choice of units. */
static bool read_ones(reader *in, const char *name, int ones)
{
    uint64_t type;
    if (!next_data_line(in) || in->words < 1 + ones)
        return fail(in, "%s has no line for type 1", name);
    if (!read_count(in, 0, "type", &type))
        return false;
    for (int k = 1; k <= ones; k++) {
        double value;
        if (!read_number(in, k, name, &value))
            return false;
        if (type != 1 || value != 1)
            return fail(in, "%s: this program takes 1 for type 1 and not %s for type %s", name, in->word[k], in->word[0]);
    }
    return true;
}

static bool read_section(reader *in, lammps_atoms *atoms)
{
    if (says(in, 0, "Atoms"))
        return read_atoms(in, atoms, POSITION, atoms->x);
    if (says(in, 0, "Velocities"))
        return read_atoms(in, atoms, VELOCITY, atoms->v);
    if (says(in, 0, "Masses"))
        return read_ones(in, "Masses", 1);
    if (says(in, 0, "Pair Coeffs"))
        return read_ones(in, "Pair Coeffs", 2);
    if (!is_section(in))
        return fail(in, "not the name of a section: %.40s", in->word[0]);
    return fail(in, "this program takes no section %.40s %.40s", in->word[0], in->words > 1 ? in->word[1] : "");
}

bool lammps_alloc(lammps_atoms *atoms)
{
    if (atoms->n >= SIZE_MAX / (3 * sizeof(double)))
        return false;
    atoms->x = calloc((size_t)atoms->n, 3 * sizeof *atoms->x);
    atoms->v = calloc((size_t)atoms->n, 3 * sizeof *atoms->v);
    return atoms->x && atoms->v;
}

static bool read_sections(reader *in, lammps_atoms *atoms)
{
    in->given = calloc((size_t)atoms->n, 1);
    if (!in->given || !lammps_alloc(atoms))
        return fail(in, "not enough memory for %" PRIu64 " atoms", atoms->n);
    do {
        if (!read_section(in, atoms))
            return false;
    } while (next_data_line(in));
    return (in->given[0] & POSITION) || fail(in, "the file ends without a section Atoms");
}

bool lammps_parse(lammps_atoms *atoms, const char *text, size_t bytes, char error[LAMMPS_ERROR])
{
    reader in = {.at = text, .end = bytes ? text + bytes : text, .error = error};
    memset(atoms, 0, sizeof *atoms);
    bool done = read_header(&in, atoms) && read_sections(&in, atoms);
    free(in.given);
    if (!done)
        lammps_clear(atoms);
    return done;
}

static char *load(const char *path, size_t *bytes)
{
    char *data = NULL;
    size_t room = 0;
    bool done = false;
    FILE *file = fopen(path, "rb");
    *bytes = 0;
    while (file && !done && !ferror(file)) {
        if (*bytes == room) {
            char *more = realloc(data, room = room ? 2 * room : 65536);
            if (!more)
                break;
            data = more;
        }
        *bytes += fread(data + *bytes, 1, room - *bytes, file);
        done = feof(file);
    }
    if (!done) {
        free(data);
        data = NULL;
    }
    int reason = errno;
    if (file)
        fclose(file);
    errno = reason;
    return data;
}

bool lammps_read(lammps_atoms *atoms, const char *path, char error[LAMMPS_ERROR])
{
    char reason[LAMMPS_ERROR];
    size_t bytes;
    char *text = load(path, &bytes);
    if (!text) {
        snprintf(error, LAMMPS_ERROR, "%.150s: %s", path, strerror(errno));
        return false;
    }
    bool done = lammps_parse(atoms, text, bytes, reason);
    if (!done)
        snprintf(error, LAMMPS_ERROR, "%.100s: %.150s", path, reason);
    free(text);
    return done;
}

void lammps_clear(lammps_atoms *atoms)
{
    free(atoms->x);
    free(atoms->v);
    memset(atoms, 0, sizeof *atoms);
}
