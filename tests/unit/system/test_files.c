/* Files that the library opens by itself: paths that are not regular files, files that others may have put there, files left by
 * dead writers. */
#include "system/files.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static char *folder;

static char *path_of(const char *name)
{
    return g_build_filename(folder, name, NULL);
}

/* Names in the folder that are not `expected`. */
static guint others(const char *expected)
{
    guint count = 0;
    GDir *dir = g_dir_open(folder, 0, NULL);
    for (const char *name; (name = g_dir_read_name(dir));)
        count += strcmp(name, expected) != 0;
    g_dir_close(dir);
    return count;
}

static void check_text(const char *path, const char *text)
{
    char *got = NULL;
    g_assert_true(g_file_get_contents(path, &got, NULL, NULL));
    g_assert_cmpstr(got, ==, text);
    g_free(got);
}

static void refused(const char *path, const char *words)
{
    const char *reason = NULL;
    g_assert_cmpint(dome__file_open(path, O_RDONLY, &reason), ==, -1);
    g_assert_nonnull(strstr(reason, words));
    g_assert_null(dome__file_read(path, 100, &reason));
    g_assert_nonnull(strstr(reason, words));
}

static void test_irregular(void)
{
    char *fifo = path_of("fifo"), *link = path_of("link"), *file = path_of("file"), *end = path_of("socket");
    const char *reason;
    g_assert_cmpint(mkfifo(fifo, 0600), ==, 0);
    refused(fifo, "it is a FIFO");
    refused(folder, "it is a directory");
    refused("/dev/zero", "it is a device");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    g_strlcpy(address.sun_path, end, sizeof address.sun_path);
    g_assert_cmpint(bind(fd, (struct sockaddr *)&address, sizeof address), ==, 0);
    refused(end, "it is a socket");
    close(fd);
    refused(file, "No such file");
    g_assert_true(g_file_set_contents(file, "some words", -1, NULL));
    g_assert_cmpint(symlink(file, link), ==, 0);
    g_assert_null(dome__file_read(file, 9, &reason));
    g_assert_cmpstr(reason, ==, "it is too long");
    char *text = dome__file_read(link, 10, &reason);
    g_assert_cmpstr(text, ==, "some words");
    g_free(text);
    g_assert_cmpint(dome__file_open(link, O_RDONLY | O_NOFOLLOW, &reason), ==, -1);
    g_assert_nonnull(strstr(reason, "it is a symbolic link"));
    char *all[] = {fifo, link, file, end};
    for (size_t k = 0; k < G_N_ELEMENTS(all); k++) {
        g_assert_cmpint(g_unlink(all[k]), ==, 0);
        g_free(all[k]);
    }
}

/* Links that lead elsewhere, at the path of a new file. */
static void test_links(void)
{
    char *precious = path_of("precious"), *file = path_of("file"), *part = path_of("file.part");
    const char *reason;
    g_assert_true(g_file_set_contents(precious, "precious", -1, NULL));
    g_assert_cmpint(symlink(precious, file), ==, 0);
    int fd = dome__file_make(file, 0600, &reason);
    g_assert_cmpint(fd, >=, 0);
    close(fd);
    g_assert_cmpint(link(precious, part), ==, 0);
    g_assert_true(dome__file_replace(file, "new", 0600, &reason));
    check_text(file, "new");
    g_assert_cmpint(symlink(precious, part), ==, 0);
    g_assert_true(dome__file_replace(file, "newer", 0600, &reason));
    check_text(file, "newer");
    check_text(precious, "precious");
    g_assert_cmpint(g_unlink(file), ==, 0);
    g_assert_cmpint(g_unlink(precious), ==, 0);
    g_assert_cmpuint(others(""), ==, 0);
    g_free(precious);
    g_free(file);
    g_free(part);
}

/* A file size limit is an error, and its signal is not delivered later either. */
static void test_limit(void)
{
    char *file = path_of("file");
    const char *reason;
    struct rlimit before, none;
    g_assert_cmpint(getrlimit(RLIMIT_FSIZE, &before), ==, 0);
    none = before;
    none.rlim_cur = 0;
    g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &none), ==, 0);
    bool good = dome__file_replace(file, "text", 0600, &reason);
    g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &before), ==, 0);
    g_assert_false(good);
    g_assert_nonnull(strstr(reason, "ulimit -f"));
    g_assert_cmpuint(others(""), ==, 0);
    g_free(file);
}

static pid_t start_writer(const char *target, bool named, char **hidden)
{
    int ends[2];
    char name[4096] = "";
    g_assert_cmpint(pipe(ends), ==, 0);
    pid_t child = fork();
    if (child == 0) {
        dome_new_file file;
        if (dome__new_file_begin(&file, target, 0666, named) < 0 || write(file.fd, "half", 4) != 4)
            _exit(1);
        const char *text = file.hidden ? file.hidden : "";
        if (write(ends[1], text, strlen(text) + 1) < 0)
            _exit(1);
        pause();
    }
    g_assert_cmpint(read(ends[0], name, sizeof name - 1), >, 0);
    close(ends[0]);
    close(ends[1]);
    *hidden = g_strdup(name);
    return child;
}

static void end_writer(pid_t child)
{
    kill(child, SIGKILL);
    g_assert_cmpint(waitpid(child, NULL, 0), ==, child);
}

static void write_new(const char *target, bool named)
{
    dome_new_file file;
    g_assert_cmpint(dome__new_file_begin(&file, target, 0666, named), >=, 0);
    g_assert_cmpint(write(file.fd, "whole", 5), ==, 5);
    g_assert_true(dome__new_file_place(&file));
    dome__new_file_end(&file);
    check_text(target, "whole");
}

/* Files of a dead writer are removed by the next one; files of a live one are not. Each writer is a separate process, since a
 * folder is swept only once per process. */
static void in_child(const char *target, bool named)
{
    pid_t child = fork();
    int status;
    if (child == 0) {
        write_new(target, named);
        _exit(0);
    }
    g_assert_cmpint(waitpid(child, &status, 0), ==, child);
    g_assert_cmpint(status, ==, 0);
}

static void test_new_file(void)
{
    char *target = path_of("x.npy"), *hidden, *live;
    g_assert_true(g_file_set_contents(target, "before", -1, NULL));
    pid_t dead = start_writer(target, true, &hidden), child;
    g_assert_cmpint(access(hidden, F_OK), ==, 0);
    child = start_writer(target, true, &live);
    end_writer(dead);
    check_text(target, "before");
    in_child(target, true);
    g_assert_cmpint(access(hidden, F_OK), !=, 0);
    g_assert_cmpint(access(live, F_OK), ==, 0);
    end_writer(child);
    in_child(target, false);
    g_assert_cmpuint(others("x.npy"), ==, 0);
    g_free(hidden);
    g_free(live);

    /* If the file system supports unnamed files, there is nothing to sweep. */
    child = start_writer(target, false, &hidden);
    if (hidden[0])
        g_test_message("not tried: files without a name (the file system has none)");
    else
        g_assert_cmpuint(others("x.npy"), ==, 0);
    end_writer(child);
    in_child(target, false);
    g_assert_cmpuint(others("x.npy"), ==, 0);

    dome_new_file file;
    g_assert_cmpint(dome__new_file_begin(&file, target, 0666, true), >=, 0);
    dome__new_file_end(&file);
    g_assert_cmpuint(others("x.npy"), ==, 0);
    g_assert_cmpint(g_unlink(target), ==, 0);
    g_free(hidden);
    g_free(target);
}

/* ---- folders ---- */

/* A new folder with two files, one of them in a folder of its own. */
static void begin_folder(dome_new_file *file, const char *target)
{
    g_assert_cmpint(dome__new_file_begin(file, target, 0600, true), >=, 0);
    g_assert_true(dome__new_file_folder(file, 0777));
    char *inner = g_build_filename(file->folder, "inner", NULL), *deep = g_build_filename(inner, "deep", NULL),
         *text = g_build_filename(file->folder, "text", NULL);
    g_assert_cmpint(g_mkdir(inner, 0777), ==, 0);
    g_assert_true(g_file_set_contents(deep, "deep", -1, NULL));
    g_assert_true(g_file_set_contents(text, "whole", -1, NULL));
    g_free(inner);
    g_free(deep);
    g_free(text);
}

static pid_t start_folder_writer(const char *target, char **hidden)
{
    int ends[2];
    char name[4096] = "";
    g_assert_cmpint(pipe(ends), ==, 0);
    pid_t child = fork();
    if (child == 0) {
        dome_new_file file;
        begin_folder(&file, target);
        if (write(ends[1], file.hidden, strlen(file.hidden) + 1) < 0)
            _exit(1);
        pause();
    }
    g_assert_cmpint(read(ends[0], name, sizeof name - 1), >, 0);
    close(ends[0]);
    close(ends[1]);
    *hidden = g_strdup(name);
    return child;
}

/* The same for folders; one of a dead writer may have lost its lock. An existing folder stays until the new one is in its place,
 * and a link in it is not followed when it is removed. */
static void test_new_folder(void)
{
    /* Static: children that end by _exit would otherwise be said to leak them. */
    static char *outer, *target, *text, *precious, *link, *hidden[3];
    outer = folder; /* this process has swept it */
    folder = path_of("folders");
    g_assert_cmpint(g_mkdir(folder, 0777), ==, 0);
    target = path_of("x.zarr");
    text = path_of("x.zarr/text");
    precious = path_of("precious");
    link = path_of("x.zarr/link");
    pid_t writers[3];
    for (int i = 0; i < 3; i++)
        writers[i] = start_folder_writer(target, &hidden[i]);
    end_writer(writers[0]);
    end_writer(writers[1]);
    g_assert_cmpint(g_unlink(hidden[1]), ==, 0);
    in_child(target, true); /* a file */
    g_assert_cmpint(g_unlink(target), ==, 0);
    for (int i = 0; i < 3; i++) {
        char *left = dome__new_file_folder_name(hidden[i]);
        g_assert_cmpint(access(left, F_OK) == 0, ==, i == 2);
        g_free(left);
    }
    end_writer(writers[2]);
    in_child(target, true);
    g_assert_cmpuint(others("x.zarr"), ==, 0);
    g_assert_cmpint(g_unlink(target), ==, 0);

    dome_new_file file;
    begin_folder(&file, target);
    g_assert_cmpint(access(target, F_OK), !=, 0);
    g_assert_true(dome__new_file_place(&file));
    dome__new_file_end(&file);
    check_text(text, "whole");
    g_assert_cmpuint(others("x.zarr"), ==, 0);

    g_assert_true(g_file_set_contents(text, "before", -1, NULL));
    g_assert_true(g_file_set_contents(precious, "precious", -1, NULL));
    g_assert_cmpint(symlink(precious, link), ==, 0);
    begin_folder(&file, target);
    dome__new_file_end(&file);
    check_text(text, "before");
    begin_folder(&file, target);
    check_text(text, "before");
    g_assert_true(dome__new_file_place(&file));
    check_text(text, "whole");
    dome__new_file_end(&file);
    check_text(text, "whole");
    check_text(precious, "precious");
    g_assert_cmpint(g_unlink(precious), ==, 0);
    g_assert_cmpint(access(link, F_OK), !=, 0);
    g_assert_cmpuint(others("x.zarr"), ==, 0);
    dome__remove_directory(folder);
    g_assert_cmpint(access(folder, F_OK), !=, 0);
    g_free(folder);
    folder = outer;
    for (int i = 0; i < 3; i++)
        g_free(hidden[i]);
    g_free(target);
    g_free(text);
    g_free(precious);
    g_free(link);
}

/* Some file systems cannot exchange two folders, nor say that there is nothing to exchange with. */
static int exchange_error;

int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags)
{
    errno = exchange_error;
    return exchange_error ? -1 : (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, flags);
}

static void place(const char *target, const char *text)
{
    dome_new_file file;
    begin_folder(&file, target);
    g_assert_true(dome__new_file_place(&file));
    dome__new_file_end(&file);
    check_text(text, "whole");
    g_assert_cmpuint(others("y.zarr"), ==, 0);
}

static void test_no_exchange(void)
{
    char *target = path_of("y.zarr"), *text = path_of("y.zarr/text");
    exchange_error = EINVAL;
    place(target, text); /* where nothing is */
    place(target, text);

    /* What programs left that ended between the two steps stays, and is in nobody's way. */
    static const char *const left[] = {"y.zarr.before-dome", "y.zarr.before-dome-1"};
    for (size_t k = 0; k < G_N_ELEMENTS(left); k++) {
        char *before = path_of(left[k]), *precious = g_build_filename(before, "precious", NULL);
        g_assert_cmpint(g_mkdir(before, 0700), ==, 0);
        g_assert_true(g_file_set_contents(precious, "precious", -1, NULL));
        dome_new_file file;
        begin_folder(&file, target);
        g_assert_true(dome__new_file_place(&file));
        dome__new_file_end(&file);
        check_text(text, "whole");
        check_text(precious, "precious");
        g_assert_cmpuint(others("y.zarr"), ==, k + 1);
        g_free(before);
        g_free(precious);
    }
    for (size_t k = 0; k < G_N_ELEMENTS(left); k++) {
        char *before = path_of(left[k]);
        dome__remove_directory(before);
        g_free(before);
    }
    exchange_error = 0;
    dome__remove_directory(target);
    g_assert_cmpint(symlink("nowhere", target), ==, 0);
    place(target, text);
    g_assert_false(g_file_test(target, G_FILE_TEST_IS_SYMLINK));
    dome__remove_directory(target);
    g_free(target);
    g_free(text);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    folder = g_dir_make_tmp("dome-files.XXXXXX", NULL);
    g_assert_nonnull(folder);
    g_test_add_func("/files/irregular", test_irregular);
    g_test_add_func("/files/links", test_links);
    g_test_add_func("/files/limit", test_limit);
    g_test_add_func("/files/new", test_new_file);
    g_test_add_func("/files/new-folder", test_new_folder);
    g_test_add_func("/files/no-exchange", test_no_exchange);
    int status = g_test_run();
    g_assert_cmpint(g_rmdir(folder), ==, 0);
    g_free(folder);
    return status;
}
