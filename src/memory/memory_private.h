/* What the files of this folder share. */
#ifndef DOME_SRC_MEMORY_MEMORY_PRIVATE_H
#define DOME_SRC_MEMORY_MEMORY_PRIVATE_H

#include "memory/memory.h"
#include "memory/tracker.h"

#include <glib.h>
#include <pthread.h>

/* A page of the data mapping. */
typedef struct page_state {
    uint8_t right;       /* dome_access that the user of the memory has given; read without the lock by who gives them all */
    uint8_t open : 2;    /* dome_access that the tracker was last told to let pass: at most the right */
    uint8_t written : 1; /* since the last dome__memory_written; known for pages that faulted */
} page_state;

struct dome_memory {
    char *data, *alias; /* NULL: not mapped */
    size_t bytes, page;
    int descriptor; /* -1: closed */
    bool here;      /* dome__memory_here */
    bool replaces;  /* dome__memory_replace */

    /* From dome__memory_on_fault or dome__memory_watch on; rights.c and the trackers change them. */
    const dome_tracker *tracker; /* NULL: neither was called */
    dome_memory_handler *handler;
    void *context;
    bool rights, watching;
    dome_memory_first *on_write; /* dome__memory_on_write; NULL: nobody asks */
    void *on_write_context;
    bool released;        /* dome__memory_release; only with the lock */
    pthread_mutex_t lock; /* of the pages; its owner blocks signals, so that no handler of the program faults meanwhile */
    page_state *pages;
    size_t given_first, given_end; /* all pages that ever got a right are between these */
    GArray *noted;                 /* size_t: pages whose `written` is set; NULL: not watched */
    int userfault, pagemap;        /* -1: none */
};

/* In a process made by fork: data becomes a copy of the memory, which is this process's own. Returns NULL, or why not. */
const char *dome__memory_copy_here(const dome_memory *memory);

/* Ends what rights.c began. */
void dome__memory_end_rights(dome_memory *memory);

#endif
