#include "library.h"

#include "CCurl.h"
#include "COpening.h"

#include <stdbool.h>

#define POINTER(name) __typeof__(&name) their_##name;
FUNCTIONS(POINTER)

#define ENTRY(name) {#name, (void **)&their_##name},
static const copening_function functions[] = {FUNCTIONS(ENTRY)};
COPENING_ONCE(larder_curl_open, LIBRARY, functions)

const char *larder_curl_failure(void) { return larder_curl_open_failure; }

static bool is_open(void) { return larder_curl_open() == NULL; }

CURLcode larder_global_init(void) {
  return is_open() ? their_curl_global_init(CURL_GLOBAL_DEFAULT) : CURLE_FAILED_INIT;
}

const curl_version_info_data *larder_version_info(CURLversion age) {
  return is_open() ? their_curl_version_info(age) : NULL;
}

CURL *larder_easy_init(void) { return is_open() ? their_curl_easy_init() : NULL; }

void larder_easy_cleanup(CURL *easy) { their_curl_easy_cleanup(easy); }

const char *larder_easy_strerror(CURLcode code) {
  return is_open() ? their_curl_easy_strerror(code) : larder_curl_open();
}

CURLM *larder_multi_init(void) { return is_open() ? their_curl_multi_init() : NULL; }

void larder_multi_cleanup(CURLM *multi) { their_curl_multi_cleanup(multi); }

CURLMcode larder_multi_add(CURLM *multi, CURL *easy) { return their_curl_multi_add_handle(multi, easy); }

void larder_multi_remove(CURLM *multi, CURL *easy) { their_curl_multi_remove_handle(multi, easy); }

void larder_multi_perform(CURLM *multi) {
  int running;
  their_curl_multi_perform(multi, &running);
}

void larder_multi_poll(CURLM *multi, int milliseconds) {
  int ready;
  their_curl_multi_poll(multi, NULL, 0, milliseconds, &ready);
}

CURLMcode larder_multi_wakeup(CURLM *multi) { return their_curl_multi_wakeup(multi); }

const char *larder_multi_strerror(CURLMcode code) {
  return is_open() ? their_curl_multi_strerror(code) : larder_curl_open();
}

struct curl_slist *larder_slist_append(struct curl_slist *list, const char *line) {
  return is_open() ? their_curl_slist_append(list, line) : NULL;
}

void larder_slist_free(struct curl_slist *list) {
  if (list != NULL) their_curl_slist_free_all(list);
}

CURLU *larder_url_init(void) { return is_open() ? their_curl_url() : NULL; }

void larder_url_cleanup(CURLU *url) { their_curl_url_cleanup(url); }

CURLUcode larder_url_set(CURLU *url, CURLUPart part, const char *text) {
  return their_curl_url_set(url, part, text, 0);
}

CURLUcode larder_url_get(CURLU *url, CURLUPart part, unsigned flags, char **text) {
  return their_curl_url_get(url, part, text, flags);
}

const char *larder_url_strerror(CURLUcode code) {
  return is_open() ? their_curl_url_strerror(code) : larder_curl_open();
}

void larder_curl_free(char *text) { their_curl_free(text); }

COPENING_NOTE("transfers", "required", "Fetches and posts over HTTP", LIBRARY)
