#include "program/launching.h"

#include "program/restarts.h"

dome_launch_request dome__launching_request(const dome_options *options, const dome_launcher *launcher,
                                            const dome_attempt *attempt)
{
    dome_launch_request request = {.launcher = launcher,
                                   .timeout = options->timeout,
                                   .script = options->start.hosts_script,
                                   .size_auto = options->size.policy == DOME_SIZE_AUTO,
                                   .most_hosts = options->start.hosts_script || (attempt && attempt->number > 0),
                                   .report_fd = attempt ? attempt->report_fd : 0,
                                   .shown_fd = attempt ? MAX(attempt->shown_fd, 0) : 0,
                                   .tasks = options->start.tasks,
                                   .all_output = options->output == DOME_OUTPUT_ALL,
                                   .tells = options->loss.action == DOME_LOSS_TELL,
                                   .logs = options->checkpoint.protocol == DOME_CHECKPOINT_LOG};
    request.heals = dome__restarts_heal(options, &request.left);
    if (attempt)
        request.left = attempt->left;
    request.once = request.heals || attempt || options->size.most > 0 || request.script || request.size_auto;
    return request;
}

int dome__launching_in_range(const dome_options *options, int tasks)
{
    return CLAMP(tasks, MAX(options->size.least, 1), options->size.most ? options->size.most : G_MAXINT);
}
