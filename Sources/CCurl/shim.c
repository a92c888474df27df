#define _GNU_SOURCE
#include "CCurl.h"

#include "COpening.h"

#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <unistd.h>

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

COPENING(larder_curl_open, LIBRARY, FUNCTIONS)
COPENING_NOTE("transfers", "required", "Fetches and posts over HTTP", LIBRARY)

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

CURLcode larder_easy_set_long(CURL *easy, CURLoption option, long value) {
  return their_curl_easy_setopt(easy, option, value);
}

CURLcode larder_easy_set_size(CURL *easy, CURLoption option, curl_off_t value) {
  return their_curl_easy_setopt(easy, option, value);
}

CURLcode larder_easy_set_pointer(CURL *easy, CURLoption option, const void *value) {
  return their_curl_easy_setopt(easy, option, value);
}

CURLMcode larder_multi_set_long(CURLM *multi, CURLMoption option, long value) {
  return their_curl_multi_setopt(multi, option, value);
}

CURLcode larder_easy_set_data_callback(CURL *easy, CURLoption option, larder_data_callback callback) {
  return their_curl_easy_setopt(easy, option, callback);
}

CURLcode larder_easy_set_prereq_callback(CURL *easy, larder_prereq_callback callback) {
  return their_curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, callback);
}

CURLcode larder_easy_set_debug_callback(CURL *easy, larder_debug_callback callback) {
  return their_curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, callback);
}

static curl_socket_t open_judged(void *context, curlsocktype purpose, struct curl_sockaddr *address) {
  const struct larder_address_judge *judge = context;
  const struct sockaddr *any = &address->addr;
  const uint8_t *bytes = NULL;
  size_t count = 0;
  (void)purpose;
  if (address->family == AF_INET) {
    bytes = (const uint8_t *)&((const struct sockaddr_in *)any)->sin_addr;
    count = 4;
  } else if (address->family == AF_INET6) {
    bytes = (const uint8_t *)&((const struct sockaddr_in6 *)any)->sin6_addr;
    count = 16;
  }
  if (!judge->callback(bytes, count, judge->context)) return CURL_SOCKET_BAD;
  return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

CURLcode larder_easy_set_address_judge(CURL *easy, struct larder_address_judge *judge) {
  CURLcode result = their_curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, judge);
  if (result != CURLE_OK) return result;
  return their_curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_judged);
}

static int has_unread(curl_socket_t socket) {
  char byte;
  return recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

static int close_watched(void *context, curl_socket_t socket) {
  struct larder_excess_watch *watch = context;
  if (watch->armed != NULL) {
    if (has_unread(socket)) *watch->armed = 1;
    watch->armed = NULL;
  }
  return close(socket);
}

CURLcode larder_easy_set_excess_watch(CURL *easy, struct larder_excess_watch *watch) {
  CURLcode result = their_curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, watch);
  if (result != CURLE_OK) return result;
  return their_curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, close_watched);
}

static curl_socket_t open_socket(CURL *easy) {
  curl_socket_t socket = CURL_SOCKET_BAD;
  their_curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, &socket);
  return socket;
}

int larder_easy_has_unread(CURL *easy) {
  curl_socket_t socket = open_socket(easy);
  return socket != CURL_SOCKET_BAD && has_unread(socket);
}

int larder_easy_is_connected(CURL *easy) { return open_socket(easy) != CURL_SOCKET_BAD; }

void larder_easy_get_outcome(CURL *easy, struct larder_outcome *outcome) {
  long request = 0;
  *outcome = (struct larder_outcome){0};
  their_curl_easy_getinfo(easy, CURLINFO_NUM_CONNECTS, &outcome->connections);
  their_curl_easy_getinfo(easy, CURLINFO_OS_ERRNO, &outcome->error_number);
  their_curl_easy_getinfo(easy, CURLINFO_SSL_VERIFYRESULT, &outcome->verification);
  their_curl_easy_getinfo(easy, CURLINFO_HTTP_CONNECTCODE, &outcome->proxy_status);
  their_curl_easy_getinfo(easy, CURLINFO_PROXY_ERROR, &outcome->proxy_error);
  their_curl_easy_getinfo(easy, CURLINFO_PROXY_SSL_VERIFYRESULT, &outcome->proxy_verification);
  their_curl_easy_getinfo(easy, CURLINFO_REQUEST_SIZE, &request);
  outcome->request = request;
  their_curl_easy_getinfo(easy, CURLINFO_SIZE_DOWNLOAD_T, &outcome->wire);
  their_curl_easy_getinfo(easy, CURLINFO_APPCONNECT_TIME_T, &outcome->secured);
  their_curl_easy_getinfo(easy, CURLINFO_STARTTRANSFER_TIME_T, &outcome->first_byte);
  their_curl_easy_getinfo(easy, CURLINFO_TOTAL_TIME_T, &outcome->total);
}

long larder_easy_get_status(CURL *easy) {
  long status = 0;
  their_curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
  return status;
}

int64_t larder_easy_get_wire(CURL *easy) {
  curl_off_t wire = 0;
  their_curl_easy_getinfo(easy, CURLINFO_SIZE_DOWNLOAD_T, &wire);
  return wire;
}

void *larder_easy_get_private(CURL *easy) {
  char *context = NULL;
  their_curl_easy_getinfo(easy, CURLINFO_PRIVATE, &context);
  return context;
}

CURL *larder_multi_next_done(CURLM *multi, CURLcode *result) {
  CURLMsg *message;
  int left;
  while ((message = their_curl_multi_info_read(multi, &left)) != NULL) {
    if (message->msg == CURLMSG_DONE) {
      *result = message->data.result;
      return message->easy_handle;
    }
  }
  return NULL;
}

void larder_name_thread(const char *name) { pthread_setname_np(pthread_self(), name); }
