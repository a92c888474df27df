// A server's side of TLS, with OpenSSL's libssl. Bytes are given and taken in memory, so that the caller owns the socket.
#ifndef LARDER_CTLS_H
#define LARDER_CTLS_H

#include <stdbool.h>
#include <stddef.h>

struct ssl_ctx_st;
struct ssl_st;

/// Reads a certificate chain and the private key of its first certificate from PEM files.
///
/// The server accepts TLS 1.2 and later, and selects HTTP/2 or HTTP/1.1 if the client offers it (ALPN). Returns NULL on
/// failure. Then `failure` tells the step, and `reason` is a text that stays valid until the thread calls this again.
struct ssl_ctx_st *_Nullable ctls_make(const char *_Nonnull chain, const char *_Nonnull key, bool is_http2,
                                       int *_Nonnull failure, const char *_Nullable *_Nonnull reason);

/// The steps of `ctls_make`: reading the chain, reading the key, and using both.
enum { ctls_chain, ctls_key, ctls_use };

/// Frees what `ctls_make` made.
void ctls_free(struct ssl_ctx_st *_Nonnull context);

/// Begins the session of a connection; returns NULL if there is no memory. It keeps what it needs of `context`.
struct ssl_st *_Nullable ctls_begin(struct ssl_ctx_st *_Nonnull context);

/// Frees a session.
void ctls_end(struct ssl_st *_Nonnull session);

/// Adds bytes that the client sent.
void ctls_receive(struct ssl_st *_Nonnull session, const void *_Nullable bytes, size_t count);

/// Decrypts bytes that the client sent.
///
/// Returns their number, or 0 if more is needed from the client. Returns -1 if the client ended TLS or broke its rules.
/// The functions of libssl are called in C because Swift cannot use its macros.
ptrdiff_t ctls_read(struct ssl_st *_Nonnull session, void *_Nonnull bytes, size_t room);

/// Encrypts bytes for the client; returns false if the handshake has not ended, or TLS has.
bool ctls_write(struct ssl_st *_Nonnull session, const void *_Nullable bytes, size_t count);

/// Encrypts the message `close_notify`.
void ctls_close(struct ssl_st *_Nonnull session);

/// The number of encrypted bytes to send.
size_t ctls_pending(struct ssl_st *_Nonnull session);

/// Takes encrypted bytes to send; returns their number.
size_t ctls_take(struct ssl_st *_Nonnull session, void *_Nonnull bytes, size_t room);

#endif
