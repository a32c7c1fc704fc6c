/* What the servers on 127.0.0.1 share. */
#ifndef CMD_LOOPBACK_H
#define CMD_LOOPBACK_H

#include <stdbool.h>
#include <stdint.h>

/* Whether a request's Host is this server: a page elsewhere whose name was turned to this machine
 * says its own. NULL: the request had none. */
bool loopback_is_ours(const char *host, int64_t port);

#endif
