#include "program/progress.h"

#include "core/clock.h"
#include "core/environment.h"
#include "system/terminal.h"
#include "transport/transport.h"

#include <glib.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* The cursor is left at the start of the bar: the next output overwrites the bar, and Dome's own also clears the rest of it. */

static const uint64_t SECOND = 1000000000u;
static const uint64_t SPEED_SPAN = 5 * 1000000000ull; /* speed is measured over the last one or two spans */
static const uint64_t DRAW_EVERY = 100000000u;
enum { LINE_EVERY = 10, LATER_EVERY = 60, LATER = 60 }; /* seconds */
enum { BAR_LEAST = 10, BAR_MOST = 40, COLUMNS = 80 };

bool dome__meter_note(dome_meter *meter, uint64_t done, uint64_t total, const char *unit, uint64_t now)
{
    char *valid = g_utf8_make_valid(unit ? unit : "", -1), name[sizeof meter->unit] = "";
    for (char *c = valid; *c; c++)
        if (g_ascii_iscntrl(*c))
            *c = ' ';
    while (strlen(valid) >= sizeof name)
        *g_utf8_find_prev_char(valid, valid + strlen(valid)) = 0;
    g_strlcpy(name, valid, sizeof name);
    g_free(valid);
    bool other = !meter->begun || done < meter->done || total != meter->total || strcmp(name, meter->unit) != 0;
    if (other) {
        *meter = (dome_meter){.begun = true, .total = total, .first_done = done, .first_ns = now};
        g_strlcpy(meter->unit, name, sizeof meter->unit);
        meter->older_done = meter->mark_done = done;
        meter->older_ns = meter->mark_ns = now;
    }
    meter->done = done;
    meter->now = MAX(now, meter->now);
    if (meter->now - meter->mark_ns >= SPEED_SPAN && done > meter->mark_done) {
        meter->older_done = meter->mark_done;
        meter->older_ns = meter->mark_ns;
        meter->mark_done = done;
        meter->mark_ns = meter->now;
    }
    return other;
}

void dome__meter_continue(dome_meter *meter, const dome_loop_begin *begin)
{
    if (begin->ns == 0 || begin->total != meter->total || begin->done > meter->done || begin->ns > meter->first_ns)
        return;
    meter->first_ns = begin->ns;
    meter->first_done = begin->done;
}

static void append_time(GString *text, double seconds)
{
    if (seconds >= 100 * 86400.0) {
        g_string_append(text, "more than 100 days");
        return;
    }
    uint64_t s = (uint64_t)seconds;
    if (s >= 86400)
        g_string_append_printf(text, "%" G_GUINT64_FORMAT " d %" G_GUINT64_FORMAT " h", s / 86400, s / 3600 % 24);
    else if (s >= 3600)
        g_string_append_printf(text, "%d:%02d:%02d", (int)(s / 3600), (int)(s / 60 % 60), (int)(s % 60));
    else
        g_string_append_printf(text, "%d:%02d", (int)(s / 60), (int)(s % 60));
}

static void append_speed(GString *text, double speed)
{
    static const char *const prefixes[] = {"", " k", " M", " G", " T", " P", " E"};
    size_t k = 0;
    if (speed < 1) {
        g_string_append_printf(text, "%.3g s each", 1 / speed);
        return;
    }
    for (; speed >= 999.5 && k + 1 < G_N_ELEMENTS(prefixes); k++)
        speed /= 1000;
    g_string_append_printf(text, "%.*f%s/s", speed < 9.995 ? 2 : speed < 99.95 ? 1 : 0, speed, prefixes[k]);
}

char *dome__meter_line(const dome_meter *m, int columns)
{
    GString *text = g_string_new(NULL);
    const char *space = m->unit[0] ? " " : "";
    bool over = m->total && m->done >= m->total;
    double share = m->total ? over ? 1 : (double)m->done / (double)m->total : 0;
    if (m->total)
        g_string_append_printf(text, "%3d%%  %" G_GUINT64_FORMAT "/%" G_GUINT64_FORMAT "%s%s", (int)(share * 100), m->done,
                               m->total, space, m->unit);
    else
        g_string_append_printf(text, "%" G_GUINT64_FORMAT "%s%s", m->done, space, m->unit);
    /* At the end the speed is that of the whole loop. */
    uint64_t since = over ? m->first_done : m->older_done, begin = over ? m->first_ns : m->older_ns;
    double speed = m->now > begin ? (double)(m->done - since) / ((double)(m->now - begin) / (double)SECOND) : 0;
    if (speed > 0) {
        g_string_append(text, ", ");
        append_speed(text, speed);
    }
    if (over) {
        g_string_append(text, ", took ");
        append_time(text, (double)(m->now - m->first_ns) / (double)SECOND);
    } else if (speed > 0 && m->total) {
        g_string_append(text, ", ");
        append_time(text, (double)(m->total - m->done) / speed + 0.999);
        g_string_append(text, " left");
    }
    if (columns > 0) {
        glong room = columns - 1 - g_utf8_strlen(text->str, -1);
        int bar = (int)MIN(room - 3, BAR_MOST);
        if (m->total && bar >= BAR_LEAST) {
            int full = (int)(share * bar);
            char cells[BAR_MOST + 4] = "[";
            memset(cells + 1, '#', (size_t)full);
            memset(cells + 1 + full, '.', (size_t)(bar - full));
            g_strlcpy(cells + 1 + bar, "] ", 3);
            g_string_prepend(text, cells);
        } else if (room < 0) {
            g_string_truncate(text, (gsize)(g_utf8_offset_to_pointer(text->str, MAX(columns - 1, 0)) - text->str));
        }
    }
    return g_string_free(text, FALSE);
}

struct dome_progress_state {
    bool decided;
    enum { DOME_PROGRESS_NOTHING, DOME_PROGRESS_BAR, DOME_PROGRESS_LINES } how;
    bool visible; /* a bar is on the terminal, in the cursor's line */
    uint64_t began, shown;
    dome_meter meter;
    dome_loop_begin before; /* in the view before */
    dome_loop_begin begin;  /* of the meter; the watcher's thread reads it */
};

dome_progress_state *dome__progress_new(void)
{
    return g_new0(dome_progress_state, 1);
}

dome_loop_begin dome__progress_begin(const dome_env *env)
{
    const dome_loop_begin *b = &env->progress->begin;
    const uint64_t ns = __atomic_load_n(&b->ns, __ATOMIC_ACQUIRE);
    const dome_loop_begin begin = {ns, __atomic_load_n(&b->done, __ATOMIC_ACQUIRE), __atomic_load_n(&b->total, __ATOMIC_ACQUIRE)};
    return __atomic_load_n(&b->ns, __ATOMIC_RELAXED) == ns ? begin : (dome_loop_begin){0}; /* another loop begins just now */
}

static void set_begin(dome_progress_state *p, const dome_loop_begin *begin)
{
    __atomic_store_n(&p->begin.ns, 0, __ATOMIC_RELEASE); /* a loop with the numbers of two would be another one */
    __atomic_store_n(&p->begin.done, begin->done, __ATOMIC_RELEASE);
    __atomic_store_n(&p->begin.total, begin->total, __ATOMIC_RELEASE);
    __atomic_store_n(&p->begin.ns, begin->ns, __ATOMIC_RELEASE);
}

void dome__progress_continue(dome_env *env, const dome_loop_begin *begin)
{
    env->progress->before = *begin;
    set_begin(env->progress, begin); /* the program may go back before its loop has begun */
}

static void decide(dome_progress_state *p, dome_progress_mode mode)
{
    struct stat s;
    p->decided = true;
    p->how = DOME_PROGRESS_NOTHING;
    if (mode == DOME_PROGRESS_NEVER)
        return;
    if (dome__terminal_is(STDERR_FILENO))
        p->how = DOME_PROGRESS_BAR;
    else if (mode == DOME_PROGRESS_ALWAYS || isatty(STDERR_FILENO) || (fstat(STDERR_FILENO, &s) == 0 && S_ISREG(s.st_mode)))
        p->how = DOME_PROGRESS_LINES;
}

/* Writes a text with one call. A failure is ignored: only the display is lost. */
static void put(const char *text)
{
    ssize_t ignored = write(STDERR_FILENO, text, strlen(text));
    (void)ignored;
}

static void draw(dome_progress_state *p, bool last)
{
    struct winsize size = {0};
    pid_t foreground = tcgetpgrp(STDERR_FILENO);
    if (foreground > 0 && foreground != getpgrp())
        return; /* this process is in the background */
    int columns = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : COLUMNS;
    char *line = dome__meter_line(&p->meter, columns);
    char *text = g_strdup_printf("\r%s" DOME_TERMINAL_CLEAR "%s", line, last ? "\n" : "\r");
    fflush(stdout);
    put(text);
    p->visible = !last;
    g_free(text);
    g_free(line);
}

static void print_line(dome_progress_state *p)
{
    char *line = dome__meter_line(&p->meter, 0), *text = g_strdup_printf("%s\n", line);
    fflush(stdout);
    put(text);
    g_free(text);
    g_free(line);
}

void dome_progress(dome_env *env, uint64_t done, uint64_t total, const char *unit)
{
    DOME_NEEDS(env, "the environment", );
    dome_progress_state *p = env->progress;
    if (!p)
        dome__called_late(env, __func__);
    if (env->rank != 0)
        return;
    if (!p->decided)
        decide(p, env->options.progress);
    if (p->how == DOME_PROGRESS_NOTHING)
        return;
    uint64_t now = dome__now_ns();
    bool finished = p->meter.finished;
    if (dome__meter_note(&p->meter, done, total, unit, now)) {
        if (p->visible)
            put("\n");
        p->visible = false;
        dome__meter_continue(&p->meter, &p->before);
        p->before = (dome_loop_begin){0};
        set_begin(p, &(dome_loop_begin){p->meter.first_ns, p->meter.first_done, p->meter.total});
        p->began = now;
        p->shown = 0;
        finished = false;
    }
    bool last = total && done >= total;
    p->meter.finished = last;
    if (last && finished)
        return;
    if (p->how == DOME_PROGRESS_BAR) {
        if (last || !p->shown || now - p->shown >= DRAW_EVERY) {
            draw(p, last);
            p->shown = now;
        }
        return;
    }
    uint64_t every = (now - p->began < LATER * SECOND ? LINE_EVERY : LATER_EVERY) * SECOND;
    bool due = now - MAX(p->shown, p->began) >= every;
    if (due || (last && (p->shown || env->options.progress == DOME_PROGRESS_ALWAYS))) {
        print_line(p);
        p->shown = now;
    }
}

void dome__progress_hide(dome_env *env)
{
    if (env->progress->visible)
        put(DOME_TERMINAL_CLEAR);
    env->progress->visible = false;
}

void dome__progress_end(dome_env *env)
{
    if (env->progress->visible)
        put("\n");
    env->progress->visible = false;
}
