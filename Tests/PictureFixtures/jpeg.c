#include "PictureFixtures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

uint8_t *fixture_encode(const fixture_jpeg *fixture, const uint8_t *samples, size_t *count) {
  struct jpeg_compress_struct target;
  struct jpeg_error_mgr errors;
  unsigned char *bytes = NULL;
  unsigned long size = 0;
  target.err = jpeg_std_error(&errors);
  jpeg_create_compress(&target);
  target.image_width = (JDIMENSION)fixture->width;
  target.image_height = (JDIMENSION)fixture->height;
  target.input_components = fixture->color_space == JCS_GRAYSCALE ? 1
                            : fixture->color_space >= JCS_CMYK    ? 4
                                                                  : 3;
  target.in_color_space = fixture->color_space == JCS_GRAYSCALE ? JCS_GRAYSCALE
                          : fixture->color_space >= JCS_CMYK    ? JCS_CMYK
                                                                : JCS_RGB;
  jpeg_set_defaults(&target);
  jpeg_set_colorspace(&target, (J_COLOR_SPACE)fixture->color_space);
  jpeg_set_quality(&target, fixture->quality, TRUE);
  if (fixture->across > 0) {
    target.comp_info[0].h_samp_factor = fixture->across;
    target.comp_info[0].v_samp_factor = fixture->down;
    if (fixture->color_space == JCS_YCCK) {
      target.comp_info[3].h_samp_factor = fixture->across;
      target.comp_info[3].v_samp_factor = fixture->down;
    }
  }
  target.restart_in_rows = fixture->restart_rows;
  target.arith_code = fixture->arithmetic;
  if (fixture->progressive) jpeg_simple_progression(&target);
  jpeg_mem_dest(&target, &bytes, &size);
  jpeg_start_compress(&target, TRUE);
  size_t stride = (size_t)fixture->width * (size_t)target.input_components;
  for (int y = 0; y < fixture->height; y++) {
    JSAMPROW row = (JSAMPROW)(samples + (size_t)y * stride);
    jpeg_write_scanlines(&target, &row, 1);
  }
  jpeg_finish_compress(&target);
  jpeg_destroy_compress(&target);
  *count = size;
  return bytes;
}

int16_t *fixture_coefficients(const uint8_t *bytes, size_t count, int component, int *across, int *down) {
  struct jpeg_decompress_struct source;
  struct jpeg_error_mgr errors;
  int16_t *values = NULL;
  source.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&source);
  jpeg_mem_src(&source, bytes, count);
  jpeg_read_header(&source, TRUE);
  jvirt_barray_ptr *arrays = jpeg_read_coefficients(&source);
  if (component < source.num_components) {
    *across = (int)source.comp_info[component].width_in_blocks;
    *down = (int)source.comp_info[component].height_in_blocks;
    size_t row_size = (size_t)*across * sizeof(JBLOCK);
    values = malloc(row_size * (size_t)*down);
    for (int y = 0; values && y < *down; y++) {
      JBLOCKARRAY row = source.mem->access_virt_barray((j_common_ptr)&source, arrays[component], (JDIMENSION)y, 1, FALSE);
      memcpy((char *)values + (size_t)y * row_size, row[0], row_size);
    }
  }
  jpeg_destroy_decompress(&source);
  return values;
}
