#include "CTLS.h"

#include <limits.h>
#include <string.h>

#include <openssl/err.h>
#include <openssl/ssl.h>

static const char *first_reason(void) {
  const unsigned long error = ERR_get_error();
  ERR_clear_error();
  if (ERR_SYSTEM_ERROR(error)) return strerror(ERR_GET_REASON(error));
  const char *reason = ERR_reason_error_string(error);
  return reason != NULL ? reason : "OpenSSL gives no reason";
}

static int select_protocol(SSL *session, const unsigned char **chosen, unsigned char *chosen_count,
                           const unsigned char *offered, unsigned offered_count, void *protocol) {
  (void)session;
  const size_t count = strlen(protocol);
  for (unsigned place = 0; place < offered_count; place += 1u + offered[place]) {
    if (offered[place] == count && memcmp(offered + place + 1, protocol, count) == 0) {
      *chosen = offered + place + 1;
      *chosen_count = offered[place];
      return SSL_TLSEXT_ERR_OK;
    }
  }
  return SSL_TLSEXT_ERR_NOACK;
}

SSL_CTX *ctls_make(const char *chain, const char *key, bool is_http2, int *failure, const char **reason) {
  static char http2[] = "h2", http1[] = "http/1.1";
  ERR_clear_error();
  *failure = ctls_use;
  SSL_CTX *context = SSL_CTX_new(TLS_server_method());
  if (context != NULL && SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION)) {
    // The store serves weak certificates too, so that tests see clients refuse them.
    SSL_CTX_set_security_level(context, 0);
    SSL_CTX_set_alpn_select_cb(context, select_protocol, is_http2 ? http2 : http1);
    // A client may close a connection without close_notify.
    SSL_CTX_set_options(context, SSL_OP_IGNORE_UNEXPECTED_EOF);
    if (SSL_CTX_use_certificate_chain_file(context, chain) != 1) {
      *failure = ctls_chain;
    } else if (SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) == 1) {
      if (SSL_CTX_check_private_key(context) == 1) return context;
    } else if (ERR_GET_LIB(ERR_peek_last_error()) != ERR_LIB_X509) {
      *failure = ctls_key;
    }
  }
  *reason = first_reason();
  SSL_CTX_free(context);
  return NULL;
}

void ctls_free(SSL_CTX *context) { SSL_CTX_free(context); }

SSL *ctls_begin(SSL_CTX *context) {
  SSL *session = SSL_new(context);
  BIO *in = BIO_new(BIO_s_mem()), *out = BIO_new(BIO_s_mem());
  if (session == NULL || in == NULL || out == NULL) {
    SSL_free(session);
    BIO_free(in);
    BIO_free(out);
    return NULL;
  }
  SSL_set_bio(session, in, out);
  SSL_set_accept_state(session);
  return session;
}

void ctls_end(SSL *session) { SSL_free(session); }

void ctls_receive(SSL *session, const void *bytes, size_t count) {
  if (count > 0 && count <= INT_MAX) BIO_write(SSL_get_rbio(session), bytes, (int)count);
}

ptrdiff_t ctls_read(SSL *session, void *bytes, size_t room) {
  size_t count = 0;
  ERR_clear_error();
  const int result = SSL_read_ex(session, bytes, room, &count);
  if (result == 1) return (ptrdiff_t)count;
  const int error = SSL_get_error(session, result);
  ERR_clear_error();
  return error == SSL_ERROR_WANT_READ ? 0 : -1;
}

bool ctls_write(SSL *session, const void *bytes, size_t count) {
  size_t done = 0;
  ERR_clear_error();
  const bool written = count == 0 || SSL_write_ex(session, bytes, count, &done) == 1;
  ERR_clear_error();
  return written;
}

void ctls_close(SSL *session) {
  SSL_shutdown(session);
  ERR_clear_error();
}

size_t ctls_pending(SSL *session) { return BIO_pending(SSL_get_wbio(session)); }

size_t ctls_take(SSL *session, void *bytes, size_t room) {
  const int count = BIO_read(SSL_get_wbio(session), bytes, room > INT_MAX ? INT_MAX : (int)room);
  return count > 0 ? (size_t)count : 0;
}
