#include "client/trainer_link/serve.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <new>
#include <utility>

#include "client/trainer_link/audits.h"
#include "client/trainer_link/channel.h"
#include "client/trainer_link/child_fds.h"
#include "client/trainer_link/messages.h"
#include "client/trainer_link/sandbox.h"
#include "client/trainer_link/shared_floats.h"
#include "client/trainer_link/shared_region.h"
#include "shared/run/cells.h"
#include "shared/run/epochs.h"
#include "shared/run/model_layout.h"

namespace starling::trainer_link {
namespace {

// A file, mapped for reading. A process that shortens the file kills this process, and nothing else.
class MappedFile {
 public:
  static Result<MappedFile> map(int fd, std::int64_t bytes) {
    struct stat info {};
    if (::fstat(fd, &info) != 0 || info.st_size != bytes || bytes <= 0) {
      return Error{ErrorCode::corrupt, fmt::format("map a file: it does not have the {} bytes of the manifest", bytes)};
    }
    void* base = ::mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ, MAP_PRIVATE, fd, 0);
    if (base == MAP_FAILED) return Error{ErrorCode::io, fmt::format("map a file: {}", std::strerror(errno))};
    return MappedFile({static_cast<std::uint8_t*>(base), static_cast<std::size_t>(bytes)});
  }
  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  MappedFile& operator=(MappedFile&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~MappedFile() {
    if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
  }
  [[nodiscard]] std::span<const std::uint8_t> bytes() const { return bytes_; }

 private:
  explicit MappedFile(std::span<std::uint8_t> bytes) : bytes_(bytes) {}
  std::span<std::uint8_t> bytes_;
};

// The trainer's inputs, which must outlive it.
struct TrainerFiles {
  MappedFile train;  // unset in a run with shards
  MappedFile validation;
  MappedFile program;  // program of a script
  MappedFile audited;  // parameters of audits; unset: none
  std::shared_ptr<const MappedFile> shard;
  std::size_t shard_number = SIZE_MAX;
  std::uint64_t request = 0;  // sequence number of the request being answered
};

constexpr const char* kProcessor = "cpu";

struct GraphicsCards {
  std::vector<std::string> devices;  // empty: no card is used
  std::string unused;                // why none is, where one was allowed
};

// Landlock decides which files the process may read, or nobody needs to.
bool hides_files(const ChildLimits& limits) { return !limits.sandbox || (limits.landlock && has_landlock()); }

// Opens the cards; after any failure the processor computes instead.
GraphicsCards open_cards(const ChildLimits& limits, const TrainerParts& parts) {
  if (limits.gpu_memory_percent == 0 || !parts.open_graphics_cards) return {};
  if (limits.sandbox && !hides_files(limits)) return {{}, "this kernel has no Landlock to confine its driver with"};
  auto devices = parts.open_graphics_cards(limits.gpu_memory_percent);
  if (!devices.ok()) return {{}, devices.error().message};
  return {std::move(*devices), ""};
}

// The memory that the trainer keeps to on each device.
std::int64_t memory_limit(const ChildLimits& limits, bool on_cards, std::int64_t device_bytes) {
  return on_cards ? device_bytes / 100 * limits.gpu_memory_percent : static_cast<std::int64_t>(limits.memory_bytes);
}

// The objects that the commands use.
class Workplace {
 public:
  // Confines the process before it reads data from strangers.
  static Result<std::unique_ptr<Workplace>> open(const Request& start, const TrainerParts& parts) {
    const bool programs_run = hides_files(start.limits);  // confinement forbids this check
    const GraphicsCards cards = open_cards(start.limits, parts);
    const bool has_card = !cards.devices.empty();
    if (parts.warm_up) parts.warm_up(start.limits.threads);
    STARLING_TRY(limit_resources(start.limits.memory_bytes, has_card));
    std::string confinement = "not confined";
    if (start.limits.sandbox) {
      STARLING_ASSIGN(confinement, enter_sandbox({.graphics_card = has_card, .landlock = start.limits.landlock}));
    }
    TrainerResources resources;
    resources.devices = has_card ? cards.devices : std::vector<std::string>{kProcessor};
    STARLING_ASSIGN(resources.manifest, wire::decode_manifest(start.text));
    resources.manifest.model.experts.piece = start.piece;
    const session::StateLayout layout{wire::parameter_count(resources.manifest.model),
                                      wire::moment_vectors(resources.manifest.optimizer)};
    STARLING_ASSIGN(SharedRegion region,
                    SharedRegion::attach(kMemoryFd, layout, wire::local_state_size(resources.manifest)));
    auto files = std::make_unique<TrainerFiles>();
    if (start.piece != wire::kNoPiece) STARLING_TRY(open_data(resources, *files));
    if (wire::has_program(resources.manifest.model)) {
      if (!programs_run) {
        return Error{ErrorCode::unsupported,
                     "this run's model is a program, and this kernel has no Landlock to keep it from reading files: it "
                     "is not run here"};
      }
      STARLING_ASSIGN(files->program, MappedFile::map(kProgramFd, resources.manifest.model.script.program.bytes));
      resources.program = files->program.bytes();
    }
    resources.train_bytes = files->train.bytes();
    resources.validation_bytes = files->validation.bytes();
    resources.state = region.state();
    resources.gradient = region.gradient();
    resources.journal = &region.journal();
    resources.local = region.local();
    resources.threads = start.limits.threads;
    if (wire::gossips(resources.manifest.local)) {
      resources.bucket_stepped = [from = files.get()](const wire::Bucket& bucket) {
        Reply ahead;
        ahead.sequence = from->request;
        ahead.stepped_bucket = static_cast<int>(bucket.number);
        (void)send_message(kChannelFd, encode(ahead));  // a daemon that is gone is noticed at the reply
      };
    }
    STARLING_ASSIGN(MadeTrainer made, parts.make_trainer(resources));
    made.device.memory_max_bytes = memory_limit(start.limits, has_card, made.device.memory_bytes);
    made.device.card_unused = cards.unused;
    return std::unique_ptr<Workplace>(new Workplace(std::move(resources.manifest), std::move(files), std::move(region),
                                                    std::move(made), std::move(confinement)));
  }

  Reply carry_out(const Request& request) {
    files_->request = request.sequence;
    Reply reply;
    switch (request.command) {
      case Command::start:
        reply.layout = trainer_->layout();
        reply.text = confinement_;
        reply.device = device_;
        break;
      case Command::train_batch:
        reply = train_batch(request);
        break;
      case Command::step:
        reply.status = trainer_->step(request.round, region_.gradient());
        break;
      case Command::evaluate:
        fill(reply, reply.evaluation, trainer_->evaluate());
        break;
      case Command::sample_tokens:
        fill(reply, reply.text, sample_tokens(request));
        break;
      case Command::audit_parameters:
        reply.status = map_audited(request);
        break;
      case Command::audit_batch:
        fill(reply, reply.text, audit_batch(request));
        break;
      case Command::open_tray:
        reply.status = open_tray(request);
        break;
      case Command::hold_cell:
        reply.status = hold_cell(request);
        break;
      case Command::let_go_cell:
        if (tasks_ != nullptr) tasks_->let_go(request.cell);
        cells_.erase(request.cell);
        break;
      case Command::trunk_task:
        fill(reply, reply.batch.loss_sum, trunk_task(request));
        break;
      case Command::cell_task:
        reply.status = cell_task(request);
        break;
      case Command::tokens_of_text:
      case Command::text_of_tokens:
        reply.status = Error{ErrorCode::unsupported, "a trainer knows no text"};
        break;
    }
    return reply;
  }

 private:
  static Status open_data(TrainerResources& resources, TrainerFiles& files) {
    const wire::DataOptions& data = resources.manifest.data;
    if (data.shards.empty()) {
      STARLING_ASSIGN(files.train, MappedFile::map(kTrainFd, data.train.bytes));
    } else {
      resources.shard_bytes = [from = &files] { return SharedBytes{from->shard->bytes(), from->shard}; };
    }
    STARLING_ASSIGN(files.validation, MappedFile::map(kValidationFd, data.validation.bytes));
    return {};
  }

  Workplace(wire::RunManifest manifest, std::unique_ptr<TrainerFiles> files, SharedRegion region, MadeTrainer made,
            std::string confinement)
      : manifest_(std::move(manifest)),
        files_(std::move(files)),
        region_(std::move(region)),
        trainer_(std::move(made.trainer)),
        tasks_(made.tasks),
        device_(wire::within_bounds(std::move(made.device))),
        confinement_(std::move(confinement)) {}

  // Maps the batch's shard, whose file came with the request, in place of the previous one; nothing without shards.
  Status map_shard(const Request& request) {
    if (manifest_.data.shards.empty()) return {};
    const wire::SampleRange& samples = request.samples;
    const std::size_t shard = wire::shard_of(manifest_, samples);
    if (shard == files_->shard_number) return {};
    files_->shard_number = SIZE_MAX;
    STARLING_ASSIGN(MappedFile file, MappedFile::map(request.data_fd, manifest_.data.shards[shard].file.bytes));
    files_->shard = std::make_shared<const MappedFile>(std::move(file));
    files_->shard_number = shard;
    return {};
  }

  Reply train_batch(const Request& request) {
    Reply reply;
    if (request.ends_audits) files_->audited = MappedFile();
    reply.status = map_shard(request);
    if (!reply.status.ok()) return reply;
    const auto gradient = region_.gradient();
    if (request.merges_step) trainer_->merge_step();
    if (request.begins_sum) trainer_->begin_sum();
    if (request.begins_ahead) {
      trainer_->begin_sum_ahead(request.samples.round - 1, gradient, request.knows_own ? 1 : 0);
    }
    fill(reply, reply.batch, trainer_->train_batch(request.samples, gradient));
    return reply;
  }

  Status map_audited(const Request& request) {
    files_->audited = MappedFile();
    const auto bytes = static_cast<std::int64_t>(region_.layout().parameter_count * sizeof(float));
    STARLING_ASSIGN(files_->audited, MappedFile::map(request.data_fd, bytes));
    return {};
  }

  Result<std::string> audit_batch(const Request& request) {
    if (files_->audited.bytes().empty()) {
      return Error{ErrorCode::failed_precondition, "no parameters to audit at were given"};
    }
    STARLING_TRY(map_shard(request));
    const std::span<const float> parameters{reinterpret_cast<const float*>(files_->audited.bytes().data()),
                                            region_.layout().parameter_count};
    STARLING_ASSIGN(const std::vector<wire::SketchedPart> parts, unpack_parts(request.text));
    STARLING_TRY(check_parts(parts, parameters.size()));
    std::vector<double> sketches(parts.size() * wire::kSketchFloats);
    STARLING_TRY(trainer_->audit_batch(request.samples, parts, parameters, sketches));
    return pack_sketches(sketches);
  }

  Status open_tray(const Request& request) {
    if (tasks_ == nullptr) return Error{ErrorCode::unsupported, "this trainer has a whole model, and no tasks"};
    STARLING_ASSIGN(tray_, SharedFloats::attach(request.data_fd));
    return {};
  }

  Status hold_cell(const Request& request) {
    if (tasks_ == nullptr) return Error{ErrorCode::unsupported, "this trainer has a whole model, and no cells"};
    if (request.cell < 0 || static_cast<std::size_t>(request.cell) >= wire::cells_of(manifest_.model).size()) {
      return Error{ErrorCode::corrupt, "the model has no such cell"};
    }
    const wire::RunManifest cell = wire::piece_of(manifest_, request.cell);
    const std::size_t parameters = wire::parameter_count(cell.model);
    STARLING_ASSIGN(SharedFloats floats, SharedFloats::attach(request.data_fd));
    const std::span<float> all = floats.all();
    if (all.size() != wire::computed_state_size(cell) + parameters) {
      return Error{ErrorCode::corrupt, "the memory of a cell has another size than its state and its gradient"};
    }
    STARLING_TRY(tasks_->hold(request.cell, all.first(parameters), all.last(parameters)));
    cells_[request.cell] = std::move(floats);
    return {};
  }

  Result<double> trunk_task(const Request& request) {
    STARLING_ASSIGN(routing::TrunkTask task, unpack_trunk_task(request.text, tray_.all()));
    if (tasks_ == nullptr) return Error{ErrorCode::unsupported, "this trainer has a whole model, and no tasks"};
    task.samples = request.samples;
    const bool begins = task.step.segment == 0 && task.step.way == routing::Way::forth;
    if (begins && !task.is_held_out && task.text.empty()) STARLING_TRY(map_shard(request));
    if (request.begins_sum) tasks_->begin_window();
    return tasks_->run(task);
  }

  Status cell_task(const Request& request) {
    STARLING_ASSIGN(const CellTask task, unpack_cell_task(request.text, tray_.all()));
    if (tasks_ == nullptr) return Error{ErrorCode::unsupported, "this trainer has a whole model, and no cells"};
    return tasks_->run(task);
  }

  Result<std::string> sample_tokens(const Request& request) {
    STARLING_ASSIGN(const std::vector<int> prompt, unpack_tokens(request.text));
    STARLING_ASSIGN(const std::vector<int> tokens, trainer_->sample_tokens(prompt, request.count, request.temperature));
    return pack_tokens(tokens);
  }

  template <typename T>
  static void fill(Reply& reply, T& field, Result<T> result) {
    if (result.ok()) {
      field = std::move(result).value();
    } else {
      reply.status = result.error();
    }
  }

  wire::RunManifest manifest_;
  std::unique_ptr<TrainerFiles> files_;  // must outlive the trainer
  SharedRegion region_;
  SharedFloats tray_;
  std::map<wire::CellIndex, SharedFloats> cells_;  // each one's state, and its gradient
  std::unique_ptr<session::Trainer> trainer_;
  TaskRunner* tasks_;  // null: this trainer has none
  wire::ComputeDevice device_;
  std::string confinement_;
};

// Turns exceptions of numerical libraries into errors. Only running out of memory has an error code of its own.
Reply answer(std::unique_ptr<Workplace>& workplace, const Request& request, const TrainerParts& parts) {
  Reply reply;
  try {
    if (request.command == Command::start && !workplace) {
      auto opened = Workplace::open(request, parts);
      if (!opened.ok()) {
        reply.status = opened.error();
        return reply;
      }
      workplace = std::move(opened).value();
    }
    if (workplace) return workplace->carry_out(request);
    reply.status = Error{ErrorCode::failed_precondition, "the first command must be start"};
  } catch (const std::bad_alloc&) {
    reply.status = Error{ErrorCode::resource_exhausted, "the trainer's memory limit is reached"};
  } catch (const std::exception& problem) {
    reply.status = Error{ErrorCode::internal, problem.what()};
  }
  return reply;
}

Status serve(const TrainerParts& parts) {
  std::unique_ptr<Workplace> workplace;
  while (true) {
    UniqueFd attached;
    auto message = receive_message(kChannelFd, &attached);
    if (!message.ok() && message.error().code == ErrorCode::not_found) return {};
    STARLING_TRY(message.status());
    STARLING_ASSIGN(Request request, decode_request(*message));
    request.data_fd = attached.get();
    if (request.command == Command::start && request.limits.yield_to_others) yield_to_others();
    Reply reply = answer(workplace, request, parts);
    reply.sequence = request.sequence;
    STARLING_TRY(send_message(kChannelFd, encode(reply)));
  }
}

}  // namespace

int serve_trainer(int argc, char** argv, const TrainerParts& parts) {
  return run_child(argc, argv, "computes gradients", [&parts] { return serve(parts); });
}

}  // namespace starling::trainer_link
