#define OPENSSL_SUPPRESS_DEPRECATED
#include "CCrypto.h"

#include <openssl/crypto.h>

void ccrypto_begin(SHA256_CTX *state) { SHA256_Init(state); }

void ccrypto_add(SHA256_CTX *state, const void *bytes, size_t count) {
  if (count > 0) SHA256_Update(state, bytes, count);
}

void ccrypto_end(SHA256_CTX *state, uint8_t *digest) { SHA256_Final(digest, state); }

bool ccrypto_is_equal(const void *left, const void *right, size_t count) {
  return CRYPTO_memcmp(left, right, count) == 0;
}
