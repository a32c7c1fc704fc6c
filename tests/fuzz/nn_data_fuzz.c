/* Fuzzes the readers of training data: packed tokens (input that starts with 'A'), or JSON Lines as rows, as pairs and
 * as graded answers. What is read is whole: tokens of the vocabulary, sequences of a window; else there is an error. */
#include "nn/dpo.h"
#include "nn/group.h"

#include "base/file.h"
#include "nn/trainer.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SEQ = 24 };

static const Bpe *small_tokenizer(void)
{
    static const Bpe *bpe;
    static const char *const special = "<|endoftext|>";
    if (!bpe) {
        Arena arena = {0};
        Diag diag = diag_make(&arena, "", STR(""));
        Str text = STR("load(x[t, 0]) right wrong refused \xC3\xA9t\xC3\xA9 1234\n\n");
        BpeTraining training = {&text, 1, &special, 1, 280};
        bpe = bpe_train(&training, &diag);
        arena_drop(&arena);
    }
    return bpe;
}

static void check(bool holds)
{
    if (!holds)
        abort();
}

static void check_sequence(const NnSequence *s, uint32_t vocab)
{
    uint32_t learnt = 0;
    for (uint32_t i = 0; i < SEQ; i++) {
        check(s->tokens[i] >= 0 && s->tokens[i] < (int32_t)vocab);
        check(s->targets[i] < (int32_t)vocab);
        learnt += s->targets[i] >= 0;
    }
    check(learnt == s->learnt);
}

static void read_lessons(Arena *arena, const char *path, const Bpe *bpe)
{
    Diag diag = diag_make(arena, "fuzz", STR(""));
    NnPairs pairs;
    NnGroups groups;
    bool ok = nn_pairs_read(arena, path, bpe, SEQ, &pairs, &diag);
    check(ok == diag_ok(&diag));
    for (uint32_t i = 0; ok && i < pairs.all.len; i++) {
        check_sequence(&pairs.all.at[i].chosen, bpe_size(bpe));
        check_sequence(&pairs.all.at[i].rejected, bpe_size(bpe));
    }
    Diag other = diag_make(arena, "fuzz", STR(""));
    ok = nn_groups_read(arena, path, bpe, SEQ, &groups, &other);
    check(ok == diag_ok(&other));
    for (uint32_t i = 0; ok && i < groups.all.len; i++)
        check_sequence(&groups.all.at[i].sequence, bpe_size(bpe));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char lines[64], packed[64];
    Arena arena = {0};
    NnData read;
    bool rows = !size || data[0] != 'A';
    const Bpe *bpe = small_tokenizer();
    if (!*lines) {
        snprintf(lines, sizeof lines, "/tmp/acraft-fuzz-%d.jsonl", (int)getpid());
        snprintf(packed, sizeof packed, "/tmp/acraft-fuzz-%d.tokens", (int)getpid());
    }
    const char *path = rows ? lines : packed;
    Diag diag = diag_make(&arena, "fuzz", STR(""));
    check(file_write(path, (Str){(const char *)data, size}, &diag));
    bool ok = nn_data_read(&arena, path, bpe, &read, &diag);
    check(ok == diag_ok(&diag));
    for (uint64_t i = 0; ok && rows && i < read.count; i++)
        check((read.tokens[i] & ~(uint32_t)NN_MASKED) < bpe_size(bpe));
    if (rows)
        read_lessons(&arena, path, bpe);
    unlink(path);
    arena_drop(&arena);
    return 0;
}
