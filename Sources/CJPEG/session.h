// The error handling that all functions here share.
#ifndef LARDER_CJPEG_SESSION_H
#define LARDER_CJPEG_SESSION_H

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "CJPEG.h"

#include <jpeglib.h>
#include <jerror.h>

// libjpeg passes a pointer to `errors` to every callback. `errors` is the first member, so a cast gives a pointer to
// the whole struct.
typedef struct {
  struct jpeg_error_mgr errors;
  jmp_buf escape;
  cjpeg_outcome *outcome;
} session;

// Limits the number of scans while libjpeg reads them.
typedef struct {
  struct jpeg_progress_mgr progress;
  int scans;
} scan_guard;

struct jpeg_error_mgr *session_begin(session *session, cjpeg_outcome *outcome);

void session_limit(j_decompress_ptr source, scan_guard *guard, cjpeg_limits limits);

// Opens `bytes` and reads its header.
void session_open(j_decompress_ptr source, const uint8_t *bytes, size_t count);

#endif
