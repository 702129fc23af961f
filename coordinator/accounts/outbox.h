// A queue for letters to volunteers.
#pragma once

#include <string>

#include "shared/base/result.h"

namespace starling::accounts {

// A letter, complete but for the sender, which is the outbox's.
struct Letter {
  std::string to;       // an address that check_email() accepted
  std::string subject;  // UTF-8, one line
  std::string text;     // UTF-8, lines of any length
};

class Outbox {
 public:
  virtual ~Outbox() = default;
  // Whether the project sends mail at all.
  [[nodiscard]] virtual bool open() const = 0;
  // Queues the letter and returns at once; it is sent as soon as the relay takes it. Error resource_exhausted: too many
  // letters wait.
  virtual Status leave(Letter letter) = 0;
};

// The outbox of a project that sends no mail.
class NoOutbox final : public Outbox {
 public:
  [[nodiscard]] bool open() const override { return false; }
  Status leave(Letter) override { return Error{ErrorCode::unavailable, "this project sends no mail"}; }
};

}  // namespace starling::accounts
