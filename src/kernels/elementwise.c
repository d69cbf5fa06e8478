#include "kernels/elementwise.h"

#include "core/operation.h"

const dome_elementwise dome__elementwise[DOME_OPERATIONS] = {
#define DOME_ELEMENTWISE_ENTRY(code, name, form, flags, failure, expression)                                                     \
    [DOME_OP_DVEC_##code] = {DOME_FORM_##form, DOME_ELEMENTWISE_##code, flags, failure, expression},
    DOME_ELEMENTWISE_LIST(DOME_ELEMENTWISE_ENTRY)
#undef DOME_ELEMENTWISE_ENTRY
};
