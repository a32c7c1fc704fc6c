/* Inside the guide (guide.h): the form of an answer, and where an answer stands. */
#ifndef GEN_LOCAL_GUIDE_INT_H
#define GEN_LOCAL_GUIDE_INT_H

#include "craft/prefix.h"
#include "gen/local/guide.h"

enum { FORM_WORDS = 8 };
/* Places of the form's pattern. */
typedef struct FormSet {
    uint64_t at[FORM_WORDS];
} FormSet;

FormSet form_start(void);
bool form_step(FormSet *set, char c);  /* false: no answer goes on so */
bool form_is_over(const FormSet *set); /* the program begins */

typedef enum WalkMode { WALK_FORM, WALK_CRAFT, WALK_FENCE, WALK_DONE } WalkMode;

/* Where an answer stands: a value, as points are. */
typedef struct Walk {
    WalkMode mode;
    uint32_t ticks; /* of the closing fence */
    union {
        FormSet form;
        CraftPoint point;
    } of;
} Walk;

Walk walk_start(void);
/* Tries a byte; `first`: nothing was tried since bytes were accepted. */
bool walk_step(CraftPrefix *prefix, Walk *walk, char c, bool first);

/* The tokens of a vocabulary as a tree of bytes, in depth-first order. */
typedef struct TokenNode {
    uint32_t token; /* UINT32_MAX: none ends here */
    uint32_t end;   /* behind the last node below */
    uint16_t depth; /* from 1 */
    char byte;
} TokenNode;

typedef struct TokenTree {
    VEC(TokenNode) nodes;
    uint32_t deepest;
} TokenTree;

TokenTree token_tree(Arena *arena, const Bpe *bpe);

#endif
