/* Vectors from text files of columns: the operations. */
#include "io/dvec_csv.h"

#include "core/type_private.h"
#include "system/sized.h"
#include "transport/agree.h"
#include "transport/collective.h"
#include "transport/transport.h"

#include <string.h>

/* Tells all tasks what rank 0 has found. */
static int share_first(dvec_csv *r)
{
    dome_env *env = r->file.env;
    const uint64_t count = 3 + r->nwanted;
    uint64_t *words = g_new(uint64_t, count);
    words[0] = r->fields;
    words[1] = r->first_byte;
    words[2] = r->lines;
    for (uint64_t k = 0; k < r->nwanted; k++)
        words[3 + k] = r->wanted[k].number;
    int failed = dome__bcast(env->transport, 0, DOME_U64, words, count);
    r->fields = words[0];
    r->first_byte = words[1];
    r->lines = words[2];
    for (uint64_t k = 0; k < r->nwanted; k++)
        r->wanted[k].number = words[3 + k];
    g_free(words);
    return failed ? dome__fail_transport(env, failed) : DOME_OK;
}

/* ---- vectors ---- */

/* The elements of a vector that every task has complete come by way of one that is spread. */
static int make_vector(dvec_csv *r, dvec_csv_output *o)
{
    dome_env *env = r->file.env;
    const bool whole = r->options.distribution == DOME_WHOLE;
    dvec_options options = {
        .size = sizeof options, .distribution = r->options.distribution, .width = (size_t)o->width, .block = r->options.block};
    o->vector = dvec_new_with(env, o->name, o->type, r->total, &options);
    if (!o->vector)
        return (int)dome_error_status(env);
    options.distribution = DOME_BLOCK;
    dvec *spread = whole ? dvec_new_with(env, NULL, o->type, r->total, &options) : o->vector;
    if (!spread)
        return (int)dome_error_status(env);
    dvec__complete(spread);
    int status = dvec__deliver(spread, r->ranges, o->values);
    dvec__overwritten(spread);
    if (whole) {
        status = status ? status : (int)dvec_copy(o->vector, spread);
        dvec_free(spread);
    }
    return status;
}

static int make_vectors(dvec_csv *r)
{
    int status = DOME_OK;
    for (uint64_t k = 0; k < r->noutputs && !status; k++) {
        status = make_vector(r, &r->outputs[k]);
        dome__storage_free(r->outputs[k].values);
        r->outputs[k].values = NULL;
    }
    for (uint64_t k = 0; k < r->noutputs && status; k++) {
        dvec_free(r->outputs[k].vector);
        r->outputs[k].vector = NULL;
    }
    return status;
}

/* All columns in one output, whose width their number is. */
static void want_all(dvec_csv *r)
{
    r->nwanted = r->fields;
    r->wanted = g_new0(dvec_csv_wanted, MAX(r->fields, 1));
    for (uint64_t k = 0; k < r->fields; k++)
        r->wanted[k] = (dvec_csv_wanted){.number = k, .place = k};
    r->outputs[0].width = MAX(r->fields, 1);
}

/* r has the options, the wanted columns and the outputs. */
static int read_file(dvec_csv *r, dome_env *env, const char *path)
{
    dome__shared_begin(&r->file, env, path);
    r->ranges = dvec__new_ranges(env);
    if (env->rank == 0)
        dvec__csv_open(r);
    int status = dome__shared_agree(&r->file);
    if (!status)
        status = share_first(r);
    if (!status && r->matrix)
        want_all(r);
    if (!status)
        status = dvec__csv_read(r);
    if (!status)
        status = make_vectors(r);
    for (uint64_t k = 0; k < r->noutputs; k++)
        dome__storage_free(r->outputs[k].values);
    g_free(r->ranges);
    g_free(r->field);
    g_free(r->scratch);
    dome__shared_end(&r->file);
    return status;
}

/* ---- the operations ---- */

static int check_type(dome_env *env, dome_type type)
{
    if (dome_type_kind_of(type) > DOME_KIND_F64)
        return dome__fail(env, DOME_ERR_TYPE, "texts are not read as values of type %s", dome_type_name(type));
    return DOME_OK;
}

static int take_options(dome_env *env, dvec_csv *r, const dvec_text_options *given)
{
    dvec_text_options *o = &r->options;
    *o = (dvec_text_options){.size = sizeof *o};
    if (given && !dome__sized_copy(o, sizeof *o, given, given->size, sizeof *o))
        return dome__fail(
            env, DOME_ERR_ARGUMENT,
            "the options have size %zu instead of %zu, or one that this library does not know: use DVEC_TEXT_OPTIONS",
            given->size, sizeof *o);
    if (!o->separator)
        o->separator = ',';
    if (!o->type)
        o->type = DOME_F64;
    if (!dome__csv_format(&r->format, o->separator, o->comment))
        return dome__fail(env, DOME_ERR_ARGUMENT, "the characters %d and %d cannot separate fields and begin comments",
                          o->separator, o->comment);
    return check_type(env, o->type);
}

/* Takes the program's columns, which may be of another size than this library's. */
static int take_columns(dome_env *env, dvec_csv *r, size_t n, const dvec_column given[])
{
    const char *at = (const char *)given;
    if (n == 0 || !given)
        return dome__fail(env, DOME_ERR_ARGUMENT, "no column is named");
    r->wanted = g_new0(dvec_csv_wanted, n);
    r->outputs = g_new0(dvec_csv_output, n);
    for (size_t k = 0; k < n; k++) {
        dvec_column c;
        const size_t size = given->size;
        memcpy(&c.size, at + k * size, sizeof c.size);
        if (c.size != size || !dome__sized_copy(&c, sizeof c, at + k * size, size, sizeof c))
            return dome__fail(env, DOME_ERR_ARGUMENT,
                              "column %zu has size %zu instead of %zu, or one that this library does not know: use DVEC_COLUMN",
                              k, c.size, sizeof c);
        const dome_type type = c.type ? c.type : c.width ? DOME_U8 : DOME_F64;
        if (c.width && type != DOME_U8)
            return dome__fail(env, DOME_ERR_TYPE, "column %zu has a width, which is for texts of type u8, and type %s", k,
                              dome_type_name(type));
        int status = check_type(env, type);
        if (status)
            return status;
        r->wanted[r->nwanted++] = (dvec_csv_wanted){.name = c.name, .number = c.number, .output = k};
        r->outputs[r->noutputs++] =
            (dvec_csv_output){.name = c.vector, .type = type, .text = c.width > 0, .width = c.width ? c.width : 1};
    }
    return DOME_OK;
}

static void end_reading(dvec_csv *r)
{
    g_free(r->wanted);
    g_free(r->outputs);
}

static uint64_t columns_word(dome_env *env, size_t n, const dvec_column columns[])
{
    uint64_t hash = n;
    for (size_t k = 0; columns && k < n && columns->size == sizeof *columns; k++) {
        const dvec_column *c = &columns[k];
        hash = dome__hash(hash, dome__text_word(env, c->name));
        hash = dome__hash(hash, dome__text_word(env, c->vector));
        hash = dome__hash(hash, c->type ? dome__type_word(env, c->type) : 0);
        hash = dome__hash(dome__hash(hash, c->number), c->width);
    }
    return hash;
}

static uint64_t options_word(dome_env *env, const dvec_text_options *o)
{
    if (!o || o->size != sizeof *o)
        return 0;
    uint64_t hash = dome__hash((uint64_t)(uint8_t)o->separator << 8 | (uint8_t)o->comment, o->complete);
    hash = dome__hash(dome__hash(hash, o->skip), o->type ? dome__type_word(env, o->type) : 0);
    return dome__hash(dome__hash(hash, o->distribution), o->block);
}

dome_status dvec_read_columns(dome_env *env, const char *path, size_t n, const dvec_column columns[],
                              const dvec_text_options *options, dvec *vectors[])
{
    DOME_NEEDS(env, "the environment", DOME_ERR_ARGUMENT);
    dome_operation op;
    dvec_csv r = {.nwanted = 0};
    const uint64_t words[] = {dome__text_word(env, path), columns_word(env, n, columns), options_word(env, options)};
    dome__begin_with(&op, env, DOME_OP_DVEC_READ_COLUMNS, NULL, words, G_N_ELEMENTS(words));
    int status = path && *path ? DOME_OK : (int)dome__fail(env, DOME_ERR_ARGUMENT, "no file is named");
    if (!status && !vectors)
        status = dome__fail(env, DOME_ERR_ARGUMENT, "there is no place for the vectors");
    for (size_t k = 0; vectors && k < n; k++)
        vectors[k] = NULL;
    if (!status)
        status = take_options(env, &r, options);
    if (!status)
        status = take_columns(env, &r, n, columns);
    if (!status)
        status = read_file(&r, env, path);
    for (size_t k = 0; k < n && !status; k++)
        vectors[k] = r.outputs[k].vector;
    end_reading(&r);
    return dome__end(&op, status);
}

dvec *dvec_read_text(dome_env *env, const char *name, const char *path, const dvec_text_options *options)
{
    DOME_NEEDS(env, "the environment", NULL);
    dome_operation op;
    dvec_csv r = {.matrix = true, .noutputs = 1, .outputs = g_new0(dvec_csv_output, 1)};
    const uint64_t words[] = {dome__text_word(env, name), dome__text_word(env, path), options_word(env, options)};
    dome__begin_with(&op, env, DOME_OP_DVEC_READ_TEXT, NULL, words, G_N_ELEMENTS(words));
    int status = path && *path ? DOME_OK : (int)dome__fail(env, DOME_ERR_ARGUMENT, "no file is named");
    if (!status)
        status = take_options(env, &r, options);
    if (!status) {
        r.outputs[0] = (dvec_csv_output){.name = name, .type = r.options.type, .width = 1};
        status = read_file(&r, env, path);
    }
    dvec *x = status ? NULL : r.outputs[0].vector;
    end_reading(&r);
    dome__end(&op, status);
    return x;
}
