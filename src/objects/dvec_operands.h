/* Operands of an element-wise operation whose types differ from the output's. */
#ifndef DOME_SRC_DVEC_OPERANDS_H
#define DOME_SRC_DVEC_OPERANDS_H

#include "objects/dvec_private.h"

/* Vectors that are recorded as conversions of operands. */
typedef struct dvec_operands {
    dvec *converted[3];
    int count;
} dvec_operands;

/* Checks that the operands (NULL: none) can take part in one operation with z, and replaces those of another basic type by
 * recorded conversions to z's type, if `convert`. Call dvec__operands_end afterwards, also after a failure. */
int dvec__operands_begin(dvec_operands *operands, dvec *z, bool convert, const dvec *in[3]);
void dvec__operands_end(dvec_operands *operands);

#endif
