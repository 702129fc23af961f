// The daemon's calls to its coordinator (shared/protocol/heartbeat.h), one at a time. All of them block, so they run on
// the coordinator thread; only cancel() may be called from another.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "client/daemon/corrected_clock.h"
#include "client/storage/project_files.h"
#include "shared/base/deadline.h"
#include "shared/base/mutex.h"
#include "shared/base/result.h"
#include "shared/crypto/keys.h"
#include "shared/manifest/join_link.h"
#include "shared/manifest/signed_manifest.h"
#include "shared/net/http_client.h"
#include "shared/net/line.h"
#include "shared/protocol/checkpoint.h"
#include "shared/protocol/unusable_samples.h"

namespace starling::wire {
struct Heartbeat;
struct HeartbeatReply;
}  // namespace starling::wire

namespace starling::daemon {

// The applicant; wire::JoinRequest says how the three go together.
struct Applicant {
  std::string name;
  std::string email = {};
  std::string password = {};
};

// First contact: the CA by its fingerprint, then the account and this host's certificate. The project's display name is
// the coordinator's, which may differ from the applicant's. `line`: see CoordinatorCalls::create.
Result<storage::Project> join_project(const manifest::JoinLink& link, const Applicant& applicant,
                                      const storage::HostIdentity& host, CorrectedClock& clock,
                                      net::Line* line = nullptr);

// Deadline of a heartbeat: 10 s before any was answered, then several times the slowest answer. Its bounds keep one on
// a kept connection from being judged by its speed alone, and an absent coordinator from being waited for too long.
constexpr DeadlineOptions kHeartbeatDeadline{
    .floor = std::chrono::seconds(4), .longest = std::chrono::seconds(20), .patience = 8, .unseen_work_per_s = 0.1};

class CoordinatorCalls {
 public:
  // From the end of a try to renew a certificate to the next one that a call makes because it is due.
  static constexpr Duration kRenewalRetry = std::chrono::seconds(5);

  // `clock` outlives this object and is corrected by the coordinator's answers. All traffic takes from `line`, if it is
  // given; it outlives this object, too.
  static Result<std::unique_ptr<CoordinatorCalls>> create(const storage::Project& project,
                                                          const crypto::PrivateKey& key, CorrectedClock& clock,
                                                          net::Line* line = nullptr);

  // Gives up after a time that is learned from the duration of earlier heartbeats (kHeartbeatDeadline).
  Result<wire::HeartbeatReply> heartbeat(const wire::Heartbeat& heartbeat);
  Status report_unusable(const wire::UnusableSamples& samples);
  // Renews the certificate of the project that this object was made with, for all that have a copy of it, and returns
  // it. Every other call does so first when it is due (HostCertificate::is_due).
  Result<std::string> renew_certificate();
  // The newest one, whoever renewed it. From any thread.
  [[nodiscard]] std::string certificate() const { return project_.certificate.pem(); }
  // Returns the run's signed manifest, not verified yet.
  Result<manifest::SignedManifest> run_manifest();
  // Downloads, or finds, the artefact at `destination`. `progress` gets the bytes so far; false stops it.
  Status fetch_artefact(const wire::Artefact& artefact, const std::filesystem::path& destination,
                        std::function<bool(std::int64_t)> progress);
  // Sends a piece of the copy of a state that the coordinator asked this member for: of the cell with this id, or of
  // the run itself if it is empty. Returns how much the coordinator has now. failed_precondition: it does not want the
  // copy any more.
  Result<wire::CheckpointReply> send_checkpoint(const RunId& cell, RoundIndex round, const Digest& state_digest,
                                                std::int64_t offset, std::string_view piece);
  // Ends the call under way and refuses those that follow.
  void cancel() EXCLUDES(mutex_);
  // The IP address at which the coordinator was last; empty: it was not called yet.
  [[nodiscard]] std::string coordinator_address() const { return client_->server_address(); }
  // Bytes moved both ways so far, TLS included. From any thread.
  [[nodiscard]] std::int64_t wire_bytes() const { return wire_bytes_; }

 private:
  CoordinatorCalls(storage::Project project, crypto::PrivateKey key, CorrectedClock& clock,
                   std::shared_ptr<net::HttpClient> client, net::Line* line);
  static Result<std::shared_ptr<net::HttpClient>> make_client(const storage::Project& project,
                                                              const crypto::PrivateKey& key, net::Line* line);
  Result<std::string> renew_over(net::HttpClient& anonymous);
  // Begins every call that shows the certificate: it may be due, and others may have renewed it since the last one.
  Status use_newest_certificate();
  void renew_when_due();
  // Sets the client of the calls that follow, which cancel() ends, also when it was called before.
  void expose(std::shared_ptr<net::HttpClient> client) EXCLUDES(mutex_);
  void count() { wire_bytes_ = earlier_wire_bytes_ + client_->wire_bytes(); }

  storage::Project project_;
  crypto::PrivateKey key_;
  CorrectedClock& clock_;
  net::Line* line_;
  std::shared_ptr<net::HttpClient> client_;  // coordinator thread
  std::string certificate_pem_;              // coordinator thread; the one that client_ shows
  Deadline heartbeat_deadline_;              // coordinator thread
  TimePoint renewal_not_before_{};           // coordinator thread
  std::int64_t earlier_wire_bytes_ = 0;      // bytes of clients before this one
  Mutex mutex_;
  std::shared_ptr<net::HttpClient> exposed_ GUARDED_BY(mutex_);
  bool cancelled_ GUARDED_BY(mutex_) = false;
  std::atomic<std::int64_t> wire_bytes_{0};
};

}  // namespace starling::daemon
