/* C++ text as words and single characters; see scan.h. */
#include "twin/scan.h"

#include <ctype.h>

char twin_scan_peek(const TwinScanner *s, size_t ahead)
{
    return s->at + ahead < s->text.len ? s->text.at[s->at + ahead] : 0;
}

void twin_scan_char(TwinScanner *s)
{
    if (twin_scan_peek(s, 0) == '\n')
        s->line++;
    s->at++;
}

bool twin_scan_is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

static void skip_block_comment(TwinScanner *s)
{
    s->at += 2;
    while (s->at < s->text.len && !(twin_scan_peek(s, 0) == '*' && twin_scan_peek(s, 1) == '/'))
        twin_scan_char(s);
    s->at += 2;
}

static void skip_line(TwinScanner *s, bool joined)
{
    while (s->at < s->text.len && twin_scan_peek(s, 0) != '\n') {
        if (joined && twin_scan_peek(s, 0) == '\\' && twin_scan_peek(s, 1) == '\n')
            twin_scan_char(s);
        twin_scan_char(s);
    }
}

void twin_scan_quoted(TwinScanner *s)
{
    char quote = twin_scan_peek(s, 0);
    s->at++;
    while (s->at < s->text.len && twin_scan_peek(s, 0) != quote && twin_scan_peek(s, 0) != '\n') {
        if (twin_scan_peek(s, 0) == '\\')
            twin_scan_char(s);
        twin_scan_char(s);
    }
    s->at++;
}

bool twin_scan_space(TwinScanner *s)
{
    for (;;) {
        char c = twin_scan_peek(s, 0);
        if (s->at >= s->text.len)
            return false;
        if (isspace((unsigned char)c))
            twin_scan_char(s);
        else if (c == '/' && twin_scan_peek(s, 1) == '*')
            skip_block_comment(s);
        else if (c == '/' && twin_scan_peek(s, 1) == '/')
            skip_line(s, true);
        else if (c == '#')
            skip_line(s, true);
        else
            return true;
    }
}

bool twin_scan_next(TwinScanner *s, Str *token)
{
    if (!twin_scan_space(s))
        return false;
    size_t start = s->at;
    char c = twin_scan_peek(s, 0);
    if (c == '"' || c == '\'') {
        twin_scan_quoted(s);
        *token = STR("");
        return true;
    }
    if (twin_scan_is_word(c))
        while (twin_scan_is_word(twin_scan_peek(s, 0)))
            s->at++;
    else
        twin_scan_char(s);
    *token = str_slice(s->text, start, s->at);
    return true;
}
