/* What mmpvm and mmpvmopt share. The first process, started by hand, spawns one copy of itself on each other host of the virtual
 * machine; that is not measured. Each task has an equal part of the rows. */
#ifndef MM_PVM_H
#define MM_PVM_H

#include "mm.h"

enum { MM_MAX_TASKS = 64, MM_TAG_START = 1, MM_TAG_READY, MM_TAG_GO, MM_TAG_PROCESSOR, MM_TAG_PART, MM_TAG_TOTAL };

typedef struct mm_group {
    int rank, size, tid[MM_MAX_TASKS];
} mm_group;

/* The sum of all tasks' parts, on all of them: in which the programs differ. */
typedef double (*mm_total)(const mm_group *group, double part);

/* All of a program: starts the others, computes, prints the result on rank 0. direct: tasks are connected directly. Its exit
 * status. */
int mm_pvm_run(int argc, char **argv, bool direct, mm_total total);

#endif
