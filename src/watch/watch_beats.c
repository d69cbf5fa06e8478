#include "watch/watch_beats.h"

#include "system/time.h"
#include "transport/board.h"
#include "watch/moved.h"
#include "wire/inquiry.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <time.h>

void dome__watch_beats_init(watch_beats *b)
{
    pthread_mutex_init(&b->mutex, NULL);
}

void dome__watch_beats_clear(watch_beats *b)
{
    g_clear_pointer(&b->taken, g_array_unref);
    pthread_mutex_destroy(&b->mutex);
}

void dome__watch_beats_transport(watch_beats *b, const dome_transport *transport)
{
    pthread_mutex_lock(&b->mutex);
    b->transport = transport;
    b->leaving = transport == NULL;
    pthread_mutex_unlock(&b->mutex);
}

bool dome__watch_beats_leaving(watch_beats *b)
{
    pthread_mutex_lock(&b->mutex);
    const bool leaving = b->leaving;
    pthread_mutex_unlock(&b->mutex);
    return leaving;
}

void dome__watch_beats_query(watch_beats *b)
{
    pthread_mutex_lock(&b->mutex);
    b->queries++;
    pthread_mutex_unlock(&b->mutex);
}

void dome__watch_beats_checkpoint(watch_beats *b, uint64_t number)
{
    __atomic_store_n(&b->checkpoint, number + 1, __ATOMIC_RELAXED);
}

/* Processors used by this process since the previous call, in thousandths. */
static uint32_t busy_lately(watch_beats *b)
{
    struct timespec used;
    double t = dome__now(),
           cpu = clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) == 0 ? (double)used.tv_sec + 1e-9 * (double)used.tv_nsec : 0;
    double share = t > b->busy_at ? (cpu - b->busy_cpu) / (t - b->busy_at) : 0;
    b->busy_at = t;
    b->busy_cpu = cpu;
    return (uint32_t)(CLAMP(share, 0, 1e6) * 1000);
}

/* Bytes transferred: a partly received message is progress, too. */
static uint64_t moved(const watch_line *line)
{
    struct sockaddr_in hub;
    return dome__watch_line_peer(line, &hub) ? dome__bytes_moved(&hub) : 0;
}

void dome__watch_beats_measure(watch_beats *b, const watch_line *line, dome_wire_beat *beat)
{
    pthread_mutex_lock(&b->mutex);
    const dome_transport_account *a = b->transport ? &b->transport->account : NULL;
    beat->waiting = a && __atomic_load_n(&a->waiting, __ATOMIC_RELAXED) != 0;
    beat->awaited = a ? __atomic_load_n(&a->awaited, __ATOMIC_RELAXED) : 0;
    beat->progress = a ? __atomic_load_n(&a->progress, __ATOMIC_RELAXED) : 0;
    if (beat->waiting)
        beat->progress += moved(line);
    beat->waited = a ? __atomic_load_n(&a->wait_ns, __ATOMIC_RELAXED) : 0;
    beat->queries = b->queries;
    beat->busy = busy_lately(b);
    pthread_mutex_unlock(&b->mutex);
    double average;
    beat->load = getloadavg(&average, 1) == 1 ? (uint32_t)(average * 100) : UINT32_MAX;
    beat->checkpoint = __atomic_load_n(&b->checkpoint, __ATOMIC_RELAXED);
}

/* The board of its host that the task uses; NULL: none. */
static dome_board *board_of(const watch_beats *b)
{
    return b->transport ? __atomic_load_n(&b->transport->account.board, __ATOMIC_ACQUIRE) : NULL;
}

/* Appends the beats that other tasks have put there since the last call, as they are sent. */
static void append_board(watch_beats *b, const dome_board *board, int tasks, GByteArray *beats)
{
    if (!b->taken)
        b->taken = g_array_new(FALSE, TRUE, sizeof(uint32_t));
    g_array_set_size(b->taken, (guint)tasks);
    for (int i = 1; i < tasks; i++) {
        uint8_t beat[DOME_BOARD_MOST];
        const size_t length = dome__board_take(board, i, &g_array_index(b->taken, uint32_t, i), beat);
        g_byte_array_append(beats, beat, (guint)length);
    }
}

/* Seconds, in periods, after which another task no longer relies on the first one of its host to tell the hub of it. */
static const double RELIES = 2.5;

bool dome__watch_beats_by_board(watch_beats *b, GByteArray *frame, double period)
{
    bool told = false;
    pthread_mutex_lock(&b->mutex);
    dome_board *board = board_of(b);
    const dome_transport_account *a = board ? &b->transport->account : NULL;
    if (board && a->board_place == 0) {
        append_board(b, board, a->board_tasks, frame);
        __atomic_store_n(&board->told, dome__now_ns(), __ATOMIC_RELAXED);
    } else if (board && dome__board_put(board, a->board_place, frame->data, frame->len)) {
        const uint64_t last = __atomic_load_n(&board->told, __ATOMIC_RELAXED);
        told = last && (double)dome__since_ns(last) * 1e-9 < RELIES * period;
    }
    pthread_mutex_unlock(&b->mutex);
    return told;
}

bool dome__watch_beats_heard(watch_beats *b, bool itself)
{
    bool heard = itself;
    pthread_mutex_lock(&b->mutex);
    dome_board *board = board_of(b);
    if (board && b->transport->account.board_place == 0) {
        if (itself)
            __atomic_store_n(&board->heard, dome__now_ns(), __ATOMIC_RELAXED);
    } else if (board) {
        const uint64_t there = __atomic_load_n(&board->heard, __ATOMIC_RELAXED);
        heard |= there != b->heard_there;
        b->heard_there = there;
    }
    pthread_mutex_unlock(&b->mutex);
    return heard;
}

uint64_t dome__watch_beats_waited(watch_beats *b)
{
    pthread_mutex_lock(&b->mutex);
    const dome_transport_account *a = b->transport ? &b->transport->account : NULL;
    uint64_t wait = a ? __atomic_load_n(&a->wait_ns, __ATOMIC_RELAXED) : 0;
    if (a && __atomic_load_n(&a->waiting, __ATOMIC_RELAXED))
        wait += dome__since_ns(__atomic_load_n(&a->wait_began, __ATOMIC_RELAXED));
    pthread_mutex_unlock(&b->mutex);
    return wait;
}

GArray *dome__watch_beats_inquiry(watch_beats *b, const dome_wire_message *question)
{
    pthread_mutex_lock(&b->mutex);
    const dome_transport *t = b->transport;
    GArray *numbers = !t                                  ? NULL
                      : question->kind == DOME_WIRE_WAITS ? dome__inquiry_waits(t)
                                                          : dome__inquiry_given(t, question->numbers.numbers);
    pthread_mutex_unlock(&b->mutex);
    return numbers;
}
