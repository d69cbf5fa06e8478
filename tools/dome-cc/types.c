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

#define NAMELESS "dome__nameless_" /* a typedef */

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
        g_string_append_printf(s, "%s%s", g_str_has_prefix(other, NAMELESS) ? "" : word, other);
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

/* An array type with its elements as they were written, also if it is a typedef: a size_t must remain one. */
static CXType array_as_written(CXType t)
{
    CXType c = clang_getCanonicalType(t);
    while (t.kind == CXType_Typedef || t.kind == CXType_Elaborated) /* not at once */
        t = t.kind == CXType_Elaborated ? clang_Type_getNamedType(t)
                                        : clang_getTypedefDeclUnderlyingType(clang_getTypeDeclaration(t));
    return t.kind == c.kind ? t : c;
}

/* What a value takes in the image, about: the same on all machines. */
long long type_image_size(CXType t)
{
    const char *name = scalar_of_typedef(t);
    CXType array = array_as_written(t);
    t = clang_getCanonicalType(t);
    long long n = 0;
    if (t.kind == CXType_ConstantArray)
        return clang_getArraySize(t) * type_image_size(clang_getArrayElementType(array));
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

/* ---- unions ---- */

static char *obstacle(unit *u, CXType t);

static CXCursor definition_of(CXType t)
{
    CXCursor d = clang_getTypeDeclaration(clang_getCanonicalType(t)), definition = clang_getCursorDefinition(d);
    return cursor_is_null(definition) ? d : definition;
}

static bool is_union(CXType t)
{
    return kind(t) == CXType_Record && definition_of(t).kind == CXCursor_UnionDecl;
}

/* A struct or union without a name, whose members are those of the one around it. */
static bool is_nameless(CXCursor field)
{
    char *name = cursor_name(field);
    bool nameless = !*name || *name == '(';
    g_free(name);
    return nameless;
}

static bool is_flexible(CXType t)
{
    CXType c = clang_getCanonicalType(t);
    return c.kind == CXType_IncompleteArray || (c.kind == CXType_ConstantArray && clang_getArraySize(c) == 0);
}

/* A number or pointer in a union's member: members of the same items have the same form in the image. */
typedef struct item {
    long long at;
    unsigned bytes;   /* 0: other on other machines */
    const char *wide; /* then: which type */
    char *pointee;    /* of a pointer */
    char *told;       /* of a union with a tag: its type, and what tells its member */
} item;

enum { ITEMS_MOST = 4096 };

/* What setjmp fills in: addresses of the stack, which are not saved. */
static bool is_jump_buffer(CXType t)
{
    if (kind(t) != CXType_Record)
        return false;
    char *name = cursor_name(definition_of(t));
    bool found = strcmp(name, "__jmp_buf_tag") == 0;
    g_free(name);
    return found;
}

static enum CXVisitorResult find_jump_buffer(CXCursor field, CXClientData found)
{
    *(bool *)found = type_holds_jump_buffer(clang_getCursorType(field));
    return *(bool *)found ? CXVisit_Break : CXVisit_Continue;
}

bool type_holds_jump_buffer(CXType t)
{
    t = clang_getCanonicalType(t);
    while (type_is_array(t))
        t = clang_getCanonicalType(clang_getArrayElementType(t));
    bool found = is_jump_buffer(t);
    if (!found && type_is_record(t))
        clang_Type_visitFields(t, find_jump_buffer, &found);
    return found;
}

static const char *scalar_name(CXType t);
static unsigned scalar_bytes(const char *name);
static pragma *union_pragma(unit *u, CXCursor field);
static char *union_tag(unit *u, CXCursor field);
static long long tag_offset(CXType container, const char *tag);

/* A union with a tag, which lies at the same place in all structs that begin alike. */
static bool add_told(unit *u, CXType container, CXCursor field, long long at, GArray *items)
{
    char *tag = union_tag(u, field), *type = type_key(clang_getCursorType(field));
    const long long where = tag_offset(container, tag), own = clang_Cursor_getOffsetOfField(field);
    if (where >= 0 && own >= 0) {
        item i = {.at = at + own / 8, .wide = ""};
        const char *text = union_pragma(u, field)->text;
        i.told = g_strdup_printf("%s %lld %s", type, at + where / 8, text + strcspn(text, "&:"));
        g_array_append_val(items, i);
    }
    g_free(type);
    g_free(tag);
    return where >= 0 && own >= 0;
}

static bool add_items(unit *u, CXType t, long long at, GArray *items)
{
    CXType c = clang_getCanonicalType(t);
    const char *scalar = scalar_name(t);
    if (items->len >= ITEMS_MOST)
        return false;
    if (c.kind == CXType_Complex) {
        CXType part = clang_getElementType(c);
        return add_items(u, part, at, items) && add_items(u, part, at + clang_Type_getSizeOf(part), items);
    }
    if (scalar || c.kind == CXType_Pointer) {
        item i = {.at = at, .bytes = scalar ? scalar_bytes(scalar) : 0, .wide = scalar};
        if (c.kind == CXType_Pointer)
            i.pointee = type_key(clang_getPointeeType(c));
        g_array_append_val(items, i);
        return true;
    }
    if (c.kind == CXType_ConstantArray) {
        CXType e = clang_getArrayElementType(array_as_written(t));
        bool good = clang_getArraySize(c) > 0;
        for (long long k = 0; k < clang_getArraySize(c) && good; k++)
            good = add_items(u, e, at + k * clang_Type_getSizeOf(e), items);
        return good;
    }
    if (c.kind != CXType_Record || is_union(c))
        return false;
    GArray *fields = fields_of(c);
    bool good = fields->len > 0;
    for (unsigned i = 0; i < fields->len && good; i++) {
        CXCursor f = g_array_index(fields, CXCursor, i);
        long long offset = clang_Cursor_getOffsetOfField(f);
        if (is_union(clang_getCursorType(f)) && union_pragma(u, f))
            good = !is_nameless(f) && add_told(u, c, f, at, items);
        else
            good = !clang_Cursor_isBitField(f) && offset >= 0 && add_items(u, clang_getCursorType(f), at + offset / 8, items);
    }
    g_array_free(fields, TRUE);
    return good;
}

static bool same_item(const item *a, const item *b, bool any_pointer)
{
    if (a->at != b->at || a->bytes != b->bytes || !a->pointee != !b->pointee || !a->told != !b->told)
        return false;
    if (a->told)
        return strcmp(a->told, b->told) == 0;
    if (a->pointee)
        return any_pointer || strcmp(a->pointee, b->pointee) == 0;
    return a->bytes > 0 || strcmp(a->wide, b->wide) == 0;
}

/* The member of a union that stands for all: their numbers and pointers are its first ones. *any: they are single pointers, to
 * different things. False: which member is in use matters. */
static bool raw_union(unit *u, CXType t, CXCursor *longest, bool *any)
{
    GArray *fields = fields_of(t), **items = g_new0(GArray *, fields->len + 1);
    unsigned most = 0;
    bool good = fields->len > 0, single = true;
    for (unsigned i = 0; i < fields->len; i++) {
        CXCursor f = g_array_index(fields, CXCursor, i);
        items[i] = g_array_new(FALSE, FALSE, sizeof(item));
        good = good && !clang_Cursor_isBitField(f) && add_items(u, clang_getCursorType(f), 0, items[i]);
        single = single && items[i]->len == 1 && g_array_index(items[i], item, 0).pointee;
        const bool no_name = is_nameless(g_array_index(fields, CXCursor, most));
        if (items[i]->len > items[most]->len || (no_name && items[i]->len == items[most]->len))
            most = i;
    }
    *any = false;
    for (unsigned i = 0; i < fields->len && good; i++)
        for (unsigned k = 0; k < items[i]->len && good; k++) {
            const item *a = &g_array_index(items[i], item, k), *b = &g_array_index(items[most], item, k);
            good = same_item(a, b, single);
            *any = *any || (good && a->pointee && strcmp(a->pointee, b->pointee) != 0);
        }
    good = good && !is_nameless(g_array_index(fields, CXCursor, most));
    if (good)
        *longest = g_array_index(fields, CXCursor, most);
    for (unsigned i = 0; i < fields->len; i++) {
        for (unsigned k = 0; k < items[i]->len; k++) {
            g_free(g_array_index(items[i], item, k).pointee);
            g_free(g_array_index(items[i], item, k).told);
        }
        g_array_free(items[i], TRUE);
    }
    g_free(items);
    g_array_free(fields, TRUE);
    return good;
}

/* "#pragma dome union kind: NUMBER = number, TEXT NAME = text, default = pair" before a union among the members of a struct. */
typedef struct union_plan {
    char *tag;       /* an expression of the struct's members */
    GArray *members; /* CXCursor: those that can be in use, by number */
    GString *cases;  /* of a switch */
} union_plan;

static void plan_free(union_plan *plan)
{
    g_free(plan->tag);
    if (plan->members)
        g_array_free(plan->members, TRUE);
    if (plan->cases)
        g_string_free(plan->cases, TRUE);
}

static bool find_field(CXType t, const char *name, CXCursor *found)
{
    GArray *fields = fields_of(t);
    bool good = false;
    for (unsigned i = 0; i < fields->len && !good; i++) {
        CXCursor f = g_array_index(fields, CXCursor, i);
        char *own = cursor_name(f);
        if (is_nameless(f))
            good = !is_union(clang_getCursorType(f)) && find_field(clang_getCursorType(f), name, found);
        else if (strcmp(own, name) == 0)
            good = true, *found = f;
        g_free(own);
    }
    g_array_free(fields, TRUE);
    return good;
}

static enum CXChildVisitResult visit_enumerator(CXCursor c, CXCursor parent, CXClientData data)
{
    (void)parent;
    if (c.kind == CXCursor_EnumConstantDecl)
        g_hash_table_insert(data, cursor_name(c), g_memdup2(&(long long){clang_getEnumConstantDeclValue(c)}, sizeof(long long)));
    return CXChildVisit_Recurse;
}

static bool constant_of(unit *u, const char *word, long long *value)
{
    char *end;
    *value = g_ascii_strtoll(word, &end, 0);
    if (*word && !*end)
        return true;
    if (word[0] == '\'' && word[1] && word[1] != '\\' && word[2] == '\'' && !word[3]) {
        *value = word[1];
        return true;
    }
    if (!u->enumerators) {
        u->enumerators = g_hash_table_new(g_str_hash, g_str_equal);
        clang_visitChildren(clang_getTranslationUnitCursor(u->tu), visit_enumerator, u->enumerators);
    }
    const long long *found = g_hash_table_lookup(u->enumerators, word);
    *value = found ? *found : 0;
    return found;
}

static char *plan_tag(unit *u, union_plan *plan, CXType container, const char *text)
{
    char **parts = g_strsplit(text, "&", 2), *why = NULL, **path = g_strsplit(g_strstrip(parts[0]), ".", -1);
    CXType t = container;
    long long mask;
    for (char **p = path; *p && !why; p++) {
        CXCursor f;
        if (kind(t) == CXType_Record && find_field(t, g_strstrip(*p), &f) && !clang_Cursor_isBitField(f))
            t = clang_getCursorType(f);
        else
            why = g_strdup_printf("#pragma dome union: the struct around the union has no member %s", *p);
    }
    CXType c = clang_getCanonicalType(t);
    if (!why && c.kind != CXType_Enum && !(c.kind >= CXType_Bool && c.kind <= CXType_LongLong))
        why = g_strdup_printf("#pragma dome union: %s is no integer", parts[0]);
    if (!why && parts[1] && !constant_of(u, g_strstrip(parts[1]), &mask))
        why = g_strdup_printf("#pragma dome union: %s is neither a number nor an enumerator", parts[1]);
    if (!why)
        plan->tag = parts[1] ? g_strdup_printf("dome__s->%s & %lldll", parts[0], mask) : g_strdup_printf("dome__s->%s", parts[0]);
    g_strfreev(path);
    g_strfreev(parts);
    return why;
}

/* The tag in the pragma before a union, without what stands around it. */
static char *union_tag(unit *u, CXCursor field)
{
    const char *text = union_pragma(u, field)->text, *colon = strchr(text, ':');
    char *tag = g_strndup(text, colon ? (gsize)(colon - text) : 0), *mask = strchr(tag, '&');
    if (mask)
        *mask = '\0';
    return g_strstrip(tag);
}

/* In bits; -1: the tag is no member. */
static long long tag_offset(CXType container, const char *tag)
{
    return *tag ? clang_Type_getOffsetOf(clang_getCanonicalType(container), tag) : -1;
}

static char *plan_case(unit *u, union_plan *plan, CXType t, char *text, GHashTable *seen)
{
    char *equals = strrchr(text, '='), *why = NULL;
    if (!equals)
        return g_strdup_printf("#pragma dome union: \"%s\" is not of the form VALUE = MEMBER", g_strstrip(text));
    *equals = '\0';
    char *name = g_strstrip(equals + 1), **words = g_strsplit_set(g_strstrip(text), " \t", -1);
    CXCursor member = clang_getNullCursor();
    unsigned number = plan->members->len;
    if (!find_field(t, name, &member))
        why = g_strdup_printf("#pragma dome union: the union has no member %s", name);
    for (unsigned i = 0; i < plan->members->len && !why; i++)
        if (clang_equalCursors(g_array_index(plan->members, CXCursor, i), member))
            number = i;
    for (char **w = words; *w && !why; w++) {
        long long value = 0;
        const bool other = strcmp(*w, "default") == 0;
        if (!**w)
            continue;
        if (!other && !constant_of(u, *w, &value))
            why =
                g_strdup_printf("#pragma dome union: %s is neither a number nor an enumerator (of a macro write the number)", *w);
        char *label = other ? g_strdup("default") : g_strdup_printf("case %lldll", value);
        if (!why && !g_hash_table_add(seen, g_strdup(label)))
            why = g_strdup_printf("#pragma dome union: %s is there twice", *w);
        if (!why)
            g_string_append_printf(plan->cases, "%s: return %u; ", label, number);
        g_free(label);
    }
    if (!why && number == plan->members->len)
        g_array_append_val(plan->members, member);
    g_strfreev(words);
    return why;
}

static pragma *union_pragma(unit *u, CXCursor field)
{
    unsigned at = is_nameless(field) ? cursor_begin(definition_of(clang_getCursorType(field))) : cursor_begin(field);
    return pragma_before(u, at, PRAGMA_UNION);
}

/* NULL and the plan, or why there is none. */
static char *union_planned(unit *u, CXType container, CXCursor field, union_plan *plan)
{
    CXType t = clang_getCursorType(field);
    const pragma *p = union_pragma(u, field);
    const char *colon = strchr(p->text, ':');
    GHashTable *seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    *plan = (union_plan){.members = g_array_new(FALSE, FALSE, sizeof(CXCursor)), .cases = g_string_new(NULL)};
    char *why = NULL, *tag = g_strndup(p->text, colon ? (gsize)(colon - p->text) : strlen(p->text));
    char **entries = g_strsplit(colon ? colon + 1 : "", ",", -1);
    if (!colon)
        why = g_strdup("#pragma dome union: write TAG: VALUE = MEMBER, VALUE = MEMBER");
    else
        why = plan_tag(u, plan, container, tag);
    for (char **e = entries; *e && !why; e++)
        why = plan_case(u, plan, t, *e, seen);
    if (!why && !g_hash_table_contains(seen, "default"))
        g_string_append(plan->cases, "default: return -1; ");
    for (unsigned i = 0; i < plan->members->len && !why; i++)
        why = obstacle(u, clang_getCursorType(g_array_index(plan->members, CXCursor, i)));
    g_strfreev(entries);
    g_free(tag);
    g_hash_table_unref(seen);
    return why;
}

/* ---- obstacles ---- */

static char *fields_obstacle(unit *u, CXType record, CXType container)
{
    char *why = NULL, *name = spelling(record);
    GArray *fields = fields_of(record);
    for (unsigned i = 0; i < fields->len && !why; i++) {
        CXCursor f = g_array_index(fields, CXCursor, i);
        CXType t = clang_getCursorType(f);
        if (clang_Cursor_isBitField(f)) {
            char *field = cursor_name(f);
            why = g_strdup_printf("a bit-field (%s of %s)", field, name);
            g_free(field);
        } else if (is_union(t) && union_pragma(u, f)) {
            union_plan plan;
            why = union_planned(u, container, f, &plan);
            plan_free(&plan);
        } else if (is_nameless(f) && !is_union(t)) {
            why = fields_obstacle(u, t, container);
        } else {
            why = obstacle(u, t);
        }
    }
    g_array_free(fields, TRUE);
    g_free(name);
    return why;
}

/* Whether values of a type can be described: looks at what is contained, not at what pointers lead to. NULL, or why not. */
static char *obstacle(unit *u, CXType t)
{
    CXType c = clang_getCanonicalType(t);
    switch (c.kind) {
    case CXType_Pointer:
        return NULL;
    case CXType_Enum:
        return NULL;
    case CXType_ConstantArray:
    case CXType_IncompleteArray:
        return obstacle(u, clang_getArrayElementType(c));
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
        char *name = spelling(t), *why = NULL;
        bool any;
        if (cursor_is_null(clang_getCursorDefinition(d)))
            why = g_strdup_printf("%s, which is not defined here", name);
        else if (d.kind == CXCursor_UnionDecl)
            why =
                raw_union(u, c, &member, &any)
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

/* ---- packing ---- */

packer packer_new(void)
{
    return (packer){.pack = g_string_new(NULL), .unpack = g_string_new(NULL), .good = true};
}

/* The name of a scalar's description, without "dome__cc_"; NULL: it is none. */
static const char *scalar_name(CXType t)
{
    CXType c = clang_getCanonicalType(t);
    const char *scalar = scalar_of_typedef(t);
    if (scalar && scalar_of_kind(c.kind))
        return scalar;
    if (c.kind == CXType_Enum)
        c = clang_getCanonicalType(clang_getEnumDeclIntegerType(clang_getTypeDeclaration(c)));
    return scalar_of_kind(c.kind);
}

/* Bytes of a scalar that has as many on every machine; 0: it has not. */
static unsigned scalar_bytes(const char *name)
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

enum { LINES_MOST = 400, UNROLLED = 8 }; /* more lines are left to the table; longer arrays are loops */

/* A value: `place` is where it is in memory, `base` where its bytes are counted from. */
static void pack_value(unit *u, packer *k, CXType t, const char *place, const char *base);

static void pack_fields(unit *u, packer *k, CXType t, const char *place, const char *base)
{
    GArray *fields = fields_of(t);
    for (unsigned i = 0; i < fields->len && k->good; i++) {
        CXCursor f = g_array_index(fields, CXCursor, i), member = f;
        CXType type = clang_getCursorType(f);
        const bool nameless = is_nameless(f);
        char *name = cursor_name(f), *at = nameless ? g_strdup(place) : g_strdup_printf("%s.%s", place, name);
        bool any;
        if (is_flexible(type)) {
            /* its elements are packed by themselves */
        } else if (is_union(type) && union_pragma(u, f)) {
            k->good = false;
        } else if (is_union(type) && nameless) {
            k->good = raw_union(u, type, &member, &any);
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
static void pack_struct(unit *u, packer *k, CXType t, const char *place, const char *base)
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
    members_add(d->all, name, id, at, 0);
    g_free(name);
    g_free(at);
    g_free(id);
}

static void pack_array(unit *u, packer *k, CXType t, const char *place, const char *base)
{
    CXType c = clang_getCanonicalType(t), e = clang_getArrayElementType(array_as_written(t));
    const long long n = clang_getArraySize(c);
    for (long long i = 0; i < n && n <= UNROLLED; i++) {
        char *at = g_strdup_printf("%s[%lld]", place, i);
        pack_value(u, k, e, at, base);
        g_free(at);
    }
    if (n <= UNROLLED)
        return;
    const unsigned loop = ++k->loops;
    packer inner = packer_new();
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

static void pack_value(unit *u, packer *k, CXType t, const char *place, const char *base)
{
    CXType c = clang_getCanonicalType(t);
    const char *scalar = scalar_name(t);
    const unsigned bytes = scalar ? scalar_bytes(scalar) : 0;
    CXCursor member;
    bool any;
    k->good = k->good && ++k->lines <= LINES_MOST;
    k->good = k->good && !is_jump_buffer(c);
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
    } else if (is_union(c)) {
        k->good = raw_union(u, c, &member, &any);
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

void packer_add(unit *u, packer *k, const variable *v)
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

static bool packer_write(unit *u, packer *k, const char *id, const char *ctype)
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

members members_new(void)
{
    return (members){.text = g_string_new(NULL), .flags = g_string_new(NULL)};
}

void members_add(members *m, const char *name, const char *described, const char *offset, unsigned flags)
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
    members_add(m, name, described, offset, flags);
    g_free(offset);
}

static void members_free(members *m)
{
    g_string_free(m->text, TRUE);
    g_string_free(m->flags, TRUE);
}

void type_write_struct(unit *u, const char *id, const char *shown, const char *ctype, members *m, packer *k)
{
    char *q = quoted(shown);
    const bool packs = packer_write(u, k, id, ctype);
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
    char *why = union_planned(u, container, field, &plan), *name = cursor_name(field), *id, *key;
    CXType t = clang_getCursorType(field);
    const bool nameless = is_nameless(field);
    g_free(why); /* NULL: obstacle() has looked before */
    CXCursor first = g_array_index(plan.members, CXCursor, 0);
    char *first_name = cursor_name(first), *shown = g_strdup_printf("%s.%s", outer, nameless ? first_name : name),
         *q = quoted(shown);
    key = g_strdup_printf("union %s", shown);
    id = new_type(u, key);
    members all = members_new();
    for (unsigned i = 0; i < plan.members->len; i++) {
        CXCursor m = g_array_index(plan.members, CXCursor, i);
        char *member = cursor_name(m), *type = describe(u, clang_getCursorType(m));
        members_add(&all, member, type, "0", 0);
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
    plan_free(&plan);
    return g_strdup(id);
}

/* An array of one element at the end of a struct, of which blocks of the heap may have more. */
static bool last_of_one(CXType t, CXCursor *last)
{
    GArray *fields = kind(t) == CXType_Record && !is_union(t) ? fields_of(t) : NULL;
    bool found = false;
    if (fields && fields->len > 1) {
        *last = g_array_index(fields, CXCursor, fields->len - 1);
        CXType c = clang_getCanonicalType(clang_getCursorType(*last));
        found = c.kind == CXType_ConstantArray && clang_getArraySize(c) == 1 && !type_is_array(clang_getArrayElementType(c));
    }
    if (fields)
        g_array_free(fields, TRUE);
    return found;
}

bool type_may_be_longer(CXType t)
{
    CXCursor last;
    return last_of_one(t, &last);
}

static char *describe_array(unit *u, const char *id, const char *shown, CXType element, long long n)
{
    char *described = describe(u, element), *name = type_name(u, element), *q = quoted(shown);
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
    CXCursor d = t.kind == CXType_Record ? definition_of(t) : clang_getNullCursor();
    gpointer key = GUINT_TO_POINTER(cursor_is_null(d) ? 0 : cursor_offset(d));
    if (!cursor_is_null(d) && cursor_in_system_header(d) && is_nameless(d) && !g_hash_table_contains(u->renamed, key)) {
        char *name = g_strdup_printf(NAMELESS "%u", g_hash_table_size(u->renamed));
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
    GArray *fields = fields_of(t);
    for (unsigned i = 0; i < fields->len; i++) {
        CXCursor f = g_array_index(fields, CXCursor, i), member = f;
        CXType type = clang_getCursorType(f);
        const bool nameless = is_nameless(f);
        bool any = false;
        char *name = cursor_name(f), *described;
        if (!nameless)
            name_foreign(u, type, outer, name);
        g_free(name);
        if (is_union(type) && union_pragma(u, f)) {
            described = describe_union(u, container, f, outer);
            if (nameless) { /* where its members are */
                union_plan plan;
                g_free(union_planned(u, container, f, &plan));
                member = g_array_index(plan.members, CXCursor, 0);
                plan_free(&plan);
            }
        } else if (is_union(type) && nameless) {
            raw_union(u, type, &member, &any);
            described = any ? g_strdup("dome__cc_pointer") : describe(u, clang_getCursorType(member));
        } else if (nameless) { /* a struct without a name: its members are this one's */
            describe_fields(u, type, container, outer, all);
            continue;
        } else {
            described = describe(u, type);
        }
        name = cursor_name(member);
        const unsigned flags = flags_before(u, nameless ? cursor_begin(definition_of(type)) : cursor_begin(f));
        const bool zone = is_zone(f, name);
        add_member(all, name, described, outer, flags | (zone ? DOME_CAPTURE_TEXT : 0));
        u->keeps |= zone ? DOME_CAPTURE_KEEP_TEXTS : 0;
        g_free(described);
        g_free(name);
    }
    g_array_free(fields, TRUE);
}

static char *describe(unit *u, CXType t)
{
    CXType c = clang_getCanonicalType(t);
    const char *scalar = scalar_name(t);
    if (scalar)
        return g_strdup_printf("dome__cc_%s", scalar);
    if (c.kind == CXType_Complex)
        return g_strdup(clang_getElementType(c).kind == CXType_Float ? "dome__cc_fcomplex" : "dome__cc_dcomplex");
    if (c.kind == CXType_Pointer) {
        CXType p = t.kind == CXType_Pointer ? clang_getPointeeType(t) : clang_getPointeeType(c);
        CXCursor d = clang_getTypeDeclaration(clang_getCanonicalType(p));
        bool foreign = !cursor_is_null(d) && clang_getCanonicalType(p).kind == CXType_Record && cursor_in_system_header(d);
        char *why = kind(p) == CXType_Void || type_is_function(p) || foreign || kind(p) == CXType_IncompleteArray
                        ? g_strdup("")
                        : obstacle(u, p);
        if (why) {
            g_free(why);
            return g_strdup("dome__cc_pointer");
        }
        char *name = type_name(u, p), *key = g_strdup_printf("*%s", name), *id = g_hash_table_lookup(u->types, key);
        if (!id) {
            id = new_type(u, key);
            char *shown = g_strdup_printf("%s *", name), *q = quoted(shown), *element = describe(u, p);
            g_string_append_printf(u->tail, "static struct dome__cc_type %s = {%s, %d, %d, sizeof(void *), &%s, 0, 0, 0, 0};\n",
                                   id, q, (int)DOME_CAPTURE_KIND_POINTER, (int)DOME_KIND_U64, element);
            g_free(element);
            g_free(q);
            g_free(shown);
        }
        g_free(name);
        g_free(key);
        return g_strdup(id);
    }
    char *name = type_name(u, t), *key = g_strdup(name), *id = g_hash_table_lookup(u->types, key);
    if (!id && is_jump_buffer(c)) { /* a union of which no member is in use */
        id = new_type(u, key);
        g_string_append_printf(
            u->tail,
            "static int %s_which(const void *dome__u) { (void)dome__u; return -1; }\n"
            "static const struct dome__cc_member %s_members[] = {{\"state\", &dome__cc_char, 0}};\n"
            "static struct dome__cc_type %s = {\"jmp_buf\", %d, %d, sizeof(%s), 0, 1, %s_members, %s_which, 0};\n",
            id, id, id, (int)DOME_CAPTURE_KIND_UNION, (int)DOME_KIND_U8, name, id, id);
    }
    if (id) {
        g_free(name);
        g_free(key);
        return g_strdup(id);
    }
    id = new_type(u, key);
    char *q = quoted(name);
    if (c.kind == CXType_ConstantArray || c.kind == CXType_IncompleteArray) {
        CXType e = clang_getArrayElementType(array_as_written(t));
        const long long n = c.kind == CXType_ConstantArray ? clang_getArraySize(c) : 0;
        char *element_name = type_name(u, e), *shown = t.kind == c.kind ? g_strdup(name)
                                                       : n > 0          ? g_strdup_printf("%s[%lld]", element_name, n)
                                                                        : g_strdup_printf("%s[]", element_name);
        g_free(describe_array(u, id, shown, e, n));
        g_free(shown);
        g_free(element_name);
    } else {
        members all = members_new();
        packer k = packer_new();
        CXCursor member;
        bool any = false;
        if (is_union(t) && raw_union(u, t, &member, &any)) { /* as a struct of the member that stands for all */
            char *own = cursor_name(member), *place = g_strdup_printf("dome__s->%s", own);
            char *described = any ? g_strdup("dome__cc_pointer") : describe(u, clang_getCursorType(member));
            add_member(&all, own, described, name, flags_before(u, cursor_begin(member)));
            pack_value(u, &k, clang_getCursorType(member), place, "dome__t");
            g_free(described);
            g_free(place);
            g_free(own);
        } else {
            describe_fields(u, t, c, name, &all);
            padding_each(u, t, describe_padding, &(padded){.u = u, .all = &all, .id = id});
            pack_struct(u, &k, t, "(*dome__s)", "dome__t");
        }
        type_write_struct(u, id, name, name, &all, &k);
    }
    g_free(q);
    g_free(name);
    g_free(key);
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
char *type_describe_longer(unit *u, CXType t, char **why)
{
    CXCursor last = clang_getNullCursor();
    char *reason = obstacle(u, t);
    *why = reason;
    if (reason || !last_of_one(t, &last))
        return NULL;
    char *name = type_name(u, t), *key = g_strdup_printf("longer %s", name), *id = g_hash_table_lookup(u->types, key);
    if (!id) {
        id = new_type(u, key);
        members all = members_new();
        describe_fields(u, t, clang_getCanonicalType(t), name, &all);
        drop_last(&all);
        CXType element = clang_getArrayElementType(array_as_written(clang_getCursorType(last)));
        char *own = cursor_name(last), *shown = g_strdup_printf("%s...", name), *array = g_strdup_printf("%s_tail", id);
        g_free(describe_array(u, array, "[]", element, 0));
        add_member(&all, own, array, name, flags_before(u, cursor_begin(last)));
        packer k = packer_new();
        k.good = false; /* the table is walked */
        type_write_struct(u, id, shown, name, &all, &k);
        g_free(array);
        g_free(shown);
        g_free(own);
    }
    g_free(key);
    g_free(name);
    return g_strdup(id);
}

/* Of a block of the heap whose numbers are no addresses: a type of its own, of which a restart knows that, too. */
char *type_describe_numbers(unit *u, const char *described, const char *name)
{
    char *shown = g_strdup_printf("numbers of %s", name), *id = g_hash_table_lookup(u->types, shown);
    if (!id) {
        id = new_type(u, shown);
        members one = members_new();
        packer k = packer_new();
        k.good = false;
        members_add(&one, "value", described, "0", DOME_CAPTURE_NUMBERS);
        type_write_struct(u, id, shown, name, &one, &k);
    }
    g_free(shown);
    return g_strdup(id);
}

char *type_describe(unit *u, CXType t, char **why)
{
    char *reason = obstacle(u, t);
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
