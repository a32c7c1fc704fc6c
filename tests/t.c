/* The test harness's main(): runs every registered test in a child process, in the order of
 * file and registration, and prints failures and one closing count. */
#include "tests/t.h"
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { T_MAX = 20000, STATUS_FAILED = 1, STATUS_SKIPPED = 77 };
/* On a busy machine a test waits for its processors: so many times its limit it may take by the
 * clock, which ends a test that waits for ever. */
enum { WALL_FACTOR = 6 };

typedef struct Test {
    const char *name, *file;
    TestFunction *function;
} Test;

static Test tests[T_MAX];
static int test_count;
static int failed_checks; /* in the test that runs now, in its own process */
static const Test *running;

void t_register(const char *name, const char *file, TestFunction *function)
{
    if (test_count == T_MAX) {
        fprintf(stderr, "more than %d tests in one binary\n", T_MAX);
        abort();
    }
    tests[test_count++] = (Test){name, file, function};
}

static void print_place(const char *file, int line)
{
    failed_checks++;
    printf("%s:%d: %s: ", file, line, running->name);
}

bool t_check(const char *file, int line, bool held, const char *text)
{
    if (!held) {
        print_place(file, line);
        printf("not so: %s\n", text);
    }
    return held;
}

bool t_check_msg(const char *file, int line, bool held, const char *format, ...)
{
    if (!held) {
        print_place(file, line);
        va_list args;
        va_start(args, format);
        vprintf(format, args);
        va_end(args);
        putchar('\n');
    }
    return held;
}

bool t_check_int(const char *file, int line, const char *text, long long got, long long want)
{
    if (got != want) {
        print_place(file, line);
        printf("%s is %lld, not %lld\n", text, got, want);
    }
    return got == want;
}

static void print_difference(const char *text, Str got, Str want)
{
    size_t at = 0, line = 1, start = 0;
    while (at < got.len && at < want.len && got.at[at] == want.at[at]) {
        if (got.at[at] == '\n') {
            line++;
            start = at + 1;
        }
        at++;
    }
    Str got_line = {got.at + start, strcspn(got.at + start, "\n")};
    Str want_line = {want.at + start, strcspn(want.at + start, "\n")};
    printf("%s differs in line %zu, column %zu\n    got:  %.*s\n    want: %.*s\n", text, line,
           at - start + 1, STR_ARG(got_line), STR_ARG(want_line));
    if (getenv("T_VERBOSE"))
        printf("--- got\n%s\n--- want\n%s\n---\n", got.at, want.at);
}

bool t_check_str(const char *file, int line, const char *text, const char *got, const char *want)
{
    if (!got || !want) {
        if (got != want) {
            print_place(file, line);
            printf("%s is %s, not %s\n", text, got ? got : "NULL", want ? want : "NULL");
        }
        return got == want;
    }
    bool same = strcmp(got, want) == 0;
    if (!same) {
        print_place(file, line);
        print_difference(text, (Str){got, strlen(got)}, (Str){want, strlen(want)});
    }
    return same;
}

bool t_check_slice(const char *file, int line, const char *text, Str got, const char *want)
{
    char *copy = strndup(got.at ? got.at : "", got.len);
    bool same = t_check_str(file, line, text, copy, want);
    free(copy);
    return same;
}

bool t_check_near(const char *file, int line, const char *text, double got, double want,
                  double tolerance)
{
    bool held = (isnan(got) && isnan(want)) || got == want || fabs(got - want) <= tolerance;
    if (!held) {
        print_place(file, line);
        printf("%s is %.17g, not %.17g within %g\n", text, got, want, tolerance);
    }
    return held;
}

static ATTR_NORETURN void end_child(int status)
{
    fflush(stdout);
    exit(status);
}

void t_stop(void) { end_child(STATUS_FAILED); }

void t_skip(const char *why)
{
    printf("%s: %s: skipped: %s\n", running->file, running->name, why);
    end_child(STATUS_SKIPPED);
}

static bool under_debugger(void)
{
    FILE *status = fopen("/proc/self/status", "r");
    if (!status)
        return false;
    char line[256];
    int tracer = 0;
    while (fgets(line, sizeof line, status))
        if (sscanf(line, "TracerPid: %d", &tracer) == 1)
            break;
    fclose(status);
    return tracer != 0;
}

static unsigned time_limit(void)
{
    const char *text = getenv("T_SECONDS");
    if (text)
        return (unsigned)strtoul(text, NULL, 10);
    return under_debugger() ? 0 : 60;
}

/* The soft limit alone: what the test starts may set limits of its own. */
static void limit_processor(unsigned seconds)
{
    struct rlimit limit;
    if (!seconds || getrlimit(RLIMIT_CPU, &limit) != 0)
        return;
    if (limit.rlim_max == RLIM_INFINITY || limit.rlim_max > seconds)
        limit.rlim_cur = seconds;
    setrlimit(RLIMIT_CPU, &limit);
}

static ATTR_NORETURN void run_child(const Test *test, unsigned seconds)
{
    setpgid(0, 0);
    signal(SIGALRM, SIG_DFL);
    signal(SIGXCPU, SIG_DFL);
    limit_processor(seconds);
    alarm(seconds * WALL_FACTOR);
    test->function();
    end_child(failed_checks ? STATUS_FAILED : 0);
}

/* What became of a test: 0, STATUS_FAILED or STATUS_SKIPPED. */
static int judge(const Test *test, int status, unsigned seconds)
{
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) == STATUS_SKIPPED)
        return STATUS_SKIPPED;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
        printf("%s: %s: not done after %u s of processor time\n", test->file, test->name, seconds);
    else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        printf("%s: %s: not done after %u s by the clock\n", test->file, test->name,
               seconds * WALL_FACTOR);
    else if (WIFSIGNALED(status))
        printf("%s: %s: killed by signal %d (%s)\n", test->file, test->name, WTERMSIG(status),
               strsignal(WTERMSIG(status)));
    else
        printf("%s: %s: failed (status %d)\n", test->file, test->name, WEXITSTATUS(status));
    return STATUS_FAILED;
}

static int run_forked(const Test *test, unsigned seconds)
{
    fflush(stdout);
    running = test;
    pid_t child = fork();
    if (child < 0) {
        perror("fork");
        return STATUS_FAILED;
    }
    if (child == 0)
        run_child(test, seconds);
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return STATUS_FAILED;
    kill(-child, SIGKILL); /* what the test left running */
    return judge(test, status, seconds);
}

/* Appends the processor time of a test and of all it started to the file that T_TIMES names. */
static void note_time(const Test *test, double seconds)
{
    const char *path = getenv("T_TIMES");
    FILE *file = path ? fopen(path, "a") : NULL;
    if (!file)
        return;
    fprintf(file, "%.2f %s: %s\n", seconds, test->file, test->name);
    fclose(file);
}

static double seconds_of_children(void)
{
    struct rusage used;
    getrusage(RUSAGE_CHILDREN, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

static int run_here(const Test *test)
{
    running = test;
    failed_checks = 0;
    test->function();
    return failed_checks ? STATUS_FAILED : 0;
}

/* Whether the name contains one of the comma-separated words. */
static bool has_word(const char *name, const char *words)
{
    while (*words) {
        size_t len = strcspn(words, ",");
        if (len && memmem(name, strlen(name), words, len))
            return true;
        words += len + (words[len] == ',');
    }
    return false;
}

static bool is_wanted(const char *name)
{
    const char *filter = getenv("T_FILTER"), *skip = getenv("T_SKIP");
    return (!filter || has_word(name, filter)) && !(skip && has_word(name, skip));
}

int main(void)
{
    bool fork_each = !getenv("T_NOFORK");
    unsigned seconds = time_limit();
    int passed = 0, failed = 0;
    for (int i = 0; i < test_count; i++) {
        if (!is_wanted(tests[i].name))
            continue;
        double before = seconds_of_children();
        int status = fork_each ? run_forked(&tests[i], seconds) : run_here(&tests[i]);
        note_time(&tests[i], seconds_of_children() - before);
        passed += status == 0;
        failed += status == STATUS_FAILED;
    }
    printf("%d passed, %d failed\n", passed, failed);
    return failed ? 1 : 0;
}
