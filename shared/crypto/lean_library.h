// OpenSSL 3.0 decodes the key in a certificate by going through all key types and encodings that it has: for one
// connection between members that is as much work as all their signatures. Here it has what members use, and nothing
// else. For this folder's .cpp files only.
#pragma once

#include <openssl/types.h>

namespace starling::crypto {

// For SSL_CTX_new_ex: the default provider with key exchange by X25519 and ECDH, SHA-2 (and SHA-1, by which OpenSSL
// files certificates), the ciphers of TLS 1.3 and, of decoders, the one of Ed25519 keys in certificates. Certificates
// and keys of the default context, also for browsers (ECDSA, RSA), may be used in it. The default context, that is
// nullptr, where this OpenSSL names these otherwise. Lives as long as the program. From any thread.
OSSL_LIB_CTX* lean_library();

}  // namespace starling::crypto
