/* Operands of an element-wise operation whose shapes or types differ from the output's. */
#ifndef DOME_SRC_DVEC_OPERANDS_H
#define DOME_SRC_DVEC_OPERANDS_H

#include "objects/dvec_private.h"

/* Vectors that are recorded as operands repeated, or converted. */
typedef struct dvec_operands {
    dvec *made[6];
    int count;
} dvec_operands;

/* Checks that the operands (NULL: none) can take part in one operation with z. Replaces those that are repeated (dvec.h) by
 * vectors of z's shape, and those of another basic type by recorded conversions to z's type, if `convert`. Call
 * dvec__operands_end afterwards, also after a failure. */
int dvec__operands_begin(dvec_operands *operands, dvec *z, bool convert, const dvec *in[3]);
/* The same for operands of any types: no type is compared or converted. */
int dvec__operands_repeat(dvec_operands *operands, const dvec *z, const dvec *in[3]);
void dvec__operands_end(dvec_operands *operands);

#endif
