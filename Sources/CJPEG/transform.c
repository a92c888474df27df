#include <stdlib.h>
#include <string.h>

#include <turbojpeg.h>

#include "CJPEG.h"

// TurboJPEG catches its own longjmps, so this function needs no setjmp. It fills TurboJPEG's structs, and reports both
// kinds of TurboJPEG's failures in the same way.
bool cjpeg_transform(const uint8_t *bytes, size_t count, int operation, cjpeg_region region,
                     bool progressive, uint8_t **out, size_t *out_count, cjpeg_outcome *outcome) {
  memset(outcome, 0, sizeof *outcome);
  tjhandle handle = tjInitTransform();
  if (handle == NULL) {
    outcome->out_of_memory = true;
    return false;
  }
  tjtransform transform = {
      .r = {(int)region.x, (int)region.y, (int)region.width, (int)region.height},
      .op = operation,
      .options = TJXOPT_CROP | TJXOPT_TRIM | TJXOPT_COPYNONE | (progressive ? TJXOPT_PROGRESSIVE : 0),
  };
  unsigned char *made = NULL;
  unsigned long made_count = 0;
  int status = tjTransform(handle, bytes, count, 1, &made, &made_count, &transform, TJFLAG_LIMITSCANS);
  if (status != 0) {
    strncpy(outcome->message, tjGetErrorStr2(handle), sizeof outcome->message - 1);
    outcome->warnings = 1;
  }
  bool whole = status == 0 || (tjGetErrorCode(handle) == TJERR_WARNING && made_count > 0);
  tjDestroy(handle);
  if (whole) {
    if (made_count > *out_count) *out = malloc(made_count);
    if (*out != NULL) memcpy(*out, made, made_count);
    outcome->out_of_memory = *out == NULL;
    *out_count = made_count;
  }
  tjFree(made);
  return whole && !outcome->out_of_memory;
}
