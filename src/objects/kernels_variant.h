/* kernels.c and kernels_reduce.c are compiled once for each kind of processor (CMakeLists.txt), with DOME_VARIANT set to
 * avx512, avx2 or, by default, baseline. What they export gets that as a suffix. All variants give the same bits. */
#ifndef DOME_SRC_KERNELS_VARIANT_H
#define DOME_SRC_KERNELS_VARIANT_H

#ifndef DOME_VARIANT
#define DOME_VARIANT baseline
#endif

#define DOME_VARIANT_JOIN(name, variant)   name##_##variant
#define DOME_VARIANT_EXPAND(name, variant) DOME_VARIANT_JOIN(name, variant)
#define DOME_VARIANT_OF(name)              DOME_VARIANT_EXPAND(name, DOME_VARIANT)

#endif
