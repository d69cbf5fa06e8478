/* Starting a program again after a loss: what `dome run --restarts` and --dome-restarts have in common, besides the supervisor
 * (launch/supervise.h), and the latter. */
#ifndef DOME_SRC_RESTARTS_H
#define DOME_SRC_RESTARTS_H

#include "core/environment.h"
#include "core/options.h"
#include "launch/launch.h"
#include "launch/supervise.h"

#include <glib.h>

typedef struct dome_restarts {
    char **argv; /* of the program; the caller's */
    const dome_options *options;
    char *memory;    /* directory of checkpoints in memory; NULL: checkpoints are elsewhere */
    GPtrArray *used; /* lines of a hostfile: other hosts that may have that directory */
    int views;       /* of which the hosts are known */
} dome_restarts;

/* Before the first attempt, by the supervisor, which lets these processes share a directory of checkpoints in memory and removes
 * those that were left by supervisors that were killed. hosts: lines of a hostfile, or NULL. False with *message (g_free'd):
 * there is no file system of memory. */
bool dome__restarts_open(dome_restarts *r, char **argv, const dome_options *options, char **hosts, char **message);

/* Notes the hosts of the next attempt. */
void dome__restarts_use(dome_restarts *r, char **hosts);

/* dome_supervision.hosts */
void dome__restarts_hosts(dome_restarts *r, char **names);

/* Whether a program with these options has a supervisor: it is to be restarted, or healed from checkpoints in memory, which
 * outlive its other processes there. */
bool dome__restarts_needed(const dome_options *options);

/* Whether one task has a hub, too: it may become more, or another run is to know what it has shown. */
bool dome__restarts_hub_for_one(const dome_options *options);

/* In the process of an attempt: sets what the program needs of the environment, and returns its arguments. */
char **dome__restarts_attempt(const dome_restarts *r, const dome_attempt *attempt);

/* dome_supervision.point */
void dome__restarts_point(const dome_restarts *r, bool resume, dome_supervise_point *point);

/* Whether losses are to be healed, or the other tasks to go on without the lost (tell), and the most of them (below 0: no limit)
 * for a program without a supervisor. */
bool dome__restarts_heal(const dome_options *options, int *left);

/* After the last attempt: dome_supervision.finish */
void dome__restarts_close(dome_restarts *r, int losses);

/* The words with which this process was started; g_strfreev. */
char **dome__restarts_command_line(void);

/* For a program with --dome-restarts: this process becomes the supervisor of attempts, each of which begins the program anew.
 * tasks: their number if it is known here, or 0. */
void dome__restarts_run(dome_env *env, const dome_launcher *launcher, int tasks) __attribute__((noreturn));

/* ---- the request that a program's options make to the process that starts it: for `dome run` and for dome_init ---- */

/* The request for a program with these options. The caller adds what it alone knows: hosts, and by which file and words the
 * program is started. attempt: the supervisor's; NULL: there is none. The request lives as long as the options. */
dome_launch_request dome__launching_request(const dome_options *options, const dome_launcher *launcher,
                                            const dome_attempt *attempt);

/* The number of tasks within --dome-min and --dome-max that is nearest to a default. */
int dome__launching_in_range(const dome_options *options, int tasks);

#endif
