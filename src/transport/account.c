#include "transport/account.h"

#include <glib.h>
#include <string.h>

void dome__account_open(dome_transport_account *account, int size)
{
    account->waited_for = g_new0(uint64_t, size);
}

void dome__account_clear(dome_transport_account *account)
{
    g_clear_pointer(&account->waited_for, g_free);
    g_clear_pointer(&account->given, g_free);
    g_clear_pointer(&account->taken, g_free);
}

void dome__account_count(dome_transport_account *account, int size)
{
    account->given = g_new0(uint32_t, (gsize)size * DOME_CHANNELS);
    account->taken = g_new0(uint32_t, (gsize)size * DOME_CHANNELS);
}

void dome__account_forget_waits(dome_transport_account *account, int size)
{
    if (account->waited_for)
        memset(account->waited_for, 0, (size_t)size * sizeof *account->waited_for);
}

void dome__account_put_up_board(dome_transport_account *account, struct dome_board *board, int place, int tasks)
{
    account->board_place = place;
    account->board_tasks = tasks;
    __atomic_store_n(&account->board, board, __ATOMIC_RELEASE);
}
