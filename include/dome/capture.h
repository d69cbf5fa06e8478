/* Saving a program inside its calls: the run-time library.
 *
 * A program written as below can be saved while functions are active, and goes on from there: after
 * a crash, on another machine, with another byte order or word size. Its calls on the stack, its
 * variables, its heap with all pointers and its open files are the image, an object of the
 * checkpoint. No call of dome.h is needed:
 *
 *     ./queens --dome-checkpoint-dir saved --dome-checkpoint-every 60s 12
 *     ./queens --dome-checkpoint-dir saved --dome-restart
 *
 * How it works. At some places the program POLLS: it tests a status word. When a checkpoint is
 * requested, the poll begins to CAPTURE: the function puts its variables and the number of the
 * place (the point) into a record and returns; its caller sees that, does the same, and so on up to
 * dome_capture_main, which writes the checkpoint. Then the program RESUMES: main is called again,
 * each function takes its record back and jumps to its point, which is the call of the next one,
 * down to the poll, where the program continues. After a restart the records come from the
 * checkpoint.
 *
 * A whole program, the placing of n queens:
 *
 *     #include <dome/capture.h>
 *
 *     static int n;                             // a global: registered below
 *     struct place_memory { int column; };      // locals whose address is taken, and arrays
 *     struct place_saved { int row; const int *above; long found; };                // the other locals
 *     static const dome_capture_member place_memory_members[] = {
 *         {"column", &dome_capture_int, offsetof(struct place_memory, column)}};
 *     static dome_capture_type place_memory = DOME_CAPTURE_STRUCT("place memory", struct place_memory, place_memory_members);
 *     static dome_capture_type int_pointer = DOME_CAPTURE_POINTER_TO("int *", &dome_capture_int);
 *     static const dome_capture_member place_saved_members[] = {
 *         {"row", &dome_capture_int, offsetof(struct place_saved, row)},
 *         {"above", &int_pointer, offsetof(struct place_saved, above)},
 *         {"found", &dome_capture_long, offsetof(struct place_saved, found)}};
 *     static dome_capture_type place_saved = DOME_CAPTURE_STRUCT("place saved", struct place_saved, place_saved_members);
 *     static dome_capture_function place_function = {.name = "place", .saved = &place_saved, .memory = &place_memory};
 *
 *     static long place(int *queens, int row)   // queens: the columns of the rows above, a heap array
 *     {
 *         long found = 0, t;
 *         const int *above = queens;
 *         struct place_memory *m = dome_capture_enter(&place_function);       // zeros, or the old values
 *         if (dome_capture_status & DOME_CAPTURE_RESUMING) {
 *             int point;
 *             const struct place_saved *s = dome_capture_pop(&place_function, &point);
 *             row = s->row, above = s->above, found = s->found;
 *             if (point == 1)
 *                 goto point_1;
 *             goto point_2;
 *         }
 *     point_1:
 *         if (dome_capture_status && dome_capture_poll()) {                    // a poll
 *             struct place_saved *s = dome_capture_push(&place_function, 1);
 *             *s = (struct place_saved){row, above, found};
 *             return 0;                                       // nobody looks at the value
 *         }
 *         ...
 *     point_2:
 *         t = place(queens, row + 1);                         // a call that may poll
 *         if (dome_capture_status & DOME_CAPTURE_CAPTURING) {
 *             struct place_saved *s = dome_capture_push(&place_function, 2);
 *             *s = (struct place_saved){row, above, found};
 *             return 0;
 *         }
 *         found += t;                                         // only now: t is no result while capturing
 *         ...
 *         dome_capture_leave(&place_function);
 *         return found;
 *     }
 *
 *     static dome_capture_global globals[] = {{"queens.c:n", &n, &dome_capture_int, 1, 0}};
 *     static dome_capture_function *functions[] = {&place_function, &program_function};
 *     static dome_capture_module module = {.size = sizeof module, .name = "queens.c",
 *         .globals = globals, .nglobals = 1, .functions = functions, .nfunctions = 2};
 *     __attribute__((constructor)) static void enlist(void) { dome_capture_register(&module); }
 *     int main(int argc, char **argv) { return dome_capture_main(argc, argv, program); }
 *
 * docs/capture.md has it in full and explains it.
 *
 * Only the functions for Dome programs are collective. All of it belongs to the thread of main. An
 * error that leaves no way to go on prints one line and ends the program. */
#ifndef DOME_CAPTURE_H
#define DOME_CAPTURE_H

#include <dome/layout.h>
#include <dome/type.h>

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define DOME_CAPTURE_UNUSED __attribute__((__unused__))
#else
#define DOME_CAPTURE_UNUSED
#endif

/* ---- types ----
 *
 * A type describes a value in this machine's memory and in the image, where it has the same form on
 * every machine (big-endian, no padding). Types are static variables; they are not const, because
 * the library notes in them what it has worked out. Two descriptions are the same type if their
 * names and their shapes are equal, so that each source file may have its own. A type may refer to
 * itself through pointers (`static dome_capture_type node_type;` declares it first).
 *
 * Refused: bit-fields and arrays of variable length have no description; nor has a long double,
 * whose form differs between machines. */
typedef enum dome_capture_kind {
    DOME_CAPTURE_KIND_SCALAR,  /* a number */
    DOME_CAPTURE_KIND_POINTER, /* to data, a function or a stream */
    DOME_CAPTURE_KIND_ARRAY,
    DOME_CAPTURE_KIND_STRUCT,
    DOME_CAPTURE_KIND_UNION
} dome_capture_kind;

typedef struct dome_capture_type dome_capture_type;

typedef struct dome_capture_member {
    const char *name;
    dome_capture_type *type; /* of count 0 (DOME_CAPTURE_FLEXIBLE): only as the last member of a heap block's struct */
    size_t offset;
} dome_capture_member;

struct dome_capture_type {
    const char *name; /* as messages and `dome ckpt show` call it; the same on all machines */
    dome_capture_kind kind;
    dome_type_kind scalar;      /* SCALAR: the form in the image. A long is DOME_KIND_I64, whatever its size here */
    size_t size;                /* sizeof */
    dome_capture_type *element; /* ARRAY: of its elements. POINTER: what it points to, NULL if unknown (void *, functions) */
    size_t count;               /* ARRAY: elements. STRUCT, UNION: members */
    const dome_capture_member *members; /* STRUCT: in the order of the image. UNION: all with offset 0 */
    /* UNION: the number of the member that is in use; any other number: none. It gets the address of
     * the union, from which it may go to the struct around it and read numbers there, but no pointers
     * (they are restored later). */
    int (*which)(const void *value);
    void *known; /* the library's; NULL at first */
    /* STRUCT, optional, both or none: convert the numbers of `count` values that lie one after the
     * other to the form in the image and back, which is faster than by this description. They leave
     * pointers alone, and their 16 bytes in the image. unpack: false if a number does not fit.
     * dome-cc writes them; of a struct that contains unions they are not used. */
    void (*pack)(void *to, const void *from, size_t count);
    bool (*unpack)(void *to, const void *from, size_t count);
    const unsigned char *member_flags; /* STRUCT, optional: DOME_CAPTURE_NUMBERS, DOME_CAPTURE_MAY_DANGLE of each member */
};

/* Checks from which a variable, a member or all that it contains is excepted (see Pointers below).
 */
enum {
    DOME_CAPTURE_NUMBERS = 2,    /* its numbers are no addresses, whatever they look like */
    DOME_CAPTURE_MAY_DANGLE = 4, /* its pointers may lead nowhere: the program uses those no more */
    DOME_CAPTURE_TEXT = 8        /* its char pointers may lead to a text of a library, of which the program gets a copy */
};

/* Initialisers: `static dome_capture_type t = DOME_CAPTURE_STRUCT("struct node", struct node, node_members);` */
#define DOME_CAPTURE_SCALAR(text, form, ctype)                                                                                   \
    {                                                                                                                            \
        (text), DOME_CAPTURE_KIND_SCALAR, (form), sizeof(ctype), NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL                     \
    }
#define DOME_CAPTURE_POINTER_TO(text, target)                                                                                    \
    {                                                                                                                            \
        (text), DOME_CAPTURE_KIND_POINTER, DOME_KIND_U64, sizeof(void *), (target), 0, NULL, NULL, NULL, NULL, NULL, NULL        \
    }
#define DOME_CAPTURE_ARRAY(text, element, elementctype, count)                                                                   \
    {                                                                                                                            \
        (text), DOME_CAPTURE_KIND_ARRAY, DOME_KIND_U8, sizeof(elementctype) * (count), (element), (count), NULL, NULL, NULL,     \
            NULL, NULL, NULL                                                                                                     \
    }
#define DOME_CAPTURE_FLEXIBLE(text, element)                                                                                     \
    {                                                                                                                            \
        (text), DOME_CAPTURE_KIND_ARRAY, DOME_KIND_U8, 0, (element), 0, NULL, NULL, NULL, NULL, NULL, NULL                       \
    }
#define DOME_CAPTURE_STRUCT(text, ctype, list)                                                                                   \
    {                                                                                                                            \
        (text), DOME_CAPTURE_KIND_STRUCT, DOME_KIND_U8, sizeof(ctype), NULL, sizeof(list) / sizeof((list)[0]), (list), NULL,     \
            NULL, NULL, NULL, NULL                                                                                               \
    }
#define DOME_CAPTURE_UNION(text, ctype, list, function)                                                                          \
    {                                                                                                                            \
        (text), DOME_CAPTURE_KIND_UNION, DOME_KIND_U8, sizeof(ctype), NULL, sizeof(list) / sizeof((list)[0]), (list),            \
            (function), NULL, NULL, NULL, NULL                                                                                   \
    }

/* X(name, form in the image, C type): dome_capture_int and so on, a static variable in each source
 * file. An enum is the integer type that the compiler gives it (int or unsigned int as a rule).
 * size_t, ptrdiff_t and the like have names of their own, because they are not the same basic type
 * on all machines. A value that does not fit where it is restored (2^40 into a long of 4 bytes) is
 * an error there that names the variable. */
#define DOME_CAPTURE_SCALARS(X)                                                                                                  \
    X(bool, U8, _Bool)                                                                                                           \
    X(char, U8, char)                                                                                                            \
    X(schar, I8, signed char)                                                                                                    \
    X(uchar, U8, unsigned char)                                                                                                  \
    X(short, I16, short)                                                                                                         \
    X(ushort, U16, unsigned short)                                                                                               \
    X(int, I32, int)                                                                                                             \
    X(uint, U32, unsigned int)                                                                                                   \
    X(long, I64, long)                                                                                                           \
    X(ulong, U64, unsigned long)                                                                                                 \
    X(llong, I64, long long)                                                                                                     \
    X(ullong, U64, unsigned long long)                                                                                           \
    X(size, U64, size_t)       /* uintptr_t as well, if it holds numbers and no addresses */                                     \
    X(ptrdiff, I64, ptrdiff_t) /* ssize_t, intptr_t */                                                                           \
    X(float, F32, float)                                                                                                         \
    X(double, F64, double)                                                                                                       \
    X(fcomplex, C64, float _Complex)                                                                                             \
    X(dcomplex, C128, double _Complex)
#ifndef __cplusplus
#define DOME_CAPTURE_VARIABLE(name, form, ctype)                                                                                 \
    DOME_CAPTURE_UNUSED static dome_capture_type dome_capture_##name = DOME_CAPTURE_SCALAR(#name, DOME_KIND_##form, ctype);
DOME_CAPTURE_SCALARS(DOME_CAPTURE_VARIABLE)
#undef DOME_CAPTURE_VARIABLE
/* void *, a pointer to a function, FILE *, a pointer to a type without a description. */
DOME_CAPTURE_UNUSED static dome_capture_type dome_capture_pointer = DOME_CAPTURE_POINTER_TO("void *", NULL);
#endif

/* Pointers. In the image a pointer says what it points to: NULL, or a place in a block, which is a
 * block of the heap, a global, a string literal, or the memory of an active function
 * (dome_capture_enter); or a function; or a stream. In a block it may point to anything that has an
 * address of its own: an element or member, or one past the last. A pointer to a byte inside of a
 * number goes on only on machines of the same byte order. A value between -4096 and 4095 is kept as
 * it is ((void *)-1).
 *
 * Any other pointer is dangling. One to a block that was freed, a stream that was closed, or a
 * variable of a function that has returned cannot be used any more: after a restart it is
 * DOME_CAPTURE_DANGLING, an address that faults. One to memory that the library does not know (of
 * mmap, or of a library) could be used now and not after a restart, so there is no checkpoint; a
 * line names the variable. DOME_CAPTURE_MAY_DANGLE says that the program does not use it.
 *
 * Addresses in numbers. An address that is in the image as a number leads elsewhere after a restart.
 * So there is no checkpoint either, and a line names the variable, if
 *  - an integer or a double of 8 bytes (on machines of 32 bits also a long or size_t) holds the
 *    address of a block, a global or a function, also with the highest 13 to 17 bits set, which make
 *    a double no number, or with some of the lowest three bits set;
 *  - bytes that lie where a pointer would hold such an address;
 *  - a pointer to a struct with pointers, or to a pointer, leads into a block that has numbers only.
 * An array of more than 4096 integers counts only with addresses of the beginning of something, and
 * those below 2^32 on a machine of 64 bits do not count, because other numbers are often like them.
 * DOME_CAPTURE_NUMBERS excepts a variable or a member. */
#define DOME_CAPTURE_DANGLING ((void *)(uintptr_t)4096)

/* ---- what a source file has ---- */

typedef enum dome_capture_global_flags {
    DOME_CAPTURE_GLOBAL_PLAIN = 0,
    DOME_CAPTURE_GLOBAL_CONSTANT = 1 /* known, because pointers lead to it, but not saved: string literals, const tables */
                                     /* and DOME_CAPTURE_NUMBERS, DOME_CAPTURE_MAY_DANGLE */
} dome_capture_global_flags;

/* A global, file static, function static or string literal. */
typedef struct dome_capture_global {
    const char *name; /* differs from all others of the program, and is the same in each build: "n", "queens.c:n",
                         "queens.c:place:calls", "queens.c:literal 3" */
    const void *address;
    dome_capture_type *type; /* of an element */
    size_t count;            /* elements */
    unsigned flags;
} dome_capture_global;

/* A function of which a pointer may be kept. */
typedef struct dome_capture_code {
    const char *name; /* "compare", "queens.c:compare" of a static one */
    void (*address)(void);
} dome_capture_code;

/* A function that can be active when the program is captured. */
typedef struct dome_capture_function {
    const char *name;          /* "place"; "queens.c:place" of a static one if other files have one of that name */
    dome_capture_type *saved;  /* a struct of the variables that it puts into its record; NULL: it has none */
    dome_capture_type *memory; /* a struct of the variables that live in dome_capture_enter's memory; NULL: none */
    uint64_t version;          /* of its source (a hash): an image of another version is refused. 0: not checked */
    const char *const *points; /* optional, for messages: where point k is, "queens.c:27"; npoints of them */
    size_t npoints;
    void *known; /* the library's; NULL at first */
} dome_capture_function;

/* A function, or a constant that is known but not saved. An image has its name and hash; where the program that restarts has
 * another hash, a line says so, and the program goes on. (Of active functions, `version` decides whether it can.) */
typedef struct dome_capture_source {
    const char *name; /* "place", "queens.c:place" of a static one */
    uint32_t hash;    /* of its text, literals included; the same on all machines */
} dome_capture_source;

/* The description of a source file for the library. Absent tables are NULL and 0. */
typedef struct dome_capture_module {
    size_t size;      /* sizeof(dome_capture_module) */
    const char *name; /* "queens.c" */
    dome_capture_global *globals;
    size_t nglobals;
    dome_capture_function **functions;
    size_t nfunctions;
    const dome_capture_code *codes;
    size_t ncodes;
    dome_capture_type **types; /* those of its heap blocks: the image names them */
    size_t ntypes;
    const dome_capture_source *sources; /* optional */
    size_t nsources;
} dome_capture_module;

/* Makes a module known, before dome_capture_main (a constructor does). The tables stay the caller's
 * and must remain. The order of modules does not matter. Two globals, functions or codes of one
 * name are an error at dome_capture_main. */
void dome_capture_register(dome_capture_module *module);

/* ---- running ---- */

/* Runs `program`, which is main under another name, and returns main's status. It begins a Dome
 * program of one task: reads --dome-* options from DOME_OPTIONS and argv and removes them. argv's
 * texts are copied into the heap, so that pointers to them are kept: after a restart the arguments
 * are those of the first start. argv[0] is the program's name without its directory. The program
 * may call exit. `program` must be one of the registered functions that can be captured, or poll
 * never. */
int dome_capture_main(int argc, char **argv, int (*program)(int argc, char **argv));

/* ---- Dome programs ----
 *
 * A program of several tasks, written after the same pattern: dome_capture_dome_main calls dome_init and then `program` on every
 * task, and the program calls these in the place of dome_init, dome_finalize, dome_checkpoint and dome_is_restarting. It polls
 * nowhere else. dome_capture_checkpoint, in any function that is written so, is dome_checkpoint, and a call that may poll: where
 * a checkpoint or a change of the number of tasks is due, all tasks are captured, and go on behind the call, in this process, or
 * after a restart, or in the next view. So dome_capture_is_restarting is always false.
 *
 * Variables may have handles: dome_env, dvec, dscalar, dsparse, structures of the program's own whose table has `make`
 * (structure.h), dome_object, layouts, types. All live objects are saved, also those without a name of the program's, and are
 * made again with their values before the program goes on. Variables, globals and heap that are equal on all tasks are saved
 * once; a program with values that differ (a line names the first) goes on with the same number of tasks only. dome-cc
 * translates Dome programs so. Collective, all of them. */
int dome_capture_dome_main(int argc, char **argv, int (*program)(int argc, char **argv));
dome_env *dome_capture_init(int *argc, char ***argv);
int dome_capture_finalize(dome_env *env);
dome_status dome_capture_checkpoint(dome_env *env);

/* As those of layout.h, for layouts that variables have while the program is saved: they come back as they were, over as many
 * tasks. */
dome_layout *dome_capture_layout_new(uint64_t n, uint64_t block_size, int ntasks, uint64_t start, const uint64_t *counts);
dome_layout *dome_capture_layout_even(uint64_t n, uint64_t block_size, int ntasks);
dome_layout *dome_capture_layout_ref(const dome_layout *layout);
void dome_capture_layout_unref(dome_layout *layout);

/* For a Dome program that never calls dome_checkpoint, or rarely. dome_capture_poll_operations, before dome_capture_dome_main,
 * says that it polls behind operations; dome_capture_operation is that poll: `if (dome_capture_operation())` as with
 * dome_capture_poll, directly behind a call that all tasks make together. On all tasks these polls are the same ones: the hub
 * orders the captured poll by its number. A poll behind a call that was no operation (dvec_free(NULL)) does nothing. */
void dome_capture_poll_operations(void);
int dome_capture_operation(void);
bool dome_capture_is_restarting(const dome_env *env);

/* The status word: 0 as long as there is nothing to do. Only read it. */
extern volatile int dome_capture_status;
enum {
    DOME_CAPTURE_REQUESTED = 1, /* the next poll captures */
    DOME_CAPTURE_COUNTING = 2,  /* polls are counted */
    DOME_CAPTURE_CAPTURING = 4, /* functions return one by one; after a call: save and return */
    DOME_CAPTURE_RESUMING = 8   /* functions are called again; at a function's begin: pop, and go to the point */
};

/* At a poll whose status is not 0: `if (dome_capture_status && dome_capture_poll())`. True: the
 * program is captured from here: dome_capture_push with this poll's point, then return. False: go
 * on; in the phase RESUMING this was the place where the program was captured, which ends the
 * phase. */
int dome_capture_poll(void);

/* The variables of a function whose address is taken, and its arrays: memory of the size of
 * function->memory, which begins as zeros and belongs to the call until dome_capture_leave. It
 * stays at its address while the program is captured and resumed, so pointers into it remain valid.
 * Call it first thing; in the phase RESUMING it returns the memory of the call that goes on. Never
 * NULL. dome_capture_leave: before each return, except the one after dome_capture_push; calls end
 * in the reverse order of their beginnings. Only for functions with .memory. */
void *dome_capture_enter(dome_capture_function *function);
void dome_capture_leave(dome_capture_function *function);

/* In the phase CAPTURING: begins the record of this call and returns its memory, of the size of
 * function->saved, as zeros; the function fills it in and returns. `point` is from 0 up. NULL if
 * function->saved is. */
void *dome_capture_push(dome_capture_function *function, int point);

/* In the phase RESUMING: the record of this call (NULL if function->saved is), and its point. The
 * memory is the caller's to read until its next call of this header. */
const void *dome_capture_pop(dome_capture_function *function, int *point);

/* Between these two calls polls only note that they were reached. Use them around a call of foreign
 * code that calls back (qsort, bsearch), whose frame could not be saved. They nest. */
void dome_capture_hold(void);
void dome_capture_release(void);

/* The same, with the name of the function that cannot be saved, for messages. The text stays the caller's, and must remain. */
void dome_capture_hold_in(const char *function);

/* setjmp and longjmp. A function takes the mark before it calls setjmp, and gives it to
 * dome_capture_jumped if setjmp returns another value than 0. That gives back the memory
 * (dome_capture_enter) and ends the holds (dome_capture_hold) of the functions that longjmp has
 * left. A function that called setjmp and is entered again must call it again for the same buffer
 * before it goes to its point, because the stack is another one. */
long long dome_capture_jump_mark(void);
void dome_capture_jumped(long long mark);

/* ---- requests ----
 *
 * A checkpoint is requested by the program's options (--dome-checkpoint-every: seconds, or polls if
 * it is a number alone), by SIGUSR1 and SIGTERM as in other Dome programs (docs/checkpoints.md),
 * and by these calls. Without --dome-checkpoint-dir the program is captured and resumed, and
 * nothing is written. */

/* Requests a checkpoint at the next poll. May be called in a signal handler and by any thread. */
void dome_capture_request(void);

/* The same for the poll that will be number `poll` of the program, from 1 up; those of its earlier
 * runs count, if they were counted. Polls are counted from this call on. A later call replaces the
 * request. */
void dome_capture_request_at(uint64_t poll);

/* How many polls were counted since the program began, with those before a restart. */
uint64_t dome_capture_polls(void);

/* How often this process was captured, and whether the program has been restored from an image. */
uint64_t dome_capture_captures(void);
bool dome_capture_restored(void);

/* ---- the heap ----
 *
 * As the functions of stdlib.h and string.h, with the type of an element first. A block is a number
 * of elements: `bytes` is a multiple of type->size, or, for a struct with a flexible last member,
 * its size and that of some elements of it. A block of any other size is one of bytes (unsigned
 * char), whatever its type: only machines of the same byte order go on with numbers in it, and none
 * with pointers. The memory begins as zeros. NULL if there is no memory. A block keeps its identity and its type
 * when its size changes; but for NULL, and a block of no chars, dome_capture_realloc takes `type`.
 *
 * dome_capture_realloc and dome_capture_free accept blocks of the ordinary malloc too (of
 * realpath): such a block stays what it is. */
void *dome_capture_malloc(dome_capture_type *type, size_t bytes);
void *dome_capture_calloc(dome_capture_type *type, size_t count, size_t bytes);
void *dome_capture_realloc(dome_capture_type *type, void *block, size_t bytes);
char *dome_capture_strdup(const char *text);
char *dome_capture_strndup(const char *text, size_t most);
void dome_capture_free(void *block);

/* For a function that allocates for its callers, who alone know the type, and has no parameter for
 * it: a function that is called by a pointer of malloc's type, for instance. The caller sets
 * dome_capture_wanted before the call, and to its old value behind it. The function calls these,
 * which are as malloc, calloc and realloc of stdlib.h and take the type from there. A new block
 * without a type (NULL) is an error. */
extern dome_capture_type *dome_capture_wanted;
void *dome_capture_malloc_wanted(size_t bytes);
void *dome_capture_calloc_wanted(size_t count, size_t bytes);
void *dome_capture_realloc_wanted(void *block, size_t bytes);

/* As those of stdio.h, which give blocks of the ordinary malloc. */
ptrdiff_t dome_capture_getline(char **line, size_t *size, FILE *stream);
ptrdiff_t dome_capture_getdelim(char **line, size_t *size, int delimiter, FILE *stream);
#if defined(__GNUC__)
__attribute__((__format__(__printf__, 2, 3)))
#endif
int dome_capture_asprintf(char **text, const char *format, ...);
#if defined(__GNUC__)
__attribute__((__format__(__printf__, 2, 0)))
#endif
int dome_capture_vasprintf(char **text, const char *format, va_list arguments);

/* Blocks that are allocated now. */
size_t dome_capture_blocks(void);

/* ---- streams ----
 *
 * As in stdio.h. Streams opened here, stdin, stdout and stderr are known: all other functions of
 * stdio.h are used with them as they are. The image has a stream's path, mode and position, and the
 * length of a file that is written. After a restart the file is opened again at that position, and
 * one that is written is cut to that length, so that no output after the checkpoint is there twice.
 * A written file of at most 64 KiB is in the image, and comes back as it was. A longer one that is
 * missing or shorter than it was is an error; its content that was overwritten in place ("r+") is
 * not brought back. While a stream's file is under another name than it was opened by, or removed,
 * there is no checkpoint. The image also has whether a stream is at its end and whether it has
 * failed (feof, ferror). A buffer of setvbuf is lost.
 *
 * stdin is set to its position if it is a regular file. Output on stdout after the checkpoint is
 * printed again. dome_capture_fdopen knows a regular file by the name that it has then; after a
 * restart it is opened by that, and its descriptor may be another one. tmpfile, popen, other streams
 * of fdopen, sockets, pipes and threads of the program cannot be saved: a checkpoint is refused with
 * a line that names them, and the program continues. */
FILE *dome_capture_fopen(const char *path, const char *mode);
FILE *dome_capture_fdopen(int descriptor, const char *mode);
FILE *dome_capture_freopen(const char *path, const char *mode, FILE *stream);
int dome_capture_fclose(FILE *stream);

/* As ungetc; a character that is to be read again is in the image, if the stream has a position. */
int dome_capture_ungetc(int c, FILE *stream);

/* ---- what the C library keeps ----
 *
 * rand, random, drand48, strtok and getopt keep state between calls, in memory of the C library that
 * is not saved. The functions here do the same as glibc's, number by number, and their state is in
 * the image if dome_capture_keep has been called with their bit, before dome_capture_main (in a
 * constructor, as dome_capture_register). For getopt there are no functions: its variables optind,
 * optarg, opterr and optopt are saved, and so are errno, the locale, umask and the mask of signals.
 * Between the letters of one argument (-abc) it begins anew after a restart. The old actions that
 * the program gets for signals are its own, never Dome's handlers, which come back when the program
 * sets the default action. */
int dome_capture_rand(void);
void dome_capture_srand(unsigned seed);
long dome_capture_random(void);
void dome_capture_srandom(unsigned seed);
double dome_capture_drand48(void);
long dome_capture_lrand48(void);
long dome_capture_mrand48(void);
void dome_capture_srand48(long seed);
char *dome_capture_strtok(char *text, const char *delimiters);
void (*dome_capture_signal(int number, void (*handler)(int)))(int);
int dome_capture_sigaction(int number, const void *action, void *before); /* of struct sigaction */
int dome_capture_atexit(void (*function)(void));                          /* at most 64 of them */

/* Results that the C library lends to the program: the program gets a copy, which is saved. A text
 * (of getenv, strerror, setlocale, nl_langinfo; NULL stays NULL) is there as often as it differs,
 * until the program ends. There is one struct tm (of gmtime, localtime) and one text of asctime and
 * ctime, as in the C library. */
char *dome_capture_text(const char *lent);
struct tm *dome_capture_calendar(const struct tm *lent);
char *dome_capture_calendar_text(const char *lent);

/* As clock and clock_gettime; after a restart the clocks that begin with the process or the machine go on from where they were:
 * the time between the checkpoint and the restart does not count. */
long dome_capture_clock(void);
int dome_capture_clock_gettime(int id, struct timespec *now);

enum {
    DOME_CAPTURE_KEEP_RANDOM = 1, /* rand, random */
    DOME_CAPTURE_KEEP_RANDOM48 = 2,
    DOME_CAPTURE_KEEP_STRTOK = 4,
    DOME_CAPTURE_KEEP_GETOPT = 8,
    DOME_CAPTURE_KEEP_ERRNO = 16,
    DOME_CAPTURE_KEEP_ATEXIT = 32,
    DOME_CAPTURE_KEEP_SIGNAL = 64,
    DOME_CAPTURE_KEEP_LOCALE = 128, /* of setlocale. An error at a restart where it is not installed */
    DOME_CAPTURE_KEEP_UMASK = 256,
    DOME_CAPTURE_KEEP_SIGNAL_MASK = 512, /* of sigprocmask */
    DOME_CAPTURE_KEEP_TEXTS = 1024,
    DOME_CAPTURE_KEEP_CALENDAR = 2048,
    DOME_CAPTURE_KEEP_CLOCKS = 4096,
    DOME_CAPTURE_KEEP_FLOATING = 8192 /* of fesetround and the like: the way of rounding, exceptions, those that are trapped */
};
void dome_capture_keep(unsigned what);

/* ---- callbacks ---- */

typedef enum dome_capture_event {
    DOME_CAPTURE_BEFORE_CHECKPOINT, /* captured; the image has not been taken. All functions have returned */
    DOME_CAPTURE_AFTER_CHECKPOINT,  /* before the program resumes */
    DOME_CAPTURE_AFTER_RESTART      /* globals, heap and streams are restored; before the program resumes */
} dome_capture_event;

/* Calls function(context) at each event, in the order in which they were given; at AFTER_ events in
 * the reverse order. To be called before dome_capture_main, as a constructor. A result other than 0
 * of a function for BEFORE_CHECKPOINT refuses that checkpoint, of AFTER_RESTART ends the program:
 * no further function is called then. At AFTER_CHECKPOINT all are called, whatever they return. */
void dome_capture_on(dome_capture_event event, int (*function)(void *context), void *context);

#ifdef __cplusplus
}
#endif
#endif
