#include "openmp/icv.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "system/say.h"

enum { DEFAULT_THREADS = 64 };

static dome_omp_environment environment = {
    .variables = {.threads = DEFAULT_THREADS,
                  .schedule = DOME_OMP_DYNAMIC,
                  .chunk = 1,
                  .active_levels = 1,
                  .thread_limit = INT32_MAX,
                  .allocator = 1},
    .stack_bytes = DOME_OMP_STACK_BYTES,
    .league = {.size = 1},
};

static const char *after_spaces(const char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    return text;
}

static bool mute;

void dome__omp_environment_mute(void)
{
    mute = true;
}

static void wrong(const char *name, const char *value, const char *used)
{
    if (!mute)
        dome__say_at_once("OpenMP: %s=%s is not understood; %s is used", name, value, used);
}

/* The number at *text, and *text behind it. */
static bool number_at(const char **text, uint64_t least, uint64_t most, uint64_t *number)
{
    char *end;
    const char *begin = after_spaces(*text);
    if (!isdigit((unsigned char)*begin))
        return false;
    errno = 0;
    unsigned long long got = strtoull(begin, &end, 10);
    if (errno || got < least || got > most)
        return false;
    *number = got;
    *text = after_spaces(end);
    return true;
}

static bool read_number(const char *name, uint64_t least, uint64_t most, uint64_t *number)
{
    const char *value = getenv(name), *text = value;
    if (!value)
        return false;
    if (number_at(&text, least, most, number) && !*text)
        return true;
    char used[32];
    snprintf(used, sizeof used, "%llu", (unsigned long long)*number);
    wrong(name, value, used);
    return false;
}

/* One number for each level of nesting: the first counts, since inner regions have one thread. */
static void read_threads(void)
{
    const char *value = getenv("OMP_NUM_THREADS"), *text = value;
    uint64_t number, first = 0;
    if (!value)
        return;
    do {
        text += first != 0;
        if (!number_at(&text, 1, INT32_MAX, &number)) {
            wrong("OMP_NUM_THREADS", value, "64");
            return;
        }
        first = first ? first : number;
    } while (*text == ',');
    if (*text)
        wrong("OMP_NUM_THREADS", value, "64");
    else
        environment.variables.threads = (unsigned)first;
}

static bool read_bool(const char *name, bool otherwise)
{
    const char *value = getenv(name);
    if (!value)
        return otherwise;
    const char *text = after_spaces(value);
    size_t length = strcspn(text, " \t\n");
    if (!*after_spaces(text + length)) {
        if ((length == 4 && !strncasecmp(text, "true", 4)) || (length == 1 && *text == '1'))
            return true;
        if ((length == 5 && !strncasecmp(text, "false", 5)) || (length == 1 && *text == '0'))
            return false;
    }
    wrong(name, value, otherwise ? "true" : "false");
    return otherwise;
}

static bool word_at(const char **text, const char *word)
{
    size_t length = strlen(word);
    if (strncasecmp(*text, word, length) || isalpha((unsigned char)(*text)[length]))
        return false;
    *text = after_spaces(*text + length);
    return true;
}

/* [monotonic:|nonmonotonic:]kind[,chunk] */
static void read_schedule(void)
{
    static const char *const kinds[] = {"static", "dynamic", "guided", "auto"};
    const char *value = getenv("OMP_SCHEDULE");
    if (!value)
        return;
    const char *text = after_spaces(value);
    unsigned schedule = 0;
    if (word_at(&text, "monotonic") && *text == ':') {
        schedule = 0x80000000;
        text = after_spaces(text + 1);
    } else if (word_at(&text, "nonmonotonic") && *text == ':') {
        text = after_spaces(text + 1);
    }
    unsigned kind = 0;
    while (kind < 4 && !word_at(&text, kinds[kind]))
        kind++;
    uint64_t chunk = kind == 0 || kind == 3 ? 0 : 1;
    bool understood = kind < 4 && (!*text || (*text++ == ',' && number_at(&text, 1, INT32_MAX, &chunk) && !*text));
    if (!understood) {
        wrong("OMP_SCHEDULE", value, "dynamic,1");
        return;
    }
    environment.variables.schedule = schedule | (kind + 1);
    environment.variables.chunk = (int)chunk;
}

/* A number with B, K, M or G; kilobytes if it has none. */
static void read_stack_size(void)
{
    const char *value = getenv("OMP_STACKSIZE"), *text = value;
    if (!value)
        return;
    uint64_t number, bytes = 0;
    if (number_at(&text, 1, DOME_OMP_STACK_MOST, &number)) {
        static const char units[] = "BKMG";
        const char *unit = *text ? strchr(units, toupper((unsigned char)*text)) : units + 1;
        if (unit && !*after_spaces(text + (*text != 0)))
            bytes = number << 10 * (unit - units);
    }
    if (!bytes) {
        wrong("OMP_STACKSIZE", value, "8M");
        return;
    }
    uint64_t page = 1 << 12, most = DOME_OMP_STACK_MOST;
    bytes = (bytes + page - 1) / page * page + DOME_OMP_GUARD_BYTES;
    environment.stack_bytes = bytes < DOME_OMP_STACK_LEAST ? DOME_OMP_STACK_LEAST : bytes > most ? most : bytes;
}

static void read_levels(void)
{
    uint64_t levels = 1;
    if (read_bool("OMP_NESTED", false))
        levels = INT32_MAX;
    read_number("OMP_MAX_ACTIVE_LEVELS", 0, INT32_MAX, &levels);
    environment.variables.active_levels = (int)(levels > 255 ? 255 : levels);
}

static void read_all(void)
{
    uint64_t limit = INT32_MAX, teams = 0, teams_limit = 0, priority = 0;
    read_threads();
    read_schedule();
    read_stack_size();
    read_levels();
    environment.variables.dynamic = read_bool("OMP_DYNAMIC", false);
    environment.cancellation = read_bool("OMP_CANCELLATION", false);
    environment.display_affinity = read_bool("OMP_DISPLAY_AFFINITY", false);
    if (read_number("OMP_THREAD_LIMIT", 1, INT32_MAX, &limit))
        environment.variables.thread_limit = (unsigned)limit;
    if (read_number("OMP_NUM_TEAMS", 1, INT32_MAX, &teams))
        environment.league.teams = (unsigned)teams;
    if (read_number("OMP_TEAMS_THREAD_LIMIT", 1, INT32_MAX, &teams_limit))
        environment.league.thread_limit = (unsigned)teams_limit;
    if (read_number("OMP_MAX_TASK_PRIORITY", 0, INT32_MAX, &priority))
        environment.max_task_priority = (int)priority;
    const char *display = getenv("OMP_DISPLAY_ENV");
    if (display && !mute && !strcasecmp(after_spaces(display), "verbose"))
        dome__omp_environment_display(true);
    else if (!mute && read_bool("OMP_DISPLAY_ENV", false))
        dome__omp_environment_display(false);
}

dome_omp_environment *dome__omp_environment(void)
{
    static bool known;
    if (!known) {
        known = true;
        read_all();
    }
    return &environment;
}

static void show(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void show(const char *name, const char *format, ...)
{
    char value[64];
    __builtin_va_list arguments;
    __builtin_va_start(arguments, format);
    vsnprintf(value, sizeof value, format, arguments);
    __builtin_va_end(arguments);
    fprintf(stderr, "  %s = '%s'\n", name, value);
}

void dome__omp_environment_display(bool verbose)
{
    static const char *const kinds[] = {"", "STATIC", "DYNAMIC", "GUIDED", "AUTO"};
    const dome_omp_variables *v = &environment.variables;
    fputs("\nOPENMP DISPLAY ENVIRONMENT BEGIN\n", stderr);
    show("_OPENMP", "201511");
    show("OMP_DYNAMIC", "%s", v->dynamic ? "TRUE" : "FALSE");
    show("OMP_NESTED", "%s", v->active_levels > 1 ? "TRUE" : "FALSE");
    show("OMP_NUM_THREADS", "%u", v->threads);
    const char *monotonic = v->schedule >> 31 ? "MONOTONIC:" : "", *kind = kinds[v->schedule & 7];
    if (v->chunk > 1)
        show("OMP_SCHEDULE", "%s%s,%d", monotonic, kind, v->chunk);
    else
        show("OMP_SCHEDULE", "%s%s", monotonic, kind);
    show("OMP_PROC_BIND", "FALSE");
    show("OMP_PLACES", "%s", "");
    show("OMP_STACKSIZE", "%llu",
         (unsigned long long)(environment.stack_bytes - (environment.stack_bytes % (1 << 20) ? DOME_OMP_GUARD_BYTES : 0)));
    show("OMP_WAIT_POLICY", "PASSIVE");
    show("OMP_THREAD_LIMIT", "%u", v->thread_limit);
    show("OMP_MAX_ACTIVE_LEVELS", "%d", v->active_levels);
    show("OMP_NUM_TEAMS", "%u", environment.league.teams);
    show("OMP_TEAMS_THREAD_LIMIT", "%u", environment.league.thread_limit);
    show("OMP_CANCELLATION", "%s", environment.cancellation ? "TRUE" : "FALSE");
    show("OMP_DEFAULT_DEVICE", "0");
    show("OMP_MAX_TASK_PRIORITY", "%d", environment.max_task_priority);
    show("OMP_DISPLAY_AFFINITY", "%s", environment.display_affinity ? "TRUE" : "FALSE");
    if (verbose)
        show("DOME_OMP_MAX_THREADS", "%d", DOME_OMP_MAX_THREADS);
    fputs("OPENMP DISPLAY ENVIRONMENT END\n", stderr);
}
