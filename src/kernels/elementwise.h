/* The table of element-wise operations: the properties of each that the evaluator (eval/eval.c) and the public functions need.
 * A new operation is a line here, its kernels in the lists of kernels.c, and its declaration in dome/dvec.h. */
#ifndef DOME_SRC_ELEMENTWISE_H
#define DOME_SRC_ELEMENTWISE_H

#include "core/operation_table.h"

/* The operands, which determine the public function; dvec_elementwise.c makes it from this table unless the form is OWN:
 * UNARY    z = f(x)           BINARY           z = f(x, y)           SCALAR  z = f(x, a)
 * COMPARE  mask = x op y      COMPARE_SCALAR   mask = x op a         PART    a real z = f(a complex x)
 * TEST     mask = f(x) */
typedef enum dome_elementwise_form {
    DOME_FORM_NONE, /* no element-wise operation */
    DOME_FORM_OWN,
    DOME_FORM_UNARY,
    DOME_FORM_BINARY,
    DOME_FORM_SCALAR,
    DOME_FORM_COMPARE,
    DOME_FORM_COMPARE_SCALAR,
    DOME_FORM_PART,
    DOME_FORM_TEST
} dome_elementwise_form;

enum {
    DOME_CHEAP = 1, /* recomputing it costs no more than writing and reading it */
    DOME_ACCUMULATES = 2 /* its output is also its second input */,
    DOME_DIVIDES = 4 /* the scalar is a divisor: must not be 0 for integers */
};

/* Reasons why an element of an integer vector may have no value. */
#define DOME_BY_ZERO   "an integer divided by zero"
#define DOME_ZERO_INTO "0 raised to a negative power"

/* X(code, name, arguments, form, flags, failure, expression). name: of the public function; arguments: of dome_operation_row;
 * failure: why an element of an integer vector may have no value; NULL: all have one. expression: C for generated code, the same
 * as the kernel's for floating point, of x, y and the scalar a; NULL: chains with this operation are run by kernels. */
#define DOME_ELEMENTWISE_LIST(X)                                                                                                 \
    X(FILL, dvec_fill, "value:f", OWN, 0, NULL, "a")                                                                             \
    X(COPY, dvec_copy, "x:v", OWN, DOME_CHEAP, NULL, "x")                                                                        \
    X(CONVERT, dvec_convert, "x:v", OWN, 0, NULL, NULL)                                                                          \
    X(ADD, dvec_add, "x:v y:v", BINARY, DOME_CHEAP, NULL, "x + y")                                                               \
    X(SUB, dvec_sub, "x:v y:v", BINARY, DOME_CHEAP, NULL, "x - y")                                                               \
    X(MUL, dvec_mul, "x:v y:v", BINARY, DOME_CHEAP, NULL, "ROUNDED(x * y)")                                                      \
    X(DIV, dvec_div, "x:v y:v", BINARY, 0, DOME_BY_ZERO, "x / y")                                                                \
    X(MIN, dvec_min, "x:v y:v", BINARY, DOME_CHEAP, NULL, "x < y || x != x ? x : y")                                             \
    X(MAX, dvec_max, "x:v y:v", BINARY, DOME_CHEAP, NULL, "x > y || x != x ? x : y")                                             \
    X(POW, dvec_pow, "x:v y:v", BINARY, 0, DOME_ZERO_INTO, NULL)                                                                 \
    X(ADDS, dvec_adds, "x:v a:f", SCALAR, DOME_CHEAP, NULL, "x + a")                                                             \
    X(SUBS, dvec_subs, "x:v a:f", SCALAR, DOME_CHEAP, NULL, "x - a")                                                             \
    X(MULS, dvec_muls, "x:v a:f", SCALAR, DOME_CHEAP, NULL, "ROUNDED(x * a)")                                                    \
    X(DIVS, dvec_divs, "x:v a:f", SCALAR, DOME_DIVIDES, NULL, "x / a")                                                           \
    X(MINS, dvec_mins, "x:v a:f", SCALAR, DOME_CHEAP, NULL, "x < a || x != x ? x : a")                                           \
    X(MAXS, dvec_maxs, "x:v a:f", SCALAR, DOME_CHEAP, NULL, "x > a || x != x ? x : a")                                           \
    X(POWS, dvec_pows, "x:v a:f", SCALAR, 0, DOME_ZERO_INTO, NULL)                                                               \
    X(RSUBS, dvec_rsubs, "x:v a:f", SCALAR, DOME_CHEAP, NULL, "a - x")                                                           \
    X(RDIVS, dvec_rdivs, "x:v a:f", SCALAR, 0, DOME_BY_ZERO, "a / x")                                                            \
    X(RPOWS, dvec_rpows, "x:v a:f", SCALAR, 0, DOME_ZERO_INTO, NULL)                                                             \
    X(FMOD, dvec_fmod, "x:v y:v", BINARY, 0, DOME_BY_ZERO, NULL)                                                                 \
    X(FMODS, dvec_fmods, "x:v a:f", SCALAR, DOME_DIVIDES, NULL, NULL)                                                            \
    X(FLOOR_DIVIDE, dvec_floor_divide, "x:v y:v", BINARY, 0, DOME_BY_ZERO, NULL)                                                 \
    X(FLOOR_DIVIDES, dvec_floor_divides, "x:v a:f", SCALAR, DOME_DIVIDES, NULL, NULL)                                            \
    X(REMAINDER, dvec_remainder, "x:v y:v", BINARY, 0, DOME_BY_ZERO, NULL)                                                       \
    X(REMAINDERS, dvec_remainders, "x:v a:f", SCALAR, DOME_DIVIDES, NULL, NULL)                                                  \
    X(ATAN2, dvec_atan2, "x:v y:v", BINARY, 0, NULL, NULL)                                                                       \
    X(HYPOT, dvec_hypot, "x:v y:v", BINARY, 0, NULL, NULL)                                                                       \
    X(COPYSIGN, dvec_copysign, "x:v y:v", BINARY, DOME_CHEAP, NULL, NULL)                                                        \
    X(NEXTAFTER, dvec_nextafter, "x:v y:v", BINARY, 0, NULL, NULL)                                                               \
    X(LOGADDEXP, dvec_logaddexp, "x:v y:v", BINARY, 0, NULL, NULL)                                                               \
    X(AXPY, dvec_axpy, "x:v a:f", OWN, DOME_ACCUMULATES, NULL, "y + ROUNDED(a * x)")                                             \
    X(NEG, dvec_neg, "x:v", UNARY, DOME_CHEAP, NULL, "-x")                                                                       \
    X(ABS, dvec_abs, "x:v", UNARY, DOME_CHEAP, NULL, "ABS(x)")                                                                   \
    X(SIGN, dvec_sign, "x:v", UNARY, 0, NULL, NULL)                                                                              \
    X(SQRT, dvec_sqrt, "x:v", UNARY, 0, NULL, "SQRT(x)")                                                                         \
    X(EXP, dvec_exp, "x:v", UNARY, 0, NULL, NULL)                                                                                \
    X(LOG, dvec_log, "x:v", UNARY, 0, NULL, NULL)                                                                                \
    X(SIN, dvec_sin, "x:v", UNARY, 0, NULL, NULL)                                                                                \
    X(COS, dvec_cos, "x:v", UNARY, 0, NULL, NULL)                                                                                \
    X(TAN, dvec_tan, "x:v", UNARY, 0, NULL, NULL)                                                                                \
    X(ASIN, dvec_asin, "x:v", UNARY, 0, NULL, NULL)                                                                              \
    X(ACOS, dvec_acos, "x:v", UNARY, 0, NULL, NULL)                                                                              \
    X(ATAN, dvec_atan, "x:v", UNARY, 0, NULL, NULL)                                                                              \
    X(SINH, dvec_sinh, "x:v", UNARY, 0, NULL, NULL)                                                                              \
    X(COSH, dvec_cosh, "x:v", UNARY, 0, NULL, NULL)                                                                              \
    X(TANH, dvec_tanh, "x:v", UNARY, 0, NULL, NULL)                                                                              \
    X(ASINH, dvec_asinh, "x:v", UNARY, 0, NULL, NULL)                                                                            \
    X(ACOSH, dvec_acosh, "x:v", UNARY, 0, NULL, NULL)                                                                            \
    X(ATANH, dvec_atanh, "x:v", UNARY, 0, NULL, NULL)                                                                            \
    X(EXP2, dvec_exp2, "x:v", UNARY, 0, NULL, NULL)                                                                              \
    X(EXPM1, dvec_expm1, "x:v", UNARY, 0, NULL, NULL)                                                                            \
    X(LOG2, dvec_log2, "x:v", UNARY, 0, NULL, NULL)                                                                              \
    X(LOG10, dvec_log10, "x:v", UNARY, 0, NULL, NULL)                                                                            \
    X(LOG1P, dvec_log1p, "x:v", UNARY, 0, NULL, NULL)                                                                            \
    X(CBRT, dvec_cbrt, "x:v", UNARY, 0, NULL, NULL)                                                                              \
    X(ERF, dvec_erf, "x:v", UNARY, 0, NULL, NULL)                                                                                \
    X(ERFC, dvec_erfc, "x:v", UNARY, 0, NULL, NULL)                                                                              \
    X(FLOOR, dvec_floor, "x:v", UNARY, 0, NULL, "FLOOR(x)")                                                                      \
    X(CEIL, dvec_ceil, "x:v", UNARY, 0, NULL, "CEIL(x)")                                                                         \
    X(ROUND, dvec_round, "x:v", UNARY, 0, NULL, "RINT(x)")                                                                       \
    X(TRUNC, dvec_trunc, "x:v", UNARY, 0, NULL, "TRUNC(x)")                                                                      \
    X(CONJ, dvec_conj, "x:v", UNARY, DOME_CHEAP, NULL, NULL)                                                                     \
    X(REAL, dvec_real, "x:v", PART, DOME_CHEAP, NULL, NULL)                                                                      \
    X(IMAG, dvec_imag, "x:v", PART, DOME_CHEAP, NULL, NULL)                                                                      \
    X(ARG, dvec_arg, "x:v", PART, 0, NULL, NULL)                                                                                 \
    X(EQ, dvec_eq, "x:v y:v", COMPARE, 0, NULL, NULL)                                                                            \
    X(NE, dvec_ne, "x:v y:v", COMPARE, 0, NULL, NULL)                                                                            \
    X(LT, dvec_lt, "x:v y:v", COMPARE, 0, NULL, NULL)                                                                            \
    X(LE, dvec_le, "x:v y:v", COMPARE, 0, NULL, NULL)                                                                            \
    X(GT, dvec_gt, "x:v y:v", COMPARE, 0, NULL, NULL)                                                                            \
    X(GE, dvec_ge, "x:v y:v", COMPARE, 0, NULL, NULL)                                                                            \
    X(EQS, dvec_eqs, "x:v a:f", COMPARE_SCALAR, 0, NULL, NULL)                                                                   \
    X(NES, dvec_nes, "x:v a:f", COMPARE_SCALAR, 0, NULL, NULL)                                                                   \
    X(LTS, dvec_lts, "x:v a:f", COMPARE_SCALAR, 0, NULL, NULL)                                                                   \
    X(LES, dvec_les, "x:v a:f", COMPARE_SCALAR, 0, NULL, NULL)                                                                   \
    X(GTS, dvec_gts, "x:v a:f", COMPARE_SCALAR, 0, NULL, NULL)                                                                   \
    X(GES, dvec_ges, "x:v a:f", COMPARE_SCALAR, 0, NULL, NULL)                                                                   \
    X(ISNAN, dvec_isnan, "x:v", TEST, 0, NULL, NULL)                                                                             \
    X(ISINF, dvec_isinf, "x:v", TEST, 0, NULL, NULL)                                                                             \
    X(ISFINITE, dvec_isfinite, "x:v", TEST, 0, NULL, NULL)                                                                       \
    X(SIGNBIT, dvec_signbit, "x:v", TEST, 0, NULL, NULL)                                                                         \
    X(AND, dvec_and, "x:v y:v", BINARY, 0, NULL, NULL)                                                                           \
    X(OR, dvec_or, "x:v y:v", BINARY, 0, NULL, NULL)                                                                             \
    X(XOR, dvec_xor, "x:v y:v", BINARY, 0, NULL, NULL)                                                                           \
    X(NOT, dvec_not, "x:v", UNARY, 0, NULL, NULL)                                                                                \
    X(BITAND, dvec_bitand, "x:v y:v", BINARY, DOME_CHEAP, NULL, NULL)                                                            \
    X(BITOR, dvec_bitor, "x:v y:v", BINARY, DOME_CHEAP, NULL, NULL)                                                              \
    X(BITXOR, dvec_bitxor, "x:v y:v", BINARY, DOME_CHEAP, NULL, NULL)                                                            \
    X(BITANDS, dvec_bitands, "x:v a:f", SCALAR, DOME_CHEAP, NULL, NULL)                                                          \
    X(BITORS, dvec_bitors, "x:v a:f", SCALAR, DOME_CHEAP, NULL, NULL)                                                            \
    X(BITXORS, dvec_bitxors, "x:v a:f", SCALAR, DOME_CHEAP, NULL, NULL)                                                          \
    X(BITNOT, dvec_bitnot, "x:v", UNARY, DOME_CHEAP, NULL, NULL)                                                                 \
    X(LSHIFT, dvec_lshift, "x:v y:v", BINARY, DOME_CHEAP, NULL, NULL)                                                            \
    X(RSHIFT, dvec_rshift, "x:v y:v", BINARY, DOME_CHEAP, NULL, NULL)                                                            \
    X(LSHIFTS, dvec_lshifts, "x:v a:f", SCALAR, DOME_CHEAP, NULL, NULL)                                                          \
    X(RSHIFTS, dvec_rshifts, "x:v a:f", SCALAR, DOME_CHEAP, NULL, NULL)                                                          \
    X(SELECT, dvec_select, "mask:v x:v y:v", OWN, 0, NULL, NULL)                                                                 \
    X(REPEAT, a repeated operand, "x:v", OWN, 0, NULL, NULL)                                                                     \
    X(IOTA, dvec_iota, "", OWN, 0, NULL, NULL)                                                                                   \
    X(RANDOM, dvec_random, "seed:u", OWN, 0, NULL, NULL)                                                                         \
    X(RANDOM_NORMAL, dvec_random_normal, "seed:u", OWN, 0, NULL, NULL)

enum { DOME_PART_ELEMENTWISE = 6 };

/* The codes of the operations, and their numbers, 0: none. The kernels' tables are in the order of the numbers: an operation that
 * is not element-wise leaves them as they are, and compiling them takes minutes. */
enum {
#define DOME_ELEMENTWISE_CODE(code, name, arguments, form, flags, failure, expression) DOME_OP_DVEC_##code,
    DOME_PART_ELEMENTWISE_BEGIN = DOME_PART_ELEMENTWISE * DOME_OPERATION_ROWS - 1,
    DOME_ELEMENTWISE_LIST(DOME_ELEMENTWISE_CODE)
#undef DOME_ELEMENTWISE_CODE
        DOME_PART_ELEMENTWISE_END
};
enum {
#define DOME_ELEMENTWISE_ENUM(code, name, arguments, form, flags, failure, expression) DOME_ELEMENTWISE_##code,
    DOME_ELEMENTWISE_NONE,
    DOME_ELEMENTWISE_LIST(DOME_ELEMENTWISE_ENUM)
#undef DOME_ELEMENTWISE_ENUM
        DOME_ELEMENTWISE_NUMBERS
};

extern dome_operation_part dome__elementwise_operations;

typedef struct dome_elementwise {
    dome_elementwise_form form;
    unsigned flags;
    const char *failure, *expression;
} dome_elementwise;

/* By number. */
extern const dome_elementwise dome__elementwise[DOME_ELEMENTWISE_NUMBERS] __attribute__((visibility("hidden")));

/* The number of an operation; DOME_ELEMENTWISE_NONE of those that are not element-wise. */
static inline uint32_t dome__elementwise_number(dome_operation_code code)
{
    const uint32_t number = code - DOME_PART_ELEMENTWISE_BEGIN;
    return number < DOME_ELEMENTWISE_NUMBERS ? number : DOME_ELEMENTWISE_NONE;
}

static inline const dome_elementwise *dome__elementwise_of(dome_operation_code code)
{
    return &dome__elementwise[dome__elementwise_number(code)];
}

/* Whether the kernel is chosen by the type of the inputs, because the output has another type. */
static inline bool dome__elementwise_by_input(dome_operation_code code)
{
    return dome__elementwise_of(code)->form >= DOME_FORM_COMPARE;
}

#endif
