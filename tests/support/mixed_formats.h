/* Makes a program on one machine assume that its tasks have different data formats, so that all data between them travels in
 * portable form: tasks of even rank have one format, those of odd rank another. */
#ifndef DOME_TESTS_MIXED_FORMATS_H
#define DOME_TESTS_MIXED_FORMATS_H

#include "core/environment.h"
#include "transport/transport.h"

static inline void pretend_mixed_formats(dome_env *env)
{
    dome_transport *t = env->transport;
    int *formats = g_new(int, t->group.size);
    for (int r = 0; r < t->group.size; r++)
        formats[r] = r % 2;
    dome__group_set_formats(&t->group, formats);
    g_free(formats);
}

#endif
