/* Loops over elements, as statements: several outputs, values of different types, the index, rows, sums.
 *
 *     DVEC_FOR (i, double, x, double, v, const double, a) {   for each value: x and v change, a is read
 *         v += dt * a;
 *         x += dt * v;
 *     }
 *     DVEC_FOR (i, double, z)                                 no input; i is the index of the element
 *         z = x0 + (double)i * h;
 *     DVEC_FOR_ROWS (i, uint8_t, label, const double, point)  for each element, with all of its values
 *         *label = nearest(centres, point);
 *
 *     double s, p[3];
 *     DVEC_FOR_SUM (s, i, const double, x)                    s = the sum of the s of all values
 *         s = x * (double)i;
 *     DVEC_FOR_ROWS_SUM (p, i, const double, m, const double, v)
 *         for (int d = 0; d < 3; d++)                         p = the sums of the p of all elements
 *             p[d] = *m * v[d];
 *
 * Each begins a loop, whose body is the statement that follows. The index has the name that the
 * caller gives it and the type int64_t, so i - 1 is -1 in the first element. Then come 1 to 8
 * vectors as pairs: the type of a vector's values, and the name of a variable of type dvec *. A type
 * with const is read only, and the variable may be a const dvec *; the others may change. In the
 * body the names have other meanings:
 * - DVEC_FOR: one value of the vector. i is the index of its element.
 * - DVEC_FOR_ROWS: a pointer to the width values of element i. It may be written to unless the type
 *   has const.
 * - In the sums s is what this value or row adds, 0 at first: a double, or an array of doubles for
 *   several sums. Afterwards, and on all tasks, s is the sum. It is the name of a variable, not of a
 *   pointer.
 * All other names have their usual meaning (-Wshadow tells of those that have not). continue goes on
 * with the next value or row. break, return and goto must not leave the loop, and the body must not
 * call Dome functions: both end the program.
 *
 * Types are those of the vectors, basic or struct types; each vector has its own. All vectors agree
 * in length, block size and distribution; those with const may also be DOME_WHOLE. In DVEC_FOR they
 * also agree in width, or those with const are repeated: see "Repeated operands" in dvec.h. In
 * DVEC_FOR_ROWS each has its own width, so nothing needs to be repeated but a DOME_WHOLE vector of
 * one element, which is the same for all i. A vector may have several names, of which one may write
 * it; in DVEC_FOR the others have the value from before the body.
 *
 * The loops are compiled with the program: use -O3 and the processor's instructions
 * (-march=native), and -fno-math-errno for sqrt. DVEC_FOR assumes that all elements cost the same;
 * DVEC_FOR_ROWS is timed by block as dvec_map is, and balanced where rows differ in cost. Results do
 * not depend on the number of tasks, provided that the body computes a row from that row, its index
 * and what is the same on all tasks. Each sum has the bits of dvec_sum of the vector of terms. The
 * body may also change variables of the program: they belong to this task alone.
 *
 * Collective in order, as dvec_map; collective with a sum. They fail as dvec_map does, and need the
 * values of all their vectors: a change of x is seen in x. On failure the body does not run, and
 * sums are NaN.
 *
 * clang-format takes them for loops if its settings have ForEachMacros: [DVEC_FOR, DVEC_FOR_ROWS,
 * DVEC_FOR_SUM, DVEC_FOR_ROWS_SUM]. dome.hpp has the same for C++, with lambdas. */
#ifndef DOME_LOOP_H
#define DOME_LOOP_H

#include <dome/map.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The functions behind the macros, for loops of your own over runs of elements, as those of map.h:
 *
 *     dvec_operand operands[] = {{x, DOME_F64, 8, DVEC_CHANGE}, {a, DOME_F64, 8, DVEC_READ}};
 *     for (bool more = dvec_run_over(&run, 2, operands, 0, 0); more; more = dvec_run_next(&run))
 *         ... run.at[k] has run.values values of operand k ... */
typedef enum dvec_access {
    DVEC_READ,
    DVEC_CHANGE,   /* read and written */
    DVEC_OVERWRITE /* all values are written, and none is read before */
} dvec_access;

typedef struct dvec_operand {
    const dvec *vector; /* a dvec * unless it is read only */
    dome_type type;     /* of the values; NULL: a struct or complex type */
    size_t bytes;       /* of a value */
    dvec_access access;
} dvec_operand;

/* Flag of dvec_run_over: runs consist of whole elements, and operands have widths of their own.
 * Element run.first + j of operand k is at run.at[k] plus j * run.stride[k] values. */
#define DVEC_RUN_ROWS 4u

/* The caller of dvec_run_over, whose name messages show: a macro, or a function of dome.hpp. */
#define DVEC_RUN_IN_LOOP_     8u
#define DVEC_RUN_IN_FUNCTION_ 16u

/* Checks the operands, does their deferred work, and finds the first run. sums: the number of sums;
 * then the loop writes their terms to run.terms: those of all values of the run (or rows) for the
 * first sum, then those for the second, ... Returns whether there is a run. n is at most
 * DVEC_MAP_MAX. */
bool dvec_run_over(dvec_run *run, size_t n, const dvec_operand operands[], size_t sums, unsigned flags);

/* The sums over all tasks, after the last run. Collective. NaN if dvec_run_over has failed. */
void dvec_run_sums(dvec_run *run, double sums[]);

/* At the end of a loop: ends the program if runs are left, since the other tasks count on them. */
void dvec_run_end(dvec_run *run);

/* ---- the macros ---- */

#define DVEC_LOOP_MAX_ 8

/* The parts of its run that a loop needs, in local variables. */
typedef struct dvec_loop_ {
    void *at[DVEC_LOOP_MAX_];
    size_t stride[DVEC_LOOP_MAX_];
    int64_t first;
    size_t count, width, skipped;
    double *terms;
    bool open;
} dvec_loop_;

static inline dvec_run *dvec_loop_begin_(dvec_run *run, size_t n, const dvec_operand operands[], size_t sums, unsigned flags)
{
    return dvec_run_over(run, n, operands, sums, flags | DVEC_RUN_IN_LOOP_) ? run : NULL;
}

static inline dvec_run *dvec_loop_next_(dvec_run *run)
{
    return dvec_run_next(run) ? run : NULL;
}

static inline dvec_loop_ dvec_loop_of_(const dvec_run *run, bool rows)
{
    dvec_loop_ loop;
    for (size_t k = 0; k < DVEC_LOOP_MAX_; k++) {
        loop.at[k] = run->at[k];
        loop.stride[k] = run->stride[k];
    }
    loop.first = DVEC_AS_(int64_t, run->first);
    loop.count = rows ? run->count : run->values;
    loop.width = run->width;
    loop.skipped = run->skipped;
    loop.terms = run->terms;
    loop.open = true;
    return loop;
}

static inline void dvec_loop_add_(const dvec_loop_ *loop, size_t v, const double s[], size_t sums)
{
    for (size_t k = 0; k < sums; k++)
        loop->terms[k * loop->count + v] = s[k];
}

#if defined(__GNUC__)
#define DVEC_ON_LEAVING_ __attribute__((cleanup(dvec_run_end)))
#define DVEC_UNUSED_     __attribute__((unused))
#else
#define DVEC_ON_LEAVING_
#define DVEC_UNUSED_
#endif

#ifndef __cplusplus
static inline dvec_operand dvec_operand_read_(const dvec *x, dome_type type, size_t bytes)
{
    const dvec_operand operand = {x, type, bytes, DVEC_READ};
    return operand;
}

static inline dvec_operand dvec_operand_written_(dvec *x, dome_type type, size_t bytes)
{
    const dvec_operand operand = {x, type, bytes, DVEC_CHANGE};
    return operand;
}

/* Chooses by whether T is const. */
#define DVEC_BY_CONST_(T, with, without) _Generic(1 ? (T *)0 : (void *)1, const void * : with, void * : without)

/* clang-format off */
#define DVEC_ANY_TYPE_(T)                                                                                                        \
    _Generic(*(T *)0, char: (char)-1 < 0 ? DOME_I8 : DOME_U8, signed char: DOME_I8, unsigned char: DOME_U8,      \
                      short: DOME_I16, unsigned short: DOME_U16, int: DOME_I32, unsigned: DOME_U32,                              \
                      long: sizeof(long) == 8 ? DOME_I64 : DOME_I32, unsigned long: sizeof(long) == 8 ? DOME_U64 : DOME_U32,     \
                      long long: DOME_I64, unsigned long long: DOME_U64, float: DOME_F32, double: DOME_F64,                      \
                      float _Complex: DOME_C64, double _Complex: DOME_C128, default: (dome_type)0)
/* clang-format on */
#define DVEC_OPERAND_(T, x, k)                                                                                                   \
    DVEC_BY_CONST_(T, dvec_operand_read_, dvec_operand_written_)                                                                 \
    (x, DVEC_ANY_TYPE_(T), sizeof(T)),

/* T without const. */
#define DVEC_PLAIN_(T)                                                                                                           \
    __typeof__(__extension__({                                                                                                   \
        T dvec_plain_ DVEC_UNUSED_ = {0};                                                                                        \
        dvec_plain_;                                                                                                             \
    }))
#define DVEC_VALUE_(T, x, k)                                                                                                     \
    for (T x = ((T *)l_.at[k])[v_]; go_;                                                                                         \
         DVEC_BY_CONST_(T, false, true) ? (void)(((DVEC_PLAIN_(T) *)l_.at[k])[v_] = x) : (void)0, go_ = false)
#define DVEC_ROW_(T, x, k) for (T *x = (T *)l_.at[k] + v_ * l_.stride[k]; go_; go_ = false)

/* The sums' variable as an array, and its length. A pointer does not say how many there are. */
#define DVEC_SUMS_(s) _Generic((s), double : &(s), double * : (s))
#define DVEC_SUMS_COUNT_(s)                                                                                                      \
    (sizeof(s) / sizeof(double) * sizeof(char[__builtin_types_compatible_p(__typeof__(s), double *) ? -1 : 1]))
#define DVEC_TYPE_OF_SUMS_(s) __typeof__(s)
#else
} /* extern "C" */
template <class T> struct dvec_operand_of_ {
    static inline dvec_operand make(dvec *x, dome_type type)
    {
        const dvec_operand operand = {x, type, sizeof(T), DVEC_CHANGE};
        return operand;
    }
    static inline void put(void *to, size_t v, const T &value)
    {
        static_cast<T *>(to)[v] = value;
    }
};
template <class T> struct dvec_operand_of_<const T> {
    static inline dvec_operand make(const dvec *x, dome_type type)
    {
        const dvec_operand operand = {x, type, sizeof(T), DVEC_READ};
        return operand;
    }
    static inline void put(void *, size_t, const T &)
    {
    }
};

template <class T> inline dome_type dvec_any_type_of_(const T *)
{
    return NULL;
}
#define DVEC_ANY_TYPE_OF_(ctype, name)                                                                                           \
    inline dome_type dvec_any_type_of_(const ctype *)                                                                            \
    {                                                                                                                            \
        return name;                                                                                                             \
    }
dome_type dvec_any_type_of_(const bool *) = delete; /* an element of DOME_U8 may be another number than 0 and 1 */
DVEC_ANY_TYPE_OF_(char, static_cast<char>(-1) < 0 ? DOME_I8 : DOME_U8)
DVEC_ANY_TYPE_OF_(signed char, DOME_I8)
DVEC_ANY_TYPE_OF_(unsigned char, DOME_U8)
DVEC_ANY_TYPE_OF_(short, DOME_I16)
DVEC_ANY_TYPE_OF_(unsigned short, DOME_U16)
DVEC_ANY_TYPE_OF_(int, DOME_I32)
DVEC_ANY_TYPE_OF_(unsigned, DOME_U32)
DVEC_ANY_TYPE_OF_(long, sizeof(long) == 8 ? DOME_I64 : DOME_I32)
DVEC_ANY_TYPE_OF_(unsigned long, sizeof(long) == 8 ? DOME_U64 : DOME_U32)
DVEC_ANY_TYPE_OF_(long long, DOME_I64)
DVEC_ANY_TYPE_OF_(unsigned long long, DOME_U64)
DVEC_ANY_TYPE_OF_(float, DOME_F32)
DVEC_ANY_TYPE_OF_(double, DOME_F64)
#undef DVEC_ANY_TYPE_OF_

inline double *dvec_sums_of_(double &s)
{
    return &s;
}
template <size_t n> inline double *dvec_sums_of_(double (&s)[n])
{
    return s;
}
template <class T> struct dvec_sums_count_ {
    static_assert(sizeof(T) == 0, "the sums are a double or an array of doubles, not a pointer");
};
template <> struct dvec_sums_count_<double> {
    static const size_t value = 1;
};
template <size_t n> struct dvec_sums_count_<double[n]> {
    static const size_t value = n;
};

#define DVEC_OPERAND_(T, x, k) dvec_operand_of_<T>::make(x, dvec_any_type_of_(static_cast<T *>(NULL))),
#define DVEC_VALUE_(T, x, k)                                                                                                     \
    for (T x = static_cast<T *>(l_.at[k])[v_]; go_; dvec_operand_of_<T>::put(l_.at[k], v_, x), go_ = false)
#define DVEC_ROW_(T, x, k)    for (T *x = static_cast<T *>(l_.at[k]) + v_ * l_.stride[k]; go_; go_ = false)
#define DVEC_SUMS_(s)         dvec_sums_of_(s)
#define DVEC_SUMS_COUNT_(s)   dvec_sums_count_<decltype(s)>::value
#define DVEC_TYPE_OF_SUMS_(s) decltype(s)
extern "C" {
#endif

/* M(T, x, number) for each pair. */
#define DVEC_EACH1_(M, T1, x1)                                     M(T1, x1, 0)
#define DVEC_EACH2_(M, T1, x1, T2, x2)                             DVEC_EACH1_(M, T1, x1) M(T2, x2, 1)
#define DVEC_EACH3_(M, a, b, c, d, T3, x3)                         DVEC_EACH2_(M, a, b, c, d) M(T3, x3, 2)
#define DVEC_EACH4_(M, a, b, c, d, e, f, T4, x4)                   DVEC_EACH3_(M, a, b, c, d, e, f) M(T4, x4, 3)
#define DVEC_EACH5_(M, a, b, c, d, e, f, g, h, T5, x5)             DVEC_EACH4_(M, a, b, c, d, e, f, g, h) M(T5, x5, 4)
#define DVEC_EACH6_(M, a, b, c, d, e, f, g, h, i, j, T6, x6)       DVEC_EACH5_(M, a, b, c, d, e, f, g, h, i, j) M(T6, x6, 5)
#define DVEC_EACH7_(M, a, b, c, d, e, f, g, h, i, j, k, l, T7, x7) DVEC_EACH6_(M, a, b, c, d, e, f, g, h, i, j, k, l) M(T7, x7, 6)
#define DVEC_EACH8_(M, a, b, c, d, e, f, g, h, i, j, k, l, m, n, T8, x8)                                                         \
    DVEC_EACH7_(M, a, b, c, d, e, f, g, h, i, j, k, l, m, n) M(T8, x8, 7)
#define DVEC_ODD_                                                                 _needs_a_type_and_a_name_for_each_vector_
#define DVEC_NUMBER_(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, number, ...) number
#define DVEC_PASTE_(a, b)                                                         a##b
#define DVEC_EACH_NAME_(number)                                                   DVEC_PASTE_(DVEC_EACH, number)
#define DVEC_EACH_(M, ...)                                                                                                       \
    DVEC_EACH_NAME_(DVEC_NUMBER_(__VA_ARGS__, 8_, DVEC_ODD_, 7_, DVEC_ODD_, 6_, DVEC_ODD_, 5_, DVEC_ODD_, 4_, DVEC_ODD_, 3_,     \
                                 DVEC_ODD_, 2_, DVEC_ODD_, 1_, DVEC_ODD_, 0))                                                    \
    (M, __VA_ARGS__)

/* The runs of a loop; `finish` follows the last. */
#define DVEC_RUNS_(sums, flags, finish, ...)                                                                                     \
    for (const dvec_operand operands_[] = {DVEC_EACH_(DVEC_OPERAND_, __VA_ARGS__)}, *once_ = operands_; once_; once_ = NULL)     \
        for (dvec_run run_ DVEC_ON_LEAVING_,                                                                                     \
             *loop_ = dvec_loop_begin_(&run_, sizeof operands_ / sizeof *operands_, operands_, sums, flags);                     \
             loop_ || finish; loop_ = dvec_loop_next_(loop_))                                                                    \
            for (dvec_loop_ l_ = dvec_loop_of_(loop_, ((flags)&DVEC_RUN_ROWS) != 0); l_.open; l_.open = false)

#define DVEC_INDEXED_(i, index)                                                                                                  \
    for (size_t v_ = 0; v_ < l_.count; v_++)                                                                                     \
        for (bool go_ = true; go_; go_ = false)                                                                                  \
            for (const int64_t i DVEC_UNUSED_ = l_.first + (int64_t)(index); go_; go_ = false)
#define DVEC_INDEX_OF_VALUE_ (l_.width == 1 ? v_ : (l_.skipped + v_) / l_.width)

/* The body; go_ is still set behind it if it was left by break. */
#define DVEC_BODY_                                                                                                               \
    for (; go_; go_ ? dvec_run_end(loop_) : (void)0, go_ = false)                                                                \
        for (; go_; go_ = false)

#define DVEC_TERMS_(s)                                                                                                           \
    for (DVEC_TYPE_OF_SUMS_(s) s = {0}; go_; dvec_loop_add_(&l_, v_, DVEC_SUMS_(s), DVEC_SUMS_COUNT_(s)), go_ = false)
#define DVEC_FINISH_(s) (dvec_run_sums(&run_, DVEC_SUMS_(s)), false)

#define DVEC_FOR(i, ...)                                                                                                         \
    DVEC_RUNS_(0, 0, false, __VA_ARGS__)                                                                                         \
    DVEC_INDEXED_(i, DVEC_INDEX_OF_VALUE_) DVEC_EACH_(DVEC_VALUE_, __VA_ARGS__) DVEC_BODY_
#define DVEC_FOR_ROWS(i, ...)                                                                                                    \
    DVEC_RUNS_(0, DVEC_RUN_ROWS, false, __VA_ARGS__)                                                                             \
    DVEC_INDEXED_(i, v_) DVEC_EACH_(DVEC_ROW_, __VA_ARGS__) DVEC_BODY_
#define DVEC_FOR_SUM(s, i, ...)                                                                                                  \
    DVEC_RUNS_(DVEC_SUMS_COUNT_(s), 0, DVEC_FINISH_(s), __VA_ARGS__)                                                             \
    DVEC_INDEXED_(i, DVEC_INDEX_OF_VALUE_) DVEC_EACH_(DVEC_VALUE_, __VA_ARGS__) DVEC_TERMS_(s) DVEC_BODY_
#define DVEC_FOR_ROWS_SUM(s, i, ...)                                                                                             \
    DVEC_RUNS_(DVEC_SUMS_COUNT_(s), DVEC_RUN_ROWS, DVEC_FINISH_(s), __VA_ARGS__)                                                 \
    DVEC_INDEXED_(i, v_) DVEC_EACH_(DVEC_ROW_, __VA_ARGS__) DVEC_TERMS_(s) DVEC_BODY_

#ifdef __cplusplus
}
#endif
#endif
