/* Element types.
 *
 * A type says how one element looks in this machine's memory (native form) and how it travels between machines and into
 * files (portable form). The portable form is big-endian, IEEE 754, two's complement, without padding: for items of 4 and 8
 * bytes it is XDR (RFC 4506); items of 1 and 2 bytes keep their size instead of being widened to 4.
 *
 * None of these functions is collective.
 */
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

/* Bytes that the name of a type, a field, a kind or an object may have. */
#define DOME_NAME_MAX 65535

/* X(name, C type, suffix): the basic types. C64 and C128 are pairs (real, imaginary) of float and double. */
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

/* A type is a pointer to its description, compared with == for the basic types and dome_type_equal for all. */
typedef const struct dome_type_desc *dome_type;

/* The basic type of a kind; NULL for DOME_KIND_STRUCT. Always the same pointer. */
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

/* One field of a struct element: `count` items (1 for a plain field, more for an array) of a basic or struct type at
 * `offset` bytes from the start. Use offsetof; name the fields as the struct does. */
typedef struct dome_field {
    const char *name;
    dome_type type;
    size_t offset;
    size_t count;
} dome_field;

/* A type for the user's own struct of `size` bytes. The fields must lie inside it and not overlap; bytes of no field are
 * padding and do not travel. The same name may be described again if the description is the same; the type
 * belongs to env and lives until dome_finalize. The descriptions are copied.
 * Every task calls it alike (it is hashed into the program's history), but it does not communicate.
 * Errors: DOME_ERR_ARGUMENT (no fields, a field outside the struct, overlap), DOME_ERR_NAME (another type has the name). */
dome_type dome_type_struct(dome_env *env, const char *name, size_t size, const dome_field *fields, size_t nfields,
                           size_t field_size);

const char *dome_type_name(dome_type type);       /* "f64", or the struct's name */
dome_type_kind dome_type_kind_of(dome_type type); /* DOME_KIND_F64, ... */
size_t dome_type_size(dome_type type);            /* bytes of one element in memory */
size_t dome_type_portable_size(dome_type type);   /* bytes of one element in portable form */
size_t dome_type_fields(dome_type type);          /* number of fields, 0 for a basic type */
bool dome_type_equal(dome_type a, dome_type b);   /* same kind, and for structs same name, size and fields */

/* Describes field `number` (0, 1, ...) of a struct type in *field, of which field_size bytes are filled. */
dome_status dome_type_field(dome_type type, size_t number, dome_field *field, size_t field_size);

/* The two forms an element can have outside its vector. */
typedef enum dome_format { DOME_NATIVE, DOME_PORTABLE } dome_format;

/* Bytes of one element in a form: dome_type_size or dome_type_portable_size. */
size_t dome_type_bytes(dome_type type, dome_format format);

/* Convert `count` elements between native memory and `format`. `packed` holds count * dome_type_bytes(type, format) bytes
 * and need not be aligned. The two buffers must not overlap. Padding of unpacked structs is left as it was. */
void dome_type_pack(dome_type type, dome_format format, void *packed, const void *elements, size_t count);
void dome_type_unpack(dome_type type, dome_format format, void *elements, const void *packed, size_t count);

#ifdef __cplusplus
}
#endif
#endif
