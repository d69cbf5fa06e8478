/* Type strings, as those of Stardust. */
#include "core/environment.h"
#include "core/type_private.h"
#include "system/unconst.h"

#include <string.h>

enum { DEPTH_MOST = 16 };

/* The text as it is read, one character after the other. */
typedef struct parsing {
    dome_env *env;
    const char *name, *text;
    const size_t *counts;
    size_t ncounts;
    size_t at;     /* in the text */
    size_t braces; /* pairs that have been opened */
    dome_status status;
} parsing;

/* What stands between two braces: a type, and how it is aligned. */
typedef struct element {
    dome_type type;
    size_t align;
} element;

static bool refuse(parsing *p, const char *why)
{
    if (p->status == DOME_OK)
        p->status = dome__fail(p->env, DOME_ERR_ARGUMENT, "type string '%s' of '%s', character %zu: %s", p->text, p->name,
                               p->at + 1, why);
    return false;
}

/* Aligned as in a struct, which is less than elsewhere on some machines. */
#define BASIC(type, ctype) ((element){type, _Alignof(struct { ctype value; })})

static element basic_of(char letter)
{
    switch (letter) {
    case 'C':
        return BASIC(DOME_I8, int8_t);
    case 'I':
        return BASIC(DOME_I16, int16_t);
    case 'L':
        return BASIC(DOME_I64, int64_t);
    case 'F':
        return BASIC(DOME_F32, float);
    case 'D':
        return BASIC(DOME_F64, double);
    default:
        return (element){NULL, 0};
    }
}

static size_t round_up(size_t bytes, size_t align)
{
    return (bytes + align - 1) / align * align;
}

/* ---- the fields of one pair of braces ---- */

typedef struct members {
    GArray *fields; /* of dome_field; names are g_free'd */
    size_t end, align;
} members;

static bool add_field(parsing *p, members *m, element e, size_t count)
{
    const size_t offset = round_up(m->end, e.align);
    if (count > (dome__array_most(1) - offset) / dome_type_size(e.type))
        return refuse(p, "the struct is larger than memory can be");
    const dome_field field = {g_strdup_printf("%u", m->fields->len), e.type, offset, count};
    g_array_append_val(m->fields, field);
    m->end = offset + count * dome_type_size(e.type);
    m->align = MAX(m->align, e.align);
    return true;
}

static void clear_field(void *field)
{
    g_free(dome__unconst(((const dome_field *)field)->name));
}

/* The type of what stands between the braces with this number. */
static element finish(parsing *p, const members *m, size_t number)
{
    const dome_field *first = &g_array_index(m->fields, dome_field, 0);
    const bool inner = number > 0;
    if (m->fields->len == 1 && first->count == 1)
        return (element){first->type, m->align};
    char *name = inner ? g_strdup_printf("%s.%zu", p->name, number) : g_strdup(p->name);
    const dome_type type = dome_type_struct(p->env, name, round_up(m->end, m->align), first, m->fields->len, sizeof *first);
    g_free(name);
    if (!type && p->status == DOME_OK)
        p->status = dome_error_status(p->env);
    return (element){type, m->align};
}

/* Opens a pair of braces: the number of its elements is the next count. */
static bool open_braces(parsing *p, unsigned depth, size_t *count)
{
    if (p->text[p->at] != '{')
        return refuse(p, "there is no '{'");
    if (depth > DEPTH_MOST)
        return refuse(p, "braces are nested more than 16 deep");
    if (p->braces == p->ncounts)
        return refuse(p, "there is no count for these braces");
    *count = p->counts[p->braces++];
    if (*count == 0)
        return refuse(p, "the count of these braces is 0");
    p->at++;
    return true;
}

static bool parse_braces(parsing *p, unsigned depth, element *e, size_t *count);

/* The next member of a pair of braces. */
static bool parse_member(parsing *p, unsigned depth, members *m)
{
    const char c = p->text[p->at];
    element e = basic_of(c);
    size_t count = 1;
    if (c == '\0')
        return refuse(p, "a '}' is missing");
    if (e.type)
        p->at++;
    else if (c == '{' ? !parse_braces(p, depth + 1, &e, &count) : !refuse(p, "it is none of '{', '}', 'C', 'I', 'L', 'F', 'D'"))
        return false;
    return add_field(p, m, e, count);
}

/* At most DEPTH_MOST of these call each other. */
static bool parse_braces(parsing *p, unsigned depth, element *e, size_t *count)
{
    const size_t number = p->braces;
    members m = {.align = 1};
    if (!open_braces(p, depth, count))
        return false;
    m.fields = g_array_new(FALSE, FALSE, sizeof(dome_field));
    g_array_set_clear_func(m.fields, clear_field);
    bool good = true;
    while (good && p->text[p->at] != '}')
        good = parse_member(p, depth, &m);
    if (good && m.fields->len == 0)
        good = refuse(p, "there is nothing in these braces");
    if (good) {
        p->at++;
        *e = finish(p, &m, number);
        good = e->type != NULL;
    }
    g_array_unref(m.fields);
    return good;
}

/* ---- the whole ---- */

static dome_type parse(parsing *p, size_t size)
{
    element e;
    size_t count;
    if (!parse_braces(p, 1, &e, &count))
        return NULL;
    if (p->text[p->at] != '\0')
        return refuse(p, "something follows the last '}'"), NULL;
    if (p->braces != p->ncounts)
        return refuse(p, "there are more counts than braces"), NULL;
    if (dome_type_size(e.type) != size) {
        p->status = dome__fail(p->env, DOME_ERR_ARGUMENT, "an element of type string '%s' of '%s' has %zu bytes, and not %zu",
                               p->text, p->name, dome_type_size(e.type), size);
        return NULL;
    }
    return e.type;
}

dome_type dome_type_parse(dome_env *env, const char *name, const char *text, const size_t *counts, size_t ncounts, size_t size)
{
    DOME_NEEDS(env, "the environment", NULL);
    DOME_NEEDS(name, "the name", NULL);
    DOME_NEEDS(text, "the type string", NULL);
    DOME_NEEDS(counts, "the list of counts", NULL);
    dome_operation op;
    uint64_t hash = dome__hash_bytes(0, text, strlen(text));
    for (size_t k = 0; k < ncounts; k++)
        hash = dome__hash(hash, counts[k]);
    dome__begin_with(&op, env, DOME_OP_TYPE_PARSE, NULL, (uint64_t[]){dome__text_word(env, name), hash}, 2);
    parsing p = {.env = env, .name = name, .text = text, .counts = counts, .ncounts = ncounts};
    const dome_type type = parse(&p, size);
    dome__end(&op, p.status);
    return type;
}
