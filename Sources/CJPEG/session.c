#include "session.h"

// Before 2.0.4, the lossless rotation of a picture could overrun a buffer (CVE-2020-17541).
#if !defined(LIBJPEG_TURBO_VERSION_NUMBER) || LIBJPEG_TURBO_VERSION_NUMBER < 2000004
#error "larder needs the headers of libjpeg-turbo 2.0.4 or later"
#endif

static void leave(j_common_ptr common) {
  session *session = (void *)common->err;
  common->err->format_message(common, session->outcome->message);
  session->outcome->out_of_memory =
      common->err->msg_code == JERR_OUT_OF_MEMORY || common->err->msg_code == JERR_NO_BACKING_STORE;
  longjmp(session->escape, 1);
}

// Whether no scan has begun yet. Before the first scan, stray bytes between the segments are not part of the picture.
static bool is_before_scans(j_common_ptr common) {
  return common->is_decompressor && ((j_decompress_ptr)common)->input_scan_number == 0;
}

// Counts every warning as damage, except for three harmless kinds: about a JFIF version, about an Adobe colour note,
// and about stray bytes before the first scan.
static void note(j_common_ptr common, int level) {
  int code = common->err->msg_code;
  if (level >= 0 || code == JWRN_JFIF_MAJOR || code == JWRN_ADOBE_XFORM) return;
  if (code == JWRN_EXTRANEOUS_DATA && is_before_scans(common)) return;
  session *session = (void *)common->err;
  if (session->outcome->warnings++ == 0) {
    common->err->format_message(common, session->outcome->message);
  }
}

static void stay_silent(j_common_ptr common) { (void)common; }

struct jpeg_error_mgr *session_begin(session *session, cjpeg_outcome *outcome) {
  jpeg_std_error(&session->errors);
  session->errors.error_exit = leave;
  session->errors.emit_message = note;
  session->errors.output_message = stay_silent;
  session->outcome = outcome;
  memset(outcome, 0, sizeof *outcome);
  return &session->errors;
}

static void count_scans(j_common_ptr common) {
  scan_guard *guard = (void *)common->progress;
  if (common->is_decompressor && ((j_decompress_ptr)common)->input_scan_number > guard->scans) {
    ERREXIT(common, JERR_BAD_PROGRESSION);
  }
}

void session_limit(j_decompress_ptr source, scan_guard *guard, cjpeg_limits limits) {
  memset(guard, 0, sizeof *guard);
  guard->progress.progress_monitor = count_scans;
  guard->scans = limits.scans;
  source->progress = &guard->progress;
  source->mem->max_memory_to_use = limits.memory;
}

void session_open(j_decompress_ptr source, const uint8_t *bytes, size_t count) {
  jpeg_mem_src(source, bytes, count);
  jpeg_read_header(source, TRUE);
}
