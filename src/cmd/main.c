/* acraft: finds the subcommand and runs it. The table below is the list of all subcommands. */
#include "cmd/cmd.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const CmdRow rows[] = {
    {"new", "a commented model file to start from", cmd_new},
    {"make", "plan, check and judge a kernel for a model file", cmd_make},
    {"plan", "show the schedules that the planner considers, with their costs", cmd_plan},
    {"tune", "try the choices of a Craft program on the cycle model", cmd_tune},
    {"task", "what a model file asks for, its graph, its right answer", cmd_task},
    {"check", "what is wrong with a Craft file, and what is proved", cmd_check},
    {"build", "lower a Craft file and write an AscendC project", cmd_build},
    {"fmt", "canonical spelling of a Craft file", cmd_fmt},
    {"explain", "what a diagnostic code means", cmd_explain},
    {"doctor", "what this machine has and lacks", cmd_doctor},
    {"prompt", "what a model would be sent for a task", cmd_prompt},
    {"classify", "which category of tasks a text is about", cmd_classify},
    {"bench", "judge a whole suite, resumable, with scores", cmd_bench},
    {"export", "training rows from stored attempts", cmd_export},
    {"data", "make training rows of which every program was run", cmd_data},
    {"train", "train the language model on rows or packed tokens", cmd_train},
    {"judge", "verdicts and rewards for answers, line by line", cmd_judge},
    {"serve", "the local model behind an OpenAI-compatible address", cmd_serve},
    {"report", "stored results as a page, or served live", cmd_report},
    {"run", "run a kernel on simulated cores", cmd_run},
    {"diff", "two versions of a kernel: time, cost per line, findings", cmd_diff},
    {NULL, NULL, NULL},
};

static void out_of_memory(size_t wanted)
{
    fprintf(stderr, "acraft: out of memory (wanted %zu bytes)\n", wanted);
    _exit(CMD_LACKS);
}

/* In the hostile build, ACRAFT_FAIL_ALLOC=n makes the n-th allocation fail. */
static void read_hostile_settings(void)
{
#ifdef ACRAFT_HOSTILE
    const char *nth = getenv("ACRAFT_FAIL_ALLOC");
    if (nth)
        arena_fail_after(strtoul(nth, NULL, 10));
#endif
}

int main(int argc, char **argv)
{
    arena_set_oom_handler(out_of_memory);
    read_hostile_settings();
    int status = cmd_dispatch(rows, argc, argv);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "acraft: cannot write the output: %s\n", strerror(errno));
        return CMD_LACKS;
    }
    return status;
}
