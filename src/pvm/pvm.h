/* The PVM3 provider. Only files of this folder include pvm3.h.
 *
 * machine.c    the virtual machine: finding the user's, starting a private one
 * hosts.c      the user's own machine, shown and changed; what its programs tell of themselves
 * program.c    the tasks of one program: spawn, siblings, start message
 * take_down.c  the end of a private machine
 * launcher.c, transport.c  the tables: who the tasks are, and their messages */
#ifndef DOME_SRC_PVM_H
#define DOME_SRC_PVM_H

#include "transport/transport.h"

#include <glib.h>
#include <sys/types.h>

/* ---- the virtual machine ---- */

/* Where the daemon's program is: $PVM_ROOT/lib/pvmd, or on the PATH; g_free'd. NULL: nowhere. *trouble (g_free'd): what is wrong
 * with PVM_ROOT, or that there is no PVM; else NULL. */
char *dome__pvm_daemon_program(char **trouble);

/* Where PVM is if nobody says anything else. */
#define DOME_PVM_DEFAULT_ROOT "/usr/lib/pvm3"

/* Sets what PVM needs in the environment: PVM_ROOT, and PVM_ALLOW_ROOT for root. Returns true if it had to set PVM_ALLOW_ROOT. */
bool dome__pvm_environment(void);

/* True if a daemon of this user answers. *stale gets the name of an address file that nobody answers to (g_free'd), else NULL. */
bool dome__pvm_daemon_answers(char **stale);

/* The files of the user's daemon: its address, and its log. g_free'd by the caller. */
char *dome__pvm_daemon_file(void);
char *dome__pvm_daemon_log(void);

/* Where the daemon of a machine of this host alone listens: no other host reaches it, whatever this one's name means. */
#define DOME_PVM_INSIDE "127.0.0.1"

/* Starts a pvmd with its files in directory, as a child of this process, on address. It ends when the last process that has the
 * other end of the socket lifeline is gone (-1: there is none). Sets PVM_TMP, PVM_VMID and PVMSOCK. Returns its pid, or 0 with
 * *message (g_free'd). */
pid_t dome__pvm_daemon_start(const char *directory, const char *address, int lifeline, double timeout, char **message);

/* Makes PVM start daemons on other hosts through ssh (or the user's own PVM_RSH), with what they need in their environment.
 * Before dome__pvm_daemon_start. */
void dome__pvm_write_rsh(const char *directory);

/* Ends a private machine: dome_launcher.machine_take_down. */
void dome__pvm_take_down(const char *directory, bool others);

/* Adds hosts (PVM hostfile lines) to the machine of this process. False with *message naming the hosts that failed. */
bool dome__pvm_add_hosts(char **lines, char **message);

/* ---- the user's own machine ---- */

const char *dome__pvm_version(void);

typedef struct dome_pvm_host {
    char *name, *arch;
    int format; /* PVM's data signature */
    int tasks;  /* of all programs, but not this process */
} dome_pvm_host;

/* The hosts, the first one first; dome_pvm_host. NULL with *message. */
GPtrArray *dome__pvm_hosts(char **message);

/* Takes hosts out. False with *message, and nothing is done, when there is something against one: unless `force`, tasks on it. */
bool dome__pvm_remove_hosts(char **names, bool force, char **message);

/* Starts a machine of this host that stays; address: by which others reach it, or NULL. */
bool dome__pvm_machine_start(const char *address, char **message);

/* ---- the program ---- */

/* Was this process spawned by a daemon? */
bool dome__pvm_spawned(void);

/* Number of tasks spawned together with this one (itself included) and this one's place among them; for a process started from
 * the console. */
int dome__pvm_siblings(int *place);

/* What each first step returns: the members, or NULL with *message (g_free'd).
 * start: rank 0 enrols and spawns the others with arguments (argv without the program's name); size 0 means one task per host.
 *        Calls starting(ctx, host) before it spawns on a host: PVM may wait long for one that has died.
 * lead: rank 0 of siblings gathers them. join: any other task, spawned by start or sibling of a leader. */
dome_members *dome__pvm_start(const char *path, char **arguments, int size, const char *hub,
                              void (*starting)(void *ctx, const char *host), void *ctx, char **message);
dome_members *dome__pvm_lead(const char *hub, char **message);
dome_members *dome__pvm_join(double timeout, char **message);

/* join's second step: this task stands. */
void dome__pvm_ready(const dome_members *members);

/* start's and lead's second step: waits until all others stand. */
bool dome__pvm_all_ready(const dome_members *members, double timeout, char **message);

/* Other hosts of the user's machine get to know this program, until this task ends: PVM's mailbox keeps the text. */
void dome__pvm_announce(const char *text);

/* The texts of all programs that are announced; NULL with *message. */
GPtrArray *dome__pvm_announced(char **message);

/* Ends tasks of any host by their ids. For a process that is not enrolled. */
void dome__pvm_kill_tasks(const int *tids, int n);

/* Ends the virtual machine with the daemons of all its hosts. For a process that is not enrolled and has nothing else to do. */
void dome__pvm_halt(void);

/* Around calls of PVM's library. It writes to connections whose other end may be gone: SIGPIPE is kept away from the program,
 * which should see it for its own pipes only. And a program that uses PVM besides finds its buffers, for sending and for
 * receiving, as it left them, once this process is enrolled. Calls nest. */
void dome__pvm_enter(void);
void dome__pvm_leave(void);

/* Between the two: this process is enrolled now. */
void dome__pvm_enrolled(void);

/* ---- the tables ---- */

extern const dome_launcher dome__launcher_pvm;
extern const dome_transport_ops dome__transport_pvm;

#endif
