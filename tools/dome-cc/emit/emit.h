/* emit: what is written. */
#ifndef DOME_CC_EMIT_H
#define DOME_CC_EMIT_H

#include "plan/plan.h"

/* The text where a function tests whether it is captured, or called again to go on. */
#define IS_CAPTURING "dome__cc_status & 4"
#define IS_RESUMING  "dome__cc_status & 8"
_Static_assert(DOME_CAPTURE_CAPTURING == 4 && DOME_CAPTURE_RESUMING == 8, "what is written is what the library sets");

/* Around what only a function that is entered again needs. */
#define ENTERING "\004"
#define ENTERED  "\005"

/* Text that is known when all places are: what recovery does at a loop's head. */
#define DISPATCH "\001%d\002"

/* jump_write.c: setjmp, in a function that may poll */
void jump_write_call(function *f, node *n);
void jump_write_recovery(function *f, GString *out);

/* site.c: Places where a function can be captured, and lines of its text */
void site_mark(function *f, node *n);
site *site_new(function *f, node *at, bool is_poll);
void site_assign(function *f, const variable *to, const char *value);
void site_cut_live(function *f, unsigned level); /* what came into scope behind `level` goes out of it */
void site_add_live(function *f, variable *v);

/* statement.c: Statements of functions that may poll */
void statement_write_block(program *p, function *f, node *n);
void statement_write(program *p, function *f, node *n);
void statement_declaration(program *p, function *f, node *n);

/* loop.c: Loops that poll, and loops around calls that do */
void loop_write_inner(program *p, function *f, node *n);
void loop_write(program *p, function *f, node *n);

/* function.c: Functions that may poll, written anew */
char *function_twin_declaration(unit *u, node *top, unsigned end);
char *function_plain_twin(function *f);
void function_write(program *p, function *f);

/* lower.c: Expressions with calls that may poll: each such call becomes a statement of its own */
void lower_value(program *p, function *f, node *n);
void lower_assign(program *p, function *f, const variable *to, node *value);
void lower_discarded(program *p, function *f, node *n);
const variable *lower_variable_of(function *f, node *n);

/* temporary.c: Temporaries, for values that must outlive a call that may poll */
variable *temporary_take(function *f, CXType type, node *at);
char *temporary_value(function *f, const variable *t, CXType type);
bool temporary_is(const char *text);
bool temporary_is_void(CXType t);
void temporary_spill(function *f, node *n);

/* stable.c: What a call cannot change */
bool stable_value(function *f, node *n);
void stable_settle(function *f, node *n);

/* prelude.c: What is written into each file before its own text */
void prelude_write(GString *out);

/* module.c: The whole file as the compiler gets it */
char *module_write(program *p, unit *u);

#endif
