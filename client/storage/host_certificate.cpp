#include "client/storage/host_certificate.h"

#include <cstdint>

#include "shared/crypto/certificates.h"

namespace starling::storage {

void HostCertificate::renew(std::string pem) const {
  const auto info = crypto::read_certificate(pem);
  const MutexLock lock(shared_->mutex);
  shared_->pem = std::move(pem);
  shared_->not_after = info.ok() ? info->not_after : WallTime{INT64_MAX};
}

}  // namespace starling::storage
