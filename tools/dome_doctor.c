/* dome doctor: finds what keeps programs from running here and on other hosts, and the commands that fix it. */
#include "commands.h"
#include "first_program.h"
#include "launch/launch.h"
#include "machine/slurm.h"
#include "memory/tracker.h"
#include "pvm/pvm.h"
#include "system/environment_variables.h"
#include "transport/address.h"

#include <dome/env.h>

#include <arpa/inet.h>
#include <errno.h>
#include <glib/gstdio.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

/* The names of pvmd's local sockets, which must be short, contain the directory. */
enum { LONGEST_TMP = 64, LONGEST_PRIVATE_TMP = 48 };

/* PVM's daemons write logs, and fail silently if they cannot. */
static const uint64_t LEAST_ROOM = 1 << 20;

typedef enum level { OK, NOTE, WRONG } level;

typedef struct finding {
    level level;
    const char *id;
    char *host; /* NULL: this one */
    char *text, *mend;
} finding;

static GPtrArray *findings;

/* Adds a finding. mend: a command, or NULL. Takes both strings. */
static void found(level level, const char *id, const char *host, char *text, char *mend)
{
    finding *f = g_new0(finding, 1);
    *f = (finding){.level = level, .id = id, .host = g_strdup(host), .text = text, .mend = mend};
    g_ptr_array_add(findings, f);
}

#define SAY(...) g_strdup_printf(__VA_ARGS__)

/* The prefix of a command that only root may run. */
static const char *sudo(void)
{
    return geteuid() == 0 ? "" : "sudo ";
}

static int count(level level)
{
    int n = 0;
    for (guint i = 0; i < findings->len; i++)
        n += ((finding *)findings->pdata[i])->level == level;
    return n;
}

/* ---- this host ---- */

/* The version is a separate string in the daemon's program. */
static char *version_of(const char *program)
{
    char *data = NULL, *version = NULL;
    gsize length = 0;
    GRegex *form = g_regex_new("^3\\.[0-9]+\\.[0-9]+$", 0, 0, NULL);
    if (g_file_get_contents(program, &data, &length, NULL))
        for (const char *at = data; at < data + length && !version; at += strlen(at) + 1)
            if (at[0] == '3' && at[1] == '.' && g_regex_match(form, at, 0, NULL))
                version = g_strdup(at);
    g_regex_unref(form);
    g_free(data);
    return version;
}

static void check_pvm(void)
{
    char *trouble, *program = dome__pvm_daemon_program(&trouble);
    bool there = access(DOME_PVM_DEFAULT_ROOT "/lib/pvmd", X_OK) == 0; /* PVM_ROOT names another directory */
    if (trouble)
        found(program ? NOTE : WRONG, there || program ? "pvm-root" : "pvm-missing", NULL, trouble,
              there     ? SAY("export PVM_ROOT=" DOME_PVM_DEFAULT_ROOT)
              : program ? SAY("unset PVM_ROOT")
                        : SAY("%sapt-get install pvm%s", sudo(), g_getenv("PVM_ROOT") ? " && unset PVM_ROOT" : ""));
    char *version = program ? version_of(program) : NULL;
    if (version && strcmp(version, dome__pvm_version()) != 0)
        found(WRONG, "pvm-version", NULL,
              SAY("PVM's daemon %s is version %s, its library %s", program, version, dome__pvm_version()),
              SAY("%sapt-get install --reinstall pvm libpvm3", sudo()));
    else if (program && !count(WRONG))
        found(OK, "pvm", NULL, SAY("PVM %s: %s", dome__pvm_version(), program), NULL);
    if (geteuid() == 0 && !g_getenv("PVM_ALLOW_ROOT"))
        found(NOTE, "root", NULL,
              SAY("PVM refuses root unless PVM_ALLOW_ROOT is set: Dome sets it for its runs, the PVM console needs it"),
              SAY("export PVM_ALLOW_ROOT=1"));
    g_free(version);
    g_free(program);
}

/* Tests whether files can be made in a directory: NULL, or why not. */
static char *why_no_files(const char *directory)
{
    char *path = g_build_filename(directory, "dome-doctor.XXXXXX", NULL), *why = NULL;
    struct statvfs room;
    if (!g_mkdtemp(path))
        why = g_strdup(g_strerror(errno));
    else
        rmdir(path);
    if (!why && statvfs(directory, &room) == 0 && (uint64_t)room.f_bavail * room.f_frsize < LEAST_ROOM)
        why = g_strdup("it is full");
    g_free(path);
    return why;
}

static void check_tmp(void)
{
    const char *tmp = g_get_tmp_dir(), *pvm_tmp = g_getenv("PVM_TMP");
    bool too_long = strlen(tmp) > LONGEST_PRIVATE_TMP;
    const char *used = too_long ? "/tmp" : tmp;
    char *why = why_no_files(used);
    if (why)
        found(WRONG, "tmp", NULL, SAY("files cannot be made in %s, where a private virtual machine has its own: %s", used, why),
              strcmp(used, "/tmp") != 0        ? SAY("export TMPDIR=/tmp")
              : strcmp(why, "it is full") == 0 ? SAY("du -xsh /tmp/* | sort -h")
                                               : SAY("%schmod 1777 /tmp", sudo()));
    else
        found(OK, "tmp", NULL,
              SAY("files can be made in %s%s", used, too_long ? " (the name of TMPDIR is too long for local sockets)" : ""),
              NULL);
    g_free(why);
    if (!pvm_tmp)
        return;
    why = why_no_files(pvm_tmp);
    if (why)
        found(WRONG, "pvm-tmp", NULL, SAY("PVM_TMP is %s, and files cannot be made there: %s", pvm_tmp, why),
              SAY("unset PVM_TMP"));
    else if (strlen(pvm_tmp) > LONGEST_TMP)
        found(WRONG, "pvm-tmp-long", NULL,
              SAY("PVM_TMP has %zu characters: names of PVM's local sockets get too long with more than %d", strlen(pvm_tmp),
                  (int)LONGEST_TMP),
              SAY("unset PVM_TMP"));
    g_free(why);
}

static void check_daemon(void)
{
    char *stale = NULL;
    if (dome__pvm_daemon_answers(&stale))
        found(OK, "daemon", NULL, SAY("a virtual machine of yours is running: programs use it (dome hosts)"), NULL);
    else if (stale) {
        char *quoted = g_shell_quote(stale);
        found(WRONG, "stale-daemon", NULL,
              SAY("%s was left behind by a PVM daemon that has ended: PVM waits 16 s for it, and does not start", stale),
              SAY("rm %s", quoted));
        g_free(quoted);
    } else
        found(OK, "daemon", NULL, SAY("no virtual machine of yours is running: programs start private ones"), NULL);
    g_free(stale);
}

/* others: other hosts are to be used as well. */
static void check_name(bool others)
{
    char name[256] = "", *address = dome__outside_address(), text[INET_ADDRSTRLEN] = "";
    struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *list = NULL;
    gethostname(name, sizeof name - 1);
    int failed = getaddrinfo(name, NULL, &hints, &list);
    const struct sockaddr_in *in = list ? (const struct sockaddr_in *)(const void *)list->ai_addr : NULL;
    if (in)
        inet_ntop(AF_INET, &in->sin_addr, text, sizeof text);
    if (failed)
        found(WRONG, "host-name", NULL, SAY("this host does not know its own name, %s: %s", name, gai_strerror(failed)),
              SAY("echo '%s %s' | %stee -a /etc/hosts", address ? address : "127.0.1.1", name, sudo()));
    else if (ntohl(in->sin_addr.s_addr) >> 24 != 127)
        found(OK, "host-name", NULL, SAY("%s is %s", name, text), NULL);
    else if (!address)
        found(others ? WRONG : NOTE, "no-network", NULL,
              SAY("this host has no address but loopback: no other host can take part in a virtual machine of it"),
              SAY("ip link; ip address # no interface is up and has an IPv4 address"));
    else
        found(others ? WRONG : NOTE, "loopback", NULL,
              SAY("the name of this host, %s, is %s, a loopback address: other hosts cannot join a virtual machine of this name "
                  "(dome run --hosts takes %s instead)",
                  name, text, address),
              SAY("%ssed -i -e 's/^\\(127\\..*\\)\\b%s\\b/\\1/' -e '1i %s %s' /etc/hosts", sudo(), name, address, name));
    if (list)
        freeaddrinfo(list);
    g_free(address);
}

static void check_services(bool others)
{
    if (getservbyname("exec", "tcp"))
        found(OK, "netbase", NULL, SAY("the service exec is known, which PVM looks up to add hosts"), NULL);
    else
        found(others ? WRONG : NOTE, "netbase", NULL,
              SAY("the service exec is not in /etc/services: PVM looks it up to add hosts, and fails without"),
              SAY("%sapt-get install netbase", sudo()));
}

/* Memory that tasks share works everywhere, and better on newer kernels. */
static void check_memory(void)
{
    const char *why = NULL;
    const dome_tracker *rights = dome__tracker_choose(true, &why), *writes = dome__tracker_choose(false, &why), *row;
    if (!rights || !writes) {
        found(WRONG, "memory", NULL, SAY("tasks cannot share memory: %s", why), NULL);
        return;
    }
    GString *text = g_string_new(NULL);
    g_string_printf(text, "memory that tasks share: rights to pages by \"%s\", written pages by \"%s\"", rights->name,
                    writes->name);
    for (unsigned k = 0; (row = dome__tracker_row(k, &why)); k++)
        if (why)
            g_string_append_printf(text, "; no \"%s\": %s", row->name, why);
    found(OK, "memory", NULL, g_string_free(text, FALSE), NULL);
    const char *named = g_getenv(DOME_VARIABLE_TRACKER);
    if (named && strcmp(named, rights->name) != 0 && strcmp(named, writes->name) != 0)
        found(NOTE, "tracker", NULL,
              SAY("%s=%s names no way that this machine has, and changes nothing", DOME_VARIABLE_TRACKER, named),
              SAY("unset %s", DOME_VARIABLE_TRACKER));
}

static void check_start(char **hosts)
{
    dome_launch launch;
    dome_launch_request request = {.launcher = &dome__launcher_pvm, .timeout = 10, .hosts = hosts};
    char *message = NULL;
    fflush(NULL);
    /* This must not touch a virtual machine of the user. */
    g_setenv("PVM_VMID", "dome-doctor", TRUE);
    g_unsetenv("PVMSOCK");
    g_setenv("PVM_ALLOW_ROOT", "1", FALSE);
    if (dome__launch_open(&launch, &request, &message)) {
        dome__launch_close(&launch);
        found(OK, "start", NULL,
              hosts ? SAY("a private virtual machine starts, takes all hosts, and ends")
                    : SAY("a private virtual machine starts and ends"),
              NULL);
    } else
        found(WRONG, "start", NULL, SAY("a private virtual machine does not start: %s", message), NULL);
    g_free(message);
}

/* In an allocation of Slurm: its other hosts are added, and reached by steps. */
static void check_slurm(GPtrArray *lines)
{
    if (!dome__slurm_there())
        return;
    char *slots = NULL, *message = dome__slurm_objection(), **hosts = NULL;
    if (message) {
        found(NOTE, "slurm", NULL, message, NULL);
        return;
    }
    if (!(hosts = dome__slurm_hosts(true, &slots, &message))) {
        found(WRONG, "slurm", NULL, SAY("the hosts of the allocation are not known: %s", message), SAY("scontrol ping"));
        g_free(message);
        return;
    }
    dome__slurm_reach();
    const char *here = g_getenv(DOME_SLURM_HERE);
    for (char **host = hosts; *host; host++)
        if (strcmp(*host, here) != 0)
            g_ptr_array_add(lines, g_strdup(*host));
    found(OK, "slurm", NULL,
          SAY("in the allocation of Slurm's job %s: dome run takes its hosts, with so many tasks: %s", g_getenv(DOME_SLURM_JOB),
              slots),
          NULL);
    g_free(slots);
    g_strfreev(hosts);
}

/* Runs several tasks if PVM is well, so that what they need is checked, too. */
static void check_first_program(void)
{
    static const level levels[] = {[DOME_FIRST_RUNS] = OK, [DOME_FIRST_CANNOT_BUILD] = NOTE, [DOME_FIRST_FAILS] = WRONG};
    char *text, *mend;
    dome_first_result result = dome__first_program(count(WRONG) ? 1 : 2, sudo(), &text, &mend);
    found(levels[result], "first-program", NULL, text, mend);
}

/* ---- other hosts ---- */

typedef struct host {
    char *line, *name, *user;
    const char *script;
    char *out, *err;
    int status;   /* of the command; -1: it could not be run */
    char *broken; /* why */
    GThread *thread;
} host;

/* The probe of another host, in one line that any login shell hands to sh. */
static char *probe_script(const char *address, int port)
{
    return g_strdup_printf(
        "echo dome-doctor=1; r=${PVM_ROOT:-%s}; d=$r/lib/pvmd; [ -x \"$d\" ] || d=$(command -v pvmd); echo \"daemon=$d\"; "
        "[ -r \"$d\" ] && echo \"version=$(tr \"\\0\" \"\\n\" <\"$d\" | grep -axE \"3[.][0-9]+[.][0-9]+\" | head -n 1)\"; "
        "echo \"machine=$(uname -s) $(uname -m)\"; "
        "t=$(mktemp -d /tmp/dome-doctor.XXXXXX) && echo x >$t/x && [ -s $t/x ] && echo tmp=ok; rm -rf \"$t\"; "
        "f=/tmp/pvmd.$(id -u); p=$(grep -ls \"^pvmd\" /proc/[0-9]*/comm); "
        "[ -f $f ] && [ -z \"$p\" ] && echo \"stale=$f\"; "
        "echo \"dome=$(dome --version 2>/dev/null)\"; "
        "command -v bash >/dev/null && { timeout 5 bash -c \"exec 3<>/dev/tcp/%s/%d\" 2>/dev/null && echo back=ok || echo "
        "back=no; }; "
        "echo end=1",
        DOME_PVM_DEFAULT_ROOT, address ? address : "127.0.0.1", port);
}

/* Runs the probe in the way of `dome run --hosts`, with the same command. */
static void *probe(void *data)
{
    host *h = data;
    const char *rsh = g_getenv(DOME_VARIABLE_RSH) ? g_getenv(DOME_VARIABLE_RSH) : g_getenv("PVM_RSH");
    if (!rsh)
        rsh = "ssh -o BatchMode=yes -o ConnectTimeout=5";
    char *quoted = g_shell_quote(h->script), *command = g_strdup_printf("exec /bin/sh -c %s", quoted);
    char **words = g_strsplit_set(rsh, " \t", 0);
    GPtrArray *arguments = g_ptr_array_new();
    static const char *const limit[] = {"timeout", "--kill-after=2", "20"};
    for (size_t i = 0; i < G_N_ELEMENTS(limit); i++)
        g_ptr_array_add(arguments, (gpointer)limit[i]);
    for (char **word = words; *word; word++)
        if (**word)
            g_ptr_array_add(arguments, *word);
    if (h->user) {
        g_ptr_array_add(arguments, (gpointer) "-l");
        g_ptr_array_add(arguments, h->user);
    }
    g_ptr_array_add(arguments, h->name);
    g_ptr_array_add(arguments, command);
    g_ptr_array_add(arguments, NULL);
    GError *error = NULL;
    int wait_status = 0;
    if (g_spawn_sync(NULL, (char **)arguments->pdata, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &h->out, &h->err, &wait_status,
                     &error))
        h->status = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128;
    else {
        h->status = -1;
        h->broken = g_strdup(error->message);
        g_error_free(error);
    }
    g_ptr_array_unref(arguments);
    g_strfreev(words);
    g_free(command);
    g_free(quoted);
    return NULL;
}

static char *last_line(const char *text)
{
    char *copy = g_strchomp(g_utf8_make_valid(text ? text : "", -1)), *end = strrchr(copy, '\n');
    char *line = g_strdup(end ? end + 1 : copy);
    g_free(copy);
    for (char *c = line; *c; c++)
        if (g_ascii_iscntrl(*c))
            *c = ' ';
    return g_strstrip(line);
}

static bool any_key(void)
{
    char *path = g_build_filename(g_get_home_dir(), ".ssh", NULL);
    GDir *dir = g_dir_open(path, 0, NULL);
    const char *name;
    bool there = g_getenv("SSH_AUTH_SOCK") != NULL;
    while (dir && !there && (name = g_dir_read_name(dir)))
        there = g_str_has_prefix(name, "id_") && g_str_has_suffix(name, ".pub");
    if (dir)
        g_dir_close(dir);
    g_free(path);
    return there;
}

/* Explains why the command did not get through to the host. */
static void judge_connection(const host *h)
{
    char *said = last_line(h->err), *to = h->user ? SAY("%s@%s", h->user, h->name) : g_strdup(h->name);
    const char *all = h->err ? h->err : "";
    if (h->status < 0 || h->status == 127)
        found(WRONG, "ssh-missing", h->name,
              SAY("the command that reaches other hosts cannot be run: %s", h->broken ? h->broken : said),
              SAY("%sapt-get install openssh-client", sudo()));
    else if (strstr(all, "Could not resolve") || strstr(all, "not known"))
        found(WRONG, "host-unknown", h->name, SAY("there is no host of this name: %s", said),
              SAY("echo 'ADDRESS %s' | %stee -a /etc/hosts # with its address", h->name, sudo()));
    else if (strstr(all, "IDENTIFICATION HAS CHANGED"))
        found(WRONG, "ssh-host-key", h->name,
              SAY("its key is another than before: it was installed anew, or is not what it says"),
              SAY("ssh-keygen -R %s && ssh-keyscan -H %s >>~/.ssh/known_hosts", h->name, h->name));
    else if (strstr(all, "Host key verification failed") || strstr(all, "host key is known"))
        found(WRONG, "ssh-host-key", h->name, SAY("its key is not known here, and ssh must not ask"),
              SAY("ssh-keyscan -H %s >>~/.ssh/known_hosts", h->name));
    else if (strstr(all, "Permission denied") || strstr(all, "Too many authentication failures"))
        found(WRONG, "ssh-key", h->name, SAY("ssh does not get in without a password: %s", said),
              any_key() ? SAY("ssh-copy-id %s", to) : SAY("ssh-keygen -t ed25519 && ssh-copy-id %s", to));
    else if (strstr(all, "Connection refused"))
        found(WRONG, "ssh-refused", h->name, SAY("it is there, but no sshd answers: %s", said),
              SAY("apt-get install openssh-server && systemctl start ssh # on %s", h->name));
    else if (h->status == 124 || h->status == 137 || strstr(all, "timed out") || strstr(all, "No route") ||
             strstr(all, "unreachable"))
        found(WRONG, "host-down", h->name,
              SAY("it cannot be reached: %s", said[0] ? said : "no answer within 20 s (host down, link cut)"),
              SAY("ping %s", h->name));
    else
        found(WRONG, "ssh", h->name, SAY("a command cannot be run there (status %d): %s", h->status, said),
              SAY("ssh -v -o BatchMode=yes %s true", to));
    g_free(to);
    g_free(said);
}

/* The value of NAME=VALUE; NULL: not found. g_free'd. */
static char *answer(const host *h, const char *name)
{
    char *valid = g_utf8_make_valid(h->out ? h->out : "", -1), **lines = g_strsplit(valid, "\n", 0), *value = NULL;
    size_t length = strlen(name);
    for (char **line = lines; *line && !value; line++)
        if (strncmp(*line, name, length) == 0 && (*line)[length] == '=')
            value = g_strstrip(g_strdup(*line + length + 1));
    g_strfreev(lines);
    g_free(valid);
    return value;
}

static void judge_host(const host *h, const char *address)
{
    char *reached = answer(h, "dome-doctor"), *end = answer(h, "end");
    int before = count(WRONG);
    if (!reached || !end) {
        judge_connection(h);
        g_free(reached);
        g_free(end);
        return;
    }
    char *program = answer(h, "daemon"), *version = answer(h, "version"), *machine = answer(h, "machine"),
         *tmp = answer(h, "tmp");
    char *stale = answer(h, "stale"), *dome = answer(h, "dome"), *back = answer(h, "back");
    struct utsname here;
    if (!program || !program[0])
        found(WRONG, "pvm-missing", h->name, SAY("PVM is not installed there"), SAY("ssh %s apt-get install pvm", h->name));
    else if (version && version[0] && strcmp(version, dome__pvm_version()) != 0)
        found(WRONG, "pvm-version", h->name, SAY("PVM is version %s there and %s here", version, dome__pvm_version()),
              SAY("ssh %s apt-get install pvm # the same version on all hosts", h->name));
    if (!tmp)
        found(WRONG, "tmp", h->name, SAY("files cannot be made in its /tmp"), SAY("ssh %s 'chmod 1777 /tmp; df /tmp'", h->name));
    if (stale && stale[0])
        found(WRONG, "stale-daemon", h->name,
              SAY("%s was left behind there by a PVM daemon that has ended: it cannot be added to a machine", stale),
              SAY("ssh %s rm %s", h->name, stale));
    if (dome && dome[0] && strcmp(dome, "dome " DOME_VERSION) != 0)
        found(WRONG, "dome-version", h->name,
              SAY("Dome is version %s there and " DOME_VERSION " here", dome + strcspn(dome, " ")),
              SAY("cmake --install build # the same version on %s as here", h->name));
    if (g_strcmp0(back, "no") == 0)
        found(WRONG, "way-back", h->name,
              SAY("it does not reach this host at %s: a firewall, or another address is needed", address),
              SAY("dome run --hosts FILE --address ADDRESS ... # an address of this host that %s reaches", h->name));
    char *mine = uname(&here) == 0 ? SAY("%s %s", here.sysname, here.machine) : NULL;
    if (mine && machine && strcmp(machine, mine) != 0)
        found(NOTE, "architecture", h->name,
              SAY("it is %s, this host is %s: programs for it are looked for by name, in ~/pvm3/bin/ARCHITECTURE or ep= of the "
                  "hostfile",
                  machine, mine),
              NULL);
    if (count(WRONG) == before)
        found(OK, "host", h->name,
              SAY("it can be reached and has PVM %s", version && version[0] ? version : "of a version that is not known"), NULL);
    g_free(mine);
    g_free(back);
    g_free(dome);
    g_free(stale);
    g_free(tmp);
    g_free(machine);
    g_free(version);
    g_free(program);
    g_free(end);
    g_free(reached);
}

/* Opens a socket for the hosts to connect to. The kernel completes their connections; no accept is needed. */
static int listen_here(int *port)
{
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_ANY)};
    socklen_t length = sizeof here;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && bind(fd, (struct sockaddr *)&here, sizeof here) == 0 && listen(fd, 1024) == 0 &&
        getsockname(fd, (struct sockaddr *)&here, &length) == 0)
        *port = ntohs(here.sin_port);
    return fd;
}

static void check_hosts(char **lines)
{
    int port = 0, fd = listen_here(&port);
    char *address = dome__outside_address();
    char *script = probe_script(address, port);
    GPtrArray *hosts = g_ptr_array_new();
    g_setenv("SSH_ASKPASS_REQUIRE", "never", TRUE);
    for (char **line = lines; *line; line++) {
        host *h = g_new0(host, 1);
        char **words = g_strsplit_set(*line, " \t", 0);
        h->line = *line;
        h->script = script;
        h->name = g_strdup(words[0]);
        for (char **word = words; *word; word++)
            if (g_str_has_prefix(*word, "lo="))
                h->user = g_strdup(*word + 3);
        g_strfreev(words);
        h->thread = g_thread_new("probe", probe, h);
        g_ptr_array_add(hosts, h);
    }
    for (guint i = 0; i < hosts->len; i++) {
        host *h = hosts->pdata[i];
        g_thread_join(h->thread);
        judge_host(h, address ? address : "127.0.0.1");
        g_free(h->name);
        g_free(h->user);
        g_free(h->out);
        g_free(h->err);
        g_free(h->broken);
        g_free(h);
    }
    g_ptr_array_unref(hosts);
    g_free(script);
    g_free(address);
    if (fd >= 0)
        close(fd);
}

/* ---- printing the findings ---- */

static const char *const words[] = {[OK] = "ok", [NOTE] = "note", [WRONG] = "wrong"};

static void print_text(void)
{
    for (guint i = 0; i < findings->len; i++) {
        const finding *f = findings->pdata[i];
        dome__print("%-6s %s%s%s\n", words[f->level], f->host ? f->host : "", f->host ? ": " : "", f->text);
        if (f->mend)
            dome__print("       mend: %s\n", f->mend);
    }
    int wrong = count(WRONG);
    if (wrong)
        printf("%d thing%s wrong\n", wrong, wrong == 1 ? " is" : "s are");
    else
        puts("nothing is wrong");
}

static void print_json(void)
{
    putchar('[');
    for (guint i = 0; i < findings->len; i++) {
        const finding *f = findings->pdata[i];
        const char *const members[] = {"id", f->id, "state", words[f->level], "host", f->host, "text", f->text, "mend", f->mend};
        fputs(i ? ",\n  {" : "\n  {", stdout);
        for (size_t k = 0; k < G_N_ELEMENTS(members); k += 2) {
            printf("%s\"%s\": ", k ? ", " : "", members[k]);
            if (members[k + 1])
                dome__json_string(stdout, members[k + 1]);
            else
                fputs("null", stdout);
        }
        putchar('}');
    }
    puts("\n]");
}

int dome__command_doctor(int argc, char **argv)
{
    gboolean json = FALSE;
    char *path = NULL, *message = NULL;
    const GOptionEntry entries[] = {
        {"hosts", 0, 0, G_OPTION_ARG_FILENAME, &path, "Also check the hosts in FILE, a PVM hostfile", "FILE"},
        {"json", 0, 0, G_OPTION_ARG_NONE, &json, "Print a list of objects in JSON", NULL},
        {0}};
    dome__command_parse(
        &argc, &argv, entries, "[HOST...]",
        "Checks whether programs can run here and on the hosts named, and prints each problem with the command that repairs\n"
        "it. It builds and runs a first program, and leaves nothing behind. The exit status is 1 if there is a problem.",
        -1);
    GPtrArray *lines = g_ptr_array_new();
    char **from_file = path ? dome__hostfile_read(path, NULL, &message) : NULL;
    if (message)
        dome__command_fail(2, "doctor: %s", message);
    for (char **line = from_file; line && *line; line++)
        g_ptr_array_add(lines, *line);
    for (int i = 1; i < argc; i++) {
        if (!argv[i][0] || argv[i][0] == '-' || strpbrk(argv[i], " \t\n*&#"))
            dome__command_fail(2, "doctor: '%s' is no name of a host", argv[i]);
        g_ptr_array_add(lines, argv[i]);
    }
    findings = g_ptr_array_new();
    if (!lines->len)
        check_slurm(lines);
    bool others = lines->len > 0;
    g_ptr_array_add(lines, NULL);
    char **hosts = (char **)lines->pdata;
    check_pvm();
    check_tmp();
    check_daemon();
    check_name(others);
    check_services(others);
    check_memory();
    if (others)
        check_hosts(hosts);
    if (!count(WRONG))
        check_start(others ? hosts : NULL);
    check_first_program();
    if (json)
        print_json();
    else
        print_text();
    return count(WRONG) > 0;
}
