/* Functions of the C library that libdome-omp takes the place of have names of their own in its objects, and the C library's
 * names where it is linked (CMakeLists.txt): so that a call of the C library elsewhere in Dome is none of this folder.
 * clib/omp_calls.c names its own. To be included before all else. */
#ifndef DOME_SRC_PROCESS_OMP_NAMES_H
#define DOME_SRC_PROCESS_OMP_NAMES_H

#pragma redefine_extname _Exit dome__c__Exit
#pragma redefine_extname __asprintf_chk dome__c___asprintf_chk
#pragma redefine_extname __getdelim dome__c___getdelim
#pragma redefine_extname __strdup dome__c___strdup
#pragma redefine_extname __vasprintf_chk dome__c___vasprintf_chk
#pragma redefine_extname _exit dome__c__exit
#pragma redefine_extname aligned_alloc dome__c_aligned_alloc
#pragma redefine_extname asctime dome__c_asctime
#pragma redefine_extname asprintf dome__c_asprintf
#pragma redefine_extname calloc dome__c_calloc
#pragma redefine_extname canonicalize_file_name dome__c_canonicalize_file_name
#pragma redefine_extname chdir dome__c_chdir
#pragma redefine_extname clearenv dome__c_clearenv
#pragma redefine_extname ctime dome__c_ctime
#pragma redefine_extname drand48 dome__c_drand48
#pragma redefine_extname erand48 dome__c_erand48
#pragma redefine_extname exit dome__c_exit
#pragma redefine_extname fchdir dome__c_fchdir
#pragma redefine_extname fork dome__c_fork
#pragma redefine_extname free dome__c_free
#pragma redefine_extname get_current_dir_name dome__c_get_current_dir_name
#pragma redefine_extname getcwd dome__c_getcwd
#pragma redefine_extname getdelim dome__c_getdelim
#pragma redefine_extname getline dome__c_getline
#pragma redefine_extname gmtime dome__c_gmtime
#pragma redefine_extname hcreate dome__c_hcreate
#pragma redefine_extname hcreate_r dome__c_hcreate_r
#pragma redefine_extname hdestroy dome__c_hdestroy
#pragma redefine_extname hsearch dome__c_hsearch
#pragma redefine_extname initstate dome__c_initstate
#pragma redefine_extname jrand48 dome__c_jrand48
#pragma redefine_extname lcong48 dome__c_lcong48
#pragma redefine_extname localtime dome__c_localtime
#pragma redefine_extname lrand48 dome__c_lrand48
#pragma redefine_extname malloc dome__c_malloc
#pragma redefine_extname malloc_usable_size dome__c_malloc_usable_size
#pragma redefine_extname memalign dome__c_memalign
#pragma redefine_extname mrand48 dome__c_mrand48
#pragma redefine_extname nrand48 dome__c_nrand48
#pragma redefine_extname opendir dome__c_opendir
#pragma redefine_extname posix_memalign dome__c_posix_memalign
#pragma redefine_extname pthread_sigmask dome__c_pthread_sigmask
#pragma redefine_extname putenv dome__c_putenv
#pragma redefine_extname pvalloc dome__c_pvalloc
#pragma redefine_extname quick_exit dome__c_quick_exit
#pragma redefine_extname rand dome__c_rand
#pragma redefine_extname random dome__c_random
#pragma redefine_extname realloc dome__c_realloc
#pragma redefine_extname reallocarray dome__c_reallocarray
#pragma redefine_extname realpath dome__c_realpath
#pragma redefine_extname regcomp dome__c_regcomp
#pragma redefine_extname regexec dome__c_regexec
#pragma redefine_extname seed48 dome__c_seed48
#pragma redefine_extname setenv dome__c_setenv
#pragma redefine_extname setlocale dome__c_setlocale
#pragma redefine_extname setstate dome__c_setstate
#pragma redefine_extname sigaction dome__c_sigaction
#pragma redefine_extname sigaltstack dome__c_sigaltstack
#pragma redefine_extname signal dome__c_signal
#pragma redefine_extname sigprocmask dome__c_sigprocmask
#pragma redefine_extname srand dome__c_srand
#pragma redefine_extname srand48 dome__c_srand48
#pragma redefine_extname srandom dome__c_srandom
#pragma redefine_extname strdup dome__c_strdup
#pragma redefine_extname strndup dome__c_strndup
#pragma redefine_extname strtok dome__c_strtok
#pragma redefine_extname tsearch dome__c_tsearch
#pragma redefine_extname umask dome__c_umask
#pragma redefine_extname unsetenv dome__c_unsetenv
#pragma redefine_extname valloc dome__c_valloc
#pragma redefine_extname vasprintf dome__c_vasprintf
#pragma redefine_extname wcsdup dome__c_wcsdup

#endif
