/* writer DIRECTORY STEPS [what]: writes files there for a while: one from the beginning to the end, one that it appends to, one
 * that it opens and closes again and again, and reads back what it wrote. `what` is foreign to a checkpoint: thread, socket,
 * pipe, descriptor; or dangling, a pointer that leads nowhere; or refused, a callback that says no; or child, a process that
 * has ended by exit. Or it is actions: those of signals, which it sets and gives back. */
#include "hand.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static FILE *log_file, *append_file, *short_file, *source;
static char path[256];
static char *nowhere;
static long steps, step;
static unsigned state = 1;

struct program_saved {
    long unused;
};
static const dome_capture_member program_saved_members[] = {MEMBER(unused, program_saved, dome_capture_long)};
STRUCT(program_saved);
static dome_capture_function program_function = {.name = "program", .saved = &program_saved_type};

static FILE *open_in(const char *directory, const char *name, const char *mode)
{
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = dome_capture_fopen(path, mode);
    if (!file) {
        perror(path);
        exit(1);
    }
    return file;
}

static void *wait_for_ever(void *unused)
{
    for (;;)
        pause();
    return unused;
}

static int refuse(void *unused)
{
    (void)unused;
    return 1;
}

static void ignore(int number)
{
    (void)number;
}

/* Sets an action for a while, and then again what it is told was the one before. */
static void change_action(int number)
{
    struct sigaction action = {.sa_handler = ignore}, before, now;
    if (dome_capture_sigaction(number, &action, &before) != 0 || before.sa_handler != SIG_DFL)
        exit(5);
    if (dome_capture_sigaction(number, &before, &now) != 0 || now.sa_handler != ignore)
        exit(6);
    if (dome_capture_signal(number, ignore) != SIG_DFL || dome_capture_signal(number, SIG_DFL) != ignore)
        exit(7);
}

static void make_foreign(const char *what)
{
    pthread_t thread;
    int ends[2];
    if (strcmp(what, "thread") == 0)
        pthread_create(&thread, NULL, wait_for_ever, NULL);
    else if (strcmp(what, "socket") == 0)
        (void)!socket(AF_UNIX, SOCK_STREAM, 0);
    else if (strcmp(what, "pipe") == 0)
        (void)!pipe(ends);
    else if (strcmp(what, "descriptor") == 0)
        (void)!open("/etc/passwd", O_RDONLY);
    else if (strcmp(what, "child") == 0) {
        int status = 1;
        pid_t child = fork();
        if (child == 0)
            exit(3);
        waitpid(child, &status, 0);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 3)
            exit(4);
    } else if (strcmp(what, "dangling") == 0)
        nowhere = getenv("PATH");
    else if (strcmp(what, "refused") == 0)
        dome_capture_on(DOME_CAPTURE_BEFORE_CHECKPOINT, refuse, NULL);
    else if (strcmp(what, "actions") == 0) {
        change_action(SIGUSR1);
        change_action(SIGTERM);
    }
}

static int program(int argc, char **argv)
{
    int point;
    char line[64];
    if (RESUMES) {
        dome_capture_pop(&program_function, &point);
        goto point_1;
    }
    if (argc < 3)
        return 2;
    steps = atol(argv[2]);
    if (argc > 3)
        make_foreign(argv[3]);
    log_file = open_in(argv[1], "log", "w");
    append_file = open_in(argv[1], "append", "a");
    source = open_in(argv[1], "source", "r");
    for (; step < steps; step++) {
    point_1:
        if (POLLED) {
            SAVE(program, 1, 0);
            return 0;
        }
        state = state * 1664525 + 1013904223;
        fprintf(log_file, "step %ld: %u\n", step, state);
        if (step % 3 == 0)
            fprintf(append_file, "%ld,", step);
        if (step % 7 == 0 && fgets(line, sizeof line, source))
            fputs(line, log_file);
        if (step % 50 == 0) {
            short_file = open_in(argv[1], "short", "w");
            fprintf(short_file, "since %ld", step);
        } else if (step % 50 == 20) {
            dome_capture_fclose(short_file);
            short_file = NULL;
        } else if (short_file) {
            fprintf(short_file, " %ld", step);
        }
        usleep(100);
    }
    dome_capture_fclose(append_file);
    return dome_capture_fclose(log_file) != 0;
}

static dome_capture_type char_pointer = DOME_CAPTURE_POINTER_TO("char *", &dome_capture_char);
static dome_capture_global globals[] = {{"writer.c:log_file", &log_file, &dome_capture_pointer, 1, 0},
                                        {"writer.c:append_file", &append_file, &dome_capture_pointer, 1, 0},
                                        {"writer.c:short_file", &short_file, &dome_capture_pointer, 1, 0},
                                        {"writer.c:source", &source, &dome_capture_pointer, 1, 0},
                                        {"writer.c:path", path, &dome_capture_char, sizeof path, 0},
                                        {"writer.c:nowhere", &nowhere, &char_pointer, 1, 0},
                                        {"writer.c:steps", &steps, &dome_capture_long, 1, 0},
                                        {"writer.c:step", &step, &dome_capture_long, 1, 0},
                                        {"writer.c:state", &state, &dome_capture_uint, 1, 0}};
static dome_capture_function *functions[] = {&program_function};
static dome_capture_module module = {.size = sizeof module,
                                     .name = "writer.c",
                                     .globals = globals,
                                     .nglobals = sizeof globals / sizeof *globals,
                                     .functions = functions,
                                     .nfunctions = 1};

__attribute__((constructor)) static void enlist(void)
{
    dome_capture_register(&module);
    dome_capture_keep(DOME_CAPTURE_KEEP_SIGNAL);
}

int main(int argc, char **argv)
{
    return dome_capture_main(argc, argv, program);
}
