#include "tests/netlab/link_spec.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>

namespace starling::netlab {
namespace {

constexpr double kMbitMin = 0.1;
constexpr double kMbitMax = 100'000;
constexpr double kDelayMsMax = 5'000;
constexpr int kBisections = 100;

Error bad_link(std::string_view item, std::string_view why) {
  return {ErrorCode::invalid_argument, fmt::format("link '{}': {}; write UP[:DOWN[:DELAY_MS]][xCOUNT] with rates in "
                                                   "Mbit/s, such as 100x4 or 200:50:10",
                                                   item, why)};
}

// Removes the number at the start of `text` and returns it; NaN when there is none.
double take_number(std::string_view& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::numeric_limits<double>::quiet_NaN();
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

bool take(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

Status add_links(std::string_view item, std::vector<LinkSpec>& links) {
  std::string_view rest = item;
  LinkSpec link;
  double delay_ms = 0;
  double count = 1;
  link.up_mbit = link.down_mbit = take_number(rest);
  if (take(rest, ':')) link.down_mbit = take_number(rest);
  if (take(rest, ':')) delay_ms = take_number(rest);
  if (take(rest, 'x')) count = take_number(rest);
  if (!rest.empty()) return bad_link(item, fmt::format("'{}' makes no sense there", rest));
  for (const double mbit : {link.up_mbit, link.down_mbit}) {
    if (!(mbit >= kMbitMin && mbit <= kMbitMax)) return bad_link(item, "a rate is missing or out of range");
  }
  if (!(delay_ms >= 0 && delay_ms <= kDelayMsMax)) return bad_link(item, "the delay is missing or out of range");
  if (!(count >= 1 && count <= static_cast<double>(kLinksMax) && count == std::floor(count))) {
    return bad_link(item, "the count is missing or out of range");
  }
  link.delay = from_seconds(delay_ms / 1000);
  links.insert(links.end(), static_cast<std::size_t>(count), link);
  return {};
}

// Whether peers that send and receive for `seconds` can own shares that sum to one.
bool shares_fit(double seconds, double bytes, std::span<const LinkSpec> links) {
  const double others = static_cast<double>(links.size()) - 2;
  double total = 0;
  for (const LinkSpec& link : links) {
    const double rate = std::min(link.up_mbit, link.down_mbit) * 1e6 / 8;
    total += std::max(0.0, (seconds * rate / bytes - 1) / others);
  }
  return total >= 1;
}

}  // namespace

Result<std::vector<LinkSpec>> parse_links(std::string_view text) {
  std::vector<LinkSpec> links;
  for (bool more = true; more;) {
    const std::size_t comma = text.find(',');
    STARLING_TRY(add_links(text.substr(0, comma), links));
    more = comma != std::string_view::npos;
    if (more) text.remove_prefix(comma + 1);
  }
  if (links.size() < 2 || links.size() > kLinksMax) {
    return Error{ErrorCode::invalid_argument, fmt::format("{} links; 2 to {} make sense", links.size(), kLinksMax)};
  }
  return links;
}

double all_reduce_bound_s(double bytes, std::span<const LinkSpec> links) {
  double slowest = std::numeric_limits<double>::infinity();
  double up_sum = 0;
  double down_sum = 0;
  for (const LinkSpec& link : links) {
    slowest = std::min({slowest, link.up_mbit * 1e6 / 8, link.down_mbit * 1e6 / 8});
    up_sum += link.up_mbit * 1e6 / 8;
    down_sum += link.down_mbit * 1e6 / 8;
  }
  const double transfers = 2 * (static_cast<double>(links.size()) - 1);
  double low = bytes * std::max({1 / slowest, transfers / up_sum, transfers / down_sum});
  if (links.size() <= 2 || shares_fit(low * (1 + 1e-9), bytes, links)) return low;
  double high = bytes * transfers / slowest;  // even shares take less
  for (int i = 0; i < kBisections; ++i) {
    const double middle = (low + high) / 2;
    (shares_fit(middle, bytes, links) ? high : low) = middle;
  }
  return high;
}

}  // namespace starling::netlab
