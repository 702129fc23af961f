#include "shared/swarm/reason.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace starling::swarm {
namespace {

constexpr double kMbit = 1e6 / 8;
constexpr double kBoundSlack = 1.02;  // the owners' work, not a line of its own, is the bound below this

// The slower direction of one member's line, and how long the vector takes there.
struct Narrow {
  std::size_t who = 0;
  const char* direction = "upload";
  double mbit_per_s = 0;
  double seconds = 0;
};

Narrow narrow(std::size_t who, const Link& link, const RoleOptions& options) {
  const double up_s = options.vector_floats * options.codecs.front().bytes_per_float / link.upload;
  const double down_s = options.vector_floats * options.result_bytes / link.download;
  if (down_s > up_s) return {who, "download", link.download / kMbit, down_s};
  return {who, "upload", link.upload / kMbit, up_s};
}

bool demoted(const Duty& duty) {
  return duty.left_out || duty.codec > 0 || duty.role == wire::MemberRole::deferred ||
         duty.role == wire::MemberRole::auxiliary;
}

std::string remedy(const Duty& duty, const RoleOptions& options) {
  if (duty.left_out) return "it is left out";
  if (duty.role == wire::MemberRole::auxiliary) return "it only adds up";
  std::string text;
  if (duty.codec > 0) text = fmt::format("it sends {}", to_string(options.codecs[duty.codec].codec));
  if (duty.role != wire::MemberRole::deferred) return text;
  return text + (text.empty() ? "it" : " and") + fmt::format(" has the result after {:.1f} s", duty.ready_s);
}

}  // namespace

std::string explain(std::span<const std::string> names, std::span<const Volunteer> volunteers,
                    const RoleOptions& options, const RoleChoice& choice) {
  if (volunteers.size() < 2) return "alone: nothing to average with";
  std::vector<Link> links;
  for (const Volunteer& volunteer : volunteers) links.push_back(volunteer.link);
  links = with_typical_speeds(links);
  const auto known = [](const Volunteer& one) { return one.link.upload > 0 || one.link.download > 0; };
  if (std::none_of(volunteers.begin(), volunteers.end(), known)) return "nobody's line has been measured yet";
  std::vector<Narrow> spared;
  Narrow slowest;
  for (std::size_t i = 0; i < links.size(); ++i) {
    const Narrow line = narrow(i, links[i], options);
    if (line.seconds > slowest.seconds) slowest = line;
    if (demoted(choice.duties[i])) spared.push_back(line);
  }
  const auto longer = [](const Narrow& a, const Narrow& b) { return a.seconds < b.seconds; };
  if (!spared.empty()) {
    const Narrow worst = *std::max_element(spared.begin(), spared.end(), longer);
    const std::string others = spared.size() > 1 ? fmt::format(" (and {} others are spared)", spared.size() - 1) : "";
    return fmt::format(
        "the {} of {}, {:.3g} Mbit/s, would hold the averaging at {:.1f} s: {}{}; the others take {:.1f} s",
        worst.direction, names[worst.who], worst.mbit_per_s, worst.seconds, remedy(choice.duties[worst.who], options),
        others, choice.averaging_s);
  }
  if (slowest.seconds * kBoundSlack >= choice.averaging_s - options.overhead_s && volunteers.size() > 2) {
    return fmt::format("the {} of {}, {:.3g} Mbit/s, bounds the averaging at {:.1f} s", slowest.direction,
                       names[slowest.who], slowest.mbit_per_s, choice.averaging_s);
  }
  return fmt::format("all lines are used: the averaging takes {:.1f} s", choice.averaging_s);
}

}  // namespace starling::swarm
