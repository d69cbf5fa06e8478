/* What the C library lends and keeps: texts, the calendar, errno, the way of rounding, what was given back to a stream. */
#include <ctype.h>
#include <errno.h>
#include <fenv.h>
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int spin(int n)
{
    int s = 3;
    while (n-- > 0)
        s += n;
    return s;
}

static char *home, *language;
static const char *message;
static struct tm *lent;

static void texts(void)
{
    setenv("LENT", "a text", 1);
    home = getenv("LENT");
    message = strerror(ENOENT);
    language = setlocale(LC_ALL, "C");
    char *same = getenv("LENT"), *none = getenv("NO SUCH VARIABLE"), *radix = nl_langinfo(RADIXCHAR);
    spin(4);
    printf("%s, %s, %s, %d, %d, %s\n", home, message, language, same == home, none == NULL, radix);
}

static void calendar(void)
{
    time_t day = 1000000000;
    lent = gmtime(&day);
    struct tm own = *lent, made = own;
    char *text = ctime(&day), line[60];
    spin(2);
    time_t back = timegm(&made);
    spin(3);
    strftime(line, sizeof line, "%Y-%m-%d %H:%M:%S %Z", &made);
    printf("%d %d %s %s %s%d\n", lent->tm_year, own.tm_mon, made.tm_zone, line, text, back == day);
    text = asctime(lent);
    spin(2);
    fputs(text, stdout);
}

static void errors(void)
{
    int *place = &errno;
    for (int i = 0; i < 3; i++) {
        errno = spin(i);
        spin(1);
        *place += 1;
        printf("%d %d %d\n", errno, isalpha(spin(i) + 'a') != 0, toupper(spin(1) + 'a'));
        errno += spin(2) + i;
        printf("%d\n", errno);
    }
}

static void floating(void)
{
    volatile double one = 1, three = 3;
    fesetround(FE_UPWARD);
    feclearexcept(FE_ALL_EXCEPT);
    feraiseexcept(FE_OVERFLOW);
    for (int i = 0; i < 3; i++) {
        spin(2);
        printf("%.20g %d %d %d\n", one / three, fegetround() == FE_UPWARD, fetestexcept(FE_OVERFLOW) != 0,
               fetestexcept(FE_DIVBYZERO) != 0);
    }
    fesetround(FE_TOWARDZERO);
    spin(2);
    printf("%.20g\n", 2 * one / three);
    fesetround(FE_TONEAREST);
}

static void streams(void)
{
    FILE *f = fopen("lends.tmp", "w+");
    FILE **own = &stdout;
    fputs("12ab345\nend", f);
    rewind(f);
    fgetc(f);
    ungetc('X', f);
    spin(3);
    printf("%c", fgetc(f));
    ungetc(fgetc(f), f); /* what is there anyway */
    spin(3);
    int number = 0, n = fscanf(f, "%d", &number);
    spin(1);
    printf("%d %d %c\n", n, number, fgetc(f));
    rewind(f);
    ungetc('0', f);
    spin(2);
    n = fscanf(f, "%d", &number);
    printf("%d %d %d\n", n, number, feof(f) != 0);
    fclose(f);
    f = fopen("lends.tmp", "r");
    fputc('x', f); /* fails */
    spin(2);
    while (fgetc(f) != EOF)
        ;
    spin(1);
    printf("%d %d %d\n", ferror(f) != 0, feof(f) != 0, *own == stdout);
    clearerr(f);
    spin(2);
    printf("%d %d\n", ferror(f) != 0, feof(f) != 0);
    fclose(f);
}

int main(void)
{
    texts();
    calendar();
    errors();
    floating();
    streams();
    spin(3);
    printf("%s %s %s %d\n", home, message, language, lent->tm_mday);
    return 0;
}
