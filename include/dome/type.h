/* Element types.
 *
 * A type describes an element in this machine's memory (native form) and between machines and in
 * files (portable form). The portable form is big-endian, IEEE 754, two's complement, without
 * padding. For items of 4 and 8 bytes it is XDR (RFC 4506); items of 1 and 2 bytes keep their size,
 * where XDR widens them to 4.
 *
 * No function of this header is collective, except dome_type_struct, dome_type_parse and
 * dome_type_set_ops. */
#ifndef DOME_TYPE_H
#define DOME_TYPE_H

#include <dome/error.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dome_env dome_env;       /* env.h */
typedef struct dome_object dome_object; /* structure.h */

/* Bytes that the name of a type, field, kind or object may have. */
#define DOME_NAME_MAX 65535

/* There is no type of truth values: masks are DOME_U8, 0 and 1, with the bytes of C's and NumPy's
 * bool, and .npy files of bool are read as such. A type of its own would need its own rules of
 * arithmetic, and all functions that take or make masks would have to accept both.
 *
 * X(name, C type, suffix): the basic types. C64 and C128 are pairs (real, imaginary) of float and
 * double. */
#define DOME_TYPE_LIST(X)                                                                                                        \
    X(I8, int8_t, i8)                                                                                                            \
    X(I16, int16_t, i16)                                                                                                         \
    X(I32, int32_t, i32)                                                                                                         \
    X(I64, int64_t, i64)                                                                                                         \
    X(U8, uint8_t, u8)                                                                                                           \
    X(U16, uint16_t, u16)                                                                                                        \
    X(U32, uint32_t, u32)                                                                                                        \
    X(U64, uint64_t, u64)                                                                                                        \
    X(F32, float, f32)                                                                                                           \
    X(F64, double, f64)                                                                                                          \
    X(C64, float _Complex, c64)                                                                                                  \
    X(C128, double _Complex, c128)

typedef enum dome_type_kind {
#define DOME_TYPE_ENUM(name, ctype, suffix) DOME_KIND_##name,
    DOME_TYPE_LIST(DOME_TYPE_ENUM)
#undef DOME_TYPE_ENUM
        DOME_KIND_STRUCT
} dome_type_kind;

/* A type is a pointer to its description. Compare basic types with ==, others with dome_type_equal.
 */
typedef const struct dome_type_desc *dome_type;

/* The basic type of a kind, always the same pointer; NULL for DOME_KIND_STRUCT. DOME_F64 and the
 * like are calls, so they cannot initialise static variables. */
dome_type dome_type_basic(dome_type_kind kind)
#if defined(__GNUC__)
    __attribute__((__const__))
#endif
    ;

#define DOME_I8   dome_type_basic(DOME_KIND_I8)
#define DOME_I16  dome_type_basic(DOME_KIND_I16)
#define DOME_I32  dome_type_basic(DOME_KIND_I32)
#define DOME_I64  dome_type_basic(DOME_KIND_I64)
#define DOME_U8   dome_type_basic(DOME_KIND_U8)
#define DOME_U16  dome_type_basic(DOME_KIND_U16)
#define DOME_U32  dome_type_basic(DOME_KIND_U32)
#define DOME_U64  dome_type_basic(DOME_KIND_U64)
#define DOME_F32  dome_type_basic(DOME_KIND_F32)
#define DOME_F64  dome_type_basic(DOME_KIND_F64)
#define DOME_C64  dome_type_basic(DOME_KIND_C64)
#define DOME_C128 dome_type_basic(DOME_KIND_C128)

/* One field of a struct element: `count` items (1 for a plain field, more for an array) of a basic
 * or struct type, at `offset` bytes from the start. Use offsetof, and the names of the struct's
 * members. */
typedef struct dome_field {
    const char *name;
    dome_type type;
    size_t offset;
    size_t count;
} dome_field;

/* A type for a struct of `size` bytes with `nfields` fields. field_size is sizeof(dome_field) as the
 * caller's compiler knows it. Fields lie inside the struct and do not overlap; bytes that belong to
 * no field are padding and are not transferred. The fields are copied. A second call with the same
 * name and description returns the same type. env owns the type until dome_finalize. Collective in
 * order (dvec.h). NULL on failure: DOME_ERR_ARGUMENT (no fields, a field outside the struct,
 * overlap, a wrong field_size), DOME_ERR_NAME (another type has the name). */
dome_type dome_type_struct(dome_env *env, const char *name, size_t size, const dome_field *fields, size_t nfields,
                           size_t field_size);

/* The type of an element that a type string describes. This is the notation of Stardust (Cabillic
 * and Puaut, "Stardust: an environment for parallel programming on networks of heterogeneous
 * workstations", Journal of Parallel and Distributed Computing 40, 1997, section 2.2), there called
 * a Pinkerton type:
 *
 *     type  := '{' (basic | type)* '}'
 *     basic := 'C' int8_t | 'I' int16_t | 'L' int64_t | 'F' float | 'D' double
 *
 * Each pair of braces is an array, and counts has the number of elements of each, in the order of the
 * opening braces: ("{C{D}}", 10, 20) is an array of 10 structs of a char and 20 doubles. The first
 * number is that of the vector or region; the result is the type of one of its elements:
 *
 *     struct row { char c; double d[20]; };
 *     const size_t counts[] = {10, 20};
 *     dome_type row = dome_type_parse(env, "row", "{C{D}}", counts, 2, sizeof(struct row));
 *     dome_region *r = dome_region_new(env, "rows", row, counts[0], NULL);
 *
 * The struct is laid out as this machine's C compiler does it, and `size`, its sizeof, is compared
 * with that. 'L' has 8 bytes on every machine, where Stardust's had those of a long. The result of
 * braces around one letter, "{D}", is the basic type; otherwise it is that of dome_type_struct with
 * this name and fields "0", "1", ..., and inner braces around several are types "NAME.K", where K is
 * the number of the braces, from 0 on. Braces are nested at most 16 deep. Collective in order. NULL
 * on failure: DOME_ERR_ARGUMENT (the text, whose wrong character is named; a number of counts other
 * than of braces; a count of 0; another size), DOME_ERR_NAME (another type has the name). */
dome_type dome_type_parse(dome_env *env, const char *name, const char *text, const size_t *counts, size_t ncounts, size_t size);

const char *dome_type_name(dome_type type);       /* "f64", or the struct's name */
dome_type_kind dome_type_kind_of(dome_type type); /* DOME_KIND_F64, ... */
size_t dome_type_size(dome_type type);            /* bytes of one element in memory */
size_t dome_type_portable_size(dome_type type);   /* bytes of one element in portable form */
size_t dome_type_fields(dome_type type);          /* number of fields, 0 for a basic type */
bool dome_type_equal(dome_type a, dome_type b);   /* same kind, and for structs same name, size and fields */

/* Copies the description of field `number` (0, 1, ...) of a struct type to *field. field_size is
 * sizeof(dome_field). DOME_ERR_ARGUMENT if there is no such field. The name belongs to the type. */
dome_status dome_type_field(dome_type type, size_t number, dome_field *field, size_t field_size);

/* The arithmetic of a struct type. Each function but `sum` computes n values, which lie one after the other in
 * memory, in a loop: n is 64 or more as a rule. z may be x or y, but not overlap one in part. A value
 * of z depends on the values at the same place in x and y alone. The functions must not call Dome
 * functions. NULL: the type has no such operation, and a call that needs it fails with a line that
 * names it (DOME_ERR_TYPE). */
typedef struct dome_type_ops {
    size_t size;                                                  /* sizeof(dome_type_ops) */
    void (*add)(void *z, const void *x, const void *y, size_t n); /* dvec_add, dvec_sum_struct, dvec_scan; with scale dvec_axpy */
    void (*sub)(void *z, const void *x, const void *y, size_t n); /* dvec_sub */
    void (*mul)(void *z, const void *x, const void *y, size_t n); /* dvec_mul; with add dvec_axpy_struct */
    void (*div)(void *z, const void *x, const void *y, size_t n); /* dvec_div */
    void (*neg)(void *z, const void *x, size_t n);                /* dvec_neg */
    void (*scale)(void *z, const void *x, double a, size_t n);    /* dvec_muls, dvec_axpby, dvec_linear_combination */
    void (*less)(uint8_t *z, const void *x, const void *y, size_t n); /* z = x < y, 0 or 1: dvec_lt, dvec_min, dvec_argmin, ... */
    void (*equal)(uint8_t *z, const void *x, const void *y, size_t n); /* dvec_eq, dvec_ne */
    void (*from_f64)(void *z, const double *x, size_t n);              /* dvec_convert from DOME_F64; dvec_fill */
    void (*to_f64)(double *z, const void *x, size_t n);                /* dvec_convert to DOME_F64 */
    /* *z = x[0] + x[1] + ... + x[n - 1], n > 0: dvec_sum_struct's sum of a block. Only together with
     * add, which must give the same up to rounding. Without `sum`, a block is summed by calls of
     * add, which read and write each partial sum. */
    void (*sum)(void *z, const void *x, size_t n);
} dome_type_ops;

/* Gives a struct type its arithmetic. ops is copied. A type's functions are set once; a second call
 * with the same functions does nothing. Collective in order. DOME_ERR_ARGUMENT: a basic type, other
 * functions than before, ops->size not set. */
dome_status dome_type_set_ops(dome_env *env, dome_type type, const dome_type_ops *ops);

/* The two forms of an element outside its vector. */
typedef enum dome_format { DOME_NATIVE, DOME_PORTABLE } dome_format;

/* Bytes of one element in a form: dome_type_size or dome_type_portable_size. */
size_t dome_type_bytes(dome_type type, dome_format format);

/* Converts `count` elements from native memory to `format` (pack) or back (unpack). `packed` holds
 * count * dome_type_bytes(type, format) bytes and needs no alignment. The buffers must not overlap.
 * Unpacking leaves the padding of structs unchanged. */
void dome_type_pack(dome_type type, dome_format format, void *packed, const void *elements, size_t count);
void dome_type_unpack(dome_type type, dome_format format, void *elements, const void *packed, size_t count);

#ifdef __cplusplus
}
#endif
#endif
