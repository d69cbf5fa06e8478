/* dome-cc: a compiler of C programs that can be saved inside their calls, and continued elsewhere. Used as cc is;
 * docs/dome-cc.md.
 *
 * Which functions can be captured is known when all files are: at link time. Until then a file's preprocessed text is in its
 * object, which is otherwise the compiler's own (section.c). */
#include "driver/driver.h"
#include "plan/plan.h"

static int pass_on(const options *o)
{
    GPtrArray *command = command_new(o);
    for (unsigned i = 1; i < o->arguments->len; i++)
        if (!arguments_is_own(g_ptr_array_index(o->arguments, i)))
            command_add(command, g_ptr_array_index(o->arguments, i));
    return command_run(o, command, NULL);
}

int main(int argc, char **argv)
{
    options o = {.compiler = g_strdup(DOME_CC_COMPILER),
                 .arguments = g_ptr_array_new(),
                 .words = g_ptr_array_new(),
                 .most_overhead = 0.05,
                 .longest_interval = 1e-3};
    int status;
    if (!arguments_read(&o, argc, argv, &status))
        return status;
    if (o.passes)
        return pass_on(&o);
    if (o.compile_only && !o.emit)
        return compile_files(&o);
    if (o.profile && !measured_read(o.profile, o.longest_interval))
        return 1;
    return link_program(&o);
}
