#include "coordinator/server/data_intake.h"

#include <fmt/core.h>

#include <utility>

#include "shared/base/words.h"
#include "shared/crypto/digest.h"

namespace starling::server {
namespace {

// More held-out data than this in the training data is no chance.
constexpr double kRepeatedMax = 0.5;
// Less than this is not worth a word: licences and greetings are in every text.
constexpr double kRepeatedNote = 0.1;
// Volunteers set single samples aside that have no gradient; one after the other, which takes its time.
constexpr double kNotFiniteMax = 0.01;

std::string quoted(const std::filesystem::path& file) { return fmt::format("'{}'", file.string()); }

std::string_view place_word(wire::DataKind kind) {
  switch (kind) {
    case wire::DataKind::bytes:
      return "byte";
    case wire::DataKind::tokens:
      return "token";
    case wire::DataKind::labelled:
      break;
  }
  return "sample";
}

}  // namespace

Result<DataIntake::Look> DataIntake::begin(const FilePart& part) {
  STARLING_ASSIGN(const std::int64_t bytes, file_bytes(part.file));
  std::vector<std::uint8_t> head;
  std::uint64_t part_bytes = static_cast<std::uint64_t>(bytes);
  if (manifest_.data.kind == wire::DataKind::bytes) {
    part_bytes = static_cast<std::uint64_t>(part.bytes < 0 ? bytes - part.offset : part.bytes);
  } else {
    STARLING_ASSIGN(head, read_file_head(part.file, wire::kTensorHeadBytesMax));
  }
  // The numbers of items that a run needs depend on its batch, too: check_manifest() knows them.
  auto parts = wire::find_data_parts(manifest_, head, part_bytes, 1);
  if (parts) {
    const Status sound = wire::check_new_parts(manifest_, *parts);
    if (!sound.ok()) parts = sound.error();
  }
  if (!parts) {
    return parts.error().prefixed(fmt::format("{} holds no data of kind '{}' that this model can be trained on",
                                              quoted(part.file), word_of(manifest_.data.kind)));
  }
  // Only a script takes samples of any size.
  if (held_out_ && parts->values && held_out_->values_each != parts->values_each) {
    return Error{ErrorCode::corrupt,
                 fmt::format("{}: the samples in its tensor 'inputs' have {} values each, and those "
                             "that are held out {}",
                             quoted(part.file), parts->values_each, held_out_->values_each)};
  }
  return Look{*parts, wire::DataPass(*parts)};
}

LookAt DataIntake::through(const FilePart& part, Look& look) {
  return [this, &part, &look](std::span<const std::uint8_t> bytes) -> Status {
    const Status sound = look.pass.look_at(bytes);
    if (!sound.ok()) return sound.error().prefixed(quoted(part.file));
    if (!held_out_) return search_->add_held_out(bytes);
    STARLING_TRY(search_->look_through(bytes));
    if (repeated_.train.empty() && search_->first_found()) {
      repeated_.train = part.file;
      repeated_.at = *search_->first_found();
    }
    return {};
  };
}

Result<wire::Artefact> DataIntake::read(const FilePart& part, Look& look) {
  crypto::Sha256 digest;
  wire::Artefact file;
  STARLING_TRY(read_part(part, [&, look_at = through(part, look)](std::span<const std::uint8_t> bytes) -> Status {
    digest.update({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    file.bytes += static_cast<std::int64_t>(bytes.size());
    return look_at(bytes);
  }));
  file.sha256 = digest.finish();
  return file;
}

Result<wire::Artefact> DataIntake::take(const FilePart& part, Look& look) {
  if (!is_artefact(part)) return import_artefact(part, folder_, through(part, look));
  STARLING_ASSIGN(const wire::Artefact file, read(part, look));
  if (file.sha256.hex() == part.file.filename().string()) return file;
  return Error{ErrorCode::corrupt, fmt::format("{} is damaged: its content has another digest than the one that it is "
                                               "named after",
                                               quoted(part.file))};
}

bool DataIntake::is_artefact(const FilePart& part) const {
  const bool whole = part.offset == 0 && part.bytes < 0;
  if (artefacts_.empty() || !whole || !Digest::from_hex(part.file.filename().string())) return false;
  std::error_code unknown;
  return std::filesystem::is_regular_file(std::filesystem::symlink_status(part.file, unknown)) &&
         std::filesystem::equivalent(part.file.parent_path(), artefacts_, unknown);
}

void DataIntake::end(const FilePart& part, const Look& look) {
  const wire::DataPass::NotFinite& found = look.pass.not_finite();
  not_finite_.of += look.parts.items;
  if (found.samples > 0 && not_finite_.samples == 0) {
    not_finite_.first = fmt::format("sample {} in the tensor 'inputs' of {}", found.first, quoted(part.file));
  }
  not_finite_.samples += found.samples;
}

Result<DataIntake::Taken> DataIntake::held_out(const FilePart& part) {
  STARLING_ASSIGN(Look look, begin(part));
  search_.emplace(look.parts);
  repeated_.held_out = part.file;
  STARLING_ASSIGN(const wire::Artefact file, take(part, look));
  end(part, look);
  held_out_ = look.parts;
  return Taken{file, look.parts.items};
}

Result<DataIntake::Taken> DataIntake::train(const FilePart& part) {
  STARLING_ASSIGN(Look look, begin(part));
  search_->begin_training_file(look.parts);
  STARLING_ASSIGN(const wire::Artefact file, take(part, look));
  end(part, look);
  return Taken{file, look.parts.items};
}

Result<DataIntake::Taken> DataIntake::look_at_train(const FilePart& part) {
  STARLING_ASSIGN(Look look, begin(part));
  search_->begin_training_file(look.parts);
  STARLING_ASSIGN(const wire::Artefact file, read(part, look));
  end(part, look);
  return Taken{file, look.parts.items};
}

Result<std::vector<std::string>> DataIntake::judge(bool held_out_may_repeat) const {
  std::vector<std::string> notes;
  if (not_finite_.samples > 0) {
    std::string text = fmt::format("{} of {} samples have values that are not finite numbers, the first is {}",
                                   not_finite_.samples, not_finite_.of, not_finite_.first);
    if (static_cast<double>(not_finite_.samples) > kNotFiniteMax * static_cast<double>(not_finite_.of)) {
      return Error{ErrorCode::invalid_argument, text + "; nobody can train on them: leave them out"};
    }
    notes.push_back(text + "; volunteers will set them aside");
  }
  const double share = search_ ? search_->share_found() : 0;
  if (share < kRepeatedNote) return notes;
  std::string text = fmt::format(
      "{:.0f} % of the held-out data in {} stand in the training data, too, first in {} from {} {} on", 100 * share,
      quoted(repeated_.held_out), quoted(repeated_.train), place_word(manifest_.data.kind), repeated_.at);
  if (share >= kRepeatedMax && !held_out_may_repeat) {
    return Error{ErrorCode::invalid_argument,
                 text +
                     ": what is measured on them would tell how much is learnt by heart. Hold other data out; or, "
                     "if that is what you want, say --held-out-may-repeat"};
  }
  notes.push_back(std::move(text));
  return notes;
}

}  // namespace starling::server
