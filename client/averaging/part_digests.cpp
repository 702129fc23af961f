#include "client/averaging/part_digests.h"

namespace starling::averaging {

Hash128 part_digest(std::span<const Hash128> segments) {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(segments.size() * Hash128::kSize);
  for (const Hash128& digest : segments) bytes.insert(bytes.end(), digest.bytes.begin(), digest.bytes.end());
  return hash128(bytes);
}

ReceivedDigests::ReceivedDigests(const SegmentTable& table, Rank self)
    : table_(table), self_(self), senders_(table.members()) {}

Status ReceivedDigests::take(Rank from, SegmentIndex segment, std::span<const std::uint8_t> payload,
                             const Hash128& said) {
  if (table_[segment].owner != self_) return {};
  const SegmentIndex first = table_.first(self_);
  Sender& sender = senders_[from];
  if (sender.here.empty()) {
    sender.missing = table_.first(self_ + 1) - first;
    sender.segments.resize(sender.missing);
    sender.here.resize(sender.missing);
  }
  const std::size_t at = segment - first;
  if (sender.here[at]) return {};
  sender.here[at] = true;
  sender.segments[at] = hash128(payload);
  if (--sender.missing > 0 || part_digest(sender.segments) == said) return {};
  return nonsense("it contributes other values than it began with");
}

}  // namespace starling::averaging
