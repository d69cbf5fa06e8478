/* Shared by the folders of dome-cc: nodes, functions, files, the program.
 *
 * A unit is one source file. It is preprocessed by the compiler, parsed by libclang, and written again
 * with edits of its preprocessed text: there are no macros left that an edit could cut, and the line
 * markers keep the user's lines. Functions that may poll are written anew, statement by statement;
 * statements of theirs that cannot poll, and all other functions, are copied with small edits. */
#ifndef DOME_CC_MODEL_H
#define DOME_CC_MODEL_H

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
    unsigned index; /* liveness.c */
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

/* Whether a function is written twice: plan/twins.c decides. */
typedef struct function_twins {
    unsigned callers;        /* calls of it in the text of the program */
    struct function *caller; /* one of them */
    bool exists;
    bool split;  /* it has a twin that it calls itself when the program goes on */
    bool cannot; /* it cannot have one */
} function_twins;

/* How long a call takes: plan/work.c estimates. */
typedef struct function_work {
    double cost;  /* operations of a call, if it does not poll */
    bool unknown; /* it calls what may take any time, as functions of libraries do */
    enum { FUNCTION_NEW, FUNCTION_BEGUN, FUNCTION_DONE } planned;
} function_work;

/* Loops that are written in strips: emit/loop.c. */
typedef struct function_strips {
    GHashTable *heads; /* loops that were cut into strips -> the number of their label */
    bool checks;       /* what is written is a strip: loops inside leave it if they are not short */
    int in_nest;       /* loops around this one that cut off iterations of little work */
} function_strips;

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
    bool operation; /* one of Dome, behind which the program polls */
    function_twins twins;
    bool told; /* its twin is declared */
    function_work work;
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
    GHashTable *needed;   /* liveness.c */
    bool has_memory, has_saved, has_labels, hoists_labels;
    int temporaries, continues;
    function_strips strips;
} function;

/* What libclang has made of the text: front/unit.c. */
typedef struct unit_parsed {
    CXIndex index;
    CXTranslationUnit tu;
    CXFile file;
} unit_parsed;

/* Changes of the text: front/edit.c. */
typedef struct unit_edits {
    GArray *list; /* edit */
    bool sorted;
} unit_edits;

/* What functions declare and the file must have: plan/lift.c. */
typedef struct unit_lift {
    GArray *hoists;     /* hoist */
    GHashTable *lifted; /* offsets of declarations of functions that are the file's now */
} unit_lift;

/* Tables that the written file has, in the order in which struct dome__cc_module has them; char *: initialisers of globals and
 * codes, functions, identifiers of types of blocks, and sources of functions and constants, "1f2e3d4c NAME". */
enum { TABLE_GLOBALS, TABLE_FUNCTIONS, TABLE_CODES, TABLE_HEAP_TYPES, TABLE_SOURCES, TABLES };

typedef struct unit {
    struct program *program;
    char *path;     /* as it was given */
    char *name;     /* in images */
    char *original; /* text, and its length */
    unsigned length;
    unit_parsed parsed;
    GPtrArray *tops;      /* node: declarations outside of system headers, in order */
    GPtrArray *ends;      /* unsigned: where text may be inserted before each of them */
    GPtrArray *functions; /* function: definitions */
    unit_edits edits;
    GHashTable *renamed; /* offset of a declaration -> its new name */
    GHashTable *by_call; /* names of functions that are defined here -> function */
    GString *prelude, *tail;
    GHashTable *types;       /* key -> identifier of its description */
    GHashTable *enumerators; /* name -> long long *; NULL: not gathered yet */
    GPtrArray *tables[TABLES];
    GHashTable *literals;   /* text -> identifier */
    GHashTable *file_names; /* names of the file's scope */
    GArray *pragmas;        /* pragma */
    GHashTable *loops;      /* node -> loop_plan */
    GHashTable *loop_names; /* node -> its name in a profile */
    unit_lift lift;
    GArray *addresses; /* addresses.c; NULL: none */
    GHashTable *quiet; /* node: calls of operations behind which there is no poll; NULL: none */
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
    GHashTable *wrappers;   /* keys of functions that allocate blocks for their callers: blocks.c */
    GHashTable *whole;      /* names of structs that are saved with their padding: padding.c */
    bool parallel;          /* it calls dome_init */
    bool between;           /* it polls behind its operations */
} program;

#endif
