// Owning pointers and errors of OpenSSL, for this folder's .cpp files only.
#pragma once

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "shared/base/clock.h"
#include "shared/base/free_with.h"
#include "shared/base/ids.h"
#include "shared/base/result.h"

namespace starling::crypto {

using BioPtr = std::unique_ptr<BIO, FreeWith<BIO_free_all>>;
using KeyPtr = std::unique_ptr<EVP_PKEY, FreeWith<EVP_PKEY_free>>;
using MdContextPtr = std::unique_ptr<EVP_MD_CTX, FreeWith<EVP_MD_CTX_free>>;
using X509Ptr = std::unique_ptr<X509, FreeWith<X509_free>>;
using CsrPtr = std::unique_ptr<X509_REQ, FreeWith<X509_REQ_free>>;
using StorePtr = std::unique_ptr<X509_STORE, FreeWith<X509_STORE_free>>;
using StoreContextPtr = std::unique_ptr<X509_STORE_CTX, FreeWith<X509_STORE_CTX_free>>;
using ExtensionPtr = std::unique_ptr<X509_EXTENSION, FreeWith<X509_EXTENSION_free>>;
using NamesPtr = std::unique_ptr<GENERAL_NAMES, FreeWith<GENERAL_NAMES_free>>;

// Empties OpenSSL's error queue of this thread and returns its oldest entry as text.
std::string take_openssl_error();
// "what: reason", from the error queue.
Error openssl_error(ErrorCode code, std::string_view what);

BioPtr bio_of(std::string_view bytes);
std::string bio_text(BIO* bio);

// Parses the only certificate of a PEM text of at most kPemBytesMax bytes.
Result<X509Ptr> parse_certificate(std::string_view pem);
std::string certificate_to_pem(X509* certificate);
Digest certificate_fingerprint(const X509* certificate);
PeerId spki_digest(EVP_PKEY* key);
// Hashes the key's bytes as they stand in the certificate: equal to the digest of the decoded key, and much faster.
PeerId spki_digest(const X509* certificate);
bool is_ed25519(const EVP_PKEY* key);
bool names_coordinator(X509* certificate);

}  // namespace starling::crypto
