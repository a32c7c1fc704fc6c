/* A line on the terminal for work that takes over two seconds: what is being done, for how long, and how long it
 * will take yet where that can be told. Where standard error is no terminal, a line of its own twice a minute.
 *
 *     progress_begin("planning");
 *     progress_step("judging", 3, 15);      judging 3 of 15, 8 s, about 32 s left
 *     progress_end();                       the line is gone
 *
 * There is one such line for the process, as there is one terminal. */
#ifndef CMD_PROGRESS_H
#define CMD_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void progress_begin(const char *what);
/* `what` stays in use; a change of it begins a new estimate. all 0: how much there is to do is not known. */
void progress_step(const char *what, uint32_t done, uint32_t all);
void progress_end(void); /* may be called at any time */

/* Whether a line is to be written: seconds since the work began and since the last line. */
bool progress_due(bool terminal, double since_begin, double since_last);
/* The line itself, cut to `size` bytes: `seconds` since `what` began. */
void progress_text(char *out, size_t size, const char *what, uint32_t done, uint32_t all,
                   double seconds);

#endif
