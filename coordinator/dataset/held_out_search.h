// Held-out data that is found again in the training data: what is measured on it would say how much a model has learnt
// by heart.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "shared/base/result.h"
#include "shared/run/data_file.h"
#include "shared/wire/tensor_pieces.h"

namespace starling::dataset {

// Cuts held-out text into stretches of kStretchTokens tokens, and looks for each of them everywhere in training text.
// A labelled sample's values are such a piece, and are compared with the values of each training sample. Where there is
// much held-out data, kPiecesMax pieces are looked for, at equal distances.
// First all of the held-out file goes in, then the training files, one after the other.
class HeldOutSearch {
 public:
  static constexpr std::int64_t kStretchTokens = 64;
  static constexpr std::int64_t kPiecesMax = 1 << 20;

  explicit HeldOutSearch(const wire::DataParts& held_out);
  // Takes the next bytes of the held-out file.
  Status add_held_out(std::span<const std::uint8_t> bytes);
  void begin_training_file(const wire::DataParts& parts);
  // Takes the next bytes of that file.
  Status look_through(std::span<const std::uint8_t> bytes);

  // The held-out pieces that were found so far, in [0, 1].
  [[nodiscard]] double share_found() const;
  // The token or sample at which the first one begins in its training file; nothing while none was found.
  [[nodiscard]] std::optional<std::int64_t> first_found() const { return first_found_; }

 private:
  // Text as it comes, as the hash of its last tokens.
  struct Rolling {
    std::vector<std::uint64_t> ring;  // the last `stretch` tokens
    std::size_t oldest = 0;           // its place there
    std::int64_t tokens = 0;
    std::uint64_t hash = 0;
  };
  // Reads the file's next bytes; calls take(hash, where it begins) at the end of every token or sample.
  template <typename Take>
  Status read(std::span<const std::uint8_t> bytes, const Take& take);
  void begin(const wire::DataParts& parts);
  void roll(std::uint64_t token);
  void find(std::uint64_t hash, std::int64_t begins);

  std::int64_t stretch_ = 0;  // tokens; 0: samples
  std::int64_t apart_ = 1;    // tokens or samples between the begins of held-out pieces that are looked for
  std::uint64_t out_factor_ = 1;
  std::optional<wire::TensorPieces> pieces_;
  wire::TensorType type_ = wire::TensorType::u8;
  std::size_t unit_ = 1;  // bytes of a number, or of a sample's values
  Rolling rolling_;
  std::int64_t samples_ = 0;  // that the file has had so far

  struct Piece {
    std::int64_t count = 0;
    bool found = false;
  };
  std::unordered_map<std::uint64_t, Piece> held_out_;
  std::vector<bool> may_hold_;  // by a hash's last bits: most of the training text needs no more than this
  std::int64_t pieces_count_ = 0;
  std::int64_t found_ = 0;
  std::optional<std::int64_t> first_found_;
};

}  // namespace starling::dataset
