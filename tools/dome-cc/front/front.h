/* front: what the source says. Files, nodes, text, types. */
#ifndef DOME_CC_FRONT_H
#define DOME_CC_FRONT_H

#include "front/model.h"

/* cursor.c: Cursors of libclang: names, places, and whether they are the program's own */
char *cursor_name(CXCursor c);
unsigned cursor_offset(CXCursor c);
unsigned cursor_begin(CXCursor c); /* of its text */
bool cursor_is_null(CXCursor c);
bool cursor_in_system_header(CXCursor c);
char *cursor_key(unit *u, CXCursor decl);
bool cursor_is_looked_for(CXCursor d); /* and that is declared only to see whether it is there */
enum CXChildVisitResult cursor_find_variables(CXCursor c, CXCursor parent, CXClientData data);

/* unit.c: A source file: read, its nodes, and what is said of it */
void unit_place(unit *u, unsigned at, char **file, unsigned *line);
void unit_refuse(unit *u, unsigned at, const char *format, ...) G_GNUC_PRINTF(3, 4);
void unit_warn(unit *u, unsigned at, const char *format, ...) G_GNUC_PRINTF(3, 4);
bool unit_is_native(const unit *u);                                        /* for the machine on which dome-cc runs */
void unit_refuse_threads(unit *u, const char *pragma, const char *option); /* which that option makes of such pragmas */
unit *unit_read(const char *path, char *text, gsize length, const char *const *arguments, int count);

/* node.c: Nodes: cursors with their extents in the text */
node *node_kid(const node *n, unsigned i);
node *node_bare(node *n);    /* without parentheses and implicit conversions */
node *node_bare_up(node *n); /* the first parent that is neither */
bool node_is_expression(const node *n);
bool node_is_statement(const node *n);
bool node_is_loop(const node *n);
CXCursor node_declaration(const node *n); /* what a DeclRefExpr refers to */
node *node_callee(const node *n);
CXCursor node_called(const node *n); /* the function that is called by its name, or a null cursor */
char *node_operator(unit *u, const node *n);
char *node_unary_operator(unit *u, const node *n);
void node_for_parts(unit *u, node *n, node **init, node **condition, node **step, node **body);

/* text.c: The text of a file: what stands where, apart from literals and line markers */
unsigned text_skip(const unit *u, unsigned at);                          /* over spaces and line markers */
unsigned text_find(const unit *u, unsigned at, unsigned end, char what); /* outside of parentheses and literals */
unsigned text_close(const unit *u, unsigned at);                         /* the parenthesis that closes the one at `at` */
char *text_flat(const unit *u, unsigned a, unsigned b);                  /* in one line */
guint64 text_hash_on(guint64 hash, const char *text);
guint64 text_hash(const unit *u, unsigned a, unsigned b); /* spaces and line numbers do not count */
char *text_without_literals(char *text);                  /* in place */
bool text_in_list(const char *name, const char *const *list);

/* pragma.c: #pragma dome */
pragma *pragma_before(unit *u, unsigned at, int kind); /* the last one of a kind between what stands before text[at] and that */
unsigned pragma_flags(unit *u, unsigned at);           /* of #pragma dome numbers and dangling, likewise */
void pragma_find(unit *u);

/* edit.c: Edits of a unit's text, and nodes written with what stands for them */
void edit_replace(unit *u, unsigned a, unsigned b, const char *text);
void edit_around(unit *u, unsigned a, unsigned b, unsigned depth, const char *before, const char *after);
void edit_range(unit *u, unsigned a, unsigned b, const edit *except, GString *out);
void edit_print(unit *u, node *n, GString *out);
char *edit_text(unit *u, node *n);

/* source.c: What the source says of each function and of each constant that is not saved, as a number: a program that restarts
 * can then */
GHashTable *source_take_macros(char *text); /* of the preprocessor, with -dD */
void source_find(unit *u, GHashTable *macros);
void source_write(const unit *u, GString *out);

/* ctype.c: Types of C: what they are, and how they are declared */
char *ctype_key(CXType t);
bool ctype_same(CXType a, CXType b);
const char *ctype_scalar(CXType t);             /* "int", "size"...: as <dome/capture.h> calls a number's type; else NULL */
bool ctype_same_everywhere(CXType a, CXType b); /* on this and all other machines: a size_t is no unsigned long */
bool ctype_is_wide_integer(CXType t);           /* int or larger */
bool ctype_is_record(CXType t);
bool ctype_is_array(CXType t);
bool ctype_is_pointer(CXType t);
bool ctype_is_function(CXType t);
bool ctype_is_argument_list(CXType t); /* va_list */
CXType ctype_pointee(CXType t);
bool ctype_is_variable(CXType t);                                    /* a VLA, or a pointer to one */
CXType ctype_element(CXType t, char **count);                        /* of all dimensions */
char *ctype_declare(unit *u, CXType t, const char *name, bool bare); /* bare: without const */
char *ctype_name(unit *u, CXType t);                                 /* for casts, without const */
long long ctype_image_size(CXType t);
char *ctype_assign(unit *u, CXType t, const char *to, const char *from);
bool ctype_holds_jump_buffer(CXType t);
bool ctype_becomes_everywhere(node *n, const char *to); /* an integer: by the conversions of "i < n", on all machines */
char *ctype_spelling(CXType t);
enum CXTypeKind ctype_kind(CXType t);
char *ctype_base(unit *u, CXType t, bool bare);
const char *ctype_scalar_of_kind(enum CXTypeKind k);
GArray *ctype_fields_of(CXType t);
CXType ctype_array_as_written(CXType t);
CXCursor ctype_definition_of(CXType t);
bool ctype_is_union(CXType t);
bool ctype_is_nameless(CXCursor field);
bool ctype_is_flexible(CXType t);
bool ctype_is_jump_buffer(CXType t);
const char *ctype_scalar_name(CXType t);
unsigned ctype_scalar_bytes(const char *name);

#define CTYPE_NAMELESS "dome__nameless_" /* begins names of typedefs that dome-cc gives */

#endif
