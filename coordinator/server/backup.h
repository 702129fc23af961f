// When a project was last backed up.
#pragma once

#include <optional>
#include <string>

#include "coordinator/server/project.h"

namespace starling::server {

struct LastBackup {
  WallTime at;
  std::string folder;
};
// Nothing when there is none that this project knows of.
std::optional<LastBackup> last_backup(const ProjectFiles& files);

}  // namespace starling::server
