// The vectors of one round, segment by segment, and the encoded forms in which segments travel. An owner keeps the
// decoded form of what it sends, so that all members hold equal bits.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "client/averaging/codec.h"
#include "client/averaging/encoded_results.h"
#include "client/averaging/segment_table.h"

namespace starling::averaging {

class RoundValues {
 public:
  using Payload = std::span<const std::uint8_t>;

  // `table` outlives this object.
  RoundValues(const wire::GroupInfo& group, const SegmentTable& table, const RoundVectors& vectors);

  [[nodiscard]] const RoundVectors& vectors() const { return vectors_; }
  [[nodiscard]] std::span<const float> input_of(SegmentIndex segment) const;

  [[nodiscard]] Codec result_codec() const { return codec_; }
  [[nodiscard]] Codec contribution_codec(Rank rank) const { return contribution_codecs_[rank]; }

  // Errors name the breach of the protocol.
  [[nodiscard]] Status check_codec(Rank from, const wire::FrameHeader& header) const;
  [[nodiscard]] Status check_contribution(Rank from, SegmentIndex segment, Payload payload) const;
  [[nodiscard]] Status check_result(SegmentIndex segment, Payload payload) const;

  // The contributor set in a checked result.
  [[nodiscard]] Payload contributors(Payload result) const { return result.first(set_bytes_); }
  // Decodes the values of a checked result into the output. Returns their digest.
  Result<Hash128> take_result(SegmentIndex segment, Payload payload);
  // The output holds the mean of a sum of this weight, and becomes the result: the decoded form of its encoding. Fills
  // in the segment's rest where the vectors have one. Returns the digest of the values.
  Hash128 make_result(SegmentIndex segment, SampleCount weight);
  // By segment: the values held were made here. A late member may have made values and received other ones.
  [[nodiscard]] std::vector<bool> made_here() const;

  // Points the frame's payload at the encoded values. A result's are the very bytes that its owner sent, because
  // encoding is idempotent.
  void put_result(SegmentIndex segment, OutgoingFrame& frame);
  void put_contribution(SegmentIndex segment, Rank self, Rank to, OutgoingFrame& frame);

 private:
  [[nodiscard]] std::span<float> output_of(SegmentIndex segment) const;
  [[nodiscard]] Hash128 digest_of(SegmentIndex segment) const;
  EncodedResults::Bytes encoded_contribution(Codec codec, Rank to, std::span<const float> values);
  EncodedResults::Bytes encoded_result(SegmentIndex segment);

  const SegmentTable& table_;
  RoundVectors vectors_;
  Codec codec_;                                         // codec of results
  std::vector<Codec> contribution_codecs_;              // by rank
  std::size_t set_bytes_;                               // size of a contributor set on the wire
  EncodedResults encoded_;                              // empty where the codec is fp32
  std::vector<EncodedResults::Bytes> contributions_;    // by rank: the last contribution that was encoded for it
  std::vector<std::pair<SegmentIndex, Hash128>> made_;  // with the digests of the values
};

}  // namespace starling::averaging
