/* The head of every emitted file: types, and the helpers that the rest uses. In: the text of
 * the rest. Out: text. */
#include "emit/c_int.h"

#include <string.h>

typedef struct Helper {
    const char *name, *text;
} Helper;

static const Helper helpers[] = {
#define HELPER(name, text) {name, text},
#include "emit/c_helper.def"
#undef HELPER
};

enum { HELPERS = sizeof helpers / sizeof *helpers };

static const char types[] =
    "typedef struct CraftTensor {\n"
    "    void *data; /* row-major */\n"
    "    int64_t rank, dims[8];\n"
    "} CraftTensor;\n\n"
    "/* count: 1; of a list: its tensors; 0: an optional tensor that is absent */\n"
    "typedef struct CraftOperand {\n"
    "    int64_t count;\n"
    "    const CraftTensor *items;\n"
    "} CraftOperand;\n\n"
    "typedef struct CraftArgs {\n"
    "    const CraftOperand *operands; /* in order; outputs with their shape */\n"
    "    const int64_t *ints;          /* attributes in order: the i64 and bool ones */\n"
    "    const float *floats;          /* attributes in order: the f32 ones */\n"
    "    const int64_t *choices;       /* in order; NULL: the defaults */\n"
    "    const int64_t *chip;          /* cores cube_cores ub l1 l0a l0b l0c l2 */\n"
    "    char *message;                /* why the operands are refused */\n"
    "    size_t message_size;\n"
    "} CraftArgs;\n\n"
    "int craft_entry(const CraftArgs *args);\n\n"
    "typedef struct Gm {\n"
    "    unsigned char *data;\n"
    "    int64_t count, dims[8];\n"
    "} Gm;\n\n"
    "typedef struct GmList {\n"
    "    int64_t count;\n"
    "    const Gm *items;\n"
    "} GmList;\n\n"
    "typedef struct Block {\n"
    "    struct Block *next;\n"
    "    _Alignas(32) unsigned char at[];\n"
    "} Block;\n\n"
    "typedef struct Pool {\n"
    "    Block *first;\n"
    "} Pool;\n\n"
    "typedef struct Buffer {\n"
    "    unsigned char *at;\n"
    "    int64_t pitch;\n"
    "} Buffer;\n\n"
    "typedef struct Tile {\n"
    "    unsigned char *at;\n"
    "    int64_t pitch, rows, cols;\n"
    "} Tile;\n\n";

static const char key_type[] = "typedef struct Key {\n"
                               "    double f;\n"
                               "    int64_t i, at;\n"
                               "} Key;\n\n";

static const char channel_type[] = "typedef struct Channel {\n"
                                   "    Buffer all;\n"
                                   "    int64_t rows, depth, sent[2], taken[2];\n"
                                   "    int senders, takers;\n"
                                   "    mtx_t lock;\n"
                                   "    cnd_t moved;\n"
                                   "} Channel;\n\n";

static bool is_word(char c)
{
    return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') || c == '_';
}

/* The name as a whole word. */
static bool uses(const char *text, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = text; (at = strstr(at, name)); at += n)
        if ((at == text || !is_word(at[-1])) && !is_word(at[n]))
            return true;
    return false;
}

void c_prelude(Buf *out, const Buf *body)
{
    bool used[HELPERS] = {0};
    for (size_t i = HELPERS; i-- > 0;) {
        used[i] = uses(body->at, helpers[i].name);
        for (size_t k = i + 1; k < HELPERS && !used[i]; k++)
            used[i] = used[k] && uses(helpers[k].text, helpers[i].name);
    }
    bool channels = uses(body->at, "Channel");
    buf_puts(out, "#include <math.h>\n#include <stdint.h>\n#include <stdio.h>\n"
                  "#include <stdlib.h>\n#include <string.h>\n");
    buf_puts(out, channels ? "#include <threads.h>\n" : "");
    buf_puts(out, "#ifdef _OPENMP\n#include <omp.h>\n#endif\n\n");
    buf_puts(out, types);
    buf_puts(out, uses(body->at, "compare_keys") ? key_type : "");
    buf_puts(out, channels ? channel_type : "");
    for (size_t i = 0; i < HELPERS; i++)
        if (used[i])
            buf_printf(out, "%s\n", helpers[i].text);
}
