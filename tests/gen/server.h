/* A scripted server for the tests of the client: speaks the chat protocol on loopback, and breaks
 * it in every way that servers do. The model's name in a request picks the behaviour. */
#ifndef TESTS_GEN_SERVER_H
#define TESTS_GEN_SERVER_H

#include <sys/types.h>

typedef struct Server {
    pid_t pid;
    int port;
    int *asked; /* requests so far, shared with the server's process */
    char url[64];
} Server;

Server server_start(void);
void server_stop(Server *server);

#endif
