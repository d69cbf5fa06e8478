/* The library's operations, as one table. */
#ifndef DOME_SRC_OPERATIONS_H
#define DOME_SRC_OPERATIONS_H

/* Adds the operations of all parts of the library to the table (core/operation_table.h). */
void dome__operations_add(void);

#endif
