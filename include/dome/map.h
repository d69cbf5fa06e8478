/* Element-wise loops in one line. (Loops with several outputs, values of different types, the index
 * or whole rows: loop.h.)
 *
 *     DVEC_MAP3(double, d, a, b, c, sqrt(a * a + b * b) * c - a / b + b / 2);   d = ...
 *     DVEC_SUM2(s, double, x, y, (x - y) * (x - y));      s = the sum of ..., the same on all tasks
 *     DVEC_MAP_SUM1(s, double, z, x, exp(-x));            z = ... and s = its sum, in one pass
 *
 * The number in a name is the number of inputs, 0 to 6 (DVEC_SUM: 1 to 6). Inputs are variables of
 * type dvec * or const dvec *, the output is a dvec *. In the expression the name of an input stands
 * for one of its values, of type T; all other names have their usual meaning. T is int8_t ...
 * uint64_t, float or double, and is the type of all the vectors. The vectors agree in length, width,
 * block size and distribution; inputs may be DOME_WHOLE, or be repeated (dvec.h). The output may be
 * one of the inputs. Name every vector once. The expression must not call Dome functions.
 *
 * The loops are compiled with the program: use -O3 and the processor's instructions
 * (-march=native), and -fno-math-errno for sqrt. Pointers are aligned to 64 bytes at most. Results
 * do not depend on the number of tasks: each value depends on its operands alone, and sums have the
 * bits of dvec_sum of the vector of terms. Compile with -ffp-contract=off, as pkg-config --cflags
 * dome does, for the same bits on all processors.
 *
 * Collective in order, as dvec_map; collective with a sum. They fail as dvec_map does; the sum is
 * then NaN. They are statements in C and C++; s is a variable of type double. */
#ifndef DOME_MAP_H
#define DOME_MAP_H

#include <dome/dvec.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The functions behind the macros. They visit the vectors' elements in this task's memory, one
 * contiguous run after the other.
 *
 *     bool more = dvec_run_begin(&run, DOME_F64, z, 2, (dvec *[]){x, y}, 0);
 *     for (; more; more = dvec_run_next(&run))
 *         ... run.out and run.in[k] hold run.values values each ...
 *
 * The loop must visit all runs and must not call other Dome functions. */
typedef struct dvec_run {
    void *out;                    /* NULL without an output */
    const void *in[DVEC_MAP_MAX]; /* equal to out, or apart from it */
    uint64_t first;               /* elements first ... first + count - 1 */
    size_t count;
    size_t values; /* count * width */

    /* Of dvec_run_over (loop.h): each operand's first value of the run. With DVEC_RUN_ROWS: the number of
     * values from one element to the next, 0 if one element counts for all. Without it a run has
     * `values` values of each operand, in elements of `width`, and the first is value number `skipped`
     * of element `first`. terms: room for the terms of sums. */
    void *at[DVEC_MAP_MAX];
    size_t stride[DVEC_MAP_MAX];
    size_t width, skipped;
    double *terms;

    uint64_t state_[160]; /* private */
} dvec_run;

/* Flags of dvec_run_begin: one block at a time, as sums require; a macro has called it, whose name
 * messages then show. */
#define DVEC_RUN_BLOCKS    1u
#define DVEC_RUN_IN_MACRO_ 2u

/* Checks the vectors, does their deferred work and finds the first run. type is the type of all
 * vectors, or NULL for any. out may be NULL. Returns whether there is a run: false if this task
 * owns no elements, and on failure. dvec_run_next finds the next. */
bool dvec_run_begin(dvec_run *run, dome_type type, dvec *out, int nin, dvec *const in[], unsigned flags);
bool dvec_run_next(dvec_run *run);

/* Adds a block to the sum: part[j] is the sum of its values number j, j + 16, j + 32, ... */
#define DVEC_RUN_PARTS 16
void dvec_run_add(dvec_run *run, const double part[DVEC_RUN_PARTS]);

/* The same for integers, exactly: each value is low + 2^32 * high with low in 0 ... 2^32 - 1. At
 * most 2^31 values in one partial sum. */
void dvec_run_add_integers(dvec_run *run, const uint64_t low[DVEC_RUN_PARTS], const int64_t high[DVEC_RUN_PARTS]);

/* The sum over all tasks, after the last run. Collective. NaN if dvec_run_begin has failed. */
double dvec_run_sum(dvec_run *run);

/* Inputs equal the output or lie apart from it, so iterations are independent. (clang warns where
 * it cannot use this promise; it checks by itself.) */
#if defined(__GNUC__) && !defined(__clang__)
#define DVEC_INDEPENDENT_ _Pragma("GCC ivdep")
#else
#define DVEC_INDEPENDENT_
#endif

/* The loop over the partial sums is the one to vectorize: gcc would make sixteen scalar additions of
 * it first. */
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 8
#define DVEC_PARTS_LOOP_ DVEC_INDEPENDENT_ _Pragma("GCC unroll 1")
#else
#define DVEC_PARTS_LOOP_ DVEC_INDEPENDENT_
#endif

#ifndef __cplusplus
/* clang-format off */
#define DVEC_TYPE_(T)                                                                                                            \
    _Generic((T){0}, int8_t: DOME_I8, int16_t: DOME_I16, int32_t: DOME_I32, int64_t: DOME_I64,                                   \
                     uint8_t: DOME_U8, uint16_t: DOME_U16, uint32_t: DOME_U32, uint64_t: DOME_U64,                               \
                     float: DOME_F32, double: DOME_F64)
/* clang-format on */
#else
/* clang-format off */
#define DVEC_TYPE_OF_(name, ctype) extern "C++" inline dome_type dvec_type_of_(const ctype *) { return name; }
/* clang-format on */
DVEC_TYPE_OF_(DOME_I8, int8_t)
DVEC_TYPE_OF_(DOME_I16, int16_t)
DVEC_TYPE_OF_(DOME_I32, int32_t)
DVEC_TYPE_OF_(DOME_I64, int64_t)
DVEC_TYPE_OF_(DOME_U8, uint8_t)
DVEC_TYPE_OF_(DOME_U16, uint16_t)
DVEC_TYPE_OF_(DOME_U32, uint32_t)
DVEC_TYPE_OF_(DOME_U64, uint64_t)
DVEC_TYPE_OF_(DOME_F32, float)
DVEC_TYPE_OF_(DOME_F64, double)
#undef DVEC_TYPE_OF_
#define DVEC_TYPE_(T) dvec_type_of_(static_cast<const T *>(NULL))
#endif

/* Conversions that compilers do not warn of. */
#ifndef __cplusplus
#define DVEC_AS_(T, value) ((T)(value))
#else
#define DVEC_AS_(T, value) static_cast<T>(value)
#endif

/* In a loop the name of a vector stands for one of its values: -Wshadow need not tell. */
#if defined(__GNUC__)
#define DVEC_SHADOWS_BEGIN_ _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wshadow\"")
#define DVEC_SHADOWS_END_   _Pragma("GCC diagnostic pop")
#else
#define DVEC_SHADOWS_BEGIN_
#define DVEC_SHADOWS_END_
#endif

/* The inputs are only read, so they may be const. */
#define DVEC_RUN_BEGIN_(T, z, n, flags)                                                                                          \
    dvec_run_begin(&run_, DVEC_TYPE_(T), z, n, DVEC_AS_(dvec *const *, DVEC_AS_(const void *, inputs_)),                         \
                   (flags) | DVEC_RUN_IN_MACRO_)

/* A value that is rounded to its type before its next use, whatever the compiler can prove. */
#if defined(__has_builtin)
#if __has_builtin(__builtin_assoc_barrier)
#define DVEC_ROUNDED_(value) __builtin_assoc_barrier(value)
#endif
#endif
#ifndef DVEC_ROUNDED_
#define DVEC_ROUNDED_(value) (value)
#endif

/* Constants at compile time, so that the compiler keeps one of the two sums. */
#define DVEC_IS_REAL_(T) (DVEC_AS_(T, 0.5) > DVEC_AS_(T, 0))
#define DVEC_HIGH_(T)                                                                                                            \
    (DVEC_AS_(T, -1) > DVEC_AS_(T, 0) ? DVEC_AS_(int64_t, DVEC_AS_(uint64_t, value_) >> 32) : DVEC_AS_(int64_t, value_) >> 32)

#define DVEC_TERM_(T, j)                                                                                                         \
    do {                                                                                                                         \
        if (DVEC_IS_REAL_(T)) {                                                                                                  \
            part_[j] += DVEC_AS_(double, value_);                                                                                \
        } else {                                                                                                                 \
            low_[j] += DVEC_AS_(uint64_t, value_) & 0xffffffffu;                                                                 \
            high_[j] += DVEC_HIGH_(T);                                                                                           \
        }                                                                                                                        \
    } while (0)

#define DVEC_MAP_(T, z, n, inputs, pointers, operands, expression)                                                               \
    do {                                                                                                                         \
        DVEC_SHADOWS_BEGIN_                                                                                                      \
        dvec_run run_;                                                                                                           \
        inputs;                                                                                                                  \
        for (bool more_ = DVEC_RUN_BEGIN_(T, z, n, 0); more_; more_ = dvec_run_next(&run_)) {                                    \
            T *const out_ = DVEC_AS_(T *, run_.out);                                                                             \
            const size_t n_ = run_.values;                                                                                       \
            pointers;                                                                                                            \
            DVEC_INDEPENDENT_                                                                                                    \
            for (size_t i_ = 0; i_ < n_; i_++) {                                                                                 \
                operands;                                                                                                        \
                out_[i_] = DVEC_AS_(T, expression);                                                                              \
            }                                                                                                                    \
        }                                                                                                                        \
        DVEC_SHADOWS_END_                                                                                                        \
    } while (0)

#define DVEC_SUM_(s, T, z, n, inputs, pointers, operands, store, expression)                                                     \
    do {                                                                                                                         \
        DVEC_SHADOWS_BEGIN_                                                                                                      \
        dvec_run run_;                                                                                                           \
        inputs;                                                                                                                  \
        bool more_ = DVEC_RUN_BEGIN_(T, z, n, DVEC_RUN_BLOCKS);                                                                  \
        for (; more_; more_ = dvec_run_next(&run_)) {                                                                            \
            T *const out_ = DVEC_AS_(T *, run_.out);                                                                             \
            const size_t n_ = run_.values;                                                                                       \
            double part_[DVEC_RUN_PARTS] = {0};                                                                                  \
            uint64_t low_[DVEC_RUN_PARTS] = {0};                                                                                 \
            int64_t high_[DVEC_RUN_PARTS] = {0};                                                                                 \
            size_t base_ = 0;                                                                                                    \
            (void)out_;                                                                                                          \
            pointers;                                                                                                            \
            for (; base_ + DVEC_RUN_PARTS <= n_; base_ += DVEC_RUN_PARTS) {                                                      \
                DVEC_PARTS_LOOP_                                                                                                 \
                for (size_t j_ = 0; j_ < DVEC_RUN_PARTS; j_++) {                                                                 \
                    const size_t i_ = base_ + j_;                                                                                \
                    operands;                                                                                                    \
                    const T value_ = DVEC_ROUNDED_(DVEC_AS_(T, expression));                                                     \
                    store;                                                                                                       \
                    DVEC_TERM_(T, j_);                                                                                           \
                }                                                                                                                \
            }                                                                                                                    \
            for (size_t i_ = base_; i_ < n_; i_++) {                                                                             \
                operands;                                                                                                        \
                const T value_ = DVEC_ROUNDED_(DVEC_AS_(T, expression));                                                         \
                store;                                                                                                           \
                DVEC_TERM_(T, i_ - base_);                                                                                       \
            }                                                                                                                    \
            if (DVEC_IS_REAL_(T))                                                                                                \
                dvec_run_add(&run_, part_);                                                                                      \
            else                                                                                                                 \
                dvec_run_add_integers(&run_, low_, high_);                                                                       \
        }                                                                                                                        \
        DVEC_SHADOWS_END_(s) = dvec_run_sum(&run_);                                                                              \
    } while (0)

#define DVEC_INPUTS1_(x1)             const dvec *const inputs_[] = {x1}
#define DVEC_INPUTS2_(x1, x2)         const dvec *const inputs_[] = {x1, x2}
#define DVEC_INPUTS3_(x1, x2, x3)     const dvec *const inputs_[] = {x1, x2, x3}
#define DVEC_INPUTS4_(x1, x2, x3, x4) const dvec *const inputs_[] = {x1, x2, x3, x4}

#define DVEC_POINTERS1_(T, x1) const T *const x1##_in_ = DVEC_AS_(const T *, run_.in[0])
#define DVEC_VALUES1_(T, x1)   const T x1 = x1##_in_[i_]
#define DVEC_POINTERS2_(T, x1, x2)                                                                                               \
    DVEC_POINTERS1_(T, x1);                                                                                                      \
    const T *const x2##_in_ = DVEC_AS_(const T *, run_.in[1])
#define DVEC_VALUES2_(T, x1, x2)                                                                                                 \
    DVEC_VALUES1_(T, x1);                                                                                                        \
    const T x2 = x2##_in_[i_]
#define DVEC_POINTERS3_(T, x1, x2, x3)                                                                                           \
    DVEC_POINTERS2_(T, x1, x2);                                                                                                  \
    const T *const x3##_in_ = DVEC_AS_(const T *, run_.in[2])
#define DVEC_VALUES3_(T, x1, x2, x3)                                                                                             \
    DVEC_VALUES2_(T, x1, x2);                                                                                                    \
    const T x3 = x3##_in_[i_]
#define DVEC_POINTERS4_(T, x1, x2, x3, x4)                                                                                       \
    DVEC_POINTERS3_(T, x1, x2, x3);                                                                                              \
    const T *const x4##_in_ = DVEC_AS_(const T *, run_.in[3])
#define DVEC_VALUES4_(T, x1, x2, x3, x4)                                                                                         \
    DVEC_VALUES3_(T, x1, x2, x3);                                                                                                \
    const T x4 = x4##_in_[i_]

#define DVEC_MAP1(T, z, x1, expression)                                                                                          \
    DVEC_MAP_(T, z, 1, DVEC_INPUTS1_(x1), DVEC_POINTERS1_(T, x1), DVEC_VALUES1_(T, x1), expression)
#define DVEC_SUM1(s, T, x1, expression)                                                                                          \
    DVEC_SUM_(s, T, NULL, 1, DVEC_INPUTS1_(x1), DVEC_POINTERS1_(T, x1), DVEC_VALUES1_(T, x1), (void)0, expression)
#define DVEC_MAP_SUM1(s, T, z, x1, expression)                                                                                   \
    DVEC_SUM_(s, T, z, 1, DVEC_INPUTS1_(x1), DVEC_POINTERS1_(T, x1), DVEC_VALUES1_(T, x1), out_[i_] = value_, expression)
#define DVEC_MAP2(T, z, x1, x2, expression)                                                                                      \
    DVEC_MAP_(T, z, 2, DVEC_INPUTS2_(x1, x2), DVEC_POINTERS2_(T, x1, x2), DVEC_VALUES2_(T, x1, x2), expression)
#define DVEC_SUM2(s, T, x1, x2, expression)                                                                                      \
    DVEC_SUM_(s, T, NULL, 2, DVEC_INPUTS2_(x1, x2), DVEC_POINTERS2_(T, x1, x2), DVEC_VALUES2_(T, x1, x2), (void)0, expression)
#define DVEC_MAP_SUM2(s, T, z, x1, x2, expression)                                                                               \
    DVEC_SUM_(s, T, z, 2, DVEC_INPUTS2_(x1, x2), DVEC_POINTERS2_(T, x1, x2), DVEC_VALUES2_(T, x1, x2), out_[i_] = value_,        \
              expression)
#define DVEC_MAP3(T, z, x1, x2, x3, expression)                                                                                  \
    DVEC_MAP_(T, z, 3, DVEC_INPUTS3_(x1, x2, x3), DVEC_POINTERS3_(T, x1, x2, x3), DVEC_VALUES3_(T, x1, x2, x3), expression)
#define DVEC_SUM3(s, T, x1, x2, x3, expression)                                                                                  \
    DVEC_SUM_(s, T, NULL, 3, DVEC_INPUTS3_(x1, x2, x3), DVEC_POINTERS3_(T, x1, x2, x3), DVEC_VALUES3_(T, x1, x2, x3), (void)0,   \
              expression)
#define DVEC_MAP_SUM3(s, T, z, x1, x2, x3, expression)                                                                           \
    DVEC_SUM_(s, T, z, 3, DVEC_INPUTS3_(x1, x2, x3), DVEC_POINTERS3_(T, x1, x2, x3), DVEC_VALUES3_(T, x1, x2, x3),               \
              out_[i_] = value_, expression)
#define DVEC_MAP4(T, z, x1, x2, x3, x4, expression)                                                                              \
    DVEC_MAP_(T, z, 4, DVEC_INPUTS4_(x1, x2, x3, x4), DVEC_POINTERS4_(T, x1, x2, x3, x4), DVEC_VALUES4_(T, x1, x2, x3, x4),      \
              expression)
#define DVEC_SUM4(s, T, x1, x2, x3, x4, expression)                                                                              \
    DVEC_SUM_(s, T, NULL, 4, DVEC_INPUTS4_(x1, x2, x3, x4), DVEC_POINTERS4_(T, x1, x2, x3, x4),                                  \
              DVEC_VALUES4_(T, x1, x2, x3, x4), (void)0, expression)
#define DVEC_MAP_SUM4(s, T, z, x1, x2, x3, x4, expression)                                                                       \
    DVEC_SUM_(s, T, z, 4, DVEC_INPUTS4_(x1, x2, x3, x4), DVEC_POINTERS4_(T, x1, x2, x3, x4), DVEC_VALUES4_(T, x1, x2, x3, x4),   \
              out_[i_] = value_, expression)

/* No input. */
#define DVEC_INPUTS0_                      const dvec *const *const inputs_ = NULL
#define DVEC_MAP0(T, z, expression)        DVEC_MAP_(T, z, 0, DVEC_INPUTS0_, (void)0, (void)0, expression)
#define DVEC_MAP_SUM0(s, T, z, expression) DVEC_SUM_(s, T, z, 0, DVEC_INPUTS0_, (void)0, (void)0, out_[i_] = value_, expression)

#define DVEC_INPUTS5_(x1, x2, x3, x4, x5)     const dvec *const inputs_[] = {x1, x2, x3, x4, x5}
#define DVEC_INPUTS6_(x1, x2, x3, x4, x5, x6) const dvec *const inputs_[] = {x1, x2, x3, x4, x5, x6}
#define DVEC_POINTERS5_(T, x1, x2, x3, x4, x5)                                                                                   \
    DVEC_POINTERS4_(T, x1, x2, x3, x4);                                                                                          \
    const T *const x5##_in_ = DVEC_AS_(const T *, run_.in[4])
#define DVEC_VALUES5_(T, x1, x2, x3, x4, x5)                                                                                     \
    DVEC_VALUES4_(T, x1, x2, x3, x4);                                                                                            \
    const T x5 = x5##_in_[i_]
#define DVEC_POINTERS6_(T, x1, x2, x3, x4, x5, x6)                                                                               \
    DVEC_POINTERS5_(T, x1, x2, x3, x4, x5);                                                                                      \
    const T *const x6##_in_ = DVEC_AS_(const T *, run_.in[5])
#define DVEC_VALUES6_(T, x1, x2, x3, x4, x5, x6)                                                                                 \
    DVEC_VALUES5_(T, x1, x2, x3, x4, x5);                                                                                        \
    const T x6 = x6##_in_[i_]
#define DVEC_MAP5(T, z, x1, x2, x3, x4, x5, expression)                                                                          \
    DVEC_MAP_(T, z, 5, DVEC_INPUTS5_(x1, x2, x3, x4, x5), DVEC_POINTERS5_(T, x1, x2, x3, x4, x5),                                \
              DVEC_VALUES5_(T, x1, x2, x3, x4, x5), expression)
#define DVEC_SUM5(s, T, x1, x2, x3, x4, x5, expression)                                                                          \
    DVEC_SUM_(s, T, NULL, 5, DVEC_INPUTS5_(x1, x2, x3, x4, x5), DVEC_POINTERS5_(T, x1, x2, x3, x4, x5),                          \
              DVEC_VALUES5_(T, x1, x2, x3, x4, x5), (void)0, expression)
#define DVEC_MAP_SUM5(s, T, z, x1, x2, x3, x4, x5, expression)                                                                   \
    DVEC_SUM_(s, T, z, 5, DVEC_INPUTS5_(x1, x2, x3, x4, x5), DVEC_POINTERS5_(T, x1, x2, x3, x4, x5),                             \
              DVEC_VALUES5_(T, x1, x2, x3, x4, x5), out_[i_] = value_, expression)
#define DVEC_MAP6(T, z, x1, x2, x3, x4, x5, x6, expression)                                                                      \
    DVEC_MAP_(T, z, 6, DVEC_INPUTS6_(x1, x2, x3, x4, x5, x6), DVEC_POINTERS6_(T, x1, x2, x3, x4, x5, x6),                        \
              DVEC_VALUES6_(T, x1, x2, x3, x4, x5, x6), expression)
#define DVEC_SUM6(s, T, x1, x2, x3, x4, x5, x6, expression)                                                                      \
    DVEC_SUM_(s, T, NULL, 6, DVEC_INPUTS6_(x1, x2, x3, x4, x5, x6), DVEC_POINTERS6_(T, x1, x2, x3, x4, x5, x6),                  \
              DVEC_VALUES6_(T, x1, x2, x3, x4, x5, x6), (void)0, expression)
#define DVEC_MAP_SUM6(s, T, z, x1, x2, x3, x4, x5, x6, expression)                                                               \
    DVEC_SUM_(s, T, z, 6, DVEC_INPUTS6_(x1, x2, x3, x4, x5, x6), DVEC_POINTERS6_(T, x1, x2, x3, x4, x5, x6),                     \
              DVEC_VALUES6_(T, x1, x2, x3, x4, x5, x6), out_[i_] = value_, expression)

#ifdef __cplusplus
}
#endif
#endif
