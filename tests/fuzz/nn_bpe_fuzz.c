/* Fuzzes the tokenizer. An input that starts with '{' is a tokenizer.json: it is read or refused.
 * Any other is a text: its tokens spell its composed form, and composing twice changes nothing. */
#include "nn/bpe.h"
#include "nn/unicode.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const Bpe *small_tokenizer(void)
{
    static const Bpe *bpe;
    static const char *const special = "<|end|>";
    if (!bpe) {
        Arena arena = {0};
        Diag diag = diag_make(&arena, "", STR(""));
        Str text = STR("the cat in the hat; load(x[t, 0]) \xC3\xA9t\xC3\xA9 1234\n\n");
        BpeTraining training = {&text, 1, &special, 1, 300};
        bpe = bpe_train(&training, &diag);
        arena_drop(&arena);
    }
    return bpe;
}

static void check_text(const Bpe *bpe, Arena *arena, Str text)
{
    TokenList ids = {0};
    Buf back = {0}, composed = {0}, again = {0};
    bpe_encode(bpe, arena, text, false, &ids);
    bpe_decode(bpe, ids.at, ids.len, true, &back);
    uni_compose(text, &composed);
    uni_compose(buf_view(&composed), &again);
    if (!str_equal(buf_view(&back), buf_view(&composed)) ||
        !str_equal(buf_view(&again), buf_view(&composed)))
        abort();
    bpe_encode(bpe, arena, text, true, &ids);
    buf_free(&back);
    buf_free(&composed);
    buf_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "fuzz", STR(""));
    Str text = {(const char *)data, size};
    if (size && data[0] == '{') {
        Bpe *bpe = bpe_parse(text, &diag);
        if ((bpe != NULL) != diag_ok(&diag))
            abort();
        bpe_close(bpe);
    } else {
        check_text(small_tokenizer(), &arena, text);
    }
    arena_drop(&arena);
    return 0;
}
