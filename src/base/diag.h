/* Diagnostics: messages about a user's text. Collected, with a place and a stable code,
 * printed once at the end; library code never prints and never exits.
 *
 *     softmax.craft:12:17: error: 'a' holds 4096 elements, the view asks for 8192 [E031]
 *        12 |             load(a[:8192], x[r, t])
 *           |                  ^~~~~~~~
 *     hint: declare a = ub[f32, 8192], or shorten the view
 */
#ifndef BASE_DIAG_H
#define BASE_DIAG_H

#include "base/buf.h"
#include "base/vec.h"

typedef enum DiagLevel { DIAG_ERROR, DIAG_WARNING, DIAG_NOTE } DiagLevel;

/* A place in a text; lines and columns count from 1, columns in bytes. line 0: no place. */
typedef struct Span {
    uint32_t line, col, width;
} Span;

typedef struct DiagItem {
    DiagLevel level;
    const char *code; /* "E031"; a code is never reused */
    const char *file;
    Str source; /* of that file, for the caret */
    Span at;
    const char *text;
    const char *hint; /* NULL: none */
} DiagItem;

typedef struct Diag {
    Arena *arena;
    const char *file; /* of what is being read now */
    Str source;       /* its text, for the caret; may be empty */
    VEC(DiagItem) items;
    uint32_t errors, warnings;
    uint32_t max_items; /* further ones are only counted; 0 means 200 */
    uint32_t dropped;   /* how many those were */
    bool last_dropped;
} Diag;

Diag diag_make(Arena *arena, const char *file, Str source);
void diag_error(Diag *diag, const char *code, Span at, const char *format, ...) ATTR_PRINTF(4, 5);
void diag_warn(Diag *diag, const char *code, Span at, const char *format, ...) ATTR_PRINTF(4, 5);
void diag_note(Diag *diag, const char *code, Span at, const char *format, ...) ATTR_PRINTF(4, 5);
/* Says how to repair what the last diagnostic named. */
void diag_hint(Diag *diag, const char *format, ...) ATTR_PRINTF(2, 3);
bool diag_ok(const Diag *diag); /* no errors so far */
/* In order of place, errors and warnings alike, notes with what they follow; with the source
 * line and a caret. */
void diag_print(const Diag *diag, Buf *out);
/* A JSON array of objects: level, code, file, line, col, text, hint. */
void diag_json(const Diag *diag, Buf *out);

/* A bug of ours: prints and aborts. Never for bad input. */
ATTR_NORETURN void panic(const char *format, ...) ATTR_PRINTF(1, 2);

#endif
