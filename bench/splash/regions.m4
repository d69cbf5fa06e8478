dnl The macros of Splash-3 by Dome's regions and locks: its programs run as tasks of one host, not as threads. regions.h has the code.
dnl
dnl Every task executes main. What it does up to CREATE every task does alone, in memory of its own: G_MALLOC gives the same addresses
dnl on all tasks, and so the same pointers. CREATE puts a region there, with what task 0 has made, and each task calls the function
dnl once; after WAIT_FOR_END all go on, and task 0 prints.
divert(-1)
define(NEWPROC,) dnl

define(SPLASH3_ROI_BEGIN, `splash_begin()')
define(SPLASH3_ROI_END, `splash_end()')

define(BARDEC, `int $1;')
define(BARINIT, `{ ($1) = 0; }')
define(BARRIER, `{ splash_barrier($2); }')

define(LOCKDEC, `int $1;')
define(LOCKINIT, `{ ($1) = splash_lock_new(); }')
define(LOCK, `{ splash_lock($1); }')
define(UNLOCK, `{ splash_unlock($1); }')

define(ALOCKDEC, `int ($1)[$2];')
define(ALOCKINIT, `{ for (int splash_i = 0; splash_i < ($2); splash_i++) ($1)[splash_i] = splash_lock_new(); }')
define(ALOCK, `{ splash_lock(($1)[($2)]); }')
define(AGETL, `(($1)[$2])')
define(AULOCK, `{ splash_unlock(($1)[($2)]); }')

define(PAUSEDEC, `atomic_int $1;')
define(PAUSEINIT, `{ atomic_init(&($1), 0); }')
define(CLEARPAUSE, `{;}')
define(SETPAUSE, `{ atomic_fetch_add(&($1), 1); }')
define(WAITPAUSE, `{ splash_wait(&($1)); }')

define(RELEASE_FENCE, `{ atomic_thread_fence(memory_order_release); }')
define(ACQUIRE_FENCE, `{ atomic_thread_fence(memory_order_acquire); }')
define(FULL_FENCE, `{ atomic_thread_fence(memory_order_seq_cst); }')

define(CREATE, `{ splash_create($2); $1(); }')
define(WAIT_FOR_END, `{ splash_barrier($1); }')

define(MAIN_INITENV, `{ splash_init(argc, argv); }')
define(MAIN_END, `{ exit(splash_finish()); }')

define(INCLUDES, `
#include "regions.h"
')
define(MAIN_ENV, `
INCLUDES
splash_state splash;
')
define(EXTERN_ENV, `
INCLUDES
')

define(G_MALLOC, `splash_malloc($1);')
define(NU_MALLOC, `splash_malloc($1);')
define(CLOCK, `{ ($1) = splash_clock(); }')
divert(0)
