/* Which failures deserve another try, and when. */
#include "gen/remote/client_int.h"

#include <math.h>
#include <strings.h>
#include <time.h>

enum { LONGEST_BACKOFF = 60, LONGEST_AFTER = 3600 };

RetryKind retry_http(long status)
{
    switch (status) {
    case 408: /* request timeout */
    case 409: /* conflict: some servers while a model loads */
    case 425: /* too early */
    case 429: /* too many requests */
    case 500:
    case 502:
    case 503:
    case 504:
    case 529: /* overloaded */ return RETRY_LATER;
    case 401:
    case 402: /* no credit */
    case 403:
    case 404: /* address or model */
    case 405: return RETRY_FINAL;
    default: return status >= 300 && status < 400 ? RETRY_FINAL : RETRY_NO;
    }
}

RetryKind retry_curl(CURLcode code)
{
    switch (code) {
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_URL_MALFORMAT:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_COULDNT_RESOLVE_HOST: return RETRY_FINAL;
    case CURLE_OUT_OF_MEMORY:
    case CURLE_BAD_CONTENT_ENCODING: return RETRY_NO;
    default: return RETRY_LATER;
    }
}

static double clamp_after(double seconds)
{
    return seconds < 0 ? 0 : seconds > LONGEST_AFTER ? LONGEST_AFTER : seconds;
}

/* "Retry-After: 3", "Retry-After: <date>", "retry-after-ms: 250" */
double retry_after_header(Str line)
{
    ptrdiff_t colon = str_find(line, STR(":"));
    if (colon < 0)
        return -1;
    Str name = str_trim(str_slice(line, 0, (size_t)colon));
    Str value = str_trim(str_slice(line, (size_t)colon + 1, line.len));
    bool seconds = name.len == 11 && !strncasecmp(name.at, "retry-after", 11);
    bool millis = name.len == 14 && !strncasecmp(name.at, "retry-after-ms", 14);
    double number;
    if (!seconds && !millis)
        return -1;
    if (str_to_double(value, &number) && isfinite(number))
        return clamp_after(millis ? number / 1000 : number);
    char text[64] = {0};
    if (!seconds || value.len >= sizeof text)
        return -1;
    for (size_t i = 0; i < value.len; i++)
        text[i] = value.at[i];
    time_t when = curl_getdate(text, NULL);
    return when < 0 ? -1 : clamp_after(difftime(when, time(NULL)));
}

double retry_backoff(double first, uint32_t tries, double chance)
{
    double wait = first * pow(2, tries > 16 ? 16 : tries - 1.0);
    wait = wait > LONGEST_BACKOFF ? LONGEST_BACKOFF : wait;
    return wait * (0.75 + 0.5 * chance);
}
