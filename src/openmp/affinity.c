/* Places of processors: there are none, since a task's virtual threads run on one processor after another, as the system decides.
 */
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "openmp/team.h"

static char format_now[256] = "level %L thread %i affinity %A";

int omp_get_proc_bind(void)
{
    return 0; /* omp_proc_bind_false */
}

int omp_get_num_places(void)
{
    return 0;
}

int omp_get_place_num_procs(int place)
{
    (void)place;
    return 0;
}

void omp_get_place_proc_ids(int place, int *processors)
{
    (void)place, (void)processors;
}

int omp_get_place_num(void)
{
    return -1;
}

int omp_get_partition_num_places(void)
{
    return 0;
}

void omp_get_partition_place_nums(int *places)
{
    (void)places;
}

void omp_set_affinity_format(const char *format)
{
    snprintf(format_now, sizeof format_now, "%s", format);
}

/* The whole length, of which so much is there as has room. */
size_t omp_get_affinity_format(char *buffer, size_t room)
{
    if (room)
        snprintf(buffer, room, "%s", format_now);
    return strlen(format_now);
}

/* ---- omp_display_affinity ---- */

static const struct {
    char letter;
    const char *name;
} fields[] = {{'t', "team_num"},         {'T', "num_teams"},      {'L', "nesting_level"}, {'n', "thread_num"},
              {'N', "num_threads"},      {'a', "ancestor_tnum"},  {'H', "host"},          {'P', "process_id"},
              {'i', "native_thread_id"}, {'A', "thread_affinity"}};

int omp_get_team_num(void);
int omp_get_num_teams(void);
int omp_get_ancestor_thread_num(int level);
int omp_get_num_procs(void);

static void value_of(char letter, char *value, size_t room)
{
    const dome_omp_thread *t = dome__omp_self();
    long number = 0;
    switch (letter) {
    case 'H':
        if (gethostname(value, room))
            snprintf(value, room, "?");
        value[room - 1] = 0;
        return;
    case 'A':
        snprintf(value, room, "0-%d", omp_get_num_procs() - 1);
        return;
    case 't':
        number = omp_get_team_num();
        break;
    case 'T':
        number = omp_get_num_teams();
        break;
    case 'L':
        number = t->team->level;
        break;
    case 'n':
        number = t->number;
        break;
    case 'N':
        number = t->team->size;
        break;
    case 'a':
        number = omp_get_ancestor_thread_num((int)t->team->level - 1);
        break;
    case 'P':
        number = getpid();
        break;
    case 'i':
        number = syscall(SYS_gettid);
        break;
    }
    snprintf(value, room, "%ld", number);
}

/* The letter of the field at *from, behind its % and width; *from moves behind it. 0: there is none of that name. */
static char letter_at(const char **from)
{
    const char *at = *from;
    if (*at != '{') {
        *from += *at != 0;
        return *at;
    }
    for (size_t k = 0; k < sizeof fields / sizeof *fields; k++) {
        size_t length = strlen(fields[k].name);
        if (!strncmp(at + 1, fields[k].name, length) && at[1 + length] == '}') {
            *from = at + length + 2;
            return fields[k].letter;
        }
    }
    return 0;
}

/* %[0][.][width]field: zeros in front, to the right. */
static int field_at(const char **from, char *to, size_t room)
{
    bool zeros = **from == '0';
    *from += zeros;
    bool right = zeros || **from == '.';
    *from += **from == '.';
    int width = 0;
    for (; **from >= '0' && **from <= '9'; ++*from)
        width = width < 1000 ? width * 10 + (**from - '0') : width;
    char value[128], letter = letter_at(from);
    if (!letter)
        dome__omp_die("OpenMP: a field of the affinity format is not understood: %s", *from);
    value_of(letter, value, sizeof value);
    int length = (int)strlen(value);
    if (zeros && length < width)
        return snprintf(to, room, "%0*d%s", width - length, 0, value);
    return snprintf(to, room, right ? "%*s" : "%-*s", width, value);
}

size_t omp_capture_affinity(char *buffer, size_t room, const char *format)
{
    char text[1024];
    size_t length = 0;
    const char *from = format && *format ? format : format_now;
    while (*from && length < sizeof text - 1) {
        int more = 1;
        if (*from == '%' && from[1] != '%') {
            from++;
            more = field_at(&from, text + length, sizeof text - length);
        } else {
            text[length] = *from;
            from += 1 + (*from == '%');
        }
        length += (size_t)more;
    }
    length = length < sizeof text ? length : sizeof text - 1;
    text[length] = 0;
    if (room)
        snprintf(buffer, room, "%s", text);
    return length;
}

void omp_display_affinity(const char *format)
{
    char text[1024];
    omp_capture_affinity(text, sizeof text, format);
    printf("%s\n", text);
}

/* ---- for Fortran: texts have a length and no end, the lengths come last ---- */

int omp_get_proc_bind_(void)
{
    return omp_get_proc_bind();
}

int omp_get_num_places_(void)
{
    return 0;
}

int omp_get_place_num_(void)
{
    return -1;
}

int omp_get_partition_num_places_(void)
{
    return 0;
}

int omp_get_place_num_procs_(const int *place)
{
    (void)place;
    return 0;
}

int omp_get_place_num_procs_8_(const long *place)
{
    (void)place;
    return 0;
}

void omp_get_place_proc_ids_(const int *place, int *processors)
{
    (void)place, (void)processors;
}

void omp_get_place_proc_ids_8_(const long *place, long *processors)
{
    (void)place, (void)processors;
}

void omp_get_partition_place_nums_(int *places)
{
    (void)places;
}

void omp_get_partition_place_nums_8_(long *places)
{
    (void)places;
}

static void fill(char *to, size_t room, const char *text)
{
    size_t length = strlen(text);
    for (size_t k = 0; k < room; k++)
        to[k] = k < length ? text[k] : ' ';
}

/* The text without the blanks at its end. */
static const char *plain(const char *text, size_t length, char *room, size_t bytes)
{
    while (length && text[length - 1] == ' ')
        length--;
    snprintf(room, bytes, "%.*s", (int)length, text);
    return room;
}

void omp_set_affinity_format_(const char *format, size_t length)
{
    char text[256];
    omp_set_affinity_format(plain(format, length, text, sizeof text));
}

size_t omp_get_affinity_format_(char *buffer, size_t room)
{
    fill(buffer, room, format_now);
    return strlen(format_now);
}

void omp_display_affinity_(const char *format, size_t length)
{
    char text[256];
    omp_display_affinity(plain(format, length, text, sizeof text));
}

size_t omp_capture_affinity_(char *buffer, const char *format, size_t room, size_t length)
{
    char text[256], result[1024];
    size_t all = omp_capture_affinity(result, sizeof result, plain(format, length, text, sizeof text));
    fill(buffer, room, result);
    return all;
}
