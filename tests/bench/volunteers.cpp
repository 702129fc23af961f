#include "tests/bench/volunteers.h"

#include <fmt/core.h>

#include <atomic>
#include <cstdio>

#include "coordinator/server/project.h"
#include "shared/crypto/certificates.h"
#include "tests/bench/bench.h"

namespace starling::bench {
namespace {

constexpr int kToldEvery = 10'000;

}  // namespace

Result<std::vector<Volunteer>> register_volunteers(const std::filesystem::path& directory, int count) {
  STARLING_ASSIGN(const server::Project project, server::load_project(directory));
  STARLING_ASSIGN(const auto database, server::open_database(project));
  std::vector<Volunteer> volunteers;
  for (int i = 0; i < count; ++i) volunteers.push_back({crypto::PrivateKey::generate(), ""});
  const WallTime now = SystemClock().wall_now();
  std::atomic<int> registered = 0;
  STARLING_TRY(all_at_once(count, [&](int i) -> Status {
    Volunteer& volunteer = volunteers[static_cast<std::size_t>(i)];
    const db::JoinRequest request{fmt::format("volunteer {}", i), volunteer.key.peer_id(), {}, now};
    STARLING_TRY(database->stores().people.accounts.join(request).status());
    STARLING_ASSIGN(volunteer.certificate_pem, project.authority.issue(crypto::make_csr(volunteer.key), {.now = now}));
    if (++registered % kToldEvery == 0) fmt::print(stderr, "{} of {} volunteers are registered\n", registered, count);
    return {};
  }));
  return volunteers;
}

crypto::TlsContext tls_of(const CoordinatorProcess& coordinator, const Volunteer& volunteer) {
  auto tls = crypto::TlsContext::coordinator_client(coordinator.ca_pem(),
                                                    crypto::TlsIdentity{volunteer.certificate_pem, volunteer.key});
  VERIFY(tls.ok());
  return std::move(tls).value();
}

}  // namespace starling::bench
