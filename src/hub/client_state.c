#include "hub/client_state.h"

/* The table has short names of its own. */
enum {
    NEW = DOME_CLIENT_NEW,
    RUNS = DOME_CLIENT_RUNS,
    DONE = DOME_CLIENT_DONE,
    LEFT = DOME_CLIENT_LEFT,
    FAILED = DOME_CLIENT_FAILED,
    AWAY = DOME_CLIENT_AWAY,
    A_DONE = DOME_CLIENT_AWAY_DONE,
    A_LEFT = DOME_CLIENT_AWAY_LEFT,
    A_FAIL = DOME_CLIENT_AWAY_FAILED,
    GONE = DOME_CLIENT_REPLACED
};

/* A task that has left stays so, whatever it says: it cannot go back, so no more is asked of it. */
/* clang-format off */
static const unsigned char next[DOME_CLIENT_STATES][DOME_CLIENT_EVENTS] = {
    /*            HELLO   ASTRAY  IS_DONE BYE     FAIL    GOES    STAYS   BACK    REPLACE END */
    [NEW]    = { RUNS,   AWAY,   NEW,    NEW,    NEW,    NEW,    NEW,    NEW,    NEW,    NEW    },
    [RUNS]   = { RUNS,   RUNS,   DONE,   LEFT,   FAILED, AWAY,   RUNS,   AWAY,   GONE,   RUNS   },
    [DONE]   = { DONE,   DONE,   DONE,   LEFT,   FAILED, A_DONE, DONE,   AWAY,   GONE,   RUNS   },
    [LEFT]   = { LEFT,   LEFT,   LEFT,   LEFT,   LEFT,   A_LEFT, LEFT,   AWAY,   GONE,   LEFT   },
    [FAILED] = { FAILED, FAILED, FAILED, LEFT,   FAILED, A_FAIL, FAILED, AWAY,   GONE,   FAILED },
    [AWAY]   = { AWAY,   AWAY,   A_DONE, A_LEFT, A_FAIL, AWAY,   RUNS,   AWAY,   GONE,   AWAY   },
    [A_DONE] = { A_DONE, A_DONE, A_DONE, A_LEFT, A_FAIL, A_DONE, DONE,   AWAY,   GONE,   AWAY   },
    [A_LEFT] = { A_LEFT, A_LEFT, A_LEFT, A_LEFT, A_LEFT, A_LEFT, LEFT,   AWAY,   GONE,   A_LEFT },
    [A_FAIL] = { A_FAIL, A_FAIL, A_FAIL, A_LEFT, A_FAIL, A_FAIL, FAILED, AWAY,   GONE,   A_FAIL },
    [GONE]   = { GONE,   GONE,   GONE,   GONE,   GONE,   GONE,   GONE,   GONE,   GONE,   GONE   },
};
/* clang-format on */

dome_client_state dome__client_next(dome_client_state state, dome_client_event event)
{
    return (dome_client_state)next[state][event];
}
