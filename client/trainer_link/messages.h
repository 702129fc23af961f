// Messages between the daemon and its trainer child: one request, one reply, over a socket that keeps message
// boundaries. With gossip of buckets of parameters, a batch has one message for each bucket that has stepped, before
// its reply. Vectors never travel here; they lie in the shared region. Both ends run on one machine, so numbers are in
// its own byte order; kLinkVersion detects a child of another build. The fields, each with its range, are described in
// message_fields.h.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "client/session/trainer.h"
#include "shared/base/result.h"
#include "shared/protocol/compute_device.h"
#include "shared/run/run_manifest.h"
#include "shared/run/training_data.h"

namespace starling::trainer_link {

constexpr std::uint16_t kLinkVersion = 14;
constexpr std::size_t kTextBytesMax = wire::kManifestBytesMax;  // bound of a manifest, tokens, an error
constexpr std::size_t kMessageBytesMax = kTextBytesMax + 1024;
// Tokens of a prompt, and tokens that may be requested.
constexpr int kTokensMax = static_cast<int>(kTextBytesMax / sizeof(int));
constexpr int kThreadsMax = 64;

// The last two are for a tokenizer (tokenizer_process.h), the others for a trainer; those from open_tray to cell_task
// for one of a run with cells (tasks.h).
enum class Command : std::uint16_t {
  start,
  train_batch,
  step,
  evaluate,
  sample_tokens,
  audit_parameters,
  audit_batch,
  open_tray,
  hold_cell,
  let_go_cell,
  trunk_task,
  cell_task,
  tokens_of_text,
  text_of_tokens
};
constexpr std::size_t kCommands = 14;
std::string_view to_string(Command command);

// Share of the machine that the child may use.
struct ChildLimits {
  int threads = 1;                 // threads of every matrix product, 1..kThreadsMax
  std::uint64_t memory_bytes = 0;  // private memory beyond the shared region; 0: unlimited
  int gpu_memory_percent = 0;      // share of a graphics card's memory, 0..100; 0: no card is opened
  bool sandbox = true;             // off only if a debugger or sanitizer needs the system calls
  bool landlock = true;            // confine with it where the kernel has it; off for tests of those that have not
  bool yield_to_others = true;     // use only processor and disk time that no other process wants
};

// One call of a Trainer, from the daemon to its child. Fields that its command does not name are unset.
struct Request {
  Command command = Command::start;
  std::uint64_t sequence = 0;                  // repeated by the reply
  ChildLimits limits;                          // for start
  wire::ModelPiece piece = wire::kWholeModel;  // for start: the piece of the manifest's model that is trained
  wire::CellIndex cell = 0;                    // for hold_cell, let_go_cell
  wire::SampleRange samples;                   // for train_batch, audit_batch; trunk_task, with the first segment
  bool begins_sum = false;    // for train_batch: see Trainer::begin_sum; for trunk_task: see TaskRunner::begin_window
  bool begins_ahead = false;  // for train_batch: see begin_sum_ahead, of the previous round
  bool knows_own = false;     // with begins_ahead: the mean of the own sum lies in the region's gradient
  bool merges_step = false;   // for train_batch: see merge_step; done first
  bool ends_audits = false;   // for train_batch: the parameters of audit_parameters are not needed any more
  // Sent beside the bytes. For train_batch, audit_batch and trunk_task of a run with shards: the samples' shard. For
  // audit_parameters: the parameters at which the next audits are (audits.h). For open_tray, the tray; for hold_cell,
  // the cell's state and then its gradient.
  int data_fd = -1;
  RoundIndex round = 0;    // for step
  int count = 0;           // for sample_tokens: number of tokens; for text_of_tokens: number of last tokens to convert
  double temperature = 0;  // for sample_tokens
  // For start: the manifest as JSON; tokens_of_text: the text; audit_batch: packed parts; trunk_task and cell_task: the
  // packed task; otherwise packed tokens.
  std::string text;
};

constexpr int kNoBucket = -1;

// The child's answer to one request, or its word that a bucket has stepped.
struct Reply {
  std::uint64_t sequence = 0;
  Status status;                   // result of the command; the fields below are valid only if it is ok
  int stepped_bucket = kNoBucket;  // for train_batch, before the reply: number of the bucket; other fields are unset
  session::StateLayout layout;     // for start
  wire::ComputeDevice device;      // for start: what it computes on; without a kind from a child that does not say
  session::BatchReport batch;      // for train_batch; for trunk_task: the loss, at a micro-batch's turn
  session::Evaluation evaluation;  // for evaluate
  // For start: the child's confinement; text_of_tokens: the text; audit_batch: packed sketches; otherwise packed
  // tokens.
  std::string text;
};

// Converts tokens to and from the form that messages carry. corrupt for other bytes.
std::string pack_tokens(std::span<const int> tokens);
Result<std::vector<int>> unpack_tokens(std::string_view packed);

std::string encode(const Request& request);
std::string encode(const Reply& reply);

// corrupt for bytes that are no message, are too long, or hold a value that no peer sends; unsupported for another
// version.
Result<Request> decode_request(std::span<const std::uint8_t> bytes);
Result<Reply> decode_reply(std::span<const std::uint8_t> bytes);

}  // namespace starling::trainer_link
