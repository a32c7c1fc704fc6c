/* Reads C++ text word by word: comments, strings and preprocessor lines are passed over. */
#ifndef TWIN_SCAN_H
#define TWIN_SCAN_H

#include "base/str.h"

typedef struct TwinScanner {
    Str text;
    size_t at;
    uint32_t line;
} TwinScanner;

bool twin_scan_is_word(char c);
/* The character `ahead` of the next; 0 at the end. */
char twin_scan_peek(const TwinScanner *s, size_t ahead);
void twin_scan_char(TwinScanner *s);
/* Past a string or character literal that begins here. */
void twin_scan_quoted(TwinScanner *s);
/* Past white space, comments and preprocessor lines. False at the end. */
bool twin_scan_space(TwinScanner *s);
/* The next word, string (as an empty token) or single character. False at the end. */
bool twin_scan_next(TwinScanner *s, Str *token);

#endif
