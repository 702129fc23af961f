// A project of the real program in a folder of its own, on a free port.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "shared/crypto/keys.h"
#include "shared/manifest/join_link.h"
#include "shared/net/http_client.h"
#include "shared/protocol/group_info.h"
#include "shared/protocol/heartbeat.h"
#include "tests/coordinator/server/process.h"
#include "tests/support/temp_dir.h"

namespace starling::wire {
struct HeartbeatReply;
}

namespace starling::server::testing {

class TestServer {
 public:
  // `database`: the address of one on a server; empty: a file.
  explicit TestServer(const std::string& database = "");

  // Runs starling-coordinator with these arguments.
  [[nodiscard]] Ended command(std::vector<std::string> words) const;
  [[nodiscard]] std::vector<std::string> serve_command() const;
  // Writes data and manifest.toml; returns the result of `run create`.
  Ended create_run(const std::string& run_id, const std::string& more = "") const;

  // A file with a passphrase for keys.
  [[nodiscard]] std::string passphrase_file() const;
  // `backup now` into `to`, with keys that this passphrase opens; and `restore` with them.
  [[nodiscard]] Ended back_up_with_keys(const std::string& to) const;
  [[nodiscard]] Ended restore_with_keys(const std::string& backup, const std::string& to) const;

  // The running server's answer to anybody.
  [[nodiscard]] net::HttpResponse get(const std::string& path, int port = 0) const;  // 0: the public port

  starling::testing::TempDir folder;
  std::string directory;
  std::string address;
  Ended init;
};

// Repeats `so` until it holds, for state that a server checks twice a second. False if it never holds.
bool eventually(const std::function<bool()>& so);

// A member that joins over the link as the daemon does, and sends heartbeats.
class Member {
 public:
  explicit Member(std::string name) : name_(std::move(name)) {}
  Status join(const std::string& link);
  Result<wire::HeartbeatReply> call();
  // The key that it pinned when it joined.
  [[nodiscard]] crypto::PublicKey manifest_key() const { return crypto::PublicKey::from_pem(manifest_key_).value(); }
  [[nodiscard]] PeerId peer() const { return key_.peer_id(); }
  wire::Heartbeat beat;

 private:
  std::string name_;
  crypto::PrivateKey key_ = crypto::PrivateKey::generate();
  manifest::JoinLink link_;
  std::string ca_pem_;
  std::string certificate_;
  std::string manifest_key_;
  Hash128 challenge_;  // the last reply's, which the next call answers
};

// Two members of run "one" that go through rounds of 60 samples together, through all failures of the coordinator.
struct Two {
  Two();
  // In the group that they are dealt for their first round, which the coordinator must be there for; then in those that
  // follow from it.
  void finish_round();
  // Sends heartbeats of both until every round is acknowledged.
  void settle();

  Member ada{"Ada"};
  Member bob{"Bob"};
  RoundIndex round = 0;

 private:
  [[nodiscard]] wire::GroupInfo dealt();
  std::optional<wire::GroupInfo> group_;  // the last round's
};

// Run "one" of the project, created, started and served, which both have joined.
struct ServedRun {
  explicit ServedRun(const TestServer& server);

  std::string link;
  Process process;
  Two two;
};

}  // namespace starling::server::testing
