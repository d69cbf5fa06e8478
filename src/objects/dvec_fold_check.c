/* Whether two results that should be equal differ in more than rounding. */
#include "core/type_private.h"
#include "objects/dvec_fold.h"

#include <math.h>
#include <string.h>

/* The difference that passes for rounding, relative to the largest magnitude among the results and their parts: half of the bits
 * of double, and of float. */
static const double NEAR_F64 = 0x1p-26, NEAR_F32 = 0x1p-11;

enum { LEFT, RIGHT, VALUES = 5 }; /* two results, and their three parts */

static double number_at(const char *at, size_t bytes)
{
    float single;
    double value;
    if (bytes == sizeof single)
        return memcpy(&single, at, bytes), single;
    return memcpy(&value, at, bytes), value;
}

static bool floats_differ(size_t bytes, const char *const at[VALUES], double value[2])
{
    double largest = 0;
    for (int k = 0; k < VALUES; k++) {
        double magnitude = fabs(number_at(at[k], bytes));
        if (isfinite(magnitude) && magnitude > largest)
            largest = magnitude;
    }
    value[0] = number_at(at[LEFT], bytes);
    value[1] = number_at(at[RIGHT], bytes);
    if (value[0] == value[1] || (isnan(value[0]) && isnan(value[1])))
        return false;
    return !(fabs(value[0] - value[1]) <= largest * (bytes == sizeof(float) ? NEAR_F32 : NEAR_F64));
}

/* As text, for the message. */
static double integer_at(const struct dome_type_desc *type, const char *at)
{
    unsigned char portable[8] = {0};
    uint64_t bits = 0;
    dome_type_pack(type, DOME_PORTABLE, portable, at, 1);
    bool negative = type->kind <= DOME_KIND_I64 && portable[0] & 0x80;
    for (size_t k = 0; k < type->size; k++)
        bits = bits << 8 | portable[k];
    if (!negative)
        return (double)bits;
    return -(double)(~bits & (UINT64_MAX >> (64 - 8 * type->size))) - 1;
}

static bool items_differ(dome_type type, const char *const at[VALUES], const char *name, char **text)
{
    if (type->kind == DOME_KIND_STRUCT) {
        for (size_t f = 0; f < type->nfields; f++) {
            const dome_field *field = &type->fields[f];
            for (size_t k = 0; k < field->count; k++) {
                const char *items[VALUES];
                for (int v = 0; v < VALUES; v++)
                    items[v] = at[v] + field->offset + k * field->type->size;
                if (items_differ(field->type, items, field->name, text))
                    return true;
            }
        }
        return false;
    }
    double value[2];
    bool differ = false;
    if (type->kind <= DOME_KIND_U64) {
        differ = memcmp(at[LEFT], at[RIGHT], type->size) != 0;
        value[0] = integer_at(type, at[LEFT]);
        value[1] = integer_at(type, at[RIGHT]);
    } else {
        for (size_t part = 0; part < type->size && !differ; part += type->atom) {
            const char *parts[VALUES];
            for (int v = 0; v < VALUES; v++)
                parts[v] = at[v] + part;
            differ = floats_differ(type->atom, parts, value);
        }
    }
    if (differ)
        *text = name ? g_strdup_printf("give '%s' %.17g or %.17g", name, value[0], value[1])
                     : g_strdup_printf("give %.17g or %.17g", value[0], value[1]);
    return differ;
}

bool dvec__fold_differs(dome_type type, const void *left, const void *right, const void *const parts[3], char **text)
{
    const char *at[VALUES] = {left, right, parts[0], parts[1], parts[2]};
    return items_differ(type, at, NULL, text);
}
