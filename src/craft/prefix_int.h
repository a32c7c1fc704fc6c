/* Inside the recogniser of beginnings (prefix.h): words, frames, and what its two halves call. */
#ifndef CRAFT_PREFIX_INT_H
#define CRAFT_PREFIX_INT_H

#include "craft/ast.h"
#include "craft/prefix.h"

/* What a word may stand for; one word may have several. */
#define PW(n) (UINT64_C(1) << (n))
enum { PREFIX_KEYWORD_BIT = 40 };
#define W_VALUE PW(0)    /* functions that stand in expressions */
#define W_STMT PW(1)     /* functions that are statements */
#define W_COMPACT PW(2)  /* n = compact(...) */
#define W_BUFFER PW(3)   /* a = ub(...) */
#define W_LOOP PW(4)     /* for ... in range(...) */
#define W_SHARE PW(5)    /* part = share(...) */
#define W_HOST PW(6)     /* t = choose(...) */
#define W_FILE PW(7)     /* n = dim(...) */
#define W_STAGE PW(8)    /* with copyin() */
#define W_VAR PW(9)      /* a name in scope that has a value */
#define W_HELPER PW(10)  /* a helper function */
#define W_KERNEL PW(11)  /* a kernel */
#define W_AWAITED PW(12) /* a kernel that was launched and is not there yet */
#define W_DTYPE PW(13)
#define W_CONST PW(14) /* inf nan True False */
#define W_CHIP PW(15)
#define W_NOT PW(16)
#define W_TYPE PW(17)  /* gm out ... */
#define W_RANGE PW(18) /* attributes of ranges */
#define W_FACT PW(19)  /* attributes of chip */
#define W_KEY PW(20)   /* names of arguments */
#define W_AND PW(21)   /* and or */
#define W_IF PW(22)
#define W_ELSE PW(23)
#define W_IN PW(24)
#define W_CRAFT PW(25)
#define W_FOR PW(26)
#define W_WITH PW(27)
#define W_DEF PW(28)
#define W_PASS PW(29)
#define W_RETURN PW(30)
#define W_ASSERT PW(31)
#define W_ELIF PW(32)
#define W_DECOR PW(33)
#define W_LOCAL PW(34) /* a W_VAR of the function at hand */
#define W_KEYWORD PW(PREFIX_KEYWORD_BIT)
#define W_OPERAND (W_VAR | W_VALUE | W_HELPER | W_DTYPE | W_CONST | W_CHIP)

typedef struct PrefixWord {
    Str text;
    uint64_t classes;
    Tok tok;     /* TOK_NAME, or the keyword */
    uint16_t fn; /* row of craft_fns, plus 1 */
} PrefixWord;

enum { PREFIX_FRAMES = 1 << 15, PREFIX_NAME = 256 };

struct CraftPrefix {
    Arena fixed, names;
    VEC(PrefixWord) words; /* in order of their text */
    VEC(PrefixFrame) frames;
    VEC(PrefixBlock) blocks;
    uint32_t frames_kept, blocks_kept;
    CraftPoint at; /* accepted so far */
    bool accepting;
    char name[PREFIX_NAME]; /* the word that is being accepted */
    VEC(Str) pending;       /* names that the statement at hand assigns */
    bool host_seen, version_seen;
    uint32_t kernels, awaited;
};

/* ---- prefix_words.c ---- */

void prefix_words_fixed(CraftPrefix *p);
void prefix_words_add(CraftPrefix *p, Str text, uint64_t classes);
/* Removes these classes from every word; a word that has none left is removed. */
void prefix_words_drop(CraftPrefix *p, uint64_t classes, bool locals_only);
PrefixWord *prefix_words_find(CraftPrefix *p, Str text);

/* ---- prefix_grammar.c ---- */

/* Whether the token may come; the point moves on. `word`: of a NAME or keyword, NULL where it is new. */
bool prefix_token(CraftPrefix *p, CraftPoint *at, Tok tok, const PrefixWord *word);
/* Classes that a word may have here, and whether it may be a new name. */
uint64_t prefix_classes(const CraftPrefix *p, const CraftPoint *at, bool *free);
/* The first token of a line: closes and opens blocks. */
bool prefix_begin_line(CraftPrefix *p, CraftPoint *at);
CraftPoint prefix_first_point(void);

#endif
