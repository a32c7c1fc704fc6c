/* A recogniser of beginnings of Craft programs, byte by byte: what may come next, for a decoder that
 * draws a program token by token.
 *
 *     bytes ─lexer─▶ tokens ─grammar, one pushdown automaton─▶ a point
 *                               ▲
 *                    words: keywords, functions of fn.def, and the names in scope so far
 *
 * A point is a small value: copies of it are tried without undoing anything. What a point holds of open
 * brackets and blocks are indices of frames that never change (a stack that shares its lower part), so
 * that trying a byte costs no memory that must be given back one by one. Names come into scope only when
 * bytes are accepted for good.
 *
 *     CraftPrefix *p = craft_prefix_open();
 *     CraftPoint at = craft_prefix_point(p);
 *     craft_prefix_try(p, &at, 'c');         may a program go on with c? `at` moves on
 *     craft_prefix_accept(p, STR("craft"));  for good
 *
 * Promise: whoever writes a program that the front end accepts is never stopped, if functions but kernels, and
 * declarations, stand before their use, no branch is dead, and names of functions and targets are not put
 * into brackets of their own. What passes need not be accepted: types, sizes and stages of expressions are
 * left to the front end (craft_check_prefix). */
#ifndef CRAFT_PREFIX_H
#define CRAFT_PREFIX_H

#include "base/diag.h"

typedef struct CraftPrefix CraftPrefix;

/* An open bracket or a part of a statement. */
typedef struct PrefixFrame {
    uint8_t kind, flags, state;
    uint8_t items;  /* positional ones that ended */
    uint16_t fn;    /* row of craft_fns that is called, plus 1 */
    uint16_t outer; /* the frame around it */
} PrefixFrame;

typedef struct PrefixBlock {
    uint16_t width; /* of its indentation */
    uint8_t role, flags;
    uint32_t outer;
} PrefixBlock;

typedef struct CraftPoint {
    PrefixFrame frame;
    PrefixBlock block;
    uint64_t classes;     /* of the word that is being read */
    uint16_t lo, hi, len; /* words that begin as it does; its length */
    uint16_t width;       /* of the line's indentation */
    uint16_t fn;          /* function that a following bracket calls, plus 1 */
    uint16_t can;         /* what may follow the operand before */
    uint8_t lex, detail, quote;
    uint8_t op[3], op_len;
    uint8_t depth; /* of open brackets */
    uint8_t have;  /* an operand stands before */
    uint8_t fresh; /* `not` may stand here */
    uint8_t opens; /* the line before was a header: role and flags of its block */
    uint8_t opens_role, opens_flags;
    uint8_t role_next; /* of the decorator before */
    uint8_t free;      /* the word may be new */
    uint8_t small;     /* after a semicolon, or after a header: no block may begin */
} CraftPoint;

CraftPrefix *craft_prefix_open(void);
void craft_prefix_close(CraftPrefix *prefix);
void craft_prefix_reset(CraftPrefix *prefix); /* to the empty text */

CraftPoint craft_prefix_point(const CraftPrefix *prefix);
/* Whether an accepted program may go on with the byte; `at` is undefined where not. */
bool craft_prefix_try(CraftPrefix *prefix, CraftPoint *at, char byte);
/* False, and the bytes up to the wrong one are accepted: no program begins like this. */
bool craft_prefix_accept(CraftPrefix *prefix, Str bytes);
/* At the beginning of a line, with all that a program needs. */
bool craft_prefix_may_end(const CraftPrefix *prefix);
/* At the beginning of a line that begins a statement: all before it are whole. */
bool craft_prefix_at_line(const CraftPrefix *prefix);
/* Forgets frames that only tries have made; call it now and then between tries and accepts. */
void craft_prefix_forget_tries(CraftPrefix *prefix);

#endif
