#include "like.h"

// The output of a compressor.
typedef struct {
  struct jpeg_destination_mgr manager;
  cjpeg_sink sink;
  JOCTET bytes[1 << 16];
} output;

static void begin_part(j_compress_ptr target) {
  output *output = (void *)target->dest;
  output->manager.next_output_byte = output->bytes;
  output->manager.free_in_buffer = sizeof output->bytes;
}

static boolean end_part(j_compress_ptr target) {
  output *output = (void *)target->dest;
  output->sink.write(output->sink.context, output->bytes, sizeof output->bytes);
  begin_part(target);
  return TRUE;
}

static void end_file(j_compress_ptr target) {
  output *output = (void *)target->dest;
  output->sink.write(output->sink.context, output->bytes, sizeof output->bytes - output->manager.free_in_buffer);
}

static void write_to(cjpeg_sink sink, j_compress_ptr target) {
  output *output = target->mem->alloc_large((j_common_ptr)target, JPOOL_PERMANENT, sizeof *output);
  output->sink = sink;
  output->manager.init_destination = begin_part;
  output->manager.empty_output_buffer = end_part;
  output->manager.term_destination = end_file;
  target->dest = &output->manager;
}

static void encode(session *session, const void *order) {
  const cjpeg_encoding *encoding = order;
  j_compress_ptr target = &session->target;
  jpeg_create_compress(target);
  const bool has_like = encoding->like.count > 0;
  if (has_like) {
    session_open(session, encoding->like);
    like_start(&session->source, target);
    clamp_tables(target);
    if (encoding->transposed) like_transposed(target);
    if (encoding->has_new_detail) raise_quality(target);
  }
  if (encoding->color_space != cjpeg_stored) {
    target->in_color_space = (J_COLOR_SPACE)encoding->color_space;
    target->input_components = encoding->channels;
  }
  // The rows of `next` have as many bytes as Swift says.
  if (target->input_components != encoding->channels) ERREXIT(target, JERR_BAD_IN_COLORSPACE);
  if (!has_like) jpeg_set_defaults(target);
  target->image_width = encoding->width;
  target->image_height = encoding->height;
  like_chroma(target, encoding->chroma);
  like_quality(target, encoding->quality);
  if (encoding->progressive || session->source.progressive_mode) {
    jpeg_simple_progression(target);
    coefficients_pack((j_common_ptr)target, &session->written, encoding->like.memory);
  }
  write_to(encoding->sink, target);
  jpeg_start_compress(target, TRUE);
  JSAMPARRAY row = target->mem->alloc_sarray((j_common_ptr)target, JPOOL_IMAGE,
                                             encoding->width * (JDIMENSION)encoding->channels, 1);
  for (uint32_t y = 0; y < encoding->height; y++) {
    if (!encoding->next(encoding->context, row[0], 1)) ERREXIT1(target, JERR_OUT_OF_MEMORY, 0);
    jpeg_write_scanlines(target, row, 1);
  }
  jpeg_finish_compress(target);
}

void cjpeg_encode(const cjpeg_encoding *encoding, cjpeg_outcome *outcome) {
  session session = {.scans = 0};
  session_run(&session, encode, encoding, outcome);
  session_close(&session);
}

static void cut(session *session, const void *order) {
  const cjpeg_crop *crop = order;
  j_decompress_ptr source = &session->source;
  j_compress_ptr target = &session->target;
  jvirt_barray_ptr arrays[MAX_COMPONENTS];
  session_open(session, crop->file);
  jpeg_create_compress(target);
  if (crop->progressive || jpeg_has_multiple_scans(source)) {
    coefficients_pack((j_common_ptr)source, &session->read, crop->file.memory);
    jpeg_read_coefficients(source);
  } else {
    coefficients_stream(source, &session->read);
    // In buffered-image mode, the caller decides when libjpeg reads. With raw data, libjpeg does not upsample.
    source->buffered_image = TRUE;
    source->raw_data_out = TRUE;
    jpeg_start_decompress(source);
  }
  coefficients_lend(source, &session->read, crop->region, target, arrays);
  like_start(source, target);
  target->image_width = crop->region.width;
  target->image_height = crop->region.height;
  if (crop->progressive) jpeg_simple_progression(target);
  write_to(crop->sink, target);
  jpeg_write_coefficients(target, arrays);
  jpeg_finish_compress(target);
  jpeg_finish_decompress(source);
}

void cjpeg_cut(const cjpeg_crop *crop, cjpeg_outcome *outcome) {
  session session = {.scans = 0};
  session_run(&session, cut, crop, outcome);
  session_close(&session);
}
