#define _GNU_SOURCE
#include <locale.h>
#include <string.h>
#include <time.h>
#include "CGlibc.h"

/// The date formats of RFC 9110, section 5.6.7.
///
/// Each is given twice: as strptime reads it, and as strftime writes it. The two forms differ because strptime accepts
/// GMT only in upper case, and rejects a field width such as %04Y. An asctime date has two rows, because its day may
/// begin with a space or with a zero.
static const char *const forms[][2] = {
    {"%a, %d %b %Y %T", "%a, %d %b %04Y %T GMT"},
    {"%A, %d-%b-%y %T", "%A, %d-%b-%y %T GMT"},
    {"%a %b %e %T %Y", "%a %b %e %T %04Y"},
    {"%a %b %d %T %Y", "%a %b %d %T %04Y"},
};

/// The C locale, which is a static object of glibc and is never freed.
static locale_t plain(void) { return newlocale(LC_ALL_MASK, "C", (locale_t)0); }

int larder_read_date(const void *text, size_t count, struct tm *parts) {
  char asked[40], written[40];
  if (count == 0 || count >= sizeof asked || memchr(text, 0, count) != NULL) return -1;
  memcpy(asked, text, count);
  asked[count] = 0;
  for (int form = 0; form < 4; form++) {
    memset(parts, 0, sizeof *parts);
    if (strptime_l(asked, forms[form][0], parts, plain()) == NULL || parts->tm_sec > 60) continue;
    // Write the date again and compare it with the text, because strptime also accepts fewer digits, more spaces and
    // other names.
    if (strftime_l(written, sizeof written, forms[form][1], parts, plain()) == 0) continue;
    if (strcasecmp_l(asked, written, plain()) == 0) return 0;
  }
  return -1;
}

size_t larder_write_date(void *text, size_t size, const char *form, time_t seconds) {
  struct tm parts;
  if (gmtime_r(&seconds, &parts) == NULL) return 0;
  return strftime_l(text, size, form, &parts, plain());
}
