#include "program/profile_past.h"

#include "system/files.h"
#include "system/io.h"

#include <sys/mman.h>
#include <unistd.h>

static const uint64_t MAGIC = UINT64_C(0x444f4d4570726f66);

enum { TYPE, CELLS, RANKS, VIEWS, HEAD };

/* Far above what a program can have. */
enum { MOST = 1 << 24 };

void dome__profile_past_clear(dome_profile_past *past)
{
    g_clear_pointer(&past->views, g_array_unref);
    g_clear_pointer(&past->rows, g_free);
    past->ranks = 0;
}

/* Reads the rows of a view that knew `had` figures of a task, where this one knows `cells`. */
static bool read_rows(dome_profile_past *past, int fd, uint64_t offset, uint64_t had, uint64_t cells)
{
    const uint64_t bytes = MIN(had, cells) * sizeof(uint64_t);
    past->rows = g_malloc0(past->ranks * cells * sizeof(uint64_t) + 1);
    for (uint64_t r = 0; r < past->ranks; r++)
        if (dome__io_read_at(fd, past->rows + r * cells, bytes, offset + r * had * sizeof(uint64_t)) != bytes)
            return false;
    return true;
}

void dome__profile_past_read(dome_profile_past *past, int fd, uint64_t cells)
{
    uint64_t head[HEAD];
    *past = (dome_profile_past){.views = g_array_new(FALSE, TRUE, sizeof(dome_profile_view))};
    if (fd < 0 || dome__io_read_at(fd, head, sizeof head, 0) != sizeof head || head[TYPE] != MAGIC || head[CELLS] > MOST ||
        head[RANKS] > MOST || head[VIEWS] > MOST)
        return;
    const uint64_t views = head[VIEWS] * sizeof(dome_profile_view);
    g_array_set_size(past->views, (guint)head[VIEWS]);
    past->ranks = head[RANKS];
    if (dome__io_read_at(fd, past->views->data, views, sizeof head) == views &&
        read_rows(past, fd, sizeof head + views, head[CELLS], cells))
        return;
    g_array_set_size(past->views, 0);
    past->ranks = 0;
}

int dome__profile_past_write(const dome_profile_past *past, int fd, uint64_t cells)
{
    const uint64_t head[HEAD] = {MAGIC, cells, past->ranks, past->views->len};
    const uint64_t views = head[VIEWS] * sizeof(dome_profile_view), rows = past->ranks * cells * sizeof(uint64_t);
    if (fd < 0)
        fd = memfd_create("dome-profile", MFD_CLOEXEC);
    if (fd >= 0 && dome__io_write_at(fd, past->views->data, views, sizeof head) &&
        dome__io_write_at(fd, past->rows, rows, sizeof head + views) && dome__io_write_at(fd, head, sizeof head, 0))
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}
