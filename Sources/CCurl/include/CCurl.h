#ifndef CCURL_H
#define CCURL_H

#include <curl/curl.h>
#include <stdint.h>

// libcurl has thirty dependencies, which would take a third of the start-up time. So it is opened when it is first
// needed.

// Opens libcurl, once in a process; callable from any thread. Returns NULL on success, otherwise the reason for the
// failure.
const char *larder_curl_open(void);
// The reason why libcurl could not be opened; NULL if it was opened, or if no call has needed it yet.
const char *larder_curl_failure(void);

// The functions of libcurl that larder calls, with similar names. A function that makes an object opens libcurl if
// necessary, and returns NULL if that fails. The functions for error texts then return the reason.
CURLcode larder_global_init(void);
const curl_version_info_data *larder_version_info(CURLversion age);
CURL *larder_easy_init(void);
void larder_easy_cleanup(CURL *easy);
const char *larder_easy_strerror(CURLcode code);
CURLM *larder_multi_init(void);
void larder_multi_cleanup(CURLM *multi);
CURLMcode larder_multi_add(CURLM *multi, CURL *easy);
void larder_multi_remove(CURLM *multi, CURL *easy);
void larder_multi_perform(CURLM *multi);
// Waits until a socket is ready, a timer of libcurl expires, another thread calls larder_multi_wakeup, or
// `milliseconds` have passed.
void larder_multi_poll(CURLM *multi, int milliseconds);
// Ends the current larder_multi_poll; if there is none, the next one ends at once. Callable from any thread.
CURLMcode larder_multi_wakeup(CURLM *multi);
const char *larder_multi_strerror(CURLMcode code);
struct curl_slist *larder_slist_append(struct curl_slist *list, const char *line);
void larder_slist_free(struct curl_slist *list);
CURLU *larder_url_init(void);
void larder_url_cleanup(CURLU *url);
CURLUcode larder_url_set(CURLU *url, CURLUPart part, const char *text);
// The caller frees `*text` with larder_curl_free.
CURLUcode larder_url_get(CURLU *url, CURLUPart part, unsigned flags, char **text);
const char *larder_url_strerror(CURLUcode code);
void larder_curl_free(char *text);

// Variadic functions cannot be called from Swift; each wrapper below fixes one argument type.

// Sets a number or a switch (CURLOPTTYPE_LONG).
CURLcode larder_easy_set_long(CURL *easy, CURLoption option, long value);
// Sets a size (CURLOPTTYPE_OFF_T).
CURLcode larder_easy_set_size(CURL *easy, CURLoption option, curl_off_t value);
// Sets a string, a list or a context pointer (CURLOPTTYPE_OBJECTPOINT).
CURLcode larder_easy_set_pointer(CURL *easy, CURLoption option, const void *value);
// Sets a number or a switch of a multi handle.
CURLMcode larder_multi_set_long(CURLM *multi, CURLMoption option, long value);

// Called with a piece of a body or with one header line; returns the number of bytes that it accepted.
typedef size_t (*larder_data_callback)(char *bytes, size_t size, size_t count, void *context);
// Called before each connection; returns whether to connect. `address` has `count` bytes in network order: 4, 16, or
// none if the address is not IP.
typedef int (*larder_address_callback)(const uint8_t *address, size_t count, void *context);
// Called on each connection, new or reused, before the request is sent. `peer` is the other side's address as text.
typedef int (*larder_prereq_callback)(void *context, char *peer, char *local, int peer_port, int local_port);
// Called with libcurl's messages about a transfer that has CURLOPT_VERBOSE set.
typedef int (*larder_debug_callback)(CURL *easy, curl_infotype type, char *text, size_t count, void *context);

// In C, a function pointer is not a data pointer, so the callbacks need setters of their own.
CURLcode larder_easy_set_data_callback(CURL *easy, CURLoption option, larder_data_callback callback);
CURLcode larder_easy_set_prereq_callback(CURL *easy, larder_prereq_callback callback);
CURLcode larder_easy_set_debug_callback(CURL *easy, larder_debug_callback callback);

// A callback that judges addresses, with its context. It must outlive the handle that uses it.
struct larder_address_judge {
  larder_address_callback callback;
  void *context;
};
// Makes libcurl call a judge before it opens a socket. This is in C because struct curl_sockaddr is larger than its
// declaration, which Swift cannot express.
CURLcode larder_easy_set_address_judge(CURL *easy, struct larder_address_judge *judge);

// Checks a socket, before it is closed, for bytes after the end of the response; libcurl does not report such bytes.
// `armed` points to the flag of the transfer that ends now. The check sets the flag to 1 if it finds bytes. Used on
// the transfer thread only.
struct larder_excess_watch {
  int *armed;
};
CURLcode larder_easy_set_excess_watch(CURL *easy, struct larder_excess_watch *watch);
// Whether unread bytes wait on the connection that a finished transfer left open.
int larder_easy_has_unread(CURL *easy);
// Whether a finished transfer left its connection open.
int larder_easy_is_connected(CURL *easy);

// The results of a finished transfer, read in one call from Swift.
struct larder_outcome {
  long connections;      // opened for this transfer; 0 when it reused an open one
  long error_number;     // errno of a failed connection
  long verification;     // OpenSSL's verification result
  long proxy_status;     // the last status of a proxy's answer to CONNECT; 0 without one
  long proxy_error;      // why a proxy let nothing through, one of CURLPX_…
  long proxy_verification;  // OpenSSL's verification result for a proxy
  curl_off_t request;    // bytes of request sent, those to a proxy included
  curl_off_t wire;       // body bytes received, before decoding
  curl_off_t resolved, connected, secured, first_byte, total;  // microseconds from the start
};
void larder_easy_get_outcome(CURL *easy, struct larder_outcome *outcome);

// The bytes of the body received so far, before decoding.
int64_t larder_easy_get_wire(CURL *easy);

// The context that was set with CURLOPT_PRIVATE.
void *larder_easy_get_private(CURL *easy);

// Takes the next finished transfer from a multi handle. This is in C because the message is a union, which Swift can
// read only by copying it.
CURL *larder_multi_next_done(CURLM *multi, CURLcode *result);

// Names the calling thread for ps and perf. This is in C because glibc declares the function only for _GNU_SOURCE,
// which Swift does not define.
void larder_name_thread(const char *name);

#endif
