// What libjpeg is asked for, once it is open.
#ifndef LARDER_CJPEG_LIBRARY_H
#define LARDER_CJPEG_LIBRARY_H

#include <stdio.h>

#include <jpeglib.h>
#include <jerror.h>

// The interface that the headers describe: libjpeg's file changes its name with it.
#if JPEG_LIB_VERSION >= 80
#define LIBRARY "libjpeg.so.8"
#else
#define LIBRARY "libjpeg.so.62"
#endif

#define FUNCTIONS(F)                                                                                \
  F(jpeg_alloc_quant_table)                                                                         \
  F(jpeg_consume_input)                                                                             \
  F(jpeg_CreateCompress)                                                                            \
  F(jpeg_CreateDecompress)                                                                          \
  F(jpeg_crop_scanline)                                                                             \
  F(jpeg_destroy_compress)                                                                          \
  F(jpeg_destroy_decompress)                                                                        \
  F(jpeg_finish_compress)                                                                           \
  F(jpeg_finish_decompress)                                                                         \
  F(jpeg_has_multiple_scans)                                                                        \
  F(jpeg_mem_src)                                                                                   \
  F(jpeg_read_coefficients)                                                                         \
  F(jpeg_read_header)                                                                               \
  F(jpeg_read_scanlines)                                                                            \
  F(jpeg_set_colorspace)                                                                            \
  F(jpeg_set_defaults)                                                                              \
  F(jpeg_set_quality)                                                                               \
  F(jpeg_simple_progression)                                                                        \
  F(jpeg_skip_scanlines)                                                                            \
  F(jpeg_start_compress)                                                                            \
  F(jpeg_start_decompress)                                                                          \
  F(jpeg_start_output)                                                                              \
  F(jpeg_std_error)                                                                                 \
  F(jpeg_write_coefficients)                                                                        \
  F(jpeg_write_scanlines)

#define DECLARATION(name) extern __attribute__((visibility("hidden"))) __typeof__(&name) their_##name;
FUNCTIONS(DECLARATION)

// The sequences, and libjpeg's own macros, call them by the names that its documentation has.
#define jpeg_alloc_quant_table their_jpeg_alloc_quant_table
#define jpeg_consume_input their_jpeg_consume_input
#define jpeg_CreateCompress their_jpeg_CreateCompress
#define jpeg_CreateDecompress their_jpeg_CreateDecompress
#define jpeg_crop_scanline their_jpeg_crop_scanline
#define jpeg_destroy_compress their_jpeg_destroy_compress
#define jpeg_destroy_decompress their_jpeg_destroy_decompress
#define jpeg_finish_compress their_jpeg_finish_compress
#define jpeg_finish_decompress their_jpeg_finish_decompress
#define jpeg_has_multiple_scans their_jpeg_has_multiple_scans
#define jpeg_mem_src their_jpeg_mem_src
#define jpeg_read_coefficients their_jpeg_read_coefficients
#define jpeg_read_header their_jpeg_read_header
#define jpeg_read_scanlines their_jpeg_read_scanlines
#define jpeg_set_colorspace their_jpeg_set_colorspace
#define jpeg_set_defaults their_jpeg_set_defaults
#define jpeg_set_quality their_jpeg_set_quality
#define jpeg_simple_progression their_jpeg_simple_progression
#define jpeg_skip_scanlines their_jpeg_skip_scanlines
#define jpeg_start_compress their_jpeg_start_compress
#define jpeg_start_decompress their_jpeg_start_decompress
#define jpeg_start_output their_jpeg_start_output
#define jpeg_std_error their_jpeg_std_error
#define jpeg_write_coefficients their_jpeg_write_coefficients
#define jpeg_write_scanlines their_jpeg_write_scanlines

#endif
