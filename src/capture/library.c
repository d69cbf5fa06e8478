/* State that the C library and the system hold for the program, where it cannot be saved: between calls, random numbers, the rest
 * of strtok's text, how far getopt is, handlers of signals, the locale; and blocks of the C library's heap. These functions do
 * the same as glibc's, with globals and blocks that are known; what no function here sets is looked up before the image is taken.
 */
#include "capture/capture.h"
#include "heap/die.h"
#include "heap/lent.h"
#include "system/own_signals.h"

#include <errno.h>
#include <fenv.h>
#include <glib.h>
#include <locale.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- rand, random ---- */

/* glibc's generator: each number is the sum of those 3 and 31 before it. numbers[NUMBERS]: the place of the next one plus 1; 0:
 * not seeded. */
enum { NUMBERS = DOME_CAPTURE_RANDOM_NUMBERS, LAG = 3, THROWN_AWAY = 310 };

static uint32_t next_number(void)
{
    dome_capture_library *l = &dome__capture->library;
    uint32_t at = l->numbers[NUMBERS] - 1, value = l->numbers[at] += l->numbers[(at + NUMBERS - LAG) % NUMBERS];
    l->numbers[NUMBERS] = (at + 1) % NUMBERS + 1;
    return value >> 1;
}

void dome_capture_srandom(unsigned seed)
{
    dome_capture_library *l = &dome__capture->library;
    int32_t value = seed ? (int32_t)seed : 1;
    for (int k = 0; k < NUMBERS; k++) {
        l->numbers[k] = (uint32_t)value;
        int64_t next = 16807 * (int64_t)(value % 127773) - 2836 * (int64_t)(value / 127773);
        value = (int32_t)(next < 0 ? next + 2147483647 : next);
    }
    l->numbers[NUMBERS] = LAG + 1;
    for (int k = 0; k < THROWN_AWAY; k++)
        next_number();
}

long dome_capture_random(void)
{
    dome_capture_library *l = &dome__capture->library;
    if (l->numbers[NUMBERS] == 0)
        dome_capture_srandom(1);
    return (long)next_number();
}

int dome_capture_rand(void)
{
    return (int)dome_capture_random();
}

void dome_capture_srand(unsigned seed)
{
    dome_capture_srandom(seed);
}

/* ---- drand48 ---- */

static uint64_t next48(void)
{
    dome_capture_library *l = &dome__capture->library;
    return l->state48 = (l->state48 * UINT64_C(0x5deece66d) + 11) & UINT64_C(0xffffffffffff);
}

void dome_capture_srand48(long seed)
{
    dome_capture_library *l = &dome__capture->library;
    l->state48 = (uint64_t)(uint32_t)seed << 16 | 0x330e;
}

double dome_capture_drand48(void)
{
    return (double)next48() / 281474976710656.0;
}

long dome_capture_lrand48(void)
{
    return (long)(next48() >> 17);
}

long dome_capture_mrand48(void)
{
    return (long)(int32_t)(uint32_t)(next48() >> 16);
}

/* ---- strtok ---- */

char *dome_capture_strtok(char *text, const char *delimiters)
{
    dome_capture_library *l = &dome__capture->library;
    char *word = text || l->strtok_rest ? strtok_r(text, delimiters, &l->strtok_rest) : NULL;
    if (!word)
        l->strtok_rest = NULL; /* the text may be gone when the image is taken */
    return word;
}

/* ---- atexit ---- */

enum { AT_EXIT_MOST = DOME_CAPTURE_AT_EXIT_MOST };

static void call_at_exit(void)
{
    dome_capture_library *l = &dome__capture->library;
    while (l->at_exit_count > 0)
        l->at_exit[--l->at_exit_count]();
}

/* In each process once. */
static bool will_call_at_exit(void)
{
    dome_capture_library *l = &dome__capture->library;
    l->calls_at_exit = l->calls_at_exit || atexit(call_at_exit) == 0;
    return l->calls_at_exit;
}

int dome_capture_atexit(void (*function)(void))
{
    dome_capture_library *l = &dome__capture->library;
    if (!function)
        dome__capture_die("dome_capture_atexit: the function is NULL");
    if (l->at_exit_count == AT_EXIT_MOST || !will_call_at_exit())
        return -1;
    l->at_exit[l->at_exit_count++] = function;
    return 0;
}

/* ---- signal, sigaction ---- */

enum { SIGNALS = DOME_CAPTURE_SIGNALS };

static unsigned long long bits_of(const sigset_t *set)
{
    unsigned long long bits = 0;
    for (int n = 1; n < SIGNALS; n++)
        if (sigismember(set, n) == 1)
            bits |= 1ull << (n - 1);
    return bits;
}

static sigset_t set_of(unsigned long long bits)
{
    sigset_t set;
    sigemptyset(&set);
    for (int n = 1; n < SIGNALS; n++)
        if (bits >> (n - 1) & 1)
            sigaddset(&set, n);
    return set;
}

/* Dome's own actions come back in the place of the default one, so that a request to write a checkpoint remains one. To the
 * program they are the default one. */
static int replace(int number, const struct sigaction *action, struct sigaction *before)
{
    dome_capture_library *l = &dome__capture->library;
    if (sigaction(number, NULL, before) != 0)
        return -1;
    if (dome__signal_is_own(before)) {
        l->own[number] = *before;
        *before = (struct sigaction){.sa_handler = SIG_DFL};
    }
    if (!action)
        return 0;
    const bool gives_back = action->sa_handler == SIG_DFL && dome__signal_is_own(&l->own[number]);
    return sigaction(number, gives_back ? &l->own[number] : action, NULL);
}

static void note_signal(int number, const struct sigaction *action)
{
    dome_capture_library *l = &dome__capture->library;
    l->handled[number] = 1;
    l->handlers[number] = action->sa_handler;
    l->how[number] =
        action->sa_flags & (SA_NOCLDSTOP | SA_NOCLDWAIT | SA_SIGINFO | SA_ONSTACK | SA_RESTART | SA_NODEFER | (int)SA_RESETHAND);
    l->blocked[number] = bits_of(&action->sa_mask);
}

int dome_capture_sigaction(int number, const void *action, void *before)
{
    struct sigaction was, now;
    if (action)
        now = *(const struct sigaction *)action; /* may be *before */
    if (replace(number, action ? &now : NULL, &was) != 0)
        return -1;
    if (before)
        *(struct sigaction *)before = was;
    if (action)
        note_signal(number, &now);
    return 0;
}

/* As the C library's, but for the default action, which may be one of Dome's. */
void (*dome_capture_signal(int number, void (*handler)(int)))(int)
{
    struct sigaction was, now = {.sa_handler = SIG_DFL};
    if (replace(number, handler == SIG_DFL ? &now : NULL, &was) != 0)
        return SIG_ERR;
    if (handler != SIG_DFL && (signal(number, handler) == SIG_ERR || sigaction(number, NULL, &now) != 0))
        return SIG_ERR;
    note_signal(number, &now);
    return was.sa_handler;
}

static void restore_signals(void)
{
    dome_capture_library *l = &dome__capture->library;
    for (int number = 1; number < SIGNALS; number++) {
        struct sigaction action = {.sa_flags = l->how[number], .sa_mask = set_of(l->blocked[number])}, before;
        if (!l->handled[number])
            continue;
        action.sa_handler = l->handlers[number];
        replace(number, &action, &before);
    }
}

/* ---- floating point ---- */

static const int ways[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO},
                 exceptions[] = {FE_INVALID, FE_DIVBYZERO, FE_OVERFLOW, FE_UNDERFLOW, FE_INEXACT};

static unsigned exception_bits(int set)
{
    unsigned bits = 0;
    for (unsigned k = 0; k < G_N_ELEMENTS(exceptions); k++)
        bits |= set & exceptions[k] ? 1u << k : 0;
    return bits;
}

static int exceptions_of(unsigned bits)
{
    int set = 0;
    for (unsigned k = 0; k < G_N_ELEMENTS(exceptions); k++)
        set |= bits >> k & 1 ? exceptions[k] : 0;
    return set;
}

/* The flags that the library raises meanwhile are not the program's. */
static void save_floating(void)
{
    dome_capture_library *l = &dome__capture->library;
    const int way = fegetround();
    l->has_floating = fegetenv(&l->floating) == 0;
    for (l->rounding = G_N_ELEMENTS(ways) - 1; l->rounding > 0 && ways[l->rounding] != way; l->rounding--)
        ;
    l->raised = exception_bits(fetestexcept(FE_ALL_EXCEPT));
    l->trapped = exception_bits(fegetexcept());
    fesetenv(FE_DFL_ENV);
}

static void restore_floating(void)
{
    dome_capture_library *l = &dome__capture->library;
    if (l->has_floating) {
        fesetenv(&l->floating);
        return;
    }
    fesetround(ways[l->rounding % G_N_ELEMENTS(ways)]);
    feclearexcept(FE_ALL_EXCEPT);
    if (l->raised)
        feraiseexcept(exceptions_of(l->raised));
    if (l->trapped)
        feenableexcept(exceptions_of(l->trapped));
}

/* ---- errno, the locale, umask, the mask of signals ---- */

enum { LOCALE_MOST = DOME_CAPTURE_LOCALE_MOST };

void dome__capture_library_save(void)
{
    dome_capture_library *l = &dome__capture->library;
    l->error = errno;
    if (l->kept & DOME_CAPTURE_KEEP_FLOATING)
        save_floating();
    if (l->kept & DOME_CAPTURE_KEEP_CLOCKS)
        dome__capture_clocks_save();
    if (l->kept & DOME_CAPTURE_KEEP_LOCALE && g_strlcpy(l->locale, setlocale(LC_ALL, NULL), LOCALE_MOST) >= LOCALE_MOST)
        dome__capture_die("the name of the locale is longer than %d characters", LOCALE_MOST - 1);
    if (l->kept & DOME_CAPTURE_KEEP_UMASK) {
        const mode_t now = umask(0);
        umask(now);
        l->mask_of_files = now;
    }
    if (l->kept & DOME_CAPTURE_KEEP_SIGNAL_MASK) {
        sigset_t now;
        pthread_sigmask(SIG_SETMASK, NULL, &now);
        l->mask_of_signals = bits_of(&now);
    }
}

void dome__capture_library_restore(void)
{
    dome_capture_library *l = &dome__capture->library;
    if (l->at_exit_count > 0 && !will_call_at_exit())
        dome__capture_die("atexit fails: no memory for the functions that the program wants to be called at its end");
    if (*l->locale && !setlocale(LC_ALL, l->locale))
        dome__capture_die("the program has chosen the locale '%s', which is not installed here", l->locale);
    if (l->kept & DOME_CAPTURE_KEEP_UMASK)
        umask((mode_t)l->mask_of_files);
    restore_signals();
    if (l->kept & DOME_CAPTURE_KEEP_SIGNAL_MASK) {
        const sigset_t before = set_of(l->mask_of_signals);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    if (l->kept & DOME_CAPTURE_KEEP_FLOATING)
        restore_floating();
    errno = l->error;
}

int *dome__capture_library_errno(void)
{
    dome_capture_library *l = &dome__capture->library;
    return l->kept & DOME_CAPTURE_KEEP_ERRNO ? &l->error : NULL;
}

/* ---- blocks ---- */

ptrdiff_t dome_capture_getdelim(char **line, size_t *size, int delimiter, FILE *stream)
{
    dome_capture_library *l = &dome__capture->library;
    if (!line || !size) {
        errno = EINVAL;
        return -1;
    }
    const ssize_t n = getdelim(&l->line, &l->line_room, delimiter, stream);
    if (n < 0)
        return -1;
    if (!*line || *size < (size_t)n + 1) {
        char *larger = dome_capture_realloc(&dome_capture_char, *line, MAX((size_t)n + 1, 120));
        if (!larger)
            return -1;
        *line = larger;
        *size = MAX((size_t)n + 1, 120);
    }
    memcpy(*line, l->line, (size_t)n + 1);
    return n;
}

ptrdiff_t dome_capture_getline(char **line, size_t *size, FILE *stream)
{
    return dome_capture_getdelim(line, size, '\n', stream);
}

int dome_capture_vasprintf(char **text, const char *format, va_list arguments)
{
    char *of_libc;
    const int n = vasprintf(&of_libc, format, arguments);
    if (n < 0)
        return n;
    *text = dome_capture_malloc(&dome_capture_char, (size_t)n + 1);
    if (*text)
        memcpy(*text, of_libc, (size_t)n + 1);
    free(of_libc);
    return *text ? n : -1;
}

int dome_capture_asprintf(char **text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int n = dome_capture_vasprintf(text, format, arguments);
    va_end(arguments);
    return n;
}

/* ---- what the image gets ---- */

/* Its address is a constant. */
#define OF dome__capture_object.library
static dome_capture_type text_pointer = DOME_CAPTURE_POINTER_TO("char *", &dome_capture_char);
static dome_capture_global of_random[] = {{"libc:random", OF.numbers, &dome_capture_uint, NUMBERS + 1, 0}};
static dome_capture_global of_random48[] = {{"libc:drand48", &OF.state48, &dome_capture_ullong, 1, DOME_CAPTURE_NUMBERS}};
static dome_capture_global of_strtok[] = {{"libc:strtok", &OF.strtok_rest, &text_pointer, 1, 0}};
static dome_capture_global of_getopt[] = {{"libc:optarg", &optarg, &text_pointer, 1, 0},
                                          {"libc:opterr", &opterr, &dome_capture_int, 1, 0},
                                          {"libc:optind", &optind, &dome_capture_int, 1, 0},
                                          {"libc:optopt", &optopt, &dome_capture_int, 1, 0}};
static dome_capture_global of_errno[] = {{"libc:errno", &OF.error, &dome_capture_int, 1, 0}};
static dome_capture_global of_atexit[] = {{"libc:atexit", OF.at_exit, &dome_capture_pointer, AT_EXIT_MOST, 0},
                                          {"libc:atexit count", &OF.at_exit_count, &dome_capture_uint, 1, 0}};
static dome_capture_global of_signal[] = {
    {"libc:signal handlers", OF.handlers, &dome_capture_pointer, SIGNALS, 0},
    {"libc:signal blocked", OF.blocked, &dome_capture_ullong, SIGNALS, DOME_CAPTURE_NUMBERS},
    {"libc:signal how", OF.how, &dome_capture_int, SIGNALS, 0},
    {"libc:signal handled", OF.handled, &dome_capture_uchar, SIGNALS, 0}};
static dome_capture_global of_locale[] = {{"libc:locale", OF.locale, &dome_capture_char, LOCALE_MOST, 0}};
static dome_capture_global of_umask[] = {{"libc:umask", &OF.mask_of_files, &dome_capture_uint, 1, 0}};
static dome_capture_global of_signal_mask[] = {
    {"libc:signal mask", &OF.mask_of_signals, &dome_capture_ullong, 1, DOME_CAPTURE_NUMBERS}};
static dome_capture_global of_floating[] = {{"libc:rounding", &OF.rounding, &dome_capture_uint, 1, 0},
                                            {"libc:exceptions", &OF.raised, &dome_capture_uint, 1, 0},
                                            {"libc:trapped exceptions", &OF.trapped, &dome_capture_uint, 1, 0}};
#define KEEPER(text, list)                                                                                                       \
    {                                                                                                                            \
        .size = sizeof(dome_capture_module), .name = text, .globals = list, .nglobals = G_N_ELEMENTS(list)                       \
    }
static dome_capture_module keepers[] = {KEEPER("libc random", of_random), KEEPER("libc drand48", of_random48),
                                        KEEPER("libc strtok", of_strtok), KEEPER("libc getopt", of_getopt),
                                        KEEPER("libc errno", of_errno),   KEEPER("libc atexit", of_atexit),
                                        KEEPER("libc signal", of_signal), KEEPER("libc locale", of_locale),
                                        KEEPER("libc umask", of_umask),   KEEPER("libc signal mask", of_signal_mask)};

/* By the bits of DOME_CAPTURE_KEEP_. */
static dome_capture_module *keeper(unsigned k)
{
    static dome_capture_module floating_point = KEEPER("libc floating point", of_floating);
    const unsigned own = G_N_ELEMENTS(keepers), lent = G_N_ELEMENTS(dome__capture_lent);
    return k < own ? &keepers[k] : k < own + lent ? &dome__capture_lent[k - own] : k == own + lent ? &floating_point : NULL;
}

void dome_capture_keep(unsigned what)
{
    dome_capture_library *l = &dome__capture->library;
    if (what & DOME_CAPTURE_KEEP_CALENDAR)
        what |= DOME_CAPTURE_KEEP_TEXTS; /* names of zones */
    for (unsigned k = 0; keeper(k); k++)
        if (what & ~l->kept & 1u << k)
            dome_capture_register(keeper(k));
    l->kept |= what;
}
