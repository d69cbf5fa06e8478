/* The values of a program's options. options/option_parse.h reads them; an enum has the order of the words in
 * options/option_table.c. */
#ifndef DOME_SRC_OPTION_VALUES_H
#define DOME_SRC_OPTION_VALUES_H

#include <stdbool.h>
#include <stdint.h>

/* --dome-bind */
typedef enum dome_binding { DOME_BIND_NONE, DOME_BIND_CORE } dome_binding;

/* --dome-place */
typedef enum dome_placing { DOME_PLACE_FILL, DOME_PLACE_SPREAD } dome_placing;

typedef enum dome_road {
    DOME_ROAD_BEST,    /* the first of the following that the machine allows */
    DOME_ROAD_VM,      /* shared memory; long messages are read from the sender's memory */
    DOME_ROAD_SHM,     /* shared memory for all messages */
    DOME_ROAD_PROVIDER /* the provider for all messages */
} dome_road;

typedef enum dome_topology { DOME_RING, DOME_LINEAR } dome_topology;

typedef enum dome_output { DOME_OUTPUT_FIRST, DOME_OUTPUT_ALL } dome_output;

/* RANDOM is for testing: it moves random blocks at every operation before which data may move. */
typedef enum dome_balancing { DOME_BALANCE_NONE, DOME_BALANCE_GLOBAL, DOME_BALANCE_RING, DOME_BALANCE_RANDOM } dome_balancing;

/* How deferred element-wise work is run: PLAIN one operation at a time, FUSED in one pass, AUTO by generated code for chains that
 * recur, COMPILED always by generated code, for testing. The bits are the same. */
typedef enum dome_evaluator {
    DOME_EVALUATOR_AUTO,
    DOME_EVALUATOR_PLAIN,
    DOME_EVALUATOR_FUSED,
    DOME_EVALUATOR_COMPILED
} dome_evaluator;

/* --dome-omp-races */
typedef enum dome_races { DOME_RACES_OFF, DOME_RACES_WARN, DOME_RACES_ERROR } dome_races;

/* In which order the threads of an OpenMP program update what they share: in that of their numbers, or as they come. */
typedef enum dome_omp_tasking { DOME_OMP_TASKS_DEALT, DOME_OMP_TASKS_AT_ONCE } dome_omp_tasking;
typedef enum dome_omp_ordering { DOME_OMP_ORDER_THREADS, DOME_OMP_ORDER_ANY } dome_omp_ordering;

/* AUTO: a bar on a terminal, lines in a file, nothing elsewhere. ALWAYS: lines wherever there is no terminal. */
typedef enum dome_progress_mode { DOME_PROGRESS_AUTO, DOME_PROGRESS_ALWAYS, DOME_PROGRESS_NEVER } dome_progress_mode;

typedef enum dome_checkpoint_unit { DOME_CHECKPOINT_AUTO, DOME_CHECKPOINT_LOOPS, DOME_CHECKPOINT_SECONDS } dome_checkpoint_unit;

/* NEWEST fails if there is no checkpoint; AUTO starts from the beginning if this run has none. */
typedef enum dome_restart { DOME_RESTART_NONE, DOME_RESTART_NEWEST, DOME_RESTART_AUTO, DOME_RESTART_NUMBER } dome_restart;

/* AUTO: HEAL with --dome-restarts, END without. */
typedef enum dome_on_loss { DOME_LOSS_AUTO, DOME_LOSS_HEAL, DOME_LOSS_RESTART, DOME_LOSS_TELL, DOME_LOSS_END } dome_on_loss;

/* AUTO: the number of tasks that pays. */
typedef enum dome_sizing { DOME_SIZE_KEEP, DOME_SIZE_AUTO } dome_sizing;

/* How the program starts. */
typedef struct dome_start_options {
    int tasks;             /* --dome-tasks; 0: not given */
    const char *transport; /* --dome-transport pvm|self; NULL: not given */
    dome_road road;        /* --dome-road best|vm|shm|pvm */
    dome_placing place;    /* --dome-place fill|spread */
    dome_binding bind;     /* --dome-bind none|core */
    char *hosts_script;    /* --dome-hosts-script; NULL: not given */
} dome_start_options;

/* The reaction to the loss of a task. */
typedef struct dome_loss_options {
    int restarts;        /* --dome-restarts */
    dome_on_loss action; /* --dome-on-loss */
} dome_loss_options;

/* How many tasks a running program may have. */
typedef struct dome_size_options {
    int least, most;    /* --dome-min, --dome-max; 0: not given */
    dome_sizing policy; /* --dome-size keep|auto */
} dome_size_options;

typedef struct dome_balance_options {
    dome_balancing policy;  /* --dome-balance */
    uint64_t every;         /* --dome-balance-every, operations; 0: adaptive */
    uint64_t phases;        /* --dome-balance-phases; 0: no limit */
    int group;              /* --dome-balance-group, tasks */
    dome_topology topology; /* --dome-topology ring|linear */
} dome_balance_options;

typedef enum dome_deltas { DOME_DELTAS_AUTO, DOME_DELTAS_OFF } dome_deltas;

/* The blocks in a checkpoint's own file: BASIC, all; ESTIMATE, those that may have been written since the last checkpoint,
 * without comparing bytes; ACCURATE, those whose bytes differ. */
typedef enum dome_checkpoint_mode {
    DOME_CHECKPOINT_BASIC,
    DOME_CHECKPOINT_ESTIMATE,
    DOME_CHECKPOINT_ACCURATE
} dome_checkpoint_mode;

/* For how long the program stops: until all is on disk; until it is copied; until the kernel copies what is written. */
typedef enum dome_checkpoint_copy { DOME_CHECKPOINT_WAIT, DOME_CHECKPOINT_PRE, DOME_CHECKPOINT_ON_WRITE } dome_checkpoint_copy;

/* What becomes of messages that are under way: the checkpoint waits for a boundary without any, or has them; or each task has
 * checkpoints of its own, and senders keep what others' do not cover. */
typedef enum dome_checkpoint_protocol {
    DOME_CHECKPOINT_STOP,
    DOME_CHECKPOINT_SNAPSHOT,
    DOME_CHECKPOINT_LOG
} dome_checkpoint_protocol;

typedef struct dome_checkpoint_options {
    char *directory;                   /* --dome-checkpoint-dir; NULL: no checkpoints */
    bool by_default;                   /* it is in memory, and has not been given */
    dome_checkpoint_unit unit;         /* of `every` */
    double every;                      /* --dome-checkpoint-every */
    unsigned keep;                     /* --dome-checkpoint-keep */
    double mtbf;                       /* --dome-checkpoint-mtbf, seconds; 0: not given */
    bool trust;                        /* --dome-checkpoint-trust */
    dome_deltas deltas;                /* --dome-checkpoint-deltas */
    dome_checkpoint_mode mode;         /* --dome-checkpoint-mode */
    dome_checkpoint_copy copy;         /* --dome-checkpoint-copy */
    dome_checkpoint_protocol protocol; /* --dome-checkpoint-protocol */
} dome_checkpoint_options;

typedef enum dome_restart_load { DOME_RESTART_WHOLE, DOME_RESTART_LAZY } dome_restart_load;

typedef struct dome_restart_options {
    dome_restart from;      /* --dome-restart */
    uint64_t number;        /* --dome-restart=NUMBER */
    dome_restart_load load; /* --dome-restart-load */
} dome_restart_options;

typedef struct dome_options {
    dome_start_options start;
    double timeout; /* --dome-timeout, seconds */
    dome_loss_options loss;
    dome_size_options size;
    dome_balance_options balance;
    dome_checkpoint_options checkpoint;
    dome_restart_options restart;
    const char *kernels;         /* --dome-kernels auto|avx512|avx2|baseline */
    dome_evaluator evaluator;    /* --dome-evaluator */
    dome_omp_ordering omp_order; /* --dome-omp-order threads|any */
    dome_omp_tasking omp_tasks;  /* --dome-omp-tasks dealt|at-once */
    bool check_pointers;         /* --dome-check-pointers */
    bool check_reductions;       /* --dome-check-reductions */
    dome_races omp_races;        /* --dome-omp-races */
    dome_output output;          /* --dome-output rank0|all */
    char *output_state;          /* --dome-output-state FILE; NULL: not given */
    dome_progress_mode progress; /* --dome-progress */
    char *trace;                 /* --dome-trace FILE; NULL: not given */
    bool profile;                /* --dome-profile */
    bool help, version;
} dome_options;

#endif
