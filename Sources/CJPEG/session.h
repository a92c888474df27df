// The error handling that all functions here share, and the objects of libjpeg that must be freed after an error.
#ifndef LARDER_CJPEG_SESSION_H
#define LARDER_CJPEG_SESSION_H

#include <setjmp.h>

#include "coefficients.h"

// libjpeg passes a pointer to `errors` to every callback. `errors` is the first member, so a cast gives a pointer to
// the whole struct. A session of zeroes is valid.
typedef struct session {
  struct jpeg_error_mgr errors;
  jmp_buf escape;
  cjpeg_outcome outcome;
  struct jpeg_progress_mgr progress;
  // The largest number of scans that may be read.
  int scans;
  struct jpeg_decompress_struct source;
  struct jpeg_compress_struct target;
  coefficients read, written;
} session;

// Calls `steps`, which may longjmp, and sets `outcome`. `order` is passed to `steps`.
void session_run(session *session, void (*steps)(struct session *session, const void *order), const void *order,
                 cjpeg_outcome *outcome);

// Creates the source and reads its header. May longjmp.
void session_open(session *session, cjpeg_file file);

// Frees all memory of a session.
void session_close(session *session);

#endif
