/* acraft serve: the model of --gen local behind an OpenAI-compatible address. */
#include "cmd/cmd.h"
#include "cmd/generator.h"
#include "cmd/serve.h"
#include <stdio.h>

typedef struct ServeArgs {
    GenOptions gen;
    const char *bind;
    int64_t port, queue;
} ServeArgs;

static int serve(CmdArgs *args, ServeArgs *given)
{
    Diag diag = diag_make(&args->arena, "weights", STR(""));
    Generator generator;
    Client *client;
    if (given->port < 0 || given->port > 65535 || given->queue < 1 || given->queue > 10000) {
        fprintf(stderr, "acraft: ports are 0 to 65535, the queue holds 1 to 10000 requests\n");
        return CMD_USAGE;
    }
    given->gen.gen = "local";
    if (!gen_open(&args->arena, &given->gen, args->chip, &generator, &client, &diag))
        return cmd_say(&diag, CMD_USAGE);
    int status = serve_run(&(ServeSpec){.bind = given->bind,
                                        .model = "acraft",
                                        .port = given->port,
                                        .queue = (uint32_t)given->queue,
                                        .generator = &generator});
    generator.close(generator.self);
    return status;
}

int cmd_serve(int argc, char **argv)
{
    ServeArgs a = {.gen = gen_options(), .bind = "127.0.0.1", .port = 8080, .queue = 16};
    const CmdOption options[] = {
        {"port", CMD_I64, &a.port, "PORT", "8080 unless told; 0: any that is free"},
        {"bind", CMD_TEXT, &a.bind, "ADDRESS", "IPv4 address to listen on (127.0.0.1)"},
        {"weights", CMD_TEXT, &a.gen.weights, "FILE", "checkpoint of the model"},
        {"no-mask", CMD_FLAG, &a.gen.no_mask, NULL, "take answers that do not check"},
        {"queue", CMD_I64, &a.queue, "N", "requests that may wait (16)"},
    };
    CmdUsage usage = {
        "serve",
        "[--port PORT] [--weights FILE]",
        "Answers POST /v1/chat/completions, POST /v1/completions and GET /v1/models\n"
        "with the model that --gen local runs, until Ctrl-C. Another program then asks\n"
        "http://127.0.0.1:PORT/v1.",
        "acraft serve --port 8080",
        options,
        sizeof options / sizeof *options,
        0,
        0};
    CmdArgs args = {0};
    int status = CMD_OK;
    if (cmd_read(&usage, argc, argv, &args, &status))
        status = serve(&args, &a);
    cmd_done(&args);
    return status;
}
