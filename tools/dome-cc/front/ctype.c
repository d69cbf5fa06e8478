/* Types of C: what they are, and how they are declared. */
#include "front/front.h"

#include <string.h>

char *ctype_spelling(CXType t)
{
    CXString s = clang_getTypeSpelling(t);
    char *text = g_strdup(clang_getCString(s) ? clang_getCString(s) : "");
    clang_disposeString(s);
    return text;
}

/* For functions that pointers may lead to. Which of int, long and long long a size_t or an int64_t is differs between machines:
 * to have the same polls on all, one is as good as the other. */
char *ctype_key(CXType t)
{
    t = clang_getCanonicalType(t);
    if (t.kind == CXType_Pointer)
        t = clang_getCanonicalType(clang_getPointeeType(t));
    char *text = ctype_spelling(t), **words = g_strsplit(text, "long", -1), *one = g_strjoinv("int", words);
    g_strfreev(words);
    g_free(text);
    words = g_strsplit(one, "int int", -1);
    char *key = g_strjoinv("int", words);
    g_strfreev(words);
    g_free(one);
    return key;
}

bool ctype_same(CXType a, CXType b)
{
    char *x = ctype_spelling(clang_getCanonicalType(a)), *y = ctype_spelling(clang_getCanonicalType(b));
    const char *p = g_str_has_prefix(x, "const ") ? x + 6 : x, *q = g_str_has_prefix(y, "const ") ? y + 6 : y;
    bool same = strcmp(p, q) == 0;
    g_free(x);
    g_free(y);
    return same;
}

static const char *scalar_of_typedef(CXType t);

const char *ctype_scalar(CXType t)
{
    const char *name = scalar_of_typedef(t);
    CXType c = clang_getCanonicalType(t);
    if (c.kind == CXType_Enum)
        c = clang_getCanonicalType(clang_getEnumDeclIntegerType(clang_getTypeDeclaration(c)));
    return name && ctype_scalar_of_kind(c.kind) ? name : ctype_scalar_of_kind(c.kind);
}

bool ctype_same_everywhere(CXType a, CXType b)
{
    const char *x = ctype_scalar(a), *y = ctype_scalar(b);
    return ctype_same(a, b) && (x && y ? strcmp(x, y) == 0 : !x && !y);
}

bool ctype_is_wide_integer(CXType t)
{
    enum CXTypeKind k = clang_getCanonicalType(t).kind;
    return k == CXType_Int || k == CXType_UInt || k == CXType_Long || k == CXType_ULong || k == CXType_LongLong ||
           k == CXType_ULongLong;
}

enum CXTypeKind ctype_kind(CXType t)
{
    return clang_getCanonicalType(t).kind;
}

bool ctype_is_record(CXType t)
{
    return ctype_kind(t) == CXType_Record;
}

bool ctype_is_array(CXType t)
{
    return ctype_kind(t) == CXType_ConstantArray || ctype_kind(t) == CXType_IncompleteArray ||
           ctype_kind(t) == CXType_VariableArray;
}

bool ctype_is_pointer(CXType t)
{
    return ctype_kind(t) == CXType_Pointer;
}

bool ctype_is_function(CXType t)
{
    return ctype_kind(t) == CXType_FunctionProto || ctype_kind(t) == CXType_FunctionNoProto;
}

bool ctype_is_argument_list(CXType t)
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

CXType ctype_pointee(CXType t)
{
    return clang_getPointeeType(clang_getCanonicalType(t));
}

bool ctype_is_variable(CXType t)
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

CXType ctype_element(CXType t, char **count)
{
    long long n = 1;
    while (ctype_is_array(t)) {
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

char *ctype_base(unit *u, CXType t, bool bare)
{
    char *all = ctype_spelling(t), *name = skip_qualifiers(all);
    const char *word = "", *other = renamed_record(u, t, &word);
    GString *s = g_string_new(NULL);
    if (!bare && clang_isConstQualifiedType(t))
        g_string_append(s, "const ");
    if (clang_isVolatileQualifiedType(t))
        g_string_append(s, "volatile ");
    if (other)
        g_string_append_printf(s, "%s%s", g_str_has_prefix(other, CTYPE_NAMELESS) ? "" : word, other);
    else
        g_string_append(s, name);
    g_free(all);
    return g_string_free(s, FALSE);
}

static char *declare(unit *u, CXType t, const char *inner, bool bare);

static char *declare_pointer(unit *u, CXType t, const char *inner, bool bare)
{
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
    char *star = group ? g_strdup_printf("(%s)", s->str) : g_strdup(s->str), *out = declare(u, p, star, false);
    g_string_free(s, TRUE);
    g_free(star);
    return out;
}

static char *declare_array(unit *u, CXType t, const char *inner, bool bare)
{
    char *s = t.kind == CXType_ConstantArray ? g_strdup_printf("%s[%lld]", inner, clang_getArraySize(t))
                                             : g_strdup_printf("%s[]", inner);
    char *out = declare(u, clang_getArrayElementType(t), s, bare);
    g_free(s);
    return out;
}

static char *declare_function(unit *u, CXType t, const char *inner)
{
    GString *s = g_string_new(inner);
    const bool known = t.kind == CXType_FunctionProto;
    int n = known ? clang_getNumArgTypes(t) : 0;
    g_string_append(s, "(");
    for (int i = 0; i < n; i++) {
        char *argument = ctype_declare(u, clang_getArgType(t, (unsigned)i), "", false);
        g_string_append_printf(s, "%s%s", i ? ", " : "", argument);
        g_free(argument);
    }
    if (!known)
        g_string_append(s, ")");
    else
        g_string_append(s, clang_isFunctionTypeVariadic(t) ? (n ? ", ...)" : "...)") : n ? ")" : "void)");
    char *out = declare(u, clang_getResultType(t), s->str, false);
    g_string_free(s, TRUE);
    return out;
}

/* Whether a type is declared by its canonical type: parentheses and typeof; without const, also a typedef of a const, or of an
 * array of them. */
static bool is_by_canonical(CXType t, bool bare)
{
    CXType c = clang_getCanonicalType(t);
    if (t.kind == CXType_Unexposed || t.kind == CXType_Attributed)
        return c.kind != t.kind;
    return t.kind == CXType_Typedef && bare &&
           ((clang_isConstQualifiedType(c) && !clang_isConstQualifiedType(t)) || ctype_is_array(c));
}

static char *declare(unit *u, CXType t, const char *inner, bool bare)
{
    if (t.kind == CXType_Pointer)
        return declare_pointer(u, t, inner, bare);
    if (t.kind == CXType_ConstantArray || t.kind == CXType_IncompleteArray)
        return declare_array(u, t, inner, bare);
    if (t.kind == CXType_FunctionProto || t.kind == CXType_FunctionNoProto)
        return declare_function(u, t, inner);
    if (is_by_canonical(t, bare))
        return declare(u, clang_getCanonicalType(t), inner, bare);
    char *b = ctype_base(u, t, bare), *out = *inner ? g_strdup_printf("%s %s", b, inner) : g_strdup(b);
    g_free(b);
    return out;
}

char *ctype_declare(unit *u, CXType t, const char *name, bool bare)
{
    return declare(u, t, name, bare);
}

char *ctype_name(unit *u, CXType t)
{
    return ctype_declare(u, t, "", true);
}

/* ---- descriptions ---- */

const char *ctype_scalar_of_kind(enum CXTypeKind k)
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

GArray *ctype_fields_of(CXType t)
{
    GArray *fields = g_array_new(FALSE, FALSE, sizeof(CXCursor));
    clang_Type_visitFields(clang_getCanonicalType(t), add_field, fields);
    return fields;
}

/* An array type with its elements as they were written, also if it is a typedef: a size_t must remain one. */
CXType ctype_array_as_written(CXType t)
{
    CXType c = clang_getCanonicalType(t);
    while (t.kind == CXType_Typedef || t.kind == CXType_Elaborated) /* not at once */
        t = t.kind == CXType_Elaborated ? clang_Type_getNamedType(t)
                                        : clang_getTypedefDeclUnderlyingType(clang_getTypeDeclaration(t));
    return t.kind == c.kind ? t : c;
}

/* About how many bytes a value takes in the image: the same on all machines. */
long long ctype_image_size(CXType t)
{
    const char *name = scalar_of_typedef(t);
    CXType array = ctype_array_as_written(t);
    t = clang_getCanonicalType(t);
    long long n = 0;
    if (t.kind == CXType_ConstantArray)
        return clang_getArraySize(t) * ctype_image_size(clang_getArrayElementType(array));
    if (t.kind == CXType_Record) {
        GArray *fields = ctype_fields_of(t);
        for (unsigned i = 0; i < fields->len; i++)
            n += ctype_image_size(clang_getCursorType(g_array_index(fields, CXCursor, i)));
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
    while (ctype_is_array(t))
        t = clang_getCanonicalType(clang_getArrayElementType(t));
    if (t.kind != CXType_Record)
        return false;
    GArray *fields = ctype_fields_of(t);
    bool found = false;
    for (unsigned i = 0; i < fields->len && !found; i++) {
        CXType f = clang_getCanonicalType(clang_getCursorType(g_array_index(fields, CXCursor, i)));
        CXType e = ctype_element(f, NULL);
        found = clang_isConstQualifiedType(f) || clang_isConstQualifiedType(clang_getCanonicalType(e)) || has_constant(f);
    }
    g_array_free(fields, TRUE);
    return found;
}

/* to = from, as a statement; also if the type is a struct with constant members. */
char *ctype_assign(unit *u, CXType t, const char *to, const char *from)
{
    if (!has_constant(t))
        return g_strdup_printf("%s = %s;", to, from);
    char *copy = ctype_declare(u, t, "dome__c", true);
    char *text = g_strdup_printf("{ %s = %s; __builtin_memcpy(&%s, &dome__c, sizeof(dome__c)); }", copy, from, to);
    g_free(copy);
    return text;
}

CXCursor ctype_definition_of(CXType t)
{
    CXCursor d = clang_getTypeDeclaration(clang_getCanonicalType(t)), definition = clang_getCursorDefinition(d);
    return cursor_is_null(definition) ? d : definition;
}

bool ctype_is_union(CXType t)
{
    return ctype_kind(t) == CXType_Record && ctype_definition_of(t).kind == CXCursor_UnionDecl;
}

/* A struct or union without a name, whose members are those of the one around it. */
bool ctype_is_nameless(CXCursor field)
{
    char *name = cursor_name(field);
    bool nameless = !*name || *name == '(';
    g_free(name);
    return nameless;
}

bool ctype_is_flexible(CXType t)
{
    CXType c = clang_getCanonicalType(t);
    return c.kind == CXType_IncompleteArray || (c.kind == CXType_ConstantArray && clang_getArraySize(c) == 0);
}

/* The type that setjmp fills in: addresses of the stack, which are not saved. */
bool ctype_is_jump_buffer(CXType t)
{
    if (ctype_kind(t) != CXType_Record)
        return false;
    char *name = cursor_name(ctype_definition_of(t));
    bool found = strcmp(name, "__jmp_buf_tag") == 0;
    g_free(name);
    return found;
}

static enum CXVisitorResult find_jump_buffer(CXCursor field, CXClientData found)
{
    *(bool *)found = ctype_holds_jump_buffer(clang_getCursorType(field));
    return *(bool *)found ? CXVisit_Break : CXVisit_Continue;
}

bool ctype_holds_jump_buffer(CXType t)
{
    t = clang_getCanonicalType(t);
    while (ctype_is_array(t))
        t = clang_getCanonicalType(clang_getArrayElementType(t));
    bool found = ctype_is_jump_buffer(t);
    if (!found && ctype_is_record(t))
        clang_Type_visitFields(t, find_jump_buffer, &found);
    return found;
}

/* The name of a scalar's description, without "dome__cc_"; NULL: it is none. */
const char *ctype_scalar_name(CXType t)
{
    CXType c = clang_getCanonicalType(t);
    const char *scalar = scalar_of_typedef(t);
    if (scalar && ctype_scalar_of_kind(c.kind))
        return scalar;
    if (c.kind == CXType_Enum)
        c = clang_getCanonicalType(clang_getEnumDeclIntegerType(clang_getTypeDeclaration(c)));
    return ctype_scalar_of_kind(c.kind);
}

/* Bytes of a scalar that has as many on every machine; 0: it has not. */
unsigned ctype_scalar_bytes(const char *name)
{
    static const struct {
        const char *name;
        unsigned bytes;
    } all[] = {{"bool", 1}, {"char", 1}, {"schar", 1}, {"uchar", 1},  {"short", 2}, {"ushort", 2},
               {"int", 4},  {"uint", 4}, {"llong", 8}, {"ullong", 8}, {"float", 4}, {"double", 8}};
    for (unsigned i = 0; i < G_N_ELEMENTS(all); i++)
        if (strcmp(name, all[i].name) == 0)
            return all[i].bytes;
    return 0;
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

bool ctype_becomes_everywhere(node *n, const char *to)
{
    n = node_bare(n);
    if (n->kind == CXCursor_BinaryOperator || n->kind == CXCursor_UnaryOperator) { /* their own type is that of this machine */
        for (unsigned i = 0; i < n->kids->len; i++)
            if (!ctype_becomes_everywhere(node_kid(n, i), to))
                return false;
        return true;
    }
    const char *from = n->kind == CXCursor_UnaryExpr ? "size" : ctype_scalar(n->type);
    return from && becomes(from, to);
}
