// This computer's certificate in a project. It lasts a day. Calls to the coordinator renew it while some hours of that
// are left (CoordinatorCalls), so that nobody ever shows one that has run out.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "shared/base/clock.h"
#include "shared/base/mutex.h"

namespace starling::storage {

// All copies of one object are one certificate: when any of them is renewed, all are. May be used from several threads.
class HostCertificate {
 public:
  // A coordinator that is away for less stops nobody.
  static constexpr std::chrono::hours kRenewBefore{8};

  HostCertificate() : HostCertificate(std::string()) {}
  explicit HostCertificate(std::string pem) : shared_(std::make_shared<Shared>()) { renew(std::move(pem)); }

  // Returns the certificate that is the newest now: ask again for each connection.
  [[nodiscard]] std::string pem() const {
    const MutexLock lock(shared_->mutex);
    return shared_->pem;
  }
  void renew(std::string pem) const;
  // Whether less than kRenewBefore is left. Neither is ever true of a text that is no certificate.
  [[nodiscard]] bool is_due(WallTime now) const { return ends_before({now.unix_ms + to_ms(kRenewBefore)}); }
  [[nodiscard]] bool has_run_out(WallTime now) const { return ends_before(now); }

 private:
  struct Shared {
    Mutex mutex;
    std::string pem GUARDED_BY(mutex);
    WallTime not_after GUARDED_BY(mutex);
  };
  [[nodiscard]] bool ends_before(WallTime time) const {
    const MutexLock lock(shared_->mutex);
    return shared_->not_after <= time;
  }

  std::shared_ptr<Shared> shared_;
};

}  // namespace starling::storage
