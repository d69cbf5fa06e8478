#include "objects/dscalar_private.h"

#include "core/marks.h"
#include "core/object_private.h"
#include "core/type_private.h"

#include <dome/env.h>

#include <math.h>
#include <string.h>

/* ---- values that are not known yet ---- */

void dscalar__set_future(dscalar *s, dome_future *future)
{
    dome__future_unref(s->future);
    s->future = future;
    s->written = DOME_WRITTEN;
}

dome_future *dscalar__future(const dscalar *s)
{
    return s->future ? dome__future_ref(s->future) : dome__future_of(s->type, s->value);
}

dome_status dscalar__ask(const dscalar *s)
{
    dscalar *changes = dome_object_content(s->object);
    if (!s->future)
        return DOME_OK;
    dome_future *future = g_steal_pointer(&changes->future);
    dome_status status = dome__future_ask(s->env, future, s->value);
    dome__future_unref(future);
    return status;
}

/* ---- operation table ---- */

static dscalar *self(const dome_object *object)
{
    return dome_object_content(object);
}

static dome_status scalar_describe(const dome_object *object, dome_object_info *info)
{
    *info = (dome_object_info){.type = self(object)->type, .length = 1, .width = 1, .distribution = DOME_WHOLE};
    return DOME_OK;
}

/* Called on all tasks. */
static dome_status scalar_sync(dome_object *object)
{
    dscalar *s = self(object);
    return s->future && dome__future_peek(s->env, s->future, s->value) ? DOME_ERR_RANGE : DOME_OK;
}

static const char *why(const dome_object *object)
{
    const dscalar *s = self(object);
    return s->future ? dome__future_peek(s->env, s->future, s->value) : NULL;
}

static dome_status scalar_packed_bytes(const dome_object *object, uint64_t first, uint64_t count, dome_format format,
                                       uint64_t *bytes)
{
    if (first > 1 || count > 1 - first)
        return DOME_ERR_ARGUMENT;
    *bytes = count * dome_type_bytes(self(object)->type, format);
    return DOME_OK;
}

static dome_status scalar_pack(const dome_object *object, uint64_t first, uint64_t count, dome_format format, void *buffer,
                               uint64_t bytes)
{
    uint64_t expected;
    int status = scalar_packed_bytes(object, first, count, format, &expected);
    if (status != DOME_OK)
        return status;
    if (bytes != expected)
        return DOME_ERR_ARGUMENT;
    dome_type_pack(self(object)->type, format, buffer, self(object)->value, count);
    return DOME_OK;
}

static dome_status scalar_unpack(dome_object *object, uint64_t first, uint64_t count, dome_format format, const void *buffer,
                                 uint64_t bytes)
{
    uint64_t expected;
    int status = scalar_packed_bytes(object, first, count, format, &expected);
    if (status != DOME_OK)
        return status;
    if (bytes != expected)
        return DOME_ERR_FORMAT;
    dome_type_unpack(self(object)->type, format, self(object)->value, buffer, count);
    if (count)
        dscalar__set_future(self(object), NULL);
    return DOME_OK;
}

static dome_status scalar_delta(dome_object *object, unsigned mark, dome_delta_visit visit, void *ctx)
{
    dscalar *s = self(object);
    if (visit)
        return s->written & DOME_MARK_BIT(mark) ? visit(ctx, 0, 1) : DOME_OK;
    s->written &= (uint8_t)~DOME_MARK_BIT(mark);
    return DOME_OK;
}

static const void *scalar_values(const dome_object *object, uint64_t first, uint64_t count)
{
    return first == 0 && count == 1 ? self(object)->value : NULL;
}

static dome_status scalar_enter(dome_object *object, const dome_layout *layout)
{
    dscalar *s = self(object);
    (void)layout;
    memset(s->value, 0, dome_type_size(s->type));
    dscalar__set_future(s, NULL);
    return DOME_OK;
}

static void scalar_destroy(dome_object *object)
{
    g_free(self(object)->value);
    dome__future_unref(g_steal_pointer(&self(object)->future));
    dome__bury(dome_object_env(object), self(object));
}

static const dome_object_ops scalar_ops = {
    .size = sizeof(dome_object_ops),
    .kind = "dscalar",
    .describe = scalar_describe,
    .sync = scalar_sync,
    .packed_bytes = scalar_packed_bytes,
    .pack = scalar_pack,
    .unpack = scalar_unpack,
    .destroy = scalar_destroy,
    .values = scalar_values,
    .delta = scalar_delta,
    .enter = scalar_enter,
};

/* ---- life ---- */

dscalar *dscalar_new(dome_env *env, const char *name, dome_type type)
{
    DOME_NEEDS(env, "the environment", NULL);
    dome_operation op;
    uint64_t words[] = {dome__text_word(env, name), dome__type_word(env, type)};
    dome__begin_with(&op, env, DOME_OP_DSCALAR_NEW, NULL, words, G_N_ELEMENTS(words));
    if (!type) {
        dome__end(&op, dome__fail(env, DOME_ERR_ARGUMENT, "'%s' has no type", name ? name : ""));
        return NULL;
    }
    dscalar *s = g_new0(dscalar, 1);
    s->written = DOME_WRITTEN;
    s->env = env;
    s->type = type;
    s->value = g_malloc0(type->size);
    s->object = dome_object_new(env, name, &scalar_ops, s);
    if (!s->object) {
        g_free(s->value);
        g_free(s);
        dome__end(&op, dome_error_status(env));
        return NULL;
    }
    dome__object_defers(s->object, why);
    dome__end(&op, DOME_OK);
    return s;
}

void dscalar_free(dscalar *s)
{
    if (s)
        dome_object_free(s->object);
}

dome_type dscalar_type(const dscalar *s)
{
    DOME_NEEDS(s, "the scalar", NULL);
    return s->type;
}

const char *dscalar_name(const dscalar *s)
{
    DOME_NEEDS(s, "the scalar", NULL);
    return dome_object_name(s->object);
}

dome_object *dscalar_object(dscalar *s)
{
    DOME_NEEDS(s, "the scalar", NULL);
    return s->object;
}

/* ---- values: every conversion exact ---- */

#define TWO_63 9223372036854775808.0
#define TWO_64 18446744073709551616.0

/* The intermediate form between a C value and the scalar's memory: an integer as sign and 64 bits, or a double. */
typedef struct number {
    bool is_integer, negative;
    uint64_t bits; /* two's complement */
    double real;
} number;

static number number_i64(int64_t value)
{
    return (number){.is_integer = true, .negative = value < 0, .bits = (uint64_t)value};
}

static number number_f64(double value)
{
    number x = {.real = value};
    if (value >= -TWO_63 && value < 0 && value == trunc(value)) {
        x = number_i64((int64_t)value);
        x.real = value;
    } else if (value >= 0 && value < TWO_64 && value == trunc(value)) {
        x.is_integer = true;
        x.bits = (uint64_t)value;
    }
    return x;
}

/* Whether x is exactly representable as a double; if so stores it. Numbers that were doubles keep the sign of zero. */
static bool as_f64(const number *x, bool from_double, double *value)
{
    if (from_double) {
        *value = x->real;
        return true;
    }
    double d = x->negative ? (double)(int64_t)x->bits : (double)x->bits;
    number back = number_f64(d);
    *value = d;
    return back.is_integer && back.negative == x->negative && back.bits == x->bits;
}

static bool store(const dscalar *s, const number *x, bool from_double, void *to)
{
    double d;
    memset(to, 0, s->type->size);
    switch (s->type->kind) {
#define STORE_SIGNED(KIND, ctype, MIN_, MAX_)                                                                                    \
    case DOME_KIND_##KIND: {                                                                                                     \
        int64_t wide = (int64_t)x->bits;                                                                                         \
        if (!x->is_integer || x->negative != (wide < 0) || wide < MIN_ || wide > MAX_)                                           \
            return false;                                                                                                        \
        ctype value = (ctype)wide;                                                                                               \
        memcpy(to, &value, sizeof value);                                                                                        \
        return true;                                                                                                             \
    }
#define STORE_UNSIGNED(KIND, ctype, MAX_)                                                                                        \
    case DOME_KIND_##KIND: {                                                                                                     \
        if (!x->is_integer || x->negative || x->bits > MAX_)                                                                     \
            return false;                                                                                                        \
        ctype value = (ctype)x->bits;                                                                                            \
        memcpy(to, &value, sizeof value);                                                                                        \
        return true;                                                                                                             \
    }
        STORE_SIGNED(I8, int8_t, INT8_MIN, INT8_MAX)
        STORE_SIGNED(I16, int16_t, INT16_MIN, INT16_MAX)
        STORE_SIGNED(I32, int32_t, INT32_MIN, INT32_MAX)
        STORE_SIGNED(I64, int64_t, INT64_MIN, INT64_MAX)
        STORE_UNSIGNED(U8, uint8_t, UINT8_MAX)
        STORE_UNSIGNED(U16, uint16_t, UINT16_MAX)
        STORE_UNSIGNED(U32, uint32_t, UINT32_MAX)
        STORE_UNSIGNED(U64, uint64_t, UINT64_MAX)
    case DOME_KIND_F32:
    case DOME_KIND_C64: {
        if (!as_f64(x, from_double, &d))
            return false;
        float value = (float)d;
        memcpy(to, &value, sizeof value);
        return isnan(d) || (double)value == d;
    }
    case DOME_KIND_F64:
    case DOME_KIND_C128:
        if (!as_f64(x, from_double, &d))
            return false;
        memcpy(to, &d, sizeof d);
        return true;
    case DOME_KIND_STRUCT:
        break;
    }
    return false;
}

/* Reading is not recorded in the program's history, so that a single task may read: only a failure to read counts as an
 * operation. */
static dome_operation operation_of_this_task(const dscalar *s, dome_operation_code code)
{
    return (dome_operation){.env = s->env, .code = code, .object = s->object, .outer = s->env->operation};
}

static int fail_reading(const dscalar *s, dome_operation_code code, int status, const char *text)
{
    dome_operation op = operation_of_this_task(s, code);
    s->env->operation = &op;
    dome__fail(s->env, status, "%s", text);
    s->env->operation = op.outer;
    return status;
}

/* Before reading. Reading a scalar that was freed ends the program, as in all operations. A value that the program has not asked
 * for yet is asked for by an operation of all tasks, unless this task can tell it alone. */
static dome_status begin_reading(const dscalar *s, dome_operation_code code)
{
    dome_operation op = operation_of_this_task(s, code);
    if (dome_object_id(s->object) & DOME_FREED) {
        dome__errors_end(s->env);
        return fail_reading(s, code, DOME_ERR_STATE, "it has been freed");
    }
    if (!s->future)
        return DOME_OK;
    if (!dome__future_is_settled(s->future)) {
        dome__begin(&op, s->env, code, s->object, 0);
        return dome__end(&op, dscalar__ask(s));
    }
    s->env->operation = &op;
    dome_status status = dscalar__ask(s);
    s->env->operation = op.outer;
    return status;
}

/* The scalar's value as a number; false for a complex one with an imaginary part. */
static bool load(const dscalar *s, number *x, bool *is_double)
{
    *is_double = false;
    switch (s->type->kind) {
#define LOAD_SIGNED(KIND, ctype)                                                                                                 \
    case DOME_KIND_##KIND: {                                                                                                     \
        ctype value;                                                                                                             \
        memcpy(&value, s->value, sizeof value);                                                                                  \
        *x = number_i64(value);                                                                                                  \
        return true;                                                                                                             \
    }
#define LOAD_UNSIGNED(KIND, ctype)                                                                                               \
    case DOME_KIND_##KIND: {                                                                                                     \
        ctype value;                                                                                                             \
        memcpy(&value, s->value, sizeof value);                                                                                  \
        *x = (number){.is_integer = true, .bits = value};                                                                        \
        return true;                                                                                                             \
    }
        LOAD_SIGNED(I8, int8_t)
        LOAD_SIGNED(I16, int16_t)
        LOAD_SIGNED(I32, int32_t)
        LOAD_SIGNED(I64, int64_t)
        LOAD_UNSIGNED(U8, uint8_t)
        LOAD_UNSIGNED(U16, uint16_t)
        LOAD_UNSIGNED(U32, uint32_t)
        LOAD_UNSIGNED(U64, uint64_t)
#define LOAD_FLOAT(REAL, COMPLEX, ctype)                                                                                         \
    case DOME_KIND_##REAL:                                                                                                       \
    case DOME_KIND_##COMPLEX: {                                                                                                  \
        ctype part[2] = {0, 0};                                                                                                  \
        memcpy(part, s->value, s->type->size);                                                                                   \
        *x = number_f64((double)part[0]);                                                                                        \
        *is_double = true;                                                                                                       \
        return part[1] == 0;                                                                                                     \
    }
        LOAD_FLOAT(F32, C64, float)
        LOAD_FLOAT(F64, C128, double)
    case DOME_KIND_STRUCT:
        break;
    }
    return false;
}

static int set_number(dscalar *s, const number *x, bool from_double, uint64_t word)
{
    dome_operation op;
    dome__begin(&op, s->env, from_double ? DOME_OP_DSCALAR_SET_F64 : DOME_OP_DSCALAR_SET_I64, s->object, word);
    if (s->type->kind == DOME_KIND_STRUCT)
        return dome__end(&op, dome__fail(s->env, DOME_ERR_TYPE, "a value of struct type '%s' is not a number", s->type->name));

    char value[16];
    if (!store(s, x, from_double, value)) {
        char text[64];
        if (from_double)
            g_snprintf(text, sizeof text, "%.17g", x->real);
        else
            g_snprintf(text, sizeof text, "%" G_GINT64_FORMAT, (int64_t)x->bits);
        return dome__end(&op, dome__fail(s->env, DOME_ERR_RANGE, "%s is not exact in type %s", text, s->type->name));
    }
    memcpy(s->value, value, s->type->size);
    dscalar__set_future(s, NULL);
    return dome__end(&op, DOME_OK);
}

dome_status dscalar_set_i64(dscalar *s, int64_t value)
{
    DOME_NEEDS(s, "the scalar", DOME_ERR_ARGUMENT);
    number x = number_i64(value);
    return set_number(s, &x, false, (uint64_t)value);
}

dome_status dscalar_set_f64(dscalar *s, double value)
{
    DOME_NEEDS(s, "the scalar", DOME_ERR_ARGUMENT);
    number x = number_f64(value);
    return set_number(s, &x, true, dome__double_word(value));
}

/* Stores an imaginary part behind the real part, if it can be stored exactly. */
static bool store_imaginary(const dscalar *s, double imaginary, char *to)
{
    float single = (float)imaginary;
    switch (s->type->kind) {
    case DOME_KIND_C64:
        memcpy(to + sizeof single, &single, sizeof single);
        return isnan(imaginary) || (double)single == imaginary;
    case DOME_KIND_C128:
        memcpy(to + sizeof imaginary, &imaginary, sizeof imaginary);
        return true;
    default:
        return imaginary == 0;
    }
}

dome_status dscalar_set_c128(dscalar *s, const double value[2])
{
    DOME_NEEDS(s, "the scalar", DOME_ERR_ARGUMENT);
    dome_operation op;
    uint64_t words[2] = {value ? dome__double_word(value[0]) : 0, value ? dome__double_word(value[1]) : 0};
    dome__begin_with(&op, s->env, DOME_OP_DSCALAR_SET_C128, s->object, words, 2);
    if (!value)
        return dome__end(&op, dome__fail(s->env, DOME_ERR_ARGUMENT, "there is no value"));
    if (s->type->kind == DOME_KIND_STRUCT)
        return dome__end(&op, dome__fail(s->env, DOME_ERR_TYPE, "a value of struct type '%s' is not a number", s->type->name));
    number x = number_f64(value[0]);
    char stored[16];
    if (!store(s, &x, true, stored) || !store_imaginary(s, value[1], stored))
        return dome__end(&op, dome__fail(s->env, DOME_ERR_RANGE, "%.17g + %.17g i is not exact in type %s", value[0], value[1],
                                         s->type->name));
    memcpy(s->value, stored, s->type->size);
    dscalar__set_future(s, NULL);
    return dome__end(&op, DOME_OK);
}

static int fail_number(const dscalar *s, dome_operation_code code, const char *wanted)
{
    bool is_struct = s->type->kind == DOME_KIND_STRUCT;
    char *text = is_struct ? g_strdup_printf("a value of struct type '%s' is not a number", s->type->name)
                           : g_strdup_printf("the value of type %s is not exact as %s", s->type->name, wanted);
    int status = fail_reading(s, code, is_struct ? DOME_ERR_TYPE : DOME_ERR_RANGE, text);
    g_free(text);
    return status;
}

int64_t dscalar_get_i64(const dscalar *s)
{
    DOME_NEEDS(s, "the scalar", 0);
    number x;
    bool is_double;
    if (begin_reading(s, DOME_OP_DSCALAR_GET_I64) != DOME_OK)
        return 0;
    if (!load(s, &x, &is_double) || !x.is_integer || x.negative != ((int64_t)x.bits < 0)) {
        fail_number(s, DOME_OP_DSCALAR_GET_I64, "int64_t");
        return 0;
    }
    return (int64_t)x.bits;
}

double dscalar_get_f64(const dscalar *s)
{
    DOME_NEEDS(s, "the scalar", NAN);
    number x;
    bool is_double;
    double value;
    if (begin_reading(s, DOME_OP_DSCALAR_GET_F64) != DOME_OK)
        return NAN;
    if (!load(s, &x, &is_double) || !as_f64(&x, is_double, &value)) {
        fail_number(s, DOME_OP_DSCALAR_GET_F64, "double");
        return NAN;
    }
    return value;
}

dome_status dscalar_set(dscalar *s, const void *value)
{
    DOME_NEEDS(s, "the scalar", DOME_ERR_ARGUMENT);
    dome_operation op;
    dome__begin(&op, s->env, DOME_OP_DSCALAR_SET, s->object, dome__value_word(s->type, value));
    if (!value)
        return dome__end(&op, dome__fail(s->env, DOME_ERR_ARGUMENT, "there is no value"));
    memcpy(s->value, value, s->type->size);
    dscalar__set_future(s, NULL);
    return dome__end(&op, DOME_OK);
}

dome_status dscalar_get(const dscalar *s, void *value)
{
    DOME_NEEDS(s, "the scalar", DOME_ERR_ARGUMENT);
    dome_status status = begin_reading(s, DOME_OP_DSCALAR_GET);
    if (!value)
        return fail_reading(s, DOME_OP_DSCALAR_GET, DOME_ERR_ARGUMENT, "there is no place for the value");
    memcpy(value, s->value, s->type->size);
    return status;
}

dome_status dscalar_get_c128(const dscalar *s, double value[2])
{
    DOME_NEEDS(s, "the scalar", DOME_ERR_ARGUMENT);
    dome_status status = begin_reading(s, DOME_OP_DSCALAR_GET_C128);
    if (!value)
        return fail_reading(s, DOME_OP_DSCALAR_GET_C128, DOME_ERR_ARGUMENT, "there is no place for the value");
    if (status != DOME_OK) {
        value[0] = value[1] = NAN;
        return status;
    }
    number x;
    bool is_double;
    float single;
    bool real = load(s, &x, &is_double);
    value[0] = value[1] = NAN;
    if ((!real && !is_double) || !as_f64(&x, is_double, &value[0]))
        return fail_number(s, DOME_OP_DSCALAR_GET_C128, "double");
    value[1] = 0;
    if (s->type->kind == DOME_KIND_C64) {
        memcpy(&single, s->value + sizeof single, sizeof single);
        value[1] = single;
    } else if (s->type->kind == DOME_KIND_C128) {
        memcpy(&value[1], s->value + sizeof value[1], sizeof value[1]);
    }
    return DOME_OK;
}
