/* Single elements by index. */
#include "core/type_private.h"
#include "objects/dvec_private.h"
#include "transport/agree.h"
#include "transport/collective.h"
#include "transport/transport.h"

#include <string.h>

static int check_element(const dvec *x, uint64_t index, const void *element)
{
    if (!element)
        return dome__fail(x->env, DOME_ERR_ARGUMENT, "there is no place for the element");
    if (index >= x->length)
        return dome__fail(x->env, DOME_ERR_RANGE, "index %" G_GUINT64_FORMAT " is outside the %" G_GUINT64_FORMAT " elements",
                          index, x->length);
    return DOME_OK;
}

/* Address of an element in this task's memory; NULL if another task owns it. */
static char *own_element(const dvec *x, uint64_t index)
{
    uint64_t at = dome_layout_position(x->layout, x->layout_rank, index);
    return at == UINT64_MAX ? NULL : x->data + at * DVEC_ELEMENT(x);
}

dome_status dvec_get(const dvec *x, uint64_t index, void *element)
{
    DOME_NEEDS(x, "a vector", DOME_ERR_ARGUMENT);
    dome_operation op;
    dome__begin(&op, x->env, DOME_OP_DVEC_GET, x->object, index);
    int status = check_element(x, index, element);
    if (status == DOME_OK)
        status = dvec__settle_read(x);
    if (status == DOME_OK) {
        const char *own = own_element(x, index);
        if (own)
            memcpy(element, own, (size_t)DVEC_ELEMENT(x));
        if (x->distribution != DOME_WHOLE) {
            int owner = dome_layout_owner(x->layout, index / dome_layout_block_size(x->layout));
            status = dome__bcast(x->env->transport, owner, x->type, element, x->width);
            if (status != DOME_OK)
                status = dome__fail_transport(x->env, status);
        }
    }
    return dome__end(&op, status);
}

/* The word on which tasks have to agree. */
static uint64_t element_word(const dvec *x, const char *element)
{
    uint64_t word = 0;
    for (uint64_t k = 0; element && k < x->width; k++)
        word = dome__hash(word, dome__value_word(x->type, element + k * DVEC_VALUE(x)));
    return word;
}

dome_status dvec_set(dvec *x, uint64_t index, const void *element)
{
    DOME_NEEDS(x, "a vector", DOME_ERR_ARGUMENT);
    dome_operation op;
    dome__begin_with(&op, x->env, DOME_OP_DVEC_SET, x->object, (uint64_t[]){index, element_word(x, element)}, 2);
    int status = check_element(x, index, element);
    if (status == DOME_OK) {
        dvec__complete(x);
        char *own = own_element(x, index);
        if (own) {
            memcpy(own, element, (size_t)DVEC_ELEMENT(x));
            dvec__written_block(x, index / dome_layout_block_size(x->layout));
        }
    }
    return dome__end(&op, status);
}
