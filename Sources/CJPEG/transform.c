#include <string.h>

#include <turbojpeg.h>

#include "CJPEG.h"

// TurboJPEG catches its own longjmps, so this function needs no setjmp. It fills TurboJPEG's structs, and reports both
// kinds of TurboJPEG's failures in the same way.
void cjpeg_turn(const cjpeg_crop *crop, cjpeg_outcome *outcome) {
  *outcome = (cjpeg_outcome){.failed = true, .out_of_memory = true};
  tjhandle handle = tjInitTransform();
  if (handle == NULL) return;
  const cjpeg_region region = crop->region;
  tjtransform transform = {
      .r = {(int)region.x, (int)region.y, (int)region.width, (int)region.height},
      .op = crop->operation,
      .options = TJXOPT_CROP | TJXOPT_TRIM | TJXOPT_COPYNONE | (crop->progressive ? TJXOPT_PROGRESSIVE : 0),
  };
  unsigned char *made = NULL;
  unsigned long count = 0;
  int status = tjTransform(handle, crop->file.bytes, crop->file.count, 1, &made, &count, &transform, TJFLAG_LIMITSCANS);
  outcome->out_of_memory = false;
  outcome->failed = status != 0 && (tjGetErrorCode(handle) != TJERR_WARNING || count == 0);
  if (status != 0) {
    strncpy(outcome->message, tjGetErrorStr2(handle), sizeof outcome->message - 1);
    outcome->warnings = 1;
  }
  if (!outcome->failed) crop->sink.write(crop->sink.context, made, count);
  tjDestroy(handle);
  tjFree(made);
}
