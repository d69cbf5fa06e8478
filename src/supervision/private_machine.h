/* The daemons that are started for one program, where its user has none: in a directory that they are known by, with a guard that
 * takes them down should the hub be killed. */
#ifndef DOME_SRC_PRIVATE_MACHINE_H
#define DOME_SRC_PRIVATE_MACHINE_H

#include "transport/launcher.h"

typedef struct dome_private_machine {
    const dome_launcher *launcher;
    char *directory; /* NULL: there is no private machine */
    int lock_fd;     /* held on directory while this process lives: others may remove it only after that */
    pid_t daemon;
    bool others;  /* it has other hosts, or may get them */
    int guard_fd; /* open while this process lives: the guard takes the machine down when it is closed */
    int lifeline; /* open while this process or the guard lives: without both the daemon ends */
    pid_t guard;
} dome_private_machine;

/* Before anything else. */
void dome__private_machine_init(dome_private_machine *machine, const dome_launcher *launcher);

/* Starts it; address: of this host for others, NULL: there are none. Then adds hosts (hostfile lines, may be NULL); most_hosts:
 * those that cannot be added are left out, with a line. False with *message (g_free'd). */
bool dome__private_machine_start(dome_private_machine *machine, const char *address, char **hosts, bool most_hosts,
                                 double timeout, char **message);

/* The guard also continues this process, should it be stopped when the hub ends. */
void dome__private_machine_guard_rank0(const dome_private_machine *machine, pid_t rank0);

/* Another process than the hub: closes what is the hub's. */
void dome__private_machine_leave(const dome_private_machine *machine);

/* The machine is down: the guard has nothing left to do. */
void dome__private_machine_end_guard(const dome_private_machine *machine);
void dome__private_machine_take_down(const dome_private_machine *machine);

#endif
