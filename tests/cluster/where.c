/* Where the tasks of a program are: rank, host as the program knows it, directory. Rank 0 prints what each task says. */
#include <dome/dome.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    for (int r = 0; r < dome_size(env); r++) {
        char text[4096] = "", host[256] = "", directory[2048] = "";
        gethostname(host, sizeof host - 1);
        if (!getcwd(directory, sizeof directory))
            strcpy(directory, "?");
        snprintf(text, sizeof text, "%s %s", host, directory);
        if (strcmp(host, dome_host(env, dome_rank(env))) != 0)
            snprintf(text, sizeof text, "%s, which the program calls %s", host, dome_host(env, dome_rank(env)));
        dome_bcast(env, r, DOME_U8, text, sizeof text);
        dome_print(env, "%d %s\n", r, text);
    }
    return dome_finalize(env);
}
