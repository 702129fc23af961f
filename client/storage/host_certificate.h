// This computer's certificate in a project. It lasts a day, and is renewed by whoever finds it run out.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "shared/base/mutex.h"

namespace starling::storage {

// All copies of one object are one certificate: when any of them is renewed, all are. May be used from several threads.
class HostCertificate {
 public:
  HostCertificate() : HostCertificate(std::string()) {}
  explicit HostCertificate(std::string pem) : shared_(std::make_shared<Shared>()) { renew(std::move(pem)); }

  // Returns the certificate that is the newest now: ask again for each connection.
  [[nodiscard]] std::string pem() const {
    const MutexLock lock(shared_->mutex);
    return shared_->pem;
  }
  void renew(std::string pem) const {
    const MutexLock lock(shared_->mutex);
    shared_->pem = std::move(pem);
  }

 private:
  struct Shared {
    Mutex mutex;
    std::string pem GUARDED_BY(mutex);
  };
  std::shared_ptr<Shared> shared_;
};

}  // namespace starling::storage
