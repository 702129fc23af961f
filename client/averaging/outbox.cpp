#include "client/averaging/outbox.h"

namespace starling::averaging {

using Kind = OutboxItem::Kind;

namespace {

bool take(bool& flag) {
  const bool was = flag;
  flag = false;
  return was;
}

}  // namespace

void Outbox::Queue::clear() {
  segments.clear();
  head = 0;
}

// The number of segments that each link carries when nothing goes wrong: contributions to the part at its other end,
// and results of the part here. Links with members that nobody waits for are not kept in step.
std::vector<std::uint32_t> Outbox::planned(const SegmentTable& table, const Roster& roster, bool contributes) {
  const Rank self = roster.self();
  const SegmentIndex own = table.first(self + 1) - table.first(self);
  std::vector<std::uint32_t> planned(table.members());
  for (Rank rank = 0; rank < planned.size(); ++rank)
    planned[rank] = roster.deferred(rank) || roster.late(rank) ? 0 : own;
  for (Rank rank = 0; contributes && rank < planned.size(); ++rank) {
    planned[rank] += table.first(rank + 1) - table.first(rank);
  }
  planned[self] = 0;
  return planned;
}

Outbox::Outbox(const SegmentTable& table, const Roster& roster, bool contributes)
    : table_(table),
      roster_(roster),
      contributes_(contributes),
      lanes_(roster.size()),
      balance_(planned(table, roster, contributes)) {
  for (Rank rank = 0; rank < roster.size(); ++rank) lanes_[rank].next_contribution = table.first(rank);
  results_.reserve(table.first(roster.self() + 1) - table.first(roster.self()));
}

void Outbox::touch(Rank to) {
  if (lanes_[to].ready || !roster_.linked(to)) return;
  lanes_[to].ready = true;
  ready_.push_back(to);
}

void Outbox::touch_all() {
  for (std::size_t i = 1; i < roster_.size(); ++i) touch((roster_.self() + i) % roster_.size());
}

std::vector<Rank> Outbox::take_ready() {
  std::vector<Rank> ready;
  ready.swap(ready_);
  for (const Rank rank : ready) lanes_[rank].ready = false;
  return ready;
}

void Outbox::due(Rank to, bool Lane::*what) {
  lanes_[to].*what = true;
  touch(to);
}

void Outbox::add_listener(Rank to) {
  Lane& lane = lanes_[to];
  lane.listens = true;
  lane.done = false;
  lane.results_taken = lane.relays_taken = 0;
  lane.wants.clear();
  lane.answers.clear();
  touch(to);
}

void Outbox::serve_listener(Rank to, const std::vector<SegmentIndex>& orphans) {
  for (const SegmentIndex segment : orphans) answer(to, segment);
  send_done(to);
}

void Outbox::listen() {
  listening_ = true;
  for (Lane& lane : lanes_) lane.wants.clear();
  for (Rank to = 0; to < lanes_.size(); ++to) due(to, &Lane::listen);
}

void Outbox::send_inventories() {
  for (Lane& lane : lanes_) {
    lane.inventory = true;
    lane.wants.clear();
    lane.answers.clear();
  }
  touch_all();
}

void Outbox::send_result_to_all(SegmentIndex segment) {
  results_.push_back(segment);
  touch_all();
}

void Outbox::want(Rank to, SegmentIndex segment) {
  lanes_[to].wants.segments.push_back(segment);
  touch(to);
}

void Outbox::answer(Rank to, SegmentIndex segment) {
  lanes_[to].answers.segments.push_back(segment);
  touch(to);
}

void Outbox::relay_begin(Rank whose) {
  relays_.push_back(whose);
  for (Rank to = 0; to < lanes_.size(); ++to) {
    if (!roster_.dialable(to)) touch(to);
  }
}

bool Outbox::next_relay(Rank to, Lane& lane, OutboxItem& item) {
  if (roster_.dialable(to) || roster_.hub() != roster_.self()) return false;
  while (lane.relays_taken < relays_.size()) {
    const Rank whose = relays_[lane.relays_taken++];
    if (whose == to) continue;
    item = {Kind::begin, 0, whose};
    return true;
  }
  return false;
}

void Outbox::send_seal_to_all() {
  for (Rank to = 0; to < lanes_.size(); ++to) send_seal(to, roster_.self());
}

void Outbox::send_seal(Rank to, Rank owner) {
  lanes_[to].seals.push_back(owner);
  touch(to);
}

OutboxItem Outbox::next_of(std::vector<Rank>& ranks, Kind kind) {
  const Rank rank = ranks.back();
  ranks.pop_back();
  return {kind, 0, rank};
}

void Outbox::send_lost_set(Rank whose) {
  for (Rank to = 0; to < lanes_.size(); ++to) {
    std::vector<Rank>& waiting = lanes_[to].lost_sets;
    if (to == whose || to == roster_.self() || !roster_.linked(to)) continue;
    if (std::find(waiting.begin(), waiting.end(), whose) == waiting.end()) waiting.push_back(whose);
    touch(to);
  }
}

void Outbox::send_begin_of_lost(Rank whose) {
  for (Rank to = 0; to < lanes_.size(); ++to) {
    if (to == whose || !roster_.live(to)) continue;
    lanes_[to].begins.push_back(whose);
    touch(to);
  }
}

bool Outbox::has_data(Rank to) const {
  const Lane& lane = lanes_[to];
  const bool contribution = contributes_ && lane.next_contribution < table_.first(to + 1);
  return roster_.live(to) && roster_.begun(to) && (contribution || lane.results_taken < results_.size());
}

// Contributions go first unless put_results_first() says otherwise. A member that gets them has results to send then,
// and never runs out of work while others are late.
OutboxItem Outbox::next_data(Rank to, Lane& lane) {
  if (results_first_ && lane.results_taken < results_.size()) return next_result(lane);
  while (contributes_ && lane.next_contribution < table_.first(to + 1)) {
    // If the result is here already, the owner has closed the segment without this member.
    const SegmentIndex segment = lane.next_contribution++;
    if (!table_.held(segment)) return {Kind::contribution, segment, 0};
  }
  return next_result(lane);
}

OutboxItem Outbox::next_result(Lane& lane) {
  if (lane.results_taken < results_.size()) return {Kind::result, results_[lane.results_taken++], 0};
  while (!lane.answers.empty()) {
    const SegmentIndex segment = lane.answers.pop();
    if (table_.held(segment)) return {Kind::result, segment, 0};
    if (contributes_) return {Kind::contribution, segment, 0};
  }
  return {};
}

OutboxItem Outbox::next_for_listener(Rank to, Lane& lane) {
  if (take(lane.inventory)) return {Kind::inventory, 0, 0};
  OutboxItem item;
  if (next_relay(to, lane, item)) return item;
  item = next_result(lane);
  if (item.kind != Kind::none) return item;
  if (take(lane.done)) return {Kind::done, 0, 0};
  return take(lane.ping) ? OutboxItem{Kind::ping, 0, 0} : OutboxItem{};
}

OutboxItem Outbox::next_round_item(TimePoint now, Rank to, Lane& lane) {
  OutboxItem item;
  if (next_relay(to, lane, item)) return item;
  if (!lane.wants.empty()) return {Kind::want, lane.wants.pop(), 0};
  const auto open = [this](Rank rank) { return has_data(rank); };
  if (balanced_ && has_data(to) && balance_.rests(now, to, open)) return {Kind::ping, 0, 0};
  item = next_data(to, lane);
  const SegmentIndex contributions = contributes_ ? lane.next_contribution - table_.first(to) : 0;
  balance_.set_sent(now, to, contributions + lane.results_taken);
  for (const Rank rank : balance_.take_resting()) touch(rank);
  return item;
}

OutboxItem Outbox::next(TimePoint now, Rank to) {
  Lane& lane = lanes_[to];
  if (!roster_.linked(to)) return {};
  if (listening_) {
    if (take(lane.begin)) return {Kind::begin, 0, roster_.self()};
    if (roster_.begun(to) && !lane.lost_sets.empty()) return next_of(lane.lost_sets, Kind::lost_set);
    if (roster_.begun(to) && take(lane.listen)) return {Kind::listen, 0, 0};
    if (!lane.wants.empty()) return {Kind::want, lane.wants.pop(), 0};
    return take(lane.ping) ? OutboxItem{Kind::ping, 0, 0} : OutboxItem{};
  }
  if (roster_.lost(to) && !roster_.begun(to)) return {};
  if (take(lane.begin)) return {Kind::begin, 0, roster_.self()};
  if (lane.listens) return next_for_listener(to, lane);
  if (roster_.lost(to)) return take(lane.inventory) ? OutboxItem{Kind::inventory, 0, 0} : OutboxItem{};
  if (roster_.begun(to)) {
    if (!lane.begins.empty()) return next_of(lane.begins, Kind::begin);
    if (!lane.lost_sets.empty()) return next_of(lane.lost_sets, Kind::lost_set);
    if (take(lane.inventory)) return {Kind::inventory, 0, 0};
    const OutboxItem item = next_round_item(now, to, lane);
    if (item.kind == Kind::ping) return take(lane.ping) ? item : OutboxItem{};  // the link rests
    if (item.kind != Kind::none) return item;
    if (!lane.seals.empty()) return next_of(lane.seals, Kind::seal);
    if (take(lane.done)) return {Kind::done, 0, 0};
  }
  return take(lane.ping) ? OutboxItem{Kind::ping, 0, 0} : OutboxItem{};
}

void Outbox::stop_resting() {
  balanced_ = false;
  for (const Rank rank : balance_.take_resting()) touch(rank);
}

void Outbox::wake(TimePoint now) {
  if (balance_.wake_at() > now) return;
  for (const Rank rank : balance_.take_resting()) touch(rank);
}

}  // namespace starling::averaging
