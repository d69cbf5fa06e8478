/* Shared by the subcommands of dome ckpt. These take their arguments as main does, and return the exit status. */
#ifndef DOME_TOOLS_DOME_CKPT_H
#define DOME_TOOLS_DOME_CKPT_H

#include "store/reader.h"

#include <stdio.h>

int dome__ckpt_command_ls(int argc, char **argv);
int dome__ckpt_command_show(int argc, char **argv);
int dome__ckpt_command_verify(int argc, char **argv);
int dome__ckpt_command_diff(int argc, char **argv);

/* Parses options; between `least` and `most` arguments must remain, from argv[1] on. Otherwise ends the program with status 2. */
void dome__ckpt_parse(int *argc, char ***argv, const GOptionEntry *entries, const char *usage, const char *summary, int least,
                      int most);

/* Opens the checkpoint that an argument FILE, DIR (its newest good checkpoint) or DIR:N names. NULL: *message says why not. */
dome_ckpt_file *dome__ckpt_named(const char *argument, char **message);

/* Prints "dome: ckpt: " and the message on standard error, frees it, and returns 1 or 2 as given. */
int dome__ckpt_complain(int status, char *message);

/* A name from a program as text: printable, not too long. g_free'd by the caller. */
char *dome__ckpt_plain(const char *name);

/* The same in place, of any length. */
void dome__ckpt_make_plain(char *text);

/* The shape of an object with this text between its numbers, "2 x 3 x 4"; "" if it has none of its own. g_free'd by the caller.
 */
char *dome__ckpt_shape_text(const dome_ckpt *ckpt, const dome_ckpt_object *object, const char *between);

/* A buffer that grows. *message if there is no memory. */
typedef struct dome_ckpt_buffer {
    void *data;
    uint64_t room;
} dome_ckpt_buffer;

bool dome__ckpt_room(dome_ckpt_buffer *buffer, uint64_t bytes, char **message);

#endif
