/* The request that a program's options make to the process that starts it: for `dome run` and for dome_init (launch/launch.h). */
#ifndef DOME_SRC_LAUNCHING_H
#define DOME_SRC_LAUNCHING_H

#include "core/options.h"
#include "launch/launch.h"
#include "launch/supervise.h"

/* The request for a program with these options. The caller adds what it alone knows: hosts, and by which file and words the
 * program is started. attempt: the supervisor's; NULL: there is none. The request lives as long as the options. */
dome_launch_request dome__launching_request(const dome_options *options, const dome_launcher *launcher,
                                            const dome_attempt *attempt);

/* The number of tasks within --dome-min and --dome-max that is nearest to a default. */
int dome__launching_in_range(const dome_options *options, int tasks);

#endif
