/* Inside the protocol: the pieces that whole replies and stream events share. */
#ifndef GEN_REMOTE_WIRE_INT_H
#define GEN_REMOTE_WIRE_INT_H

#include "gen/remote/wire.h"
#include <jansson.h>

Str wire_text(Arena *arena, const json_t *value); /* empty when it is no string */
ChatUsage wire_usage(const json_t *reply);
ChatEnd wire_end(const json_t *finish_reason);
const json_t *wire_reasoning(const json_t *message);
/* The server's own error message, or NULL. */
const char *wire_error_of(Arena *arena, const json_t *reply);

#endif
