/* #pragma dickpt (V. H. Ha, thesis, 2012, section 3.2.2) in a preprocessed text of C or C++:
 *
 *     #pragma dickpt start            dome_dickpt_start ("prog.c:7");
 *     #pragma dickpt save file.1      dome_dickpt_save ("file.1", "prog.c:9");
 *     #pragma dickpt save (name)      dome_dickpt_save (name, "prog.c:10");
 *     #pragma dickpt stop             dome_dickpt_stop ("prog.c:11");
 *
 * Lines keep their numbers. */
#ifndef DOME_TOOLS_DICKPT_H
#define DOME_TOOLS_DICKPT_H

#include <glib.h>
#include <stdbool.h>

/* False: the text has no such line, and `result` nothing. *wrong, g_free'd by the caller: a directive that there is not,
 * "prog.c:7: error: ..."; else NULL. */
bool dickpt_calls(const char *text, bool cplusplus, GString *result, char **wrong);

#endif
