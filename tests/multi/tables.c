/* Text files of columns compared with a model of what was written (models.h), on random formats: separators, quotes, comments,
 * ends of lines, missing values, records that are longer than a task's part of the file; files that must be refused, with the
 * place of the first mistake; and printed vectors. Arguments: a seed and a number of rounds. */
#include "mixed_formats.h"
#include "models.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

static char folder[200];

static void make_folder(void)
{
    if (dome_rank(env) == 0) {
        char *path = g_build_filename(g_get_tmp_dir(), "dome-tables-XXXXXX", NULL);
        EXPECT(g_mkdtemp(path) && strlen(path) < sizeof folder, "no folder %s", path);
        strcpy(folder, path);
        g_free(path);
    }
    dome_bcast(env, 0, DOME_U8, folder, sizeof folder);
}

/* All tasks see the file, or even ranks alone. */
static void stand(bool all)
{
    EXPECT(chdir(all || dome_rank(env) % 2 == 0 ? folder : "/") == 0, "no folder %s", folder);
}

static void make_file(const char *text, size_t bytes)
{
    dome_barrier(env);
    if (dome_rank(env) == 0)
        EXPECT(g_file_set_contents("t.csv", text, (gssize)bytes, NULL), "no file");
    dome_barrier(env);
}

static void remove_folder(void)
{
    dome_barrier(env);
    if (dome_rank(env) == 0)
        EXPECT(unlink("t.csv") == 0 && chdir("/") == 0 && rmdir(folder) == 0, "more is in the folder than the file");
}

/* ---- random files ---- */

enum { COLUMNS = 6 };

typedef struct column {
    dome_type type;
    size_t width; /* 0: numbers */
    char name[40];
    char *values;
} column;

typedef struct table {
    char separator, comment;
    const char *end; /* of lines */
    size_t n, columns;
    bool names;
    column column[COLUMNS];
    GString *text;
} table;

static size_t element(const column *c)
{
    return c->width ? c->width : dome_type_size(c->type);
}

/* Writes a field: in quotes if it must be, and sometimes otherwise. */
static void put_field(table *t, const char *text)
{
    const bool blanks = t->separator == ' ';
    bool quotes = draw(5) == 0 || (blanks && !*text);
    for (const char *at = text; *at; at++)
        quotes = quotes || strchr("\" \t\r\n", *at) || *at == t->separator || (t->comment && *at == t->comment);
    if (draw(4) == 0)
        g_string_append(t->text, draw(2) ? " " : "  ");
    if (quotes)
        g_string_append_c(t->text, '"');
    for (const char *at = text; *at; at++)
        g_string_append(t->text, quotes && *at == '"' ? "\"\"" : (char[]){*at, 0});
    if (quotes)
        g_string_append_c(t->text, '"');
    if (draw(4) == 0)
        g_string_append(t->text, " ");
}

static void put_separator(table *t)
{
    g_string_append_c(t->text, t->separator == ' ' && draw(3) == 0 ? '\t' : t->separator);
}

/* A line that is no record. */
static void put_nothing(table *t)
{
    for (; draw(6) == 0; g_string_append(t->text, t->end)) {
        if (draw(2))
            g_string_append(t->text, "  ");
        if (t->comment && draw(2))
            g_string_append_printf(t->text, "%c says \"nothing%c 1", t->comment, t->separator);
    }
}

static void put_end(table *t, bool last)
{
    if (t->comment && draw(8) == 0)
        g_string_append_printf(t->text, "%c it's \"one", t->comment);
    if (!last || draw(2))
        g_string_append(t->text, t->end);
}

/* A number as text, and its value as the C library reads it. */
static void put_number(table *t, const column *c, char *to)
{
    static const char *const missing[] = {"", "NA", "nan", "NULL", "n/a", "None"};
    char text[60];
    const uint64_t bits = (uint64_t)draw(1 << 16) << 48 | (uint64_t)draw(1 << 24) << 24 | draw(1 << 24);
    const double real =
        (draw(2) ? 1 : -1) * (double)draw(1 << 24) / (draw(2) ? 1 : 1 + draw(1000)) * pow(10, (double)draw(40) - 20);
    if (is_real(c->type)) {
        snprintf(text, sizeof text, draw(2) ? "%.17g" : "%.6f", real);
        if (draw(10) == 0)
            snprintf(text, sizeof text, "%s", draw(3) ? missing[draw(G_N_ELEMENTS(missing))] : draw(2) ? "-inf" : "+1E5");
        const bool number = *text && (strchr("+-.0123456789", *text));
        const double wide = number ? strtod(text, NULL) : NAN;
        const float narrow = number ? strtof(text, NULL) : NAN;
        memcpy(to, c->type == DOME_F64 ? (const void *)&wide : (const void *)&narrow, dome_type_size(c->type));
    } else {
        const unsigned shift = 64 - 8 * (unsigned)dome_type_size(c->type);
        if (dome_type_kind_of(c->type) <= DOME_KIND_I64)
            snprintf(text, sizeof text, "%" PRId64, (int64_t)bits >> shift);
        else
            snprintf(text, sizeof text, "%s%" PRIu64, draw(4) ? "" : "+", bits >> shift);
        const uint64_t value = dome_type_kind_of(c->type) <= DOME_KIND_I64 ? (uint64_t)((int64_t)bits >> shift) : bits >> shift;
        switch (dome_type_size(c->type)) {
        case 1:
            memcpy(to, &(uint8_t){(uint8_t)value}, 1);
            break;
        case 2:
            memcpy(to, &(uint16_t){(uint16_t)value}, 2);
            break;
        case 4:
            memcpy(to, &(uint32_t){(uint32_t)value}, 4);
            break;
        default:
            memcpy(to, &value, 8);
        }
    }
    put_field(t, text);
}

static void put_text(table *t, const column *c, char *to)
{
    static const char letters[] = "abc ,;\t|#\"\n\r\xc3\xa4Z.5";
    char text[100] = "";
    size_t length = draw(3) ? draw(c->width + 1) : draw(2) * c->width;
    for (size_t k = 0; k < length; k++)
        text[k] = letters[draw(draw(2) ? 3 : sizeof letters - 1)];
    memset(to, 0, c->width);
    memcpy(to, text, length);
    /* blanks around a text without quotes are no part of it */
    put_field(t, text);
}

static table make_table(void)
{
    const dome_type types[] = {DOME_F64, DOME_F64, DOME_F32, DOME_I8,  DOME_I16, DOME_I32,
                               DOME_I64, DOME_U8,  DOME_U16, DOME_U32, DOME_U64};
    table t = {.separator = ",;\t| "[draw(5)], .comment = draw(2) ? '#' : 0, .end = draw(3) ? "\n" : "\r\n", .names = draw(2)};
    t.n = draw(4) ? draw(60) : draw(3) * 150;
    t.columns = 1 + draw(COLUMNS);
    t.text = g_string_new(draw(4) ? "" : "\xef\xbb\xbf");
    for (size_t k = 0; k < t.columns; k++) {
        column *c = &t.column[k];
        c->width = draw(3) ? 0 : 1 + draw(draw(5) ? 8 : 60);
        c->type = c->width ? DOME_U8 : types[draw(G_N_ELEMENTS(types))];
        snprintf(c->name, sizeof c->name, "%s%zu%s", draw(3) ? "column " : "\"x\" ", k, draw(3) ? "" : " (m, s)");
        c->values = malloc(t.n * element(c) + 1);
    }
    put_nothing(&t);
    for (size_t k = 0; t.names && k < t.columns; k++) {
        if (k > 0)
            put_separator(&t);
        put_field(&t, t.column[k].name);
    }
    if (t.names)
        put_end(&t, false);
    for (size_t i = 0; i < t.n; i++) {
        put_nothing(&t);
        for (size_t k = 0; k < t.columns; k++) {
            const column *c = &t.column[k];
            if (k > 0)
                put_separator(&t);
            const gsize before = t.text->len;
            (c->width ? put_text : put_number)(&t, c, c->values + i * element(c));
            if (t.columns == 1 && strspn(t.text->str + before, " \t") == t.text->len - before) /* not a line without a field */
                g_string_append(t.text, "\"\"");
        }
        put_end(&t, i + 1 == t.n);
    }
    if (draw(2))
        put_nothing(&t);
    return t;
}

static void drop_table(table *t)
{
    for (size_t k = 0; k < t->columns; k++)
        free(t->column[k].values);
    g_string_free(t->text, TRUE);
}

/* Some of the columns in any order, by name or number. */
static void test_columns(void)
{
    table t = make_table();
    dvec_column columns[COLUMNS];
    dvec *found[COLUMNS];
    size_t of[COLUMNS], n = 1 + draw(t.columns);
    for (size_t k = 0; k < n; k++) {
        of[k] = draw(t.columns);
        const column *c = &t.column[of[k]];
        columns[k] = DVEC_COLUMN(.number = of[k], .type = c->width && draw(2) ? NULL : c->type, .width = c->width);
        if (t.names && (k == 0 || draw(2)))
            columns[k].name = c->name;
    }
    const dome_distribution distribution = draw(2) ? DOME_DYNAMIC : (dome_distribution)draw(3);
    make_file(t.text->str, t.text->len);
    dome_status status = dvec_read_columns(env, "t.csv", n, columns,
                                           DVEC_TEXT_OPTIONS(.separator = t.separator, .comment = t.comment,
                                                             .distribution = distribution, .block = draw(2) ? 0 : 16),
                                           found);
    EXPECT(status == DOME_OK, "%s", t.text->str);
    for (size_t k = 0; k < n; k++) {
        const column *c = &t.column[of[k]];
        EXPECT(dvec_type(found[k]) == c->type && dvec_width(found[k]) == MAX(c->width, 1), "column %zu has another type", of[k]);
        check(found[k], t.n, element(c), c->values, t.text->str);
        dvec_free(found[k]);
    }
    drop_table(&t);
}

/* All columns are numbers of one type. */
static void test_matrix(void)
{
    const dome_type type = draw(2) ? DOME_F64 : draw(2) ? DOME_F32 : DOME_I32;
    table t = {.separator = ", "[draw(2)],
               .comment = '#',
               .end = "\n",
               .n = draw(80),
               .columns = 1 + draw(9),
               .text = g_string_new(NULL)};
    const column c = {.type = type};
    const size_t skip = draw(3), size = dome_type_size(type);
    char *values = malloc(t.n * t.columns * size + 1);
    for (size_t k = 0; k < skip; k++)
        g_string_append(t.text, draw(2) ? "a line, \"without end\n" : "\n");
    for (size_t i = 0; i < t.n; i++) {
        for (size_t k = 0; k < t.columns; k++) {
            if (k > 0)
                put_separator(&t);
            const gsize before = t.text->len;
            put_number(&t, &c, values + (i * t.columns + k) * size);
            if (t.columns == 1 && strspn(t.text->str + before, " \t") == t.text->len - before)
                g_string_append(t.text, "\"\"");
        }
        put_end(&t, i + 1 == t.n);
    }
    make_file(t.text->str, t.text->len);
    dvec *x = dvec_read_text(env, NULL, "t.csv",
                             DVEC_TEXT_OPTIONS(.separator = t.separator, .comment = '#', .skip = skip, .type = type));
    EXPECT(x && dvec_width(x) == (t.n ? t.columns : 1), "%s", t.text->str);
    check(x, t.n, (t.n ? t.columns : 1) * size, values, t.text->str);
    dvec_free(x);
    free(values);
    g_string_free(t.text, TRUE);
}

/* Records that are longer than the pieces in which the file is read, and than any task's part; and one with many records. */
static void test_large(void)
{
    enum { LONG = 3 << 20, MANY = 200000 };
    GString *text = g_string_new("1,\"");
    for (int k = 0; k < LONG / 16; k++)
        g_string_append(text, k % 3 ? "fifteen bytes.\n\n" : "\"\"\"\", quotes\r\n\"\"");
    g_string_append(text, "\",2\n3,x,4\n");
    make_file(text->str, text->len);
    dvec *v[2];
    const dvec_column ends[] = {DVEC_COLUMN(.number = 0), DVEC_COLUMN(.number = 2, .type = DOME_I16)};
    EXPECT(dvec_read_columns(env, "t.csv", 2, ends, NULL, v) == DOME_OK, "a long record");
    check(v[0], 2, 8, (const char *)(double[]){1, 3}, "a long record");
    check(v[1], 2, 2, (const char *)(int16_t[]){2, 4}, "a long record");
    dvec_free(v[0]);
    dvec_free(v[1]);
    g_string_truncate(text, 0);
    for (int k = 0; k < MANY; k++)
        g_string_append_printf(text, "%d,%d.%d\n", k, k % 1000, k % 7);
    make_file(text->str, text->len);
    dvec *x = dvec_read_text(env, NULL, "t.csv", NULL), *sum = dvec_new_with(env, NULL, DOME_F64, MANY, DVEC_OPTIONS(.width = 2));
    EXPECT(x && dvec_length(x) == MANY && dvec_width(x) == 2, "many records");
    double sums[2];
    dvec_column_sums(x, NULL, sums);
    EXPECT(sums[0] == (double)MANY * (MANY - 1) / 2, "many records: the sum is %.17g", sums[0]);
    double pair[2];
    dvec_get(x, 123456, pair);
    EXPECT(pair[0] == 123456 && pair[1] == 456.4, "many records: %g %g", pair[0], pair[1]);
    dvec_free(x);
    dvec_free(sum);
    g_string_free(text, TRUE);
}

/* ---- mistakes ---- */

static void expect_bad(const char *text, const dvec_text_options *options, const char *message)
{
    dvec *v[2] = {NULL, NULL};
    const dvec_column columns[] = {DVEC_COLUMN(.name = "a"), DVEC_COLUMN(.name = "b", .type = DOME_I8)};
    make_file(text, strlen(text));
    EXPECT(dvec_read_columns(env, "t.csv", 2, columns, options, v) == DOME_ERR_FORMAT && !v[0] && !v[1], "%s is read", text);
    EXPECT(strstr(dome_error_message(env), message), "%s: the line is '%s'", text, dome_error_message(env));
    dome_error_clear(env);
}

/* A file with one mistake, or with several of which the first one counts, between records without. */
static void test_mistakes(void)
{
    dvec *v[1];
    dome_set_errors_return(env);
    for (int before = 0; before < 60; before += 59) {
        static const struct {
            const char *line, *message;
        } cases[] = {
            {"x,1", "byte 1 (column 'a'): 'x' is not a number"},
            {" 1.5.2 ,1", "byte 2 (column 'a'): '1.5.2' is not a number"},
            {"1, 1.0", "byte 4 (column 'b'): '1.0' is not a whole number"},
            {"1,128", "byte 3 (column 'b'): '128' is no value of type i8"},
            {"1,-99999999999999999999", "'-99999999999999999999' is no value of type i8"},
            {"1,", "byte 3 (column 'b'): '' is missing"},
            {"1,NA", "'NA' is missing"},
            {"1", "has 1 fields, and the first one 2"},
            {"1,2,3", "has 3 fields, and the first one 2"},
            {"1,\"2\"3", "'2' goes on behind its quote"},
            {"1,\"2", "is a quoted field without an end"},
            {"0x10,1", "'0x10' is not a number"},
            {"1,\"\001\033[31m\"", "'?\?[31m' is not a whole number"},
            {"\"a long text without any sense that goes on and on\",1", "'a long text without any sense that goes ...'"},
        };
        for (size_t k = 0; k < G_N_ELEMENTS(cases); k++) {
            GString *text = g_string_new("a,b\n");
            char *where = g_strdup_printf("'t.csv', line %d", before + 2);
            for (int line = 0; line < before; line++)
                g_string_append(text, "1.5,2\n");
            g_string_append_printf(text, "%s\n", cases[k].line);
            for (int line = 0; line < 30; line++)
                g_string_append(text, line == 10 ? "y,z\n" : "NA,-128\n");
            expect_bad(text->str, NULL, cases[k].message);
            expect_bad(text->str, NULL, where);
            g_free(where);
            g_string_free(text, TRUE);
        }
    }
    expect_bad("a,b\n\"1\",\"2\"\n\"1\",\"\n\n3 x\"\n", NULL, "line 3, byte 6 (column 'b'): '??3 x' is not");
    expect_bad("a,b\n,1\n", DVEC_TEXT_OPTIONS(.complete = true), "byte 1 (column 'a'): '' is missing");
    expect_bad("a,c\n1,2\n", NULL, "has no column 'b'; its columns are 'a', 'c'");
    expect_bad("a,b,a\n1,2,3\n", NULL, "has two columns 'a'");
    expect_bad("", NULL, "has no line with the names");
    expect_bad("# nothing\n", DVEC_TEXT_OPTIONS(.comment = '#'), "has no line with the names");
    expect_bad("\x1f\x8b...", NULL, "is compressed by gzip");
    expect_bad("\xff\xfe...", NULL, "is in UTF-16");
    expect_bad("a,b\r1,2\r3,4\r", NULL, "has lines that end with carriage returns alone");
    const dvec_column far[] = {DVEC_COLUMN(.number = 2)}, wide[] = {DVEC_COLUMN(.width = 3)},
                      phases[] = {DVEC_COLUMN(.type = DOME_C64)};
    make_file("1,2\nabcd,\n", 10);
    EXPECT(dvec_read_columns(env, "t.csv", 1, far, NULL, v) == DOME_ERR_FORMAT, "a column that is not there");
    expect_failure(DOME_ERR_FORMAT, "has 2 columns, and number 2 (from 0) is wanted");
    dvec_read_columns(env, "t.csv", 1, wide, NULL, v);
    expect_failure(DOME_ERR_FORMAT, "line 2, byte 1 (column 0, from 0): 'abcd' is longer");
    dvec_read_columns(env, "t.csv", 1, phases, NULL, v);
    expect_failure(DOME_ERR_TYPE, "c64");
    dvec_read_columns(env, "t.csv", 0, NULL, NULL, v);
    expect_failure(DOME_ERR_ARGUMENT, "no column is named");
    dvec_read_columns(env, "none.csv", 1, far, NULL, v);
    expect_failure(DOME_ERR_IO, "none.csv");
    EXPECT(!dvec_read_text(env, NULL, "t.csv", DVEC_TEXT_OPTIONS(.separator = '5')), "a separator of numbers");
    expect_failure(DOME_ERR_ARGUMENT, "cannot separate");
    EXPECT(!dvec_read_text(env, NULL, "t.csv", NULL), "texts are read as numbers");
    expect_failure(DOME_ERR_FORMAT, "line 2, byte 1 (column 0, from 0): 'abcd' is not a number");
}

/* ---- printing ---- */

struct reading {
    int32_t station;
    double value[2];
};

static void test_text(void)
{
    const dome_field fields[] = {{"station", DOME_I32, offsetof(struct reading, station), 1},
                                 {"value", DOME_F64, offsetof(struct reading, value), 2}};
    const dome_type type = dome_type_struct(env, "reading", sizeof(struct reading), fields, 2, sizeof *fields);
    dvec *x = dvec_new_with(env, "readings", type, 2000, DVEC_OPTIONS(.block = 64)), *whole = dvec_new(env, "whole", DOME_I16, 0);
    dvec_span spans[2];
    for (int k = 0; k < 2; k++) {
        if (k > 0)
            relayout(2000, 64);
        dvec_local_spans(x, spans);
        for (int s = 0; s < 2; s++)
            for (size_t i = 0; i < spans[s].count; i++)
                ((struct reading *)spans[s].data)[i] =
                    (struct reading){(int32_t)(spans[s].first + i) - 9, {(double)(spans[s].first + i) / 8, -1}};
        EXPECT(strcmp(dvec_text(x), "readings: reading, 2000\n"
                                    "[(  -9, [ 0.00000e+00, -1.00000e+00]) (  -8, [ 1.25000e-01, -1.00000e+00])\n"
                                    " (  -7, [ 2.50000e-01, -1.00000e+00]) ...\n"
                                    " (1988, [ 2.49625e+02, -1.00000e+00]) (1989, [ 2.49750e+02, -1.00000e+00])\n"
                                    " (1990, [ 2.49875e+02, -1.00000e+00])]") == 0,
               "another text: %s", dvec_text(x));
    }
    EXPECT(strcmp(dvec_text(whole), "whole: i16, 0\n[]") == 0, "%s", dvec_text(whole));
    dvec_free(x);
    dvec_free(whole);
}

int main(int argc, char **argv)
{
    env = dome_init(&argc, &argv);
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    int rounds = argc > 2 ? atoi(argv[2]) : 80;
    make_folder();
    for (round_number = 0; round_number < rounds; round_number++) {
        draw_state = seed * 1000003 + (uint64_t)round_number;
        if (round_number == rounds * 3 / 4)
            pretend_mixed_formats(env);
        stand(draw(3));
        if (round_number % 4)
            test_columns();
        else
            test_matrix();
    }
    stand(false);
    test_large();
    test_text();
    test_mistakes();
    stand(true);
    remove_folder();
    return dome_finalize(env);
}
