#include "files/file_item.h"
#include "objects/dvec_private.h"

#include <string.h>

int dvec__shape(const dvec *x, uint64_t shape[DOME_MAX_DIMENSIONS])
{
    if (x->ndim > 0) {
        memcpy(shape, x->shape, (size_t)x->ndim * sizeof *shape);
        return x->ndim;
    }
    shape[0] = x->length;
    shape[1] = x->width;
    return x->width == 1 ? 1 : 2;
}

bool dvec__shape_fits(const dvec *x, int ndim, const uint64_t shape[])
{
    uint64_t length;
    return ndim == 0 || (ndim > 0 && ndim <= DOME_MAX_DIMENSIONS && dome__shape_split(ndim, shape, x->width, &length) >= 0 &&
                         length == x->length);
}

void dvec__take_shape(dvec *x, int ndim, const uint64_t shape[])
{
    x->ndim = ndim;
    if (ndim > 0)
        memcpy(x->shape, shape, (size_t)ndim * sizeof *shape);
}

bool dvec__plane(const dvec *x, uint64_t *planes, uint64_t *elements)
{
    uint64_t shape[DOME_MAX_DIMENSIONS], length;
    int leading = dome__shape_split(dvec__shape(x, shape), shape, x->width, &length);
    *planes = shape[0];
    *elements = 1;
    for (int d = 1; d < leading; d++)
        *elements *= shape[d];
    return leading > 0;
}

int dvec_shape(const dvec *x, uint64_t shape[DOME_MAX_DIMENSIONS])
{
    DOME_NEEDS(x, "the vector", 0);
    DOME_NEEDS(shape, "the place for the shape", 0);
    return dvec__shape(x, shape);
}

/* "2 x 3 x 4", g_free'd by the caller. */
static char *shown(int ndim, const uint64_t shape[])
{
    GString *text = g_string_new(NULL);
    for (int d = 0; d < ndim; d++)
        g_string_append_printf(text, d ? " x %" G_GUINT64_FORMAT : "%" G_GUINT64_FORMAT, shape[d]);
    return g_string_free(text, FALSE);
}

static int check_shape(const dvec *x, int ndim, const uint64_t shape[])
{
    if (ndim < 0 || ndim > DOME_MAX_DIMENSIONS)
        return dome__fail(x->env, DOME_ERR_ARGUMENT, "%d dimensions: 0 to %d are possible", ndim, DOME_MAX_DIMENSIONS);
    if (ndim > 0 && !shape)
        return dome__fail(x->env, DOME_ERR_ARGUMENT, "there is no shape");
    if (dvec__shape_fits(x, ndim, shape))
        return DOME_OK;
    char *text = shown(ndim, shape);
    int status = dome__fail(x->env, DOME_ERR_SHAPE,
                            "a shape of %s does not fit %" G_GUINT64_FORMAT " elements of %" G_GUINT64_FORMAT " values", text,
                            x->length, x->width);
    g_free(text);
    return status;
}

dome_status dvec_set_shape(dvec *x, int ndim, const uint64_t shape[])
{
    DOME_NEEDS(x, "the vector", DOME_ERR_ARGUMENT);
    dome_operation op;
    uint64_t words[1 + DOME_MAX_DIMENSIONS] = {(uint64_t)ndim};
    size_t count = shape && ndim > 0 ? (size_t)MIN(ndim, DOME_MAX_DIMENSIONS) : 0;
    if (count)
        memcpy(words + 1, shape, count * sizeof *words);
    dome__begin_with(&op, x->env, DOME_OP_DVEC_SET_SHAPE, x->object, words, 1 + count);
    int status = check_shape(x, ndim, shape);
    if (!status)
        dvec__take_shape(x, ndim, shape);
    return dome__end(&op, status);
}
