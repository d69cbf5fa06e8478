/* Decimal numbers in texts: correctly rounded, whatever the locale. */
#ifndef DOME_SRC_DECIMAL_H
#define DOME_SRC_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads a number that takes the whole text: digits with a sign, a decimal point and an exponent, as far as there are any; or nan,
 * inf, infinity in any letter case. A number beyond the type's range is infinite. False if it is none. */
bool dome__decimal_f64(const char *text, size_t length, double *value);
bool dome__decimal_f32(const char *text, size_t length, float *value);

/* An integer between the two limits. Sets *wide if it is a number but not between them. */
bool dome__decimal_i64(const char *text, size_t length, int64_t least, int64_t most, int64_t *value, bool *wide);
bool dome__decimal_u64(const char *text, size_t length, uint64_t most, uint64_t *value, bool *wide);

/* The fewest digits, at most 17, that stand for this finite number alone among those of its type: "-1.25e+02". The text has at
 * least DOME_DECIMAL_LONGEST bytes. */
enum { DOME_DECIMAL_LONGEST = 32 };
void dome__decimal_shortest(double value, bool single, char text[DOME_DECIMAL_LONGEST]);

#endif
