/* Each tracker beside a model: which accesses fault, which pages were written. "test_trackers" skips what this machine has not.
 */
#include "memory/memory.h"
#include "memory/tracker.h"

#include "watch/last_signal.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void no_reason(const char *why)
{
    g_assert_cmpstr(why, ==, NULL);
}

/* Whether this machine has it; if so, it is used from now on. */
static bool use(const char *tracker)
{
    const char *why = NULL;
    const dome_tracker *row;
    if (dome__tracker_force(tracker))
        return true;
    for (unsigned k = 0; (row = dome__tracker_row(k, &why)) && strcmp(row->name, tracker) != 0; k++)
        continue;
    g_assert_nonnull(row);
    g_assert_nonnull(why);
    char *text = g_strdup_printf("no %s: %s", tracker, why);
    g_test_skip(text);
    g_free(text);
    return false;
}

static dome_memory *new_memory(size_t pages)
{
    const char *why = NULL;
    dome_memory *memory = dome__memory_new("test", pages * (size_t)sysconf(_SC_PAGESIZE), &why);
    no_reason(why);
    return memory;
}

/* ---- a model of rights ---- */

/* One thread's pages of one memory, and what is known of them. */
typedef struct model {
    dome_memory *memory;
    size_t first, pages;
    unsigned word; /* the process's own word in each page */
    dome_access *rights;
    uint32_t *values;
    unsigned seed;
    int operations;
} model;

/* What the last fault of this thread was; the handler gives just the right that is needed. */
static _Thread_local struct {
    volatile int count;
    volatile size_t page;
    volatile bool write;
} seen;

static void give_right(void *context, size_t offset, bool write)
{
    dome_memory *memory = *(dome_memory **)context;
    const size_t page = offset / dome__memory_page(memory);
    seen.count++;
    seen.page = page;
    seen.write = write;
    no_reason(dome__memory_allow(memory, page, 1, write ? DOME_ACCESS_WRITE : DOME_ACCESS_READ));
}

static volatile uint32_t *word_of(const model *m, size_t page)
{
    char *data = dome__memory_data(m->memory);
    return (volatile uint32_t *)(void *)(data + page * dome__memory_page(m->memory)) + m->word;
}

/* Reads or writes; it must fault if the model says so, and never else. Without help of the machine a write to a page without any
 * right faults twice. */
static void access_page(model *m, size_t page, bool write, uint32_t value)
{
    const dome_access need = write ? DOME_ACCESS_WRITE : DOME_ACCESS_READ, have = m->rights[page - m->first];
    seen.count = 0;
    if (write)
        *word_of(m, page) = m->values[page - m->first] = value;
    else
        g_assert_cmpuint(*word_of(m, page), ==, m->values[page - m->first]);
    if (have >= need) {
        g_assert_cmpint(seen.count, ==, 0);
        return;
    }
#if defined(__x86_64__) || defined(__aarch64__)
    g_assert_cmpint(seen.count, ==, 1);
#else
    g_assert_cmpint(seen.count, >=, 1);
#endif
    g_assert_cmpuint(seen.page, ==, page);
    g_assert_true(seen.write == write);
    m->rights[page - m->first] = need;
}

static void change_rights(model *m, GRand *r)
{
    const size_t from = (size_t)g_rand_int_range(r, 0, (int)m->pages), all = m->pages - from;
    const size_t most = g_rand_boolean(r) && all > 3 ? 3 : all;
    const size_t count = (size_t)g_rand_int_range(r, 0, 1 + (int)most);
    dome_access access = (dome_access)g_rand_int_range(r, 0, 3);
    no_reason(dome__memory_allow(m->memory, m->first + from, count, access));
    for (size_t k = from; k < from + count; k++)
        m->rights[k] = access;
}

static void *run_model(void *argument)
{
    model *m = argument;
    GRand *r = g_rand_new_with_seed(m->seed);
    m->rights = g_new0(dome_access, m->pages);
    m->values = g_new0(uint32_t, m->pages);
    for (int k = 0; k < m->operations; k++) {
        size_t page = m->first + (size_t)g_rand_int_range(r, 0, (int)m->pages);
        if (g_rand_int_range(r, 0, 4) == 0)
            change_rights(m, r);
        else
            access_page(m, page, g_rand_boolean(r), g_rand_int(r));
        page = m->first + (size_t)g_rand_int_range(r, 0, (int)m->pages);
        g_assert_cmpint(dome__memory_right(m->memory, page), ==, m->rights[page - m->first]);
    }
    g_rand_free(r);
    g_free(m->rights);
    g_free(m->values);
    return NULL;
}

static void test_rights(const void *tracker)
{
    enum { THREADS = 4, PAGES = 50 };
    pthread_t threads[THREADS];
    model models[THREADS];
    if (!use(tracker))
        return;
    dome_memory *memory = new_memory(THREADS * PAGES), *other = new_memory(3);
    no_reason(dome__memory_on_fault(memory, give_right, &memory));
    no_reason(dome__memory_on_fault(other, give_right, &other));
    for (unsigned k = 0; k < THREADS; k++) {
        models[k] = (model){memory, k * PAGES, PAGES, 0, NULL, NULL, 100 + k, 2000};
        g_assert_cmpint(pthread_create(&threads[k], NULL, run_model, &models[k]), ==, 0);
    }
    for (unsigned k = 0; k < THREADS; k++)
        pthread_join(threads[k], NULL);
    run_model(&(model){other, 0, 3, 0, NULL, NULL, 7, 500});
    g_assert_cmpstr(dome__memory_tracker(memory), ==, tracker);
    dome__memory_free(other);
    dome__memory_free(memory);
}

static void attach_and_run(const dome_memory_offer *offer)
{
    const char *why = NULL;
    dome_memory *memory = dome__memory_attach(offer, &why);
    no_reason(why);
    no_reason(dome__memory_on_fault(memory, give_right, &memory));
    run_model(&(model){memory, 0, 40, 5, NULL, NULL, 9, 4000});
    dome__memory_free(memory);
    _exit(0);
}

/* Two processes on one memory: each has its own rights, and its own word in each page. */
static void test_processes(const void *tracker)
{
    int status;
    if (!use(tracker))
        return;
    dome_memory *memory = new_memory(40);
    no_reason(dome__memory_on_fault(memory, give_right, &memory));
    dome_memory_offer offer = dome__memory_offer(memory);
    pid_t pid = fork();
    if (pid == 0)
        attach_and_run(&offer);
    run_model(&(model){memory, 0, 40, 0, NULL, NULL, 8, 4000});
    g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
    g_assert_cmpint(status, ==, 0);
    dome__memory_free(memory);
}

/* The kernel may unmap a page of the file at any time, when memory is short: that is no loss of a right. */
static void test_taken_away(const void *tracker)
{
    if (!use(tracker))
        return;
    dome_memory *memory = new_memory(4);
    volatile char *data = dome__memory_data(memory);
    const size_t page = dome__memory_page(memory);
    no_reason(dome__memory_on_fault(memory, give_right, &memory));
    no_reason(dome__memory_allow(memory, 0, 2, DOME_ACCESS_WRITE));
    no_reason(dome__memory_allow(memory, 2, 1, DOME_ACCESS_READ));
    data[0] = data[page] = 1;
    g_assert_cmpint(data[2 * page], ==, 0);
    seen.count = 0;
    for (int k = 0; k < 3; k++) {
        g_assert_cmpint(madvise(dome__memory_data(memory), 4 * page, MADV_DONTNEED), ==, 0);
        g_assert_cmpint(data[2 * page], ==, 0);
        g_assert_cmpint(data[0], ==, 1 + k);
        data[0] = (char)(2 + k);
        data[page] = 3;
    }
    g_assert_cmpint(seen.count, ==, 0);
    data[2 * page] = 1;
    g_assert_cmpint(seen.count, ==, 1);
    dome__memory_free(memory);
}

/* ---- system calls ---- */

static void test_system_calls(const void *tracker)
{
    if (!use(tracker))
        return;
    dome_memory *memory = new_memory(3);
    char *data = dome__memory_data(memory), *alias = dome__memory_alias(memory);
    int zero = open("/dev/zero", O_RDONLY), null = memfd_create("sink", 0);
    no_reason(dome__memory_on_fault(memory, give_right, &memory));
    memset(alias, 7, dome__memory_bytes(memory));
    g_assert_true(read(zero, data, 100) == -1 && errno == EFAULT);
    g_assert_true(write(null, data, 100) == -1 && errno == EFAULT);
    g_assert_cmpint(read(zero, alias, 100), ==, 100);
    g_assert_cmpint(write(null, alias, 100), ==, 100);
    no_reason(dome__memory_allow(memory, 0, 1, DOME_ACCESS_READ));
    g_assert_true(read(zero, data, 100) == -1 && errno == EFAULT);
    g_assert_cmpint(write(null, data, 100), ==, 100);
    no_reason(dome__memory_allow(memory, 0, 1, DOME_ACCESS_WRITE));
    g_assert_cmpint(read(zero, data, 200), ==, 200);
    g_assert_true(alias[199] == 0 && alias[200] == 7);
    close(zero);
    close(null);
    dome__memory_free(memory);
}

/* ---- what was written ---- */

static void note_run(void *context, size_t first, size_t count)
{
    char *pages = context;
    for (size_t k = first; k < first + count; k++)
        g_assert_cmpint(pages[k]++, ==, 0); /* each once */
}

/* Pages whose first write was told since the last look. */
static char *told;

static void note_first(void *context, size_t page)
{
    (void)context;
    g_assert_cmpint(told[page]++, ==, 0); /* each once */
}

/* Writes to a random part of the pages; the tracker must name just these. */
static void watch_round(dome_memory *memory, GRand *r, double share, bool exact)
{
    const size_t page = dome__memory_page(memory), pages = dome__memory_bytes(memory) / page;
    char *written = g_malloc0(pages), *found = g_malloc0(pages), *data = dome__memory_data(memory),
         *alias = dome__memory_alias(memory);
    for (size_t k = 0; k < pages; k++) {
        volatile char *at = data + k * page + (size_t)g_rand_int_range(r, 0, (int)page);
        if (g_rand_double(r) < share)
            *at = (char)(written[k] = 1);
        else if (g_rand_boolean(r))
            (void)*at;
        else
            alias[k * page] = 5; /* the library's own: not noticed */
    }
    no_reason(dome__memory_written(memory, note_run, found));
    for (size_t k = 0; k < pages; k++)
        g_assert_cmpint(found[k], ==, exact ? written[k] : 1);
    for (size_t k = 0; k < pages && told; k++)
        g_assert_cmpint(told[k], ==, written[k]);
    if (told)
        memset(told, 0, pages);
    g_free(written);
    g_free(found);
}

static void watch(const char *tracker, bool rights)
{
    static const double shares[] = {0.5, 0, 1, 0.01, 1, 0, 0.2};
    GRand *r = g_rand_new_with_seed(3);
    dome_memory *memory = new_memory(300);
    if (rights) {
        no_reason(dome__memory_on_fault(memory, give_right, &memory));
        no_reason(dome__memory_allow(memory, 10, 200, DOME_ACCESS_WRITE));
        told = g_malloc0(300);
        dome__memory_on_write(memory, note_first, NULL);
    }
    no_reason(dome__memory_watch(memory));
    g_assert_cmpstr(dome__memory_tracker(memory), ==, tracker);
    for (size_t k = 0; k < G_N_ELEMENTS(shares); k++) {
        watch_round(memory, r, shares[k], strcmp(tracker, "compare") != 0);
        if (rights)
            no_reason(dome__memory_allow(memory, 50 * k % 300, 20, (dome_access)(k % 3)));
    }
    dome__memory_free(memory);
    g_clear_pointer(&told, g_free);
    g_rand_free(r);
}

static void test_watch(const void *tracker)
{
    if (use(tracker))
        watch(tracker, false);
}

static void test_rights_and_watch(const void *tracker)
{
    if (use(tracker))
        watch(tracker, true);
}

/* A system call may write, and is noticed, unless the tracker must stop it. */
static void test_watched_system_call(const void *tracker)
{
    if (!use(tracker))
        return;
    dome_memory *memory = new_memory(5);
    char found[5] = {0}, *data = dome__memory_data(memory);
    int zero = open("/dev/zero", O_RDONLY);
    no_reason(dome__memory_watch(memory));
    const ssize_t n = read(zero, data + 2 * dome__memory_page(memory), 10);
    g_assert_true(n == 10 || (n == -1 && errno == EFAULT && strcmp(tracker, "async") != 0));
    no_reason(dome__memory_written(memory, note_run, found));
    g_assert_cmpint(found[2], >=, n == 10);
    close(zero);
    dome__memory_free(memory);
}

typedef struct follower {
    dome_memory *memory;
    char *twin;
    atomic_bool *done;
    unsigned seed;
} follower;

static void *write_on(void *argument)
{
    follower *f = argument;
    GRand *r = g_rand_new_with_seed(f->seed);
    char *data = dome__memory_data(f->memory);
    for (int k = 0; k < 20000; k++) {
        size_t at = (size_t)g_rand_int_range(r, 0, (int)dome__memory_bytes(f->memory) / 4) * 4 + f->seed % 4;
        *(volatile char *)(data + at) = (char)k;
    }
    g_rand_free(r);
    return NULL;
}

static void copy_run(void *context, size_t first, size_t count)
{
    follower *f = context;
    const size_t page = dome__memory_page(f->memory);
    memcpy(f->twin + first * page, (char *)dome__memory_alias(f->memory) + first * page, count * page);
}

/* Threads write while a copy follows: no write may be lost. */
static void test_followed(const void *tracker)
{
    enum { THREADS = 3 };
    pthread_t threads[THREADS];
    follower followers[THREADS];
    if (!use(tracker))
        return;
    dome_memory *memory = new_memory(64);
    char *twin = g_malloc0(dome__memory_bytes(memory));
    no_reason(dome__memory_watch(memory));
    for (unsigned k = 0; k < THREADS; k++) {
        followers[k] = (follower){memory, twin, NULL, k + 1};
        g_assert_cmpint(pthread_create(&threads[k], NULL, write_on, &followers[k]), ==, 0);
    }
    for (int k = 0; k < 50; k++)
        no_reason(dome__memory_written(memory, copy_run, &followers[0]));
    for (unsigned k = 0; k < THREADS; k++)
        pthread_join(threads[k], NULL);
    no_reason(dome__memory_written(memory, copy_run, &followers[0]));
    g_assert_cmpint(memcmp(twin, dome__memory_data(memory), dome__memory_bytes(memory)), ==, 0);
    g_free(twin);
    dome__memory_free(memory);
}

/* ---- processes that end ---- */

static int pipe_to_parent;

static void tell(int number)
{
    char byte = (char)number;
    if (write(pipe_to_parent, &byte, 1) != 1)
        _exit(1);
}

static int overflow(int depth)
{
    volatile char room[4096];
    room[0] = (char)depth;
    return depth < 0 ? 0 : overflow(depth + 1) + room[0];
}

static void expect_segv(void (*f)(void *), void *argument, bool told)
{
    int ends[2], status;
    char byte = 0;
    g_assert_cmpint(pipe(ends), ==, 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        pipe_to_parent = ends[1];
        f(argument);
        _exit(0);
    }
    close(ends[1]);
    g_assert_cmpint(read(ends[0], &byte, 1), ==, told);
    g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
    g_assert_true(!told || byte == SIGSEGV);
    g_assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    close(ends[0]);
}

static void overflow_beside_memory(void *unused)
{
    (void)unused;
    signal(SIGSEGV, SIG_DFL);
    dome__last_signal_catch(tell, false);
    dome_memory *memory = new_memory(10);
    no_reason(dome__memory_on_fault(memory, give_right, &memory));
    ((volatile char *)dome__memory_data(memory))[0] = 1;
    overflow(0);
}

static void read_in_child(void *memory)
{
    (void)*(volatile char *)dome__memory_data(memory);
}

static void test_ends(const void *tracker)
{
    if (!use(tracker))
        return;
    expect_segv(overflow_beside_memory, NULL, true);
    signal(SIGSEGV, SIG_DFL); /* not a sanitizer's */
    dome_memory *memory = new_memory(10);
    no_reason(dome__memory_on_fault(memory, give_right, &memory));
    ((volatile char *)dome__memory_data(memory))[0] = 1;
    expect_segv(read_in_child, memory, false);
    seen.count = 0;
    ((volatile char *)dome__memory_data(memory))[0] = 2;
    ((volatile char *)dome__memory_data(memory))[dome__memory_page(memory)] = 2;
    g_assert_cmpint(seen.count, ==, 1);
    dome__memory_free(memory);
}

/* ---- what the system refuses ---- */

/* From now on the system call fails with this error. */
static bool forbid(long call, int error)
{
    struct sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {G_N_ELEMENTS(program), program};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

/* A test that changes its process runs in one of its own. */
static void apart(void (*f)(void))
{
    if (!g_test_subprocess()) {
        g_test_trap_subprocess(NULL, 0, G_TEST_SUBPROCESS_INHERIT_STDERR);
        g_test_trap_assert_passed();
        return;
    }
    f();
}

static const char *reason_of(const char *tracker)
{
    const char *why = NULL;
    for (unsigned k = 0; dome__tracker_row(k, &why); k++)
        if (strcmp(dome__tracker_row(k, &why)->name, tracker) == 0)
            return why;
    g_assert_not_reached();
}

/* As in a container: all works by mprotect. */
static void without_userfaultfd(void)
{
    if (!forbid(SYS_userfaultfd, EPERM))
        return;
    g_assert_true(g_str_has_prefix(reason_of("async"), "userfaultfd is forbidden here"));
    g_assert_true(g_str_has_prefix(reason_of("fault"), "userfaultfd is forbidden here"));
    g_assert_false(dome__tracker_force("async"));
    g_assert_true(dome__tracker_force("auto"));
    watch("protect", false);
    watch("protect", true);
}

static void old_kernel(void)
{
    if (!forbid(SYS_userfaultfd, ENOSYS))
        return;
    g_assert_cmpstr(reason_of("async"), ==, "the kernel has no userfaultfd");
    g_assert_null(reason_of("protect"));
    g_assert_null(reason_of("compare"));
}

static void without_memfd(void)
{
    const char *why = NULL;
    if (!forbid(SYS_memfd_create, EPERM))
        return;
    g_assert_null(dome__memory_new("test", 1, &why));
    g_assert_cmpstr(why, ==, g_strerror(EPERM));
}

/* Nothing may be locked in memory, and nothing has to be. */
static void without_locked_memory(void)
{
    struct rlimit none = {0, 0};
    const char *why, *const names[] = {"async", "fault", "protect"};
    bool had[3];
    g_assert_cmpint(setrlimit(RLIMIT_MEMLOCK, &none), ==, 0);
    for (int k = 0; k < 3; k++)
        had[k] = dome__tracker_row((unsigned)k, &why) && !why;
    for (int k = 0; k < 3; k++)
        if (had[k] && dome__tracker_force(names[k]))
            watch(names[k], false);
}

static void named_by_variable(void)
{
    const char *why = NULL;
    g_setenv("DOME_TRACKER", "compare", TRUE);
    watch("compare", false);
    dome_memory *memory = new_memory(1);
    why = dome__memory_on_fault(memory, give_right, &memory);
    g_assert_cmpstr(why, ==, "nothing here can keep pages from being read and written");
    ((volatile char *)dome__memory_data(memory))[0] = 1; /* it is what it was */
    g_assert_cmpstr(dome__memory_tracker(memory), ==, "none");
    dome__memory_free(memory);
}

static void named_wrongly(void)
{
    const char *why = NULL;
    g_setenv("DOME_TRACKER", "asynk", TRUE);
    dome_memory *memory = new_memory(1);
    why = dome__memory_on_fault(memory, give_right, &memory);
    g_assert_cmpstr(why, ==, "DOME_TRACKER names no tracker: unset it, or use async, fault, protect or compare");
    dome__memory_free(memory);
}

/* More mappings than the process may have: each second page has another right than its neighbours. */
static void many_mappings(void)
{
    enum { PAGES = 70000 };
    g_assert_true(dome__tracker_force("protect"));
    dome_memory *memory = new_memory(PAGES);
    no_reason(dome__memory_on_fault(memory, give_right, &memory));
    const size_t page = dome__memory_page(memory);
    volatile char *data = dome__memory_data(memory);
    for (size_t k = 0; k < PAGES; k += 2)
        no_reason(dome__memory_allow(memory, k, 1, DOME_ACCESS_READ));
    seen.count = 0;
    for (size_t k = 0; k < PAGES; k += 2)
        g_assert_cmpint(data[k * page], ==, 0);
    g_assert_cmpint(seen.count, ==, 0);
    for (size_t k = 1; k < PAGES; k += 2)
        g_assert_cmpint(data[k * page], ==, 0);
    g_assert_cmpint(seen.count, ==, PAGES / 2);
    dome__memory_free(memory);
}

/* The program itself has nearly all mappings that it may have. */
static void no_mappings_left(void)
{
    enum { PAGES = 400 };
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), most = 1 << 17;
    g_assert_true(dome__tracker_force("protect"));
    dome_memory *memory = new_memory(PAGES);
    no_reason(dome__memory_on_fault(memory, give_right, &memory));
    char *program = mmap(NULL, most * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    g_assert_true(program != MAP_FAILED);
    size_t k = 1;
    while (k < most && mprotect(program + k * page, page, PROT_READ) == 0)
        k += 2;
    if (k >= most) {
        g_test_message("this machine allows more mappings");
        return;
    }
    for (size_t n = 0; n < 20; n++)
        mprotect(program + (k - 2 - 2 * n) * page, page, PROT_NONE); /* room for some */
    volatile char *data = dome__memory_data(memory);
    seen.count = 0;
    for (size_t n = 0; n < PAGES; n += 2)
        data[n * page] = 1;
    g_assert_cmpint(seen.count, ==, PAGES / 2);
    for (size_t n = 0; n < PAGES; n += 2)
        data[n * page] = 2;
    g_assert_cmpint(seen.count, ==, PAGES / 2);
    dome__memory_free(memory);
    munmap(program, most * page);
}

/* ---- rights that end ---- */

enum { RELEASED = 64 };

typedef struct releasing {
    dome_memory *memory;
    atomic_bool entered, released;
} releasing;

/* It gives its right only when there are none any more. */
static void answer_late(void *context, size_t page, bool write)
{
    releasing *r = context;
    (void)write;
    atomic_store(&r->entered, true);
    while (!atomic_load(&r->released))
        g_usleep(100);
    no_reason(dome__memory_allow(r->memory, page, 1, DOME_ACCESS_WRITE));
}

static void *access_late(void *context)
{
    const releasing *r = context;
    volatile char *data = dome__memory_data(r->memory);
    data[1] = 7;
    return NULL;
}

/* Afterwards no access faults, system calls included, on pages with any right before; a thread whose fault was being answered
 * goes on. */
static void test_released(const void *tracker)
{
    if (!use(tracker))
        return;
    releasing r = {.memory = new_memory(RELEASED)};
    const size_t page = dome__memory_page(r.memory);
    volatile char *data = dome__memory_data(r.memory);
    char *alias = dome__memory_alias(r.memory);
    pthread_t thread;
    int ends[2];
    for (size_t k = 0; k < RELEASED; k++)
        alias[k * page] = (char)k;
    no_reason(dome__memory_on_fault(r.memory, answer_late, &r));
    no_reason(dome__memory_allow(r.memory, 10, 10, DOME_ACCESS_READ));
    no_reason(dome__memory_allow(r.memory, 30, 10, DOME_ACCESS_WRITE));
    g_assert_true(dome__memory_is_ruled((const void *)&data[page], 1));
    g_assert_cmpint(pthread_create(&thread, NULL, access_late, &r), ==, 0);
    while (!atomic_load(&r.entered))
        g_usleep(100);
    dome__memory_release(r.memory);
    g_assert_false(dome__memory_is_ruled((const void *)&data[page], 1));
    g_assert_cmpint(pipe(ends), ==, 0);
    for (size_t k = 2; k < RELEASED; k += 3) {
        g_assert_cmpint(write(ends[1], (const void *)&data[k * page], 1), ==, 1);
        g_assert_cmpint(read(ends[0], (void *)&data[k * page + 1], 1), ==, 1);
    }
    for (size_t k = 0; k < RELEASED; k++) {
        g_assert_cmpint(data[k * page], ==, (char)k);
        data[k * page] = (char)(k + 1);
        g_assert_cmpint(alias[k * page], ==, (char)(k + 1));
    }
    g_assert_cmpint(alias[5 * page + 1], ==, 5);
    atomic_store(&r.released, true);
    pthread_join(thread, NULL);
    g_assert_cmpint(alias[1], ==, 7);
    close(ends[0]);
    close(ends[1]);
    dome__memory_free(r.memory);
    dome__tracker_force("auto");
}

static void test_apart(const void *f)
{
    apart(*(void (*const *)(void))f);
}

typedef struct test {
    const char *name;
    const char *trackers; /* those that it is for */
    void (*run)(const void *);
} test;

static const test tests[] = {
    {"rights", "fault protect", test_rights},
    {"processes", "fault protect", test_processes},
    {"taken-away", "fault protect", test_taken_away},
    {"system-calls", "fault protect", test_system_calls},
    {"watch", "async fault protect compare", test_watch},
    {"rights-and-watch", "fault protect", test_rights_and_watch},
    {"watched-system-call", "async fault protect", test_watched_system_call},
    {"followed", "async fault protect compare", test_followed},
    {"ends", "fault protect", test_ends},
    {"released", "fault protect", test_released},
};

static void add(const char *path, const char *name, const void *argument, void (*run)(const void *))
{
    char *whole = g_strdup_printf("/trackers/%s/%s", path, name);
    g_test_add_data_func(whole, argument, run);
    g_free(whole);
}

int main(int argc, char **argv)
{
    static void (*const refusals[])(void) = {without_userfaultfd, old_kernel,    without_memfd, without_locked_memory,
                                             named_by_variable,   named_wrongly, many_mappings, no_mappings_left};
    static const char *const names[] = {"without-userfaultfd", "old-kernel",    "without-memfd", "without-locked-memory",
                                        "named-by-variable",   "named-wrongly", "many-mappings", "no-mappings-left"};
    static const char *const trackers[] = {"async", "fault", "protect", "compare"};
    g_test_init(&argc, &argv, NULL);
    for (size_t k = 0; k < G_N_ELEMENTS(refusals); k++)
        add("refused", names[k], &refusals[k], test_apart);
    for (size_t t = 0; t < G_N_ELEMENTS(trackers); t++)
        for (size_t k = 0; k < G_N_ELEMENTS(tests); k++)
            if (strstr(tests[k].trackers, trackers[t]))
                add(trackers[t], tests[k].name, trackers[t], tests[k].run);
    return g_test_run();
}
