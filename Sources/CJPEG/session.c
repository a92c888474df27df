#include "session.h"

// Before 2.0.4, the lossless rotation of a picture could overrun a buffer (CVE-2020-17541).
#if !defined(LIBJPEG_TURBO_VERSION_NUMBER) || LIBJPEG_TURBO_VERSION_NUMBER < 2000004
#error "larder needs the headers of libjpeg-turbo 2.0.4 or later"
#endif

static void leave(j_common_ptr common) {
  session *session = (void *)common->err;
  common->err->format_message(common, session->outcome.message);
  session->outcome.failed = true;
  session->outcome.out_of_memory =
      common->err->msg_code == JERR_OUT_OF_MEMORY || common->err->msg_code == JERR_NO_BACKING_STORE;
  longjmp(session->escape, 1);
}

// Counts every warning as damage, except for three harmless kinds: about a JFIF version, about an Adobe colour note,
// and about stray bytes before the first scan, which are not part of the picture.
static void note(j_common_ptr common, int level) {
  session *session = (void *)common->err;
  int code = common->err->msg_code;
  if (level >= 0 || code == JWRN_JFIF_MAJOR || code == JWRN_ADOBE_XFORM) return;
  if (code == JWRN_EXTRANEOUS_DATA && session->source.input_scan_number == 0) return;
  if (session->outcome.warnings++ == 0) common->err->format_message(common, session->outcome.message);
}

static void stay_silent(j_common_ptr common) { (void)common; }

void session_run(session *session, void (*steps)(struct session *session, const void *order), const void *order,
                 cjpeg_outcome *outcome) {
  session->source.err = session->target.err = jpeg_std_error(&session->errors);
  session->errors.error_exit = leave;
  session->errors.emit_message = note;
  session->errors.output_message = stay_silent;
  if (setjmp(session->escape) == 0) steps(session, order);
  *outcome = session->outcome;
}

// Limits the number of scans while libjpeg reads them.
static void count_scans(j_common_ptr common) {
  const session *session = (void *)common->err;
  if (session->source.input_scan_number > session->scans) ERREXIT(common, JERR_BAD_PROGRESSION);
}

void session_open(session *session, cjpeg_file file) {
  j_decompress_ptr source = &session->source;
  jpeg_create_decompress(source);
  session->progress.progress_monitor = count_scans;
  session->scans = file.scans;
  source->progress = &session->progress;
  source->mem->max_memory_to_use = file.memory;
  jpeg_mem_src(source, file.bytes, file.count);
  jpeg_read_header(source, TRUE);
}

void session_close(session *session) {
  jpeg_destroy_compress(&session->target);
  jpeg_destroy_decompress(&session->source);
  coefficients_close(&session->read);
  coefficients_close(&session->written);
}
