// DIR/self-test.json: when `starling doctor --self-test` last found nothing wrong with this computer. It writes the
// note, the daemon of that data directory reads it.
#pragma once

#include <cstdint>
#include <filesystem>

#include "shared/base/clock.h"
#include "shared/base/result.h"

namespace starling::wire {

Status note_self_test(const std::filesystem::path& data_dir, WallTime passed);
// When this computer was first told of as many misses in this project: now, unless DIR/misses.json says otherwise.
WallTime first_told_of_miss(const std::filesystem::path& project_folder, std::int64_t misses, WallTime now);

// project_folder: the data directory itself, or the folder of a further project in it. False if there
// is no note that can be read.
bool self_test_passed_since(const std::filesystem::path& project_folder, WallTime since);

}  // namespace starling::wire
