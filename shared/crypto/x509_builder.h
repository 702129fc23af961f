// Making certificates field by field, for this folder's .cpp files only.
#pragma once

#include <string>
#include <vector>

#include "shared/base/clock.h"
#include "shared/base/result.h"
#include "shared/crypto/openssl_handles.h"

namespace starling::crypto {

// A certificate's fields without its extensions.
struct CertificateFields {
  std::string subject;
  X509_NAME* issuer = nullptr;  // null: the subject itself
  std::int64_t begins_s = 0;
  std::int64_t ends_s = 0;
  EVP_PKEY* key = nullptr;
};

void set_period(CertificateFields& fields, WallTime now, Duration backdate, Duration lifetime);

// A version 3 certificate with a random serial number, without extensions or signature. Null when the subject is not
// UTF-8 or too long; subjects made by this folder always fit.
X509Ptr make_blank(const CertificateFields& fields);
void add_extension(X509* certificate, X509* issuer, int nid, const char* value);
// Adds subject alternative names: addresses as IP addresses, all else as DNS names.
Status add_host_names(X509* certificate, const std::vector<std::string>& hosts);

}  // namespace starling::crypto
