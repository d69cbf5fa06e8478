/* Lines of the library and its commands for people, on standard error: "dome: " and a text, as one plain line
 * (system/terminal.h), in one write. On a terminal it clears what stood to the right, such as a bar of progress. */
#ifndef DOME_SRC_SAY_H
#define DOME_SRC_SAY_H

#define DOME_SAY_PREFIX "dome: "

void dome__say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Past stdio, for a thread or process that must not wait for the one that holds the lock of stderr. */
void dome__say_at_once(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Such a line, for another process or thread to write; g_free'd by the caller. */
char *dome__say_line(const char *text);

/* The text of such a line, which may lack the prefix: g_free'd by the caller. */
char *dome__say_text(const char *line);

#endif
