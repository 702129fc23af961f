// The command line's end of the daemon's control socket (shared/wire/control.h).
#pragma once

#include <filesystem>
#include <string>

#include "shared/base/result.h"
#include "shared/wire/control.h"

namespace starling::cli {

class ControlClient {
 public:
  // unavailable, saying how to start it, when no daemon listens there.
  static Result<ControlClient> connect(const std::filesystem::path& data_dir);
  ControlClient(ControlClient&& other) noexcept;
  ControlClient& operator=(ControlClient&&) = delete;
  ~ControlClient();

  // The daemon's reply, which may be a refusal (reply.error); an Error when there is none. Blocks until it answers.
  Result<wire::ControlReply> call(const wire::ControlRequest& request);

 private:
  explicit ControlClient(int fd) : fd_(fd) {}
  int fd_ = -1;
  std::string buffer_;
};

}  // namespace starling::cli
