#ifndef CCURL_H
#define CCURL_H

#include <curl/curl.h>
#include <stdint.h>

// libcurl is opened when it is first needed. It depends on thirty other libraries, and loading all of them takes a
// third of the program's start-up time.

// Opens libcurl unless it is open already. Any thread may call this. Returns NULL, or the error message if libcurl
// cannot be opened.
const char *larder_curl_open(void);
// The error message if libcurl could not be opened. NULL if it was opened, or was not needed yet.
const char *larder_curl_failure(void);

// The functions of libcurl that larder calls, with similar names. A function that makes an object opens libcurl if
// necessary, and returns NULL if libcurl cannot be opened. In this case, the functions that return error messages
// return the error message of larder_curl_open.
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
// Waits until a socket is ready, a timer of libcurl expires, or another thread calls larder_multi_wakeup, but at most
// for the given number of milliseconds.
void larder_multi_poll(CURLM *multi, int milliseconds);
// Ends the current call of larder_multi_poll, or the next call if there is none. Any thread may call this.
CURLMcode larder_multi_wakeup(CURLM *multi);
const char *larder_multi_strerror(CURLMcode code);
struct curl_slist *larder_slist_append(struct curl_slist *list, const char *line);
void larder_slist_free(struct curl_slist *list);
CURLU *larder_url_init(void);
void larder_url_cleanup(CURLU *url);
CURLUcode larder_url_set(CURLU *url, CURLUPart part, const char *text);
// The caller must free `*text` with larder_curl_free.
CURLUcode larder_url_get(CURLU *url, CURLUPart part, unsigned flags, char **text);
const char *larder_url_strerror(CURLUcode code);
void larder_curl_free(char *text);

// Swift cannot call variadic functions. So there is a function for each type of argument.

// Sets a number or a switch (CURLOPTTYPE_LONG).
CURLcode larder_easy_set_long(CURL *easy, CURLoption option, long value);
// Sets a size (CURLOPTTYPE_OFF_T).
CURLcode larder_easy_set_size(CURL *easy, CURLoption option, curl_off_t value);
// Sets a string, a list or a context pointer (CURLOPTTYPE_OBJECTPOINT).
CURLcode larder_easy_set_pointer(CURL *easy, CURLoption option, const void *value);
// Sets a number or a switch of a multi handle.
CURLMcode larder_multi_set_long(CURLM *multi, CURLMoption option, long value);

// Called with a piece of a body, or with one header line. Returns the number of bytes that it accepted.
typedef size_t (*larder_data_callback)(char *bytes, size_t size, size_t count, void *context);
// Called before a connection is opened. Returns 1 to open it, and 0 to refuse it. `address` has `count` bytes in
// network byte order: 4 for IPv4, 16 for IPv6, and none for any other kind of address.
typedef int (*larder_address_callback)(const uint8_t *address, size_t count, void *context);
// Called before a request is sent on a new or reused connection. `peer` is the address of the other side as text.
typedef int (*larder_prereq_callback)(void *context, char *peer, char *local, int peer_port, int local_port);
// Called with the data and messages of a transfer that has the option CURLOPT_VERBOSE.
typedef int (*larder_debug_callback)(CURL *easy, curl_infotype type, char *text, size_t count, void *context);

// In C, a pointer to a function is not a pointer to data. So there are separate functions to set callbacks.
CURLcode larder_easy_set_data_callback(CURL *easy, CURLoption option, larder_data_callback callback);
CURLcode larder_easy_set_prereq_callback(CURL *easy, larder_prereq_callback callback);
CURLcode larder_easy_set_debug_callback(CURL *easy, larder_debug_callback callback);

// A callback that allows or refuses addresses, and its context. It must exist as long as the handle that uses it.
struct larder_address_judge {
  larder_address_callback callback;
  void *context;
};
// Makes libcurl ask a judge before it opens a socket. This is written in C because struct curl_sockaddr may be followed
// by more bytes than its declaration says, and Swift has no such type.
CURLcode larder_easy_set_address_judge(CURL *easy, struct larder_address_judge *judge);

// The context of a callback that checks a socket for unread bytes before libcurl closes it. libcurl does not report
// bytes after the end of a response. If `armed` is not NULL and there are unread bytes, the callback sets the flag
// `*armed` to 1. After that, it sets `armed` to NULL. This is used only on the transfer thread.
struct larder_excess_watch {
  int *armed;
};
CURLcode larder_easy_set_excess_watch(CURL *easy, struct larder_excess_watch *watch);
// Whether there are unread bytes on the connection of a finished transfer.
int larder_easy_has_unread(CURL *easy);
// Whether the connection of a finished transfer is still open.
int larder_easy_is_connected(CURL *easy);

// The results of a finished transfer.
struct larder_outcome {
  long connections;      // the number of new connections; 0 if the transfer used an open connection
  long error_number;     // errno of a failed connection
  long verification;     // OpenSSL's result of the verification of the certificate
  long proxy_status;     // the status of a proxy's response to CONNECT; 0 if there was none
  long proxy_error;      // the reason for which a proxy failed, one of CURLPX_…
  long proxy_verification;  // OpenSSL's result of the verification of a proxy's certificate
  curl_off_t request;    // the number of sent bytes, including the request to a proxy
  curl_off_t wire;       // the number of received body bytes, before decoding
  curl_off_t secured, first_byte, total;  // microseconds since the start of the transfer
};
void larder_easy_get_outcome(CURL *easy, struct larder_outcome *outcome);

// The status of the response that is being received, which may be an interim response.
long larder_easy_get_status(CURL *easy);

// The number of body bytes that were received so far, before decoding.
int64_t larder_easy_get_wire(CURL *easy);

// The pointer that was set with CURLOPT_PRIVATE.
void *larder_easy_get_private(CURL *easy);

// Removes the next finished transfer from the list of a multi handle. This is written in C because the message is a
// union, and Swift would have to copy it.
CURL *larder_multi_next_done(CURLM *multi, CURLcode *result);

// Sets the name of the calling thread, which ps and perf show. This is written in C because glibc declares the function
// only if _GNU_SOURCE is defined, and Swift does not define it.
void larder_name_thread(const char *name);

#endif
