/* driver: what dome-cc does as a compiler: its command line, its commands, compiling and linking. */
#ifndef DOME_CC_DRIVER_H
#define DOME_CC_DRIVER_H

#include "front/model.h"

typedef struct options {
    char *compiler, *output, *dome;
    char *profile;           /* --polls=FILE */
    double most_overhead;    /* a share */
    double longest_interval; /* seconds */
    bool compile_only, emit, verbose;
    bool passes;          /* the compiler does it all: -E, say */
    GPtrArray *arguments; /* char *: all of them */
    GPtrArray *words;     /* word: those that are not ours, in order */
} options;

typedef enum { WORD_FLAG, WORD_PREPROCESSOR, WORD_DEPENDENCIES, WORD_WARNING, WORD_LINK, WORD_INPUT } word_kind;

typedef struct word {
    word_kind kind;
    char *text, *value; /* value: of "-D NAME", in an argument of its own */
} word;

enum {
    FLAGS = 1u << WORD_FLAG,
    PREPROCESSOR = 1u << WORD_PREPROCESSOR,
    DEPENDENCIES = 1u << WORD_DEPENDENCIES,
    WARNINGS = 1u << WORD_WARNING,
    LINK = 1u << WORD_LINK
};

typedef struct source {
    char *text; /* preprocessed; NULL: there is none */
    gsize length;
    GHashTable *macros; /* its own */
    char *errors;
} source;

/* arguments.c: The command line. False: dome-cc ends, with *status; what is wrong has been printed. */
bool arguments_read(options *o, int argc, char **argv, int *status);
bool arguments_is_own(const char *argument); /* no option of the compiler */

/* files.c: Files: temporary ones, those that dome-cc writes, and what their names say */
char *files_scratch(const char *suffix); /* the name of a new one, removed when dome-cc ends */
bool files_write(const char *name, const char *text, gssize length);
bool files_is_missing(const char *file);            /* true after a message */
const char *files_other_language(const char *file); /* "C++": what dome-cc does not translate */
char *files_object_name(const char *source);        /* "dir/name.c" gives "name.o" */

/* command.c: Commands: the compiler and what belongs to it */
GPtrArray *command_new(const options *o); /* the compiler */
void command_add(GPtrArray *command, const char *text);
void command_add_words(const options *o, GPtrArray *command, unsigned kinds);
void command_add_word(GPtrArray *command, const word *w);
int command_run(const options *o, GPtrArray *command, char **output);
int command_run_captured(const options *o, GPtrArray *command, char **output, char **errors);
char *command_ask(const options *o, GPtrArray *command);
char *command_tool(const options *o, const char *name);

/* library.c: Where Dome is */
void library_add_include(const options *o, GPtrArray *command);
bool library_add(const options *o, const unit *u, GPtrArray *command);
bool library_is_static(const options *o); /* "-static" is given */

/* compile.c: One C file */
unit *compile_parse(const options *o, const char *path, char *text, gsize length, GPtrArray *flags);
int compile_plainly(const options *o, const char *path, const char *object, const source *s);
GPtrArray *compile_flags(const options *o);
int compile_read(const options *o, const char *path, const char *object, source *s);
int compile_text(const options *o, const unit *u, const char *text, GPtrArray *flags, const char *object);
int compile_files(const options *o); /* -c: each file of the command line */

/* link.c: A program of all its files. The compiler's status, or 1. */
int link_program(const options *o);

#endif
