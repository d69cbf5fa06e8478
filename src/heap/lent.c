#include "heap/lent.h"

#include "heap/die.h"
#include "heap/heap.h"

#include <string.h>
#include <time.h>

/* ---- texts ---- */

typedef struct dome_capture_lent_text {
    struct dome_capture_lent_text *next;
    char characters[];
} text;

static dome_capture_type text_type, text_pointer = DOME_CAPTURE_POINTER_TO("struct libc_text *", &text_type);
static dome_capture_type characters_type = DOME_CAPTURE_FLEXIBLE("char []", &dome_capture_char);
static const dome_capture_member text_members[] = {{"next", &text_pointer, offsetof(text, next)},
                                                   {"characters", &characters_type, offsetof(text, characters)}};
static dome_capture_type text_type = DOME_CAPTURE_STRUCT("struct libc_text", text, text_members);

char *dome_capture_text(const char *lent)
{
    dome_capture_lent *l = &dome__capture_heap.lent;
    dome_capture_block block;
    if (!lent || dome__capture_block_find(lent, &block)) /* of putenv, say */
        return (char *)(uintptr_t)lent;
    for (text *t = l->texts; t; t = t->next)
        if (strcmp(t->characters, lent) == 0)
            return t->characters;
    text *t = dome_capture_malloc(&text_type, offsetof(text, characters) + strlen(lent) + 1);
    if (!t)
        dome__capture_die("no memory for a text of the C library");
    strcpy(t->characters, lent);
    t->next = l->texts;
    l->texts = t;
    return t->characters;
}

/* ---- the calendar ---- */

struct tm *dome_capture_calendar(const struct tm *lent)
{
    dome_capture_lent *l = &dome__capture_heap.lent;
    if (!lent)
        return NULL;
    l->calendar = *lent;
    l->calendar.tm_zone = dome_capture_text(lent->tm_zone);
    return &l->calendar;
}

char *dome_capture_calendar_text(const char *lent)
{
    dome_capture_lent *l = &dome__capture_heap.lent;
    if (!lent || strlen(lent) >= DOME_CAPTURE_CALENDAR_TEXT)
        return dome_capture_text(lent);
    return strcpy(l->calendar_text, lent);
}

/* ---- clocks ---- */

/* Clocks that begin anew with the process, or with the machine. */
static const clockid_t ids[] = {CLOCK_MONOTONIC,     CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID,
                                CLOCK_MONOTONIC_RAW, CLOCK_MONOTONIC_COARSE,   CLOCK_BOOTTIME};
enum { CLOCKS = sizeof ids / sizeof ids[0], SECOND = 1000000000 };
_Static_assert((int)CLOCKS == (int)DOME_CAPTURE_CLOCKS, "there is a place for each clock");

static long long read_clock(clockid_t id)
{
    struct timespec now = {0};
    clock_gettime(id, &now);
    return (long long)now.tv_sec * SECOND + now.tv_nsec;
}

void dome__capture_clocks_save(void)
{
    dome_capture_lent *l = &dome__capture_heap.lent;
    for (size_t k = 0; k < CLOCKS; k++)
        l->shown[k] = read_clock(ids[k]) + l->before[k];
    l->shown[CLOCKS] = clock() + l->before[CLOCKS];
}

void dome__capture_clocks_restore(void)
{
    dome_capture_lent *l = &dome__capture_heap.lent;
    for (size_t k = 0; k < CLOCKS; k++)
        l->before[k] = l->shown[k] - read_clock(ids[k]);
    l->before[CLOCKS] = l->shown[CLOCKS] - clock();
}

long dome_capture_clock(void)
{
    dome_capture_lent *l = &dome__capture_heap.lent;
    return (long)(clock() + l->before[CLOCKS]);
}

int dome_capture_clock_gettime(int id, struct timespec *now)
{
    dome_capture_lent *l = &dome__capture_heap.lent;
    const int status = clock_gettime((clockid_t)id, now);
    for (size_t k = 0; k < CLOCKS && status == 0; k++) {
        if (ids[k] != (clockid_t)id || l->before[k] == 0)
            continue;
        const long long all = (long long)now->tv_sec * SECOND + now->tv_nsec + l->before[k];
        now->tv_sec = (time_t)(all / SECOND);
        now->tv_nsec = (long)(all % SECOND);
    }
    return status;
}

/* ---- what the image gets ---- */

static dome_capture_type zone_pointer = DOME_CAPTURE_POINTER_TO("const char *", &dome_capture_char);
static const dome_capture_member calendar_members[] = {{"tm_sec", &dome_capture_int, offsetof(struct tm, tm_sec)},
                                                       {"tm_min", &dome_capture_int, offsetof(struct tm, tm_min)},
                                                       {"tm_hour", &dome_capture_int, offsetof(struct tm, tm_hour)},
                                                       {"tm_mday", &dome_capture_int, offsetof(struct tm, tm_mday)},
                                                       {"tm_mon", &dome_capture_int, offsetof(struct tm, tm_mon)},
                                                       {"tm_year", &dome_capture_int, offsetof(struct tm, tm_year)},
                                                       {"tm_wday", &dome_capture_int, offsetof(struct tm, tm_wday)},
                                                       {"tm_yday", &dome_capture_int, offsetof(struct tm, tm_yday)},
                                                       {"tm_isdst", &dome_capture_int, offsetof(struct tm, tm_isdst)},
                                                       {"tm_gmtoff", &dome_capture_long, offsetof(struct tm, tm_gmtoff)},
                                                       {"tm_zone", &zone_pointer, offsetof(struct tm, tm_zone)}};
static dome_capture_type calendar_type = DOME_CAPTURE_STRUCT("struct tm of libc", struct tm, calendar_members);

static dome_capture_global of_texts[] = {{"libc:texts", &dome__capture_heap.lent.texts, &text_pointer, 1, 0}};
static dome_capture_global of_calendar[] = {
    {"libc:calendar", &dome__capture_heap.lent.calendar, &calendar_type, 1, 0},
    {"libc:calendar text", dome__capture_heap.lent.calendar_text, &dome_capture_char, DOME_CAPTURE_CALENDAR_TEXT, 0}};
static dome_capture_global of_clocks[] = {
    {"libc:clocks", dome__capture_heap.lent.shown, &dome_capture_llong, CLOCKS + 1, DOME_CAPTURE_NUMBERS}};
#define LENT(text, list)                                                                                                         \
    {                                                                                                                            \
        .size = sizeof(dome_capture_module), .name = text, .globals = list, .nglobals = sizeof(list) / sizeof(list[0])           \
    }
static dome_capture_type *text_types[] = {&text_type};
dome_capture_module dome__capture_lent[3] = {{.size = sizeof(dome_capture_module),
                                              .name = "libc texts",
                                              .globals = of_texts,
                                              .nglobals = 1,
                                              .types = text_types,
                                              .ntypes = 1},
                                             LENT("libc calendar", of_calendar),
                                             LENT("libc clocks", of_clocks)};
