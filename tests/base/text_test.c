/* Slices, the text buffer, numbers as text, UTF-8, JSON strings. */
#include "base/buf.h"
#include "base/rng.h"
#include "tests/t.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

T_TEST(str_compares_and_cuts)
{
    CHECK(str_equal(STR("ab"), STR("ab")));
    CHECK(!str_equal(STR("ab"), STR("abc")));
    CHECK(str_equal((Str){NULL, 0}, STR("")));
    CHECK(str_is(STR("tile"), "tile"));
    CHECK(str_compare(STR("a"), STR("b")) < 0);
    CHECK(str_compare(STR("ab"), STR("a")) > 0);
    CHECK(str_compare(STR(""), (Str){NULL, 0}) == 0);
    CHECK(str_compare(STR("\xff"), STR("a")) > 0);
    CHECK(str_starts(STR("kernel"), "ker") && !str_starts(STR("ke"), "ker"));
    CHECK(str_ends(STR("x.craft"), ".craft") && !str_ends(STR("aft"), ".craft"));
    CHECK_EQ_INT(str_find(STR("hello"), STR("ll")), 2);
    CHECK_EQ_INT(str_find(STR("hello"), STR("lol")), -1);
    CHECK_EQ_INT(str_find(STR("hello"), STR("")), 0);
    CHECK_EQ_INT(str_find((Str){NULL, 0}, STR("a")), -1);
    CHECK_EQ_SLICE(str_slice(STR("hello"), 1, 3), "el");
    CHECK_EQ_SLICE(str_slice(STR("hello"), 3, 99), "lo");
    CHECK_EQ_SLICE(str_slice(STR("hello"), 9, 2), "");
    CHECK_EQ_SLICE(str_trim(STR(" \t a b\r\n")), "a b");
    CHECK_EQ_SLICE(str_trim(STR("  ")), "");
}

static int pieces(Str text, Str *last)
{
    int n = 0;
    while (str_next(&text, ',', last))
        n++;
    return n;
}

T_TEST(str_next_gives_empty_pieces_too)
{
    Str last;
    CHECK_EQ_INT(pieces(STR("a,b,c"), &last), 3);
    CHECK_EQ_SLICE(last, "c");
    CHECK_EQ_INT(pieces(STR("a,"), &last), 2);
    CHECK_EQ_SLICE(last, "");
    CHECK_EQ_INT(pieces(STR(""), &last), 1);
    CHECK_EQ_INT(pieces(STR(",,"), &last), 3);
    CHECK_EQ_INT(pieces((Str){NULL, 0}, &last), 0);
}

T_TEST(str_format_copies_into_the_arena)
{
    Arena arena = {0};
    CHECK_EQ_STR(str_format(&arena, "%s-%d", "tile", 3), "tile-3");
    CHECK_EQ_STR(str_format(&arena, "%s", ""), "");
    Str copy = str_copy(&arena, str_slice(STR("abcdef"), 2, 4));
    CHECK_EQ_STR(copy.at, "cd");
    arena_drop(&arena);
}

static bool reads_as(const char *text, int64_t want)
{
    int64_t got = 0;
    return str_to_i64(str_from(text), &got) && got == want;
}

static bool is_no_integer(const char *text)
{
    int64_t got;
    return !str_to_i64(str_from(text), &got);
}

T_TEST(str_to_i64_knows_its_range)
{
    CHECK(reads_as("0", 0));
    CHECK(reads_as("-0", 0));
    CHECK(reads_as("+17", 17));
    CHECK(reads_as("00000000000000000000000000012", 12));
    CHECK(reads_as("9223372036854775807", INT64_MAX));
    CHECK(reads_as("-9223372036854775808", INT64_MIN));
    CHECK(is_no_integer("9223372036854775808"));
    CHECK(is_no_integer("-9223372036854775809"));
    CHECK(is_no_integer("92233720368547758070"));
    CHECK(is_no_integer(""));
    CHECK(is_no_integer("-"));
    CHECK(is_no_integer("1 "));
    CHECK(is_no_integer(" 1"));
    CHECK(is_no_integer("0x10"));
    CHECK(is_no_integer("--1"));
}

T_TEST(str_to_double_takes_exactly_one_number)
{
    double got = 0;
    CHECK(str_to_double(STR("1.5e3"), &got) && got == 1500);
    CHECK(str_to_double(str_slice(STR("1.25xyz"), 0, 4), &got) && got == 1.25);
    CHECK(str_to_double(STR("-inf"), &got) && got == -INFINITY);
    CHECK(str_to_double(STR("5e-324"), &got) && got == 0x1p-1074);
    CHECK(!str_to_double(STR("1e999"), &got));
    CHECK(!str_to_double(STR(""), &got));
    CHECK(!str_to_double(STR(" 1"), &got));
    CHECK(!str_to_double(STR("1 "), &got));
    CHECK(!str_to_double(STR("1\0"), &got));
    CHECK(!str_to_double(STR("1.2.3"), &got));
}

T_TEST(utf8_edges)
{
    CHECK(str_utf8_valid(STR("")));
    CHECK(str_utf8_valid(STR("a\xC2\x80\xDF\xBF\xE0\xA0\x80\xEF\xBF\xBF\xF0\x90\x80\x80")));
    CHECK(str_utf8_valid(STR("\xF4\x8F\xBF\xBF")));
    CHECK(str_utf8_valid(STR("\xED\x9F\xBF")));
    CHECK(!str_utf8_valid(STR("\x80")));
    CHECK(!str_utf8_valid(STR("\xC0\x80")));
    CHECK(!str_utf8_valid(STR("\xC1\xBF")));
    CHECK(!str_utf8_valid(STR("\xE0\x9F\xBF")));
    CHECK(!str_utf8_valid(STR("\xED\xA0\x80")));
    CHECK(!str_utf8_valid(STR("\xF0\x8F\xBF\xBF")));
    CHECK(!str_utf8_valid(STR("\xF4\x90\x80\x80")));
    CHECK(!str_utf8_valid(STR("\xF8\x88\x80\x80\x80")));
    CHECK(!str_utf8_valid(STR("\xE2\x82")));
    CHECK(!str_utf8_valid(STR("\xE2\x82"
                              "a")));
}

T_TEST(buf_collects)
{
    Buf buf = {0};
    CHECK_EQ_SLICE(buf_view(&buf), "");
    buf_puts(&buf, "ab");
    buf_char(&buf, 'c');
    buf_fill(&buf, '-', 3);
    buf_printf(&buf, "%d/%s", 7, "x");
    CHECK_EQ_STR(buf.at, "abc---7/x");
    buf_clear(&buf);
    CHECK_EQ_STR(buf.at, "");
    for (int i = 0; i < 10000; i++)
        buf_printf(&buf, "%d", i % 10);
    CHECK_EQ_INT(buf.len, 10000);
    CHECK_EQ_INT(strlen(buf.at), 10000);
    Arena arena = {0};
    const char *copy = buf_take(&buf, &arena);
    CHECK(strcmp(copy, buf.at) == 0);
    arena_drop(&arena);
    buf_free(&buf);
    CHECK(buf.at == NULL);
}

static const char *double_text(Buf *buf, double value)
{
    buf_clear(buf);
    buf_double(buf, value);
    return buf->at;
}

T_TEST(buf_double_is_short_and_exact)
{
    Buf buf = {0};
    CHECK_EQ_STR(double_text(&buf, 0.1), "0.1");
    CHECK_EQ_STR(double_text(&buf, 3), "3");
    CHECK_EQ_STR(double_text(&buf, -0.0), "-0");
    CHECK_EQ_STR(double_text(&buf, 1e-6), "1e-06");
    CHECK_EQ_STR(double_text(&buf, 5e-324), "5e-324");
    CHECK_EQ_STR(double_text(&buf, 0.1 + 0.2), "0.30000000000000004");
    CHECK_EQ_STR(double_text(&buf, INFINITY), "inf");
    CHECK_EQ_STR(double_text(&buf, -INFINITY), "-inf");
    CHECK_EQ_STR(double_text(&buf, (double)NAN), "nan");
    for (uint64_t i = 0; i < 200000; i++) {
        uint64_t bits = rng_u64(5, 0, i);
        if (i % 10 == 0)
            bits &= 0x800FFFFFFFFFFFFF; /* subnormal */
        double value;
        memcpy(&value, &bits, sizeof value);
        if (!isnan(value) && strtod(double_text(&buf, value), NULL) != value)
            CHECK_MSG(false, "%a printed as %s", value, buf.at);
    }
    buf_free(&buf);
}

T_TEST(json_strings_are_escaped_and_repaired)
{
    Buf buf = {0};
    buf_json_str(&buf, STR("a\"b\\c\n\t\x01\x7f/\xE2\x82\xAC\xFFz\0y"));
    CHECK_EQ_STR(buf.at, "\"a\\\"b\\\\c\\n\\t\\u0001\\u007f/\xE2\x82\xAC\xEF\xBF\xBDz\\u0000y\"");
    buf_clear(&buf);
    buf_json_double(&buf, (double)NAN);
    buf_char(&buf, ' ');
    buf_json_double(&buf, -INFINITY);
    buf_char(&buf, ' ');
    buf_json_double(&buf, 2.5);
    CHECK_EQ_STR(buf.at, "\"nan\" \"-inf\" 2.5");
    buf_free(&buf);
}

T_TEST(str_distance_counts_edits)
{
    CHECK_EQ_INT(str_distance(STR(""), STR("")), 0);
    CHECK_EQ_INT(str_distance(STR("doctor"), STR("doctor")), 0);
    CHECK_EQ_INT(str_distance(STR("docter"), STR("doctor")), 1);
    CHECK_EQ_INT(str_distance(STR("dcotor"), STR("doctor")), 1);
    CHECK_EQ_INT(str_distance(STR("kitten"), STR("sitting")), 3);
    CHECK_EQ_INT(str_distance(STR(""), STR("abc")), 3);
    CHECK_EQ_INT(str_distance(STR("abc"), (Str){0}), 3);
    char longer[65] = {0};
    CHECK_EQ_INT(str_distance((Str){longer, 65}, (Str){longer, 64}), 65);
}
