// Where starling-trainer lies.
#pragma once

#include <filesystem>
#include <string>

namespace starling::trainer_link {

// The trainer lies beside the running program where both are built. Where both are installed it has a folder of its
// own, `trainer_folder`, relative to the running program's: an installation may be moved as a whole.
std::filesystem::path trainer_program(const std::string& trainer_folder);

}  // namespace starling::trainer_link
