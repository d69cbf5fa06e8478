#include "options/option_value.h"

#include <glib.h>
#include <inttypes.h>
#include <string.h>

#define MAX_LOOPS   1000000000
#define MAX_SECONDS 1e9

char *dome__option_readable(const char *text)
{
    enum { LONGEST = 80 };
    char *valid = g_utf8_make_valid(text, -1);
    if (g_utf8_strlen(valid, -1) > LONGEST) {
        char *cut = g_utf8_substring(valid, 0, LONGEST);
        g_free(valid);
        valid = g_strconcat(cut, "...", NULL);
        g_free(cut);
    }
    for (char *c = valid; *c; c++)
        if (g_ascii_iscntrl(*c))
            *c = ' ';
    return valid;
}

static bool read_word(const dome_option_row *row, const char *value, void *field)
{
    char **words = g_strsplit(row->argument, "|", -1);
    int place = 0;
    while (words[place] && strcmp(words[place], value) != 0)
        place++;
    bool found = words[place];
    g_strfreev(words);
    if (found && row->kind == DOME_OPTION_WORD)
        *(int *)field = place;
    else if (found)
        *(const char **)field = g_intern_string(value);
    return found;
}

static bool read_count(const dome_option_row *row, const char *value, void *field)
{
    guint64 count;
    if (!g_ascii_string_to_unsigned(value, 10, 1, (guint64)row->most, &count, NULL))
        return false;
    if (row->size == sizeof(uint64_t))
        *(uint64_t *)field = count;
    else
        *(unsigned *)field = (unsigned)count;
    return true;
}

/* Reads a number, with a trailing s if with_s. */
static bool read_number(const char *value, bool with_s, double *number)
{
    char *end;
    *number = g_ascii_strtod(value, &end);
    return end != value && strcmp(end, with_s ? "s" : "") == 0 && !g_ascii_isspace(*value);
}

static bool read_seconds(const dome_option_row *row, const char *value, void *field)
{
    double seconds;
    if (!read_number(value, false, &seconds) || !(seconds >= row->least && seconds <= row->most))
        return false;
    *(double *)field = seconds;
    return true;
}

static bool read_period(const char *value, bool with_s, double *seconds)
{
    return read_number(value, with_s, seconds) && *seconds > 0 && *seconds <= MAX_SECONDS;
}

static bool read_text(const char *value, void *field)
{
    if (!*value)
        return false;
    g_free(*(char **)field);
    *(char **)field = g_strdup(value);
    return true;
}

static bool read_every(const char *value, dome_options *options)
{
    guint64 count;
    if (strcmp(value, "auto") == 0) {
        options->checkpoint.unit = DOME_CHECKPOINT_AUTO;
    } else if (g_ascii_string_to_unsigned(value, 10, 1, MAX_LOOPS, &count, NULL)) {
        options->checkpoint.unit = DOME_CHECKPOINT_LOOPS;
        options->checkpoint.every = (double)count;
    } else if (read_period(value, true, &options->checkpoint.every)) {
        options->checkpoint.unit = DOME_CHECKPOINT_SECONDS;
    } else {
        return false;
    }
    return true;
}

static bool read_restart(const char *value, dome_options *options)
{
    guint64 number = 0;
    if (!*value)
        options->restart.from = DOME_RESTART_NEWEST;
    else if (strcmp(value, "auto") == 0)
        options->restart.from = DOME_RESTART_AUTO;
    else if (g_ascii_string_to_unsigned(value, 10, 1, G_MAXUINT64, &number, NULL))
        options->restart.from = DOME_RESTART_NUMBER;
    else
        return false;
    options->restart.number = number;
    return true;
}

bool dome__option_read(const dome_option_row *row, const char *value, dome_options *options)
{
    void *field = (char *)options + row->offset;
    switch (row->kind) {
    case DOME_OPTION_FLAG:
        return *(bool *)field = true;
    case DOME_OPTION_WORD:
    case DOME_OPTION_NAME:
        return read_word(row, value, field);
    case DOME_OPTION_COUNT:
        return read_count(row, value, field);
    case DOME_OPTION_SECONDS:
        return read_seconds(row, value, field);
    case DOME_OPTION_TEXT:
        return read_text(value, field);
    case DOME_OPTION_EVERY:
        return read_every(value, options);
    case DOME_OPTION_MTBF:
        return read_period(value, false, field) || read_period(value, true, field);
    case DOME_OPTION_RESTART:
        return read_restart(value, options);
    }
    return false;
}

/* Turns "a|b|c" into "'a', 'b' or 'c'", g_free'd by the caller. */
static char *list_of_words(const char *words)
{
    char **each = g_strsplit(words, "|", -1);
    guint count = g_strv_length(each);
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < count; i++)
        g_string_append_printf(text, "%s'%s'", i == 0 ? "" : i + 1 < count ? ", " : " or ", each[i]);
    g_strfreev(each);
    return g_string_free(text, FALSE);
}

/* The description of an option's valid values for error messages, g_free'd by the caller. */
static char *wanted(const dome_option_row *row)
{
    char least[G_ASCII_DTOSTR_BUF_SIZE], most[G_ASCII_DTOSTR_BUF_SIZE];
    g_ascii_formatd(least, sizeof least, "%g", row->least);
    g_ascii_formatd(most, sizeof most, "%.0f", row->most);
    if (row->wanted)
        return g_strdup(row->wanted);
    if (row->kind == DOME_OPTION_COUNT)
        return g_strdup_printf("a whole number from 1 to %s", most);
    if (row->kind == DOME_OPTION_SECONDS)
        return g_strdup_printf("seconds from %s to %s", least, most);
    return list_of_words(row->argument);
}

char *dome__option_refusal(const dome_option_row *row, const char *written, const char *value)
{
    char *shown = dome__option_readable(value), *text = wanted(row);
    char *message = g_strdup_printf("%s takes %s, not '%s'", written, text, shown);
    g_free(text);
    g_free(shown);
    return message;
}

bool dome__option_takes_next(const dome_option_row *row)
{
    return row->kind != DOME_OPTION_FLAG && row->kind != DOME_OPTION_RESTART;
}

/* ---- as text ---- */

static bool differs(const char *text, double number)
{
    const double read = g_ascii_strtod(text, NULL);
    return read < number || read > number;
}

/* The shortest text that is read as the same number. */
static char *number_text(double number, const char *unit)
{
    enum { DIGITS = 17 };
    char text[G_ASCII_DTOSTR_BUF_SIZE], format[8];
    g_ascii_formatd(text, sizeof text, "%.0f", number); /* 100, not 1e+02 */
    for (int digits = 1; differs(text, number) && digits <= DIGITS; digits++) {
        g_snprintf(format, sizeof format, "%%.%dg", digits);
        g_ascii_formatd(text, sizeof text, format, number);
    }
    return g_strconcat(text, unit, NULL);
}

static char *word_text(const dome_option_row *row, int place)
{
    char **words = g_strsplit(row->argument, "|", -1);
    char *word = place >= 0 && place < (int)g_strv_length(words) ? g_strdup(words[place]) : NULL;
    g_strfreev(words);
    return word;
}

static char *count_text(const dome_option_row *row, const void *field)
{
    const uint64_t count = row->size == sizeof(uint64_t) ? *(const uint64_t *)field : *(const unsigned *)field;
    return count ? g_strdup_printf("%" PRIu64, count) : NULL;
}

static char *every_text(const dome_options *options)
{
    if (options->checkpoint.unit == DOME_CHECKPOINT_AUTO)
        return g_strdup("auto");
    return number_text(options->checkpoint.every, options->checkpoint.unit == DOME_CHECKPOINT_SECONDS ? "s" : "");
}

static char *restart_text(const dome_options *options)
{
    switch (options->restart.from) {
    case DOME_RESTART_NEWEST:
        return g_strdup("");
    case DOME_RESTART_AUTO:
        return g_strdup("auto");
    case DOME_RESTART_NUMBER:
        return g_strdup_printf("%" PRIu64, options->restart.number);
    case DOME_RESTART_NONE:
        break;
    }
    return NULL;
}

char *dome__option_text(const dome_option_row *row, const dome_options *options)
{
    const void *field = (const char *)options + row->offset;
    const double *number = field;
    switch (row->kind) {
    case DOME_OPTION_FLAG:
        return *(const bool *)field ? g_strdup("") : NULL;
    case DOME_OPTION_WORD:
        return word_text(row, *(const int *)field);
    case DOME_OPTION_NAME:
    case DOME_OPTION_TEXT:
        return g_strdup(*(char *const *)field);
    case DOME_OPTION_COUNT:
        return count_text(row, field);
    case DOME_OPTION_SECONDS:
    case DOME_OPTION_MTBF:
        return *number > 0 ? number_text(*number, "") : NULL;
    case DOME_OPTION_EVERY:
        return every_text(options);
    case DOME_OPTION_RESTART:
        return restart_text(options);
    }
    return NULL;
}
