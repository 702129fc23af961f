// A liar: the owner of a part gives some members other values than the rest, and seals for each what it gave it. It
// changes frames that an honest engine sends.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "client/averaging/codec.h"
#include "client/averaging/segment_table.h"
#include "shared/crypto/peer_signer.h"
#include "shared/wire/frames.h"

namespace starling::averaging {

class SplitOwner {
 public:
  using IsVictim = std::function<bool(Rank)>;

  SplitOwner(wire::GroupInfo group, Rank self, std::shared_ptr<const crypto::PeerSigner> signer, IsVictim is_victim)
      : group_(std::move(group)), self_(self), signer_(std::move(signer)), is_victim_(std::move(is_victim)) {}

  // Changes the payload of a frame to `to`, if there is something to gain. `seals`: it lies in its seals, too.
  void change(Rank to, const wire::FrameHeader& header, std::vector<std::uint8_t>& payload, bool seals = true) {
    if (header.group != group_.id || !is_victim_(to)) return;
    SegmentTable& told = told_.try_emplace(to, group_).first->second;
    if (header.type == wire::FrameType::result && told[header.segment].owner == self_) {
      const std::size_t set_bytes = (group_.members.size() + 7) / 8;
      payload[set_bytes] ^= 1;
      const auto all = std::span<const std::uint8_t>(payload);
      std::vector<float> values(told[header.segment].floats);
      const bool sound = decode(header.codec, all.subspan(set_bytes), values).ok();
      const auto bytes = std::as_bytes(std::span(values));
      if (sound && !told.held(header.segment)) {
        told.hold(header.segment, all.first(set_bytes),
                  hash128({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}));
      }
    }
    if (header.type != wire::FrameType::seal || !seals || told.missing(self_) > 0) return;
    wire::Seal seal = wire::decode_seal(payload).value();
    if (seal.rank != self_) return;
    seal.part_digest = told.part_digest(self_);
    seal.signature = signer_->sign(wire::signed_text(seal));
    payload = wire::encode(seal);
  }

 private:
  wire::GroupInfo group_;
  Rank self_;
  std::shared_ptr<const crypto::PeerSigner> signer_;
  IsVictim is_victim_;
  std::map<Rank, SegmentTable> told_;  // by victim, its part as it was given
};

}  // namespace starling::averaging
