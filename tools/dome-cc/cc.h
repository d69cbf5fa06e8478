/* dome-cc: shared structures of the translator.
 *
 * A unit is one source file. It is preprocessed by the compiler, parsed by libclang, and written again
 * with edits of its preprocessed text: there are no macros left that an edit could cut, and the line
 * markers keep the user's lines. Functions that may poll are written anew, statement by statement;
 * statements of theirs that cannot poll, and all other functions, are copied with small edits. */
#ifndef DOME_CC_H
#define DOME_CC_H

#include <dome/capture.h>

#include <clang-c/Index.h>
#include <glib.h>
#include <stdbool.h>

/* A cursor of libclang with its extent in the text. */
typedef struct node {
    CXCursor cursor;
    enum CXCursorKind kind;
    CXType type;
    unsigned a, b; /* text[a .. b) */
    struct node *up;
    GPtrArray *kids;
    bool polls;  /* something that may poll is evaluated inside */
    char *text;  /* what stands for it now, or NULL */
    char *wants; /* a call of what allocates for its caller: the address of the block's type, or NULL */
} node;

typedef struct edit {
    unsigned a, b; /* text[a .. b) is replaced; a == b: inserted */
    enum { EDIT_REPLACE, EDIT_BEFORE, EDIT_AFTER } kind;
    unsigned depth; /* insertions at one place: outer ones lie outside */
    const char *text;
} edit;

/* How often a loop polls: never; before each `stride` iterations of a counted loop, or of any other; where a variable that each
 * iteration counts has lowest bits of 0; in each iteration. */
typedef enum { LOOP_FREE, LOOP_STRIP, LOOP_COUNTDOWN, LOOP_BITS, LOOP_EACH } loop_class;

typedef struct loop_plan {
    loop_class class;
    unsigned stride;
    unsigned few;  /* LOOP_STRIP: with at most so many iterations it does not poll */
    double cost;   /* operations of the whole loop, if it does not poll */
    bool polls;    /* it polls, or something inside does */
    bool unknown;  /* a call inside may take any time */
    bool breaks;   /* it is left by "break" */
    bool twice;    /* its first strip stands before the first poll: short loops then do not poll */
    bool unrolled; /* LOOP_BITS: its iterations are so small that several are written for one test */
    bool nest;     /* counted, and an iteration's work is known when it begins: several are cut off together */
} loop_plan;

typedef struct variable {
    char *source;   /* its name in the source; NULL: it has none */
    unsigned index; /* live.c */
    char *name;     /* as it is now called */
    char *read;     /* how it is read: its name, or dome__m->name */
    char *declared; /* its declaration, without const and storage class */
    CXType type;
    CXCursor cursor;
    unsigned line;
    const char *file;
    bool parameter, memory, temporary, busy;
    bool wide;          /* a temporary for integers of all sizes: a long long */
    bool borrowed;      /* leads into data of Dome, and is not needed behind a poll: never saved */
    bool plain_pointer; /* libclang says only what it leads to on this machine */
    unsigned flags;     /* DOME_CAPTURE_NUMBERS, DOME_CAPTURE_MAY_DANGLE */
    char *description;
} variable;

struct unit;
struct program;
typedef struct pragma pragma;

/* Kinds of values that never share memory, on any machine: what is written as the one is not read as the other. */
typedef enum { MEMORY_ANY, MEMORY_INTEGER, MEMORY_FLOATING, MEMORY_POINTER, MEMORY_KINDS } memory_kind;

typedef struct function {
    struct unit *unit;
    node *decl, *body;
    char *name;          /* in C */
    char *key;           /* in the program: name, or file:name of a static one */
    char *type_key;      /* its canonical type */
    GPtrArray *calls;    /* char *: keys of functions that it calls */
    GPtrArray *indirect; /* char *: type keys of pointers that it calls; "" : any */
    const char *held;    /* why it cannot be saved while it is active, so that what it calls does not poll; NULL: it can */
    bool delays;         /* it is held, and has a loop or a call that would poll */
    bool recursive, polls;
    bool operation;          /* one of Dome, behind which the program polls */
    unsigned callers;        /* calls of it in the text of the program */
    struct function *caller; /* one of them */
    bool twin;               /* it is written twice: see find_twins */
    bool split;              /* it has a twin that it calls itself when the program goes on */
    bool no_twin;            /* it cannot be */
    bool told;               /* its twin is declared */
    double cost;             /* operations of a call, if it does not poll */
    bool unknown;            /* it calls what may take any time, as functions of libraries do */
    enum { FUNCTION_NEW, FUNCTION_BEGUN, FUNCTION_DONE } planned;
    int mark;
    bool several;                                                        /* there is another definition, inline in a header */
    enum { WRITES_UNKNOWN, WRITES_NO, WRITES_YES } writes[MEMORY_KINDS]; /* it, or what it calls, to memory of that kind */
    /* while it is written */
    GString *out;
    GPtrArray *variables; /* those saved and those in memory, in order of their declaration */
    GPtrArray *live;      /* of them, those in scope here */
    GPtrArray *sites, *loops;
    GPtrArray *jumps;     /* its calls of setjmp */
    GHashTable *used;     /* names */
    GHashTable *taken;    /* offsets of declarations whose address is taken */
    GHashTable *borrowed; /* offsets of declarations of variables that lead into data of Dome */
    GHashTable *by_decl;  /* offset of a declaration -> variable */
    GHashTable *needed;   /* live.c */
    bool has_memory, has_saved, has_labels, hoists_labels;
    int temporaries, continues;
    GHashTable *heads; /* loops that were cut into strips -> the number of their label */
    bool checks;       /* what is written is a strip: loops inside leave it if they are not short */
    int in_nest;       /* loops around this one that cut off iterations of little work */
} function;

typedef struct unit {
    struct program *program;
    char *path;     /* as it was given */
    char *name;     /* in images */
    char *original; /* text, and its length */
    unsigned length;
    CXIndex index;
    CXTranslationUnit tu;
    CXFile file;
    GPtrArray *tops;      /* node: declarations outside of system headers, in order */
    GPtrArray *ends;      /* unsigned: where text may be inserted before each of them */
    GPtrArray *functions; /* function: definitions */
    GArray *edits;
    bool sorted;
    GHashTable *renamed; /* offset of a declaration -> its new name */
    GHashTable *by_call; /* names of functions that are defined here -> function */
    GString *prelude, *tail;
    GHashTable *types;       /* key -> identifier of its description */
    GHashTable *enumerators; /* name -> long long *; NULL: not gathered yet */
    GPtrArray *heap_types;   /* char *: identifiers */
    GHashTable *literals;    /* text -> identifier */
    GPtrArray *globals;      /* char *: initialisers */
    GPtrArray *codes;        /* char *: initialisers */
    GPtrArray *descriptors;  /* char *: functions */
    GPtrArray *sources;      /* char *: of functions and constants, "1f2e3d4c NAME" */
    GHashTable *file_names;  /* names of the file's scope */
    GArray *pragmas;         /* pragma */
    GHashTable *loops;       /* node -> loop_plan */
    GHashTable *loop_names;  /* node -> its name in a profile */
    GArray *hoists;          /* hoist */
    GArray *addresses;       /* addresses.c; NULL: none */
    GHashTable *lifted;      /* offsets of declarations of functions that are the file's now */
    GHashTable *quiet;       /* node: calls of operations behind which there is no poll; NULL: none */
    int counter;
    int refused;
    unsigned keeps;  /* DOME_CAPTURE_KEEP_... */
    bool one_memory; /* -fno-strict-aliasing: what is written as one type may be read as another */
    function *main;
} unit;

struct pragma {
    unsigned at;
    enum { PRAGMA_POLL, PRAGMA_NOPOLL, PRAGMA_UNION, PRAGMA_ALLOCATES, PRAGMA_HOLD, PRAGMA_NUMBERS, PRAGMA_DANGLING } kind;
    char *text; /* behind the word */
    bool used;  /* all but POLL, NOPOLL: it stands before what it is about */
};

/* What a function declares and the file must have: text[a .. b), from the declaration that is replaced. */
typedef struct hoist {
    unsigned top, a, b;
    const char *after;
    node *function; /* it declares a function; else NULL */
} hoist;

typedef struct program {
    GPtrArray *units;
    GHashTable *functions;  /* key -> function */
    GHashTable *addressed;  /* key -> type key, or "" if it was cast */
    GHashTable *code_names; /* foreign functions whose address is taken, once they are enlisted */
    GHashTable *weak;       /* keys of functions that may be others in the end */
    GHashTable *wrappers;   /* keys of functions that allocate blocks for their callers: heap.c */
    GHashTable *whole;      /* names of structs that are saved with their padding: padding.c */
    bool parallel;          /* it calls dome_init */
    bool between;           /* it polls behind its operations */
} program;

/* unit.c: a file, its nodes, its text */
unit *unit_read(const char *path, char *text, gsize length, const char *const *arguments, int count);
void unit_refuse_threads(unit *u, const char *pragma, const char *option); /* which that option makes of such pragmas */
bool unit_is_native(const unit *u);                                        /* for the machine on which dome-cc runs */
void unit_refuse(unit *u, unsigned at, const char *format, ...) G_GNUC_PRINTF(3, 4);
void unit_warn(unit *u, unsigned at, const char *format, ...) G_GNUC_PRINTF(3, 4);
void unit_place(unit *u, unsigned at, char **file, unsigned *line);
node *node_kid(const node *n, unsigned i);
node *node_bare(node *n);    /* without parentheses and implicit conversions */
node *node_bare_up(node *n); /* the first parent that is neither */
bool node_is_expression(const node *n);
bool node_is_statement(const node *n);
bool node_is_loop(const node *n);
char *node_operator(unit *u, const node *n);
char *unary_operator(unit *u, const node *n);
CXCursor node_declaration(const node *n); /* what a DeclRefExpr refers to */
unsigned cursor_offset(CXCursor c);
unsigned cursor_begin(CXCursor c);                     /* of its text */
pragma *pragma_before(unit *u, unsigned at, int kind); /* the last one of a kind between what stands before text[at] and that */
unsigned flags_before(unit *u, unsigned at);           /* of #pragma dome numbers and dangling, likewise */
char *cursor_name(CXCursor c);
bool cursor_is_null(CXCursor c);
bool cursor_in_system_header(CXCursor c);
node *call_callee(const node *n);
CXCursor call_function(const node *n);          /* the function that is called by its name, or a null cursor */
unsigned text_skip(const unit *u, unsigned at); /* over spaces and line markers */
unsigned text_find(const unit *u, unsigned at, unsigned end, char what); /* outside of parentheses and literals */
unsigned text_close(const unit *u, unsigned at);                         /* the parenthesis that closes the one at `at` */
guint64 text_hash(const unit *u, unsigned a, unsigned b);                /* spaces and line numbers do not count */
guint64 hash_on(guint64 hash, const char *text);
char *text_flat(const unit *u, unsigned a, unsigned b); /* in one line */

/* edits.c */
void edit_replace(unit *u, unsigned a, unsigned b, const char *text);
void edit_around(unit *u, unsigned a, unsigned b, unsigned depth, const char *before, const char *after);
void edit_range(unit *u, unsigned a, unsigned b, const edit *except, GString *out);
char *node_text(unit *u, node *n);
void node_print(unit *u, node *n, GString *out);

/* types.c */
char *type_declare(unit *u, CXType t, const char *name, bool bare); /* bare: without const */
char *type_name(unit *u, CXType t);                                 /* for casts, without const */
char *type_describe(unit *u, CXType t, char **why);                 /* NULL and *why */
bool type_may_be_longer(CXType t);                                  /* it ends in an array of one element */
char *type_describe_longer(unit *u, CXType t, char **why);
char *type_describe_numbers(unit *u, const char *described, const char *name); /* name: of the type that is described */
/* Writes functions that pack and unpack the numbers of a struct: values are added in the order of its members. */
typedef struct packer {
    GString *pack, *unpack;
    unsigned long long at; /* bytes in the image */
    unsigned lines, loops;
    bool good;
} packer;

packer packer_new(void);
void packer_add(unit *u, packer *k, const variable *v);

/* The members of a description: initialisers, a line each, and their flags. */
typedef struct members {
    GString *text, *flags;
    unsigned n;
    bool flagged; /* one of them has flags */
} members;

members members_new(void);
void members_add(members *m, const char *name, const char *described, const char *offset, unsigned flags);
void type_write_struct(unit *u, const char *id, const char *shown, const char *ctype, members *m, packer *k); /* both are freed */
char *type_assign(unit *u, CXType t, const char *to, const char *from);
bool type_is_record(CXType t);
bool type_holds_jump_buffer(CXType t);
bool type_is_array(CXType t);
bool type_is_pointer(CXType t);
bool type_is_variable(CXType t); /* a VLA, or a pointer to one */
bool type_same(CXType a, CXType b);
bool type_same_everywhere(CXType a, CXType b); /* on this and all other machines: a size_t is no unsigned long */
const char *type_scalar(CXType t);             /* "int", "size"...: as <dome/capture.h> calls a number's type; else NULL */
bool type_is_wide_integer(CXType t);           /* int or larger */
long long type_image_size(CXType t);
bool becomes_everywhere(node *n, const char *to); /* an integer: by the conversions of "i < n", on all machines */
CXType type_pointee(CXType t);
CXType type_element(CXType t, char **count); /* of all dimensions */
bool type_is_function(CXType t);
bool type_is_argument_list(CXType t); /* va_list */
char *type_key(CXType t);

/* summary.c: which functions poll */
void summary_unit(program *p, unit *u);
void summary_complete(program *p);
const loop_plan *summary_loop(unit *u, node *n);
char *summary_short_nest(program *p, unit *u, node *loop);
char *summary_work(program *p, unit *u, node *body);
bool summary_is_checked(program *p, unit *u, node *body, unsigned together);
bool summary_may_copy(program *p, unit *u, node *n);
double summary_least_work(program *p, unit *u, node *n);
double summary_own_work(program *p, unit *u, node *n);
bool summary_is_plain(node *loop);
bool call_polls(program *p, unit *u, node *n);
bool summary_node_polls(program *p, unit *u, node *n); /* something in n does */
node *summary_counted(unit *u, node *loop);            /* LOOP_BITS: the variable */
void summary_mark_twins(program *p, unit *u);
void summary_mark(program *p, function *f);
char *function_key(unit *u, CXCursor decl);
bool declares_taken(function *f, CXCursor decl);

/* parallel.c: Dome programs */
void parallel_begin(program *p);
const char *parallel_prelude(const program *p);
const char *parallel_instead(const program *p, const char *name); /* what is called in place of a function; NULL: itself */
bool parallel_calls_dome(const program *p, const node *call); /* a function of Dome, which keeps no pointer to its arguments */
bool parallel_is_operation(const program *p, unit *u, const node *call); /* behind which the program may poll */
bool parallel_is_borrowed(function *f, node *n);                         /* a pointer into data of Dome */
void parallel_check(program *p, function *f); /* refuses pointers into local data that outlive a poll */

/* hold.c: functions that cannot be saved while they are active */
const char *hold_reason(unit *u, const node *top, unsigned begin);
void hold_call(unit *u, node *n, unsigned depth, const char *by);
/* jump.c: setjmp */
bool jump_is_set(const node *n);
void jump_call(program *p, unit *u, const function *f, node *n, unsigned depth);
void jump_check_copy(unit *u, node *n);
void jump_plan(function *f, node *n, GString *begin);
void jump_lower(function *f, node *n);
void jump_recover(function *f, GString *out);

/* profile.c: places of polls by a run of the program */
bool profile_counts(void); /* --polls=profile */
void profile_set_counts(void);
void profile_name(unit *u);
void profile_edit(program *p, unit *u, const char *output);
bool profile_read(const char *path, double interval);
bool profile_chooses(void); /* --polls=FILE */
double profile_limit(void); /* operations that an entry of a loop may have without a poll */
bool profile_loop(unit *u, node *n, double *iteration, double *most);
bool profile_function(function *f, double *most);
bool profile_judge(program *p, double most);

/* source.c: whether functions are those that they were */
GHashTable *source_take_macros(char *text); /* of the preprocessor, with -dD */
void source_find(unit *u, GHashTable *macros);
void source_write(const unit *u, GString *out);

/* heap.c: the types of blocks */
void heap_pragmas(program *p, unit *u);
void heap_infer(program *p);
void heap_call(program *p, unit *u, function *f, node *n, unsigned depth);
char *heap_wanting(unit *u, const node *n, const char *call);
const char *heap_address(program *p, unit *u, node *n, bool to_foreign);

/* module.c: statics, literals, tables */
bool is_foreign(program *p, unit *u, CXCursor d); /* a function that is not translated */
bool is_looked_for(CXCursor d);                   /* and that is declared only to see whether it is there */
bool in_list(const char *name, const char *const *list);
void module_edit(program *p, unit *u);
char *module_write(program *p, unit *u);

/* padding.c: structs whose padding is saved */
void padding_find(program *p, unit *u);
void padding_each(unit *u, CXType record, void (*function)(void *ctx, long long offset, long long bytes), void *ctx);

/* addresses.c: warnings of addresses that become numbers */
void addresses_look(program *p, unit *u, function *f, node *n);
void addresses_resolve(unit *u);

/* library.c: the C library */
unsigned library_keeps(const program *p, const char *name); /* for a function or variable: DOME_CAPTURE_KEEP_... */
void library_lends(const program *p, unit *u, node *call, const char *name, unsigned depth);
void library_variable(unit *u, node *n, CXCursor d); /* a mention of one of a library */
bool library_has_long_times(const node *call);

/* write.c: functions that may poll */
void write_function(program *p, function *f);
char *write_twin_declaration(unit *u, node *top, unsigned end);
char *write_plain_twin(function *f);
char *text_without_literals(char *text); /* in place */
bool strip_parts(unit *u, node *loop, node **variable, node **bound, char **comparison);
void for_parts(unit *u, node *n, node **init, node **condition, node **step, node **body);

/* What stands for the name of a function's twin, where it is called, until the text of the caller, or of its twin, is made. */
#define TWIN_MARK   "\003"
#define TWIN_PREFIX "dome__twin_"

/* What is written where a function tests whether it is captured, or called again to go on. */
#define IS_CAPTURING "dome__cc_status & 4"
#define IS_RESUMING  "dome__cc_status & 8"
_Static_assert(DOME_CAPTURE_CAPTURING == 4 && DOME_CAPTURE_RESUMING == 8, "what is written is what the library sets");

/* Around what only a function that is entered again needs. */
#define ENTERING "\004"
#define ENTERED  "\005"

/* live.c: what a function still needs */
void live_find(function *f);
bool live_is_needed(const function *f, const node *at, const variable *v); /* where the function can be captured */

/* lower.c: expressions */
void lower(program *p, function *f, node *n);
void lower_discarded(program *p, function *f, node *n);
void lower_assign(program *p, function *f, const variable *to, node *value);
void write_statement(program *p, function *f, node *n);
void write_block(program *p, function *f, node *n);
void write_assignment(function *f, const variable *to, const char *value);
void write_mark(function *f, node *n);
variable *temporary(function *f, CXType type, node *at);
bool stable(function *f, node *n);
void live_cut(function *f, unsigned level); /* what came into scope behind `level` goes out of it */

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

site *site_new(function *f, node *at, bool is_poll);

extern int strip_work; /* operations between two polls, about */

/* Which loops poll: those that may take long; none; or, from -1 up, the placements of Ferrari's thesis. */
enum { POLLS_AUTO = -3, POLLS_NONE = -2, POLLS_RECURSION = -1, POLLS_CALLS = 0 };
enum { POLLS_NESTS = 1, POLLS_LARGE_OUTERMOST = 2, POLLS_OUTERMOST = 4, POLLS_LARGE_INNERMOST = 8, POLLS_INNERMOST = 16 };
enum { POLLS_EVERY = POLLS_NESTS | POLLS_OUTERMOST | POLLS_INNERMOST };
extern int options_policy;
extern bool options_operations; /* --polls=operations */
#endif
