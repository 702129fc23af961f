#include "shared/protocol/messages.h"

#include <array>

#include "shared/wire/json_reader.h"
#include "shared/wire/json_writer.h"

namespace starling::wire {
namespace {

constexpr std::int64_t kLaneMax = 1 << 20;
constexpr std::size_t kHostBytesMax = 64;  // an IP literal, maybe with a scope
constexpr std::size_t kMessageBytesMax = 2048;

constexpr std::array<std::string_view, 7> kPhases = {"joining", "downloading", "training",  "averaging",
                                                     "paused",  "leaving",     "evaluating"};
constexpr std::array<std::string_view, 5> kRoles = {"full", "client-only", "auxiliary", "deferred", "late"};
constexpr std::array<std::string_view, 3> kReachabilities = {"unknown", "reachable", "blocked"};
constexpr std::array<std::string_view, 5> kFaults = {"absent", "gone", "silent", "slow", "nonsense"};
constexpr std::array<std::string_view, 4> kStates = {"created", "running", "paused", "complete"};

template <typename Enum, std::size_t N>
void read_enum(JsonReader& reader, std::string_view name, const std::array<std::string_view, N>& words, Enum& out) {
  std::string word;
  reader.text(name, word, 32);
  if (!reader.status().ok()) return;
  for (std::size_t i = 0; i < N; ++i) {
    if (words[i] == word) {
      out = static_cast<Enum>(i);
      return;
    }
  }
  reader.refuse(name, "is no known word");
}

void read_endpoint(JsonReader& reader, Endpoint& endpoint) {
  read_id(reader, "peer", endpoint.peer);
  reader.text("host", endpoint.host, kHostBytesMax);
  read_int(reader, "port", endpoint.port, 0, 65535);
  if (reader.present("relay")) read_id(reader, "relay", endpoint.relay);
}

void write_endpoint(JsonWriter& writer, const Endpoint& endpoint) {
  writer.text("peer", endpoint.peer.hex());
  writer.text("host", endpoint.host);
  writer.integer("port", endpoint.port);
  if (!endpoint.relay.is_zero()) writer.text("relay", endpoint.relay.hex());
}

void read_voter(JsonReader& reader, GroupMember& member) {
  if (!reader.present("voter")) return;
  std::int64_t number = 0;
  reader.integer("voter", number, 0, kGroupMembersMax);
  member.voter = static_cast<std::uint32_t>(number);
}

void write_voter(JsonWriter& writer, const GroupMember& member) {
  if (member.voter > 0) writer.integer("voter", member.voter);
}

void read_grid(JsonReader& reader, GridPlan& grid) {
  std::int64_t number = 0;
  const auto column = [&number](JsonReader& item, std::string_view name, std::uint32_t& out) {
    item.integer(name, number, 0, kGridColumnsMax);
    out = static_cast<std::uint32_t>(number);
  };
  read_id(reader, "id", grid.id);
  column(reader, "column", grid.column);
  column(reader, "columns", grid.columns);
  read_id(reader, "heads_id", grid.heads_id);
  reader.integer("heads_within_ms", grid.heads_within_ms, 0, kMessageCountMax);
  reader.list("heads", kGroupMembersMax, [&](JsonReader& item) {
    GridPlan::Head& head = grid.heads.emplace_back();
    read_endpoint(item, head.member.endpoint);
    item.integer("part_floats", head.member.part_floats, 0, kVectorFloatsMax);
    column(item, "column", head.column);
    read_voter(item, head.member);
  });
  read_id(reader, "spread_id", grid.spread_id);
  reader.integer("spread_within_ms", grid.spread_within_ms, 0, kMessageCountMax);
  reader.list("spread", kGroupMembersMax, [&](JsonReader& item) {
    GridPlan::Seat& seat = grid.spread.emplace_back();
    item.integer("part_floats", seat.part_floats, 0, kVectorFloatsMax);
    if (item.present("head")) item.boolean("head", seat.head);
  });
}

void write_grid(JsonWriter& writer, const GridPlan& grid) {
  writer.open("grid", '{');
  writer.text("id", grid.id.hex());
  writer.integer("column", grid.column);
  writer.integer("columns", grid.columns);
  writer.text("heads_id", grid.heads_id.hex());
  writer.integer("heads_within_ms", grid.heads_within_ms);
  writer.open("heads", '[');
  for (const GridPlan::Head& head : grid.heads) {
    writer.open("", '{');
    write_endpoint(writer, head.member.endpoint);
    writer.integer("part_floats", head.member.part_floats);
    writer.integer("column", head.column);
    write_voter(writer, head.member);
    writer.close('}');
  }
  writer.close(']');
  writer.text("spread_id", grid.spread_id.hex());
  writer.integer("spread_within_ms", grid.spread_within_ms);
  writer.open("spread", '[');
  for (const GridPlan::Seat& seat : grid.spread) {
    writer.open("", '{');
    writer.integer("part_floats", seat.part_floats);
    if (seat.head) writer.boolean("head", seat.head);
    writer.close('}');
  }
  writer.close(']');
  writer.close('}');
}

void read_group(JsonReader& reader, GroupInfo& group) {
  read_id(reader, "id", group.id);
  reader.text("run_id", group.run_id, kNameBytesMax);
  reader.integer("round", group.round, 0, kMessageCountMax);
  read_id(reader, "state_digest", group.state_digest);
  reader.boolean("autonomous", group.autonomous);
  reader.integer("vector_floats", group.vector_floats, 0, kVectorFloatsMax);
  reader.integer("segment_floats", group.segment_floats, 1, kSegmentFloatsMax);
  reader.text("codec", group.codec, 32);
  reader.integer("start_in_ms", group.start_in_ms, -kMessageCountMax, kMessageCountMax);
  reader.integer("begin_within_ms", group.begin_within_ms, 0, kMessageCountMax);
  if (reader.present("reason")) reader.text("reason", group.reason, kReasonBytesMax);
  reader.list("members", kGroupMembersMax, [&](JsonReader& item) {
    GroupMember& member = group.members.emplace_back();
    read_endpoint(item, member.endpoint);
    item.integer("part_floats", member.part_floats, 0, kVectorFloatsMax);
    if (item.present("codec")) item.text("codec", member.codec, 32);
    if (item.present("role")) read_enum(item, "role", kRoles, member.role);
    read_voter(item, member);
  });
  if (reader.present("grid")) reader.object("grid", [&](JsonReader& item) { read_grid(item, group.grid.emplace()); });
}

void write_group(JsonWriter& writer, const GroupInfo& group) {
  writer.open("group", '{');
  writer.text("id", group.id.hex());
  writer.text("run_id", group.run_id);
  writer.integer("round", group.round);
  writer.text("state_digest", group.state_digest.hex());
  writer.boolean("autonomous", group.autonomous);
  writer.integer("vector_floats", group.vector_floats);
  writer.integer("segment_floats", group.segment_floats);
  writer.text("codec", group.codec);
  writer.integer("start_in_ms", group.start_in_ms);
  writer.integer("begin_within_ms", group.begin_within_ms);
  if (!group.reason.empty()) writer.text("reason", group.reason);
  writer.open("members", '[');
  for (const GroupMember& member : group.members) {
    writer.open("", '{');
    write_endpoint(writer, member.endpoint);
    writer.integer("part_floats", member.part_floats);
    if (!member.codec.empty()) writer.text("codec", member.codec);
    if (member.role != MemberRole::full) writer.text("role", to_string(member.role));
    write_voter(writer, member);
    writer.close('}');
  }
  writer.close(']');
  if (group.grid) write_grid(writer, *group.grid);
  writer.close('}');
}

void read_report(JsonReader& reader, RoundReport& report) {
  reader.integer("round", report.round, 0, kMessageCountMax);
  read_id(reader, "group", report.group);
  reader.boolean("autonomous", report.autonomous);
  reader.list("members", kGroupMembersMax, [&](JsonReader& item) { read_id(item, "", report.members.emplace_back()); });
  reader.list("contributions", kGroupMembersMax, [&](JsonReader& item) {
    Contribution& contribution = report.contributions.emplace_back();
    read_id(item, "peer", contribution.peer);
    item.integer("samples", contribution.samples, 0, kMessageCountMax);
    if (item.present("draw")) item.integer("draw", contribution.draw, 0, kDrawMax);
  });
  if (reader.present("grid")) {
    reader.object("grid", [&](JsonReader& item) {
      GridShare& grid = report.grid.emplace();
      std::int64_t column = 0;
      item.integer("column", column, 0, kGridColumnsMax);
      grid.column = static_cast<std::uint32_t>(column);
      item.list("accepted", kGridColumnsMax,
                [&](JsonReader& accepted) { accepted.integer("", grid.accepted.emplace_back(), 0, kMessageCountMax); });
    });
  }
  read_id(reader, "result_digest", report.result_digest);
  read_id(reader, "state_digest", report.state_digest);
  reader.number("loss", report.loss, -1e9, 1e9);
  reader.integer("averaging_ms", report.averaging_ms, 0, kMessageCountMax);
  reader.integer("bytes_sent", report.bytes_sent, 0, kMessageCountMax);
  reader.integer("bytes_received", report.bytes_received, 0, kMessageCountMax);
  if (!reader.present("complaints")) return;
  reader.list("complaints", kComplaintsMax, [&](JsonReader& item) {
    Complaint& complaint = report.complaints.emplace_back();
    read_id(item, "peer", complaint.peer);
    read_enum(item, "fault", kFaults, complaint.fault);
  });
}

}  // namespace

std::string_view to_string(MemberPhase phase) { return kPhases[static_cast<std::size_t>(phase)]; }
std::string_view to_string(MemberRole role) { return kRoles[static_cast<std::size_t>(role)]; }
std::string_view to_string(Reachability reachability) {
  return kReachabilities[static_cast<std::size_t>(reachability)];
}
std::string_view to_string(Fault fault) { return kFaults[static_cast<std::size_t>(fault)]; }
std::string_view to_string(RunState state) { return kStates[static_cast<std::size_t>(state)]; }

std::string encode(const RoundReport& report) {
  JsonWriter writer;
  writer.open("", '{');
  writer.integer("round", report.round);
  writer.text("group", report.group.hex());
  writer.boolean("autonomous", report.autonomous);
  writer.open("members", '[');
  for (const PeerId& member : report.members) writer.text("", member.hex());
  writer.close(']');
  writer.open("contributions", '[');
  for (const Contribution& contribution : report.contributions) {
    writer.open("", '{');
    writer.text("peer", contribution.peer.hex());
    writer.integer("samples", contribution.samples);
    if (contribution.draw > 0) writer.integer("draw", contribution.draw);
    writer.close('}');
  }
  writer.close(']');
  if (report.grid) {
    writer.open("grid", '{');
    writer.integer("column", report.grid->column);
    writer.open("accepted", '[');
    for (const SampleCount samples : report.grid->accepted) writer.integer("", samples);
    writer.close(']');
    writer.close('}');
  }
  writer.text("result_digest", report.result_digest.hex());
  writer.text("state_digest", report.state_digest.hex());
  writer.number("loss", report.loss);
  writer.integer("averaging_ms", report.averaging_ms);
  writer.integer("bytes_sent", report.bytes_sent);
  writer.integer("bytes_received", report.bytes_received);
  if (!report.complaints.empty()) {
    writer.open("complaints", '[');
    for (const Complaint& complaint : report.complaints) {
      writer.open("", '{');
      writer.text("peer", complaint.peer.hex());
      writer.text("fault", to_string(complaint.fault));
      writer.close('}');
    }
    writer.close(']');
  }
  writer.close('}');
  return std::move(writer.str());
}

std::string encode(const Heartbeat& message) {
  JsonWriter writer;
  writer.open("", '{');
  writer.integer("protocol", message.protocol);
  writer.text("run_id", message.run_id);
  writer.text("phase", to_string(message.phase));
  writer.integer("state_round", message.state_round);
  writer.text("state_digest", message.state_digest.hex());
  writer.integer("samples_this_round", message.samples_this_round);
  writer.number("samples_per_s", message.samples_per_s);
  writer.number("batch_seconds", message.batch_seconds);
  if (message.batch_jitter > 0) writer.number("batch_jitter", message.batch_jitter);
  writer.integer("listen_port", message.listen_port);
  writer.number("upload_bytes_per_s", message.upload_bytes_per_s);
  writer.number("download_bytes_per_s", message.download_bytes_per_s);
  if (message.round_trip_s > 0) writer.number("round_trip_s", message.round_trip_s);
  if (!message.posted_at.is_zero()) writer.text("posted_at", message.posted_at.hex());
  if (message.relay_bytes_per_s > 0) writer.number("relay_bytes_per_s", message.relay_bytes_per_s);
  if (message.evaluation) {
    writer.open("evaluation", '{');
    writer.integer("round", message.evaluation->round);
    writer.number("bits_per_byte", message.evaluation->bits_per_byte);
    writer.integer("bytes", message.evaluation->bytes);
    if (message.evaluation->accuracy) writer.number("accuracy", *message.evaluation->accuracy);
    writer.close('}');
  }
  if (message.process != 0) {
    writer.integer("process", message.process);
    writer.integer("next_draw", message.next_draw);
  }
  writer.open("reports", '[');
  std::size_t written = 0;
  for (const RoundReport& report : message.reports) {
    const std::string json = encode(report);
    if (++written > kReportsPerHeartbeatMax || writer.str().size() + json.size() + 8 > kJsonBytesMax) break;
    writer.raw("", json);
  }
  writer.close(']');
  writer.close('}');
  return std::move(writer.str());
}

namespace {

// All of these may be missing: older programs know nothing of them.
void write_reach(JsonWriter& writer, const HeartbeatReply& message) {
  writer.text("reachability", to_string(message.reachability));
  writer.text("address", message.address);
  if (message.relay) {
    writer.open("relay", '{');
    write_endpoint(writer, *message.relay);
    writer.close('}');
  }
  if (message.relay_for.empty()) return;
  writer.open("relay_for", '[');
  for (const PeerId& peer : message.relay_for) {
    writer.open("", '{');
    writer.text("peer", peer.hex());
    writer.close('}');
  }
  writer.close(']');
  writer.integer("relay_bytes", message.relay_bytes);
}

void read_reach(JsonReader& reader, HeartbeatReply& message) {
  if (reader.present("reachability")) read_enum(reader, "reachability", kReachabilities, message.reachability);
  if (reader.present("address")) reader.text("address", message.address, kHostBytesMax);
  if (reader.present("relay")) {
    reader.object("relay", [&](JsonReader& item) { read_endpoint(item, message.relay.emplace()); });
  }
  if (!reader.present("relay_for")) return;
  reader.list("relay_for", kRelayClientsMax,
              [&](JsonReader& item) { read_id(item, "peer", message.relay_for.emplace_back()); });
  reader.integer("relay_bytes", message.relay_bytes, 0, kMessageCountMax);
}

void write_leases(JsonWriter& writer, const HeartbeatReply& message) {
  if (message.leases.empty()) return;
  writer.open("leases", '[');
  for (const SampleLease& lease : message.leases) {
    writer.open("", '{');
    writer.integer("number", lease.number);
    writer.integer("epoch", lease.epoch);
    writer.integer("first", lease.first);
    writer.integer("count", lease.count);
    writer.integer("last_round", lease.last_round);
    writer.close('}');
  }
  writer.close(']');
}

void read_leases(JsonReader& reader, HeartbeatReply& message) {
  if (!reader.present("leases")) return;
  reader.list("leases", kLeasesMax, [&](JsonReader& item) {
    SampleLease& lease = message.leases.emplace_back();
    item.integer("number", lease.number, 1, kDrawMax);
    item.integer("epoch", lease.epoch, 0, kMessageCountMax);
    item.integer("first", lease.first, 0, kMessageCountMax);
    item.integer("count", lease.count, 1, kMessageCountMax);
    item.integer("last_round", lease.last_round, 0, kMessageCountMax);
  });
}

void read_evaluate_round(JsonReader& reader, HeartbeatReply& message) {
  bool evaluate = false;
  reader.boolean("evaluate", evaluate);
  if (!evaluate) return;
  message.evaluate_round = message.round;
  if (reader.present("evaluate_round")) {
    reader.integer("evaluate_round", *message.evaluate_round, 0, kMessageCountMax);
  }
}

void write_checkpoint(JsonWriter& writer, const HeartbeatReply& message) {
  if (message.send_checkpoint) writer.boolean("send_checkpoint", true);
  if (!message.checkpoint) return;
  writer.open("checkpoint", '{');
  writer.integer("round", message.checkpoint->round);
  writer.text("state_digest", message.checkpoint->state_digest.hex());
  writer.text("sha256", message.checkpoint->file.sha256.hex());
  writer.integer("bytes", message.checkpoint->file.bytes);
  writer.close('}');
}

void read_checkpoint(JsonReader& reader, HeartbeatReply& message) {
  if (reader.present("send_checkpoint")) reader.boolean("send_checkpoint", message.send_checkpoint);
  if (!reader.present("checkpoint")) return;
  reader.object("checkpoint", [&](JsonReader& item) {
    Checkpoint& checkpoint = message.checkpoint.emplace();
    item.integer("round", checkpoint.round, 0, kMessageCountMax);
    read_id(item, "state_digest", checkpoint.state_digest);
    read_id(item, "sha256", checkpoint.file.sha256);
    item.integer("bytes", checkpoint.file.bytes, 1, kMessageCountMax);
  });
}

}  // namespace

std::string encode(const CheckpointReply& message) {
  JsonWriter writer;
  writer.open("", '{');
  writer.integer("bytes", message.bytes);
  writer.close('}');
  return std::move(writer.str());
}

std::string encode(const HeartbeatReply& message) {
  JsonWriter writer;
  writer.open("", '{');
  writer.text("run_state", to_string(message.run_state));
  writer.integer("round", message.round);
  writer.text("state_digest", message.state_digest.hex());
  writer.integer("lane", message.lane);
  write_leases(writer, message);
  writer.integer("target_batch_size", message.target_batch_size);
  writer.integer("samples_accumulated", message.samples_accumulated);
  writer.number("swarm_samples_per_s", message.swarm_samples_per_s);
  writer.integer("swarm_size", message.swarm_size);
  writer.integer("acknowledged_rounds", message.acknowledged_rounds);
  writer.integer("next_heartbeat_ms", message.next_heartbeat_ms);
  writer.integer("server_unix_ms", message.server_unix_ms);
  writer.boolean("renew_certificate", message.renew_certificate);
  if (message.group) write_group(writer, *message.group);
  writer.open("donors", '[');
  for (const Endpoint& donor : message.donors) {
    writer.open("", '{');
    write_endpoint(writer, donor);
    writer.close('}');
  }
  writer.close(']');
  write_checkpoint(writer, message);
  writer.boolean("evaluate", message.evaluate_round.has_value());
  if (message.evaluate_round) writer.integer("evaluate_round", *message.evaluate_round);
  writer.integer("credited_samples", message.credited_samples);
  writer.number("credit", message.credit);
  writer.text("notice", message.notice);
  write_reach(writer, message);
  writer.close('}');
  return std::move(writer.str());
}

Result<Heartbeat> decode_heartbeat(std::string_view json) {
  return decode_json<Heartbeat>(json, "heartbeat", kJsonBytesMax, [](JsonReader& reader, Heartbeat& message) {
    read_int(reader, "protocol", message.protocol, 1, 1000);
    reader.text("run_id", message.run_id, kNameBytesMax);
    read_enum(reader, "phase", kPhases, message.phase);
    reader.integer("state_round", message.state_round, 0, kMessageCountMax);
    read_id(reader, "state_digest", message.state_digest);
    reader.integer("samples_this_round", message.samples_this_round, 0, kMessageCountMax);
    reader.number("samples_per_s", message.samples_per_s, 0, kMessageRateMax);
    reader.number("batch_seconds", message.batch_seconds, 0, kMessageRateMax);
    if (reader.present("batch_jitter")) reader.number("batch_jitter", message.batch_jitter, 0, kJitterMax);
    read_int(reader, "listen_port", message.listen_port, 0, 65535);
    reader.number("upload_bytes_per_s", message.upload_bytes_per_s, 0, kMessageRateMax);
    reader.number("download_bytes_per_s", message.download_bytes_per_s, 0, kMessageRateMax);
    if (reader.present("round_trip_s")) {
      reader.number("round_trip_s", message.round_trip_s, 0, kRoundTripMaxS);
    }
    if (reader.present("posted_at")) read_id(reader, "posted_at", message.posted_at);
    if (reader.present("relay_bytes_per_s")) {
      reader.number("relay_bytes_per_s", message.relay_bytes_per_s, 0, kMessageRateMax);
    }
    reader.list("reports", kReportsPerHeartbeatMax,
                [&](JsonReader& item) { read_report(item, message.reports.emplace_back()); });
    if (reader.present("process")) {
      reader.integer("process", message.process, 0, kMessageCountMax);
      reader.integer("next_draw", message.next_draw, 0, kDrawMax);
    }
    if (!reader.present("evaluation")) return;
    reader.object("evaluation", [&](JsonReader& item) {
      EvaluationReport& evaluation = message.evaluation.emplace();
      item.integer("round", evaluation.round, 0, kMessageCountMax);
      item.number("bits_per_byte", evaluation.bits_per_byte, 0, 1e6);
      item.integer("bytes", evaluation.bytes, 0, kMessageCountMax);
      if (item.present("accuracy")) item.number("accuracy", evaluation.accuracy.emplace(), 0, 1);
    });
  });
}

Result<HeartbeatReply> decode_heartbeat_reply(std::string_view json) {
  const auto read = [](JsonReader& reader, HeartbeatReply& message) {
    read_enum(reader, "run_state", kStates, message.run_state);
    reader.integer("round", message.round, 0, kMessageCountMax);
    read_id(reader, "state_digest", message.state_digest);
    read_int(reader, "lane", message.lane, 0, kLaneMax);
    read_leases(reader, message);
    reader.integer("target_batch_size", message.target_batch_size, 0, kMessageCountMax);
    reader.integer("samples_accumulated", message.samples_accumulated, 0, kMessageCountMax);
    reader.number("swarm_samples_per_s", message.swarm_samples_per_s, 0, kMessageRateMax);
    read_int(reader, "swarm_size", message.swarm_size, 0, INT32_MAX);
    reader.integer("acknowledged_rounds", message.acknowledged_rounds, 0, kMessageCountMax);
    reader.integer("next_heartbeat_ms", message.next_heartbeat_ms, 0, kMessageCountMax);
    reader.integer("server_unix_ms", message.server_unix_ms, 0, kMessageCountMax);
    reader.boolean("renew_certificate", message.renew_certificate);
    if (reader.present("group")) {
      reader.object("group", [&](JsonReader& item) { read_group(item, message.group.emplace()); });
    }
    reader.list("donors", kDonorsMax, [&](JsonReader& item) { read_endpoint(item, message.donors.emplace_back()); });
    read_checkpoint(reader, message);
    read_evaluate_round(reader, message);
    reader.integer("credited_samples", message.credited_samples, 0, kMessageCountMax);
    reader.number("credit", message.credit, 0, kMessageRateMax);
    reader.text("notice", message.notice, kMessageBytesMax);
    read_reach(reader, message);
  };
  return decode_json<HeartbeatReply>(json, "heartbeat reply", kReplyBytesMax, read);
}

Result<CheckpointReply> decode_checkpoint_reply(std::string_view json) {
  return decode_json<CheckpointReply>(json, "checkpoint reply", kReplyBytesMax,
                                      [](JsonReader& reader, CheckpointReply& message) {
                                        reader.integer("bytes", message.bytes, 0, kMessageCountMax);
                                      });
}

Result<RoundReport> decode_round_report(std::string_view json) {
  return decode_json<RoundReport>(json, "round report", kReplyBytesMax, read_report);
}

}  // namespace starling::wire
