// What libpng is asked for, once it is open.
#ifndef LARDER_CPNG_LIBRARY_H
#define LARDER_CPNG_LIBRARY_H

#include <png.h>

// Releases of 1.6 share an interface; those of another series have another name.
#define LIBRARY "libpng16.so.16"

#define FUNCTIONS(F)                                                                                \
  F(png_access_version_number)                                                                      \
  F(png_create_info_struct)                                                                         \
  F(png_create_read_struct_2)                                                                       \
  F(png_create_write_struct_2)                                                                      \
  F(png_destroy_read_struct)                                                                        \
  F(png_destroy_write_struct)                                                                       \
  F(png_error)                                                                                      \
  F(png_get_bit_depth)                                                                              \
  F(png_get_channels)                                                                               \
  F(png_get_color_type)                                                                             \
  F(png_get_error_ptr)                                                                              \
  F(png_get_image_height)                                                                           \
  F(png_get_image_width)                                                                            \
  F(png_get_io_ptr)                                                                                 \
  F(png_get_mem_ptr)                                                                                \
  F(png_get_PLTE)                                                                                   \
  F(png_get_rowbytes)                                                                               \
  F(png_get_tRNS)                                                                                   \
  F(png_read_end)                                                                                   \
  F(png_read_info)                                                                                  \
  F(png_read_row)                                                                                   \
  F(png_read_update_info)                                                                           \
  F(png_set_benign_errors)                                                                          \
  F(png_set_chunk_malloc_max)                                                                       \
  F(png_set_compression_level)                                                                      \
  F(png_set_expand)                                                                                 \
  F(png_set_filter)                                                                                 \
  F(png_set_gray_to_rgb)                                                                            \
  F(png_set_IHDR)                                                                                   \
  F(png_set_interlace_handling)                                                                     \
  F(png_set_keep_unknown_chunks)                                                                    \
  F(png_set_packing)                                                                                \
  F(png_set_PLTE)                                                                                   \
  F(png_set_read_fn)                                                                                \
  F(png_set_scale_16)                                                                               \
  F(png_set_swap)                                                                                   \
  F(png_set_tRNS)                                                                                   \
  F(png_set_user_limits)                                                                            \
  F(png_set_write_fn)                                                                               \
  F(png_write_end)                                                                                  \
  F(png_write_info)                                                                                 \
  F(png_write_info_before_PLTE)                                                                     \
  F(png_write_row)

#define DECLARATION(name) extern __attribute__((visibility("hidden"))) __typeof__(&name) their_##name;
FUNCTIONS(DECLARATION)

// The sequences call them by the names that libpng's documentation has.
#define png_access_version_number their_png_access_version_number
#define png_create_info_struct their_png_create_info_struct
#define png_create_read_struct_2 their_png_create_read_struct_2
#define png_create_write_struct_2 their_png_create_write_struct_2
#define png_destroy_read_struct their_png_destroy_read_struct
#define png_destroy_write_struct their_png_destroy_write_struct
#define png_error their_png_error
#define png_get_bit_depth their_png_get_bit_depth
#define png_get_channels their_png_get_channels
#define png_get_color_type their_png_get_color_type
#define png_get_error_ptr their_png_get_error_ptr
#define png_get_image_height their_png_get_image_height
#define png_get_image_width their_png_get_image_width
#define png_get_io_ptr their_png_get_io_ptr
#define png_get_mem_ptr their_png_get_mem_ptr
#define png_get_PLTE their_png_get_PLTE
#define png_get_rowbytes their_png_get_rowbytes
#define png_get_tRNS their_png_get_tRNS
#define png_read_end their_png_read_end
#define png_read_info their_png_read_info
#define png_read_row their_png_read_row
#define png_read_update_info their_png_read_update_info
#define png_set_benign_errors their_png_set_benign_errors
#define png_set_chunk_malloc_max their_png_set_chunk_malloc_max
#define png_set_compression_level their_png_set_compression_level
#define png_set_expand their_png_set_expand
#define png_set_filter their_png_set_filter
#define png_set_gray_to_rgb their_png_set_gray_to_rgb
#define png_set_IHDR their_png_set_IHDR
#define png_set_interlace_handling their_png_set_interlace_handling
#define png_set_keep_unknown_chunks their_png_set_keep_unknown_chunks
#define png_set_packing their_png_set_packing
#define png_set_PLTE their_png_set_PLTE
#define png_set_read_fn their_png_set_read_fn
#define png_set_scale_16 their_png_set_scale_16
#define png_set_swap their_png_set_swap
#define png_set_tRNS their_png_set_tRNS
#define png_set_user_limits their_png_set_user_limits
#define png_set_write_fn their_png_set_write_fn
#define png_write_end their_png_write_end
#define png_write_info their_png_write_info
#define png_write_info_before_PLTE their_png_write_info_before_PLTE
#define png_write_row their_png_write_row

#endif
