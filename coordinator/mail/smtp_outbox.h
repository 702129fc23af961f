// An outbox that sends letters to volunteers through a mail relay.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <thread>

#include "coordinator/accounts/outbox.h"
#include "shared/base/clock.h"
#include "shared/base/mutex.h"

namespace starling::mail {

// The relay, and patience with it. A letter that fails is tried kTriesMax times in all.
struct SmtpOptions {
  std::string url;   // "smtp://relay.example:587", "smtps://relay.example"
  std::string from;  // "poems@example.org"
  std::string user = {};
  std::string password = {};
  // Passwords and links cross the network, so the relay must speak TLS and prove its name. Off only for a relay on this
  // machine.
  bool tls = true;
  Duration patience = std::chrono::seconds(30);     // time limit for one letter
  Duration retry_after = std::chrono::seconds(20);  // doubled for the next attempt
};

// One thread sends, one letter at a time. A letter that the relay does not take is tried again, then dropped and logged
// without its address.
class SmtpOutbox final : public accounts::Outbox {
 public:
  static constexpr std::size_t kWaitingMax = 1000;
  static constexpr int kTriesMax = 5;

  explicit SmtpOutbox(SmtpOptions options);
  // Letters that wait are lost; people can request them again.
  ~SmtpOutbox() override;
  SmtpOutbox(const SmtpOutbox&) = delete;
  SmtpOutbox& operator=(const SmtpOutbox&) = delete;

  [[nodiscard]] bool open() const override { return true; }
  Status leave(accounts::Letter letter) override;
  [[nodiscard]] std::int64_t sent() const;

 private:
  void loop();
  bool next(accounts::Letter& letter);
  bool pause(Duration time);

  const SmtpOptions options_;
  mutable Mutex mutex_;
  ConditionVariable changed_;
  std::deque<accounts::Letter> waiting_ GUARDED_BY(mutex_);
  bool closing_ GUARDED_BY(mutex_) = false;
  std::int64_t sent_ GUARDED_BY(mutex_) = 0;
  std::thread thread_;  // last: it uses the others
};

// Passes one letter to the relay.
Status send_letter(const SmtpOptions& options, const accounts::Letter& letter);

}  // namespace starling::mail
