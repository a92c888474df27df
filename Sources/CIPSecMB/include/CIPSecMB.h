#ifndef LARDER_CIPSECMB_H
#define LARDER_CIPSECMB_H

#include <stddef.h>
#include <stdint.h>

/// Several SHA-256 digests computed side by side by intel-ipsec-mb; one thread uses it at a time.
typedef struct larder_digester larder_digester;

/// NULL where the library, or its kind of processor, is not there.
larder_digester *larder_digester_make(void);

void larder_digester_free(larder_digester *digester);

/// Writes the SHA-256 of `count` messages, 32 bytes each, behind one another to `digests`.
///
/// Returns 0 when the library refused one of them; `digests` then holds nothing of use.
int larder_digester_run(larder_digester *digester, const uint8_t *const *messages,
                        const size_t *lengths, size_t count, uint8_t *digests);

#endif
