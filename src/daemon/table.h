/* The daemons' table of programs and hosts. Each daemon has a copy of it and changes it by the same orders in the same sequence,
 * so all copies are equal: what an order does depends on the table and the order alone, never on a clock, a file or the host.
 * table_decide.c decides which programs run where; beside it table.c alone changes a table. Pure. */
#ifndef DOME_SRC_TABLE_H
#define DOME_SRC_TABLE_H

#include "daemon/daemon_record.h"
#include "daemon/task_places.h"
#include "manage/owner_policy.h"
#include "manage/topology.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* Of the table's text, the orders between daemons and the lines of users. Daemons of different versions do not work together. */
enum { DOME_DAEMON_VERSION = 5 };

/* Programs that have ended and are still listed; programs of one user that have not. */
enum { DOME_TABLE_ENDED = 100, DOME_TABLE_OF_USER = 1000 };

/* Seconds that a program has to leave a host for one of higher priority, or for the owner. */
enum { DOME_TABLE_LATE = 20 };

/* The most seconds of a tick. */
enum { DOME_TABLE_TICK = 60 };

typedef enum dome_program_state {
    DOME_PROGRAM_WAITS,   /* for room, or for a host */
    DOME_PROGRAM_STARTS,  /* the daemon of its host is to start it */
    DOME_PROGRAM_RUNS,    /* its hub has been started */
    DOME_PROGRAM_STOPPED, /* all its tasks are suspended */
    DOME_PROGRAM_ENDED
} dome_program_state;

/* What a user has asked for last. */
typedef enum dome_program_wish { DOME_WISH_RUN, DOME_WISH_STOP, DOME_WISH_END } dome_program_wish;

/* What the policies know and decide about a program (table_decide.c). Times are the table's: its own clock. */
typedef struct dome_program_plan {
    char *topology; /* the text of a file of wishes; "": any hosts */
    dome_topologies *wishes;
    char *nonce;          /* of the request: one that comes twice is one; "": none */
    dome_places is, goal; /* its tasks now, and as they are to be */
    int64_t used, waited; /* seconds of tasks so far; seconds in which it has not run */
    int64_t changed;      /* when its goal last changed */
    int64_t floor;        /* the least number of tasks that its hub was told when it was started, and keeps */
    bool held;            /* suspended by the policies, not by its user */
    bool parks;           /* it ends with a checkpoint, to go on elsewhere */
    bool parked;          /* it has ended so: nothing is left of it anywhere */
} dome_program_plan;

typedef struct dome_program {
    int64_t id;
    int64_t uid, gid;
    char *owner, *directory, *output; /* output: path of the file for both its streams */
    char **words, **environment;
    char **options; /* of dome run */
    char *limits;   /* keeper.h */
    int64_t tasks, least, priority;
    bool again; /* after the loss of the host of its hub it is started again, on another */
    dome_program_state state;
    dome_program_wish wish;
    char *host;      /* of its hub; "": none */
    char *home;      /* where it was submitted */
    int64_t attempt; /* how often it has been started */
    int64_t size;    /* its tasks now; 0: none */
    int64_t target;  /* the tasks that it is to have */
    bool rigid;      /* it has refused to change their number */
    dome_program_plan plan;
    int64_t checkpoint;                /* number of the newest one; 0: none */
    int64_t status;                    /* exit status */
    char *why;                         /* how it ended */
    int64_t submitted, started, ended; /* s, by the clock of the host that said so */
} dome_program;

typedef enum dome_host_use { DOME_HOST_ENABLED, DOME_HOST_DISABLED, DOME_HOST_DRAINED } dome_host_use;

typedef struct dome_host {
    char *name;
    int64_t node; /* its number in the group */
    int64_t slots;
    char *architecture;     /* "": not known yet */
    int64_t load;           /* hundredths of processors that others than Dome's programs keep busy */
    dome_owner_phase owner; /* what its owner's presence asks for */
    bool there;             /* its daemon is in the group */
    bool left;              /* its daemon has said goodbye: it does not count for the majority */
    bool lost;              /* it is gone with all that ran there */
    dome_host_use use;
} dome_host;

typedef struct dome_table {
    int64_t serial;      /* orders that a majority has carried out */
    int64_t clock;       /* s, as ticks tell: no host's clock, so that none that jumps does harm */
    int64_t next;        /* id of the next program */
    GPtrArray *programs; /* dome_program, by id */
    GPtrArray *hosts;    /* dome_host, by name */
} dome_table;

dome_table *dome__table_new(void);
void dome__table_free(dome_table *table);

/* The answer to a tick or a load after which nothing was decided anew. */
#define DOME_TABLE_SAME "done same"

/* Carries out an order. Returns the answer for the user who asked for it, g_free'd, which begins with "done " or "no ". An order
 * that the table does not take leaves it as it is.
 *
 *     submit uid= gid= owner= directory= output= word=... env=... option=... limits= tasks= least= priority= again= home= time=
 * topology= wish program= what=run|stop|end limits program= tasks= least= priority= started | stopped | goes-on program= attempt=
 * by the daemon of its host, as all below size program= attempt= tasks= rigid= on=HOST:TASKS... checkpoint program= attempt=
 * number= ended program= attempt= status= why= time= gone program= attempt=                               nothing of it is left,
 * and nobody knows how it ended forget program=                                      it was never started host name= node= slots=
 * a daemon begins load name= load= owner= architecture=                a daemon has measured its host tick seconds= so much time
 * has passed use name= what=enable|disable|drain leave name=                                          a daemon ends lost name= an
 * administrator knows that it is gone members node=... lost=...                            by the group: who is in it, and which
 * hosts are gone */
char *dome__table_apply(dome_table *table, const dome_record *order);

/* Whether more than half of the hosts are there, or half of them with the first by name. */
bool dome__table_has_majority(const dome_table *table);

dome_program *dome__table_program(const dome_table *table, int64_t id);
dome_host *dome__table_host(const dome_table *table, const char *name);

/* The least number of tasks that it may have now. */
int64_t dome__program_least(const dome_program *program);

/* Whether it writes checkpoints to a directory, from which it can go on elsewhere. */
bool dome__program_saves(const dome_program *program);

/* The programs that a word means: j7, or a name that one or several programs have that have not ended; g_ptr_array_unref'd. */
GPtrArray *dome__table_meant(const dome_table *table, const char *word);

/* The last part of its first word. */
const char *dome__program_name(const dome_program *program);

const char *dome__program_state_name(dome_program_state state);
const char *dome__host_use_name(dome_host_use use);

/* ---- table_decide.c ---- */

bool dome__program_has_place(const dome_program *program);

/* Decides by src/manage which programs run, and where. Returns whether anything has changed. */
bool dome__table_decide(dome_table *table);

/* Whether something waits that time alone brings about: ticks are then wanted often. */
bool dome__table_is_restless(const dome_table *table);

/* ---- table_text.c ---- */

/* Lines of records; g_free'd. */
char *dome__table_text(const dome_table *table);

/* NULL with *message (g_free'd): the text is none, is cut off, or of another version. */
dome_table *dome__table_read(const char *text, char **message);

/* All about a program but its environment. */
dome_record dome__table_program_record(const dome_program *program, bool whole);
dome_record dome__table_host_record(const dome_host *host);

#endif
