#include "launch/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

/* The terminal itself does what is to be done with the characters. */
static bool be_like(int slave, int terminal)
{
    struct termios settings;
    struct winsize size;
    if (tcgetattr(slave, &settings) < 0)
        return false;
    cfmakeraw(&settings);
    if (tcsetattr(slave, TCSANOW, &settings) < 0)
        return false;
    return ioctl(terminal, TIOCGWINSZ, &size) < 0 || ioctl(slave, TIOCSWINSZ, &size) == 0;
}

static bool open_terminal(dome_stream *stream, int fd)
{
    char name[64];
    stream->out = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (stream->out >= 0 && grantpt(stream->out) == 0 && unlockpt(stream->out) == 0 &&
        ptsname_r(stream->out, name, sizeof name) == 0)
        stream->in = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
    return stream->in >= 0 && be_like(stream->in, fd);
}

static bool open_pipe(dome_stream *stream)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return false;
    *stream = (dome_stream){ends[1], ends[0]};
    return true;
}

bool dome__stream_open(dome_stream *stream, int fd)
{
    *stream = DOME_STREAM_NONE;
    const bool good = isatty(fd) ? open_terminal(stream, fd) : open_pipe(stream);
    if (good && fcntl(stream->out, F_SETFL, O_NONBLOCK) == 0)
        return true;
    const int error = errno;
    if (stream->in >= 0)
        close(stream->in);
    if (stream->out >= 0)
        close(stream->out);
    *stream = DOME_STREAM_NONE;
    errno = error;
    return false;
}

void dome__stream_take(const dome_stream *stream, int fd)
{
    if (stream->in < 0)
        return;
    if (dup2(stream->in, fd) < 0)
        _exit(1);
    close(stream->in);
    close(stream->out);
}
