/* plan: what is saved, where the program polls, and the small edits of what is not written anew. */
#ifndef DOME_CC_PLAN_H
#define DOME_CC_PLAN_H

#include "front/front.h"

/* Which loops poll: those that may take long; none; or, from -1 up, the placements of Ferrari's thesis. */
enum { POLLS_AUTO = -3, POLLS_NONE = -2, POLLS_RECURSION = -1, POLLS_CALLS = 0 };
enum { POLLS_NESTS = 1, POLLS_LARGE_OUTERMOST = 2, POLLS_OUTERMOST = 4, POLLS_LARGE_INNERMOST = 8, POLLS_INNERMOST = 16 };
enum { POLLS_EVERY = POLLS_NESTS | POLLS_OUTERMOST | POLLS_INNERMOST };

/* The cost of a call, a loop or a nest. All in operations, of which some 2 to 10 take a nanosecond. */
typedef struct cost {
    double operations;
    bool polls, unknown;
} cost;

enum { WORK_SHORT_NEST = 2 }; /* strips: a nest of less work does not poll */

/* "#pragma dome union kind: NUMBER = number, TEXT NAME = text, default = pair" before a union among the members of a struct. */
typedef struct union_plan {
    char *tag;       /* an expression of the struct's members */
    GArray *members; /* CXCursor: those that can be in use, by number */
    GString *cases;  /* of a switch */
} union_plan;

/* Writes functions that pack and unpack the numbers of a struct: values are added in the order of its members. */
typedef struct packer {
    GString *pack, *unpack;
    unsigned long long at; /* bytes in the image */
    unsigned lines, loops;
    bool good;
} packer;

/* The members of a description: initialisers, a line each, and their flags. */
typedef struct members {
    GString *text, *flags;
    unsigned n;
    bool flagged; /* one of them has flags */
} members;

/* A place where a function can be captured, and the loops around it. */
typedef struct loop_site {
    int id;
    struct loop_site *outer;
} loop_site;

typedef struct site {
    int id;
    loop_site *loop;
    bool is_poll;     /* a poll of its loop, or of the function's beginning */
    bool operation;   /* CALL: of Dome, with a poll behind it */
    char *recovery;   /* CALL: the call, with dummy arguments */
    GPtrArray *live;  /* variable */
    GPtrArray *scope; /* variable: those in memory whose scope contains it */
    char *place;
} site;

/* A call of setjmp. */
struct jump {
    node *call;
    char *function;                  /* setjmp's name */
    variable *buffer, *mark, *value; /* its argument, what there was then, its result */
};
/* What stands for the name of a function's twin, where it is called, until the text of the caller, or of its twin, is made. */
#define TWIN_MARK   "\003"
#define TWIN_PREFIX "dome__twin_"

/* describe.c: Descriptions of types for the run-time library (include/dome/capture.h) */
members describe_members(void);
void describe_add_member(members *m, const char *name, const char *described, const char *offset, unsigned flags);
void describe_write_struct(unit *u, const char *id, const char *shown, const char *ctype, members *m,
                           packer *k); /* both are freed */
bool describe_may_be_longer(CXType t); /* it ends in an array of one element */
char *describe_longer(unit *u, CXType t, char **why);
char *describe_numbers(unit *u, const char *described, const char *name); /* name: of the type that is described */
char *describe_type(unit *u, CXType t, char **why);                       /* NULL and *why */
char *describe_obstacle(unit *u, CXType t);

/* unions.c: Unions: those of which any member stands for all, and those with a tag (#pragma dome union) */
bool unions_raw(unit *u, CXType t, CXCursor *longest, bool *any);
void unions_plan_free(union_plan *plan);
pragma *unions_pragma(unit *u, CXCursor field);
char *unions_plan(unit *u, CXType container, CXCursor field, union_plan *plan);

/* pack.c: Functions that convert the numbers of a struct to the form in the image and back */
packer pack_new(void);
void pack_add(unit *u, packer *k, const variable *v);
void pack_struct(unit *u, packer *k, CXType t, const char *place, const char *base);
void pack_describe_padding(unit *u, CXType record, members *all, const char *id); /* what lies between its members */
void pack_value(unit *u, packer *k, CXType t, const char *place, const char *base);
bool pack_write(unit *u, packer *k, const char *id, const char *ctype);

/* polls.c: Which functions can reach a poll: over all files of the program */
void polls_complete(program *p);
bool polls_call(program *p, unit *u, node *n);
bool polls_below(program *p, unit *u, node *n); /* something in n does */
bool polls_mark(program *p, unit *u, node *n);

/* work.c: What calls, loops and nests cost, in operations */
bool work_is_checked(program *p, unit *u, node *body, unsigned together);
double work_least(program *p, unit *u, node *n);
char *work_short_nest(program *p, unit *u, node *loop);
char *work_of_iteration(program *p, unit *u, node *body);
double work_own(program *p, unit *u, node *n);
unsigned work_operations(unit *u, node *n);
cost work_cost_below(program *p, unit *u, node *n);
void work_plan_function(program *p, function *f);

/* counted.c: Loops whose iterations can be counted, and expressions that do not change in a loop */
bool counted_parts(unit *u, node *loop, node **variable, node **bound, char **comparison);
bool counted_is_plain(node *loop);
bool counted_refers(const node *n, unsigned variable);
bool counted_touches(unit *u, node *n, unsigned variable, bool address);
bool counted_is_local(CXCursor d);
bool counted_plain_local(unit *u, node *n);
bool counted_invariant(unit *u, node *n, node *loop, bool memory);
unsigned counted_library_call(node *n);
bool counted_inside_switch(node *n, node *top);
bool counted_plain(node *n, node *loop);
bool counted_constant_value(node *n, long long *value);
long long counted_trips(unit *u, node *loop);
long long counted_turns(unit *u, node *n);

/* loops.c: How often a loop polls */
node *loops_counted(unit *u, node *loop); /* LOOP_BITS: the variable */
const loop_plan *loops_plan(unit *u, node *n);
bool loops_has_pragma(unit *u, node *n);
void loops_make_plan(program *p, unit *u, node *n, loop_plan *l);

/* functions.c: The functions of the program, and what they call */
void functions_find(program *p, unit *u);
bool functions_is_foreign(program *p, unit *u, CXCursor d); /* a function that is not translated */
bool functions_indirect_reaches(program *p, const char *type, bool (*test)(program *, function *, void *), void *data);
CXType functions_result(function *f);
bool functions_returns_nothing(function *f);

/* twins.c: Functions that are written twice */
void twins_mark(program *p, unit *u);
bool twins_may_copy(program *p, unit *u, node *n);
void twins_count_calls(program *p);
void twins_find(program *p);

/* taken.c: Variables whose address is taken */
void taken_find(program *p, function *f);
bool taken_declares(function *f, CXCursor decl);

/* held.c: Functions that cannot be saved while they are active: polls in what they call are held back */
const char *held_reason(unit *u, const node *top, unsigned begin);
void held_call(unit *u, node *n, unsigned depth, const char *by);

/* jump.c: setjmp and longjmp */
bool jump_is_set(const node *n);
void jump_check_copy(unit *u, node *n);
void jump_call(program *p, unit *u, const function *f, node *n, unsigned depth);
void jump_plan(function *f, node *n, GString *begin);

/* measured.c: Places of polls by a run of the program. */
bool measured_counts(void); /* --polls=profile */
void measured_set_counts(void);
void measured_name(unit *u);
void measured_edit(program *p, unit *u, const char *output);
bool measured_read(const char *path, double interval);
bool measured_chooses(void); /* --polls=FILE */
double measured_limit(void); /* operations that an entry of a loop may have without a poll */
bool measured_loop(unit *u, node *n, double *iteration, double *most);
bool measured_function(function *f, double *most);
bool measured_judge(program *p, double most);

/* blocks.c: Blocks of the heap get types: from what gets the result of the call, from a sizeof among its arguments, from later
 * uses. */
void blocks_infer(program *p);
void blocks_pragmas(program *p, unit *u);
char *blocks_wanting(unit *u, const node *n, const char *call);
void blocks_call(program *p, unit *u, function *f, node *n, unsigned depth);
const char *blocks_address(program *p, unit *u, node *n, bool to_foreign);

/* libc.c: What the C library keeps for a program, and what it lends: src/capture has it saved */
unsigned libc_keeps(const program *p, const char *name); /* for a function or variable: DOME_CAPTURE_KEEP_... */
void libc_lends(const program *p, unit *u, node *call, const char *name, unsigned depth);
void libc_variable(unit *u, node *n, CXCursor d); /* a mention of one of a library */
bool libc_has_long_times(const node *call);

/* liveness.c: Which variables a function still needs where it can be captured: those that are read, on some way from there,
 * before they get */
void liveness_find(function *f);
bool liveness_is_needed(const function *f, const node *at, const variable *v); /* where the function can be captured */

/* parallel.c: Programs that call dome_init: Dome programs */
void parallel_begin(program *p);
bool parallel_is_operation(const program *p, unit *u, const node *call); /* behind which the program may poll */
const char *parallel_prelude(const program *p);
const char *parallel_instead(const program *p, const char *name); /* what is called in place of a function; NULL: itself */
bool parallel_calls_dome(const program *p, const node *call); /* a function of Dome, which keeps no pointer to its arguments */
bool parallel_is_borrowed(function *f, node *n);              /* a pointer into data of Dome */
void parallel_check(program *p, function *f);                 /* refuses pointers into local data that outlive a poll */

/* padding.c: Structs of which the program looks at the bytes: memcmp, a hash over sizeof(key), fwrite */
void padding_find(program *p, unit *u);
void padding_each(unit *u, CXType record, void (*function)(void *ctx, long long offset, long long bytes), void *ctx);

/* addresses.c: Warnings of addresses that become numbers and are kept: after a restart the numbers are wrong, and a checkpoint
 * may not be */
void addresses_look(program *p, unit *u, function *f, node *n);
void addresses_resolve(unit *u);

/* variables.c: The variables of a function that may poll, and their names */
variable *variables_new(function *f, node *n, CXType type, bool parameter);
bool variables_is_plain(const node *kid);
char *variables_tail(function *f, node *n);
void variables_plan(function *f, node *n);
void variables_find_names(function *f, node *n);
void variables_find_uses(function *f, node *n);
void variables_plan_returns(function *f, node *n);

/* lift.c: Types and statics of functions become the file's */
const char *lift_renamed(unit *u, CXCursor d);
bool lift_is_record(const node *n);
void lift_name_record(unit *u, node *n);
void lift_global(unit *u, CXCursor c, const char *name, const char *id, unsigned at);
void lift_declaration(unit *u, function *f, node *n, unsigned top);
void lift_result(unit *u, node *before, const function *f, unsigned top);

/* rewrite.c: The walk over a file: statics, literals, calls, and what is refused */
void rewrite_unit(program *p, unit *u);

/* foreign.c: Calls and mentions of functions that are not translated */
bool foreign_argument_polls(program *p, unit *u, node *n);
void foreign_edit_call(program *p, unit *u, function *f, node *n, unsigned depth);
bool foreign_goes_into_struct(unit *u, node *n);
void foreign_edit_reference(program *p, unit *u, node *n);

/* attributes.c: Attributes that promise what a function that may poll does not keep */
void attributes_check(program *p, unit *u, node *n, unsigned top);
void attributes_drop_promises(program *p, unit *u, node *n, unsigned top);

extern int polls_policy;
extern bool polls_operations; /* --polls=operations */
extern int polls_strip_work;  /* operations between two polls, about */

#endif
