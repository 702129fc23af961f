#include "client/daemon/certificate_renewal.h"

#include <utility>

#include "shared/base/log.h"

namespace starling::daemon {

CertificateRenewal::CertificateRenewal(RunThreads& threads, Steps steps)
    : threads_(threads), steps_(std::move(steps)) {}

void CertificateRenewal::begin() {
  if (under_way_) return;
  under_way_ = true;
  threads_.on_coordinator([this] {
    auto fresh = steps_.fetch();
    threads_.deliver([this, fresh = std::move(fresh)](TimePoint) {
      under_way_ = false;
      if (!fresh.ok()) return log_warning("renew this computer's certificate: {}", fresh.error().message);
      steps_.adopt(*fresh);
    });
  });
}

void CertificateRenewal::on_refused(TimePoint now) {
  if (now < not_before_) return;
  not_before_ = now + kRefusedRetry;
  begin();
}

}  // namespace starling::daemon
