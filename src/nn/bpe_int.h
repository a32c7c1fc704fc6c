/* Inside a tokenizer; for bpe*.c only. */
#ifndef NN_BPE_INT_H
#define NN_BPE_INT_H

#include "base/map.h"
#include "nn/bpe.h"

typedef struct BpeMerge {
    uint32_t left, right, id;
} BpeMerge;

typedef struct BpeSpecial {
    Str text;
    uint32_t id;
    bool special; /* left out of decoded text on request */
} BpeSpecial;

/* A hash table from a pair of ids to a number. */
typedef struct PairMap {
    uint64_t *keys; /* left << 32 | right, plus 1; 0: free */
    uint32_t *values;
    uint32_t len, cap;
} PairMap;

struct Bpe {
    Arena arena;
    VEC(Str) tokens; /* by id; bytes, empty where there is none */
    VEC(BpeMerge) merges;
    VEC(BpeSpecial) specials;
    PairMap ranks; /* index in merges */
    uint32_t byte_id[256];
    bool compose; /* NFC first */
};

bool pair_get(const PairMap *map, uint32_t left, uint32_t right, uint32_t *value);
void pair_put(Arena *arena, PairMap *map, uint32_t left, uint32_t right, uint32_t value);

/* The printable character that stands for a byte in tokenizer.json. */
uint32_t bpe_byte_char(uint8_t byte);

#define BPE_SPLIT_PATTERN                                                 \
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| " \
    "?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|"                                      \
    "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"

#endif
