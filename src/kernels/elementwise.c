#include "kernels/elementwise.h"

const dome_elementwise dome__elementwise[DOME_ELEMENTWISE_NUMBERS] = {
#define DOME_ELEMENTWISE_ENTRY(code, name, arguments, form, flags, failure, expression)                                          \
    [DOME_ELEMENTWISE_##code] = {DOME_FORM_##form, flags, failure, expression},
    DOME_ELEMENTWISE_LIST(DOME_ELEMENTWISE_ENTRY)
#undef DOME_ELEMENTWISE_ENTRY
};

#define UPDATES(form, flags)                                                                                                     \
    (DOME_FORM_##form == DOME_FORM_BINARY || DOME_FORM_##form == DOME_FORM_SCALAR || ((flags)&DOME_ACCUMULATES)                  \
         ? DOME_OPERATION_UPDATES                                                                                                \
         : 0)

static const dome_operation_row rows[] = {
#define DOME_ELEMENTWISE_ROW(code, name, arguments, form, flags, failure, expression)                                            \
    {#name, arguments, DOME_OPERATION_DEFERRED | UPDATES(form, flags)},
    DOME_ELEMENTWISE_LIST(DOME_ELEMENTWISE_ROW)
#undef DOME_ELEMENTWISE_ROW
};

dome_operation_part dome__elementwise_operations = {
    .number = DOME_PART_ELEMENTWISE, .count = DOME_ELEMENTWISE_NUMBERS - 1, .row = rows};
