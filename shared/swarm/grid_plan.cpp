#include "shared/swarm/grid_plan.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "shared/base/hash.h"
#include "shared/base/upper_median.h"
#include "shared/base/verify.h"
#include "shared/swarm/random_stream.h"
#include "shared/swarm/roles.h"

namespace starling::swarm {
namespace {

// Enough segments that every owner has some, and that parts can be cut where shares want them.
constexpr std::int64_t kSegmentsPerMember = 8;
// The time that a stage may take beyond its planned one: a fault is noticed and made up for, and a slow start.
constexpr double kStagePatience = 3;
constexpr std::int64_t kStageSlackMs = 10'000;
constexpr double kUnknownBytesPerS = 1e6;  // assumed for every line while none has been measured
// Stages wait for lines this many times as slow as the usual one, and for no slower ones.
constexpr double kSlowestWaitedFor = 16;

enum Tag : std::int64_t { kGridTag = 1, kColumnTag, kHeadsTag, kSpreadTag };

bool owns(const wire::MemberInfo& member, bool has_direct) {
  return has_direct ? wire::direct(member.endpoint) : wire::dialable(member.endpoint);
}

bool any_direct(std::span<const wire::MemberInfo> members) {
  return std::any_of(members.begin(), members.end(),
                     [](const wire::MemberInfo& member) { return wire::direct(member.endpoint); });
}

double slower_direction(const wire::MemberInfo& member) {
  const double up = member.upload_bytes_per_s;
  const double down = member.download_bytes_per_s;
  return up > 0 && down > 0 ? std::min(up, down) : std::max(up, down);
}

SeenLine seen_line(const SeenLines& seen, const wire::MemberInfo& member) {
  const auto found = seen.find(member.endpoint.peer);
  return found == seen.end() ? SeenLine{} : found->second;
}

// Its slower direction, as it says, and no more than others have seen.
double line_of(const wire::MemberInfo& member, const SeenLine& seen) {
  const double told = slower_direction(member);
  return told > 0 && seen.bytes_per_s > 0 ? std::min(told, seen.bytes_per_s) : std::max(told, seen.bytes_per_s);
}

// A column or its heads alone may have no line that was measured.
std::vector<wire::MemberInfo> with_lines(std::span<const wire::MemberInfo> members) {
  std::vector<Link> links;
  bool measured = false;
  for (const wire::MemberInfo& info : members) {
    links.push_back({info.upload_bytes_per_s, info.download_bytes_per_s, true});
    measured = measured || slower_direction(info) > 0;
  }
  if (!measured) std::fill(links.begin(), links.end(), Link{kUnknownBytesPerS, kUnknownBytesPerS, true});
  links = with_typical_speeds(links);
  std::vector<wire::MemberInfo> known(members.begin(), members.end());
  for (std::size_t i = 0; i < known.size(); ++i) {
    known[i].upload_bytes_per_s = links[i].upload;
    known[i].download_bytes_per_s = links[i].download;
  }
  return known;
}

// Deals every column its share of the members that own parts, then of the others.
std::vector<std::vector<wire::MemberInfo>> deal(std::span<const wire::MemberInfo> members, std::uint64_t seed,
                                                std::size_t columns) {
  std::vector<wire::MemberInfo> order(members.begin(), members.end());
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.endpoint.peer < b.endpoint.peer; });
  RandomStream stream(seed);
  stream.shuffle(std::span(order));
  const bool has_direct = any_direct(members);
  std::stable_partition(order.begin(), order.end(), [&](const auto& member) { return owns(member, has_direct); });
  std::vector<std::vector<wire::MemberInfo>> dealt(columns);
  for (std::size_t i = 0; i < order.size(); ++i) dealt[i % columns].push_back(std::move(order[i]));
  return dealt;
}

// Heads carry more than others, and speak for their column. So they are those with the best lines that others have
// seen, of the members that own parts and whose accounts vote. Where these are too few, others are heads by lot, in the
// order in which they were dealt: no word of theirs makes them heads, but who says that its line is slow comes last.
std::vector<wire::MemberInfo> heads_of(std::vector<wire::MemberInfo> column, bool has_direct, const SeenLines& seen,
                                       double usual_line) {
  const auto worth = [&](const wire::MemberInfo& member) {
    const SeenLine by_others = seen_line(seen, member);
    const bool is_seen = by_others.bytes_per_s > 0;
    const double line = line_of(member, by_others);
    const double counted = member.reliance * (is_seen ? line : std::min(line, usual_line));
    return std::tuple(owns(member, has_direct), by_others.voice, member.reliance > 0, is_seen, counted);
  };
  std::stable_sort(column.begin(), column.end(), [&](const auto& a, const auto& b) { return worth(a) > worth(b); });
  column.resize(std::min(column.size(), kHeadsPerColumn));
  return column;
}

// Limits parts of the heads' group like parts of columns: to as many equal ones.
void limit_heads(std::vector<wire::MemberInfo>& heads, std::size_t members, std::size_t columns) {
  const double column_members = static_cast<double>(members) / static_cast<double>(columns);
  const double parts = column_members / static_cast<double>(heads.size());
  for (wire::MemberInfo& head : heads) head.share_max = std::min(1.0, parts * head.share_max);
}

// The time that others wait for these to average: a line that is said to be slower than any is not waited for.
double awaited_seconds(std::vector<wire::MemberInfo> members, double usual_line, const PlanOptions& options) {
  for (wire::MemberInfo& member : members) {
    member.upload_bytes_per_s = std::max(member.upload_bytes_per_s, usual_line / kSlowestWaitedFor);
    member.download_bytes_per_s = std::max(member.download_bytes_per_s, usual_line / kSlowestWaitedFor);
  }
  return plan_round(members, options).averaging_s;
}

void align(wire::GroupInfo& group) {
  std::vector<double> shares;
  for (const wire::GroupMember& member : group.members) shares.push_back(static_cast<double>(member.part_floats));
  const auto parts = aligned_parts(group.vector_floats, group.segment_floats, shares);
  for (std::size_t rank = 0; rank < parts.size(); ++rank) group.members[rank].part_floats = parts[rank];
}

// The averaging that spreads the heads' result: heads contribute, and members with the line for it add up and pass on.
struct Spread {
  std::vector<wire::GridPlan::Seat> seats;
  double seconds = 0;
};
Spread plan_spread(const wire::GroupInfo& column, std::span<const wire::MemberInfo> infos,
                   std::span<const wire::MemberInfo> heads) {
  std::vector<Link> links;
  std::vector<double> shares_max;
  Spread spread;
  const bool has_direct = any_direct(infos);
  for (const wire::GroupMember& member : column.members) {
    const auto is_it = [&](const wire::MemberInfo& info) { return info.endpoint.peer == member.endpoint.peer; };
    const wire::MemberInfo& info = *std::find_if(infos.begin(), infos.end(), is_it);
    links.push_back({info.upload_bytes_per_s, info.download_bytes_per_s, owns(info, has_direct)});
    shares_max.push_back(info.share_max);
    spread.seats.push_back({0, std::any_of(heads.begin(), heads.end(), is_it)});
  }
  const double bytes_per_float =
      narrower_codecs(wire::codec_from_name(column.codec).value(), false).front().bytes_per_float;
  std::vector<Load> loads;
  for (const Link& link : with_typical_speeds(links)) {
    const std::size_t rank = loads.size();
    loads.push_back({link, spread.seats[rank].head ? bytes_per_float : 0, false, 1, shares_max[rank]});
  }
  const Shares shares = share_out(loads, {static_cast<double>(column.vector_floats), bytes_per_float});
  spread.seconds = shares.round_s;
  const auto parts = aligned_parts(column.vector_floats, column.segment_floats, shares.of);
  for (std::size_t rank = 0; rank < parts.size(); ++rank) spread.seats[rank].part_floats = parts[rank];
  return spread;
}

// The part of the plan that is the same in all columns, with the heads in the order of their group.
wire::GridPlan grid_of(wire::GroupInfo heads_group, std::span<const std::vector<wire::MemberInfo>> heads_by_column) {
  wire::GridPlan grid;
  grid.id = derived_id(heads_group.id, kGridTag, 0);
  grid.columns = static_cast<std::uint32_t>(heads_by_column.size());
  grid.heads_id = stage_ids(grid.id, 0).heads;
  align(heads_group);
  for (const wire::GroupMember& member : heads_group.members) {
    wire::GridPlan::Head& head = grid.heads.emplace_back();
    head.member = member;
    head.member.role = wire::MemberRole::full;
    head.member.codec.clear();
    while (std::none_of(heads_by_column[head.column].begin(), heads_by_column[head.column].end(),
                        [&](const auto& info) { return info.endpoint.peer == member.endpoint.peer; })) {
      ++head.column;
    }
  }
  return grid;
}

std::int64_t segment_floats_for(std::int64_t wanted, std::int64_t vector_floats, std::size_t members) {
  const std::int64_t short_enough = vector_floats / (kSegmentsPerMember * static_cast<std::int64_t>(members));
  return std::clamp<std::int64_t>(std::min(wanted, short_enough), 1, wire::kSegmentFloatsMax);
}

std::int64_t within_ms(std::int64_t others_ms, double seconds) {
  const double ms = static_cast<double>(others_ms + kStageSlackMs) + 1000 * kStagePatience * seconds;
  return static_cast<std::int64_t>(std::min(ms, static_cast<double>(wire::kPlanWaitMsMax)));
}

}  // namespace

std::vector<std::int64_t> aligned_parts(std::int64_t vector_floats, std::int64_t segment_floats,
                                        std::span<const double> shares) {
  const std::int64_t segments = (vector_floats + segment_floats - 1) / segment_floats;
  std::vector<std::int64_t> parts = split_vector(segments, shares);
  std::int64_t left = vector_floats;
  for (std::int64_t& part : parts) {
    part = std::min(left, part * segment_floats);
    left -= part;
  }
  return parts;
}

GroupId derived_id(const GroupId& of, std::int64_t tag, std::int64_t number) {
  std::vector<std::uint8_t> bytes(of.bytes.begin(), of.bytes.end());
  for (const std::int64_t value : {tag, number}) {
    for (int shift = 0; shift < 64; shift += 8) bytes.push_back(static_cast<std::uint8_t>(value >> shift));
  }
  GroupId id;
  id.bytes = hash128(bytes).bytes;
  return id;
}

StageIds stage_ids(const GroupId& grid, std::size_t column) {
  const auto number = static_cast<std::int64_t>(column);
  return {derived_id(grid, kColumnTag, number), derived_id(grid, kHeadsTag, 0), derived_id(grid, kSpreadTag, number)};
}

double usual_line(std::span<const wire::MemberInfo> members, const SeenLines& seen) {
  std::vector<double> lines;
  std::vector<double> with_voice;
  for (const wire::MemberInfo& member : members) {
    const SeenLine by_others = seen_line(seen, member);
    const double line = line_of(member, by_others);
    if (line <= 0) continue;
    lines.push_back(line);
    if (by_others.voice) with_voice.push_back(line);
  }
  if (lines.empty()) return kUnknownBytesPerS;
  return upper_median(with_voice.empty() ? std::move(lines) : std::move(with_voice));
}

std::size_t columns_of(std::span<const wire::MemberInfo> members, std::size_t size_max) {
  const bool has_direct = any_direct(members);
  const auto owners = static_cast<std::size_t>(std::count_if(
      members.begin(), members.end(), [&](const wire::MemberInfo& member) { return owns(member, has_direct); }));
  const std::size_t wanted = (members.size() + size_max - 1) / std::max<std::size_t>(1, size_max);
  return std::min({wanted, owners, members.size() / kColumnMembersMin, wire::kGridColumnsMax});
}

GridRound plan_grid(std::span<const wire::MemberInfo> members, const PlanOptions& options, std::size_t columns,
                    const SeenLines& seen) {
  VERIFY(columns >= 2 && columns <= columns_of(members, 1));
  const bool has_direct = any_direct(members);
  const double usual_bytes_per_s = usual_line(members, seen);
  const auto dealt = deal(with_lines(members), options.nonce, columns);
  std::vector<std::vector<wire::MemberInfo>> heads_by_column;
  std::vector<wire::MemberInfo> all_heads;
  for (const auto& column : dealt) {
    heads_by_column.push_back(heads_of(column, has_direct, seen, usual_bytes_per_s));
    all_heads.insert(all_heads.end(), heads_by_column.back().begin(), heads_by_column.back().end());
  }
  limit_heads(all_heads, members.size(), columns);
  PlanOptions stage = options;
  stage.target_batch_size = 0;
  stage.may_leave_out = false;
  // All columns cut results in equal places, whatever their lines.
  const std::int64_t usual = plan_group(members, stage).segment_floats;
  stage.segment_floats =
      segment_floats_for(usual, options.vector_floats, std::max(all_heads.size(), dealt.front().size()));
  stage.contribution_codec.reset();  // the heads' contributions are averages: nothing makes up for their losses
  const RoundPlan heads = plan_round(all_heads, stage);
  const double heads_awaited_s = awaited_seconds(all_heads, usual_bytes_per_s, stage);
  stage.contribution_codec = options.contribution_codec;
  wire::GridPlan grid = grid_of(heads.group, heads_by_column);

  GridRound round;
  double column_s = 0;
  double column_awaited_s = 0;
  double spread_s = 0;
  std::int64_t begin_within_ms = 0;
  for (std::size_t c = 0; c < columns; ++c) {
    RoundPlan planned = plan_round(dealt[c], stage);
    wire::GroupInfo& column = planned.group;
    align(column);
    const StageIds ids = stage_ids(grid.id, c);
    column.id = ids.column;
    grid.column = static_cast<std::uint32_t>(c);
    grid.spread_id = ids.spread;
    Spread spread = plan_spread(column, dealt[c], heads_by_column[c]);
    grid.spread = std::move(spread.seats);
    column.grid = grid;
    column.reason =
        ("a grid of " + std::to_string(columns) + " columns; " + column.reason).substr(0, wire::kReasonBytesMax);
    column_s = std::max(column_s, planned.averaging_s);
    column_awaited_s = std::max(column_awaited_s, awaited_seconds(dealt[c], usual_bytes_per_s, stage));
    spread_s = std::max(spread_s, spread.seconds);
    begin_within_ms = std::max(begin_within_ms, column.begin_within_ms);
    round.columns.push_back(std::move(column));
  }
  for (wire::GroupInfo& column : round.columns) {
    column.begin_within_ms = begin_within_ms;
    column.grid->heads_within_ms = within_ms(begin_within_ms, column_awaited_s);
    column.grid->spread_within_ms = within_ms(column.grid->heads_within_ms, heads_awaited_s);
  }
  round.averaging_s = column_s + heads.averaging_s + spread_s;
  return round;
}

wire::GroupInfo place_in(const wire::GroupInfo& column, const PeerId& member) {
  wire::GroupInfo place = column;
  const auto is_it = [&](const wire::GridPlan::Head& head) { return head.member.endpoint.peer == member; };
  if (std::none_of(column.grid->heads.begin(), column.grid->heads.end(), is_it)) place.grid->heads.clear();
  return place;
}

}  // namespace starling::swarm
