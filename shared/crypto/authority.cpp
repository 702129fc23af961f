#include "shared/crypto/authority.h"

#include "shared/crypto/openssl_handles.h"

namespace starling::crypto {

Result<std::string> read_authority(std::string_view pem) {
  STARLING_ASSIGN(const X509Ptr certificate, parse_certificate(pem));
  const bool authority = X509_check_ca(certificate.get()) == 1;
  ERR_clear_error();
  if (authority) return certificate_to_pem(certificate.get());
  return Error{ErrorCode::invalid_argument, "read certificate: it is not that of an authority (CA)"};
}

}  // namespace starling::crypto
