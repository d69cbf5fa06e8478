/* Types: declarators as C writes them, and descriptions for the run-time library (include/dome/capture.h). */
#include "cc.h"

#include <dome/type.h>

#include <string.h>

static char *spelling(CXType t)
{
    CXString s = clang_getTypeSpelling(t);
    char *text = g_strdup(clang_getCString(s) ? clang_getCString(s) : "");
    clang_disposeString(s);
    return text;
}

/* For functions that pointers may lead to. Which of int, long and long long a size_t or an int64_t is differs between machines:
 * to have the same polls on all, one is as good as the other. */
char *type_key(CXType t)
{
    t = clang_getCanonicalType(t);
    if (t.kind == CXType_Pointer)
        t = clang_getCanonicalType(clang_getPointeeType(t));
    char *text = spelling(t), **words = g_strsplit(text, "long", -1), *one = g_strjoinv("int", words);
    g_strfreev(words);
    g_free(text);
    words = g_strsplit(one, "int int", -1);
    char *key = g_strjoinv("int", words);
    g_strfreev(words);
    g_free(one);
    return key;
}

bool type_same(CXType a, CXType b)
{
    char *x = spelling(clang_getCanonicalType(a)), *y = spelling(clang_getCanonicalType(b));
    const char *p = g_str_has_prefix(x, "const ") ? x + 6 : x, *q = g_str_has_prefix(y, "const ") ? y + 6 : y;
    bool same = strcmp(p, q) == 0;
    g_free(x);
    g_free(y);
    return same;
}

static const char *scalar_of_kind(enum CXTypeKind k);
static const char *scalar_of_typedef(CXType t);

const char *type_scalar(CXType t)
{
    const char *name = scalar_of_typedef(t);
    CXType c = clang_getCanonicalType(t);
    if (c.kind == CXType_Enum)
        c = clang_getCanonicalType(clang_getEnumDeclIntegerType(clang_getTypeDeclaration(c)));
    return name && scalar_of_kind(c.kind) ? name : scalar_of_kind(c.kind);
}

bool type_same_everywhere(CXType a, CXType b)
{
    const char *x = type_scalar(a), *y = type_scalar(b);
    return type_same(a, b) && (x && y ? strcmp(x, y) == 0 : !x && !y);
}

bool type_is_wide_integer(CXType t)
{
    enum CXTypeKind k = clang_getCanonicalType(t).kind;
    return k == CXType_Int || k == CXType_UInt || k == CXType_Long || k == CXType_ULong || k == CXType_LongLong ||
           k == CXType_ULongLong;
}

static enum CXTypeKind kind(CXType t)
{
    return clang_getCanonicalType(t).kind;
}

bool type_is_record(CXType t)
{
    return kind(t) == CXType_Record;
}

bool type_is_array(CXType t)
{
    return kind(t) == CXType_ConstantArray || kind(t) == CXType_IncompleteArray || kind(t) == CXType_VariableArray;
}

bool type_is_pointer(CXType t)
{
    return kind(t) == CXType_Pointer;
}

bool type_is_function(CXType t)
{
    return kind(t) == CXType_FunctionProto || kind(t) == CXType_FunctionNoProto;
}

bool type_is_argument_list(CXType t)
{
    while (t.kind == CXType_Typedef || t.kind == CXType_Elaborated) {
        CXCursor d = clang_getTypeDeclaration(t);
        char *name = cursor_name(d);
        bool found = strcmp(name, "__builtin_va_list") == 0 || strcmp(name, "__gnuc_va_list") == 0;
        g_free(name);
        if (found)
            return true;
        t = t.kind == CXType_Elaborated ? clang_Type_getNamedType(t) : clang_getTypedefDeclUnderlyingType(d);
    }
    return false;
}

CXType type_pointee(CXType t)
{
    return clang_getPointeeType(clang_getCanonicalType(t));
}

bool type_is_variable(CXType t)
{
    t = clang_getCanonicalType(t);
    for (;;) {
        if (t.kind == CXType_VariableArray)
            return true;
        if (t.kind == CXType_ConstantArray || t.kind == CXType_IncompleteArray)
            t = clang_getCanonicalType(clang_getArrayElementType(t));
        else if (t.kind == CXType_Pointer)
            t = clang_getCanonicalType(clang_getPointeeType(t));
        else
            return false;
    }
}

CXType type_element(CXType t, char **count)
{
    long long n = 1;
    while (type_is_array(t)) {
        CXType c = t;
        while (c.kind != CXType_ConstantArray && c.kind != CXType_IncompleteArray && c.kind != CXType_VariableArray) {
            if (c.kind == CXType_Typedef)
                c = clang_getTypedefDeclUnderlyingType(clang_getTypeDeclaration(c));
            else if (c.kind == CXType_Elaborated)
                c = clang_Type_getNamedType(c);
            else
                c = clang_getCanonicalType(c);
        }
        long long k = clang_getArraySize(c);
        n *= k > 0 ? k : 0;
        t = clang_getArrayElementType(c);
    }
    if (count)
        *count = g_strdup_printf("%lld", n);
    return t;
}

/* ---- declarators ---- */

static char *skip_qualifiers(char *text)
{
    for (;;) {
        if (g_str_has_prefix(text, "const "))
            text += 6;
        else if (g_str_has_prefix(text, "volatile "))
            text += 9;
        else if (g_str_has_prefix(text, "restrict "))
            text += 9;
        else
            return text;
    }
}

static const char *renamed_record(unit *u, CXType t, const char **word)
{
    CXCursor d = clang_getTypeDeclaration(t);
    if (cursor_is_null(d))
        return NULL;
    CXCursor definition = clang_getCursorDefinition(d);
    if (!cursor_is_null(definition))
        d = definition;
    *word = d.kind == CXCursor_StructDecl  ? "struct "
            : d.kind == CXCursor_UnionDecl ? "union "
            : d.kind == CXCursor_EnumDecl  ? "enum "
                                           : "";
    return g_hash_table_lookup(u->renamed, GUINT_TO_POINTER(cursor_offset(d)));
}

static char *base(unit *u, CXType t, bool bare)
{
    char *all = spelling(t), *name = skip_qualifiers(all);
    const char *word = "", *other = renamed_record(u, t, &word);
    GString *s = g_string_new(NULL);
    if (!bare && clang_isConstQualifiedType(t))
        g_string_append(s, "const ");
    if (clang_isVolatileQualifiedType(t))
        g_string_append(s, "volatile ");
    if (other)
        g_string_append_printf(s, "%s%s", word, other);
    else
        g_string_append(s, name);
    g_free(all);
    return g_string_free(s, FALSE);
}

static char *declare(unit *u, CXType t, char *inner, bool bare)
{
    char *out;
    switch (t.kind) {
    case CXType_Pointer: {
        CXType p = clang_getPointeeType(t);
        GString *s = g_string_new("*");
        if (!bare && clang_isConstQualifiedType(t))
            g_string_append(s, "const ");
        if (clang_isVolatileQualifiedType(t))
            g_string_append(s, "volatile ");
        if (!bare && clang_isRestrictQualifiedType(t))
            g_string_append(s, "__restrict ");
        g_string_append(s, inner);
        bool group = p.kind == CXType_Unexposed || p.kind == CXType_ConstantArray || p.kind == CXType_IncompleteArray ||
                     p.kind == CXType_VariableArray || p.kind == CXType_FunctionProto || p.kind == CXType_FunctionNoProto;
        char *star = group ? g_strdup_printf("(%s)", s->str) : g_strdup(s->str);
        g_string_free(s, TRUE);
        out = declare(u, p, star, false);
        g_free(star);
        return out;
    }
    case CXType_ConstantArray: {
        char *s = g_strdup_printf("%s[%lld]", inner, clang_getArraySize(t));
        out = declare(u, clang_getArrayElementType(t), s, bare);
        g_free(s);
        return out;
    }
    case CXType_IncompleteArray: {
        char *s = g_strdup_printf("%s[]", inner);
        out = declare(u, clang_getArrayElementType(t), s, bare);
        g_free(s);
        return out;
    }
    case CXType_FunctionProto: {
        GString *s = g_string_new(inner);
        int n = clang_getNumArgTypes(t);
        g_string_append(s, "(");
        for (int i = 0; i < n; i++) {
            char *argument = type_declare(u, clang_getArgType(t, (unsigned)i), "", false);
            g_string_append_printf(s, "%s%s", i ? ", " : "", argument);
            g_free(argument);
        }
        g_string_append(s, clang_isFunctionTypeVariadic(t) ? (n ? ", ...)" : "...)") : n ? ")" : "void)");
        out = declare(u, clang_getResultType(t), s->str, false);
        g_string_free(s, TRUE);
        return out;
    }
    case CXType_FunctionNoProto: {
        char *s = g_strdup_printf("%s()", inner);
        out = declare(u, clang_getResultType(t), s, false);
        g_free(s);
        return out;
    }
    case CXType_Unexposed: /* parentheses, typeof */
    case CXType_Attributed:
        if (clang_getCanonicalType(t).kind != t.kind)
            return declare(u, clang_getCanonicalType(t), inner, bare);
        break;
    case CXType_Typedef:
        /* a const that hides in a typedef, or an array of const */
        if (bare) {
            CXType c = clang_getCanonicalType(t);
            if ((clang_isConstQualifiedType(c) && !clang_isConstQualifiedType(t)) || type_is_array(c))
                return declare(u, c, inner, bare);
        }
        break;
    default:
        break;
    }
    char *b = base(u, t, bare);
    out = *inner ? g_strdup_printf("%s %s", b, inner) : g_strdup(b);
    g_free(b);
    return out;
}

char *type_declare(unit *u, CXType t, const char *name, bool bare)
{
    char *inner = g_strdup(name), *out = declare(u, t, inner, bare);
    g_free(inner);
    return out;
}

char *type_name(unit *u, CXType t)
{
    return type_declare(u, t, "", true);
}

/* ---- descriptions ---- */

static const char *scalar_of_kind(enum CXTypeKind k)
{
    switch (k) {
    case CXType_Bool:
        return "bool";
    case CXType_Char_U:
    case CXType_Char_S:
        return "char";
    case CXType_SChar:
        return "schar";
    case CXType_UChar:
        return "uchar";
    case CXType_Short:
        return "short";
    case CXType_UShort:
        return "ushort";
    case CXType_Int:
    case CXType_WChar:
        return "int";
    case CXType_UInt:
        return "uint";
    case CXType_Long:
        return "long";
    case CXType_ULong:
        return "ulong";
    case CXType_LongLong:
        return "llong";
    case CXType_ULongLong:
        return "ullong";
    case CXType_Float:
        return "float";
    case CXType_Double:
        return "double";
    default:
        return NULL;
    }
}

/* Names of types that are other basic types on other machines. */
static const char *scalar_of_typedef(CXType t)
{
    static const char *const names[][2] = {
        {"size_t", "size"},        {"uintptr_t", "size"},     {"ssize_t", "ptrdiff"},      {"ptrdiff_t", "ptrdiff"},
        {"intptr_t", "ptrdiff"},   {"int64_t", "llong"},      {"wchar_t", "int"},          {"__off64_t", "llong"},
        {"__time64_t", "llong"},   {"uint64_t", "ullong"},    {"int_fast16_t", "ptrdiff"}, {"int_fast32_t", "ptrdiff"},
        {"uint_fast16_t", "size"}, {"uint_fast32_t", "size"}, {"int_fast64_t", "llong"},   {"uint_fast64_t", "ullong"},
        {"intmax_t", "llong"},     {"uintmax_t", "ullong"},   {"int_least64_t", "llong"},  {"uint_least64_t", "ullong"}};
    while (t.kind == CXType_Typedef || t.kind == CXType_Elaborated) {
        if (t.kind == CXType_Elaborated) {
            t = clang_Type_getNamedType(t);
            continue;
        }
        CXCursor d = clang_getTypeDeclaration(t);
        char *name = cursor_name(d);
        const char *found = NULL;
        for (unsigned i = 0; i < G_N_ELEMENTS(names); i++)
            if (strcmp(name, names[i][0]) == 0 && cursor_in_system_header(d))
                found = names[i][1];
        g_free(name);
        if (found)
            return found;
        t = clang_getTypedefDeclUnderlyingType(d);
    }
    return NULL;
}

static enum CXVisitorResult add_field(CXCursor c, CXClientData data)
{
    g_array_append_val((GArray *)data, c);
    return CXVisit_Continue;
}

static GArray *fields_of(CXType t)
{
    GArray *fields = g_array_new(FALSE, FALSE, sizeof(CXCursor));
    clang_Type_visitFields(clang_getCanonicalType(t), add_field, fields);
    return fields;
}

/* What a value takes in the image, about: the same on all machines. */
long long type_image_size(CXType t)
{
    const char *name = scalar_of_typedef(t);
    t = clang_getCanonicalType(t);
    long long n = 0;
    if (t.kind == CXType_ConstantArray)
        return clang_getArraySize(t) * type_image_size(clang_getArrayElementType(t));
    if (t.kind == CXType_Record) {
        GArray *fields = fields_of(t);
        for (unsigned i = 0; i < fields->len; i++)
            n += type_image_size(clang_getCursorType(g_array_index(fields, CXCursor, i)));
        g_array_free(fields, TRUE);
        return n;
    }
    if (t.kind == CXType_Pointer || t.kind == CXType_Long || t.kind == CXType_ULong)
        return 8;
    return name && (strcmp(name, "size") == 0 || strcmp(name, "ptrdiff") == 0) ? 8 : MAX(clang_Type_getSizeOf(t), 0);
}

static bool has_constant(CXType t)
{
    t = clang_getCanonicalType(t);
    while (type_is_array(t))
        t = clang_getCanonicalType(clang_getArrayElementType(t));
    if (t.kind != CXType_Record)
        return false;
    GArray *fields = fields_of(t);
    bool found = false;
    for (unsigned i = 0; i < fields->len && !found; i++) {
        CXType f = clang_getCanonicalType(clang_getCursorType(g_array_index(fields, CXCursor, i)));
        CXType e = type_element(f, NULL);
        found = clang_isConstQualifiedType(f) || clang_isConstQualifiedType(clang_getCanonicalType(e)) || has_constant(f);
    }
    g_array_free(fields, TRUE);
    return found;
}

/* to = from, as a statement; also if the type is a struct with constant members. */
char *type_assign(unit *u, CXType t, const char *to, const char *from)
{
    if (!has_constant(t))
        return g_strdup_printf("%s = %s;", to, from);
    char *copy = type_declare(u, t, "dome__c", true);
    char *text = g_strdup_printf("{ %s = %s; __builtin_memcpy(&%s, &dome__c, sizeof(dome__c)); }", copy, from, to);
    g_free(copy);
    return text;
}

/* Whether values of a type can be described: looks at what is contained, not at what pointers lead to. NULL, or why not. */
static char *obstacle(CXType t)
{
    CXType c = clang_getCanonicalType(t);
    switch (c.kind) {
    case CXType_Pointer:
        return NULL;
    case CXType_Enum:
        return NULL;
    case CXType_ConstantArray:
    case CXType_IncompleteArray:
        return obstacle(clang_getArrayElementType(c));
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
        CXCursor d = clang_getTypeDeclaration(c);
        char *name = spelling(t), *why = NULL;
        if (d.kind == CXCursor_UnionDecl)
            why = g_strdup_printf("a union (%s): which member is in use is not known", name);
        else if (cursor_is_null(clang_getCursorDefinition(d)))
            why = g_strdup_printf("%s, which is not defined here", name);
        else if (cursor_in_system_header(d))
            why = NULL;
        if (!why) {
            GArray *fields = fields_of(c);
            for (unsigned i = 0; i < fields->len && !why; i++) {
                CXCursor f = g_array_index(fields, CXCursor, i);
                if (clang_Cursor_isBitField(f)) {
                    char *field = cursor_name(f);
                    why = g_strdup_printf("a bit-field (%s of %s)", field, name);
                    g_free(field);
                } else {
                    why = obstacle(clang_getCursorType(f));
                }
            }
            g_array_free(fields, TRUE);
        }
        g_free(name);
        return why;
    }
    default:
        if (scalar_of_kind(c.kind))
            return NULL;
        char *name = spelling(t), *why = g_strdup_printf("a value of type %s", name);
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

/* The description of a struct: `members` are n initialisers, a line each. */
void type_write_struct(unit *u, const char *id, const char *shown, const char *ctype, const char *members, unsigned n)
{
    char *q = quoted(shown);
    if (n)
        g_string_append_printf(u->tail, "static const struct dome__cc_member %s_members[] = {\n%s};\n", id, members);
    g_string_append_printf(u->tail, "static struct dome__cc_type %s = {%s, %d, %d, sizeof(%s), 0, %u, %s%s, 0, 0};\n", id, q,
                           TYPE_STRUCT, (int)DOME_KIND_U8, ctype, n, n ? id : "0", n ? "_members" : "");
    g_free(q);
}

static void describe_fields(unit *u, CXType t, const char *outer, GString *members, unsigned *n)
{
    GArray *fields = fields_of(t);
    for (unsigned i = 0; i < fields->len; i++) {
        CXCursor f = g_array_index(fields, CXCursor, i);
        CXType type = clang_getCursorType(f);
        char *name = cursor_name(f);
        if (!*name || g_str_has_prefix(name, "(")) { /* a struct without a name: its members are this one's */
            describe_fields(u, type, outer, members, n);
            g_free(name);
            continue;
        }
        char *described = describe(u, type);
        g_string_append_printf(members, "    {\"%s\", &%s, __builtin_offsetof(%s, %s)},\n", name, described, outer, name);
        ++*n;
        g_free(name);
    }
    g_array_free(fields, TRUE);
}

static char *describe(unit *u, CXType t)
{
    CXType c = clang_getCanonicalType(t);
    const char *scalar = scalar_of_typedef(t);
    if (scalar && scalar_of_kind(c.kind))
        return g_strdup_printf("dome__cc_%s", scalar);
    if (c.kind == CXType_Enum)
        c = clang_getCanonicalType(clang_getEnumDeclIntegerType(clang_getTypeDeclaration(c)));
    if ((scalar = scalar_of_kind(c.kind)))
        return g_strdup_printf("dome__cc_%s", scalar);
    if (c.kind == CXType_Complex)
        return g_strdup(clang_getElementType(c).kind == CXType_Float ? "dome__cc_fcomplex" : "dome__cc_dcomplex");
    if (c.kind == CXType_Pointer) {
        CXType p = t.kind == CXType_Pointer ? clang_getPointeeType(t) : clang_getPointeeType(c);
        CXCursor d = clang_getTypeDeclaration(clang_getCanonicalType(p));
        bool foreign = !cursor_is_null(d) && clang_getCanonicalType(p).kind == CXType_Record && cursor_in_system_header(d);
        char *why = kind(p) == CXType_Void || type_is_function(p) || foreign || kind(p) == CXType_IncompleteArray ? g_strdup("")
                                                                                                                  : obstacle(p);
        if (why) {
            g_free(why);
            return g_strdup("dome__cc_pointer");
        }
        char *name = type_name(u, p), *key = g_strdup_printf("*%s", name), *id = g_hash_table_lookup(u->types, key);
        if (!id) {
            id = new_type(u, key);
            char *shown = g_strdup_printf("%s *", name), *q = quoted(shown), *element = describe(u, p);
            g_string_append_printf(u->tail, "static struct dome__cc_type %s = {%s, %d, %d, sizeof(void *), &%s, 0, 0, 0, 0};\n",
                                   id, q, TYPE_POINTER, (int)DOME_KIND_U64, element);
            g_free(element);
            g_free(q);
            g_free(shown);
        }
        g_free(name);
        g_free(key);
        return g_strdup(id);
    }
    char *name = type_name(u, t), *key = g_strdup(name), *id = g_hash_table_lookup(u->types, key);
    if (id) {
        g_free(name);
        g_free(key);
        return g_strdup(id);
    }
    id = new_type(u, key);
    char *q = quoted(name);
    if (c.kind == CXType_ConstantArray || c.kind == CXType_IncompleteArray) {
        const bool named = t.kind != c.kind;
        while (t.kind == CXType_Typedef || t.kind == CXType_Elaborated) /* not at once: an int64_t must remain one */
            t = t.kind == CXType_Elaborated ? clang_Type_getNamedType(t)
                                            : clang_getTypedefDeclUnderlyingType(clang_getTypeDeclaration(t));
        CXType e = clang_getArrayElementType(t.kind == c.kind ? t : c);
        char *element = describe(u, e), *element_name = type_name(u, e);
        long long n = c.kind == CXType_ConstantArray ? clang_getArraySize(c) : 0;
        if (named) {
            g_free(q);
            char *shown = n > 0 ? g_strdup_printf("%s[%lld]", element_name, n) : g_strdup_printf("%s[]", element_name);
            q = quoted(shown);
            g_free(shown);
        }
        if (n > 0)
            g_string_append_printf(u->tail,
                                   "static struct dome__cc_type %s = {%s, %d, %d, sizeof(%s) * %lld, &%s, %lld, 0, 0, 0};\n", id,
                                   q, TYPE_ARRAY, (int)DOME_KIND_U8, element_name, n, element, n);
        else
            g_string_append_printf(u->tail, "static struct dome__cc_type %s = {%s, %d, %d, 0, &%s, 0, 0, 0, 0};\n", id, q,
                                   TYPE_ARRAY, (int)DOME_KIND_U8, element);
        g_free(element);
        g_free(element_name);
    } else {
        GString *members = g_string_new(NULL);
        unsigned n = 0;
        describe_fields(u, t, name, members, &n);
        type_write_struct(u, id, name, name, members->str, n);
        g_string_free(members, TRUE);
    }
    g_free(q);
    g_free(name);
    g_free(key);
    return g_strdup(id);
}

char *type_describe(unit *u, CXType t, char **why)
{
    char *reason = obstacle(t);
    if (why)
        *why = reason;
    return reason ? NULL : describe(u, t);
}

/* ---- the same on all machines ---- */

/* Whether integers of one type become the other's in "i < n" on every machine: which of int, long and long long a size_t is
 * differs. */
static bool becomes(const char *from, const char *to)
{
    static const char *const order[][2] = {{"int", "uint"}, {"ptrdiff", "size"}, {"long", "ulong"}, {"llong", "ullong"}};
    int a = 0, b = 0;
    bool a_sign = true, b_sign = true;
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 2; k++) {
            if (strcmp(from, order[i][k]) == 0) /* else it is smaller, and an int first */
                a = i, a_sign = k == 0;
            if (strcmp(to, order[i][k]) == 0)
                b = i, b_sign = k == 0;
        }
    return a <= b && (a_sign || !b_sign || (a == 0 && b == 3));
}

bool becomes_everywhere(node *n, const char *to)
{
    n = node_bare(n);
    if (n->kind == CXCursor_BinaryOperator || n->kind == CXCursor_UnaryOperator) { /* their own type is that of this machine */
        for (unsigned i = 0; i < n->kids->len; i++)
            if (!becomes_everywhere(node_kid(n, i), to))
                return false;
        return true;
    }
    const char *from = n->kind == CXCursor_UnaryExpr ? "size" : type_scalar(n->type);
    return from && becomes(from, to);
}
