/* SHA-256 after FIPS 180-4, and a quick hash for tables. */
#include "base/hash.h"
#include <stdio.h>
#include <string.h>

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t round_constant[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

Sha256 sha256_begin(void)
{
    return (Sha256){.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
                              0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

static uint32_t turn(uint32_t x, int by) { return x >> by | x << (32 - by); }

static void expand(uint32_t w[64], const uint8_t *block)
{
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
               (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    for (int i = 16; i < 64; i++) {
        uint32_t s0 = turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ w[i - 15] >> 3;
        uint32_t s1 = turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
}

static void add_block(Sha256 *sha, const uint8_t *block)
{
    uint32_t w[64], s[8];
    expand(w, block);
    memcpy(s, sha->state, sizeof s);
    for (int i = 0; i < 64; i++) {
        uint32_t s1 = turn(s[4], 6) ^ turn(s[4], 11) ^ turn(s[4], 25);
        uint32_t choose = (s[4] & s[5]) ^ (~s[4] & s[6]);
        uint32_t t1 = s[7] + s1 + choose + round_constant[i] + w[i];
        uint32_t s0 = turn(s[0], 2) ^ turn(s[0], 13) ^ turn(s[0], 22);
        uint32_t major = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += t1;
        s[0] = t1 + s0 + major;
    }
    for (int i = 0; i < 8; i++)
        sha->state[i] += s[i];
}

void sha256_add(Sha256 *sha, const void *bytes, size_t len)
{
    const uint8_t *at = bytes;
    while (len) {
        size_t held = sha->bytes % 64, take = 64 - held < len ? 64 - held : len;
        if (take == 64) {
            add_block(sha, at);
        } else {
            memcpy(sha->block + held, at, take);
            if (held + take == 64)
                add_block(sha, sha->block);
        }
        sha->bytes += take;
        at += take;
        len -= take;
    }
}

void sha256_end(Sha256 *sha, char hex[65])
{
    uint64_t bits = sha->bytes * 8;
    uint8_t tail[72] = {0x80};
    size_t pad = (119 - sha->bytes % 64) % 64 + 1;
    for (int i = 0; i < 8; i++)
        tail[pad + (size_t)i] = (uint8_t)(bits >> (56 - 8 * i));
    sha256_add(sha, tail, pad + 8);
    for (int i = 0; i < 8; i++)
        snprintf(hex + 8 * i, 9, "%08x", sha->state[i]);
}

uint64_t hash64(const void *bytes, size_t len)
{
    const unsigned char *at = bytes;
    uint64_t hash = 0x9E3779B97F4A7C15u ^ len;
    while (len) {
        uint64_t word = 0;
        size_t take = len < 8 ? len : 8;
        memcpy(&word, at, take);
        hash = (hash ^ word) * 0xBF58476D1CE4E5B9u;
        hash ^= hash >> 29;
        at += take;
        len -= take;
    }
    hash *= 0x94D049BB133111EBu;
    return hash ^ hash >> 32;
}
