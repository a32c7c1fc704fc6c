/* Any program as a generator: it gets one JSON object on its standard input for each turn and
 * writes its answer to its standard output, as plain text or as {"answer": "..."}.
 *
 *     {"task": "relu", "sample": 0, "turn": 1, "source": "class Model...", "messages": [...],
 *      "diagnostics": {...}}
 */
#ifndef GEN_EXEC_H
#define GEN_EXEC_H

#include "gen/chat.h"

/* `command` goes to the shell; `seconds`: most for one answer, 0: 600. */
Generator exec_generator(Arena *arena, const char *command, double seconds);

#endif
