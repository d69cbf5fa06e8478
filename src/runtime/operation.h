/* The wrapper around every public operation: notes where the program is, times it, and reports failure.
 *
 *     int dvec_add(dvec *z, const dvec *x, const dvec *y)
 *     {
 *         dome_operation op;
 *         dome__begin(&op, z->env, DOME_OP_DVEC_ADD, z->object, hash of the other arguments);
 *         int status = ...;                       // check, then dispatch; failures by dome__fail
 *         return dome__end(&op, status);
 *     }
 *
 * Operations nest (dome_finalize frees objects): the outermost is what messages and the clock name. */
#ifndef DOME_SRC_OPERATION_H
#define DOME_SRC_OPERATION_H

#include <dome/object.h>

/* X(code, name). Public functions that do work, in the order of the headers. */
#define DOME_OPERATION_LIST(X)                                                                                                   \
    X(NONE, "the program's own code")                                                                                            \
    X(INIT, "dome_init")                                                                                                         \
    X(FINALIZE, "dome_finalize")                                                                                                 \
    X(CHECKPOINT, "dome_checkpoint")                                                                                             \
    X(BARRIER, "dome_barrier")                                                                                                   \
    X(BCAST, "dome_bcast")                                                                                                       \
    X(BALANCE, "load balancing")                                                                                                 \
    X(RELAYOUT, "dome_env_relayout")                                                                                             \
    X(TYPE_STRUCT, "dome_type_struct")                                                                                           \
    X(OBJECT_NEW, "dome_object_new")                                                                                             \
    X(OBJECT_FREE, "dome_object_free")                                                                                           \
    X(DSCALAR_NEW, "dscalar_new")                                                                                                \
    X(DSCALAR_SET, "dscalar_set")                                                                                                \
    X(DSCALAR_GET, "dscalar_get")                                                                                                \
    X(DVEC_NEW, "dvec_new")                                                                                                      \
    X(DVEC_FREE, "dvec_free")                                                                                                    \
    X(DVEC_FILL, "dvec_fill")                                                                                                    \
    X(DVEC_COPY, "dvec_copy")                                                                                                    \
    X(DVEC_CONVERT, "dvec_convert")                                                                                              \
    X(DVEC_ADD, "dvec_add")                                                                                                      \
    X(DVEC_SUB, "dvec_sub")                                                                                                      \
    X(DVEC_MUL, "dvec_mul")                                                                                                      \
    X(DVEC_DIV, "dvec_div")                                                                                                      \
    X(DVEC_MIN, "dvec_min")                                                                                                      \
    X(DVEC_MAX, "dvec_max")                                                                                                      \
    X(DVEC_POW, "dvec_pow")                                                                                                      \
    X(DVEC_ADDS, "dvec_adds")                                                                                                    \
    X(DVEC_SUBS, "dvec_subs")                                                                                                    \
    X(DVEC_MULS, "dvec_muls")                                                                                                    \
    X(DVEC_DIVS, "dvec_divs")                                                                                                    \
    X(DVEC_MINS, "dvec_mins")                                                                                                    \
    X(DVEC_MAXS, "dvec_maxs")                                                                                                    \
    X(DVEC_POWS, "dvec_pows")                                                                                                    \
    X(DVEC_AXPY, "dvec_axpy")                                                                                                    \
    X(DVEC_NEG, "dvec_neg")                                                                                                      \
    X(DVEC_ABS, "dvec_abs")                                                                                                      \
    X(DVEC_SQRT, "dvec_sqrt")                                                                                                    \
    X(DVEC_EXP, "dvec_exp")                                                                                                      \
    X(DVEC_LOG, "dvec_log")                                                                                                      \
    X(DVEC_SIN, "dvec_sin")                                                                                                      \
    X(DVEC_COS, "dvec_cos")                                                                                                      \
    X(DVEC_EQ, "dvec_eq")                                                                                                        \
    X(DVEC_NE, "dvec_ne")                                                                                                        \
    X(DVEC_LT, "dvec_lt")                                                                                                        \
    X(DVEC_LE, "dvec_le")                                                                                                        \
    X(DVEC_GT, "dvec_gt")                                                                                                        \
    X(DVEC_GE, "dvec_ge")                                                                                                        \
    X(DVEC_EQS, "dvec_eqs")                                                                                                      \
    X(DVEC_NES, "dvec_nes")                                                                                                      \
    X(DVEC_LTS, "dvec_lts")                                                                                                      \
    X(DVEC_LES, "dvec_les")                                                                                                      \
    X(DVEC_GTS, "dvec_gts")                                                                                                      \
    X(DVEC_GES, "dvec_ges")                                                                                                      \
    X(DVEC_AND, "dvec_and")                                                                                                      \
    X(DVEC_OR, "dvec_or")                                                                                                        \
    X(DVEC_XOR, "dvec_xor")                                                                                                      \
    X(DVEC_NOT, "dvec_not")                                                                                                      \
    X(DVEC_SELECT, "dvec_select")                                                                                                \
    X(DVEC_INDEX, "dvec_index")                                                                                                  \
    X(DVEC_RANDOM, "dvec_random")                                                                                                \
    X(DVEC_SUM, "dvec_sum")                                                                                                      \
    X(DVEC_PROD, "dvec_prod")                                                                                                    \
    X(DVEC_MIN_VALUE, "dvec_min_value")                                                                                          \
    X(DVEC_MAX_VALUE, "dvec_max_value")                                                                                          \
    X(DVEC_DOT, "dvec_dot")                                                                                                      \
    X(DVEC_DOTS, "dvec_dots")                                                                                                    \
    X(DVEC_NORM2, "dvec_norm2")                                                                                                  \
    X(DVEC_ARGMIN, "dvec_argmin")                                                                                                \
    X(DVEC_ARGMAX, "dvec_argmax")                                                                                                \
    X(DVEC_SCAN, "dvec_scan")                                                                                                    \
    X(DVEC_SHIFT, "dvec_shift")                                                                                                  \
    X(DVEC_GATHER, "dvec_gather")                                                                                                \
    X(DVEC_SCATTER, "dvec_scatter")                                                                                              \
    X(DVEC_WHOLE, "dvec_whole")                                                                                                  \
    X(DVEC_LOCAL, "dvec_local")                                                                                                  \
    X(DVEC_HALO, "dvec_halo")                                                                                                    \
    X(DVEC_MAP, "dvec_map")                                                                                                      \
    X(DVEC_WRITE, "dvec_write")                                                                                                  \
    X(DVEC_READ, "dvec_read")

typedef enum dome_operation_code {
#define DOME_OPERATION_ENUM(code, name) DOME_OP_##code,
    DOME_OPERATION_LIST(DOME_OPERATION_ENUM)
#undef DOME_OPERATION_ENUM
        DOME_OPERATIONS
} dome_operation_code;

typedef struct dome_operation {
    dome_env *env;
    dome_operation_code code;
    const dome_object *object;
    uint64_t start_ns, start_wait_ns, start_eval_ns;
    struct dome_operation *outer;
} dome_operation;

/* Enters an operation. If data may move in it and load balancing is due, that happens before. object may be NULL. arguments is a
 * hash (dome__hash) of what else all tasks must agree on: ids of the other operands, scalars, lengths. op stays at its address
 * until dome__end. Nested operations do not enter the history. */
void dome__begin(dome_operation *op, dome_env *env, dome_operation_code code, const dome_object *object, uint64_t arguments);

/* The operation under way goes on as the next one of the history: what all tasks have decided in it (a hash) is in the history from
 * here on, under a number of its own. */
void dome__begin_next(dome_env *env, uint64_t decision);

/* Leaves it: adds its computing time (waiting excluded) to the clock. Returns status. */
int dome__end(dome_operation *op, int status);

/* Counts bytes of vectors that an operation has read or written, for the profile. */
void dome__count_bytes(const dome_operation *op, uint64_t bytes);

/* Reports a failure of the operation under way: one line made of its name, its object, the text, task and host. Ends the program,
 * or records the line and returns status after dome_set_errors_return. */
int dome__fail(dome_env *env, int status, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The same with the transport's reason as text. */
int dome__fail_transport(dome_env *env, int status);

/* Collective: makes a failure that one task found the failure of all. status and text (may be NULL) are this task's; if any task
 * has failed, every task fails with the status and text of the lowest such rank. For use before data is touched. */
int dome__agree(dome_env *env, int status, const char *text);

/* The same where failures have an order, two words: the one that comes first counts, of equal ones the lowest rank's. order
 * becomes that of the failure that counts, if there is one. */
int dome__agree_first(dome_env *env, int status, const char *text, uint64_t order[2]);

/* This process's environment: there is one. NULL before dome_init and after dome_finalize. */
dome_env *dome__this_env(void);

const char *dome__operation_name(uint32_t code);

/* Mixes a value into a hash; start with 0. Doubles by dome__hash_double, which takes all NaNs as one. */
uint64_t dome__hash(uint64_t hash, uint64_t value);
uint64_t dome__hash_double(uint64_t hash, double value);
uint64_t dome__hash_bytes(uint64_t hash, const void *data, size_t bytes);

#endif
