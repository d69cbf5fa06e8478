#include "capture/capture.h"

dome_capture dome__capture_object = {.timer.mutex = PTHREAD_MUTEX_INITIALIZER};
