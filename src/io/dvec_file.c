/* Vectors in files: the operations, which choose the format by the path. */
#include "io/file_formats.h"
#include "objects/dvec_private.h"

#include <string.h>

/* A format is a line here. The first that takes the path is used; .npy takes every path. */
static const dome_file_format *const formats[] = {
    &dome__hdf5_format,
    &dome__zarr_format,
    &dome__npy_format,
};

static const dome_file_format *format_of(const char *path)
{
    size_t i = 0;
    while (!formats[i]->takes(path))
        i++;
    return formats[i];
}

static dvec *read_from(dome_operation_code code, dome_env *env, const char *name, const char *path, const dvec_options *options)
{
    dvec_options copy;
    const bool known = dvec__options(&options, &copy);
    dome_operation op;
    uint64_t words[5] = {dome__text_word(env, name), dome__text_word(env, path)};
    if (options)
        memcpy(&words[2], (uint64_t[]){options->distribution, options->width, options->block}, 3 * sizeof *words);
    dome__begin_with(&op, env, code, NULL, words, options ? 5 : 2);
    if (!known) {
        dome__end(&op, dvec__unknown_options(env, options));
        return NULL;
    }
    if (!path || !*path) {
        dome__end(&op, dome__fail(env, DOME_ERR_ARGUMENT, "no file is named"));
        return NULL;
    }
    dvec *x = format_of(path)->read(env, name, path, options);
    dome__end(&op, x ? DOME_OK : dome_error_status(env));
    return x;
}

dvec *dvec_read(dome_env *env, const char *name, const char *path)
{
    DOME_NEEDS(env, "the environment", NULL);
    return read_from(DOME_OP_DVEC_READ, env, name, path, NULL);
}

dvec *dvec_read_with(dome_env *env, const char *name, const char *path, const dvec_options *options)
{
    DOME_NEEDS(env, "the environment", NULL);
    return read_from(DOME_OP_DVEC_READ_WITH, env, name, path, options);
}

dome_status dvec_write(const dvec *x, const char *path)
{
    DOME_NEEDS(x, "the vector", DOME_ERR_ARGUMENT);
    dome_operation op;
    dome__begin(&op, x->env, DOME_OP_DVEC_WRITE, x->object, dome__text_word(x->env, path));
    if (!path || !*path)
        return dome__end(&op, dome__fail(x->env, DOME_ERR_ARGUMENT, "no file is named"));
    int status = dvec__settle(x, NULL);
    if (!status)
        status = format_of(path)->write(x, path);
    return dome__end(&op, status);
}
