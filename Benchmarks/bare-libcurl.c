// What libcurl itself can do: requests each URL of a list once, N at a time on one thread, and discards the bodies.
//
// The third argument adds work:
//   304         every request carries If-None-Match: *, so that a static origin answers without a body
//   304-fields  each request has its own conditional headers, and every header line of the answer is handed over
//   304-rows    a second thread also writes these lines to the request's row of an SQLite table, 256 rows a
//               transaction: the least that a program must do to renew its stored metadata
//   FOLDER      two threads hash every body with SHA-256 and write it to a file there: the least that a program must do
//               to verify pictures
// With a number FIRST, that many URLs are requested first, and the others once these have been answered. A program must
// do so if its sections list the other URLs.
// With "durable" after it, each file is synced and renamed into one of 256 folders. A further thread syncs these folders
// and writes the URL, digest, length and header fields of each body to a row of an SQLite table, 256 rows a
// transaction: the least that a program must do to survive a crash with every file whole.
//
// CACERT names the certificates to trust. Over TLS, transfers wait for a connection that they can share. Prints
// answers, seconds and processor seconds; making the table is not counted.
//
//   cc -O2 Benchmarks/bare-libcurl.c -lcurl -lcrypto -lsqlite3 -lpthread -o bare
//   [CACERT=…] ./bare URLS N [304|304-fields|304-rows|FOLDER [FIRST [durable]]]
#define _GNU_SOURCE
#include <curl/curl.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int set;
static long due = -1;
static unsigned char known[65536];
static double now(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

// A body that is being written to its file, and its pieces, which are queued for a writer thread.
enum { piece_size = 256 << 10, writers = 2 };
struct body {
  int file, writer, number;
  EVP_MD_CTX *hash;
  struct piece *filling;
  struct answer *answer;
};
struct piece {
  struct piece *next;
  struct body *body;
  size_t count;
  int is_last;
  char bytes[piece_size];
};
static struct queue {
  pthread_mutex_t lock;
  pthread_cond_t filled;
  pthread_t thread;
  struct piece *first, **end;
  int has_ended;
} queues[writers];
static pthread_mutex_t pieces_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t pieces_free = PTHREAD_COND_INITIALIZER;
static struct piece *pieces;
static int made, most = 64;
static const char *folder;
static int has_fields, is_durable;
static void place(struct body *body, const unsigned char *digest);

static struct piece *take_piece(struct body *body) {
  pthread_mutex_lock(&pieces_lock);
  // There are more pieces than bodies, so a full one always becomes free again; the limit avoids touching more memory.
  while (!pieces && made >= most) pthread_cond_wait(&pieces_free, &pieces_lock);
  struct piece *piece = pieces;
  if (piece) pieces = piece->next;
  else made++;
  pthread_mutex_unlock(&pieces_lock);
  if (!piece) piece = malloc(sizeof *piece);
  piece->next = NULL, piece->body = body, piece->count = 0, piece->is_last = 0;
  return piece;
}
static void hand_on(struct piece *piece) {
  struct queue *queue = &queues[piece->body->writer];
  pthread_mutex_lock(&queue->lock);
  *queue->end = piece;
  queue->end = &piece->next;
  pthread_cond_signal(&queue->filled);
  pthread_mutex_unlock(&queue->lock);
}
static size_t keep(char *bytes, size_t size, size_t count, void *context) {
  struct body *body = context;
  for (size_t left = size * count; left;) {
    if (!body->filling) body->filling = take_piece(body);
    struct piece *piece = body->filling;
    size_t part = left < piece_size - piece->count ? left : piece_size - piece->count;
    memcpy(piece->bytes + piece->count, bytes, part);
    piece->count += part, bytes += part, left -= part;
    if (piece->count == piece_size) hand_on(piece), body->filling = NULL;
  }
  return size * count;
}
static void *write_all(void *context) {
  struct queue *queue = context;
  for (;;) {
    pthread_mutex_lock(&queue->lock);
    while (!queue->first && !queue->has_ended) pthread_cond_wait(&queue->filled, &queue->lock);
    struct piece *piece = queue->first;
    queue->first = NULL, queue->end = &queue->first;
    pthread_mutex_unlock(&queue->lock);
    if (!piece) return NULL;
    for (struct piece *next; piece; piece = next) {
      struct body *body = piece->body;
      EVP_DigestUpdate(body->hash, piece->bytes, piece->count);
      if (write(body->file, piece->bytes, piece->count) != (ssize_t)piece->count) perror(folder), exit(73);
      if (piece->is_last) {
        unsigned char digest[EVP_MAX_MD_SIZE];
        EVP_DigestFinal_ex(body->hash, digest, NULL);
        EVP_MD_CTX_free(body->hash);
        if (is_durable) place(body, digest);
        close(body->file), free(body);
      }
      next = piece->next;
      pthread_mutex_lock(&pieces_lock);
      piece->next = pieces, pieces = piece;
      pthread_cond_signal(&pieces_free);
      pthread_mutex_unlock(&pieces_lock);
    }
  }
}

// The table rows that answers renew, and the answers, which are queued for the thread that writes them.
enum { rows_at_once = 256, fields_size = 1000 };
struct answer {
  struct answer *next;
  int row;
  size_t count;
  char fields[fields_size];
  unsigned char digest[32];
};
static struct {
  pthread_mutex_t lock;
  pthread_cond_t filled;
  pthread_t thread;
  struct answer *first, **end;
  int has_ended;
} answered = {.lock = PTHREAD_MUTEX_INITIALIZER, .filled = PTHREAD_COND_INITIALIZER, .end = &answered.first};
static sqlite3 *rows;
static char **addresses;
static int folders[256];
static void demand(int code) {
  if (code != SQLITE_OK && code != SQLITE_DONE) fprintf(stderr, "%s\n", sqlite3_errmsg(rows)), exit(74);
}
static void run_sql(const char *sql) { demand(sqlite3_exec(rows, sql, NULL, NULL, NULL)); }
static void make_rows(char **urls, size_t count, const char *path) {
  demand(sqlite3_open(path, &rows));
  run_sql("PRAGMA synchronous=FULL; CREATE TABLE picture(id INTEGER PRIMARY KEY, url TEXT, fields TEXT, checked INTEGER);"
          "BEGIN");
  sqlite3_stmt *insert;
  demand(sqlite3_prepare_v2(rows, "INSERT INTO picture VALUES(?, ?, zeroblob(300), 0)", -1, &insert, NULL));
  for (size_t row = 0; row < count; row++) {
    sqlite3_bind_int64(insert, 1, (sqlite3_int64)row);
    sqlite3_bind_text(insert, 2, urls[row], -1, SQLITE_STATIC);
    demand(sqlite3_step(insert));
    sqlite3_reset(insert);
  }
  sqlite3_finalize(insert);
  run_sql("COMMIT");
}
static void commit_rows(void) {
  for (int at = 0; is_durable && at < 256; at++) fsync(folders[at]);
  run_sql("COMMIT");
}
// Updates the row of each answer, or inserts a row for each body whose file has its final name.
static void *write_rows(void *context) {
  sqlite3_stmt *statement;
  demand(sqlite3_prepare_v2(rows,
                            is_durable ? "INSERT INTO held(fields, id, url, sha256) VALUES(?, ?, ?, ?)"
                                       : "UPDATE picture SET fields = ?1, checked = ?3 WHERE id = ?2",
                            -1, &statement, NULL));
  for (int waiting = 0;;) {
    pthread_mutex_lock(&answered.lock);
    while (!answered.first && !answered.has_ended) pthread_cond_wait(&answered.filled, &answered.lock);
    struct answer *answer = answered.first;
    answered.first = NULL, answered.end = &answered.first;
    const int has_ended = answered.has_ended;
    pthread_mutex_unlock(&answered.lock);
    for (struct answer *next; answer; answer = next) {
      if (!waiting++) run_sql("BEGIN IMMEDIATE");
      sqlite3_bind_text(statement, 1, answer->fields, (int)answer->count, SQLITE_STATIC);
      sqlite3_bind_int(statement, 2, answer->row);
      if (is_durable) {
        sqlite3_bind_text(statement, 3, addresses[answer->row], -1, SQLITE_STATIC);
        sqlite3_bind_blob(statement, 4, answer->digest, sizeof answer->digest, SQLITE_STATIC);
      } else {
        sqlite3_bind_int64(statement, 3, (sqlite3_int64)time(NULL));
      }
      demand(sqlite3_step(statement));
      sqlite3_reset(statement);
      next = answer->next;
      free(answer);
      if (waiting == rows_at_once) commit_rows(), waiting = 0;
    }
    if (!has_ended) continue;
    if (waiting) commit_rows();
    sqlite3_finalize(statement);
    return context;
  }
}
static void start_table(const char *path) {
  demand(sqlite3_open(path, &rows));
  run_sql("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
          "CREATE TABLE held(id INTEGER PRIMARY KEY, url TEXT, fields TEXT, sha256 BLOB)");
  char name[4096];
  for (int at = 0; at < 256; at++) {
    snprintf(name, sizeof name, "%s/%02x", folder, at);
    mkdir(name, 0755);
    folders[at] = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  }
}

// Makes the buffer for the header lines of an answer.
static struct answer *start_answer(CURL *easy, int row) {
  struct answer *answer = malloc(sizeof *answer);
  answer->next = NULL, answer->row = row, answer->count = 0;
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, answer);
  return answer;
}
static size_t keep_field(char *bytes, size_t size, size_t count, void *context) {
  struct answer *answer = context;
  size_t part = size * count < fields_size - answer->count ? size * count : fields_size - answer->count;
  memcpy(answer->fields + answer->count, bytes, part);
  answer->count += part;
  return size * count;
}
static void end_answer(struct answer *answer) {
  pthread_mutex_lock(&answered.lock);
  const int is_first = answered.first == NULL;
  *answered.end = answer;
  answered.end = &answer->next;
  if (is_first) pthread_cond_signal(&answered.filled);
  pthread_mutex_unlock(&answered.lock);
}

// Syncs a file and renames it, and hands its row on.
static void place(struct body *body, const unsigned char *digest) {
  char partial[4096], name[64];
  snprintf(partial, sizeof partial, "%s/body-%d", folder, body->number);
  snprintf(name, sizeof name, "%d", body->number);
  if (fdatasync(body->file) || renameat(AT_FDCWD, partial, folders[digest[0]], name)) perror(partial), exit(73);
  memcpy(body->answer->digest, digest, sizeof body->answer->digest);
  end_answer(body->answer);
}

struct asked {
  struct curl_slist *fields;
  struct answer *answer;
};
static void begin(CURL *easy, const char *url) {
  static int number;
  curl_easy_setopt(easy, CURLOPT_URL, url);
  if (has_fields) {
    struct curl_slist *fields = curl_slist_append(NULL, "If-None-Match: *");
    fields = curl_slist_append(fields, "Accept: image/avif,image/webp,image/png,image/jpeg,*/*;q=0.5");
    struct asked *asked = malloc(sizeof *asked);
    asked->fields = fields, asked->answer = rows ? start_answer(easy, number++) : NULL;
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, fields);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, asked);
  }
  if (!folder) return;
  char name[4096];
  snprintf(name, sizeof name, "%s/body-%d", folder, number);
  struct body *body = calloc(1, sizeof *body);
  body->file = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (is_durable) body->answer = start_answer(easy, number);
  body->number = number;
  body->writer = number++ % writers;
  body->hash = EVP_MD_CTX_new();
  EVP_DigestInit_ex(body->hash, EVP_sha256(), NULL);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, body);
  curl_easy_setopt(easy, CURLOPT_PRIVATE, body);
}
static void end(CURL *easy) {
  struct asked *asked;
  if (has_fields && curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&asked) == CURLE_OK) {
    curl_slist_free_all(asked->fields);
    if (asked->answer) end_answer(asked->answer);
    free(asked);
  }
  struct body *body;
  if (!folder || curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&body) != CURLE_OK) return;
  struct piece *last = body->filling ? body->filling : take_piece(body);
  last->is_last = 1;
  hand_on(last);
}
static size_t drop(char *bytes, size_t size, size_t count, void *context) {
  (void)bytes, (void)context;
  return size * count;
}
static size_t take_field(char *bytes, size_t size, size_t count, void *context) {
  static char taken[16384];
  (void)context;
  memcpy(taken, bytes, size * count < sizeof taken ? size * count : sizeof taken);
  return size * count;
}
static int on_socket(CURL *easy, curl_socket_t socket, int what, void *context, void *own) {
  (void)easy, (void)context, (void)own;
  struct epoll_event event = {.data.fd = socket};
  if (what == CURL_POLL_REMOVE) return 0;  // libcurl never waits for an idle connection.
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
  most = parallel + 10;
  const int writes_rows = argc > 3 && strcmp(argv[3], "304-rows") == 0;
  has_fields = writes_rows || (argc > 3 && strcmp(argv[3], "304-fields") == 0);
  const int asks = has_fields || (argc > 3 && strcmp(argv[3], "304") == 0);
  folder = argc > 3 && !asks ? argv[3] : NULL;
  is_durable = argc > 5 && strcmp(argv[5], "durable") == 0;
  addresses = urls;
  for (int at = 0; folder && at < writers; at++) {
    queues[at].end = &queues[at].first;
    pthread_mutex_init(&queues[at].lock, NULL);
    pthread_cond_init(&queues[at].filled, NULL);
    pthread_create(&queues[at].thread, NULL, write_all, &queues[at]);
  }
  struct curl_slist *headers = asks ? curl_slist_append(NULL, "If-None-Match: *") : NULL;
  curl_global_init(CURL_GLOBAL_DEFAULT);
  char table[4096];
  snprintf(table, sizeof table, "%s.sqlite", argv[1]);
  if (writes_rows) {
    unlink(table);
    make_rows(urls, count, table);
    pthread_create(&answered.thread, NULL, write_rows, NULL);
  }
  if (is_durable) {
    snprintf(table, sizeof table, "%s/table.sqlite", folder);
    start_table(table);
    pthread_create(&answered.thread, NULL, write_rows, NULL);
  }
  const double used = now(CLOCK_PROCESS_CPUTIME_ID);
  CURLM *multi = curl_multi_init();
  set = epoll_create1(EPOLL_CLOEXEC);
  curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, on_socket);
  curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, on_timer);
  curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, (long)parallel);
  double began = now(CLOCK_MONOTONIC);
  const size_t first = argc > 4 ? (size_t)atoi(argv[4]) : 0;
  CURL **idle = malloc((size_t)parallel * sizeof *idle);
  size_t idle_count = 0, running_count = 0, ended = 0;
  for (; idle_count < count && idle_count < (size_t)parallel; idle_count++) {
    CURL *easy = curl_easy_init();
    if (getenv("CACERT")) curl_easy_setopt(easy, CURLOPT_CAINFO, getenv("CACERT"));
    curl_easy_setopt(easy, CURLOPT_PIPEWAIT, 1L);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, folder ? keep : drop);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, 65536L);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    if (has_fields) curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, writes_rows ? keep_field : take_field);
    if (is_durable) curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, keep_field);
    idle[idle_count] = easy;
  }
  for (;;) {
    for (; idle_count && started < (ended < first ? first : count); running_count++) {
      CURL *easy = idle[--idle_count];
      begin(easy, urls[started++]);
      curl_multi_add_handle(multi, easy);
    }
    if (!running_count) break;
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
          status == (asks ? 304 : 200))
        answers++;
      end(easy);
      curl_multi_remove_handle(multi, easy);
      ended++, running_count--;
      idle[idle_count++] = easy;
    }
  }
  for (int at = 0; folder && at < writers; at++) {
    pthread_mutex_lock(&queues[at].lock);
    queues[at].has_ended = 1;
    pthread_cond_signal(&queues[at].filled);
    pthread_mutex_unlock(&queues[at].lock);
    pthread_join(queues[at].thread, NULL);
  }
  if (writes_rows || is_durable) {
    pthread_mutex_lock(&answered.lock);
    answered.has_ended = 1;
    pthread_cond_signal(&answered.filled);
    pthread_mutex_unlock(&answered.lock);
    pthread_join(answered.thread, NULL);
  }
  printf("%ld answers, %.3f s, %.3f s of CPU\n", answers, now(CLOCK_MONOTONIC) - began, now(CLOCK_PROCESS_CPUTIME_ID) - used);
  return answers == (long)count ? 0 : 1;
}
