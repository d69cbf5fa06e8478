#include "options/option_table.h"

#include <string.h>

#define MAX_TASKS 1000000
#define MAX_COUNT 1000000000

const char *const dome__option_parts[DOME_OPTION_PARTS] = {
    [DOME_PART_TASKS] = "Tasks and how they communicate",
    [DOME_PART_BALANCING] = "Load balancing",
    [DOME_PART_CHECKPOINTS] = "Checkpoints and restart",
    [DOME_PART_COMPUTING] = "Computing",
    [DOME_PART_OUTPUT] = "Output",
};

#define ROW(name, part, kind, field)                                                                                             \
    "dome-" name, DOME_PART_##part, DOME_OPTION_##kind, offsetof(dome_options, field), sizeof((dome_options *)0)->field

const dome_option_row dome__option_rows[] = {
    {ROW("tasks", TASKS, COUNT, start.tasks), .argument = "N", .most = MAX_TASKS, .help = "number of tasks",
     .otherwise = "one for each host of your virtual machine; on a private one, one for each processor",
     .command = "Number of tasks (default: one per host; on this machine alone, one per processor)", .letter = 'n'},
    {ROW("transport", TASKS, NAME, start.transport), .argument = "pvm|self", .help = "`self`: run as one task without PVM",
     .otherwise = "`pvm`, but one task needs none"},
    {ROW("road", TASKS, WORD, start.road), .argument = "best|vm|shm|pvm", .initial = "best",
     .help =
         "how tasks of one host exchange data. `vm`: through shared memory, and long messages out of the sender's memory; `shm`: "
         "through shared memory; `pvm`: through PVM; `best`: the best of these that the machine allows",
     .page = "[transport.md](transport.md#tasks-of-one-host)"},
    {ROW("place", TASKS, WORD, start.place), .argument = "fill|spread", .initial = "fill",
     .help =
         "which tasks share a host. `fill`: neighbours, so that few messages between them leave it; `spread`: tasks are dealt "
         "to the hosts in turn",
     .page = "[which host a task runs on](#which-host-a-task-runs-on)"},
    {ROW("bind", TASKS, WORD, start.bind), .argument = "none|core", .initial = "none",
     .help =
         "`core`: keep each task on a processor of its own, as far as there are enough; neighbours are on processors that share "
         "a cache"},
    {ROW("timeout", TASKS, SECONDS, timeout), .argument = "SECONDS", .initial = "10", .least = 0.1, .most = 86400,
     .help = "a task or host that is silent for so many seconds (0.1 to 86400) is lost"},
    {ROW("restarts", TASKS, COUNT, loss.restarts), .argument = "K", .most = MAX_COUNT,
     .help = "when a task or host is lost, go on from the newest checkpoint, at most `K` times", .otherwise = "none",
     .page = "[restarting after a loss](#restarting-after-a-loss)",
     .command = "When a task or host is lost, go on from the newest checkpoint on the remaining hosts, at most K times"},
    {ROW("on-loss", TASKS, WORD, loss.action), .argument = "auto|heal|restart|tell|end", .initial = "auto",
     .help =
         "what follows a loss. `heal`: the other tasks go back to the newest checkpoint, and a new one takes the place of the "
         "lost; `restart`: the whole program is started again, with `--dome-restarts`; `tell`: the other tasks go on without the "
         "lost, and the program makes the elements again that have gone with them; `end`: it ends; `auto`: with "
         "`--dome-restarts` `heal`, and `restart` where that cannot be, otherwise `end`",
     .page = "[elastic.md](elastic.md#losses)",
     .command = "What follows a loss: heal (a new task takes the place of the lost), restart (all tasks are started again), tell "
                "(the others go on without the lost) or end"},
    {ROW("min", TASKS, COUNT, size.least), .argument = "N", .most = MAX_TASKS,
     .help = "the least number of tasks to which a running program may be changed", .otherwise = "1",
     .page = "[elastic.md](elastic.md)", .command = "The least number of tasks to which dome shrink may bring the program"},
    {ROW("max", TASKS, COUNT, size.most), .argument = "N", .most = MAX_TASKS,
     .help = "the greatest number of tasks to which a running program may be changed; with it one task has a hub, too",
     .otherwise = "no limit", .page = "[elastic.md](elastic.md)",
     .command = "The greatest number of tasks to which dome grow may bring the program"},

    {ROW("size", TASKS, WORD, size.policy), .argument = "keep|auto", .initial = "keep",
     .help = "`auto`: while the program runs, change to the number of tasks that pays by its measured times of computing and "
             "waiting, "
             "within `--dome-min` and `--dome-max` (without the latter: the processors of its host)",
     .page = "[elastic.md](elastic.md#the-number-that-pays)",
     .command = "auto: change to the number of tasks that pays while the program runs, within --min and --max; keep: do not"},
    {ROW("hosts-script", TASKS, TEXT, start.hosts_script), .argument = "COMMAND", .wanted = "a shell command",
     .help = "run on the hosts that this shell command prints, as `host` or `host:slots`, and follow it while the program runs",
     .otherwise = "none", .page = "[elastic.md](elastic.md#hosts-that-come-and-go)",
     .command = "Run on the hosts that this shell command prints, as host or host:slots, and follow it while the program runs"},

    {ROW("balance", BALANCING, WORD, balance.policy), .argument = "none|global|ring|random", .initial = "global",
     .help =
         "how data is divided anew. `global`: by the measurements of all tasks; `ring`: by those of neighbours; `none`: it stays "
         "where it is; `random`: at random, to find mistakes in programs",
     .page = "[balancing.md](balancing.md)"},
    {ROW("balance-every", BALANCING, COUNT, balance.every), .argument = "OPS", .most = MAX_COUNT,
     .help = "balance every `OPS` operations", .otherwise = "as often as it pays"},
    {ROW("balance-phases", BALANCING, COUNT, balance.phases), .argument = "N", .most = MAX_COUNT,
     .help = "balance at most `N` times", .otherwise = "no limit"},
    {ROW("balance-group", BALANCING, COUNT, balance.group), .argument = "TASKS", .initial = "1", .most = MAX_COUNT,
     .help = "with `--dome-balance ring`: groups of so many tasks decide together"},
    {ROW("topology", BALANCING, WORD, balance.topology), .argument = "ring|linear", .initial = "ring",
     .help = "`ring`: data may move between the last task and the first; `linear`: it may not"},

    {ROW("checkpoint-dir", CHECKPOINTS, TEXT, checkpoint.directory), .argument = "DIR", .wanted = "the name of a directory",
     .help =
         "write checkpoints into this directory, which is created if needed; `memory:` keeps them in memory, `none:` writes none",
     .otherwise = "no checkpoints; with `--dome-on-loss heal` `memory:`",
     .page = "[checkpoints.md](checkpoints.md#without-a-disk)"},
    {ROW("checkpoint-every", CHECKPOINTS, EVERY, checkpoint.every), .argument = "N|SECONDSs|auto", .initial = "auto",
     .wanted = "loops (100), seconds (60s) or 'auto'",
     .help = "write one every `N` loop boundaries, every `SECONDS` seconds (`60s`), or as often as it pays"},
    {ROW("checkpoint-keep", CHECKPOINTS, COUNT, checkpoint.keep), .argument = "K", .initial = "2", .most = MAX_TASKS,
     .help = "number of checkpoints that are kept"},
    {ROW("checkpoint-mtbf", CHECKPOINTS, MTBF, checkpoint.mtbf), .argument = "SECONDS", .wanted = "seconds above 0",
     .help = "mean time between failures that `--dome-checkpoint-every auto` expects",
     .otherwise = "as observed in this run; at first 3600"},
    {ROW("checkpoint-trust", CHECKPOINTS, FLAG, checkpoint.trust),
     .help = "use a checkpoint directory, and files in it, that another user can write to or that belong to one",
     .page = "[checkpoints.md](checkpoints.md#of-another-user)"},
    {ROW("checkpoint-deltas", CHECKPOINTS, WORD, checkpoint.deltas), .argument = "auto|off", .initial = "auto",
     .help =
         "write what has changed in blocks, where that is much shorter than the blocks; `off`: whole blocks, which a Dome from "
         "before there were deltas can read",
     .page = "[checkpoint-format.md](checkpoint-format.md#deltas)"},
    {ROW("checkpoint-mode", CHECKPOINTS, WORD, checkpoint.mode), .argument = "basic|estimate|accurate", .initial = "accurate",
     .help = "what goes into a checkpoint's file. `basic`: everything; `estimate`: what may have been written since the one "
             "before, without comparing; `accurate`: what has changed",
     .page = "[checkpoints.md](checkpoints.md#modes)"},
    {ROW("checkpoint-copy", CHECKPOINTS, WORD, checkpoint.copy), .argument = "wait|pre|on-write", .initial = "pre",
     .help = "for how long the program stops. `wait`: until the checkpoint is on disk; `pre`: until it is copied; `on-write`: "
             "until a child process has its memory, of which the kernel copies the pages that the program writes",
     .page = "[checkpoints.md](checkpoints.md#copying)"},
    {ROW("checkpoint-protocol", CHECKPOINTS, WORD, checkpoint.protocol), .argument = "stop|snapshot|log", .initial = "stop",
     .help = "messages that are under way where a checkpoint is due. `stop`: it waits for a loop boundary without any; "
             "`snapshot`: it has them; `log`: each task has checkpoints of its own, and after a loss the lost task alone goes "
             "back, in programs of dome_send and dome_recv alone",
     .page = "[checkpoints.md](checkpoints.md#messages-in-transit)"},
    {ROW("restart", CHECKPOINTS, RESTART, restart.from), .argument = "auto|NUMBER", .wanted = "no value, =auto or =NUMBER",
     .help = "without a value: resume from the newest good checkpoint, which must exist; `NUMBER`: from that one; `auto`: from "
             "the newest "
             "good one of this run, or from the beginning if there is none"},
    {ROW("restart-load", CHECKPOINTS, WORD, restart.load), .argument = "whole|lazy", .initial = "whole",
     .help = "`lazy`: the program goes on at once, a page of a region is read when it is first touched, and a thread reads the "
             "others; `whole`: everything is verified and read before that",
     .page = "[checkpoints.md](checkpoints.md#going-on-at-once)"},

    {ROW("kernels", COMPUTING, NAME, kernels), .argument = "auto|avx512|avx2|baseline", .initial = "auto",
     .help = "the widest vector instructions to use; the bits of results are the same. `auto`: the widest of each processor"},
    {ROW("evaluator", COMPUTING, WORD, evaluator), .argument = "auto|plain|fused|compiled", .initial = "auto",
     .help = "how element-wise operations are run; the bits of results are the same. `plain`: one after the other; `fused`: in "
             "one pass, "
             "without values that nobody reads; `compiled`: by generated code, which the program waits for; `auto`: fused, and "
             "by generated "
             "code where a chain is repeated",
     .page = "[generated code](#generated-code)"},
    {ROW("omp-order", COMPUTING, WORD, omp_order), .argument = "threads|any", .initial = "threads",
     .help =
         "in which order threads of an OpenMP program enter critical sections, take locks and update atomic variables. "
         "`threads`: in that of their numbers, so that results have the same bits on any number of tasks; `any`: as they come",
     .page = "[openmp.md](openmp.md#the-order-of-threads)"},
    {ROW("omp-tasks", COMPUTING, WORD, omp_tasks), .argument = "dealt|at-once", .initial = "dealt",
     .help = "when tasks of an OpenMP program run that thread 0 meets. `dealt`: when it waits for them, dealt to all threads; "
             "`at-once`: where they are met, on one task of the program",
     .page = "[openmp.md](openmp.md#tasks)"},
    {ROW("check-pointers", COMPUTING, FLAG, check_pointers),
     .help = "end with one line when the program uses a pointer to data that has moved"},
    {ROW("check-reductions", COMPUTING, FLAG, check_reductions),
     .help = "in reductions with functions of the program, combine in two orders; end with one line where the results differ in "
             "more than rounding"},

    {ROW("omp-races", COMPUTING, WORD, omp_races), .argument = "off|warn|error", .initial = "off",
     .help = "in OpenMP programs by `dome-omp`, look for bytes that two threads have given different values without "
             "synchronising between. `warn`: a line for each variable; `error`: the first one ends the program",
     .page = "[openmp.md](openmp.md#races)"},

    {ROW("output", OUTPUT, WORD, output), .argument = "rank0|all", .initial = "rank0",
     .help = "whose standard output is shown. `all`: that of every task, with the rank before each line of tasks other than 0"},
    {ROW("output-state", OUTPUT, TEXT, output_state), .argument = "FILE", .wanted = "the name of a file",
     .help = "note in `FILE` what of the output has been shown. A run that goes on later, perhaps on another host, with the same "
             "`FILE` and with its output appended to the same file, shows nothing twice; a run that comes to its end removes it",
     .page = "[output is shown once](#output-is-shown-once)",
     .command = "Note in FILE what has been shown: a later run that appends to the same output shows nothing twice"},
    {ROW("progress", OUTPUT, WORD, progress), .argument = "auto|always|never", .initial = "auto",
     .help = "where programs that call `dome_progress` show it. `auto`: a bar on a terminal, a line now and then in a file, "
             "nothing in a "
             "pipe; `always`: lines in a pipe, too"},
    {ROW("trace", OUTPUT, TEXT, trace), .argument = "FILE", .wanted = "the name of a file",
     .help = "record what all tasks do in `FILE`, for `dome view`; `FILE.json`: for Perfetto (https://ui.perfetto.dev)",
     .page = "[tracing.md](tracing.md)"},
    {ROW("profile", OUTPUT, FLAG, profile), .help = "print at the end, on standard error: for each operation its calls, "
                                                    "computing and waiting time, bandwidth, largest computing "
                                                    "time over mean and share of the time; for each task where its time "
                                                    "went, and for which task it waited longest; messages; what balancing and "
                                                    "checkpoints did; peak memory; advice where the figures "
                                                    "call for it"},
    {ROW("version", OUTPUT, FLAG, version), .help = "print the version of Dome and end"},
    {ROW("help", OUTPUT, FLAG, help), .help = "print this list and end"},
    {0},
};

_Static_assert(sizeof dome__option_rows / sizeof *dome__option_rows <= DOME_OPTIONS_MOST, "there is no room for all origins");

const dome_option_row *dome__option_row(const char *name)
{
    for (const dome_option_row *row = dome__option_rows; row->name; row++)
        if (strcmp(row->name, name) == 0)
            return row;
    return NULL;
}

const dome_option_row *dome__option_row_of(const char *word)
{
    if (strncmp(word, "--", 2) != 0)
        return NULL;
    const size_t length = strcspn(word + 2, "=");
    for (const dome_option_row *row = dome__option_rows; row->name; row++)
        if (strlen(row->name) == length && strncmp(row->name, word + 2, length) == 0)
            return row;
    return NULL;
}
