// SHA-256 of OpenSSL's libcrypto.
#ifndef LARDER_CCRYPTO_H
#define LARDER_CCRYPTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <openssl/sha.h>

/// Begins the digest of no bytes.
///
/// These functions are in C because OpenSSL 3 marks those that they call as deprecated. The functions that it advises
/// allocate memory, and take four times as long for a text of 60 bytes.
void ccrypto_begin(SHA256_CTX *_Nonnull state);

/// Adds bytes; `bytes` may be NULL if `count` is 0.
void ccrypto_add(SHA256_CTX *_Nonnull state, const void *_Nullable bytes, size_t count);

/// Writes the 32 bytes of the digest. No bytes can be added to `state` afterwards.
void ccrypto_end(SHA256_CTX *_Nonnull state, uint8_t *_Nonnull digest);

/// Compares bytes in a time that depends only on `count`.
bool ccrypto_is_equal(const void *_Nonnull left, const void *_Nonnull right, size_t count);

#endif
