/* What acraft report and its server share. */
#ifndef CMD_REPORT_H
#define CMD_REPORT_H

#include "base/file.h"
#include "report/report.h"

typedef struct ReportAsk {
    const char *store; /* path */
    const int64_t *runs;
    uint32_t run_count; /* 0: all */
    const uint32_t *ks; /* ended by 0 */
    bool live;
} ReportAsk;

/* The scores of the runs asked for and the page around them. */
bool report_make(Store *store, const ReportAsk *ask, Buf *html, Diag *diag);

/* The page of training runs: directories of `acraft train` (with runs of rounds below them), or curve.jsonl files. */
bool report_training(const NameList *runs, Buf *html, Diag *diag);

/* Serves the page on 127.0.0.1 until interrupted. */
int report_serve(Store *store, const ReportAsk *ask, int64_t port);
/* Serves the page of training runs; a browser asks for it again every five seconds. */
int report_serve_training(const NameList *runs, int64_t port);

#endif
