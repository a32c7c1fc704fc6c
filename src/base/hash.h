/* SHA-256 for content addresses, a quick 64-bit hash for tables. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include "base/str.h"

typedef struct Sha256 {
    uint32_t state[8];
    uint64_t bytes;
    uint8_t block[64];
} Sha256;

Sha256 sha256_begin(void);
void sha256_add(Sha256 *sha, const void *bytes, size_t len);
/* 64 lower-case hexadecimal digits and a terminating zero. */
void sha256_end(Sha256 *sha, char hex[65]);
uint64_t hash64(const void *bytes, size_t len);

#endif
