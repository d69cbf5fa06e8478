#include "files/decimal.h"

#include <glib.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The C library's conversions look for the decimal point of a locale. */
static locale_t c_locale(void)
{
    static gsize made;
    if (g_once_init_enter(&made)) {
        locale_t locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
        g_once_init_leave(&made, (gsize)(locale ? locale : LC_GLOBAL_LOCALE));
    }
    return (locale_t)made;
}

/* A number as it is written: digits, and a power of ten. */
typedef struct written {
    bool negative, is_number;
    bool exact;        /* mantissa and power are all of it */
    uint64_t mantissa; /* of up to 19 digits */
    int power;
} written;

static bool is_word(const char *text, size_t length, const char *word)
{
    return length == strlen(word) && g_ascii_strncasecmp(text, word, length) == 0;
}

/* Adds digits from `at` on. Returns where they end. */
static const char *take_digits(written *w, const char *at, const char *end, int power_of_each, bool *any)
{
    for (; at < end && g_ascii_isdigit(*at); at++) {
        *any = true;
        if (w->mantissa >= UINT64_C(1000000000000000000))
            w->exact = w->exact && *at == '0' && power_of_each < 0;
        else {
            w->mantissa = 10 * w->mantissa + (uint64_t)(*at - '0');
            w->power += power_of_each;
        }
    }
    return at;
}

static written parse(const char *text, size_t length)
{
    const char *at = text, *end = text + length;
    written w = {.exact = true};
    bool any = false;
    if (at < end && (*at == '-' || *at == '+'))
        w.negative = *at++ == '-';
    at = take_digits(&w, at, end, 0, &any);
    if (at < end && *at == '.')
        at = take_digits(&w, at + 1, end, -1, &any);
    if (any && at < end && (*at == 'e' || *at == 'E')) {
        const char *digits = at + 1 < end && (at[1] == '-' || at[1] == '+') ? at + 2 : at + 1;
        int exponent = 0;
        const bool down = at + 1 < end && at[1] == '-';
        for (at = digits; at < end && g_ascii_isdigit(*at); at++)
            exponent = MIN(10 * exponent + (*at - '0'), 100000);
        any = at > digits;
        w.power += down ? -exponent : exponent;
    }
    w.is_number = any && at == end;
    return w;
}

/* The text for the C library, which needs its end. Room for the longest one that a double needs is on the stack. */
static char *copy_of(const char *text, size_t length, char room[800])
{
    char *copy = length < 800 ? room : g_malloc(length + 1);
    memcpy(copy, text, length);
    copy[length] = 0;
    return copy;
}

static bool special(const char *text, size_t length, double *value)
{
    const bool sign = length > 0 && (*text == '-' || *text == '+');
    const char *word = text + sign;
    length -= sign;
    if (is_word(word, length, "nan"))
        *value = NAN;
    else if (is_word(word, length, "inf") || is_word(word, length, "infinity"))
        *value = *text == '-' ? -INFINITY : INFINITY;
    else
        return false;
    return true;
}

/* Short numbers: a whole number and a power of ten that a type holds exactly make a product or quotient that is rounded once (W.
 * D. Clinger: How to read floating point numbers accurately, PLDI 1990). */
bool dome__decimal_f64(const char *text, size_t length, double *value)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const written w = parse(text, length);
    if (!w.is_number)
        return special(text, length, value);
    if (w.exact && w.mantissa <= UINT64_C(1) << 53 && abs(w.power) < (int)G_N_ELEMENTS(powers)) {
        const double whole = (double)w.mantissa, found = w.power < 0 ? whole / powers[-w.power] : whole * powers[w.power];
        *value = w.negative ? -found : found;
        return true;
    }
    char room[800], *copy = copy_of(text, length, room);
    *value = strtod_l(copy, NULL, c_locale());
    if (copy != room)
        g_free(copy);
    return true;
}

bool dome__decimal_f32(const char *text, size_t length, float *value)
{
    static const float powers[] = {1e0f, 1e1f, 1e2f, 1e3f, 1e4f, 1e5f, 1e6f, 1e7f, 1e8f, 1e9f, 1e10f};
    const written w = parse(text, length);
    double wide;
    if (!w.is_number) {
        if (!special(text, length, &wide))
            return false;
        *value = (float)wide;
        return true;
    }
    if (w.exact && w.mantissa <= 1 << 24 && abs(w.power) < (int)G_N_ELEMENTS(powers)) {
        const float whole = (float)w.mantissa, found = w.power < 0 ? whole / powers[-w.power] : whole * powers[w.power];
        *value = w.negative ? -found : found;
        return true;
    }
    char room[800], *copy = copy_of(text, length, room);
    *value = strtof_l(copy, NULL, c_locale());
    if (copy != room)
        g_free(copy);
    return true;
}

/* The digits of an integer without its sign. *wide: it has more than 64 bits. */
static bool magnitude(const char *text, size_t length, uint64_t *value, bool *wide)
{
    *value = 0;
    *wide = false;
    for (size_t i = 0; i < length; i++) {
        if (!g_ascii_isdigit(text[i]))
            return false;
        *wide = *wide || __builtin_mul_overflow(*value, 10, value) ||
                __builtin_add_overflow(*value, (uint64_t)(text[i] - '0'), value);
    }
    return length > 0;
}

bool dome__decimal_i64(const char *text, size_t length, int64_t least, int64_t most, int64_t *value, bool *wide)
{
    const bool sign = length > 0 && (*text == '-' || *text == '+'), negative = sign && *text == '-';
    uint64_t size;
    *wide = false;
    if (!magnitude(text + sign, length - sign, &size, wide))
        return *wide = false;
    *wide = *wide || (negative ? size > (uint64_t)0 - (uint64_t)least : size > (uint64_t)most);
    *value = (int64_t)(negative ? 0 - size : size);
    return !*wide;
}

bool dome__decimal_u64(const char *text, size_t length, uint64_t most, uint64_t *value, bool *wide)
{
    const bool sign = length > 0 && (*text == '-' || *text == '+'), negative = sign && *text == '-';
    *wide = false;
    if (!magnitude(text + sign, length - sign, value, wide))
        return *wide = false;
    *wide = *wide || *value > most || (negative && *value > 0);
    return !*wide;
}

void dome__decimal_shortest(double value, bool single, char text[DOME_DECIMAL_LONGEST])
{
    const int most = single ? 9 : 17;
    for (int digits = 1; digits <= most; digits++) {
        char format[8];
        double back;
        float back_single;
        g_snprintf(format, sizeof format, "%%.%de", digits - 1);
        g_ascii_formatd(text, DOME_DECIMAL_LONGEST, format, value);
        if (single ? dome__decimal_f32(text, strlen(text), &back_single) && back_single == (float)value
                   : dome__decimal_f64(text, strlen(text), &back) && back == value)
            return;
    }
}
