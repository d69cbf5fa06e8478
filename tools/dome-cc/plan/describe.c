/* Descriptions of types for the run-time library (include/dome/capture.h). */
#include "plan/plan.h"

#include <dome/type.h>

#include <string.h>

/* ---- unions ---- */

/* ---- obstacles ---- */

static char *fields_obstacle(unit *u, CXType record, CXType container)
{
    char *why = NULL, *name = ctype_spelling(record);
    GArray *fields = ctype_fields_of(record);
    for (unsigned i = 0; i < fields->len && !why; i++) {
        CXCursor f = g_array_index(fields, CXCursor, i);
        CXType t = clang_getCursorType(f);
        if (clang_Cursor_isBitField(f)) {
            char *field = cursor_name(f);
            why = g_strdup_printf("a bit-field (%s of %s)", field, name);
            g_free(field);
        } else if (ctype_is_union(t) && unions_pragma(u, f)) {
            union_plan plan;
            why = unions_plan(u, container, f, &plan);
            unions_plan_free(&plan);
        } else if (ctype_is_nameless(f) && !ctype_is_union(t)) {
            why = fields_obstacle(u, t, container);
        } else {
            why = describe_obstacle(u, t);
        }
    }
    g_array_free(fields, TRUE);
    g_free(name);
    return why;
}

/* Whether values of a type can be described: looks at what is contained, not at what pointers lead to. NULL, or why not. */
char *describe_obstacle(unit *u, CXType t)
{
    CXType c = clang_getCanonicalType(t);
    switch (c.kind) {
    case CXType_Pointer:
        return NULL;
    case CXType_Enum:
        return NULL;
    case CXType_ConstantArray:
    case CXType_IncompleteArray:
        return describe_obstacle(u, clang_getArrayElementType(c));
    case CXType_VariableArray:
        return g_strdup("an array of variable length");
    case CXType_LongDouble:
        return g_strdup("a long double, whose form differs between machines");
    case CXType_Int128:
    case CXType_UInt128:
        return g_strdup("an integer of 128 bits");
    case CXType_Atomic:
        return g_strdup("an _Atomic");
    case CXType_Complex: {
        enum CXTypeKind k = clang_getElementType(c).kind;
        return k == CXType_Float || k == CXType_Double ? NULL : g_strdup("a _Complex that is neither of float nor of double");
    }
    case CXType_Record: {
        CXCursor d = clang_getTypeDeclaration(c), member;
        char *name = ctype_spelling(t), *why = NULL;
        bool any;
        if (cursor_is_null(clang_getCursorDefinition(d)))
            why = g_strdup_printf("%s, which is not defined here", name);
        else if (d.kind == CXCursor_UnionDecl)
            why =
                unions_raw(u, c, &member, &any)
                    ? NULL
                    : g_strdup_printf("a union (%s): which member is in use is not known; in a struct with a tag, write #pragma "
                                      "dome union TAG: VALUE = MEMBER, ... before it",
                                      name);
        else
            why = fields_obstacle(u, c, c);
        g_free(name);
        return why;
    }
    default:
        if (ctype_scalar_of_kind(c.kind))
            return NULL;
        char *name = ctype_spelling(t), *why = g_strdup_printf("a value of type %s", name);
        g_free(name);
        return why;
    }
}

static char *quoted(const char *text)
{
    char *e = g_strescape(text, NULL), *q = g_strdup_printf("\"%s\"", e);
    g_free(e);
    return q;
}

static char *new_type(unit *u, const char *key)
{
    char *id = g_strdup_printf("dome__type_%d", ++u->counter);
    g_hash_table_insert(u->types, g_strdup(key), id);
    g_string_append_printf(u->prelude, "static struct dome__cc_type %s;\n", id);
    return id;
}

static char *describe(unit *u, CXType t);

members describe_members(void)
{
    return (members){.text = g_string_new(NULL), .flags = g_string_new(NULL)};
}

void describe_add_member(members *m, const char *name, const char *described, const char *offset, unsigned flags)
{
    g_string_append_printf(m->text, "    {\"%s\", &%s, %s},\n", name, described, offset);
    g_string_append_printf(m->flags, "%u, ", flags);
    m->flagged = m->flagged || flags;
    m->n++;
}

/* A member of a struct: at its own place. */
static void add_member(members *m, const char *name, const char *described, const char *outer, unsigned flags)
{
    char *offset = g_strdup_printf("__builtin_offsetof(%s, %s)", outer, name);
    describe_add_member(m, name, described, offset, flags);
    g_free(offset);
}

static void members_free(members *m)
{
    g_string_free(m->text, TRUE);
    g_string_free(m->flags, TRUE);
}

void describe_write_struct(unit *u, const char *id, const char *shown, const char *ctype, members *m, packer *k)
{
    char *q = quoted(shown);
    const bool packs = pack_write(u, k, id, ctype);
    if (m->n)
        g_string_append_printf(u->tail, "static const struct dome__cc_member %s_members[] = {\n%s};\n", id, m->text->str);
    if (m->flagged)
        g_string_append_printf(u->tail, "static const unsigned char %s_flags[] = {%s};\n", id, m->flags->str);
    g_string_append_printf(u->tail, "static struct dome__cc_type %s = {%s, %d, %d, sizeof(%s), 0, %u, %s%s, 0, 0", id, q,
                           (int)DOME_CAPTURE_KIND_STRUCT, (int)DOME_KIND_U8, ctype, m->n, m->n ? id : "0",
                           m->n ? "_members" : "");
    if (packs)
        g_string_append_printf(u->tail, ", %s_pack, %s_unpack", id, id);
    if (m->flagged)
        g_string_append_printf(u->tail, "%s, %s_flags", packs ? "" : ", 0, 0", id);
    g_string_append(u->tail, "};\n");
    g_free(q);
    members_free(m);
}

/* The description of a union of which a member of the struct around it tells what it holds. */
static char *describe_union(unit *u, CXType container, CXCursor field, const char *outer)
{
    union_plan plan;
    char *why = unions_plan(u, container, field, &plan), *name = cursor_name(field), *id, *key;
    CXType t = clang_getCursorType(field);
    const bool nameless = ctype_is_nameless(field);
    g_free(why); /* NULL: describe_obstacle() has looked before */
    CXCursor first = g_array_index(plan.members, CXCursor, 0);
    char *first_name = cursor_name(first), *shown = g_strdup_printf("%s.%s", outer, nameless ? first_name : name),
         *q = quoted(shown);
    key = g_strdup_printf("union %s", shown);
    id = new_type(u, key);
    members all = describe_members();
    for (unsigned i = 0; i < plan.members->len; i++) {
        CXCursor m = g_array_index(plan.members, CXCursor, i);
        char *member = cursor_name(m), *type = describe(u, clang_getCursorType(m));
        describe_add_member(&all, member, type, "0", 0);
        g_free(type);
        g_free(member);
    }
    g_string_append_printf(u->tail,
                           "static int %s_which(const void *dome__u)\n{\n"
                           "const %s *dome__s = (const %s *)((const char *)dome__u - __builtin_offsetof(%s, %s));\n"
                           "switch (%s) { %s}\n}\n",
                           id, outer, outer, outer, nameless ? first_name : name, plan.tag, plan.cases->str);
    g_string_append_printf(u->tail,
                           "static const struct dome__cc_member %s_members[] = {\n%s};\n"
                           "static struct dome__cc_type %s = {%s, %d, %d, %lld, 0, %u, %s_members, %s_which, 0};\n",
                           id, all.text->str, id, q, (int)DOME_CAPTURE_KIND_UNION, (int)DOME_KIND_U8, clang_Type_getSizeOf(t),
                           plan.members->len, id, id);
    members_free(&all);
    g_free(q);
    g_free(shown);
    g_free(first_name);
    g_free(key);
    g_free(name);
    unions_plan_free(&plan);
    return g_strdup(id);
}

/* An array of one element at the end of a struct, of which blocks of the heap may have more. */
static bool last_of_one(CXType t, CXCursor *last)
{
    GArray *fields = ctype_kind(t) == CXType_Record && !ctype_is_union(t) ? ctype_fields_of(t) : NULL;
    bool found = false;
    if (fields && fields->len > 1) {
        *last = g_array_index(fields, CXCursor, fields->len - 1);
        CXType c = clang_getCanonicalType(clang_getCursorType(*last));
        found = c.kind == CXType_ConstantArray && clang_getArraySize(c) == 1 && !ctype_is_array(clang_getArrayElementType(c));
    }
    if (fields)
        g_array_free(fields, TRUE);
    return found;
}

bool describe_may_be_longer(CXType t)
{
    CXCursor last;
    return last_of_one(t, &last);
}

static char *describe_array(unit *u, const char *id, const char *shown, CXType element, long long n)
{
    char *described = describe(u, element), *name = ctype_name(u, element), *q = quoted(shown);
    if (n > 0)
        g_string_append_printf(u->tail, "static struct dome__cc_type %s = {%s, %d, %d, sizeof(%s) * %lld, &%s, %lld, 0, 0, 0};\n",
                               id, q, (int)DOME_CAPTURE_KIND_ARRAY, (int)DOME_KIND_U8, name, n, described, n);
    else
        g_string_append_printf(u->tail, "static struct dome__cc_type %s = {%s, %d, %d, 0, &%s, 0, 0, 0, 0};\n", id, q,
                               (int)DOME_CAPTURE_KIND_ARRAY, (int)DOME_KIND_U8, described);
    g_free(q);
    g_free(name);
    g_free(described);
    return g_strdup(id);
}

/* A struct or union without a name in one of a system header, such as the union in struct sigaction, gets one; those of the
 * program have got theirs in its text. */
static void name_foreign(unit *u, CXType t, const char *outer, const char *field)
{
    GString *elements = g_string_new(NULL);
    for (t = clang_getCanonicalType(t); t.kind == CXType_ConstantArray || t.kind == CXType_IncompleteArray;
         t = clang_getCanonicalType(clang_getArrayElementType(t)))
        g_string_append(elements, "[0]");
    CXCursor d = t.kind == CXType_Record ? ctype_definition_of(t) : clang_getNullCursor();
    gpointer key = GUINT_TO_POINTER(cursor_is_null(d) ? 0 : cursor_offset(d));
    if (!cursor_is_null(d) && cursor_in_system_header(d) && ctype_is_nameless(d) && !g_hash_table_contains(u->renamed, key)) {
        char *name = g_strdup_printf(CTYPE_NAMELESS "%u", g_hash_table_size(u->renamed));
        g_hash_table_insert(u->renamed, key, name);
        g_string_append_printf(u->tail, "typedef __typeof__(((%s *)0)->%s%s) %s;\n", outer, field, elements->str, name);
    }
    g_string_free(elements, TRUE);
}

/* Of a struct tm: a text of the C library, which all functions of the calendar set. */
static bool is_zone(CXCursor field, const char *name)
{
    return (strcmp(name, "tm_zone") == 0 || strcmp(name, "__tm_zone") == 0) && cursor_in_system_header(field);
}

static void describe_fields(unit *u, CXType t, CXType container, const char *outer, members *all)
{
    GArray *fields = ctype_fields_of(t);
    for (unsigned i = 0; i < fields->len; i++) {
        CXCursor f = g_array_index(fields, CXCursor, i), member = f;
        CXType type = clang_getCursorType(f);
        const bool nameless = ctype_is_nameless(f);
        bool any = false;
        char *name = cursor_name(f), *described;
        if (!nameless)
            name_foreign(u, type, outer, name);
        g_free(name);
        if (ctype_is_union(type) && unions_pragma(u, f)) {
            described = describe_union(u, container, f, outer);
            if (nameless) { /* where its members are */
                union_plan plan;
                g_free(unions_plan(u, container, f, &plan));
                member = g_array_index(plan.members, CXCursor, 0);
                unions_plan_free(&plan);
            }
        } else if (ctype_is_union(type) && nameless) {
            unions_raw(u, type, &member, &any);
            described = any ? g_strdup("dome__cc_pointer") : describe(u, clang_getCursorType(member));
        } else if (nameless) { /* a struct without a name: its members are this one's */
            describe_fields(u, type, container, outer, all);
            continue;
        } else {
            described = describe(u, type);
        }
        name = cursor_name(member);
        const unsigned flags = pragma_flags(u, nameless ? cursor_begin(ctype_definition_of(type)) : cursor_begin(f));
        const bool zone = is_zone(f, name);
        add_member(all, name, described, outer, flags | (zone ? DOME_CAPTURE_TEXT : 0));
        u->keeps |= zone ? DOME_CAPTURE_KEEP_TEXTS : 0;
        g_free(described);
        g_free(name);
    }
    g_array_free(fields, TRUE);
}

/* Whether a pointer is only kept or refused: what it leads to is not described. */
static bool is_opaque(unit *u, CXType p)
{
    CXType c = clang_getCanonicalType(p);
    CXCursor d = clang_getTypeDeclaration(c);
    if (c.kind == CXType_Void || ctype_is_function(p) || c.kind == CXType_IncompleteArray ||
        (!cursor_is_null(d) && c.kind == CXType_Record && cursor_in_system_header(d)))
        return true;
    char *why = describe_obstacle(u, p);
    const bool opaque = why != NULL;
    g_free(why);
    return opaque;
}

static char *describe_pointer(unit *u, CXType t)
{
    CXType p = clang_getPointeeType(t.kind == CXType_Pointer ? t : clang_getCanonicalType(t));
    if (is_opaque(u, p))
        return g_strdup("dome__cc_pointer");
    char *name = ctype_name(u, p), *key = g_strdup_printf("*%s", name), *id = g_hash_table_lookup(u->types, key);
    if (!id) {
        id = new_type(u, key);
        char *shown = g_strdup_printf("%s *", name), *q = quoted(shown), *element = describe(u, p);
        g_string_append_printf(u->tail, "static struct dome__cc_type %s = {%s, %d, %d, sizeof(void *), &%s, 0, 0, 0, 0};\n", id,
                               q, (int)DOME_CAPTURE_KIND_POINTER, (int)DOME_KIND_U64, element);
        g_free(element);
        g_free(q);
        g_free(shown);
    }
    g_free(name);
    g_free(key);
    return g_strdup(id);
}

/* A union of which no member is in use. */
static void write_jump_buffer(unit *u, const char *id, const char *name)
{
    g_string_append_printf(u->tail,
                           "static int %s_which(const void *dome__u) { (void)dome__u; return -1; }\n"
                           "static const struct dome__cc_member %s_members[] = {{\"state\", &dome__cc_char, 0}};\n"
                           "static struct dome__cc_type %s = {\"jmp_buf\", %d, %d, sizeof(%s), 0, 1, %s_members, %s_which, 0};\n",
                           id, id, id, (int)DOME_CAPTURE_KIND_UNION, (int)DOME_KIND_U8, name, id, id);
}

static void write_array(unit *u, const char *id, CXType t, const char *name)
{
    CXType c = clang_getCanonicalType(t), e = clang_getArrayElementType(ctype_array_as_written(t));
    const long long n = c.kind == CXType_ConstantArray ? clang_getArraySize(c) : 0;
    char *element_name = ctype_name(u, e), *shown = t.kind == c.kind ? g_strdup(name)
                                                    : n > 0          ? g_strdup_printf("%s[%lld]", element_name, n)
                                                                     : g_strdup_printf("%s[]", element_name);
    g_free(describe_array(u, id, shown, e, n));
    g_free(shown);
    g_free(element_name);
}

static void write_record(unit *u, const char *id, CXType t, const char *name)
{
    members all = describe_members();
    packer k = pack_new();
    CXCursor member;
    bool any = false;
    if (ctype_is_union(t) && unions_raw(u, t, &member, &any)) { /* as a struct of the member that stands for all */
        char *own = cursor_name(member), *place = g_strdup_printf("dome__s->%s", own);
        char *described = any ? g_strdup("dome__cc_pointer") : describe(u, clang_getCursorType(member));
        add_member(&all, own, described, name, pragma_flags(u, cursor_begin(member)));
        pack_value(u, &k, clang_getCursorType(member), place, "dome__t");
        g_free(described);
        g_free(place);
        g_free(own);
    } else {
        describe_fields(u, t, clang_getCanonicalType(t), name, &all);
        pack_describe_padding(u, t, &all, id);
        pack_struct(u, &k, t, "(*dome__s)", "dome__t");
    }
    describe_write_struct(u, id, name, name, &all, &k);
}

/* The identifier of a type's description, which is written once. */
static char *describe(unit *u, CXType t)
{
    CXType c = clang_getCanonicalType(t);
    const char *scalar = ctype_scalar_name(t);
    if (scalar)
        return g_strdup_printf("dome__cc_%s", scalar);
    if (c.kind == CXType_Complex)
        return g_strdup(clang_getElementType(c).kind == CXType_Float ? "dome__cc_fcomplex" : "dome__cc_dcomplex");
    if (c.kind == CXType_Pointer)
        return describe_pointer(u, t);
    char *name = ctype_name(u, t), *id = g_hash_table_lookup(u->types, name);
    if (!id) {
        id = new_type(u, name);
        if (ctype_is_jump_buffer(c))
            write_jump_buffer(u, id, name);
        else if (c.kind == CXType_ConstantArray || c.kind == CXType_IncompleteArray)
            write_array(u, id, t, name);
        else
            write_record(u, id, t, name);
    }
    g_free(name);
    return g_strdup(id);
}

static void drop_last_line(GString *s, const char *between)
{
    const size_t length = strlen(between);
    const char *before = s->len > length ? g_strrstr_len(s->str, (gssize)(s->len - length), between) : NULL;
    g_string_truncate(s, before ? (gsize)(before + length - s->str) : 0);
}

static void drop_last(members *m)
{
    drop_last_line(m->text, "\n");
    drop_last_line(m->flags, ", ");
    m->n--;
}

/* A block of a struct that ends in an array of one element, and has more: as if that array had no length. */
char *describe_longer(unit *u, CXType t, char **why)
{
    CXCursor last = clang_getNullCursor();
    char *reason = describe_obstacle(u, t);
    *why = reason;
    if (reason || !last_of_one(t, &last))
        return NULL;
    char *name = ctype_name(u, t), *key = g_strdup_printf("longer %s", name), *id = g_hash_table_lookup(u->types, key);
    if (!id) {
        id = new_type(u, key);
        members all = describe_members();
        describe_fields(u, t, clang_getCanonicalType(t), name, &all);
        drop_last(&all);
        CXType element = clang_getArrayElementType(ctype_array_as_written(clang_getCursorType(last)));
        char *own = cursor_name(last), *shown = g_strdup_printf("%s...", name), *array = g_strdup_printf("%s_tail", id);
        g_free(describe_array(u, array, "[]", element, 0));
        add_member(&all, own, array, name, pragma_flags(u, cursor_begin(last)));
        packer k = pack_new();
        k.good = false; /* the table is walked */
        describe_write_struct(u, id, shown, name, &all, &k);
        g_free(array);
        g_free(shown);
        g_free(own);
    }
    g_free(key);
    g_free(name);
    return g_strdup(id);
}

/* Of a block of the heap whose numbers are no addresses: a type of its own, of which a restart knows that, too. */
char *describe_numbers(unit *u, const char *described, const char *name)
{
    char *shown = g_strdup_printf("numbers of %s", name), *id = g_hash_table_lookup(u->types, shown);
    if (!id) {
        id = new_type(u, shown);
        members one = describe_members();
        packer k = pack_new();
        k.good = false;
        describe_add_member(&one, "value", described, "0", DOME_CAPTURE_NUMBERS);
        describe_write_struct(u, id, shown, name, &one, &k);
    }
    g_free(shown);
    return g_strdup(id);
}

char *describe_type(unit *u, CXType t, char **why)
{
    char *reason = describe_obstacle(u, t);
    if (why)
        *why = reason;
    return reason ? NULL : describe(u, t);
}
