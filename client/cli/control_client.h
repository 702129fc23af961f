// The command line's end of the daemon's control API (shared/control/control.h): its socket, or TLS to another
// computer.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "shared/base/result.h"
#include "shared/base/unique_fd.h"
#include "shared/control/control.h"

namespace starling::cli {

class ControlClient {
 public:
  // unavailable, with the way to start it, when no daemon listens there.
  static Result<ControlClient> connect(const std::filesystem::path& data_dir);
  // Connects to "HOST:PORT#FINGERPRINT", as `starling remote enable` prints it there. unauthenticated when another
  // certificate is shown, or when the daemon refuses the token.
  static Result<ControlClient> connect_remote(const std::string& daemon, const std::string& token);
  ControlClient(ControlClient&& other) noexcept;
  ControlClient& operator=(ControlClient&&) = delete;
  ~ControlClient();

  // The daemon's reply, which may be a refusal (reply.error); an Error when there is none. Blocks until it answers.
  Result<wire::ControlReply> call(const wire::ControlRequest& request);
  // Blocks until a daemon of this computer has ended; until one of another computer has hung up.
  void wait_for_end();

 private:
  struct Remote;
  ControlClient(UniqueFd socket, UniqueFd process);
  explicit ControlClient(std::unique_ptr<Remote> remote);
  void send(std::string_view line);
  // 0 bytes when it hung up.
  Result<std::size_t> receive(std::span<char> out);

  UniqueFd socket_;
  UniqueFd process_;  // pidfd_open(2) of the listening process; invalid if unavailable
  std::unique_ptr<Remote> remote_;
  std::string buffer_;
};

}  // namespace starling::cli
