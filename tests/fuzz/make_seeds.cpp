// Writes initial inputs for fuzzing, made by this build's encoders, so that they always match the formats.
//   make_seeds FOLDER    a folder for each target
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "client/averaging/codec.h"
#include "client/trainer_link/audits.h"
#include "client/trainer_link/message_fields.h"
#include "client/trainer_link/tasks.h"
#include "shared/base/files.h"
#include "shared/control/control_fields.h"
#include "shared/manifest/signed_root.h"
#include "shared/protocol/message_fields.h"
#include "shared/run/moments.h"
#include "shared/wire/calls.h"
#include "shared/wire/frames.h"
#include "tests/support/field_filler.h"

// The fields of preferences make a seed of their own.
template <>
void starling::wire::each_field(starling::testing::FieldFiller& /*visit*/,
                                starling::wire::Preferences& /*preferences*/) {}

namespace {

using namespace starling;
using Bytes = std::vector<std::uint8_t>;

class Seeds {
 public:
  explicit Seeds(std::filesystem::path folder) : folder_(std::move(folder)) {}

  void add(const std::string& target, const std::string& name, std::string_view content) {
    std::filesystem::create_directories(folder_ / target);
    if (!write_file_atomically(folder_ / target / name, content).ok()) failed_ = true;
  }
  void add(const std::string& target, const std::string& name, const Bytes& content) {
    add(target, name, std::string_view(reinterpret_cast<const char*>(content.data()), content.size()));
  }
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  std::filesystem::path folder_;
  bool failed_ = false;
};

std::vector<float> values(std::size_t size) {
  std::vector<float> values(size);
  for (std::size_t i = 0; i < size; ++i)
    values[i] = std::sin(static_cast<float>(i * i)) / static_cast<float>(1 + i % 9);
  return values;
}

void add_codecs(Seeds& seeds) {
  for (std::uint8_t number = 0; wire::codec_from_number(number); ++number) {
    const wire::Codec codec = *wire::codec_from_number(number);
    for (const std::size_t size : {3u, 130u, 700u}) {
      const std::vector<float> floats = values(size);
      Bytes encoded(averaging::encoded_bytes(codec, size));
      averaging::encode(codec, floats, encoded);
      Bytes decodes = {number, static_cast<std::uint8_t>(size), static_cast<std::uint8_t>(size >> 8)};
      decodes.insert(decodes.end(), encoded.begin(), encoded.end());
      const std::string name = std::string(wire::to_string(codec)) + "_" + std::to_string(size);
      seeds.add("codecs", name, decodes);
      if (size > 200) continue;
      Bytes encodes = {static_cast<std::uint8_t>(128 + number), 0, 0};
      const auto* raw = reinterpret_cast<const std::uint8_t*>(floats.data());
      encodes.insert(encodes.end(), raw, raw + floats.size() * sizeof(float));
      seeds.add("codecs", name + "_encoded", encodes);
    }
  }
}

void add_frames(Seeds& seeds) {
  const auto add = [&seeds](const std::string& name, std::uint8_t choice, const Bytes& content) {
    Bytes bytes = {choice};
    bytes.insert(bytes.end(), content.begin(), content.end());
    seeds.add("peer_frames", name, bytes);
  };
  Bytes header(wire::kFrameHeaderBytes);
  wire::FrameHeader fields{wire::FrameType::contribution, 116, {}, 3, wire::Codec::sparse};
  fields.group.bytes[0] = 1;
  wire::encode_header(fields, std::span(header).first<wire::kFrameHeaderBytes>());
  add("header", 0, header);
  add("hello", 1, wire::encode(wire::Hello{wire::kPeerProtocolVersion, "fortunes", {}}));
  add("join", 7, wire::encode(wire::Join{}));
  add("begin", 2, wire::encode(wire::Begin{3, 1000, 96, {}, {}, 0, {1, 0.5F}, {{}, {}}}));
  wire::RankSet lost(11);
  lost.set(4);
  add("inventory", 3, wire::encode(wire::Inventory{lost, {5, 1}, {48}}));
  add("lost_set", 11, wire::encode(wire::LostSet{3, {}, lost}));
  add("lost_set_judged", 11, wire::encode(wire::LostSet{3, {}, lost, {}, lost}));
  add("seal", 10, wire::encode(wire::Seal{}));
  add("done", 4, wire::encode(wire::Done{{}, {5, 0, 7}}));
  Bytes state = {39, 1, 0};  // 40 parameters, fp8
  const Bytes piece = wire::encode_state({40, wire::MomentForm::fp8}, 0, std::vector<float>(120, 0.5F));
  state.insert(state.end(), piece.begin(), piece.end());
  add("state", 9, state);
  add("relay_request", 8, Bytes(33, 2));  // a call to the peer whose ID is all 02
  add("state_request", 5, wire::encode(wire::StateRequest{7, {}, 0, 4}));
  add("state_info", 6, wire::encode(wire::StateInfo{7, {}, 100, std::vector<Digest>(1)}));
}

void add_calls(Seeds& seeds) {
  const auto add = [&seeds](const std::string& name, std::uint8_t choice, const Bytes& content) {
    Bytes bytes = {choice};
    bytes.insert(bytes.end(), content.begin(), content.end());
    seeds.add("calls", name, bytes);
  };
  wire::Call call{.cell = 3, .round = 40, .counts = {2, 0, 1}, .rows = {0, 1, 1}, .inputs = 2, .budget_ms = 20000};
  add("call_forth", 0, wire::encode(call));
  call.is_back = true;
  add("call_back", 0, wire::encode(call));
  call.kept = Hash128{};
  add("call_back_kept", 0, wire::encode(call));
  add("answer", 1, wire::encode(wire::Answer{40, 120, 4096}));
  add("refusal", 2, wire::encode(wire::Refusal{wire::RefusalReason::stepping, 1500}));
  add("weights", 3, wire::encode(wire::Weights{40, {0, 3, 300}, {96, 1, 48}}));
  add("no_weights", 3, wire::encode(wire::Weights{40, {}, {}}));
}

wire::GroupInfo plan() {
  wire::GroupInfo group;
  group.run_id = "fortunes";
  group.vector_floats = 1000;
  group.codec = "fp16";
  for (const std::int64_t part : {600, 400, 0}) {
    wire::GroupMember member;
    member.endpoint.peer.bytes[0] = static_cast<std::uint8_t>(part / 100);
    member.endpoint.host = part > 0 ? "192.0.2.7" : "";
    member.endpoint.port = part > 0 ? 4000 : 0;
    member.part_floats = part;
    if (part == 0) member.codec = "sparse";
    group.members.push_back(member);
  }
  return group;
}

void add_messages(Seeds& seeds) {
  const auto add = [&seeds](const std::string& name, const auto& message) {
    seeds.add("messages", name, wire::encode(message));
  };
  using testing::filled;
  add("error", filled<wire::ErrorReply>());
  add("join_request", filled<wire::JoinRequest>());
  add("join_reply", filled<wire::JoinReply>());
  add("renew_request", filled<wire::RenewRequest>());
  add("renew_reply", filled<wire::RenewReply>());
  add("team_request", filled<wire::TeamRequest>());
  add("team_reply", filled<wire::TeamReply>());
  add("round_report", filled<wire::RoundReport>());
  add("heartbeat", filled<wire::Heartbeat>());
  add("heartbeat_reply", filled<wire::HeartbeatReply>());
  add("checkpoint_reply", filled<wire::CheckpointReply>());
  add("unusable_samples", filled<wire::UnusableSamples>());
  wire::HeartbeatReply reply;  // with a plan that members would carry out
  reply.group = plan();
  add("plan", reply);
}

void add_feeds(Seeds& seeds) {
  wire::ReleaseFeed feed;
  feed.valid_until = {1'800'000'000'000};
  feed.version = "1.2.0";
  seeds.add("release_feed", "no_files", wire::encode_feed(feed));
  feed.notes = "Faster.";
  feed.notes_url = "https://example.org/news";
  feed.files = {{"linux-x86_64", "starling-1.2.0-linux-x86_64.tar.gz", 1000, 3000, {}}};
  seeds.add("release_feed", "one_file", wire::encode_feed(feed));
}

void add_roots(Seeds& seeds) {
  wire::ReleaseRoot root;
  root.valid_until = {1'800'000'000'000};
  manifest::JointFile file;
  std::vector<crypto::PrivateKey> keys;
  for (const char* name : {"anna", "ben", "clara"}) {
    keys.push_back(crypto::PrivateKey::generate());
    root.keys.push_back(manifest::root_key(name, keys.back().public_key()));
  }
  file.text = wire::encode_root(root);
  seeds.add("release_root", "text", file.text);
  seeds.add("release_root", "unsigned", manifest::encode_joint_file(file));
  for (const crypto::PrivateKey& key : keys) file.signatures.push_back(manifest::sign_jointly(file, key));
  seeds.add("release_root", "signed", manifest::encode_joint_file(file));
  file.kind = manifest::JointKind::feed;
  file.single = file.signatures.front();
  seeds.add("release_root", "feed", manifest::encode_joint_file(file));
}

void add_proofs(Seeds& seeds) {
  using testing::filled;
  seeds.add("state_proof", "link", wire::encode(filled<wire::StateLink>()));
  seeds.add("state_proof", "statement", wire::encode(filled<wire::StateStatement>()));
  seeds.add("state_proof", "proof", wire::encode(filled<wire::StateProof>()));
}

void add_control(Seeds& seeds) {
  const auto add = [&seeds](auto command) {
    testing::FieldFiller filler;
    each_field(filler, command);
    seeds.add("control", std::string(command.kCommand), wire::encode_line(wire::ControlRequest(command)));
  };
  [&]<typename... Commands>(const std::variant<Commands...>*) {
    (add(Commands()), ...);
  }(static_cast<const wire::ControlRequest*>(nullptr));
  wire::ControlReply reply;
  reply.error = Error{ErrorCode::not_found, "no such project"};
  seeds.add("control", "refusal", wire::encode_line(reply));
  seeds.add("control", "reply", wire::encode_line(testing::filled<wire::ControlReply>()));
  seeds.add("control", "pause_wish", wire::encode(testing::filled<wire::PauseRequest>()));
  seeds.add("control", "preferences", wire::encode(wire::Preferences{}));
  seeds.add("control", "hours", "mon-fri 18-24, sat-sun 0-24");
}

void add_trainer_messages(Seeds& seeds) {
  namespace link = trainer_link;
  auto request = testing::filled<link::Request>();
  for (std::size_t number = 0; number < link::kCommands; ++number) {
    request.command = static_cast<link::Command>(number);
    seeds.add("trainer_messages", "request_" + std::to_string(number), link::encode(request));
  }
  request.command = link::Command::audit_batch;
  request.text = link::pack_parts(std::vector<wire::SketchedPart>{{0, 600, Hash128{}}, {600, 400, Hash128{}}});
  seeds.add("trainer_messages", "audit", link::encode(request));
  std::vector<float> tray(64);
  routing::TrunkTask trunk;
  trunk.results = std::span(tray).first(16);
  trunk.inputs = std::span(tray).subspan(16, 48);
  request.command = link::Command::trunk_task;
  request.text = link::pack(trunk, tray);
  seeds.add("trainer_messages", "trunk_task", link::encode(request));
  link::CellTask cell;
  cell.inputs = std::span(tray).first(32);
  cell.answer = std::span(tray).subspan(32, 32);
  request.command = link::Command::cell_task;
  request.text = link::pack(cell, tray);
  seeds.add("trainer_messages", "cell_task", link::encode(request));
  auto reply = testing::filled<link::Reply>();
  seeds.add("trainer_messages", "reply", link::encode(reply));
  reply.text = link::pack_sketches(std::vector<double>(wire::kSketchFloats, 0.5));
  seeds.add("trainer_messages", "sketch", link::encode(reply));
  reply.status = Error{ErrorCode::resource_exhausted, "train batch: out of memory"};
  seeds.add("trainer_messages", "failure", link::encode(reply));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 2;
  }
  Seeds seeds(argv[1]);
  add_codecs(seeds);
  add_frames(seeds);
  add_calls(seeds);
  add_messages(seeds);
  add_feeds(seeds);
  add_roots(seeds);
  add_proofs(seeds);
  add_control(seeds);
  add_trainer_messages(seeds);
  return seeds.failed() ? 1 : 0;
}
