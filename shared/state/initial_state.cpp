#include "shared/state/initial_state.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "shared/base/os_error.h"
#include "shared/base/permutation.h"
#include "shared/base/unique_fd.h"
#include "shared/base/verify.h"
#include "shared/run/model_layout.h"
#include "shared/state/state_digest.h"
#include "shared/wire/safetensors.h"

namespace starling::state {

namespace {

// Uniform in [-1, 1): 53 random bits, exact in double precision.
double signed_unit(std::uint64_t seed, std::uint64_t index) {
  return static_cast<double>(mix64(seed ^ mix64(index)) >> 11) * 0x1p-52 - 1;
}

Error not_there(const wire::ParameterInfo& info) {
  return {ErrorCode::corrupt, "read the model's parameters: '" + info.name +
                                  "' is not there with the manifest's shape, or has values that are not finite"};
}

// Makes any part of the state.
class StateMaker {
 public:
  explicit StateMaker(const wire::RunManifest& manifest)
      : layout_(wire::model_layout(manifest.model)),
        seed_(manifest.seed),
        parameters_(wire::parameter_count(manifest.model)),
        size_(wire::state_size(manifest)) {}

  // Takes parameters from this file, which must outlive this object.
  Status read_from(const ParameterFile& file) {
    std::vector<std::uint8_t> head(
        static_cast<std::size_t>(std::min<std::uint64_t>(file.bytes, wire::kTensorHeadBytesMax)));
    STARLING_TRY(file.read(0, head));
    STARLING_ASSIGN(const auto tensors, wire::read_tensor_head(head, file.bytes));
    for (const wire::ParameterInfo& info : layout_) {
      const wire::TensorInfo* tensor = wire::find_tensor(tensors, info.name);
      if (tensor == nullptr || tensor->type != wire::TensorType::f32 || tensor->shape != info.shape) {
        return not_there(info);
      }
      places_.push_back(tensor->begin);
    }
    file_ = &file;
    return {};
  }

  [[nodiscard]] std::size_t size() const { return size_; }
  // Index of the first float of the moments.
  [[nodiscard]] std::size_t parameters() const { return parameters_; }

  // Fills `piece` with the floats [first, first + piece.size()).
  Status fill(std::size_t first, std::span<float> piece) const {
    VERIFY(first + piece.size() <= size_);
    for (std::size_t i = 0; i < layout_.size(); ++i) {
      const wire::ParameterInfo& info = layout_[i];
      const std::size_t begin = std::max(info.offset, first);
      const std::size_t end = std::min(info.offset + info.count, first + piece.size());
      if (begin >= end) continue;
      const std::span<float> values = piece.subspan(begin - first, end - begin);
      if (file_ == nullptr) {
        draw(info, info.drawn_at + (begin - info.offset), values);
      } else {
        STARLING_TRY(read(i, begin, values));
      }
    }
    const std::size_t moments = std::clamp(parameters_, first, first + piece.size()) - first;
    std::fill(piece.begin() + static_cast<std::ptrdiff_t>(moments), piece.end(), 0.0F);
    return {};
  }

 private:
  void draw(const wire::ParameterInfo& info, std::size_t index, std::span<float> values) const {
    for (float& value : values) {
      value = info.initial_bound > 0 ? static_cast<float>(info.initial_bound * signed_unit(seed_, index))
                                     : info.initial_value;
      ++index;
    }
  }

  Status read(std::size_t parameter, std::size_t index, std::span<float> values) const {
    const wire::ParameterInfo& info = layout_[parameter];
    const std::uint64_t offset = places_[parameter] + (index - info.offset) * sizeof(float);
    STARLING_TRY(file_->read(offset, {reinterpret_cast<std::uint8_t*>(values.data()), values.size_bytes()}));
    const auto finite = [](float value) { return std::isfinite(value); };
    return std::all_of(values.begin(), values.end(), finite) ? Status() : not_there(info);
  }

  std::vector<wire::ParameterInfo> layout_;
  std::uint64_t seed_;
  std::size_t parameters_;
  std::size_t size_;
  const ParameterFile* file_ = nullptr;
  std::vector<std::uint64_t> places_;  // offsets of the layout's parameters in the file
};

Result<Digest> digest_of(const StateMaker& maker) {
  std::vector<float> chunk(std::min(maker.size(), wire::kStateChunkFloats));
  std::vector<Digest> digests;
  Digest zeros;  // digest of a whole chunk of moments: most chunks are like that
  for (std::size_t first = 0; first < maker.size(); first += chunk.size()) {
    const std::span<float> piece = std::span(chunk).first(std::min(chunk.size(), maker.size() - first));
    const bool is_zero = first >= maker.parameters() && piece.size() == chunk.size();
    if (is_zero && !zeros.is_zero()) {
      digests.push_back(zeros);
      continue;
    }
    STARLING_TRY(maker.fill(first, piece));
    digests.push_back(chunk_digest(piece));
    if (is_zero) zeros = digests.back();
  }
  return state_digest(digests);
}

}  // namespace

Result<ParameterFile> open_parameters(const std::filesystem::path& path) {
  const auto fd = std::make_shared<UniqueFd>(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info = {};
  if (!*fd || ::fstat(fd->get(), &info) != 0) return os_error("open", path, errno);
  ParameterFile file;
  file.bytes = static_cast<std::uint64_t>(info.st_size);
  file.read = [fd, path](std::uint64_t offset, std::span<std::uint8_t> out) -> Status {
    while (!out.empty()) {
      const ssize_t got = ::pread(fd->get(), out.data(), out.size(), static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return os_error("read", path, errno);
      if (got == 0) return Error{ErrorCode::corrupt, fmt::format("read '{}': it ends too early", path.string())};
      out = out.subspan(static_cast<std::size_t>(got));
      offset += static_cast<std::uint64_t>(got);
    }
    return {};
  };
  return file;
}

ParameterFile parameters_in(std::span<const std::uint8_t> file) {
  return {file.size(), [file](std::uint64_t offset, std::span<std::uint8_t> out) -> Status {
            VERIFY(offset + out.size() <= file.size());
            std::memcpy(out.data(), file.data() + offset, out.size());
            return {};
          }};
}

void fill_initial_state(const wire::RunManifest& manifest, std::span<float> state) {
  const StateMaker maker(manifest);
  VERIFY(state.size() == maker.size());
  VERIFY(maker.fill(0, state).ok());  // no file is read
}

Status load_initial_state(const wire::RunManifest& manifest, const ParameterFile& file, std::span<float> state) {
  StateMaker maker(manifest);
  VERIFY(state.size() == maker.size());
  STARLING_TRY(maker.read_from(file));
  return maker.fill(0, state);
}

Digest initial_state_digest(const wire::RunManifest& manifest) {
  const auto digest = digest_of(StateMaker(manifest));
  VERIFY(digest.ok());  // no file is read
  return *digest;
}

Result<Digest> initial_state_digest(const wire::RunManifest& manifest, const ParameterFile& file) {
  StateMaker maker(manifest);
  STARLING_TRY(maker.read_from(file));
  return digest_of(maker);
}

Status check_initial_state(const wire::RunManifest& manifest, const Digest& made) {
  const Digest& wanted = manifest.initial_state_digest;
  if (wanted.is_zero() || made == wanted) return {};
  return Error{ErrorCode::failed_precondition,
               fmt::format("make the initial state of run '{}': this Starling makes {}, and the project has signed {}, "
                           "so it could not train as the others do; update Starling, and if that changes nothing, tell "
                           "the project's operator",
                           manifest.run_id, made.brief(), wanted.brief())};
}

}  // namespace starling::state
