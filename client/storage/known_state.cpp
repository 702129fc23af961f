#include "client/storage/known_state.h"

#include "shared/base/files.h"
#include "shared/wire/fields.h"

namespace starling::storage {
namespace {

constexpr std::size_t kFileBytesMax = 4096;
constexpr wire::Whole kNumber{0, INT64_MAX};

std::filesystem::path file_of(const std::filesystem::path& folder, const RunId& run_id) {
  return folder / ("known-state-" + run_id + ".json");
}

}  // namespace

template <typename Visitor>
void each_field(Visitor& visit, wire::Seen<Visitor, KnownState>& known) {
  visit("round", known.round, kNumber);
  visit("state_digest", known.state_digest);
  visit("serial", known.serial, kNumber);
}

Result<KnownState> load_known_state(const std::filesystem::path& folder, const RunId& run_id) {
  const auto text = read_file(file_of(folder, run_id), kFileBytesMax);
  if (!text.ok() && text.error().code == ErrorCode::not_found) return KnownState{};
  if (!text.ok()) return text.error();
  return wire::decode_fields<KnownState>(*text, "known state", kFileBytesMax);
}

Status save_known_state(const std::filesystem::path& folder, const RunId& run_id, const KnownState& known) {
  return write_file_atomically(file_of(folder, run_id), wire::encode_fields(known));
}

}  // namespace starling::storage
