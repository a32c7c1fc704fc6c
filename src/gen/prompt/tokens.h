/* How many tokens a text has, estimated: split as byte-pair tokenizers of the Qwen and GPT families
 * split before merging, and counted by the usual length of their pieces. */
#ifndef GEN_PROMPT_TOKENS_H
#define GEN_PROMPT_TOKENS_H

#include "base/str.h"

int64_t tokens_estimate(Str text);

#endif
