/* A ray tracer: the sequential twin of ../rays.c. */
#include "../rays_scene.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    struct scene scene = {256, 192, 1, 0, "rays"};
    if (!scene_parse(argc, argv, &scene)) {
        fprintf(stderr, "rays: usage: " SCENE_USAGE "\n");
        return 2;
    }
    unsigned char *grey = calloc(scene.rows, scene.columns);
    for (size_t row = 0; grey && row < scene.rows; row++)
        scene_row(&scene, row, grey + row * scene.columns);
    const long sum = grey ? scene_write(&scene, grey) : -1;
    if (sum < 0) {
        fprintf(stderr, "rays: %s.pgm cannot be written\n", scene.output);
        return 1;
    }
    printf("%zu rows of %zu: sum %ld\n", scene.rows, scene.columns, sum);
    free(grey);
    return 0;
}
