/* Byte-level byte-pair encoding, in the tokenizer.json form of Qwen2 and Qwen3, and training of our
 * own tokenizers, which are written in the same form.
 *
 *     text ─special tokens─▶ pieces ─NFC─▶ ─split─▶ words ─bytes, merges by rank─▶ token ids
 *
 * The split is Qwen2's: contractions, letters with one leading sign, single digits, signs, line ends,
 * blanks. Any bytes can be encoded; decoding gives the NFC form of the text back. A file that asks
 * for anything else (another split, options of special tokens) is refused by name (N004). */
#ifndef NN_BPE_H
#define NN_BPE_H

#include "base/diag.h"

typedef struct Bpe Bpe;
typedef VEC(uint32_t) TokenList;

Bpe *bpe_parse(Str text, Diag *diag); /* NULL: refused */
Bpe *bpe_open(const char *path, Diag *diag);
void bpe_close(Bpe *bpe);
uint32_t bpe_size(const Bpe *bpe);          /* ids are below */
Str bpe_token(const Bpe *bpe, uint32_t id); /* its bytes; empty for an id without token */
bool bpe_special(const Bpe *bpe, Str name, uint32_t *id);

/* Appends to `ids`. Without `specials`, the text of a special token is ordinary text. */
void bpe_encode(const Bpe *bpe, Arena *arena, Str text, bool specials, TokenList *ids);
/* Ids that are no token give nothing. */
void bpe_decode(const Bpe *bpe, const uint32_t *ids, size_t count, bool specials, Buf *out);

typedef struct BpeTraining {
    const Str *texts;
    uint32_t text_count;
    const char *const *specials; /* they get the last ids */
    uint32_t special_count;
    uint32_t size; /* tokens in all; fewer where the texts have no more pairs */
} BpeTraining;
/* The most frequent pair is merged first, of equals the one with the lower ids. */
Bpe *bpe_train(const BpeTraining *training, Diag *diag);
void bpe_print(const Bpe *bpe, Buf *out); /* as tokenizer.json */

/* The next word of Qwen2's split at the front of `text`, in bytes; 0 at the end. */
size_t bpe_split(Str s);

#endif
