/* The progress line. A thread of its own writes it twice a second, so that the seconds run on while the work says
 * nothing; where standard error is no terminal it writes a whole line twice a minute. The thread touches nothing but the line, without memory of its own and with write(2) alone:
 * children that the work forks meanwhile inherit no lock that they would need. */
#include "cmd/progress.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SILENT_SECONDS = 2, PLAIN_SECONDS = 30, COLUMNS = 78 };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t ended;
    pthread_t thread;
    bool running, stop, terminal, shown;
    const char *what;
    uint32_t done, all;
    double begun, since; /* the work as a whole; what is being done now */
    double last;         /* a line was written */
} line = {.lock = PTHREAD_MUTEX_INITIALIZER, .ended = PTHREAD_COND_INITIALIZER};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void put_seconds(char *out, size_t size, double seconds)
{
    long whole = seconds < 1e6 ? (long)(seconds + 0.5) : 1000000;
    if (whole >= 3600)
        snprintf(out, size, "%ld h %02ld min", whole / 3600, whole / 60 % 60);
    else if (whole >= 60)
        snprintf(out, size, "%ld min %02ld s", whole / 60, whole % 60);
    else
        snprintf(out, size, "%ld s", whole);
}

void progress_text(char *out, size_t size, const char *what, uint32_t done, uint32_t all,
                   double seconds)
{
    char count[40] = "", spent[32], left[32] = "";
    put_seconds(spent, sizeof spent, seconds);
    if (all)
        snprintf(count, sizeof count, " %u of %u", done, all);
    if (done && done < all)
        put_seconds(left, sizeof left, seconds * (double)(all - done) / (double)done);
    snprintf(out, size, "%s%s, %s%s%s%s", what, count, spent, *left ? ", about " : "", left,
             *left ? " left" : "");
}

bool progress_due(bool terminal, double since_begin, double since_last)
{
    return terminal ? since_begin >= SILENT_SECONDS : since_last >= PLAIN_SECONDS;
}

/* With the lock held. */
static void write_line(double at)
{
    char text[COLUMNS], padded[COLUMNS + 16];
    progress_text(text, sizeof text, line.what, line.done, line.all, at - line.since);
    int len = line.terminal ? snprintf(padded, sizeof padded, "\r  %-*s", COLUMNS - 2, text)
                            : snprintf(padded, sizeof padded, "acraft: %s\n", text);
    if (write(STDERR_FILENO, padded, (size_t)len) > 0)
        line.shown = line.terminal;
    line.last = at;
}

static void *keep_line(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&line.lock);
    while (!line.stop) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 500000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        int ended = pthread_cond_timedwait(&line.ended, &line.lock, &until);
        double at = now();
        if (ended == ETIMEDOUT && !line.stop &&
            progress_due(line.terminal, at - line.begun, at - line.last))
            write_line(at);
    }
    pthread_mutex_unlock(&line.lock);
    return NULL;
}

void progress_begin(const char *what)
{
    if (line.running)
        return;
    line.terminal = isatty(STDERR_FILENO);
    line.what = what;
    line.done = line.all = 0;
    line.stop = line.shown = false;
    line.begun = line.since = line.last = now();
    line.running = pthread_create(&line.thread, NULL, keep_line, NULL) == 0;
}

void progress_step(const char *what, uint32_t done, uint32_t all)
{
    if (!line.running)
        return;
    pthread_mutex_lock(&line.lock);
    if (strcmp(what, line.what) != 0)
        line.since = now();
    line.what = what;
    line.done = done;
    line.all = all;
    pthread_mutex_unlock(&line.lock);
}

void progress_end(void)
{
    static const char erase[] = "\r\033[K";
    if (!line.running)
        return;
    pthread_mutex_lock(&line.lock);
    line.stop = true;
    pthread_cond_signal(&line.ended);
    pthread_mutex_unlock(&line.lock);
    pthread_join(line.thread, NULL);
    line.running = false;
    if (line.shown && write(STDERR_FILENO, erase, sizeof erase - 1) < 0)
        return; /* nobody is looking */
}
