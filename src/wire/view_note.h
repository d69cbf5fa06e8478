/* The note (wire/note.h) for a process that becomes a task of the next view (DOME_VARIABLE_VIEW). It has two parts. A task leaves
 * both for itself (program/exec.c). For a process in place of task 0, which has no past, the hub writes the first part, and task
 * 0 has left the second with the hub. */
#ifndef DOME_SRC_VIEW_NOTE_H
#define DOME_SRC_VIEW_NOTE_H

#include "wire/note.h"

#include <stdbool.h>
#include <stdint.h>

#define DOME_VIEW_NOTE_VERSION 1

/* How the process comes into the view. Without a past: stood 0, and no descriptors (-1). */
typedef struct dome_view_entry {
    uint32_t number; /* of the view */
    int rank;
    const char *plan;                         /* wire/view_plan.h, as text */
    int stood, kept[2], profile;              /* tasks of the last view that stood; descriptors */
    int losses;                               /* after which the program has gone on */
    uint64_t program_ns;                      /* when it began, on the clock of this host; 0: not known */
    uint64_t begun_ns, members_ns, blocks_ns; /* when the change began, how long its parts took so far */
    uint64_t progress_ns, progress_first,
        progress_total;       /* when the loop that dome_progress shows began, and where; ns 0: none */
    const char *avoid, *held; /* dome_started and dome_exec */
    const char *rest;         /* the second part, as text; in a note that has been read: NULL */
} dome_view_entry;

/* The facts about the program with which the process goes on. */
typedef struct dome_view_facts {
    uint64_t loops;              /* boundaries passed in earlier views */
    const char *standby;         /* the launcher's ids of newcomers that wait, by rank; "": there are none */
    int piece_fd, piece_number;  /* of the state; -1: there is none */
    bool requests;               /* SIGTERM and SIGUSR1 were not blocked when the program was started */
    bool supervised;             /* a supervisor starts the program again */
    bool outside;                /* the task is on another host than task 0 */
    uint64_t first;              /* dome_healing */
    const char *provider, *host; /* names */
    const char *slots;           /* of the hosts, as DOME_VARIABLE_SLOTS has them; "": none */
    const char *given;           /* descriptors that the program was given, with blanks around */
    const char *hub;             /* the hub's address */
} dome_view_facts;

typedef struct dome_entry_note {
    dome_view_entry entry;
    dome_view_facts facts;
    dome_note *note; /* has the texts of both */
} dome_entry_note;

/* The text of the second part, and of a whole note; g_free'd. */
char *dome__view_facts_text(const dome_view_facts *facts);
char *dome__view_entry_text(const dome_view_entry *entry);

/* False with *why (g_free'd): it is of another version, say. */
bool dome__view_note_read(const char *text, dome_entry_note *note, char **why);
void dome__view_note_clear(dome_entry_note *note);

#endif
