#include "kernels/compiler.h"

#include "system/child.h"
#include "system/io.h"
#include "system/own_folder.h"
#include "system/thread.h"
#include "system/unconst.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif

/* File names in the folder where the compiler works. */
static char INPUT[] = "chain.c", OUTPUT[] = "chain.so";

void dome__compiler_init(dome_compiler *compiler)
{
    *compiler = (dome_compiler){0};
    g_mutex_init(&compiler->lock);
}

void dome__compiler_clear(dome_compiler *compiler)
{
    g_mutex_clear(&compiler->lock);
    g_free(compiler->program);
}

bool dome__compiler_find(dome_compiler *compiler)
{
    static const char *const names[] = {"cc", "gcc", "clang"};
    for (unsigned k = 0; k < G_N_ELEMENTS(names) && !compiler->program; k++) {
        char *found = g_find_program_in_path(names[k]);
        compiler->program = found ? g_canonicalize_filename(found, NULL) : NULL;
        g_free(found);
    }
    return compiler->program != NULL;
}

/* ---- the process ---- */

/* The program may wait for any child, or ignore SIGCHLD, so the compiler must not be its child. The process in between ends
 * without a signal, which wait() ignores. It shares the program's memory, since copying the page tables of a large program takes
 * long, and the thread that made it is suspended meanwhile, as with vfork. */
typedef struct errand {
    dome_compiler *compiler;
    int folder;
    char **arguments, **environment;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t actions;
    int words; /* for the compiler's standard error; -1: discarded */
} errand;

enum { STACK = 256 << 10, COMPILED = 0, FAILED = 1, NOT_STARTED = 2 };

static int run_errand(void *data)
{
    const errand *e = data;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, 0);
    /* Stop is set before the group is killed: either the signal reaches the group, or the group sees the flag here. */
    if (__atomic_load_n(&e->compiler->stop, __ATOMIC_SEQ_CST))
        return FAILED;
    struct sigaction usual = {.sa_handler = SIG_DFL};
    sigaction(SIGCHLD, &usual, NULL); /* in this process only */
    pid_t child;
    if (fchdir(e->folder) < 0 ||
        posix_spawn(&child, e->compiler->program, &e->actions, &e->attributes, e->arguments, e->environment) != 0)
        return NOT_STARTED;
    return dome__child_reap(child) == 0 ? COMPILED : FAILED;
}

static void errand_init(errand *e)
{
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    e->environment = g_environ_setenv(g_get_environ(), "TMPDIR", ".", TRUE);
    e->environment = g_environ_setenv(e->environment, "LC_ALL", "C", TRUE);
    posix_spawnattr_init(&e->attributes);
    posix_spawnattr_setflags(&e->attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigmask(&e->attributes, &none);
    posix_spawnattr_setsigdefault(&e->attributes, &all);
    posix_spawn_file_actions_init(&e->actions);
    for (int k = 0; k < 3; k++)
        posix_spawn_file_actions_addopen(&e->actions, k, "/dev/null", O_RDWR, 0);
    e->words = memfd_create("dome-compiler", MFD_CLOEXEC);
    if (e->words >= 0)
        posix_spawn_file_actions_adddup2(&e->actions, e->words, STDERR_FILENO);
}

/* The first line of the compiler's messages; g_free'd. */
static char *first_words(const errand *e)
{
    char line[200] = "";
    ssize_t n = e->words >= 0 ? pread(e->words, line, sizeof line - 1, 0) : 0;
    line[MAX(n, 0)] = '\0';
    line[strcspn(line, "\n")] = '\0';
    return g_strdup(line[0] ? line : "it does not say why");
}

static void errand_clear(errand *e)
{
    posix_spawnattr_destroy(&e->attributes);
    posix_spawn_file_actions_destroy(&e->actions);
    g_strfreev(e->environment);
    if (e->words >= 0)
        close(e->words);
}

/* Runs the compiler in a folder and waits for it. False with *why. */
static bool run_compiler(dome_compiler *c, int folder, char **arguments, char **why)
{
    errand e = {.compiler = c, .folder = folder, .arguments = arguments};
    sigset_t before;
    errand_init(&e);
    char *stack = g_malloc(STACK);
    dome__signals_block(&before);
    pid_t process = clone(run_errand, stack + STACK, CLONE_VM | CLONE_VFORK | CLONE_PARENT_SETTID, &e, &c->process);
    int error = errno, status = -1;
    dome__signals_restore(&before);
    g_mutex_lock(&c->lock);
    c->process = 0;
    g_mutex_unlock(&c->lock);
    g_free(stack);
    while (process > 0 && waitpid(process, &status, __WALL) < 0 && errno == EINTR)
        continue;
    int result = process > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : FAILED;
    char *words = first_words(&e);
    if (process < 0)
        *why = g_strdup_printf("no process for %s: %s", c->program, g_strerror(error));
    else if (result == NOT_STARTED)
        *why = g_strdup_printf("%s cannot be started", c->program);
    else if (result == FAILED)
        *why = g_strdup_printf("%s fails: %s", c->program, words);
    g_free(words);
    errand_clear(&e);
    return process > 0 && result == COMPILED;
}

bool dome__compiler_stopped(dome_compiler *compiler)
{
    return __atomic_load_n(&compiler->stop, __ATOMIC_SEQ_CST);
}

void dome__compiler_stop(dome_compiler *compiler)
{
    g_mutex_lock(&compiler->lock);
    __atomic_store_n(&compiler->stop, 1, __ATOMIC_SEQ_CST);
    pid_t group = __atomic_load_n(&compiler->process, __ATOMIC_SEQ_CST);
    if (group > 0)
        kill(-group, SIGKILL);
    g_mutex_unlock(&compiler->lock);
}

/* ---- its files ---- */

static bool write_input(int folder, const char *source)
{
    int file = openat(folder, INPUT, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool good = file >= 0 && dome__io_write(file, source, strlen(source));
    if (file >= 0 && close(file) < 0)
        good = false;
    return good;
}

static GBytes *read_output(int folder, char **why)
{
    int file = openat(folder, OUTPUT, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    GMappedFile *map = file >= 0 ? g_mapped_file_new_from_fd(file, FALSE, NULL) : NULL;
    GBytes *code = map ? g_bytes_new(g_mapped_file_get_contents(map), g_mapped_file_get_length(map)) : NULL;
    if (!code)
        *why = g_strdup_printf("the compiler's file cannot be read: %s", g_strerror(errno));
    if (map)
        g_mapped_file_unref(map);
    if (file >= 0)
        close(file);
    return code;
}

GBytes *dome__compile(dome_compiler *compiler, int folder, const char *path, const char *const *flags, const char *source,
                      char **why)
{
    char *name;
    int work = dome__work_folder(folder, &name);
    *why = NULL;
    if (work < 0 || !write_input(work, source)) {
        *why = g_strdup_printf("%s: %s", path, g_strerror(errno));
        if (work >= 0)
            dome__work_folder_remove(folder, work, name);
        return NULL;
    }
    GPtrArray *arguments = g_ptr_array_new();
    g_ptr_array_add(arguments, compiler->program);
    for (const char *const *flag = flags; *flag; flag++)
        g_ptr_array_add(arguments, dome__unconst(*flag));
    char *const rest[] = {"-o", OUTPUT, INPUT, NULL};
    for (unsigned k = 0; k < G_N_ELEMENTS(rest); k++)
        g_ptr_array_add(arguments, rest[k]);
    bool good = run_compiler(compiler, work, (char **)arguments->pdata, why);
    GBytes *code = good ? read_output(work, why) : NULL;
    if (dome__compiler_stopped(compiler))
        g_clear_pointer(why, g_free);
    g_ptr_array_unref(arguments);
    dome__work_folder_remove(folder, work, name);
    return code;
}

/* ---- loading ---- */

/* Memory that may be executed whatever the mount options of the file systems. Systems that do not know MFD_EXEC allow it in any
 * case. */
static int code_memory(const void *data, size_t bytes)
{
    int fd = memfd_create("dome-chain", MFD_CLOEXEC | MFD_EXEC);
    if (fd < 0 && errno == EINVAL)
        fd = memfd_create("dome-chain", MFD_CLOEXEC);
    if (fd >= 0 && !dome__io_write(fd, data, bytes)) {
        int error = errno;
        close(fd);
        errno = error;
        return -1;
    }
    return fd;
}

/* A path of a descriptor for the dynamic linker; NULL with errno. For a path it has seen before the linker returns the library it
 * has, and descriptor numbers recur: so each path is different, by a number encoded in slashes and dots, which do not change the
 * file it names. A debugger opens the path as well: it contains the thread's number, so that it names nothing in other processes.
 */
static char *new_name(int fd)
{
    static unsigned number;
    char thread[64];
    ssize_t n = readlink("/proc/thread-self", thread, sizeof thread - 1);
    if (n < 0)
        return NULL;
    thread[n] = '\0';
    char *last = g_path_get_basename(thread);
    GString *name = g_string_new(NULL);
    g_string_printf(name, "/proc/self/task/%s/fd", last);
    for (unsigned rest = __atomic_fetch_add(&number, 1, __ATOMIC_RELAXED); rest; rest /= 2)
        g_string_append(name, rest % 2 ? "/." : "/");
    g_string_append_printf(name, "/%d", fd);
    g_free(last);
    return g_string_free(name, FALSE);
}

void *dome__load_code(GBytes *code, const char *symbol, char **why)
{
    gsize bytes;
    const void *data = g_bytes_get_data(code, &bytes);
    int fd = code_memory(data, bytes);
    if (fd < 0) {
        *why = g_strdup_printf("this system gives no memory for code: %s", g_strerror(errno));
        return NULL;
    }
    char *name = new_name(fd);
    if (!name) {
        *why = g_strdup_printf("/proc/thread-self: %s", g_strerror(errno));
        close(fd);
        return NULL;
    }
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL), *found = library ? dlsym(library, symbol) : NULL;
    if (!found)
        *why = g_strdup_printf("their code cannot be loaded: %s", dlerror());
    g_free(name);
    close(fd);
    return found;
}
