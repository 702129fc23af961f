// Audits (Trainer::audit_batch) over the link. The parameters to audit at are a file in memory, which a child gets once
// as an open descriptor, and maps; it needs no path for it, and no copy. Parts and sketches are texts of messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/result.h"
#include "shared/base/unique_fd.h"
#include "shared/protocol/audit.h"

namespace starling::trainer_link {

// invalid_argument unless there are 1 to wire::kAuditPartsMax parts, all within a vector of that many floats.
Status check_parts(std::span<const wire::SketchedPart> parts, std::size_t floats);

std::string pack_parts(std::span<const wire::SketchedPart> parts);
// corrupt for bytes that are no whole parts, or too many.
Result<std::vector<wire::SketchedPart>> unpack_parts(std::string_view packed);

std::string pack_sketches(std::span<const double> sketches);
// corrupt unless these are sketches of that many parts, and all their numbers are finite.
Result<std::vector<double>> unpack_sketches(std::string_view packed, std::size_t parts);

// The daemon's end of the parameters. Nobody can change or shorten the file.
class AuditedParameters {
 public:
  AuditedParameters() = default;
  AuditedParameters(const AuditedParameters&) = delete;
  AuditedParameters& operator=(const AuditedParameters&) = delete;
  ~AuditedParameters() { release(); }

  // Copies the parameters to a new file, unless the present one holds just these. resource_exhausted when there is not
  // enough memory; then there is no file.
  Status hold(std::span<const float> parameters);
  void release();
  [[nodiscard]] bool held() const { return !bytes_.empty(); }
  [[nodiscard]] int fd() const { return fd_.get(); }
  // Whether the present file was given to that child, a number of starts.
  [[nodiscard]] bool is_at(std::int64_t child) const { return held() && child_ == child; }
  void went_to(std::int64_t child) { child_ = child; }

 private:
  UniqueFd fd_;
  std::span<const std::byte> bytes_;
  std::int64_t child_ = 0;  // 0: none
};

}  // namespace starling::trainer_link
