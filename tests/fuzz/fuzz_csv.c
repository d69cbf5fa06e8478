/* Text files of columns on arbitrary bytes: no crash, a text in two parts gives what the whole text gives, fields lie in their
 * record, and numbers are those of strtod. The first two bytes choose the separator and the comment, the third one where the text
 * is cut. */
#include "files/csv.h"
#include "files/decimal.h"

#include <glib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void check_number(const char *text, size_t length)
{
    double value = 0;
    float narrow = 0;
    int64_t whole = 0;
    uint64_t positive = 0;
    bool wide = false;
    const bool number = dome__decimal_f64(text, length, &value);
    require(dome__decimal_f32(text, length, &narrow) == number);
    char *copy = g_strndup(text, length), *end = NULL;
    if (number) {
        const double expected = g_ascii_strtod(copy, &end);
        require(*end == 0 && (isnan(expected) ? isnan(value) : memcmp(&value, &expected, sizeof value) == 0));
        require(isnan(expected) ? isnan(narrow) : narrow == strtof(copy, NULL));
    }
    if (dome__decimal_i64(text, length, INT64_MIN, INT64_MAX, &whole, &wide))
        require(number && !wide && whole == g_ascii_strtoll(copy, NULL, 10));
    else if (wide)
        require(number);
    wide = false;
    if (dome__decimal_u64(text, length, UINT64_MAX, &positive, &wide) && *copy != '-')
        require(number && !wide && positive == g_ascii_strtoull(copy, NULL, 10));
    if (number && isfinite(value)) {
        char shortest[DOME_DECIMAL_LONGEST];
        double again = 0;
        dome__decimal_shortest(value, false, shortest);
        require(strlen(shortest) < sizeof shortest && dome__decimal_f64(shortest, strlen(shortest), &again) && again == value);
    }
    g_free(copy);
}

static void check_record(const dome_csv_format *f, const char *text, size_t bytes)
{
    const size_t count = dome__csv_split(f, text, bytes, NULL, 0);
    dome_csv_field *fields = g_new0(dome_csv_field, count + 1);
    require(count <= bytes + 1 && dome__csv_split(f, text, bytes, fields, count) == count);
    const char *at = text;
    for (size_t k = 0; k < count; k++) {
        const dome_csv_field *field = &fields[k];
        require(field->text >= at && field->length <= bytes - (size_t)(field->text - text));
        at = field->text + field->length;
        char *plain = g_malloc(field->length + 1);
        const size_t length = dome__csv_unquote(field, plain);
        require(length <= field->length && (field->doubled || (length == field->length && !memcmp(plain, field->text, length))));
        dome__csv_is_missing(plain, length);
        check_number(plain, length);
        g_free(plain);
    }
    g_free(fields);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dome_csv_format f;
    if (size < 3 || !dome__csv_format(&f, (char)data[0], (char)data[1]))
        return 0;
    const char *text = (const char *)data + 3;
    const size_t bytes = size - 3, cut = bytes * data[2] / 255;
    dome_csv_scan whole, parts[2];
    dome__csv_scan_begin(&whole);
    dome__csv_scan(&f, &whole, text, bytes);
    for (int k = 0; k < 2; k++) {
        dome__csv_scan_begin(&parts[k]);
        dome__csv_scan(&f, &parts[k], text + (k ? cut : 0), k ? bytes - cut : cut);
    }
    require(whole.lines == parts[0].lines + parts[1].lines);
    for (int s = 0; s < DOME_CSV_STATES; s++) {
        const dome_csv_state between = parts[0].state[s];
        require(whole.records[s] == parts[0].records[s] + parts[1].records[between] && whole.state[s] == parts[1].state[between]);
    }
    uint64_t records = 0;
    for (size_t at = 0; at < bytes;) {
        dome_csv_state state = DOME_CSV_LINE;
        bool complete;
        at += dome__csv_first(&f, &state, text + at, bytes - at);
        if (at == bytes)
            break;
        const size_t length = dome__csv_record(&f, text + at, bytes - at, &complete);
        check_record(&f, text + at, length);
        at += length + complete;
        records++;
    }
    require(records == whole.records[DOME_CSV_LINE]);
    return 0;
}
