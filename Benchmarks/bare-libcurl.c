// What libcurl itself can do: asks for each URL of a list once, N at a time on one thread, and throws away
// what comes; with "304" as third argument every request carries If-None-Match: *, so that a static origin
// answers without a body. Prints answers, seconds and processor seconds.
//   cc -O2 Benchmarks/bare-libcurl.c -lcurl -o bare && ./bare URLS N [304]
#define _GNU_SOURCE
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>

static int set;
static long due = -1;
static unsigned char known[65536];
static double now(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}
static size_t drop(char *bytes, size_t size, size_t count, void *context) {
  (void)bytes, (void)context;
  return size * count;
}
static int on_socket(CURL *easy, curl_socket_t socket, int what, void *context, void *own) {
  (void)easy, (void)context, (void)own;
  struct epoll_event event = {.data.fd = socket};
  if (what == CURL_POLL_REMOVE) return 0;  // An idle connection is never ready.
  event.events = (what & CURL_POLL_IN ? EPOLLIN : 0) | (what & CURL_POLL_OUT ? EPOLLOUT : 0);
  if (known[socket] == what) return 0;
  epoll_ctl(set, known[socket] ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, socket, &event);
  known[socket] = (unsigned char)what;
  return 0;
}
static int on_timer(CURLM *multi, long milliseconds, void *context) {
  (void)multi, (void)context;
  due = milliseconds;
  return 0;
}

int main(int argc, char **argv) {
  if (argc < 3) return 64;
  FILE *file = fopen(argv[1], "r");
  if (!file) return 66;
  char **urls = NULL, *line = NULL;
  size_t count = 0, room = 0, started = 0, room_of_line = 0;
  while (getline(&line, &room_of_line, file) > 0) {
    if (count == room) urls = realloc(urls, (room = room * 2 + 1024) * sizeof *urls);
    line[strcspn(line, "\r\n")] = 0;
    urls[count++] = strdup(line);
  }
  int parallel = atoi(argv[2]), running = 0, left;
  long answers = 0, status;
  struct curl_slist *headers = argc > 3 ? curl_slist_append(NULL, "If-None-Match: *") : NULL;
  curl_global_init(CURL_GLOBAL_DEFAULT);
  CURLM *multi = curl_multi_init();
  set = epoll_create1(EPOLL_CLOEXEC);
  curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, on_socket);
  curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, on_timer);
  curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, (long)parallel);
  double began = now(CLOCK_MONOTONIC);
  for (; started < count && started < (size_t)parallel; started++) {
    CURL *easy = curl_easy_init();
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, drop);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(easy, CURLOPT_URL, urls[started]);
    curl_multi_add_handle(multi, easy);
  }
  for (size_t open = started; open;) {
    struct epoll_event ready[128];
    int got = epoll_wait(set, ready, 128, due < 0 ? 1000 : (int)due);
    for (int at = 0; at < got; at++)
      curl_multi_socket_action(multi, ready[at].data.fd,
                               (ready[at].events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
                                   (ready[at].events & ~(unsigned)EPOLLOUT ? CURL_CSELECT_IN : 0),
                               &running);
    if (due == 0 || got == 0) curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running);
    for (CURLMsg *message; (message = curl_multi_info_read(multi, &left));) {
      CURL *easy = message->easy_handle;
      if (message->data.result == CURLE_OK && curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status) == CURLE_OK &&
          status == (argc > 3 ? 304 : 200))
        answers++;
      curl_multi_remove_handle(multi, easy);
      if (started < count) {
        curl_easy_setopt(easy, CURLOPT_URL, urls[started++]);
        curl_multi_add_handle(multi, easy);
      } else {
        open--;
      }
    }
  }
  printf("%ld answers, %.3f s, %.3f s of CPU\n", answers, now(CLOCK_MONOTONIC) - began, now(CLOCK_PROCESS_CPUTIME_ID));
  return answers == (long)count ? 0 : 1;
}
