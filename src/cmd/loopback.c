/* Requests to 127.0.0.1 that mean it; see loopback.h. */
#include "cmd/loopback.h"

#include <stdio.h>
#include <string.h>

bool loopback_is_ours(const char *host, int64_t port)
{
    static const char *const names[] = {"127.0.0.1", "localhost"};
    char with_port[64];
    for (size_t i = 0; host && i < sizeof names / sizeof *names; i++) {
        snprintf(with_port, sizeof with_port, "%s:%lld", names[i], (long long)port);
        if (!strcmp(host, names[i]) || !strcmp(host, with_port))
            return true;
    }
    return false;
}
