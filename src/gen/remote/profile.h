/* Which server and model to ask: from a profile file, the environment, and what is given by hand,
 * the later over the earlier.
 *
 *     {"default": "local",
 *      "models": {"local": {"url": "http://localhost:8000/v1", "model": "qwen3-32b",
 *                           "key_env": "LOCAL_KEY", "temperature": 0.6, "max_tokens": 16384,
 *                           "extra": {"top_k": 20}, "price_prompt": 0.1, "price_answer": 0.4}}}
 *
 * Environment: ACRAFT_URL, ACRAFT_MODEL, ACRAFT_API_KEY; OPENAI_BASE_URL, OPENAI_API_KEY where
 * those are not set. */
#ifndef GEN_REMOTE_PROFILE_H
#define GEN_REMOTE_PROFILE_H

#include "gen/remote/client.h"

typedef struct ProfileWish {
    const char *file;        /* NULL: ~/.config/acraft/models.json, if it is there */
    const char *url, *model; /* NULL: not given; model may name a profile */
    const char *key_file;    /* first line of a file; NULL: not given */
    const char *key_env;     /* name of a variable; NULL: not given */
} ProfileWish;

/* Fills url, key, params, prices of `config`; what is already set in it stays. False with a
 * diagnostic that never shows the key. */
bool profile_find(Arena *arena, const ProfileWish *wish, ClientConfig *config, Diag *diag);

#endif
