#define _GNU_SOURCE
#include "CCurl.h"
#include "library.h"

#include <netinet/in.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/socket.h>
#include <unistd.h>

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
  their_curl_easy_getinfo(easy, CURLINFO_NAMELOOKUP_TIME_T, &outcome->resolved);
  their_curl_easy_getinfo(easy, CURLINFO_CONNECT_TIME_T, &outcome->connected);
  their_curl_easy_getinfo(easy, CURLINFO_APPCONNECT_TIME_T, &outcome->secured);
  their_curl_easy_getinfo(easy, CURLINFO_STARTTRANSFER_TIME_T, &outcome->first_byte);
  their_curl_easy_getinfo(easy, CURLINFO_TOTAL_TIME_T, &outcome->total);
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
