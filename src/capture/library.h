/* What the C library keeps for the program. */
#ifndef DOME_SRC_CAPTURE_LIBRARY_H
#define DOME_SRC_CAPTURE_LIBRARY_H

/* errno, before the image is taken and before the program resumes. */
void dome__capture_library_save(void);
void dome__capture_library_restore(void);

/* The saved one; NULL: it is not kept. */
int *dome__capture_library_errno(void);

#endif
