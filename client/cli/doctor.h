// Faults of this computer's part in a project, in the order in which they should be looked at. Pure: the findings'
// facts come in as values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/result.h"
#include "shared/control/control.h"

namespace starling::cli {

// Only `bad` makes the check fail; a `note` is worth reading and keeps nothing from working.
enum class Health : std::uint8_t { good, note, bad };

// One line of the report, written for the volunteer.
struct Finding {
  Health health = Health::good;
  std::string about;  // subject, such as "daemon"
  std::string text;
  std::string to_do;  // advice; empty: none
};

// Everything that the report judges, gathered beforehand by the command line. With `no_daemon`, the status and the
// preferences say nothing.
struct Facts {
  std::string data_dir;
  std::string own_version;
  bool others_may_look = false;  // the data directory is open to other users
  std::optional<Error> no_daemon;
  wire::DaemonStatus status;
  wire::Preferences preferences;
  std::optional<std::int64_t> disk_free_bytes;
  std::string log;             // its newest lines
  std::string proxy_variable;  // name of one in the environment that asks for a proxy
};

std::vector<Finding> examine(const Facts& facts);
bool is_well(const std::vector<Finding>& findings);

std::string format_findings(const std::vector<Finding>& findings);
// {"ok":true,"findings":[{"health":"bad","about":"daemon","text":"…","to_do":"…"}]}
std::string format_findings_json(const std::vector<Finding>& findings);

}  // namespace starling::cli
