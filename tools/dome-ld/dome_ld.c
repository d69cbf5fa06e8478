/* dome-ld: the program interpreter of OpenMP programs over tasks. The system starts it in the place of ld.so, before anything of
 * the program:
 *
 *     fill        everything above CEILING is reserved, so that libraries come directly below it, in each process of the program
 *     load        the real ld.so is put at LOADER, told so, and goes on
 *
 * So a library has the same address in all tasks, and a pointer into it (a table of virtual functions, std::cout) is good in all.
 * This needs no privilege, and address space layout randomization stays on for all other programs.
 *
 * It is a static program without the C library, at an address of its own (CMakeLists.txt). */
#include <elf.h>
#include <stdint.h>

#define CEILING 0x7e0000000000UL
#define LOADER  0x7d0000000000UL

static const char loader_path[] = "/lib64/ld-linux-x86-64.so.2";
static const char own_file[] = "/proc/self/exe";
/* Between the two starts: the limit of the stack as it was, in sixteen digits. */
static const char variable[] = "DOME_LD_STACK=";

enum {
    PAGE = 4096,
    DIGITS = 16,
    SYS_PREAD = 17,
    SYS_WRITE = 1,
    SYS_CLOSE = 3,
    SYS_MMAP = 9,
    SYS_MUNMAP = 11,
    SYS_EXECVE = 59,
    SYS_EXIT_GROUP = 231,
    SYS_OPENAT = 257,
    SYS_NEWFSTATAT = 262,
    SYS_PRLIMIT = 302,
    LIMIT_STACK = 3,
    LIMIT_ADDRESSES = 9,
    HERE = -100, /* AT_FDCWD */
    PROT_R = 1,
    PROT_W = 2,
    PROT_X = 4,
    MAP_PRIVATE = 0x02,
    MAP_ANONYMOUS = 0x20,
    MAP_NORESERVE = 0x4000,
    MAP_FIXED = 0x10,
    MAP_FIXED_NOREPLACE = 0x100000
};

typedef struct limit {
    uint64_t soft, hard;
} limit;

/* What the system has put on the stack. */
typedef struct beginning {
    char **arguments, **environment;
    Elf64_auxv_t *auxiliary;
} beginning;

static long call6(long number, long a, long b, long c, long d, long e, long f)
{
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

static long call4(long number, long a, long b, long c, long d)
{
    return call6(number, a, b, c, d, 0, 0);
}

/* The compiler calls these. */
void *memset(void *to, int c, unsigned long n)
{
    for (char *p = to; n--; p++)
        *p = (char)c;
    return to;
}

void *memcpy(void *to, const void *from, unsigned long n)
{
    char *p = to;
    for (const char *q = from; n--; p++, q++)
        *p = *q;
    return to;
}

static unsigned long length(const char *text)
{
    unsigned long n = 0;
    while (text[n])
        n++;
    return n;
}

static void say(const char *text)
{
    call4(SYS_WRITE, 2, (long)text, (long)length(text), 0);
}

static void fail(const char *text, long error) __attribute__((noreturn));

/* error: what a system call has returned; 0: there is none to tell. */
static void fail(const char *text, long error)
{
    char digits[] = " (error 000)\n";
    say("dome: the program cannot be started: ");
    say(text);
    for (long k = 0, e = -error; k < 3; k++, e /= 10)
        digits[10 - k] = (char)('0' + e % 10);
    say(error ? digits : "\n");
    for (;;)
        call4(SYS_EXIT_GROUP, 126, 0, 0, 0);
}

static int is_error(long result)
{
    return result < 0 && result > -PAGE;
}

static long reserve(uint64_t address, uint64_t bytes, long flags)
{
    return call6(SYS_MMAP, (long)address, (long)bytes, 0, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
}

static limit get_limit(long which)
{
    limit l;
    const long result = call4(SYS_PRLIMIT, 0, which, 0, (long)&l);
    if (is_error(result))
        fail("dome-ld may not call prlimit", result);
    return l;
}

static void set_soft_limit(long which, uint64_t soft)
{
    limit l = get_limit(which);
    l.soft = soft;
    const long result = call4(SYS_PRLIMIT, 0, which, (long)&l, 0);
    if (is_error(result))
        fail("dome-ld may not set the limit of the stack", result);
}

/* ---- once more, with another limit of the stack ---- */

/* The path by which the program was started, if it still leads to its file: the program may ask for it. */
static const char *own_path(const beginning *b)
{
    struct {
        uint64_t device, inode, rest[16];
    } own, there;
    for (const Elf64_auxv_t *a = b->auxiliary; a->a_type != AT_NULL; a++)
        if (a->a_type == AT_EXECFN && !is_error(call4(SYS_NEWFSTATAT, HERE, (long)own_file, (long)&own, 0)) &&
            !is_error(call4(SYS_NEWFSTATAT, HERE, (long)a->a_un.a_val, (long)&there, 0)) && own.device == there.device &&
            own.inode == there.inode)
            return (const char *)a->a_un.a_val;
    return own_file;
}

/* With a stack that may grow without end (ulimit -s unlimited) the system places memory from below, at random. So the program is
 * started once more with a limit, which it then takes away again. */
static void start_again(const beginning *b, uint64_t stack) __attribute__((noreturn));

static void start_again(const beginning *b, uint64_t stack)
{
    char word[sizeof variable + DIGITS];
    memcpy(word, variable, sizeof variable);
    for (int k = 0; k < DIGITS; k++)
        word[sizeof variable - 1 + k] = (char)('a' + (stack >> 4 * k & 15));
    word[sizeof variable - 1 + DIGITS] = 0;
    unsigned long n = 0;
    while (b->environment[n])
        n++;
    const char **environment = __builtin_alloca((n + 2) * sizeof *environment);
    environment[0] = word;
    memcpy(environment + 1, b->environment, (n + 1) * sizeof *environment);
    set_soft_limit(LIMIT_STACK, 1UL << 30);
    fail("dome-ld cannot start it with a limited stack: use ulimit -s 1000000",
         call4(SYS_EXECVE, (long)own_path(b), (long)b->arguments, (long)environment, 0));
}

/* Whether this is the second start: takes the variable out of the environment, and sets the limit that it tells. */
static int is_again(beginning *b)
{
    char **e = b->environment;
    for (unsigned long k; *e; e++) {
        for (k = 0; k < sizeof variable - 1 && (*e)[k] == variable[k]; k++)
            ;
        if (k == sizeof variable - 1 && length(*e) == k + DIGITS)
            break;
    }
    if (!*e)
        return 0;
    uint64_t stack = 0;
    for (int k = 0; k < DIGITS; k++)
        stack |= (uint64_t)((*e)[sizeof variable - 1 + k] - 'a') << 4 * k;
    set_soft_limit(LIMIT_STACK, stack);
    Elf64_auxv_t *last = b->auxiliary; /* what stands behind the environment follows it directly */
    while (last->a_type != AT_NULL)
        last++;
    for (char **end = (char **)(last + 1); e + 1 < end; e++)
        e[0] = e[1];
    b->auxiliary = (Elf64_auxv_t *)((char **)b->auxiliary - 1);
    return 1;
}

/* ---- fill ---- */

/* Where the system places a page if it may choose. */
static uint64_t probe(void)
{
    const long a = reserve(0, PAGE, 0);
    if (is_error(a))
        fail("dome-ld may not reserve addresses", a);
    const long result = call4(SYS_MUNMAP, a, PAGE, 0, 0);
    if (is_error(result))
        fail("dome-ld may not call munmap", result);
    return (uint64_t)a;
}

/* Sizes in descending order: each gap above the ceiling is filled by few pieces. The system may align large ones, and leave gaps,
 * which smaller ones fill. */
static void fill(void)
{
    for (uint64_t bytes = 1UL << 41; bytes >= PAGE; bytes >>= 1)
        for (;;) {
            const long a = reserve(0, bytes, 0);
            if (is_error(a))
                break;
            if ((uint64_t)a >= CEILING)
                continue;
            call4(SYS_MUNMAP, a, (long)bytes, 0, 0);
            break;
        }
}

static void check_limit(void)
{
    if (get_limit(LIMIT_ADDRESSES).soft < 1UL << 43)
        fail("it reserves addresses, not memory, and the limit on them is too low: use ulimit -v unlimited", 0);
}

static void make_equal(beginning *b)
{
    const int again = is_again(b);
    check_limit();
    if (probe() < CEILING) {
        const uint64_t stack = get_limit(LIMIT_STACK).soft;
        if (!again && stack > 1UL << 30)
            start_again(b, stack);
        fail(
            "this system places memory from below (setarch -L, or vm.legacy_va_layout is 1), so libraries would lie elsewhere in "
            "each task",
            0);
    }
    fill();
    if (probe() != CEILING - PAGE)
        fail("this system places memory in a way that dome-ld does not know, so libraries would lie elsewhere in each task", 0);
}

/* ---- load ---- */

static uint64_t page_of(uint64_t address)
{
    return address & ~(uint64_t)(PAGE - 1);
}

static void map(uint64_t address, uint64_t bytes, long rights, long flags, long fd, uint64_t offset)
{
    const long a =
        call6(SYS_MMAP, (long)address, (long)bytes, rights, MAP_PRIVATE | MAP_FIXED_NOREPLACE | flags, fd, (long)offset);
    if (is_error(a))
        fail("dome-ld cannot map ld.so", a);
    if ((uint64_t)a != address) /* a system that does not know the flag */
        fail("dome-ld cannot map ld.so where it wants to", 0);
}

static void map_segment(const Elf64_Phdr *p, long fd)
{
    const long rights = (p->p_flags & PF_R ? PROT_R : 0) | (p->p_flags & PF_W ? PROT_W : 0) | (p->p_flags & PF_X ? PROT_X : 0);
    const uint64_t first = LOADER + page_of(p->p_vaddr), data_end = LOADER + p->p_vaddr + p->p_filesz,
                   mapped_end = page_of(data_end + PAGE - 1), end = page_of(LOADER + p->p_vaddr + p->p_memsz + PAGE - 1);
    map(first, mapped_end - first, rights, 0, fd, page_of(p->p_offset));
    if (p->p_memsz > p->p_filesz)
        memset((char *)data_end, 0, mapped_end - data_end);
    if (end > mapped_end)
        map(mapped_end, end - mapped_end, rights, MAP_ANONYMOUS, -1, 0);
}

/* Returns where ld.so begins. */
static uint64_t load(void)
{
    static _Alignas(8) char head[PAGE];
    const long fd = call4(SYS_OPENAT, HERE, (long)loader_path, 0, 0);
    if (is_error(fd))
        fail("dome-ld cannot open /lib64/ld-linux-x86-64.so.2", fd);
    const long n = call4(SYS_PREAD, fd, (long)head, PAGE, 0);
    if (is_error(n))
        fail("dome-ld cannot read ld.so", n);
    const Elf64_Ehdr *h = (const Elf64_Ehdr *)head;
    if (n != PAGE || h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_type != ET_DYN || h->e_machine != EM_X86_64 ||
        h->e_phentsize != sizeof(Elf64_Phdr) || h->e_phoff + h->e_phnum * sizeof(Elf64_Phdr) > PAGE)
        fail("ld.so is not as dome-ld expects it", 0);
    const Elf64_Phdr *p = (const Elf64_Phdr *)(head + h->e_phoff);
    for (int k = 0; k < h->e_phnum; k++)
        if (p[k].p_type == PT_LOAD)
            map_segment(&p[k], fd);
    call4(SYS_CLOSE, fd, 0, 0, 0);
    return LOADER + h->e_entry;
}

/* words: the number of arguments, and all that follows. */
uint64_t dome_ld(uint64_t *words);

uint64_t dome_ld(uint64_t *words)
{
    beginning b = {.arguments = (char **)(words + 1), .environment = (char **)(words + 1) + words[0] + 1};
    char **end = b.environment;
    while (*end)
        end++;
    b.auxiliary = (Elf64_auxv_t *)(end + 1);
    make_equal(&b);
    for (Elf64_auxv_t *a = b.auxiliary; a->a_type != AT_NULL; a++)
        if (a->a_type == AT_BASE)
            a->a_un.a_val = LOADER;
    return load();
}

/* ld.so finds the stack as the system has left it. */
__asm__(".globl _start\n"
        "_start:\n"
        "    mov %rsp, %rdi\n"
        "    mov %rsp, %rbx\n"
        "    xor %ebp, %ebp\n"
        "    and $-16, %rsp\n"
        "    call dome_ld\n"
        "    mov %rbx, %rsp\n"
        "    xor %edx, %edx\n"
        "    xor %ebx, %ebx\n"
        "    jmp *%rax\n");
