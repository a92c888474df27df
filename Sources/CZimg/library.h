// What zimg is asked for, once it is open.
#ifndef LARDER_CZIMG_LIBRARY_H
#define LARDER_CZIMG_LIBRARY_H

#include <zimg.h>

// zimg changes this number with its interface.
#define LIBRARY "libzimg.so.2"

#define FUNCTIONS(F)                                                                                \
  F(zimg_filter_graph_build)                                                                        \
  F(zimg_filter_graph_free)                                                                         \
  F(zimg_filter_graph_get_tmp_size)                                                                 \
  F(zimg_filter_graph_process)                                                                      \
  F(zimg_get_api_version)                                                                           \
  F(zimg_graph_builder_params_default)                                                              \
  F(zimg_image_format_default)

#define DECLARATION(name) extern __attribute__((visibility("hidden"))) __typeof__(&name) their_##name;
FUNCTIONS(DECLARATION)

// The rest calls them by the names that zimg's documentation has.
#define zimg_filter_graph_build their_zimg_filter_graph_build
#define zimg_filter_graph_free their_zimg_filter_graph_free
#define zimg_filter_graph_get_tmp_size their_zimg_filter_graph_get_tmp_size
#define zimg_filter_graph_process their_zimg_filter_graph_process
#define zimg_get_api_version their_zimg_get_api_version
#define zimg_graph_builder_params_default their_zimg_graph_builder_params_default
#define zimg_image_format_default their_zimg_image_format_default

#endif
