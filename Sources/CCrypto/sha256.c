#define OPENSSL_SUPPRESS_DEPRECATED
#include "CCrypto.h"

#include <openssl/hmac.h>
#include <stdlib.h>

void ccrypto_begin(SHA256_CTX *state) { SHA256_Init(state); }

void ccrypto_add(SHA256_CTX *state, const void *bytes, size_t count) {
  if (count > 0) SHA256_Update(state, bytes, count);
}

void ccrypto_end(SHA256_CTX *state, uint8_t *digest) { SHA256_Final(digest, state); }

void ccrypto_code(const void *key, size_t key_count, const void *message, size_t count, uint8_t *code) {
  // It fails only without memory, where Swift ends the program too.
  if (HMAC(EVP_sha256(), key, (int)key_count, message, count, code, NULL) == NULL) abort();
}
