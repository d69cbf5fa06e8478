/* The macros of the headers, with all types, const vectors and the warnings that careful projects turn on: in C and in C++. */
#include <dome/dome.h>

#ifdef __cplusplus
#define AS(T, value) static_cast<T>(value)
#else
#define AS(T, value) ((T)(value))
#endif

/* The sum of what all loops over values of type T make of 0, 1, ... 9, in `z` and as sums. */
#define ALL_LOOPS(T)                                                                                                             \
    static double all_loops_##T(const dvec *a, const dvec *b, const dvec *c, const dvec *d, const dvec *e, const dvec *f,        \
                                dvec *z)                                                                                         \
    {                                                                                                                            \
        double s = 0, total = 0;                                                                                                 \
        DVEC_MAP0(T, z, AS(T, 3));                                                                                               \
        total += dvec_sum(z);                                                                                                    \
        DVEC_MAP5(T, z, a, b, c, d, e, AS(T, a + b + c + d + e));                                                                \
        total += dvec_sum(z);                                                                                                    \
        DVEC_MAP6(T, z, a, b, c, d, e, f, AS(T, a + b + c + d + e + f));                                                         \
        total += dvec_sum(z);                                                                                                    \
        DVEC_SUM5(s, T, a, b, c, d, e, AS(T, a + b + c + d + e));                                                                \
        total += s;                                                                                                              \
        DVEC_SUM6(s, T, a, b, c, d, e, f, AS(T, a + b + c + d + e + f));                                                         \
        total += s;                                                                                                              \
        DVEC_MAP_SUM0(s, T, z, AS(T, 3));                                                                                        \
        total += s;                                                                                                              \
        DVEC_MAP_SUM5(s, T, z, a, b, c, d, e, AS(T, a + b + c + d + e));                                                         \
        total += s;                                                                                                              \
        DVEC_MAP_SUM6(s, T, z, a, b, c, d, e, f, AS(T, a + b + c + d + e + f));                                                  \
        total += s;                                                                                                              \
        DVEC_MAP1(T, z, a, AS(T, a + 1));                                                                                        \
        total += dvec_sum(z);                                                                                                    \
        DVEC_MAP2(T, z, a, b, AS(T, a + b));                                                                                     \
        total += dvec_sum(z);                                                                                                    \
        DVEC_MAP3(T, z, a, b, c, AS(T, a + b + c));                                                                              \
        total += dvec_sum(z);                                                                                                    \
        DVEC_MAP4(T, z, a, b, c, d, AS(T, a + b + c + d));                                                                       \
        total += dvec_sum(z);                                                                                                    \
        DVEC_SUM1(s, T, a, a);                                                                                                   \
        total += s;                                                                                                              \
        DVEC_SUM2(s, T, a, b, AS(T, a + b));                                                                                     \
        total += s;                                                                                                              \
        DVEC_SUM3(s, T, a, b, c, AS(T, a + b + c));                                                                              \
        total += s;                                                                                                              \
        DVEC_SUM4(s, T, a, b, c, d, AS(T, a + b + c + d));                                                                       \
        total += s;                                                                                                              \
        DVEC_MAP_SUM1(s, T, z, a, a);                                                                                            \
        total += s;                                                                                                              \
        DVEC_MAP_SUM2(s, T, z, a, b, AS(T, a + b));                                                                              \
        total += s;                                                                                                              \
        DVEC_MAP_SUM3(s, T, z, a, b, c, AS(T, a + b + c));                                                                       \
        total += s;                                                                                                              \
        DVEC_MAP_SUM4(s, T, z, a, b, c, d, AS(T, a + b + c + d));                                                                \
        return total + s + dvec_sum(z);                                                                                          \
    }
ALL_LOOPS(int8_t)
ALL_LOOPS(int16_t)
ALL_LOOPS(int32_t)
ALL_LOOPS(int64_t)
ALL_LOOPS(uint8_t)
ALL_LOOPS(uint16_t)
ALL_LOOPS(uint32_t)
ALL_LOOPS(uint64_t)
ALL_LOOPS(float)
ALL_LOOPS(double)

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    double total = 0;
#define ADD(type, T)                                                                                                             \
    do {                                                                                                                         \
        dvec *x = dvec_new_with(env, NULL, type, 10, DVEC_OPTIONS(.width = 1, .block = 4));                                      \
        dvec *z = dvec_new_with(env, NULL, type, 10, DVEC_OPTIONS(.block = 4));                                                  \
        dvec_iota(x);                                                                                                            \
        total += all_loops_##T(x, x, x, x, x, x, z);                                                                             \
    } while (0)
    ADD(DOME_I8, int8_t);
    ADD(DOME_I16, int16_t);
    ADD(DOME_I32, int32_t);
    ADD(DOME_I64, int64_t);
    ADD(DOME_U8, uint8_t);
    ADD(DOME_U16, uint16_t);
    ADD(DOME_U32, uint32_t);
    ADD(DOME_U64, uint64_t);
    ADD(DOME_F32, float);
    ADD(DOME_F64, double);
    dome_print(env, "%g\n", total);
    return dome_finalize(env);
}
