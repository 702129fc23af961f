#include "shared/swarm/plan.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

using namespace starling;
using namespace starling::swarm;

namespace {

wire::MemberInfo member(std::uint8_t id, double speed, double batch_seconds) {
  wire::MemberInfo info;
  info.endpoint = {.peer = {}, .host = "192.0.2.1", .port = 4000};
  info.endpoint.peer.bytes[0] = id;
  info.upload_bytes_per_s = speed;
  info.download_bytes_per_s = speed;
  info.batch_seconds = batch_seconds;
  return info;
}

std::int64_t segment_floats(std::int64_t vector_floats, const std::vector<double>& speeds,
                            wire::Codec codec = wire::Codec::fp32) {
  std::vector<wire::MemberInfo> members;
  for (const double speed : speeds) members.push_back(member(static_cast<std::uint8_t>(members.size()), speed, 1));
  PlanOptions options;
  options.vector_floats = vector_floats;
  options.codec = codec;
  return plan_group(members, options).segment_floats;
}

}  // namespace

TEST_CASE("segments are short where a line is slow") {
  const auto planned = [](const std::vector<double>& speeds, wire::Codec codec = wire::Codec::fp32) {
    return segment_floats(4 << 20, speeds, codec);
  };
  CHECK(planned({0, 0, 0}) == wire::kSegmentFloatsDefault);
  CHECK(planned({1e9, 1e9}) == wire::kSegmentFloatsDefault);
  CHECK(planned({25e6, 12.5e6}) == 8192);  // 32 KiB pass 100 Mbit/s in 3 ms
  CHECK(planned({25e6, 6.25e6}) == 4096);
  CHECK(planned({25e6, 0, 1e3}) == 4096);
  CHECK(planned({25e6, 6.25e6}, wire::Codec::fp16) == 8192);
  CHECK(planned({25e6, 0.25e6}, wire::Codec::sparse) == wire::kSegmentFloatsDefault);
}

TEST_CASE("segments of many members are short beside a short vector") {
  const std::vector<double> eight(8, 1e9);
  CHECK(segment_floats(16 << 20, eight) == wire::kSegmentFloatsDefault);
  CHECK(segment_floats(2 << 20, eight) == 8192);
  CHECK(segment_floats(1 << 10, eight) == 4096);  // frames should not be much shorter than TLS records
}

TEST_CASE("every machine makes the same plan of the same members") {
  PlanOptions options{.run_id = "tiny-gpt", .round = 7, .state_digest = {}, .vector_floats = 100000};
  std::vector<wire::MemberInfo> members;
  for (const int id : {9, 3, 5, 1}) members.push_back(member(static_cast<std::uint8_t>(id), 1e6 * id, 0.5));
  members[2].endpoint.port = 0;
  const wire::GroupInfo group = plan_group(members, options);
  CHECK(wire::check_group(group).ok());
  CHECK(std::is_sorted(group.members.begin(), group.members.end(),
                       [](const auto& a, const auto& b) { return a.endpoint.peer < b.endpoint.peer; }));
  CHECK(group.members[2].part_floats == 0);  // this member cannot be dialled

  std::reverse(members.begin(), members.end());
  const wire::GroupInfo again = plan_group(members, options);
  CHECK(again.id == group.id);
  CHECK(plan_digest(again) == plan_digest(group));
}

TEST_CASE("a slow line is planned for: a narrow codec and a late result, with the reason said in one line") {
  PlanOptions options{.run_id = "tiny-gpt", .round = 7, .state_digest = {}, .vector_floats = 4 << 20};
  options.target_batch_size = 1200;
  std::vector<wire::MemberInfo> members;
  for (std::uint8_t id = 1; id <= 4; ++id) {
    members.push_back(member(id, id == 4 ? 1.25e6 : 12.5e6, 1));
    members.back().samples_per_s = 10;
  }
  RoundPlan plan = plan_round(members, options);
  CHECK(wire::check_group(plan.group).ok());
  CHECK(plan.group.members[3].role == wire::MemberRole::deferred);
  CHECK(plan.group.members[3].codec == "int8");
  CHECK(plan.group.members[0].codec.empty());
  CHECK(plan.ready_s[3] > 13);
  CHECK(plan.averaging_s < 5);
  CHECK(plan.group.reason.find("10 Mbit/s") != std::string::npos);
  CHECK(plan.group.reason.size() <= wire::kReasonBytesMax);
  options.error_feedback = true;
  plan = plan_round(members, options);
  CHECK(plan.group.members[3].codec == "int4");
  CHECK(plan.averaging_s < 3);
}

TEST_CASE("who computes little may only add up, but not where owners have to contribute what their results left out") {
  PlanOptions options{.run_id = "tiny-gpt", .round = 7, .state_digest = {}, .vector_floats = 64 << 20};
  options.target_batch_size = 1200;
  std::vector<wire::MemberInfo> members;
  for (std::uint8_t id = 1; id <= 4; ++id) {
    members.push_back(member(id, 1.25e6, 1));
    members.back().samples_per_s = id == 4 ? 0.1 : 100;
  }
  members[3].upload_bytes_per_s = 0.2e6;
  CHECK(plan_round(members, options).group.members[3].role == wire::MemberRole::auxiliary);
  options.codec = wire::Codec::sparse;
  options.error_feedback = true;
  options.vector_floats <<= 4;
  for (const wire::GroupMember& each : plan_round(members, options).group.members) {
    CHECK(each.role == wire::MemberRole::full);
  }
}

TEST_CASE("a newcomer whose slow upload is known before its first round holds that up little") {
  PlanOptions options{.run_id = "tiny-gpt", .round = 7, .state_digest = {}, .vector_floats = 4 << 20};
  options.target_batch_size = 1200;
  constexpr double kUpload = 0.625e6;  // 5 Mbit/s; its download is as fast as the others'
  // Planned time of the newcomer's line for its contributions and the results it owes.
  const auto upload_s = [&](double known) {
    std::vector<wire::MemberInfo> members;
    for (std::uint8_t id = 1; id <= 4; ++id) members.push_back(member(id, 12.5e6, 0.5));
    for (wire::MemberInfo& one : members) one.samples_per_s = 10;
    members[0].upload_bytes_per_s = known;
    const wire::GroupInfo group = plan_group(members, options);
    const auto own = static_cast<double>(group.members[0].part_floats);
    const wire::Codec sends = wire::contribution_codec(group, 0);
    const auto sent = static_cast<double>(wire::encoded_bytes(sends, static_cast<std::size_t>(options.vector_floats)));
    const double share = own / static_cast<double>(options.vector_floats);
    return (sent * (1 - share) + 3 * own * sizeof(float)) / kUpload;
  };
  CHECK(upload_s(0) > 30);
  CHECK(upload_s(kUpload) < 8);
}

TEST_CASE("the plan's digest tells what must be agreed on, and not the times") {
  PlanOptions options{.run_id = "tiny-gpt", .round = 7, .state_digest = {}, .vector_floats = 100000};
  const std::vector<wire::MemberInfo> members = {member(1, 1e6, 1), member(2, 1e6, 1), member(3, 1e6, 1)};
  const wire::GroupInfo group = plan_group(members, options);

  wire::GroupInfo later = group;
  later.start_in_ms += 500;
  later.begin_within_ms += 500;
  CHECK(plan_digest(later) == plan_digest(group));

  wire::GroupInfo shifted = group;
  --shifted.members[0].part_floats;
  ++shifted.members[1].part_floats;
  CHECK(plan_digest(shifted) != plan_digest(group));
  wire::GroupInfo halved = group;
  halved.codec = "fp16";
  CHECK(plan_digest(halved) != plan_digest(group));

  wire::GroupInfo elsewhere = group;
  elsewhere.state_digest.bytes.fill(1);
  CHECK(plan_digest(elsewhere) != plan_digest(group));

  options.nonce = 1;
  CHECK(plan_group(members, options).id != group.id);
}

TEST_CASE("members are awaited as long as the slowest micro-batch may take") {
  PlanOptions options{
      .run_id = "tiny-gpt", .round = 7, .state_digest = {}, .vector_floats = 1000, .heartbeat_jitter_ms = 700};
  const auto wait = [&](double slowest) {
    const std::vector<wire::MemberInfo> members = {member(1, 1e6, 0.2), member(2, 1e6, slowest)};
    return plan_group(members, options).begin_within_ms;
  };
  CHECK(wait(10) - wait(2) == 12000);
  CHECK(wait(2) >= 2000 + options.heartbeat_jitter_ms);
  CHECK(wait(1e300) <= wire::kPlanWaitMsMax);
  CHECK(wait(std::nan("")) == wait(0.2));
}

TEST_CASE("those who are called at a relay own parts only where nobody can be dialled without one") {
  PlanOptions options{.run_id = "tiny-gpt", .round = 7, .state_digest = {}, .vector_floats = 100000};
  std::vector<wire::MemberInfo> members = {member(1, 1e6, 1), member(2, 1e6, 1), member(3, 1e6, 1)};
  members[1].endpoint.relay.bytes.fill(9);
  members[2].endpoint.relay.bytes.fill(9);
  const wire::GroupInfo mixed = plan_group(members, options);
  CHECK(wire::check_group(mixed).ok());
  CHECK(mixed.members[0].part_floats == options.vector_floats);

  members[0].endpoint.port = 0;
  const wire::GroupInfo relayed = plan_group(members, options);
  CHECK(wire::check_group(relayed).ok());
  CHECK(relayed.members[0].part_floats == 0);
  CHECK(relayed.members[1].part_floats + relayed.members[2].part_floats == options.vector_floats);
  CHECK(relayed.members[1].part_floats > 0);
  CHECK(relayed.members[2].part_floats > 0);
}

TEST_CASE("where a member is called is agreed on: directly, at a relay, or nowhere") {
  const PlanOptions options{.run_id = "tiny-gpt", .round = 7, .state_digest = {}, .vector_floats = 100000};
  const wire::GroupInfo direct = plan_group(std::vector{member(1, 1e6, 1), member(2, 1e6, 1)}, options);
  wire::GroupInfo relayed = direct;
  relayed.members[0].endpoint.relay.bytes.fill(9);
  wire::GroupInfo nowhere = direct;
  nowhere.members[0].endpoint.port = 0;
  CHECK(plan_digest(relayed) != plan_digest(direct));
  CHECK(plan_digest(nowhere) != plan_digest(direct));
  CHECK(plan_digest(nowhere) != plan_digest(relayed));
}
