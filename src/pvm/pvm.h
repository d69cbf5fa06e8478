/* The PVM3 provider. Only files of this folder include pvm3.h.
 *
 * machine.c    the virtual machine: finding the user's, starting a private one
 * hoster.c     starts the daemons of many hosts at once
 * hosts.c      the user's own machine, shown and changed; what its programs tell of themselves
 * program.c    the tasks of one program: spawn, siblings, start message
 * process.c    what /proc says of daemons and tasks
 * take_down.c  the end of a private machine
 * instead.c    replaces functions of PVM's library
 * launcher.c, transport.c  the tables: who the tasks are, and their messages */
#ifndef DOME_SRC_PVM_H
#define DOME_SRC_PVM_H

#include "transport/transport.h"

#include <glib.h>
#include <sys/types.h>

/* ---- the virtual machine ---- */

/* The path of the daemon's program, $PVM_ROOT/lib/pvmd or from the PATH, g_free'd; NULL if there is none. *trouble (g_free'd): a
 * message that PVM_ROOT is wrong or PVM is missing; else NULL. */
char *dome__pvm_daemon_program(char **trouble);

/* The default of PVM_ROOT. */
#define DOME_PVM_DEFAULT_ROOT "/usr/lib/pvm3"

/* Sets the environment variables that PVM needs: PVM_ROOT, and PVM_ALLOW_ROOT for root. Returns true if it had to set
 * PVM_ALLOW_ROOT. */
bool dome__pvm_environment(void);

/* Whether a daemon of this user answers. *stale (g_free'd): an address file at whose address no daemon answers, else NULL. */
bool dome__pvm_daemon_answers(char **stale);

/* Whether nobody listens where the daemon of this process does. Not knowing (no free descriptor, for one) is not that. */
bool dome__pvm_daemon_gone(void);

/* The files of the user's daemon: its address, and its log. g_free'd by the caller. */
char *dome__pvm_daemon_file(void);
char *dome__pvm_daemon_log(void);

/* The address of a daemon that serves this host only: no other host can reach it, whatever this host's name resolves to. */
#define DOME_PVM_INSIDE "127.0.0.1"

/* Starts a pvmd as a child of this process, with its files in directory, listening on address. It ends when the last process that
 * holds the other end of the socket lifeline is gone (-1: none). Sets PVM_TMP, PVM_VMID and PVMSOCK. Returns its pid, or
 * with *message (g_free'd) 0, or -1 if it was killed. */
pid_t dome__pvm_daemon_start(const char *directory, const char *address, int lifeline, double timeout, char **message);

/* Makes PVM start daemons on other hosts through ssh (or the user's own PVM_RSH), with the environment variables that they need.
 * Call it before dome__pvm_daemon_start. */
void dome__pvm_write_rsh(const char *directory);

/* A process of this host. Its start time distinguishes it from a new process with the same pid. */
typedef struct dome_pvm_process {
    pid_t pid, parent;
    unsigned long long start;
} dome_pvm_process;

/* Fills in all but pid. False: it is gone, or a zombie. */
bool dome__pvm_process_read(dome_pvm_process *process);

/* Whether it runs PVM's daemon. */
bool dome__pvm_process_is_daemon(pid_t pid);

/* Whether a daemon is alive that listens at the path to which fd, a local socket, is connected; true if the system does not say.
 * Others may have a dead daemon's socket: for a moment the tasks that it was starting have it. The process that began to listen
 * may have ended although the daemon lives: daemons of other hosts go into the background. */
bool dome__pvm_process_listens(int fd, const char *path);

/* Ends a private machine: dome_launcher_machine.take_down. */
void dome__pvm_take_down(const char *directory, bool others);

/* Adds hosts (PVM hostfile lines) to the machine of this process. False with *message naming the hosts that failed. old (may be
 * NULL): set for those that were in the machine before. */
bool dome__pvm_add_hosts(char **lines, bool *old, char **message);

/* Starts a process, which must not be enrolled, that starts the daemons of all hosts that are added from now on, at once. Its id;
 * 0: there is none, and PVM starts them, five at a time. */
pid_t dome__pvm_hoster_start(void);
void dome__pvm_hoster_end(pid_t hoster);

/* ---- the user's own machine ---- */

const char *dome__pvm_version(void);

typedef struct dome_pvm_host {
    char *name, *arch;
    int format; /* PVM's data signature */
    int tasks;  /* tasks of all programs, without this process */
} dome_pvm_host;

/* The hosts, the first one first; dome_pvm_host. NULL with *message. */
GPtrArray *dome__pvm_hosts(char **message);

/* Removes hosts from the machine. If one of them cannot be removed (without `force`: because tasks run on it), removes none and
 * returns false with *message. */
bool dome__pvm_remove_hosts(char **names, bool force, char **message);

/* The hosts but for this one: dome_launcher_machine.others. */
char **dome__pvm_other_hosts(void);

/* Starts a machine on this host, which outlives this process. address: the one by which other hosts reach it, or NULL. */
bool dome__pvm_machine_start(const char *address, char **message);

/* The most tasks of a host: the daemon uses select, two descriptors for each. */
enum { DOME_PVM_TASKS_PER_HOST = 480 };

/* The most tasks of a program. */
enum { DOME_PVM_TASKS = 960 };

/* ---- the program ---- */

/* Does nothing. A linker takes instead.c from a static library because of this call. */
void dome__pvm_instead(void);

/* Whether a daemon spawned this process. */
bool dome__pvm_spawned(void);

/* The number of tasks spawned together with this one (itself included), and its position among them; for a process started from
 * the console. */
int dome__pvm_siblings(int *place);

/* The names of the hosts for this process's tasks, its own first: dome_launcher.hosts. Enrols this process. */
char **dome__pvm_program_hosts(char **message);

/* Whether the last failure was a loss: dome_launcher.lost. */
bool dome__pvm_lost(void);

/* dome_launcher.daemon_fd; and the descriptor that libpvm has for it. */
int dome__pvm_daemon_fd(void);
void dome__pvm_note_daemon_fd(int fd);

/* The names of the hosts of tasks: dome_launcher.hosts_of. */
char **dome__pvm_hosts_of(const int *ids, int n);

/* The first steps return the members, or NULL with *message (g_free'd).
 * start: rank 0 enrols and spawns the others. Calls starting(ctx, host) before it spawns on a host: PVM may wait long for a dead
 *        host.
 * lead: rank 0 of siblings gathers them. join: any other task, spawned by start or sibling of a leader. */
dome_members *dome__pvm_start(const dome_spawn *program, const char *hub, const dome_again *again,
                              void (*starting)(void *ctx, const char *host), void *ctx, char **message);
dome_members *dome__pvm_lead(const char *hub, char **message);
dome_members *dome__pvm_join(double timeout, char **message);

/* Starts tasks that wait until a program enters its next view: dome_launcher.standby. */
bool dome__pvm_standby(const dome_spawn *program, int *ids, double timeout, double patience, char **message);

/* For a task that has become the program anew: enrols, and returns its tid, or 0; then joins a program of which it knows no other
 * task. */
int dome__pvm_enrol(char **message);
dome_members *dome__pvm_rejoin(double timeout, char **message);

/* join's second step: tells rank 0 that this task is ready. */
void dome__pvm_ready(const dome_members *members);

/* start's and lead's second step: waits until all others are ready. */
bool dome__pvm_all_ready(const dome_members *members, double timeout, char **message);

/* Announces this program to the other hosts of the user's machine until this task ends: stores the text in PVM's mailbox. */
void dome__pvm_announce(const char *text);

/* The texts of all announced programs; NULL with *message. */
GPtrArray *dome__pvm_announced(char **message);

/* Ends tasks of any host by their ids. For a process that is not enrolled. */
void dome__pvm_kill_tasks(const int *tids, int n);

/* Ends the virtual machine with the daemons of all its hosts. For a separate process that is not enrolled. */
void dome__pvm_halt(void);

/* Enclose calls of PVM's library. PVM writes to connections whose other end may be gone: SIGPIPE is blocked meanwhile, as the
 * program should get it for its own pipes only. Once this process is enrolled, PVM's current send and receive buffers are saved
 * and restored for programs that use PVM themselves. Calls nest. */
void dome__pvm_enter(void);
void dome__pvm_leave(void);

/* Call between the two when this process has enrolled. */
void dome__pvm_enrolled(void);
bool dome__pvm_is_enrolled(void);

/* ---- a task that leaves the view where it is (transport.h) ---- */

/* libpvm takes its daemon for gone from now on, and waits for nothing more; the daemon does not notice. False: that failed, and
 * everything is as before. */
bool dome__pvm_cut_off(void);

/* After pvm_exit. */
void dome__pvm_forget_cut(void);

/* Enclose pvm_send where the task can leave. True: this process has been cut off meanwhile. */
void dome__pvm_send_begins(void);
bool dome__pvm_send_ends(void);

/* In another thread: if the task's own thread is between these two, cuts it off and ends its wait. */
void dome__pvm_rouse(void);

/* ---- the tables ---- */

extern const dome_launcher dome__launcher_pvm;
extern const dome_transport_ops dome__transport_pvm;

#endif
