#include "client/updates/handover.h"

#include <unistd.h>

#include <cerrno>
#include <chrono>

#include "client/updates/child.h"
#include "shared/base/log.h"
#include "shared/base/os_error.h"

namespace starling::updates {
namespace {

constexpr const char* kProgram = "starlingd";
constexpr Duration kSelfCheckLimit = std::chrono::minutes(2);

Status check_itself(const Installation& installation, const std::string& version,
                    const std::vector<std::string>& arguments, const std::function<bool()>& go_on) {
  std::vector<std::string> command = {installation.program(version, kProgram).string()};
  command.insert(command.end(), arguments.begin(), arguments.end());
  command.emplace_back(kSelfCheckFlag);
  STARLING_ASSIGN(const std::string said, run_child(command, kSelfCheckLimit, go_on));
  if (said.find(self_check_words(version) + "\n") != std::string::npos) return {};
  return Error{ErrorCode::corrupt, "it does not say that it is version " + version};
}

Status switch_and_become(const Installation& installation, const std::string& version,
                         const std::vector<std::string>& arguments) {
  STARLING_TRY(installation.save_trial({version, installation.version(), 0}));
  STARLING_TRY(installation.switch_to(version));
  flush_logs();
  return become(installation.program(version, kProgram), arguments);
}

}  // namespace

std::string self_check_words(std::string_view version) { return "starlingd " + std::string(version) + " works here"; }

Status hand_over(const Installation& installation, const std::string& version,
                 const std::vector<std::string>& arguments, const std::function<bool()>& go_on) {
  Status status = check_itself(installation, version, arguments, go_on);
  if (status.ok()) status = switch_and_become(installation, version, arguments);
  const Trial trial{version, installation.version(), 0};
  if (const Status back = installation.go_back(trial); !back.ok()) log_error("{}", back.error().message);
  return status.error().prefixed("update to " + version);
}

void count_start(const Installation& installation, const std::vector<std::string>& arguments) {
  std::optional<Trial> trial = installation.trial();
  if (!trial.has_value() || trial->version != installation.version()) return;
  if (trial->starts < kTrialStartsMax) {
    ++trial->starts;
    if (const Status saved = installation.save_trial(*trial); !saved.ok()) log_warning("{}", saved.error().message);
    return;
  }
  Status status = installation.go_back(*trial);
  if (status.ok()) status = become(installation.program(trial->previous, kProgram), arguments);
  log_error("go back to {}: {}", trial->previous, status.error().message);
}

Status become(const std::filesystem::path& program, const std::vector<std::string>& arguments) {
  const std::string path = program.string();
  std::vector<char*> words = {const_cast<char*>(path.c_str())};
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  execv(path.c_str(), words.data());
  return os_error("start", program, errno);
}

}  // namespace starling::updates
