/* What a tokenizer asks of Unicode: letters, numbers, white space, and text in composed form (NFC).
 * Bytes that are not UTF-8 count as one character each that is none of these, and stay as they are. */
#ifndef NN_UNICODE_H
#define NN_UNICODE_H

#include "base/buf.h"

enum { UNI_BROKEN = 0x110000 }; /* stands for a byte that is not UTF-8 */

/* The character at the front of s, which is not empty, and its bytes. */
uint32_t uni_decode(Str s, size_t *bytes);
void uni_encode(Buf *out, uint32_t c);
bool uni_is_letter(uint32_t c);
bool uni_is_number(uint32_t c);
bool uni_is_space(uint32_t c);
void uni_compose(Str text, Buf *out); /* NFC */

#endif
