#include <dome/error.h>

const char *dome_status_name(dome_status status)
{
    switch (status) {
#define DOME_STATUS_NAME(code, name, text, exit_status)                                                                          \
    case code:                                                                                                                   \
        return #name;
        DOME_STATUS_LIST(DOME_STATUS_NAME)
#undef DOME_STATUS_NAME
    }
    return "unknown status";
}

const char *dome_status_text(dome_status status)
{
    switch (status) {
#define DOME_STATUS_TEXT(code, name, text, exit_status)                                                                          \
    case code:                                                                                                                   \
        return text;
        DOME_STATUS_LIST(DOME_STATUS_TEXT)
#undef DOME_STATUS_TEXT
    }
    return "unknown status";
}
