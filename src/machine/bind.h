/* Binds tasks to processors. */
#ifndef DOME_SRC_BIND_H
#define DOME_SRC_BIND_H

#include <sched.h>
#include <stdbool.h>

/* Binds this thread, and those it starts later, to one of the processors that it may use. place: this task's position among the
 * `tasks` of this host, which are spread over the processors; neighbours are close together. Returns false and changes nothing if
 * there are more tasks than processors, or the system refuses. */
bool dome__bind_to_core(int place, int tasks);

/* Before this process becomes another program by exec, which keeps the binding: all processors as at first. */
void dome__bind_undo(void);

/* The processor of a task. allowed: those to choose from, at least as many as tasks; directory: /sys/devices/system/cpu, or a
 * test's. */
int dome__bind_choose(const cpu_set_t *allowed, const char *directory, int place, int tasks);

#endif
