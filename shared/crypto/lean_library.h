// OpenSSL 3.0 decodes the key in a certificate by trying all the key types and encodings that it has: for one
// connection between members that is as much work as all their signatures. This library context has only the algorithms
// that members use. For this folder's .cpp files only.
#pragma once

#include <openssl/types.h>

namespace starling::crypto {

// Library context for SSL_CTX_new_ex: the default provider with key exchange by X25519 and ECDH, SHA-2 (and SHA-1, by
// which OpenSSL files certificates), the ciphers of TLS 1.3, and one decoder, for Ed25519 keys in certificates.
// Certificates and keys of the default context, including those for browsers (ECDSA, RSA), may be used in it. Returns
// the default context, nullptr, if this OpenSSL names these algorithms otherwise. It lives as long as the program. From
// any thread.
OSSL_LIB_CTX* lean_library();

}  // namespace starling::crypto
