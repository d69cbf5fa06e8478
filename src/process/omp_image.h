/* The program's own file in memory: its variables, its constructors, and what must be equal in all tasks, because an address in
 * one is an address in all. */
#ifndef DOME_SRC_PROCESS_OMP_IMAGE_H
#define DOME_SRC_PROCESS_OMP_IMAGE_H

#include <dome/env.h>

#include <stdbool.h>
#include <stdint.h>

enum { DOME_OMP_IMAGE_PARTS = 4 };

/* Whole pages. */
typedef struct dome_omp_part {
    char *begin, *end;
} dome_omp_part;

typedef struct dome_omp_image {
    dome_omp_part code;                            /* all of the file */
    dome_omp_part variables[DOME_OMP_IMAGE_PARTS]; /* .data and .bss, without what only ld.so writes */
    char *file_end[DOME_OMP_IMAGE_PARTS];          /* of each: pages from here on are zero unless they were touched */
    int parts;
    bool fixed; /* linked with -no-pie */
} dome_omp_image;

/* Finds the program; the same object at each call. */
const dome_omp_image *dome__omp_image(void);

/* Whether an address of code is not the program's file's: a library's. */
bool dome__omp_image_has_not(const void *code);

/* In a part of the variables, all behind this page is zero. Before the program begins it is the same in all tasks. */
char *dome__omp_image_contents_end(int part);

/* Notes what libraries there are, before the library loads others. */
void dome__omp_image_describe(void);

/* Collective. Ends the program with one line if the tasks differ in something that makes addresses mean something else. */
void dome__omp_image_compare(dome_env *env);

/* Of all that is compared but the variables. */
uint64_t dome__omp_image_hash(void);

/* Runs the program's constructors for what they do inside of libraries; the program's variables are then as they were before. */
void dome__omp_image_construct(int argc, char **argv, char **environment);

#endif
