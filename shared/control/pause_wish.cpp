#include "shared/control/pause_wish.h"

#include <array>

#include "shared/wire/json_reader.h"
#include "shared/wire/json_writer.h"

namespace starling::wire {
namespace {

constexpr std::size_t kWishBytesMax = 16 * 1024;
constexpr std::int64_t kTimeMax = std::int64_t{1} << 52;
constexpr std::array<std::string_view, 3> kKinds = {"none", "after_round", "now"};

void read_kind(JsonReader& in, PauseKind& kind) {
  std::string name;
  in.text("pause", name, kPauseReasonBytesMax);
  for (std::size_t i = 0; i < kKinds.size(); ++i) {
    if (kKinds[i] != name) continue;
    kind = static_cast<PauseKind>(i);
    return;
  }
  in.refuse("pause", "must be none, after_round or now");
}

}  // namespace

std::string encode(const PauseWish& wish) {
  JsonWriter out;
  out.open("", '{');
  out.text("pause", kKinds[static_cast<std::size_t>(wish.kind)]);
  out.integer("until_ms", wish.until.unix_ms);
  out.text("reason", wish.reason);
  out.boolean("gpu_pause", wish.gpu);
  out.integer("gpu_until_ms", wish.gpu_until.unix_ms);
  out.close('}');
  return std::move(out.str());
}

Result<PauseWish> decode_pause_wish(std::string_view json) {
  return decode_json<PauseWish>(json, "pause", kWishBytesMax, [](JsonReader& in, PauseWish& wish) {
    read_kind(in, wish.kind);
    in.integer("until_ms", wish.until.unix_ms, 0, kTimeMax);
    in.text("reason", wish.reason, kPauseReasonBytesMax);
    in.boolean("gpu_pause", wish.gpu);
    in.integer("gpu_until_ms", wish.gpu_until.unix_ms, 0, kTimeMax);
  });
}

}  // namespace starling::wire
