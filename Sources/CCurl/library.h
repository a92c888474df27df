// What libcurl is asked for, once it is open.
#ifndef LARDER_CCURL_LIBRARY_H
#define LARDER_CCURL_LIBRARY_H

#include <curl/curl.h>

#define LIBRARY "libcurl.so.4"

#define FUNCTIONS(F)                                                                                \
  F(curl_easy_cleanup)                                                                              \
  F(curl_easy_getinfo)                                                                              \
  F(curl_easy_init)                                                                                 \
  F(curl_easy_setopt)                                                                               \
  F(curl_easy_strerror)                                                                             \
  F(curl_free)                                                                                      \
  F(curl_global_init)                                                                               \
  F(curl_multi_add_handle)                                                                          \
  F(curl_multi_cleanup)                                                                             \
  F(curl_multi_info_read)                                                                           \
  F(curl_multi_init)                                                                                \
  F(curl_multi_perform)                                                                             \
  F(curl_multi_poll)                                                                                \
  F(curl_multi_remove_handle)                                                                       \
  F(curl_multi_setopt)                                                                              \
  F(curl_multi_strerror)                                                                            \
  F(curl_multi_wakeup)                                                                              \
  F(curl_slist_append)                                                                              \
  F(curl_slist_free_all)                                                                            \
  F(curl_url)                                                                                       \
  F(curl_url_cleanup)                                                                               \
  F(curl_url_get)                                                                                   \
  F(curl_url_set)                                                                                   \
  F(curl_url_strerror)                                                                              \
  F(curl_version_info)

#define DECLARATION(name) extern __attribute__((visibility("hidden"))) __typeof__(&name) their_##name;
FUNCTIONS(DECLARATION)

#endif
