/* Functions that convert the numbers of a struct to the form in the image and back. */
#include "plan/plan.h"

#include <dome/type.h>

#include <string.h>

/* ---- packing ---- */

packer pack_new(void)
{
    return (packer){.pack = g_string_new(NULL), .unpack = g_string_new(NULL), .good = true};
}

enum { LINES_MOST = 400, UNROLLED = 8 }; /* more lines are left to the table; longer arrays are loops */

static void pack_fields(unit *u, packer *k, CXType t, const char *place, const char *base)
{
    GArray *fields = ctype_fields_of(t);
    for (unsigned i = 0; i < fields->len && k->good; i++) {
        CXCursor f = g_array_index(fields, CXCursor, i), member = f;
        CXType type = clang_getCursorType(f);
        const bool nameless = ctype_is_nameless(f);
        char *name = cursor_name(f), *at = nameless ? g_strdup(place) : g_strdup_printf("%s.%s", place, name);
        bool any;
        if (ctype_is_flexible(type)) {
            /* its elements are packed by themselves */
        } else if (ctype_is_union(type) && unions_pragma(u, f)) {
            k->good = false;
        } else if (ctype_is_union(type) && nameless) {
            k->good = unions_raw(u, type, &member, &any);
            char *own = cursor_name(member), *in = g_strdup_printf("%s.%s", place, own);
            if (k->good)
                pack_value(u, k, clang_getCursorType(member), in, base);
            g_free(in);
            g_free(own);
        } else if (nameless) {
            pack_fields(u, k, type, place, base);
        } else {
            pack_value(u, k, type, at, base);
        }
        g_free(at);
        g_free(name);
    }
    g_array_free(fields, TRUE);
}

typedef struct padded {
    unit *u;
    packer *k;
    members *all;
    const char *place, *base, *id;
} padded;

static void pack_padding(void *ctx, long long offset, long long bytes)
{
    padded *d = ctx;
    g_string_append_printf(d->k->pack, "__builtin_memcpy(%s + %llu, (const char *)&%s + %lld, %lld);\n", d->base, d->k->at,
                           d->place, offset, bytes);
    g_string_append_printf(d->k->unpack, "__builtin_memcpy((char *)&%s + %lld, %s + %llu, %lld);\n", d->place, offset, d->base,
                           d->k->at, bytes);
    d->k->at += (unsigned long long)bytes;
}

/* All members, and behind them the padding, if that is saved. */
void pack_struct(unit *u, packer *k, CXType t, const char *place, const char *base)
{
    padded d = {.k = k, .place = place, .base = base};
    pack_fields(u, k, t, place, base);
    padding_each(u, t, pack_padding, &d);
}

static void describe_padding(void *ctx, long long offset, long long bytes)
{
    padded *d = ctx;
    char *id = g_strdup_printf("%s_padding_%lld", d->id, offset), *at = g_strdup_printf("%lld", offset),
         *name = g_strdup_printf("(padding at %lld)", offset);
    g_string_append_printf(d->u->tail,
                           "static struct dome__cc_type %s = {\"unsigned char [%lld]\", %d, %d, %lld, &dome__cc_uchar, %lld};\n",
                           id, bytes, (int)DOME_CAPTURE_KIND_ARRAY, (int)DOME_KIND_U8, bytes, bytes);
    describe_add_member(d->all, name, id, at, 0);
    g_free(name);
    g_free(at);
    g_free(id);
}

void pack_describe_padding(unit *u, CXType record, members *all, const char *id)
{
    padding_each(u, record, describe_padding, &(padded){.u = u, .all = all, .id = id});
}

static void pack_array(unit *u, packer *k, CXType t, const char *place, const char *base)
{
    CXType c = clang_getCanonicalType(t), e = clang_getArrayElementType(ctype_array_as_written(t));
    const long long n = clang_getArraySize(c);
    for (long long i = 0; i < n && n <= UNROLLED; i++) {
        char *at = g_strdup_printf("%s[%lld]", place, i);
        pack_value(u, k, e, at, base);
        g_free(at);
    }
    if (n <= UNROLLED)
        return;
    const unsigned loop = ++k->loops;
    packer inner = pack_new();
    inner.loops = k->loops;
    inner.lines = k->lines;
    char *at = g_strdup_printf("%s[dome__i%u]", place, loop), *from = g_strdup_printf("dome__t%u", loop);
    pack_value(u, &inner, e, at, from);
    char *head = g_strdup_printf("{ dome__cc_bytes dome__i%u = 0; for (; dome__i%u < %lld; dome__i%u++) { ", loop, loop, n, loop);
    if (inner.pack->len) {
        g_string_append_printf(k->pack, "%sunsigned char *dome__t%u = %s + %llu + dome__i%u * %llu;\n%s} }\n", head, loop, base,
                               k->at, loop, inner.at, inner.pack->str);
        g_string_append_printf(k->unpack, "%sconst unsigned char *dome__t%u = %s + %llu + dome__i%u * %llu;\n%s} }\n", head, loop,
                               base, k->at, loop, inner.at, inner.unpack->str);
    }
    k->at += inner.at * (unsigned long long)n;
    k->loops = inner.loops;
    k->lines = inner.lines;
    k->good = k->good && inner.good;
    g_free(head);
    g_free(at);
    g_free(from);
    g_string_free(inner.pack, TRUE);
    g_string_free(inner.unpack, TRUE);
}

void pack_value(unit *u, packer *k, CXType t, const char *place, const char *base)
{
    CXType c = clang_getCanonicalType(t);
    const char *scalar = ctype_scalar_name(t);
    const unsigned bytes = scalar ? ctype_scalar_bytes(scalar) : 0;
    CXCursor member;
    bool any;
    k->good = k->good && ++k->lines <= LINES_MOST;
    k->good = k->good && !ctype_is_jump_buffer(c);
    if (!k->good)
        return;
    if (bytes) {
        g_string_append_printf(k->pack, "dome__cc_put%u(%s + %llu, (const void *)&%s);\n", bytes, base, k->at, place);
        g_string_append_printf(k->unpack, "dome__cc_get%u((void *)&%s, %s + %llu);\n", bytes, place, base, k->at);
        k->at += bytes;
    } else if (scalar) { /* long, size_t and the like: of 8 bytes in the image */
        const bool with_sign = strcmp(scalar, "long") == 0 || strcmp(scalar, "ptrdiff") == 0;
        const char *wide = with_sign ? "long long" : "unsigned long long";
        g_string_append_printf(k->pack, "dome__cc_put(%s + %llu, (unsigned long long)(%s)%s);\n", base, k->at, wide, place);
        g_string_append_printf(
            k->unpack,
            "{ const __typeof__(%s) dome__v = (__typeof__(%s))dome__cc_get(%s + %llu); if ((unsigned long long)(%s)dome__v != "
            "dome__cc_get(%s + %llu)) return 0; __builtin_memcpy((void *)&%s, &dome__v, sizeof dome__v); }\n",
            place, place, base, k->at, wide, base, k->at, place);
        k->at += 8;
    } else if (c.kind == CXType_Complex) {
        const unsigned part = clang_getElementType(c).kind == CXType_Float ? 4 : 8;
        for (unsigned i = 0; i < 2; i++, k->at += part) {
            g_string_append_printf(k->pack, "dome__cc_put%u(%s + %llu, (const char *)&%s + %u);\n", part, base, k->at, place,
                                   i * part);
            g_string_append_printf(k->unpack, "dome__cc_get%u((char *)&%s + %u, %s + %llu);\n", part, place, i * part, base,
                                   k->at);
        }
    } else if (c.kind == CXType_Pointer) {
        k->at += 16;
    } else if (c.kind == CXType_ConstantArray) {
        pack_array(u, k, t, place, base);
    } else if (ctype_is_union(c)) {
        k->good = unions_raw(u, c, &member, &any);
        char *name = k->good ? cursor_name(member) : g_strdup(""), *in = g_strdup_printf("%s.%s", place, name);
        if (k->good)
            pack_value(u, k, clang_getCursorType(member), in, base);
        g_free(in);
        g_free(name);
    } else if (c.kind == CXType_Record) {
        pack_struct(u, k, t, place, base);
    } else {
        k->good = false;
    }
}

void pack_add(unit *u, packer *k, const variable *v)
{
    char *place = g_strdup_printf("dome__s->%s", v->name);
    if (v->wide) {
        g_string_append_printf(k->pack, "dome__cc_put8(dome__t + %llu, (const void *)&%s);\n", k->at, place);
        g_string_append_printf(k->unpack, "dome__cc_get8((void *)&%s, dome__t + %llu);\n", place, k->at);
        k->at += 8;
    } else if (v->plain_pointer) {
        k->at += 16;
    } else {
        pack_value(u, k, v->type, place, "dome__t");
    }
    g_free(place);
}

bool pack_write(unit *u, packer *k, const char *id, const char *ctype)
{
    const bool good = k->good && k->pack->len;
    if (good)
        g_string_append_printf(u->tail,
                               "static void %s_pack(void *dome__to, const void *dome__from, dome__cc_bytes dome__n)\n{\n"
                               "const %s *__restrict dome__s = dome__from; unsigned char *__restrict dome__t = dome__to;\n"
                               "for (; dome__n > 0; dome__n--, dome__s++, dome__t += %llu) {\n%s}\n}\n"
                               "static _Bool %s_unpack(void *dome__to, const void *dome__from, dome__cc_bytes dome__n)\n{\n"
                               "%s *__restrict dome__s = dome__to; const unsigned char *__restrict dome__t = dome__from;\n"
                               "for (; dome__n > 0; dome__n--, dome__s++, dome__t += %llu) {\n%s}\nreturn 1;\n}\n",
                               id, ctype, k->at, k->pack->str, id, ctype, k->at, k->unpack->str);
    g_string_free(k->pack, TRUE);
    g_string_free(k->unpack, TRUE);
    return good;
}
