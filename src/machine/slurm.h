/* The hosts of an allocation of Slurm (salloc, sbatch), from the variables that Slurm gives to its processes. */
#ifndef DOME_SRC_SLURM_H
#define DOME_SRC_SLURM_H

#include <glib.h>

#include <stdbool.h>

/* The variables of Slurm that are read; those of a step come on top of these. */
#define DOME_SLURM_JOB        "SLURM_JOB_ID"
#define DOME_SLURM_NODES      "SLURM_JOB_NODELIST"
#define DOME_SLURM_TASKS      "SLURM_TASKS_PER_NODE"    /* "2(x3),1" */
#define DOME_SLURM_PROCESSORS "SLURM_JOB_CPUS_PER_NODE" /* likewise */
#define DOME_SLURM_HERE       "SLURMD_NODENAME"         /* only on a host of the allocation */

#define DOME_SLURM_RESTARTS "SLURM_RESTART_COUNT" /* how often Slurm has begun a job again */

/* Whether this process runs in an allocation. */
bool dome__slurm_there(void);

/* Why a program cannot begin in this allocation from here (a line; g_free'd), or NULL: on a login host, or as one of several
 * tasks of a step, each of which would begin a program. */
char *dome__slurm_objection(void);

/* Reads "2(x3),1": 2, 2, 2, 1. An array of int; NULL if it is not such a text. */
GArray *dome__slurm_counts(const char *text);

/* The hosts that the allocation began with, as lines of a hostfile (g_strfreev), and their tasks as DOME_VARIABLE_SLOTS has them
 * (g_free'd); now: those that it has now, which may be fewer. NULL with *message (g_free'd). */
char **dome__slurm_hosts(bool now, char **slots, char **message);

/* Lets other hosts be reached by steps of the allocation, unless the user has named a command of his own. */
void dome__slurm_reach(void);

#endif
