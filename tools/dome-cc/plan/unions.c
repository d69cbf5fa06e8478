/* Unions: those of which any member stands for all, and those with a tag (#pragma dome union). */
#include "plan/plan.h"

#include <string.h>

/* A number or pointer in a union's member: members of the same items have the same form in the image. */
typedef struct item {
    long long at;
    unsigned bytes;   /* 0: other on other machines */
    const char *wide; /* then: which type */
    char *pointee;    /* of a pointer */
    char *told;       /* of a union with a tag: its type, and what tells its member */
} item;

enum { ITEMS_MOST = 4096 };

static char *union_tag(unit *u, CXCursor field);

static long long tag_offset(CXType container, const char *tag);

/* A union with a tag, which lies at the same place in all structs that begin alike. */
static bool add_told(unit *u, CXType container, CXCursor field, long long at, GArray *items)
{
    char *tag = union_tag(u, field), *type = ctype_key(clang_getCursorType(field));
    const long long where = tag_offset(container, tag), own = clang_Cursor_getOffsetOfField(field);
    if (where >= 0 && own >= 0) {
        item i = {.at = at + own / 8, .wide = ""};
        const char *text = unions_pragma(u, field)->text;
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
    const char *scalar = ctype_scalar_name(t);
    if (items->len >= ITEMS_MOST)
        return false;
    if (c.kind == CXType_Complex) {
        CXType part = clang_getElementType(c);
        return add_items(u, part, at, items) && add_items(u, part, at + clang_Type_getSizeOf(part), items);
    }
    if (scalar || c.kind == CXType_Pointer) {
        item i = {.at = at, .bytes = scalar ? ctype_scalar_bytes(scalar) : 0, .wide = scalar};
        if (c.kind == CXType_Pointer)
            i.pointee = ctype_key(clang_getPointeeType(c));
        g_array_append_val(items, i);
        return true;
    }
    if (c.kind == CXType_ConstantArray) {
        CXType e = clang_getArrayElementType(ctype_array_as_written(t));
        bool good = clang_getArraySize(c) > 0;
        for (long long k = 0; k < clang_getArraySize(c) && good; k++)
            good = add_items(u, e, at + k * clang_Type_getSizeOf(e), items);
        return good;
    }
    if (c.kind != CXType_Record || ctype_is_union(c))
        return false;
    GArray *fields = ctype_fields_of(c);
    bool good = fields->len > 0;
    for (unsigned i = 0; i < fields->len && good; i++) {
        CXCursor f = g_array_index(fields, CXCursor, i);
        long long offset = clang_Cursor_getOffsetOfField(f);
        if (ctype_is_union(clang_getCursorType(f)) && unions_pragma(u, f))
            good = !ctype_is_nameless(f) && add_told(u, c, f, at, items);
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
bool unions_raw(unit *u, CXType t, CXCursor *longest, bool *any)
{
    GArray *fields = ctype_fields_of(t), **items = g_new0(GArray *, fields->len + 1);
    unsigned most = 0;
    bool good = fields->len > 0, single = true;
    for (unsigned i = 0; i < fields->len; i++) {
        CXCursor f = g_array_index(fields, CXCursor, i);
        items[i] = g_array_new(FALSE, FALSE, sizeof(item));
        good = good && !clang_Cursor_isBitField(f) && add_items(u, clang_getCursorType(f), 0, items[i]);
        single = single && items[i]->len == 1 && g_array_index(items[i], item, 0).pointee;
        const bool no_name = ctype_is_nameless(g_array_index(fields, CXCursor, most));
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
    good = good && !ctype_is_nameless(g_array_index(fields, CXCursor, most));
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

void unions_plan_free(union_plan *plan)
{
    g_free(plan->tag);
    if (plan->members)
        g_array_free(plan->members, TRUE);
    if (plan->cases)
        g_string_free(plan->cases, TRUE);
}

static bool find_field(CXType t, const char *name, CXCursor *found)
{
    GArray *fields = ctype_fields_of(t);
    bool good = false;
    for (unsigned i = 0; i < fields->len && !good; i++) {
        CXCursor f = g_array_index(fields, CXCursor, i);
        char *own = cursor_name(f);
        if (ctype_is_nameless(f))
            good = !ctype_is_union(clang_getCursorType(f)) && find_field(clang_getCursorType(f), name, found);
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
        clang_visitChildren(clang_getTranslationUnitCursor(u->parsed.tu), visit_enumerator, u->enumerators);
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
        if (ctype_kind(t) == CXType_Record && find_field(t, g_strstrip(*p), &f) && !clang_Cursor_isBitField(f))
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
    const char *text = unions_pragma(u, field)->text, *colon = strchr(text, ':');
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

pragma *unions_pragma(unit *u, CXCursor field)
{
    unsigned at = ctype_is_nameless(field) ? cursor_begin(ctype_definition_of(clang_getCursorType(field))) : cursor_begin(field);
    return pragma_before(u, at, PRAGMA_UNION);
}

/* NULL and the plan, or why there is none. */
char *unions_plan(unit *u, CXType container, CXCursor field, union_plan *plan)
{
    CXType t = clang_getCursorType(field);
    const pragma *p = unions_pragma(u, field);
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
        why = describe_obstacle(u, clang_getCursorType(g_array_index(plan->members, CXCursor, i)));
    g_strfreev(entries);
    g_free(tag);
    g_hash_table_unref(seen);
    return why;
}
