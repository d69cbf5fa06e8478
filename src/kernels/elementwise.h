/* The table of element-wise operations: the properties of each that the evaluator (eval/eval.c) and the public functions need.
 * A new operation is a line in core/operation.h, a line here, its kernels in the lists of kernels.c, and its declaration in
 * dome/dvec.h. */
#ifndef DOME_SRC_ELEMENTWISE_H
#define DOME_SRC_ELEMENTWISE_H

#include <dome/structure.h>
#include <stdbool.h>

/* The operands, which determine the public function; dvec_elementwise.c makes it from this table unless the form is OWN:
 * UNARY    z = f(x)           BINARY           z = f(x, y)           SCALAR  z = f(x, a)
 * COMPARE  mask = x op y      COMPARE_SCALAR   mask = x op a         PART    a real z = f(a complex x) */
typedef enum dome_elementwise_form {
    DOME_FORM_NONE, /* no element-wise operation */
    DOME_FORM_OWN,
    DOME_FORM_UNARY,
    DOME_FORM_BINARY,
    DOME_FORM_SCALAR,
    DOME_FORM_COMPARE,
    DOME_FORM_COMPARE_SCALAR,
    DOME_FORM_PART
} dome_elementwise_form;

enum {
    DOME_CHEAP = 1, /* recomputing it costs no more than writing and reading it */
    DOME_ACCUMULATES = 2 /* its output is also its second input */,
    DOME_DIVIDES = 4 /* the scalar is a divisor: must not be 0 for integers */
};

/* Reasons why an element of an integer vector may have no value. */
#define DOME_BY_ZERO   "an integer divided by zero"
#define DOME_ZERO_INTO "0 raised to a negative power"

/* X(code, name, form, flags, failure, expression). failure: why an element of an integer vector may have no value; NULL: all have
 * one. expression: C for generated code, the same as the kernel's for floating point, of x, y and the scalar a; NULL: chains with
 * this operation are run by kernels. */
#define DOME_ELEMENTWISE_LIST(X)                                                                                                 \
    X(FILL, fill, OWN, 0, NULL, "a")                                                                                             \
    X(COPY, copy, OWN, DOME_CHEAP, NULL, "x")                                                                                    \
    X(CONVERT, convert, OWN, 0, NULL, NULL)                                                                                      \
    X(ADD, add, BINARY, DOME_CHEAP, NULL, "x + y")                                                                               \
    X(SUB, sub, BINARY, DOME_CHEAP, NULL, "x - y")                                                                               \
    X(MUL, mul, BINARY, DOME_CHEAP, NULL, "ROUNDED(x * y)")                                                                      \
    X(DIV, div, BINARY, 0, DOME_BY_ZERO, "x / y")                                                                                \
    X(MIN, min, BINARY, DOME_CHEAP, NULL, "x < y || x != x ? x : y")                                                             \
    X(MAX, max, BINARY, DOME_CHEAP, NULL, "x > y || x != x ? x : y")                                                             \
    X(POW, pow, BINARY, 0, DOME_ZERO_INTO, NULL)                                                                                 \
    X(ADDS, adds, SCALAR, DOME_CHEAP, NULL, "x + a")                                                                             \
    X(SUBS, subs, SCALAR, DOME_CHEAP, NULL, "x - a")                                                                             \
    X(MULS, muls, SCALAR, DOME_CHEAP, NULL, "ROUNDED(x * a)")                                                                    \
    X(DIVS, divs, SCALAR, DOME_DIVIDES, NULL, "x / a")                                                                           \
    X(MINS, mins, SCALAR, DOME_CHEAP, NULL, "x < a || x != x ? x : a")                                                           \
    X(MAXS, maxs, SCALAR, DOME_CHEAP, NULL, "x > a || x != x ? x : a")                                                           \
    X(POWS, pows, SCALAR, 0, DOME_ZERO_INTO, NULL)                                                                               \
    X(RSUBS, rsubs, SCALAR, DOME_CHEAP, NULL, "a - x")                                                                           \
    X(RDIVS, rdivs, SCALAR, 0, DOME_BY_ZERO, "a / x")                                                                            \
    X(RPOWS, rpows, SCALAR, 0, DOME_ZERO_INTO, NULL)                                                                             \
    X(FMOD, fmod, BINARY, 0, DOME_BY_ZERO, NULL)                                                                                 \
    X(FMODS, fmods, SCALAR, DOME_DIVIDES, NULL, NULL)                                                                            \
    X(ATAN2, atan2, BINARY, 0, NULL, NULL)                                                                                       \
    X(HYPOT, hypot, BINARY, 0, NULL, NULL)                                                                                       \
    X(AXPY, axpy, OWN, DOME_ACCUMULATES, NULL, "y + ROUNDED(a * x)")                                                             \
    X(NEG, neg, UNARY, DOME_CHEAP, NULL, "-x")                                                                                   \
    X(ABS, abs, UNARY, DOME_CHEAP, NULL, "ABS(x)")                                                                               \
    X(SQRT, sqrt, UNARY, 0, NULL, "SQRT(x)")                                                                                     \
    X(EXP, exp, UNARY, 0, NULL, NULL)                                                                                            \
    X(LOG, log, UNARY, 0, NULL, NULL)                                                                                            \
    X(SIN, sin, UNARY, 0, NULL, NULL)                                                                                            \
    X(COS, cos, UNARY, 0, NULL, NULL)                                                                                            \
    X(TAN, tan, UNARY, 0, NULL, NULL)                                                                                            \
    X(ASIN, asin, UNARY, 0, NULL, NULL)                                                                                          \
    X(ACOS, acos, UNARY, 0, NULL, NULL)                                                                                          \
    X(ATAN, atan, UNARY, 0, NULL, NULL)                                                                                          \
    X(SINH, sinh, UNARY, 0, NULL, NULL)                                                                                          \
    X(COSH, cosh, UNARY, 0, NULL, NULL)                                                                                          \
    X(TANH, tanh, UNARY, 0, NULL, NULL)                                                                                          \
    X(EXP2, exp2, UNARY, 0, NULL, NULL)                                                                                          \
    X(EXPM1, expm1, UNARY, 0, NULL, NULL)                                                                                        \
    X(LOG2, log2, UNARY, 0, NULL, NULL)                                                                                          \
    X(LOG10, log10, UNARY, 0, NULL, NULL)                                                                                        \
    X(LOG1P, log1p, UNARY, 0, NULL, NULL)                                                                                        \
    X(CBRT, cbrt, UNARY, 0, NULL, NULL)                                                                                          \
    X(ERF, erf, UNARY, 0, NULL, NULL)                                                                                            \
    X(ERFC, erfc, UNARY, 0, NULL, NULL)                                                                                          \
    X(FLOOR, floor, UNARY, 0, NULL, "FLOOR(x)")                                                                                  \
    X(CEIL, ceil, UNARY, 0, NULL, "CEIL(x)")                                                                                     \
    X(ROUND, round, UNARY, 0, NULL, "RINT(x)")                                                                                   \
    X(TRUNC, trunc, UNARY, 0, NULL, "TRUNC(x)")                                                                                  \
    X(CONJ, conj, UNARY, DOME_CHEAP, NULL, NULL)                                                                                 \
    X(REAL, real, PART, DOME_CHEAP, NULL, NULL)                                                                                  \
    X(IMAG, imag, PART, DOME_CHEAP, NULL, NULL)                                                                                  \
    X(ARG, arg, PART, 0, NULL, NULL)                                                                                             \
    X(EQ, eq, COMPARE, 0, NULL, NULL)                                                                                            \
    X(NE, ne, COMPARE, 0, NULL, NULL)                                                                                            \
    X(LT, lt, COMPARE, 0, NULL, NULL)                                                                                            \
    X(LE, le, COMPARE, 0, NULL, NULL)                                                                                            \
    X(GT, gt, COMPARE, 0, NULL, NULL)                                                                                            \
    X(GE, ge, COMPARE, 0, NULL, NULL)                                                                                            \
    X(EQS, eqs, COMPARE_SCALAR, 0, NULL, NULL)                                                                                   \
    X(NES, nes, COMPARE_SCALAR, 0, NULL, NULL)                                                                                   \
    X(LTS, lts, COMPARE_SCALAR, 0, NULL, NULL)                                                                                   \
    X(LES, les, COMPARE_SCALAR, 0, NULL, NULL)                                                                                   \
    X(GTS, gts, COMPARE_SCALAR, 0, NULL, NULL)                                                                                   \
    X(GES, ges, COMPARE_SCALAR, 0, NULL, NULL)                                                                                   \
    X(AND, and, BINARY, 0, NULL, NULL)                                                                                           \
    X(OR, or, BINARY, 0, NULL, NULL)                                                                                             \
    X(XOR, xor, BINARY, 0, NULL, NULL)                                                                                           \
    X(NOT, not, UNARY, 0, NULL, NULL)                                                                                            \
    X(BITAND, bitand, BINARY, DOME_CHEAP, NULL, NULL)                                                                            \
    X(BITOR, bitor, BINARY, DOME_CHEAP, NULL, NULL)                                                                              \
    X(BITXOR, bitxor, BINARY, DOME_CHEAP, NULL, NULL)                                                                            \
    X(BITANDS, bitands, SCALAR, DOME_CHEAP, NULL, NULL)                                                                          \
    X(BITORS, bitors, SCALAR, DOME_CHEAP, NULL, NULL)                                                                            \
    X(BITXORS, bitxors, SCALAR, DOME_CHEAP, NULL, NULL)                                                                          \
    X(BITNOT, bitnot, UNARY, DOME_CHEAP, NULL, NULL)                                                                             \
    X(LSHIFT, lshift, BINARY, DOME_CHEAP, NULL, NULL)                                                                            \
    X(RSHIFT, rshift, BINARY, DOME_CHEAP, NULL, NULL)                                                                            \
    X(LSHIFTS, lshifts, SCALAR, DOME_CHEAP, NULL, NULL)                                                                          \
    X(RSHIFTS, rshifts, SCALAR, DOME_CHEAP, NULL, NULL)                                                                          \
    X(SELECT, select, OWN, 0, NULL, NULL)                                                                                        \
    X(REPEAT, repeat, OWN, 0, NULL, NULL)                                                                                        \
    X(IOTA, iota, OWN, 0, NULL, NULL)                                                                                            \
    X(RANDOM, random, OWN, 0, NULL, NULL)                                                                                        \
    X(RANDOM_NORMAL, random_normal, OWN, 0, NULL, NULL)

/* The operations of this table by number, 0: none. The kernels' tables are in this order: an operation that is not element-wise
 * leaves them as they are, and compiling them takes minutes. */
enum {
#define DOME_ELEMENTWISE_ENUM(code, name, form, flags, failure, expression) DOME_ELEMENTWISE_##code,
    DOME_ELEMENTWISE_NONE,
    DOME_ELEMENTWISE_LIST(DOME_ELEMENTWISE_ENUM)
#undef DOME_ELEMENTWISE_ENUM
        DOME_ELEMENTWISE_NUMBERS
};

typedef struct dome_elementwise {
    dome_elementwise_form form;
    uint32_t number;
    unsigned flags;
    const char *failure, *expression;
} dome_elementwise;

/* By dome_operation_code, of the library's own operations. */
extern const dome_elementwise dome__elementwise[] __attribute__((visibility("hidden")));

/* Whether the kernel is chosen by the type of the inputs, because the output has another type. */
static inline bool dome__elementwise_by_input(dome_operation_code code)
{
    return dome__elementwise[code].form >= DOME_FORM_COMPARE;
}

#endif
