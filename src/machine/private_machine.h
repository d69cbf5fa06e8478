/* The private virtual machine: daemons started for one program, if its user has none running. They are identified by their
 * directory, and a guard takes them down if the hub is killed. */
#ifndef DOME_SRC_PRIVATE_MACHINE_H
#define DOME_SRC_PRIVATE_MACHINE_H

#include "transport/launcher.h"

typedef struct dome_private_machine {
    const dome_launcher *launcher;
    char *directory; /* NULL: there is no private machine */
    int lock_fd;     /* holds a lock on directory while this process lives: other runs may remove it only after that */
    pid_t daemon;    /* -1: it was killed while the machine started, and the start may succeed when it is tried again */
    bool others;     /* it has other hosts, or may get some */
    int guard_fd;    /* open while this process lives: the guard takes the machine down when it is closed */
    int lifeline;    /* open while this process or the guard lives: when both have ended the daemon ends */
    pid_t guard;
} dome_private_machine;

/* Call it before the other functions. */
void dome__private_machine_init(dome_private_machine *machine, const dome_launcher *launcher);

/* Starts the machine. address: by which other hosts reach this one; NULL: there are no others. Then adds hosts (hostfile lines,
 * may be NULL); most_hosts: hosts that cannot be added are left out, with a line that says so. Returns false with *message
 * (g_free'd) on failure. */
bool dome__private_machine_start(dome_private_machine *machine, const char *address, char **hosts, bool most_hosts,
                                 double timeout, char **message);

/* Adds hosts (hostfile lines) to the virtual machine that this process uses, in a child process, so that this process never joins
 * it. look: also looks whether those answer that were in it before, since hosts that are down stay part of a machine for minutes.
 * Returns its pid; 0 with errno set. From *fd comes what it says, until it ends. */
pid_t dome__machine_add(const dome_launcher *launcher, char **lines, bool look, int *fd);

/* How many seconds that may take: PVM waits for minutes for a host that is lost after its daemon was started. */
int dome__machine_add_seconds(char **lines);

/* The failure, from the whole answer of the child process; NULL: all hosts have been added. */
const char *dome__machine_add_failed(const char *said);

/* Finds the hosts of this list on which the launcher's daemon does not run, by its process number (0: on which the host does not
 * answer), and the other hosts of the virtual machine that do not answer, without those in skip; in a child process, too. Asks no
 * daemon: PVM's hold up all messages while one of them does not answer. From *fd come the names of these hosts, separated by
 * blanks, and a newline; only the end if they cannot be found out. */
pid_t dome__machine_probe(const dome_launcher *launcher, char **hosts, const int *daemons, char **skip, double seconds, int *fd);

/* Makes the guard also continue rank 0 (SIGCONT) when the hub ends, in case it is stopped. */
void dome__private_machine_guard_rank0(const dome_private_machine *machine, pid_t rank0);

/* For a process other than the hub: closes the hub's descriptors. */
void dome__private_machine_leave(const dome_private_machine *machine);

/* Ends the guard, after the machine has been taken down. */
void dome__private_machine_end_guard(const dome_private_machine *machine);
void dome__private_machine_take_down(const dome_private_machine *machine);

#endif
