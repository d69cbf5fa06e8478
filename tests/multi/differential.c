/* Random chains of operations against a plain sequential reference, bit for bit.
 *
 *     differential [SEED [CHAINS [LENGTH]]]
 *
 * Chain k is made from SEED + k alone: "differential SEED+k 1" runs it again. Every task holds the whole reference and compares
 * its own part. The reference shares no code with the library: it has its own block rule, exact sums, random numbers and
 * arithmetic, value by value. LENGTH, if given, is the length of all vectors. */
#include "draw.h"
#include "reference_sum.h"

#include <complex.h>
#include <dome/dome.h>
#include <dome/structure.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the chain's own random numbers ---- */

static uint64_t rng(void)
{
    return draw_word();
}

static uint64_t below(uint64_t n)
{
    return draw(n);
}

static bool chance(int percent)
{
    return below(100) < (uint64_t)percent;
}

/* ---- the state of a chain ---- */

/* A vector and its expected values. */
typedef struct model {
    dvec *v;
    dome_type type;
    dome_type_kind kind;
    uint64_t n, width, count; /* count: values */
    uint64_t block;
    dome_distribution distribution;
    unsigned char *data;
    const char *name;
} model;

static dome_env *env;
static uint64_t seed, operations;
static bool wild; /* infinities, NaN, numbers of all sizes */
static char *chain_log;
static size_t log_used, log_size;

static void note(const char *text)
{
    size_t length = strlen(text);
    if (log_used + length + 3 > log_size) {
        log_size = 2 * log_size + length + 3;
        chain_log = realloc(chain_log, log_size);
    }
    log_used += (size_t)sprintf(chain_log + log_used, "%s; ", text);
}

#define LOG(...)                                                                                                                 \
    do {                                                                                                                         \
        char line_[200];                                                                                                         \
        snprintf(line_, sizeof line_, __VA_ARGS__);                                                                              \
        note(line_);                                                                                                             \
        operations++;                                                                                                            \
    } while (0)

#define DIFFERS(...)                                                                                                             \
    do {                                                                                                                         \
        char why_[300];                                                                                                          \
        snprintf(why_, sizeof why_, __VA_ARGS__);                                                                                \
        fprintf(stderr, "chain with seed %llu: %s\n", (unsigned long long)seed, chain_log);                                      \
        dome_abort(env, "chain with seed %llu: %s", (unsigned long long)seed, why_);                                             \
    } while (0)

static bool is_integer(dome_type_kind kind)
{
    return kind <= DOME_KIND_U64;
}

static bool is_signed(dome_type_kind kind)
{
    return kind <= DOME_KIND_I64;
}

static bool is_complex(dome_type_kind kind)
{
    return kind == DOME_KIND_C64 || kind == DOME_KIND_C128;
}

static bool is_float(dome_type_kind kind)
{
    return kind == DOME_KIND_F32 || kind == DOME_KIND_F64;
}

static bool is_single(dome_type_kind kind)
{
    return kind == DOME_KIND_F32 || kind == DOME_KIND_C64;
}

/* ---- single values ---- */

/* Integers as 64 bits with their sign extended; floating point as doubles. */
typedef struct value {
    uint64_t u;
    double re, im;
} value;

static value load(const model *m, uint64_t i)
{
    value v = {0, 0, 0};
    const unsigned char *at = m->data + i * dome_type_size(m->type);
#define LOAD_INTEGER(KIND, T)                                                                                                    \
    case DOME_KIND_##KIND: {                                                                                                     \
        T t;                                                                                                                     \
        memcpy(&t, at, sizeof t);                                                                                                \
        v.u = (uint64_t)t;                                                                                                       \
        break;                                                                                                                   \
    }
    float f[2];
    switch (m->kind) {
        LOAD_INTEGER(I8, int8_t)
        LOAD_INTEGER(I16, int16_t)
        LOAD_INTEGER(I32, int32_t)
        LOAD_INTEGER(I64, int64_t)
        LOAD_INTEGER(U8, uint8_t)
        LOAD_INTEGER(U16, uint16_t)
        LOAD_INTEGER(U32, uint32_t)
        LOAD_INTEGER(U64, uint64_t)
    case DOME_KIND_F32:
        memcpy(f, at, sizeof *f);
        v.re = f[0];
        break;
    case DOME_KIND_C64:
        memcpy(f, at, sizeof f);
        v.re = f[0];
        v.im = f[1];
        break;
    case DOME_KIND_C128:
        memcpy(&v.im, at + sizeof(double), sizeof v.im);
        memcpy(&v.re, at, sizeof v.re);
        break;
    default:
        memcpy(&v.re, at, sizeof v.re);
    }
    return v;
}

static void store(model *m, uint64_t i, value v)
{
    unsigned char *at = m->data + i * dome_type_size(m->type);
    float f[2] = {(float)v.re, (float)v.im};
    double d[2] = {v.re, v.im};
    uint8_t u8 = (uint8_t)v.u;
    uint16_t u16 = (uint16_t)v.u;
    uint32_t u32 = (uint32_t)v.u;
    switch (m->kind) {
    case DOME_KIND_F32:
    case DOME_KIND_C64:
        memcpy(at, f, dome_type_size(m->type));
        break;
    case DOME_KIND_F64:
    case DOME_KIND_C128:
        memcpy(at, d, dome_type_size(m->type));
        break;
    default:
        switch (dome_type_size(m->type)) {
        case 1:
            memcpy(at, &u8, 1);
            break;
        case 2:
            memcpy(at, &u16, 2);
            break;
        case 4:
            memcpy(at, &u32, 4);
            break;
        default:
            memcpy(at, &v.u, 8);
        }
    }
}

/* To the precision of a type. Operations on floats done in double and rounded here are those of float: 53 bits are more than
 * twice 24 and 2 (S. Figueroa, "When is double rounding innocuous?", 1995). */
static double rounded(dome_type_kind kind, double x)
{
    /* volatile: gcc 12 forgets to round where it vectorizes (double)(float)x, and fuses products and sums in pairs */
    volatile float f = (float)x;
    volatile double d = x;
    return is_single(kind) ? (double)f : d;
}

static double as_double(dome_type_kind kind, value v)
{
    return !is_integer(kind) ? v.re : is_signed(kind) ? (double)(int64_t)v.u : (double)v.u;
}

static value from_scalar(dome_type_kind kind, double a)
{
    return (value){is_integer(kind) ? a < 0 ? (uint64_t)(int64_t)a : (uint64_t)a : 0, rounded(kind, a), 0};
}

/* X(operation, name, with a scalar, kinds): the kinds that have it: i, integers; f, floating point; c, complex. */
#define BINARY_LIST(X)                                                                                                           \
    X(ADD, add, dvec_adds, "ifc")                                                                                                \
    X(SUB, sub, dvec_subs, "ifc")                                                                                                \
    X(MUL, mul, dvec_muls, "ifc")                                                                                                \
    X(DIV, div, dvec_divs, "ifc")                                                                                                \
    X(MIN, min, dvec_mins, "if")                                                                                                 \
    X(MAX, max, dvec_maxs, "if")                                                                                                 \
    X(POW, pow, dvec_pows, "ifc")                                                                                                \
    X(FMOD, fmod, dvec_fmods, "if")                                                                                              \
    X(FLOOR_DIVIDE, floor_divide, dvec_floor_divides, "if")                                                                      \
    X(REMAINDER, remainder, dvec_remainders, "if")                                                                               \
    X(ATAN2, atan2, NULL, "f")                                                                                                   \
    X(HYPOT, hypot, NULL, "f")                                                                                                   \
    X(COPYSIGN, copysign, NULL, "f")                                                                                             \
    X(NEXTAFTER, nextafter, NULL, "f")                                                                                           \
    X(LOGADDEXP, logaddexp, NULL, "f")                                                                                           \
    X(BITAND, bitand, dvec_bitands, "i")                                                                                         \
    X(BITOR, bitor, dvec_bitors, "i")                                                                                            \
    X(BITXOR, bitxor, dvec_bitxors, "i")                                                                                         \
    X(LSHIFT, lshift, dvec_lshifts, "i")                                                                                         \
    X(RSHIFT, rshift, dvec_rshifts, "i")
#define BINARY_ENUM(op, name, scalar, kinds)   op,
#define BINARY_NAME(op, name, scalar, kinds)   #name,
#define BINARY_CALL(op, name, scalar, kinds)   dvec_##name,
#define BINARY_SCALAR(op, name, scalar, kinds) scalar,
#define BINARY_KINDS(op, name, scalar, kinds)  kinds,
enum { BINARY_LIST(BINARY_ENUM) BINARIES };
static const char *const binary_names[] = {BINARY_LIST(BINARY_NAME)}, *const binary_kinds[] = {BINARY_LIST(BINARY_KINDS)};

/* Whether the kind is one of these. */
static bool among(const char *kinds, dome_type_kind kind)
{
    return strchr(kinds, is_integer(kind) ? 'i' : is_complex(kind) ? 'c' : 'f');
}

static uint64_t integer_power(uint64_t x, uint64_t y)
{
    if (y == 0)
        return 1;
    uint64_t half = integer_power(x, y / 2);
    return half * half * (y % 2 ? x : 1);
}

static value shifted(int op, dome_type_kind kind, value x, value y)
{
    unsigned bits = 8u << (is_signed(kind) ? kind - DOME_KIND_I8 : kind - DOME_KIND_U8);
    bool all = y.u >= bits, negative = is_signed(kind) && x.u >> 63;
    if (op == LSHIFT)
        return (value){.u = all ? 0 : x.u << y.u};
    return (value){.u = negative ? ~(all ? 0 : ~x.u >> y.u) : all ? 0 : x.u >> y.u};
}

static value binary_integer(int op, dome_type_kind kind, value x, value y)
{
    bool has_sign = is_signed(kind);
    bool xs = has_sign && x.u >> 63, ys = has_sign && y.u >> 63;
    uint64_t xm = xs ? 0 - x.u : x.u, ym = ys ? 0 - y.u : y.u;
    bool less = xs != ys ? xs : x.u < y.u;
    switch (op) {
    case ADD:
        return (value){.u = x.u + y.u};
    case SUB:
        return (value){.u = x.u - y.u};
    case MUL:
        return (value){.u = x.u * y.u};
    case DIV:
        return (value){.u = xs != ys ? 0 - xm / ym : xm / ym};
    case MIN:
        return less ? x : y;
    case MAX:
        return less ? y : x;
    case FMOD:
        return (value){.u = xs ? 0 - xm % ym : xm % ym};
    case FLOOR_DIVIDE:
        return (value){.u = xs != ys ? 0 - (xm / ym + (xm % ym != 0)) : xm / ym};
    case REMAINDER: /* xm % ym away from x's multiple of y below it, or above */
        xm = xs != ys && xm % ym ? ym - xm % ym : xm % ym;
        return (value){.u = ys ? 0 - xm : xm};
    case BITAND:
        return (value){.u = x.u & y.u};
    case BITOR:
        return (value){.u = x.u | y.u};
    case BITXOR:
        return (value){.u = x.u ^ y.u};
    case LSHIFT:
    case RSHIFT:
        return shifted(op, kind, x, y);
    default:
        if (ys)
            return (value){.u = xm == 1 ? (xs && ym % 2 ? UINT64_MAX : 1) : 0};
        return (value){.u = integer_power(x.u, y.u)};
    }
}

static value complex_function(dome_type_kind kind, double complex (*f)(double complex), float complex (*ff)(float complex),
                              value x)
{
    if (kind == DOME_KIND_C64) {
        float parts[2] = {(float)x.re, (float)x.im};
        float complex c;
        memcpy(&c, parts, sizeof c);
        c = ff(c);
        return (value){.re = crealf(c), .im = cimagf(c)};
    }
    double complex c;
    memcpy(&c, &x.re, sizeof c);
    c = f(c);
    return (value){.re = creal(c), .im = cimag(c)};
}

static value complex_power(dome_type_kind kind, value x, value y)
{
    if (kind == DOME_KIND_C64) {
        float parts[4] = {(float)x.re, (float)x.im, (float)y.re, (float)y.im};
        float complex c[2];
        memcpy(c, parts, sizeof c);
        float complex z = cpowf(c[0], c[1]);
        return (value){.re = crealf(z), .im = cimagf(z)};
    }
    double complex c[2];
    memcpy(&c[0], &x.re, sizeof *c);
    memcpy(&c[1], &y.re, sizeof *c);
    double complex z = cpow(c[0], c[1]);
    return (value){.re = creal(z), .im = cimag(z)};
}

#define R(expression) rounded(kind, expression)

static value binary_complex(int op, dome_type_kind kind, value x, value y)
{
    switch (op) {
    case ADD:
        return (value){.re = R(x.re + y.re), .im = R(x.im + y.im)};
    case SUB:
        return (value){.re = R(x.re - y.re), .im = R(x.im - y.im)};
    case MUL:
        return (value){.re = R(R(x.re * y.re) - R(x.im * y.im)), .im = R(R(x.re * y.im) + R(x.im * y.re))};
    case POW:
        return complex_power(kind, x, y);
    }
    if (fabs(y.re) >= fabs(y.im)) {
        double r = R(y.im / y.re), d = R(y.re + R(y.im * r));
        return (value){.re = R(R(x.re + R(x.im * r)) / d), .im = R(R(x.im - R(x.re * r)) / d)};
    }
    double r = R(y.re / y.im), d = R(R(y.re * r) + y.im);
    return (value){.re = R(R(R(x.re * r) + x.im) / d), .im = R(R(R(x.im * r) - x.re) / d)};
}

/* By Python's rules: the remainder has y's sign, and the quotient is a whole number near (x - remainder) / y. */
static value floored(int op, dome_type_kind kind, double x, double y)
{
    double rest = fmod(x, y), adjusted = rest;
    if (rest == 0)
        adjusted = signbit(y) ? -0.0 : 0.0;
    else if (!isnan(rest) && signbit(rest) != signbit(y))
        adjusted = R(rest + y);
    if (op == REMAINDER)
        return (value){.re = adjusted};
    double quotient = R(x / y);
    if (y == 0 || isnan(rest))
        return (value){.re = y == 0 ? quotient : NAN};
    double q = R(R(x - rest) / y);
    if (adjusted != rest && rest != 0)
        q = R(q - 1);
    if (q == 0)
        return (value){.re = signbit(quotient) ? -0.0 : 0.0};
    return (value){.re = q - floor(q) > 0.5 ? ceil(q) : floor(q)};
}

static value log_of_sum(dome_type_kind kind, double x, double y)
{
    if (isnan(x) || isnan(y))
        return (value){.re = NAN};
    double more = x < y ? y : x, less = x < y ? x : y, ln2 = 0x1.62e42fefa39efp-1;
    if (more == less)
        return (value){.re = R(more + R(ln2))};
    double d = R(less - more), e = kind == DOME_KIND_F32 ? (double)expf((float)d) : exp(d);
    return (value){.re = R(more + (kind == DOME_KIND_F32 ? (double)log1pf((float)e) : log1p(e)))};
}

static value binary(int op, dome_type_kind kind, value x, value y)
{
    if (is_integer(kind))
        return binary_integer(op, kind, x, y);
    if (is_complex(kind))
        return binary_complex(op, kind, x, y);
    switch (op) {
    case ADD:
        return (value){.re = R(x.re + y.re)};
    case SUB:
        return (value){.re = R(x.re - y.re)};
    case MUL:
        return (value){.re = R(x.re * y.re)};
    case DIV:
        return (value){.re = R(x.re / y.re)};
    case MIN:
        return isnan(x.re) || x.re < y.re ? x : y;
    case MAX:
        return isnan(x.re) || x.re > y.re ? x : y;
    case FMOD: /* exact in either precision */
        return (value){.re = fmod(x.re, y.re)};
    case FLOOR_DIVIDE:
    case REMAINDER:
        return floored(op, kind, x.re, y.re);
    case COPYSIGN:
        return (value){.re = copysign(x.re, y.re)};
    case NEXTAFTER:
        return (value){.re = kind == DOME_KIND_F32 ? (double)nextafterf((float)x.re, (float)y.re) : nextafter(x.re, y.re)};
    case LOGADDEXP:
        return log_of_sum(kind, x.re, y.re);
    case ATAN2:
        return (value){.re = kind == DOME_KIND_F32 ? (double)atan2f((float)x.re, (float)y.re) : atan2(x.re, y.re)};
    case HYPOT:
        return (value){.re = kind == DOME_KIND_F32 ? (double)hypotf((float)x.re, (float)y.re) : hypot(x.re, y.re)};
    default:
        return (value){.re = kind == DOME_KIND_F32 ? (double)powf((float)x.re, (float)y.re) : pow(x.re, y.re)};
    }
}

/* x op a, where a scalar is real. */
static value with_scalar(int op, dome_type_kind kind, value x, double a)
{
    value y = from_scalar(kind, a);
    if (!is_complex(kind) || op == POW)
        return binary(op, kind, x, y);
    switch (op) {
    case ADD:
        return (value){.re = R(x.re + y.re), .im = x.im};
    case SUB:
        return (value){.re = R(x.re - y.re), .im = x.im};
    case MUL:
        return (value){.re = R(x.re * y.re), .im = R(x.im * y.re)};
    default:
        return (value){.re = R(x.re / y.re), .im = R(x.im / y.re)};
    }
}

/* a op x. */
static value scalar_first(int op, dome_type_kind kind, value x, double a)
{
    value y = from_scalar(kind, a);
    if (is_complex(kind) && op == SUB)
        return (value){.re = R(y.re - x.re), .im = -x.im};
    return binary(op, kind, y, x);
}

/* X(operation, name, kinds); after SQRT those of which the C library has functions by that name. */
#define LIBRARY_LIST(X)                                                                                                          \
    X(SQRT, sqrt, "fc")                                                                                                          \
    X(EXP, exp, "fc")                                                                                                            \
    X(LOG, log, "fc")                                                                                                            \
    X(SIN, sin, "fc")                                                                                                            \
    X(COS, cos, "fc")                                                                                                            \
    X(TAN, tan, "fc")                                                                                                            \
    X(ASIN, asin, "fc")                                                                                                          \
    X(ACOS, acos, "fc")                                                                                                          \
    X(ATAN, atan, "fc")                                                                                                          \
    X(SINH, sinh, "fc")                                                                                                          \
    X(COSH, cosh, "fc")                                                                                                          \
    X(TANH, tanh, "fc")                                                                                                          \
    X(ASINH, asinh, "fc")                                                                                                        \
    X(ACOSH, acosh, "fc")                                                                                                        \
    X(ATANH, atanh, "fc")
#define REAL_LIST(X)                                                                                                             \
    X(EXP2, exp2, "f")                                                                                                           \
    X(EXPM1, expm1, "f")                                                                                                         \
    X(LOG2, log2, "f")                                                                                                           \
    X(LOG10, log10, "f")                                                                                                         \
    X(LOG1P, log1p, "f")                                                                                                         \
    X(CBRT, cbrt, "f")                                                                                                           \
    X(ERF, erf, "f")                                                                                                             \
    X(ERFC, erfc, "f")                                                                                                           \
    X(FLOOR, floor, "f")                                                                                                         \
    X(CEIL, ceil, "f")                                                                                                           \
    X(TRUNC, trunc, "f")
#define UNARY_LIST(X)                                                                                                            \
    X(NEG, neg, "ifc")                                                                                                           \
    X(ABS, abs, "ifc")                                                                                                           \
    X(SIGN, sign, "ifc")                                                                                                         \
    X(ROUND, round, "f")                                                                                                         \
    X(BITNOT, bitnot, "i")                                                                                                       \
    X(CONJ, conj, "c")                                                                                                           \
    LIBRARY_LIST(X) REAL_LIST(X)
#define UNARY_ENUM(op, name, kinds)   op,
#define UNARY_NAME(op, name, kinds)   #name,
#define UNARY_CALL(op, name, kinds)   dvec_##name,
#define UNARY_KINDS(op, name, kinds)  kinds,
#define UNARY_REAL(op, name, kinds)   [op] = name,
#define UNARY_SINGLE(op, name, kinds) [op] = name##f,
#define UNARY_PAIR(op, name, kinds)   [op] = c##name,
#define UNARY_PAIRF(op, name, kinds)  [op] = c##name##f,
enum { UNARY_LIST(UNARY_ENUM) UNARIES };
static const char *const unary_names[] = {UNARY_LIST(UNARY_NAME)}, *const unary_kinds[] = {UNARY_LIST(UNARY_KINDS)};

static value sign_of(dome_type_kind kind, value x)
{
    if (is_integer(kind))
        return (value){.u = is_signed(kind) && x.u >> 63 ? UINT64_MAX : x.u != 0};
    if (is_float(kind))
        return (value){.re = isnan(x.re) ? NAN : x.re == 0 ? 0 : signbit(x.re) ? -1 : 1};
    double size = kind == DOME_KIND_C64 ? (double)hypotf((float)x.re, (float)x.im) : hypot(x.re, x.im);
    return size == 0 ? (value){0} : (value){.re = R(x.re / size), .im = R(x.im / size)};
}

static value unary(int op, dome_type_kind kind, value x)
{
    static double (*const real[])(double) = {LIBRARY_LIST(UNARY_REAL) REAL_LIST(UNARY_REAL)};
    static float (*const single[])(float) = {LIBRARY_LIST(UNARY_SINGLE) REAL_LIST(UNARY_SINGLE)};
    static double complex (*const pairs[])(double complex) = {LIBRARY_LIST(UNARY_PAIR)};
    static float complex (*const single_pairs[])(float complex) = {LIBRARY_LIST(UNARY_PAIRF)};
    if (op == NEG)
        return (value){.u = 0 - x.u, .re = -x.re, .im = -x.im};
    if (op == BITNOT)
        return (value){.u = ~x.u};
    if (op == CONJ)
        return (value){.re = x.re, .im = -x.im};
    if (op == ROUND) /* to the nearest, halves to even: exact in either precision */
        return (value){.re = nearbyint(x.re)};
    if (op == SIGN)
        return sign_of(kind, x);
    if (op == ABS) {
        if (is_integer(kind))
            return (value){.u = is_signed(kind) && x.u >> 63 ? 0 - x.u : x.u};
        if (is_float(kind))
            return (value){.re = fabs(x.re)};
        return (value){.re = kind == DOME_KIND_C64 ? (double)hypotf((float)x.re, (float)x.im) : hypot(x.re, x.im)};
    }
    if (is_complex(kind))
        return complex_function(kind, pairs[op], single_pairs[op], x);
    return (value){.re = kind == DOME_KIND_F32 ? (double)single[op]((float)x.re) : real[op](x.re)};
}

enum { EQ, NE, LT, LE, GT, GE, COMPARISONS };
static const char *const comparison_names[] = {"eq", "ne", "lt", "le", "gt", "ge"};

static bool compared(int op, dome_type_kind kind, value x, value y)
{
    bool equal, less, greater;
    if (is_integer(kind)) {
        bool xs = is_signed(kind) && x.u >> 63, ys = is_signed(kind) && y.u >> 63;
        equal = x.u == y.u;
        less = xs != ys ? xs : x.u < y.u;
        greater = !equal && !less;
    } else {
        equal = x.re == y.re && x.im == y.im;
        less = x.re < y.re;
        greater = x.re > y.re;
    }
    switch (op) {
    case EQ:
        return equal;
    case NE:
        return !equal;
    case LT:
        return less;
    case LE:
        return less || equal;
    case GT:
        return greater;
    default:
        return greater || equal;
    }
}

static value converted(dome_type_kind to, dome_type_kind from, value x)
{
    if (!is_integer(to)) {
        /* 64-bit integers to float in one step: twice rounded could differ */
        if (is_integer(from) && is_single(to))
            return (value){.re = is_signed(from) ? (float)(int64_t)x.u : (float)x.u};
        if (is_integer(from))
            return (value){.re = as_double(from, x)};
        return (value){.re = rounded(to, x.re), .im = rounded(to, x.im)};
    }
    int bits = 8 << (is_signed(to) ? to - DOME_KIND_I8 : to - DOME_KIND_U8);
    uint64_t most = is_signed(to) ? ((uint64_t)1 << (bits - 1)) - 1 : UINT64_MAX >> (64 - bits);
    uint64_t least_size = is_signed(to) ? most + 1 : 0; /* of the smallest number */
    bool negative;
    uint64_t size;
    if (is_integer(from)) {
        negative = is_signed(from) && x.u >> 63;
        size = negative ? 0 - x.u : x.u;
    } else {
        if (isnan(x.re))
            return (value){.u = 0};
        negative = x.re < 0;
        double whole = trunc(fabs(x.re));
        size = whole >= 0x1p64 ? UINT64_MAX : (uint64_t)whole;
    }
    uint64_t limit = negative ? least_size : most;
    size = size > limit ? limit : size;
    return (value){.u = negative ? 0 - size : size};
}

/* ---- making and comparing ---- */

static double any_double(bool single)
{
    if (!wild)
        return chance(50) ? (double)(int64_t)below(200) - 100 : ((double)below(1 << 20) - (1 << 19)) * 0x1p-12;
    switch (below(14)) {
    case 0:
        return chance(50) ? INFINITY : -INFINITY;
    case 1:
        return NAN;
    case 2:
        return chance(50) ? 0.0 : -0.0;
    case 3:
        return single ? 0x1.fffffep127 : 0x1.fffffffffffffp1023;
    case 4:
        return (chance(50) ? 1 : -1) * (single ? 0x1p-149 : 0x1p-1074) * (double)below(1000);
    case 5:
        return (double)(int64_t)below(5) - 2;
    default: {
        double size =
            ldexp(1 + (double)below((uint64_t)1 << 52) * 0x1p-52, single ? (int)below(250) - 125 : (int)below(2040) - 1020);
        return chance(50) ? size : -size;
    }
    }
}

static value any_value(dome_type_kind kind)
{
    if (is_integer(kind)) {
        uint64_t u = wild && chance(70) ? rng() >> below(64) : below(100);
        if (wild && chance(5))
            u = chance(50) ? (uint64_t)INT64_MIN : (uint64_t)INT64_MAX;
        return (value){.u = chance(30) ? 0 - u : u};
    }
    double re = rounded(kind, any_double(is_single(kind)));
    return (value){.re = re, .im = is_complex(kind) ? rounded(kind, any_double(is_single(kind))) : 0};
}

/* A scalar that the type can represent. */
static double any_scalar(dome_type_kind kind)
{
    switch (kind) {
    case DOME_KIND_I8:
    case DOME_KIND_I16:
    case DOME_KIND_I32:
    case DOME_KIND_I64:
        return (double)(int64_t)below(256) - 128;
    case DOME_KIND_U8:
    case DOME_KIND_U16:
    case DOME_KIND_U32:
    case DOME_KIND_U64:
        return (double)below(256);
    default:
        return any_double(false);
    }
}

static bool same_double(double a, double b)
{
    return isnan(a) ? isnan(b) : !isnan(b) && memcmp(&a, &b, sizeof a) == 0;
}

static bool same_value(dome_type_kind kind, value a, value b)
{
    return is_integer(kind) ? a.u == b.u : same_double(a.re, b.re) && same_double(a.im, b.im);
}

/* Compares values first ... of a model with those at data. */
static void compare_run(const model *m, uint64_t first, uint64_t count, const void *data)
{
    size_t bytes = dome_type_size(m->type);
    if (count == 0 || memcmp(data, m->data + first * bytes, count * bytes) == 0)
        return;
    model got = *m;
    got.data = (unsigned char *)data;
    for (uint64_t i = 0; i < count; i++) {
        value want = load(m, first + i), have = load(&got, i);
        if (!same_value(m->kind, want, have))
            DIFFERS("value %llu of %s is (%a %a %lld), not (%a %a %lld)", (unsigned long long)(first + i), m->name, have.re,
                    have.im, (long long)have.u, want.re, want.im, (long long)want.u);
    }
}

static void must(int status, const char *what)
{
    if (status != DOME_OK)
        DIFFERS("%s failed: %s", what, dome_error_message(env));
}

static void check_model(const model *m)
{
    dvec_span span[2];
    if (dvec_local_spans_const(m->v, span) != DOME_OK)
        DIFFERS("no local part of %s: %s", m->name, dome_error_message(env));
    uint64_t owned = 0;
    for (int s = 0; s < 2; s++) {
        compare_run(m, span[s].first * m->width, span[s].count * m->width, span[s].data);
        owned += span[s].count;
    }
    if (dome_size(env) == 1 && owned != m->n)
        DIFFERS("the local part of %s has %llu elements", m->name, (unsigned long long)owned);
}

/* New values, written by each task into its part. */
static void write_model(model *m)
{
    LOG("%s = new values", m->name);
    for (uint64_t i = 0; i < m->count; i++)
        store(m, i, any_value(m->kind));
    dvec_span span[2];
    dvec_local_spans(m->v, span);
    size_t bytes = dome_type_size(m->type) * m->width;
    for (int s = 0; s < 2; s++)
        memcpy(span[s].data, m->data + span[s].first * bytes, span[s].count * bytes);
}

static model new_model(const char *name, dome_type type, uint64_t n, uint64_t width, uint64_t block,
                       dome_distribution distribution)
{
    uint64_t rule = 1; /* the block rule, below 2^30 elements */
    while (rule < 1024 && rule * 2 <= n / 256)
        rule *= 2;
    model m = {.type = type,
               .kind = dome_type_kind_of(type),
               .n = n,
               .width = width,
               .count = n * width,
               .block = block ? block : rule,
               .distribution = distribution,
               .name = name};
    m.v = dvec_new_with(env, name, type, n, DVEC_OPTIONS(.distribution = distribution, .width = width, .block = block));
    if (!m.v)
        DIFFERS("no vector %s: %s", name, dome_error_message(env));
    m.data = calloc(m.count + 1, dome_type_size(type));
    return m;
}

static void free_model(model *m)
{
    dvec_free(m->v);
    free(m->data);
}

/* ---- reductions ---- */

/* The sum of a block's terms: 16 partial sums, then pairs. */
static double block_sum(const double *term, uint64_t count)
{
    double s[16] = {0};
    for (uint64_t i = 0; i < count; i++)
        s[i % 16] += term[i];
    for (int half = 8; half; half /= 2)
        for (int j = 0; j < half; j++)
            s[j] += s[j + half];
    return s[0];
}

static double product(double x, double y)
{
    return rounded(DOME_KIND_F64, x * y);
}

/* Sums term(i) over the blocks. */
static double sum_terms(const model *m, double (*term)(const model *x, const model *y, uint64_t i), const model *y)
{
    reference_sum sum;
    memset(&sum, 0, sizeof sum);
    uint64_t step = m->block * m->width;
    double *terms = malloc((step + 1) * sizeof *terms);
    for (uint64_t first = 0; first < m->count; first += step) {
        uint64_t count = m->count - first < step ? m->count - first : step;
        for (uint64_t i = 0; i < count; i++)
            terms[i] = term(m, y, first + i);
        reference_add(&sum, block_sum(terms, count));
    }
    free(terms);
    return reference_round(&sum);
}

static double term_re(const model *x, const model *y, uint64_t i)
{
    (void)y;
    return load(x, i).re;
}

static double term_im(const model *x, const model *y, uint64_t i)
{
    (void)y;
    return load(x, i).im;
}

static double term_product(const model *x, const model *y, uint64_t i)
{
    return load(x, i).re * load(y, i).re;
}

static double term_dot_re(const model *x, const model *y, uint64_t i)
{
    value a = load(x, i), b = load(y, i);
    return product(a.re, b.re) + product(a.im, b.im);
}

static double term_dot_im(const model *x, const model *y, uint64_t i)
{
    value a = load(x, i), b = load(y, i);
    return product(a.re, b.im) - product(a.im, b.re);
}

static double term_square(const model *x, const model *y, uint64_t i)
{
    (void)y;
    value a = load(x, i);
    return is_complex(x->kind) ? product(a.re, a.re) + product(a.im, a.im) : product(a.re, a.re);
}

static int norm_exponent;

static double term_scaled_square(const model *x, const model *y, uint64_t i)
{
    (void)y;
    value a = load(x, i);
    double first = ldexp(1, -(norm_exponent / 2)), second = ldexp(1, -(norm_exponent - norm_exponent / 2));
    double re = a.re * first * second, im = a.im * first * second;
    return is_complex(x->kind) ? product(re, re) + product(im, im) : product(re, re);
}

static void add_integer(reference_sum *sum, dome_type_kind kind, value v)
{
    bool negative = is_signed(kind) && v.u >> 63;
    reference_add_scaled(sum, negative, negative ? 0 - v.u : v.u, 0);
}

static void add_product(reference_sum *sum, dome_type_kind kind, value x, value y)
{
    bool xs = is_signed(kind) && x.u >> 63, ys = is_signed(kind) && y.u >> 63;
    reference_add_product(sum, xs, xs ? 0 - x.u : x.u, ys, ys ? 0 - y.u : y.u);
}

static double reference_norm(const model *m)
{
    if (is_integer(m->kind)) {
        reference_sum sum;
        memset(&sum, 0, sizeof sum);
        for (uint64_t i = 0; i < m->count; i++)
            add_product(&sum, m->kind, load(m, i), load(m, i));
        return sqrt(reference_round(&sum));
    }
    double sum = sum_terms(m, term_square, NULL), largest = 0;
    if (isnan(sum) || (sum >= 0x1p-900 && !isinf(sum)))
        return sqrt(sum);
    for (uint64_t i = 0; i < m->count; i++)
        largest = fmax(largest, fmax(fabs(load(m, i).re), fabs(load(m, i).im)));
    if (largest == 0 || isinf(largest))
        return largest;
    frexp(largest, &norm_exponent);
    return ldexp(sqrt(sum_terms(m, term_scaled_square, NULL)), norm_exponent);
}

static value multiplied(value a, value b, bool is_pair)
{
    if (!is_pair)
        return (value){.re = a.re * b.re};
    return (value){.re = product(a.re, b.re) - product(a.im, b.im), .im = product(a.re, b.im) + product(a.im, b.re)};
}

static value block_product(const model *m, uint64_t block)
{
    bool pair = is_complex(m->kind);
    value s[16];
    for (int j = 0; j < 16; j++)
        s[j] = (value){.re = 1};
    uint64_t first = block * m->block * m->width, count = m->block * m->width;
    for (uint64_t i = 0; i < count && first + i < m->count; i++) {
        value x = load(m, first + i);
        if (is_integer(m->kind))
            x.re = as_double(m->kind, x);
        s[i % 16] = multiplied(s[i % 16], x, pair);
    }
    for (int half = 8; half; half /= 2)
        for (int j = 0; j < half; j++)
            s[j] = multiplied(s[j], s[j + half], pair);
    return s[0];
}

/* Blocks first ... first + span - 1, span a power of two: the halves' products multiplied. */
static value tree_product(const model *m, uint64_t first, uint64_t span, uint64_t blocks)
{
    if (span == 1)
        return block_product(m, first);
    value left = tree_product(m, first, span / 2, blocks);
    if (first + span / 2 >= blocks)
        return left;
    return multiplied(left, tree_product(m, first + span / 2, span / 2, blocks), is_complex(m->kind));
}

static value reference_product(const model *m)
{
    uint64_t blocks = (m->n + m->block - 1) / m->block, span = 1;
    if (!m->count)
        return (value){.re = 1};
    while (span < blocks)
        span *= 2;
    return tree_product(m, 0, span, blocks);
}

static uint64_t reference_extreme(const model *m, bool largest)
{
    uint64_t best = 0;
    for (uint64_t i = 0; i < m->count; i++) {
        value x = load(m, i), b = load(m, best);
        if (is_float(m->kind) && isnan(x.re))
            return i;
        if (compared(largest ? GT : LT, m->kind, x, b))
            best = i;
    }
    return best;
}

static void expect(double got, double want, dome_status status, const char *what, const model *m)
{
    if (dome_error_status(env) != status)
        DIFFERS("%s of %s: status %d, not %d: %s", what, m->name, dome_error_status(env), status, dome_error_message(env));
    if (!same_double(got, want))
        DIFFERS("%s of %s is %a, not %a", what, m->name, got, want);
    dome_error_clear(env);
}

static void expect_i64(int64_t got, int64_t want, dome_status status, const char *what, const model *m)
{
    if (dome_error_status(env) != status)
        DIFFERS("%s of %s: status %d, not %d: %s", what, m->name, dome_error_status(env), status, dome_error_message(env));
    if (got != want)
        DIFFERS("%s of %s is %lld, not %lld", what, m->name, (long long)got, (long long)want);
    dome_error_clear(env);
}

static void reduce_sum(const model *x)
{
    LOG("sum %s", x->name);
    double result[2];
    if (is_integer(x->kind)) {
        reference_sum sum;
        memset(&sum, 0, sizeof sum);
        for (uint64_t i = 0; i < x->count; i++)
            add_integer(&sum, x->kind, load(x, i));
        int64_t want = 0;
        bool fits = reference_i64(&sum, &want);
        expect(dvec_sum(x->v), reference_round(&sum), DOME_OK, "sum", x);
        expect_i64(dvec_sum_i64(x->v), fits ? want : 0, fits ? DOME_OK : DOME_ERR_RANGE, "sum_i64", x);
        return;
    }
    double re = sum_terms(x, term_re, NULL), im = is_complex(x->kind) ? sum_terms(x, term_im, NULL) : 0;
    expect(dvec_sum(x->v), is_complex(x->kind) ? NAN : re, is_complex(x->kind) ? DOME_ERR_TYPE : DOME_OK, "sum", x);
    expect_i64(dvec_sum_i64(x->v), 0, DOME_ERR_TYPE, "sum_i64", x);
    must(dvec_sum_c128(x->v, result), "sum_c128");
    expect(result[0], re, DOME_OK, "real part of sum_c128", x);
    expect(result[1], im, DOME_OK, "imaginary part of sum_c128", x);
}

static void reduce_dot(const model *x, const model *y)
{
    LOG("dot %s %s", x->name, y->name);
    double result[2];
    if (is_integer(x->kind)) {
        reference_sum sum;
        memset(&sum, 0, sizeof sum);
        for (uint64_t i = 0; i < x->count; i++)
            add_product(&sum, x->kind, load(x, i), load(y, i));
        int64_t want = 0;
        bool fits = reference_i64(&sum, &want);
        expect(dvec_dot(x->v, y->v), reference_round(&sum), DOME_OK, "dot", x);
        expect_i64(dvec_dot_i64(x->v, y->v), fits ? want : 0, fits ? DOME_OK : DOME_ERR_RANGE, "dot_i64", x);
        return;
    }
    must(dvec_dot_c128(x->v, y->v, result), "dot_c128");
    if (is_complex(x->kind)) {
        expect(result[0], sum_terms(x, term_dot_re, y), DOME_OK, "real part of dot_c128", x);
        expect(result[1], sum_terms(x, term_dot_im, y), DOME_OK, "imaginary part of dot_c128", x);
    } else {
        double want = sum_terms(x, term_product, y);
        expect(result[0], want, DOME_OK, "dot_c128", x);
        expect(dvec_dot(x->v, y->v), want, DOME_OK, "dot", x);
    }
}

static void reduce_extremes(const model *x)
{
    LOG("extremes of %s", x->name);
    for (int largest = 0; largest < 2; largest++) {
        dome_status status = is_complex(x->kind) ? DOME_ERR_TYPE : x->n == 0 ? DOME_ERR_ARGUMENT : DOME_OK;
        uint64_t at = status == DOME_OK ? reference_extreme(x, largest) : 0;
        double want = status == DOME_OK ? as_double(x->kind, load(x, at)) : NAN;
        expect(largest ? dvec_max_value(x->v) : dvec_min_value(x->v), want, status, largest ? "max" : "min", x);
        uint64_t position;
        (largest ? dvec_argmax : dvec_argmin)(x->v, &position);
        expect_i64((int64_t)position, status == DOME_OK ? (int64_t)at : -1, status, "argmin/max", x);
        if (status == DOME_OK && is_integer(x->kind)) {
            bool fits = is_signed(x->kind) || load(x, at).u <= INT64_MAX;
            expect_i64(largest ? dvec_max_value_i64(x->v) : dvec_min_value_i64(x->v), fits ? (int64_t)load(x, at).u : 0,
                       fits ? DOME_OK : DOME_ERR_RANGE, "min/max_i64", x);
        }
    }
}

static void reduce(const model *x, const model *y)
{
    double result[2];
    switch (below(5)) {
    case 0:
        reduce_sum(x);
        break;
    case 1:
        if (!is_integer(x->kind) || x->count <= 20000) /* the reference multiplies bit by bit */
            reduce_dot(x, y);
        break;
    case 2:
        LOG("norm %s", x->name);
        if (!is_integer(x->kind) || x->count <= 20000)
            expect(dvec_norm2(x->v), x->n ? reference_norm(x) : 0, DOME_OK, "norm2", x);
        break;
    case 3: {
        LOG("product of %s", x->name);
        value all = reference_product(x);
        bool pair = is_complex(x->kind);
        expect(dvec_prod(x->v), pair ? NAN : all.re, pair ? DOME_ERR_TYPE : DOME_OK, "prod", x);
        must(dvec_prod_c128(x->v, result), "prod_c128");
        expect(result[0], all.re, DOME_OK, "real part of prod_c128", x);
        expect(result[1], all.im, DOME_OK, "imaginary part of prod_c128", x);
        break;
    }
    default:
        reduce_extremes(x);
    }
}

/* ---- movement ---- */

static void move_scan(model *z, const model *x)
{
    LOG("%s = scan %s", z->name, x->name);
    value *in = malloc((x->count + 1) * sizeof *in);
    for (uint64_t i = 0; i < x->count; i++)
        in[i] = load(x, i);
    for (uint64_t k = 0; k < x->width; k++) {
        reference_sum before;
        memset(&before, 0, sizeof before);
        double s = 0, p = 0;
        uint64_t total = 0;
        for (uint64_t i = 0; i < x->n; i++) {
            if (i % x->block == 0) {
                if (i > 0)
                    reference_add(&before, s);
                p = reference_round(&before);
                s = 0;
            }
            s += in[i * x->width + k].re;
            total += in[i * x->width + k].u;
            store(z, i * x->width + k, (value){.u = total, .re = p + s});
        }
    }
    free(in);
    must(dvec_scan(z->v, x->v), "scan");
}

static void move_shift(model *z, const model *x)
{
    int64_t k = (int64_t)below(5) - 2;
    if (chance(60))
        k = (int64_t)(rng() >> (chance(20) ? 0 : 64 - 12));
    if (x->n && chance(40))
        k = (int64_t)below(2 * x->n + 1) - (int64_t)x->n;
    bool around = chance(50), zero = chance(30);
    LOG("%s = shift%s %s by %lld", z->name, around ? "" : "_fill", x->name, (long long)k);
    size_t bytes = dome_type_size(x->type) * x->width;
    model fill = *x;
    unsigned char fill_data[16] = {0};
    fill.data = fill_data;
    if (!zero)
        store(&fill, 0, any_value(x->kind));
    unsigned char *in = malloc(x->n * bytes + 1);
    memcpy(in, x->data, x->n * bytes);
    for (uint64_t i = 0; i < x->n; i++) {
        /* i - k without overflow */
        uint64_t n = x->n, back = k >= 0 ? (uint64_t)k : 0 - (uint64_t)k, from;
        bool inside;
        if (k >= 0) {
            from = (i + (n - back % n)) % n;
            inside = back <= i;
        } else {
            from = (i + back % n) % n;
            inside = back < n - i;
        }
        if (around || inside)
            memcpy(z->data + i * bytes, in + from * bytes, bytes);
        else
            for (uint64_t j = 0; j < x->width; j++)
                store(z, i * x->width + j, load(&fill, 0));
    }
    free(in);
    must(around ? dvec_roll(z->v, x->v, k) : dvec_shift(z->v, x->v, k, zero ? NULL : fill_data), "shift");
}

static void new_indices(model *index, uint64_t n)
{
    LOG("new indices");
    bool few = chance(30);
    for (uint64_t i = 0; i < index->count; i++)
        store(index, i, (value){.u = few ? below(n < 3 ? n : 3) : below(n)});
    dvec_span span[2];
    dvec_local_spans(index->v, span);
    for (int s = 0; s < 2; s++)
        memcpy(span[s].data, index->data + span[s].first * dome_type_size(index->type),
               span[s].count * dome_type_size(index->type));
}

static void move_gather(model *z, const model *x, model *index)
{
    if (x->n == 0)
        return;
    new_indices(index, x->n);
    LOG("%s = gather %s", z->name, x->name);
    size_t bytes = dome_type_size(x->type) * x->width;
    unsigned char *in = malloc(x->n * bytes);
    memcpy(in, x->data, x->n * bytes);
    for (uint64_t i = 0; i < z->n; i++)
        memcpy(z->data + i * bytes, in + load(index, i).u * bytes, bytes);
    free(in);
    must(dvec_gather(z->v, x->v, index->v), "gather");
}

static void move_scatter(model *z, const model *x, model *index)
{
    if (z->n == 0)
        return;
    new_indices(index, z->n);
    LOG("%s = scatter %s", z->name, x->name);
    size_t bytes = dome_type_size(x->type) * x->width;
    unsigned char *in = malloc(x->n * bytes);
    memcpy(in, x->data, x->n * bytes);
    for (uint64_t i = 0; i < x->n; i++)
        memcpy(z->data + load(index, i).u * bytes, in + i * bytes, bytes);
    free(in);
    must(dvec_scatter(z->v, x->v, index->v), "scatter");
}

/* A random layout: some tasks own nothing, the first block stands anywhere. */
static void relayout(uint64_t n, uint64_t block)
{
    int size = dome_size(env);
    const uint64_t next = rng() + draw_state; /* however many numbers this takes, the chain continues in the same way */
    uint64_t blocks = (n + block - 1) / block, *counts = calloc((size_t)size, sizeof *counts), left = blocks;
    for (int r = 0; r < size; r++)
        if (chance(70)) {
            counts[r] = below(left + 1);
            left -= counts[r];
        }
    counts[below((uint64_t)size)] += left;
    uint64_t start = blocks ? below(blocks) : 0;
    draw_state = next;
    LOG("relayout from block %llu", (unsigned long long)start);
    dome_layout *layout = dome_layout_new(n, block, size, start, counts);
    if (!layout)
        DIFFERS("no layout of %llu blocks from block %llu", (unsigned long long)blocks, (unsigned long long)start);
    must(dome_env_relayout(env, layout), "relayout");
    dome_layout_unref(layout);
    free(counts);
}

/* A user's kernel that depends on how it is called: values of a block in reverse order. */
static void reverse_kernel(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    (void)first;
    size_t bytes = *(size_t *)ctx;
    for (size_t i = 0; i < count; i++)
        memcpy((char *)out + i * bytes, (const char *)in[0] + (count - 1 - i) * bytes, bytes);
}

static void move_map(model *z, const model *x)
{
    LOG("%s = map %s", z->name, x->name);
    size_t bytes = dome_type_size(x->type) * x->width;
    for (uint64_t first = 0; first < x->n; first += x->block) {
        uint64_t count = x->n - first < x->block ? x->n - first : x->block;
        for (uint64_t i = 0; i < count; i++)
            memcpy(z->data + (first + i) * bytes, x->data + (first + count - 1 - i) * bytes, bytes);
    }
    must(dvec_map(z->v, reverse_kernel, &bytes, 1, (dvec *const[]){x->v}), "map");
}

/* ---- element-wise ---- */

/* Philox4x32-10, implemented again, from the paper's description. */
static void philox(uint64_t key, uint64_t counter, uint32_t c[4])
{
    uint32_t k[2] = {(uint32_t)key, (uint32_t)(key >> 32)};
    c[0] = (uint32_t)counter;
    c[1] = (uint32_t)(counter >> 32);
    c[2] = c[3] = 0;
    for (int round = 0; round < 10; round++) {
        uint64_t p0 = UINT64_C(0xD2511F53) * c[0], p1 = UINT64_C(0xCD9E8D57) * c[2];
        uint32_t next[4] = {(uint32_t)(p1 >> 32) ^ c[1] ^ k[0], (uint32_t)p1, (uint32_t)(p0 >> 32) ^ c[3] ^ k[1], (uint32_t)p0};
        memcpy(c, next, sizeof next);
        k[0] += 0x9E3779B9;
        k[1] += 0xBB67AE85;
    }
}

static void do_random(model *z)
{
    uint64_t s = rng() >> below(64);
    LOG("%s = random %llu", z->name, (unsigned long long)s);
    for (uint64_t i = 0; i < z->count; i++) {
        uint32_t w[4];
        philox(s, i, w);
        value v = {.u = (uint64_t)w[1] << 32 | w[0]};
        uint64_t second = (uint64_t)w[3] << 32 | w[2];
        if (is_single(z->kind)) {
            v.re = (double)(w[0] / 256) / 16777216;
            v.im = (double)(w[1] / 256) / 16777216;
        } else {
            v.re = (double)(v.u / 2048) / 9007199254740992;
            v.im = (double)(second / 2048) / 9007199254740992;
        }
        store(z, i, v);
    }
    must(dvec_random(z->v, s), "random");
}

static bool has_zero(const model *m)
{
    for (uint64_t i = 0; i < m->count; i++)
        if (load(m, i).u == 0)
            return true;
    return false;
}

/* An operand's value as it takes part in an operation of the given type. */
static value operand(dome_type_kind kind, const model *x, uint64_t i)
{
    return x->kind == kind ? load(x, i) : converted(kind, x->kind, load(x, i));
}

static void do_binary(model *z, const model *x, const model *y)
{
    static dome_status (*const f[])(dvec *, const dvec *, const dvec *) = {BINARY_LIST(BINARY_CALL)};
    int op = (int)below(BINARIES);
    if (is_integer(z->kind) && (op == DIV || op == FMOD || op == FLOOR_DIVIDE || op == REMAINDER) &&
        (y->kind != z->kind || has_zero(y)))
        op = MUL;
    if (is_integer(z->kind) && op == POW && (x->kind != z->kind || y->kind != z->kind))
        op = ADD;
    if (is_integer(x->kind) && op == POW && is_signed(x->kind) && has_zero(x))
        op = ADD;
    LOG("%s = %s %s %s", z->name, binary_names[op], x->name, y->name);
    if (!among(binary_kinds[op], z->kind)) {
        expect_i64(f[op](z->v, x->v, y->v), DOME_ERR_TYPE, DOME_ERR_TYPE, binary_names[op], x);
        return;
    }
    for (uint64_t i = 0; i < z->count; i++)
        store(z, i, binary(op, z->kind, operand(z->kind, x, i), operand(z->kind, y, i)));
    must(f[op](z->v, x->v, y->v), binary_names[op]);
}

static void do_scalar(model *z, const model *x)
{
    static dome_status (*const f[])(dvec *, const dvec *, double) = {BINARY_LIST(BINARY_SCALAR)};
    int op = (int)below(BINARIES);
    double a = any_scalar(x->kind);
    if (!f[op])
        op = ADD;
    if (is_integer(x->kind) && a <= 0 && (op == DIV || op == POW || op == FMOD || op == FLOOR_DIVIDE || op == REMAINDER))
        a = a == 0 ? 1 : fmin(-a, 127);
    LOG("%s = %s %s %a", z->name, binary_names[op], x->name, a);
    if (!among(binary_kinds[op], x->kind)) {
        expect_i64(f[op](z->v, x->v, a), DOME_ERR_TYPE, DOME_ERR_TYPE, binary_names[op], x);
        return;
    }
    for (uint64_t i = 0; i < z->count; i++)
        store(z, i, with_scalar(op, x->kind, load(x, i), a));
    must(f[op](z->v, x->v, a), binary_names[op]);
}

static void do_scalar_first(model *z, const model *x)
{
    static dome_status (*const f[])(dvec *, const dvec *, double) = {[SUB] = dvec_rsubs, [DIV] = dvec_rdivs, [POW] = dvec_rpows};
    int op = (int[]){SUB, DIV, POW}[below(3)];
    double a = any_scalar(x->kind);
    if (is_integer(x->kind) && op == DIV && has_zero(x))
        op = SUB;
    if (is_integer(x->kind) && op == POW && a == 0)
        a = 3;
    LOG("%s = r%s %s %a", z->name, binary_names[op], x->name, a);
    for (uint64_t i = 0; i < z->count; i++)
        store(z, i, scalar_first(op, x->kind, load(x, i), a));
    must(f[op](z->v, x->v, a), "scalar first");
}

static void do_axpy(model *y, const model *x)
{
    double a = any_scalar(x->kind);
    LOG("%s += %a %s", y->name, a, x->name);
    for (uint64_t i = 0; i < y->count; i++)
        store(y, i, binary(ADD, x->kind, load(y, i), with_scalar(MUL, x->kind, load(x, i), a)));
    must(dvec_axpy(y->v, a, x->v), "axpy");
}

static void do_unary(model *z, const model *x)
{
    static dome_status (*const f[])(dvec *, const dvec *) = {UNARY_LIST(UNARY_CALL)};
    int op = (int)below(UNARIES);
    LOG("%s = %s %s", z->name, unary_names[op], x->name);
    if (!among(unary_kinds[op], x->kind)) {
        expect_i64(f[op](z->v, x->v), DOME_ERR_TYPE, DOME_ERR_TYPE, unary_names[op], x);
        return;
    }
    for (uint64_t i = 0; i < z->count; i++)
        store(z, i, unary(op, x->kind, load(x, i)));
    must(f[op](z->v, x->v), unary_names[op]);
}

/* A part of complex values, which is real. */
static void do_part(model *z, const model *x)
{
    static dome_status (*const f[])(dvec *, const dvec *) = {dvec_real, dvec_imag, dvec_arg};
    static const char *const names[] = {"real", "imag", "arg"};
    int op = (int)below(3);
    LOG("%s = %s %s", z->name, names[op], x->name);
    if (!is_complex(x->kind) || z->kind != (x->kind == DOME_KIND_C64 ? DOME_KIND_F32 : DOME_KIND_F64)) {
        expect_i64(f[op](z->v, x->v), DOME_ERR_TYPE, DOME_ERR_TYPE, names[op], x);
        return;
    }
    for (uint64_t i = 0; i < z->count; i++) {
        value v = load(x, i);
        store(z, i,
              op == 0   ? (value){.re = v.re}
              : op == 1 ? (value){.re = v.im}
                        : binary(ATAN2, z->kind, (value){.re = v.im}, v));
    }
    must(f[op](z->v, x->v), names[op]);
}

static void do_compare(model *mask, const model *x, const model *y)
{
    static dome_status (*const f[])(dvec *, const dvec *, const dvec *) = {dvec_eq, dvec_ne, dvec_lt, dvec_le, dvec_gt, dvec_ge};
    static dome_status (*const fs[])(dvec *, const dvec *, double) = {dvec_eqs, dvec_nes, dvec_lts, dvec_les, dvec_gts, dvec_ges};
    int op = (int)below(is_complex(x->kind) ? LT : COMPARISONS);
    bool scalar = chance(40);
    double a = any_scalar(x->kind);
    value one = from_scalar(x->kind, a);
    LOG("mask = %s %s %s %a", comparison_names[op], x->name, scalar ? "scalar" : y->name, a);
    for (uint64_t i = 0; i < mask->count; i++)
        store(mask, i, (value){.u = compared(op, x->kind, load(x, i), scalar ? one : load(y, i))});
    must(scalar ? fs[op](mask->v, x->v, a) : f[op](mask->v, x->v, y->v), comparison_names[op]);
}

static void do_logic(model *mask, const model *other)
{
    static dome_status (*const f[])(dvec *, const dvec *, const dvec *) = {dvec_and, dvec_or, dvec_xor};
    int op = (int)below(4);
    LOG("mask = logic %d %s", op, other->name);
    for (uint64_t i = 0; i < mask->count; i++) {
        bool x = load(mask, i).u, y = load(other, i).u;
        store(mask, i, (value){.u = op == 0 ? x && y : op == 1 ? x || y : op == 2 ? x != y : !y});
    }
    must(op < 3 ? f[op](mask->v, mask->v, other->v) : dvec_not(mask->v, other->v), "logic");
}

static void do_select(model *z, const model *mask, const model *x, const model *y)
{
    LOG("%s = select mask %s %s", z->name, x->name, y->name);
    for (uint64_t i = 0; i < z->count; i++)
        store(z, i, load(mask, i).u ? load(x, i) : load(y, i));
    must(dvec_select(z->v, mask->v, x->v, y->v), "select");
}

static void do_convert(model *z, const model *x)
{
    LOG("%s = convert %s", z->name, x->name);
    if (is_complex(x->kind) && !is_complex(z->kind)) {
        expect_i64(dvec_convert(z->v, x->v), DOME_ERR_TYPE, DOME_ERR_TYPE, "convert", x);
        return;
    }
    for (uint64_t i = 0; i < z->count; i++)
        store(z, i, converted(z->kind, x->kind, load(x, i)));
    must(dvec_convert(z->v, x->v), "convert");
}

static void do_fill(model *z)
{
    value v = any_value(z->kind);
    double a = any_scalar(z->kind);
    bool number = chance(50);
    LOG("%s = fill", z->name);
    if (number)
        v = from_scalar(z->kind, a);
    for (uint64_t i = 0; i < z->count; i++)
        store(z, i, v);
    model one = *z;
    unsigned char data[16];
    one.data = data;
    store(&one, 0, v);
    must(number ? dvec_fill(z->v, a) : dvec_fill_value(z->v, data), "fill");
}

static void do_index(model *z)
{
    LOG("%s = index", z->name);
    for (uint64_t i = 0; i < z->count; i++)
        store(z, i, converted(z->kind, DOME_KIND_U64, (value){.u = i / z->width}));
    must(dvec_iota(z->v), "index");
}

static void do_copy(model *z, const model *x)
{
    LOG("%s = copy %s", z->name, x->name);
    memmove(z->data, x->data, z->count * dome_type_size(z->type));
    must(dvec_copy(z->v, x->v), "copy");
}

/* ---- chains ---- */

static uint64_t any_length(void)
{
    switch (below(8)) {
    case 0:
        return below(4);
    case 1: /* around the lengths where the block size doubles */
        return ((uint64_t)256 << below(5)) + below(3) - 1;
    case 2: /* around multiples of a block */
        return 64 * (1 + below(60)) + below(3) - 1;
    case 3:
        return below(20000);
    default:
        return below(1500);
    }
}

enum { VECTORS = 3 };

static void run_chain(uint64_t length)
{
    draw_state = seed * 0x2545f4914f6cdd1du + 1;
    log_used = 0;
    wild = chance(50);
    dome_type type = dome_type_basic((dome_type_kind)below(12)), other_type = dome_type_basic((dome_type_kind)below(12));
    if (is_complex(dome_type_kind_of(type)) && chance(50)) /* of the parts */
        other_type = type == DOME_C64 ? DOME_F32 : DOME_F64;
    static const uint64_t widths[] = {1, 1, 1, 2, 3, 7, 16, 17};
    uint64_t width = widths[below(8)], n = any_length(), block = chance(25) ? (uint64_t)1 << below(11) : 0;
    bool huge = below(250) == 0;
    if (huge) {
        n = 1000000 + below(3) - 1;
        width = 1;
        block = 0;
    }
    if (length) {
        n = length;
        width = 1;
    }
    dome_distribution distribution = chance(70) ? DOME_DYNAMIC : chance(60) ? DOME_BLOCK : DOME_WHOLE;
    LOG("%llu x %llu of %s, block %llu, distribution %d, %s", (unsigned long long)n, (unsigned long long)width,
        dome_type_name(type), (unsigned long long)block, (int)distribution, wild ? "wild" : "tame");

    model v[VECTORS], mask = new_model("mask", DOME_U8, n, width, block, distribution);
    static const char *const names[] = {"a", "b", "c"};
    for (int k = 0; k < VECTORS; k++)
        v[k] = new_model(names[k], type, n, width, block, distribution);
    model other = new_model("other", other_type, n, width, block, distribution);
    model whole = new_model("whole", type, n, width, block, DOME_WHOLE);
    model blocked = new_model("blocked", type, n, width, (uint64_t)1 << below(8), distribution);
    model index = new_model("index", chance(50) ? DOME_I64 : DOME_U32, n, 1, block, distribution);
    for (int k = 0; k < VECTORS; k++)
        if (chance(80))
            write_model(&v[k]);

    int steps = (huge || length > 100000 ? 8 : 10) + (int)below(30);
    for (int step = 0; step < steps; step++) {
        model *z = &v[below(VECTORS)], *x = &v[below(VECTORS)], *y = &v[below(VECTORS)];
        if (chance(10))
            y = &whole;
        switch (below(31)) {
        case 0:
        case 1:
        case 2:
        case 3:
            if (chance(20) && (is_complex(z->kind) || !is_complex(other.kind)))
                do_binary(z, chance(50) ? x : &other, &other);
            else
                do_binary(z, x, y);
            break;
        case 4:
        case 5:
        case 6:
            do_scalar(z, x);
            break;
        case 7:
            do_axpy(z, y);
            break;
        case 8:
        case 9:
            do_unary(z, y);
            break;
        case 10:
            do_compare(&mask, x, y);
            break;
        case 11:
            do_logic(&mask, &mask);
            break;
        case 12:
            do_select(z, &mask, x, y);
            break;
        case 13:
            do_convert(&other, x);
            break;
        case 14:
            do_convert(z, &other);
            break;
        case 15:
            if (chance(50))
                do_fill(chance(80) ? z : &whole);
            else
                do_index(chance(80) ? z : &whole);
            break;
        case 16:
            do_random(chance(80) ? z : &whole);
            break;
        case 17:
            do_copy(z, y);
            break;
        case 18:
            switch (below(3)) {
            case 0:
                do_copy(&whole, x);
                break;
            case 1:
                do_copy(&blocked, chance(70) ? x : &whole);
                break;
            default:
                do_copy(chance(70) ? z : &whole, &blocked);
            }
            break;
        case 19:
            if (is_complex(x->kind))
                expect_i64(dvec_scan(z->v, x->v), DOME_ERR_TYPE, DOME_ERR_TYPE, "scan", x);
            else
                move_scan(z, x);
            break;
        case 20:
            move_shift(z, x);
            break;
        case 21:
            if (z != x)
                move_gather(z, x, &index);
            break;
        case 22:
            if (z != x)
                move_scatter(z, x, &index);
            break;
        case 23:
            if (z != x)
                move_map(z, x);
            break;
        case 24:
            if (distribution == DOME_DYNAMIC)
                relayout(n, chance(70) ? v[0].block : blocked.block);
            break;
        case 25: {
            LOG("whole %s", x->name);
            const void *all = dvec_allgather(x->v);
            if (!all && n)
                DIFFERS("no whole of %s: %s", x->name, dome_error_message(env));
            compare_run(x, 0, x->count, all);
            break;
        }
        case 26:
            do_scalar_first(z, x);
            break;
        case 27:
            do_part(&other, x);
            break;
        default:
            if (chance(80))
                reduce(x, y);
            else if (chance(50))
                reduce(&other, &other);
            else
                reduce(&mask, &mask);
        }
        if (chance(15))
            check_model(z);
        if (chance(10))
            write_model(z);
    }
    for (int k = 0; k < VECTORS; k++)
        check_model(&v[k]);
    check_model(&mask);
    check_model(&other);
    check_model(&whole);
    check_model(&blocked);
    for (int k = 0; k < VECTORS; k++)
        free_model(&v[k]);
    free_model(&mask);
    free_model(&other);
    free_model(&whole);
    free_model(&blocked);
    free_model(&index);
}

int main(int argc, char **argv)
{
    env = dome_init(&argc, &argv);
    dome_set_errors_return(env);
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1, chains = argc > 2 ? strtoull(argv[2], NULL, 10) : 300;
    uint64_t length = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
    for (uint64_t k = 0; k < chains; k++) {
        seed = first + k;
        run_chain(length);
    }
    free(chain_log);
    dome_print(env, "ok: %llu chains from seed %llu, %llu operations, %d task%s\n", (unsigned long long)chains,
               (unsigned long long)first, (unsigned long long)operations, dome_size(env), dome_size(env) == 1 ? "" : "s");
    return dome_finalize(env);
}
