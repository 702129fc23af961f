#include "client/trainer_link/program_path.h"

#include <system_error>

namespace starling::trainer_link {

std::filesystem::path trainer_program(const std::string& trainer_folder) {
  constexpr const char* kName = "starling-trainer";
  std::error_code problem;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", problem);
  if (self.empty()) return kName;
  std::filesystem::path beside = self.parent_path() / kName;
  if (std::filesystem::exists(beside, problem)) return beside;
  return (self.parent_path() / trainer_folder / kName).lexically_normal();
}

}  // namespace starling::trainer_link
