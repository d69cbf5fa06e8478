/* The table of operations: their names, their arguments and what they do. A part of the library lists its operations in a header
 * of its own (comm/comm_operations.h, ...), and dome_init adds them (program/operations.c). A structure adds its operations one
 * by one, by dome_operation_register.
 *
 * A code is the number of a part and a row of that part. So the codes of the library's operations are constants, and those of
 * structures' operations are in parts that are made as they are needed. */
#ifndef DOME_SRC_OPERATION_TABLE_H
#define DOME_SRC_OPERATION_TABLE_H

#include <dome/structure.h>

#include <stdbool.h>
#include <stdint.h>

enum {
    DOME_OPERATION_ROWS = 256, /* rows of a part, at most */
    DOME_OPERATION_PARTS = 16, /* parts of the library; parts with higher numbers hold structures' operations */
    DOME_OPERATION_REGISTERED = DOME_OPERATION_PARTS * DOME_OPERATION_ROWS /* code of the first operation of a structure */
};

/* Flags of the library's own operations beside those of structure.h. */
enum {
    DOME_OPERATION_BEGINS_LATER = 4, /* a reduction whose exchange begins later, with those of the reductions that follow */
    DOME_OPERATION_REDUCES = DOME_OPERATION_MOVES | DOME_OPERATION_BEGINS_LATER,
    DOME_OPERATION_LOOKS = 8,         /* it only gives values to look at: a child process of the task may call it, too */
    DOME_OPERATION_COMES_BEFORE = 16, /* it runs before an operation of the program: messages name that one */
    DOME_OPERATION_UPDATES = 32,      /* it computes new values of its object, as a rule from the old ones */
    DOME_OPERATION_ACCUMULATES = DOME_OPERATION_MOVES | DOME_OPERATION_UPDATES
};

/* arguments: names and kinds of the words passed to dome__begin, for the report on tasks that disagree (call_log.c). u, i, f: a
 * number; d: a distribution; v: the id of an object; n: a text, by dome__text_word; o: the same for the name of the object to be
 * created; c: code of the operation that the user called; h: a hash, whose value is not shown. The last one also describes all
 * further words. */
typedef struct dome_operation_row {
    const char *name, *arguments;
    uint8_t flags;
} dome_operation_row;

typedef struct dome_operation_part {
    uint32_t number, count;
    const dome_operation_row *row;
    struct dome_operation_part *next; /* of the table, once it has been added */
} dome_operation_part;

/* Of a list X(code, name, arguments, flag): its codes, DOME_OP_code, and its part of the table. PART: the constant that holds the
 * part's number. The list has the public functions that do work, in the order of their headers. */
#define DOME_OPERATION_CODES(PART, LIST)                                                                                         \
    enum { PART##_BEGIN = PART * DOME_OPERATION_ROWS - 1, LIST(DOME_OPERATION_CODE) PART##_END };                                \
    _Static_assert((int)PART##_END <= (PART + 1) * DOME_OPERATION_ROWS && (int)PART < DOME_OPERATION_PARTS,                      \
                   "too many rows, or parts")
#define DOME_OPERATION_CODE(code, name, arguments, flag) DOME_OP_##code,
#define DOME_OPERATION_PART(PART, LIST)                                                                                          \
    {                                                                                                                            \
        .number = PART, .count = PART##_END - PART * DOME_OPERATION_ROWS,                                                        \
        .row = (const dome_operation_row[]){LIST(DOME_OPERATION_ROW)},                                                           \
    }
#define DOME_OPERATION_ROW(code, name, arguments, flag) {name, arguments, DOME_OPERATION_##flag},

/* ---- adding ---- */

/* Adds a part of the library, unless the table has it already. For the program's thread. */
void dome__operation_add_part(dome_operation_part *part);

/* Adds an operation of a structure, whose name the table does not have; returns its code. For the program's thread. */
uint32_t dome__operation_add(const char *name, const char *arguments, unsigned flags);

/* Removes the operations that structures have registered, when their environment ends. No other thread may read the table then.
 */
void dome__operation_table_reset(void);

/* ---- reading ----
 *
 * From any thread: another thread sees a registered operation only once it is complete. */

/* By code; both accept any number. dome__operation_arguments: "" if there is no such operation. */
const char *dome__operation_name(uint32_t code);
const char *dome__operation_arguments(uint32_t code);

enum { DOME_OPERATION_NOT_FOUND = -1 };

/* The code of a name, or DOME_OPERATION_NOT_FOUND. For the program's thread. */
int64_t dome__operation_find(const char *name);

/* The number of operations, and operation number k of them: the parts in the order in which they were added. */
uint32_t dome__operation_count(void);
uint32_t dome__operation_at(uint32_t k);

/* The number of operations that structures have registered, with codes from DOME_OPERATION_REGISTERED on. */
uint32_t dome__operation_registered(void);

/* The name of an operation as its part has it, which need not be in the table (before dome_init). */
static inline const char *dome__operation_name_in(const dome_operation_part *part, uint32_t code)
{
    return part->row[code % DOME_OPERATION_ROWS].name;
}

/* All codes are below this number: the length of arrays by code. */
uint32_t dome__operation_limit(void);

/* By code; for the program's thread alone. Hidden visibility makes access fast: every operation reads it. */
extern uint8_t *dome__operation_flags __attribute__((visibility("hidden")));

/* Whether an operation has a flag. */
static inline bool dome__operation_has(dome_operation_code code, unsigned flag)
{
    return dome__operation_flags[code] & flag;
}

#endif
