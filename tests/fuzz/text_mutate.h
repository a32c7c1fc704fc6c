/* Mutation that knows tokens and lines: for fuzzers of texts. A file that includes this has
 * libFuzzer's custom mutator. */
#ifndef TESTS_FUZZ_TEXT_MUTATE_H
#define TESTS_FUZZ_TEXT_MUTATE_H

#include "base/rng.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, unsigned seed);

typedef struct Piece {
    size_t at, len;
} Piece;

static bool is_word(uint8_t c)
{
    return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') || c == '_' || c == '.';
}

/* The token at or after a random place. */
static Piece pick_token(const uint8_t *bytes, size_t size, uint64_t r)
{
    size_t at = size ? r % size : 0;
    while (at < size && (bytes[at] == ' ' || bytes[at] == '\n'))
        at++;
    size_t end = at;
    while (at > 0 && end < size && is_word(bytes[at]) && is_word(bytes[at - 1]))
        at--;
    while (end < size && is_word(bytes[end]))
        end++;
    return (Piece){at, end > at ? end - at : at < size};
}

static Piece pick_line(const uint8_t *bytes, size_t size, uint64_t r)
{
    size_t at = size ? r % size : 0, end = at;
    while (at > 0 && bytes[at - 1] != '\n')
        at--;
    while (end < size && bytes[end] != '\n')
        end++;
    return (Piece){at, end - at + (end < size)};
}

/* Replaces `gone` by a copy of `with`; 0 when there is no room. */
static size_t splice(uint8_t *bytes, size_t size, size_t most, Piece gone, Piece with)
{
    uint8_t copy[512];
    if (with.len > sizeof copy || size - gone.len + with.len > most)
        return 0;
    memcpy(copy, bytes + with.at, with.len);
    memmove(bytes + gone.at + with.len, bytes + gone.at + gone.len, size - gone.at - gone.len);
    memcpy(bytes + gone.at, copy, with.len);
    return size - gone.len + with.len;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, unsigned seed)
{
    uint64_t r[4];
    for (uint64_t i = 0; i < 4; i++)
        r[i] = rng_u64(seed, 5, i);
    if (size == 0)
        return 0;
    Piece token = pick_token(bytes, size, r[1]), line = pick_line(bytes, size, r[1]);
    size_t made = 0;
    switch (r[0] % 8) {
    case 0: made = splice(bytes, size, most, line, (Piece){0, 0}); break;
    case 1:
        made = splice(bytes, size, most, (Piece){line.at, 0}, pick_line(bytes, size, r[2]));
        break;
    case 2: made = splice(bytes, size, most, line, pick_line(bytes, size, r[2])); break;
    case 3: made = splice(bytes, size, most, token, (Piece){0, 0}); break;
    case 4: bytes[r[1] % size] = (uint8_t)r[2]; break;
    default: made = splice(bytes, size, most, token, pick_token(bytes, size, r[2])); break;
    }
    return made ? made : size;
}

#endif
