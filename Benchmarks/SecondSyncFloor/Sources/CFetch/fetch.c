#include "CFetch.h"

#include <curl/curl.h>

static size_t count_bytes(char *bytes, size_t size, size_t count, void *total) {
  (void)bytes;
  *(long *)total += (long)(size * count);
  return size * count;
}

long cfetch(const char *const *urls, int count) {
  long total = 0;
  curl_global_init(CURL_GLOBAL_DEFAULT);
  CURL *handle = curl_easy_init();
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, count_bytes);
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, &total);
  curl_easy_setopt(handle, CURLOPT_FAILONERROR, 1L);
  for (int place = 0; place < count && total >= 0; place++) {
    curl_easy_setopt(handle, CURLOPT_URL, urls[place]);
    if (curl_easy_perform(handle) != CURLE_OK) total = -1;
  }
  curl_easy_cleanup(handle);
  return total;
}
