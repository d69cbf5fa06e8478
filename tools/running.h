/* Which of the user's running programs a command means. */
#ifndef DOME_TOOLS_RUNNING_H
#define DOME_TOOLS_RUNNING_H

#include "wire/report.h"

#include <glib.h>

/* The reports of the hubs on this host about their programs: dome_report, g_ptr_array_unref'd. *silent, unless NULL: so many more
 * hubs have not answered in time. */
GPtrArray *dome__running(guint *silent);

/* The programs that a word names: by the name of the program's file, or by the pid of its hub or of one of its tasks on this
 * host. If there is none, those that the process with this pid has started, as a shell's $! is the pid of a supervisor, of `dome
 * run`, timeout, time or a script; then those with a task of this pid on another host. They belong to `all`; g_ptr_array_unref'd.
 */
GPtrArray *dome__running_meant(const GPtrArray *all, const char *word);

/* The same of those that run on this host. If the word is the pid of a process of this user, it may just be starting: waits for
 * some seconds until it is one. Hubs that are busy are asked again. *all: to be freed last. */
GPtrArray *dome__running_find(const char *word, GPtrArray **all);

/* The pid that the word is; 0: it is none. */
int dome__running_pid(const char *word);

#endif
