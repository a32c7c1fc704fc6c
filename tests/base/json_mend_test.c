/* JSON of others: what is whole stays, what no text holds becomes U+FFFD. */
#include "base/json_mend.h"

#include "tests/t.h"

static void check_mends(const char *text, const char *to)
{
    Arena arena = {0};
    Str mended = json_mend(&arena, str_from(text));
    CHECK_MSG(str_is(mended, to), "'%s' became '%.*s'", text, STR_ARG(mended));
    arena_drop(&arena);
}

T_TEST(json_mend_keeps_what_is_whole)
{
    check_mends("", "");
    check_mends("{\"a\": \"\\u0000 \\ud83d\\ude00 \xC3\xA9\"}",
                "{\"a\": \"\\u0000 \\ud83d\\ude00 \xC3\xA9\"}");
    check_mends("\"\\\\ud800\"", "\"\\\\ud800\""); /* a backslash, then letters */
}

T_TEST(json_mend_mends_halves_and_bytes)
{
    check_mends("\"\\ud800\"", "\"\xEF\xBF\xBD\"");
    check_mends("\"\\udc00\\ud800x\"", "\"\xEF\xBF\xBD\xEF\xBF\xBDx\"");
    check_mends("\"\\ud800\\ud83d\\ude00\"", "\"\xEF\xBF\xBD\\ud83d\\ude00\"");
    check_mends("\"\xff\"", "\"\xEF\xBF\xBD\"");
    check_mends("\\u12", "\\u12");
    check_mends("\\", "\\");
}
