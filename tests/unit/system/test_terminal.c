/* Text from elsewhere as people see it. */
#include "system/terminal.h"

#include <glib.h>

static void check(const char *text, const char *expected)
{
    char *plain = dome__plain(text);
    g_assert_cmpstr(plain, ==, expected);
    g_assert_true(g_utf8_validate(plain, -1, NULL));
    g_free(plain);
}

static void test_plain(void)
{
    check("", "");
    check("dvec_sum of 'x': 7 %", "dvec_sum of 'x': 7 %");
    check("größe 温度 \xf0\x9d\x94\xbb", "größe 温度 \xf0\x9d\x94\xbb");
    check("a\033[2Jb\007\b\x7f", "a?[2Jb???");
    check("two\nlines\tand\r", "two lines and?");
    check("C1: \xc2\x9b"
          "2J\xc2\x80\xc2\x9f",
          "C1: ?2J??"); /* in UTF-8 */
    check("\x9b"
          "2J",
          "?2J"); /* as a byte */
    check("turned \xe2\x80\xae"
          "fdp.exe",
          "turned ?fdp.exe");
    check("hidden \xe2\x80\x8b\xef\xbb\xbf", "hidden ??");
    check("gr\xf6\xdf"
          "e",
          "gr??e"); /* ISO 8859-1 */
    check("cut \xe6\xb8", "cut ??");
    check("cut \xf0\x9d\x94", "cut ???");
    check("overlong \xc0\x9b", "overlong ??");
    check("half \xed\xa0\x80", "half ???"); /* of a pair of UTF-16 */
    check("good ö beside bad \xff", "good ö beside bad ?");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/terminal/plain", test_plain);
    return g_test_run();
}
