#include "heap/heap.h"

dome_capture_heap dome__capture_heap = {.saved = UINT64_MAX, .slabs.watched = -1};
