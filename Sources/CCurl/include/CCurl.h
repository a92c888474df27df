#ifndef CCURL_H
#define CCURL_H

#include <curl/curl.h>
#include <stdint.h>

// libcurl comes with thirty libraries of its own, a third of the time of a start: it is opened when it is first needed.

// Opens it, once a process, from any thread. NULL when it is open, else why not.
const char *larder_curl_open(void);
// Why it could not be opened; NULL where it could, or nobody has asked for it yet.
const char *larder_curl_failure(void);

// libcurl's functions of like names, those that larder calls. A function that makes something
// opens libcurl first, and is NULL where that fails; the error function then describes that
// failure.
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
// Waits until a socket is ready, a timer of libcurl's is due, somebody calls larder_multi_wakeup, or the time is over.
void larder_multi_poll(CURLM *multi, int milliseconds);
// Ends a wait, or the next one, from any thread.
CURLMcode larder_multi_wakeup(CURLM *multi);
const char *larder_multi_strerror(CURLMcode code);
struct curl_slist *larder_slist_append(struct curl_slist *list, const char *line);
void larder_slist_free(struct curl_slist *list);
CURLU *larder_url_init(void);
void larder_url_cleanup(CURLU *url);
CURLUcode larder_url_set(CURLU *url, CURLUPart part, const char *text);
// `*text` is freed by larder_curl_free.
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

// Called with a piece of a body or with one header line; returns how many bytes it took.
typedef size_t (*larder_data_callback)(char *bytes, size_t size, size_t count, void *context);
// Called before each connection with the address, 4 or 16 bytes in network order (0 for no IP); says whether to connect.
typedef int (*larder_address_callback)(const uint8_t *address, size_t count, void *context);
// Called on each connection, new or reused, before the request is sent, with the peer's address as text.
typedef int (*larder_prereq_callback)(void *context, char *peer, char *local, int peer_port, int local_port);
// Called with libcurl's messages about a transfer whose verbosity is on.
typedef int (*larder_debug_callback)(CURL *easy, curl_infotype type, char *text, size_t count, void *context);

// Function pointers are data to no C compiler, so that they need setters of their own.
CURLcode larder_easy_set_data_callback(CURL *easy, CURLoption option, larder_data_callback callback);
CURLcode larder_easy_set_prereq_callback(CURL *easy, larder_prereq_callback callback);
CURLcode larder_easy_set_debug_callback(CURL *easy, larder_debug_callback callback);

// The judge of addresses; must outlive the handle that uses it.
struct larder_address_judge {
  larder_address_callback callback;
  void *context;
};
// Puts a judge before every socket: struct curl_sockaddr is larger than it declares, which Swift cannot express.
CURLcode larder_easy_set_address_judge(CURL *easy, struct larder_address_judge *judge);

// Looks, before a socket is closed, for bytes that came after the response's end: libcurl never tells of them. Points at
// the flag of the transfer that ends now, and is used on the transfer thread only.
struct larder_excess_watch {
  int *armed;
};
CURLcode larder_easy_set_excess_watch(CURL *easy, struct larder_excess_watch *watch);
// Whether bytes wait unread on the connection that a finished transfer leaves open.
int larder_easy_has_unread(CURL *easy);
// Whether a finished transfer leaves its connection open.
int larder_easy_is_connected(CURL *easy);

// Everything worth knowing about a finished transfer, in one crossing from Swift.
struct larder_outcome {
  long connections;      // opened for this transfer; 0 when it found an open one
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

// The bytes of the body that came so far, before they were unpacked.
int64_t larder_easy_get_wire(CURL *easy);

// The context that was set with CURLOPT_PRIVATE.
void *larder_easy_get_private(CURL *easy);

// Takes the next finished transfer from a multi handle; the message is a union, which Swift reads only by copies.
CURL *larder_multi_next_done(CURLM *multi, CURLcode *result);

// Names the calling thread for ps and perf; glibc declares the call for GNU sources only, which Swift does not see.
void larder_name_thread(const char *name);

#endif
