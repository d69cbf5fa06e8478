/* kernels.c, kernels_pair.c, kernels_reduce.c and kernels_nearest.c are compiled once for each kind of processor
 * (CMakeLists.txt), with DOME_VARIANT set to avx512, avx2 or, by default, baseline. It is the suffix of their external names. All
 * variants give the same bits. */
#ifndef DOME_SRC_KERNELS_VARIANT_H
#define DOME_SRC_KERNELS_VARIANT_H

#ifndef DOME_VARIANT
#define DOME_VARIANT baseline
#endif

#define DOME_VARIANT_JOIN(name, variant)   name##_##variant
#define DOME_VARIANT_EXPAND(name, variant) DOME_VARIANT_JOIN(name, variant)
#define DOME_VARIANT_OF(name)              DOME_VARIANT_EXPAND(name, DOME_VARIANT)

/* Outputs are either identical to inputs or do not overlap them, so no iteration depends on another. */
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed" /* loops that call the C library are not vectorized */
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#define UNROLLED    _Pragma("unroll")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#define UNROLLED    _Pragma("GCC unroll 8")
#endif

/* Runs the statements for all i. */
#define FOR_VALUES(count, ...)                                                                                                   \
    do {                                                                                                                         \
        if ((count) == DOME_KERNEL_TILE) {                                                                                       \
            INDEPENDENT                                                                                                          \
            for (uint64_t i = 0; i < DOME_KERNEL_TILE; i++) {                                                                    \
                __VA_ARGS__;                                                                                                     \
            }                                                                                                                    \
        } else {                                                                                                                 \
            INDEPENDENT                                                                                                          \
            for (uint64_t i = 0; i < (count); i++) {                                                                             \
                __VA_ARGS__;                                                                                                     \
            }                                                                                                                    \
        }                                                                                                                        \
    } while (0)

#endif
