#include "client/averaging/all_reduce.h"

#include <algorithm>

#include "client/averaging/all_reduce_impl.h"
#include "shared/swarm/plan.h"

namespace starling::averaging {
namespace {

// floor(weight x part / whole) without overflow: part <= whole <= 2^32, weight <= 2^40.
SampleCount share_of(SampleCount weight, std::int64_t part, std::int64_t whole) {
  return weight / whole * part + weight % whole * part / whole;
}

}  // namespace

AllReduce::AllReduce(wire::GroupInfo group, Rank self, const RoundVectors& vectors, AllReduceOptions options)
    : impl_(std::make_unique<Impl>(std::move(group), self, vectors, options)) {}
AllReduce::~AllReduce() = default;

void AllReduce::start(TimePoint now) { impl_->start(now); }
bool AllReduce::next_frame(TimePoint now, Rank to, OutgoingFrame& frame) { return impl_->next_frame(now, to, frame); }
std::vector<Rank> AllReduce::take_ready() { return impl_->take_ready(); }
bool AllReduce::has_ready() const { return impl_->has_ready(); }
Status AllReduce::on_frame(TimePoint now, Rank from, const wire::FrameHeader& header,
                           std::span<const std::uint8_t> payload) {
  return impl_->on_frame(now, from, header, payload);
}
void AllReduce::on_link_lost(TimePoint now, Rank peer, std::string reason, std::optional<wire::Fault> fault) {
  impl_->on_link_lost(now, peer, std::move(reason), fault);
}
void AllReduce::on_timer(TimePoint now) { impl_->on_timer(now); }
TimePoint AllReduce::next_deadline() const { return impl_->next_deadline(); }
bool AllReduce::finished_with(Rank rank) const { return impl_->finished_with(rank); }
const AveragingOutcome* AllReduce::outcome() const { return impl_->outcome(); }
std::span<const std::uint8_t> AllReduce::note(Rank rank) const { return impl_->note(rank); }

AllReduce::Impl::Impl(wire::GroupInfo group, Rank self, const RoundVectors& vectors, const AllReduceOptions& options)
    : group_(std::move(group)),
      self_(self),
      own_{vectors.weight, vectors.draw},
      codec_(codec_from_name(group_.codec).value()),
      vectors_(vectors),
      options_(options),
      plan_digest_(swarm::plan_digest(group_)),
      set_bytes_((group_.members.size() + 7) / 8),
      table_(group_),
      roster_(group_, self, own_),
      sums_(table_, self, vectors),
      recovery_(table_, roster_),
      outbox_(table_, roster_, vectors.weight > 0),
      watch_(options, group_.members.size()),
      peers_(group_.members.size()),
      encoded_(table_.size()) {
  VERIFY(self < group_.members.size());
  for (Rank rank = 0; rank < roster_.size(); ++rank)
    contribution_codecs_.push_back(wire::contribution_codec(group_, rank));
  VERIFY(own_.weight >= 0 && own_.weight <= wire::kWeightMax);
  VERIFY(std::ssize(vectors.input) == group_.vector_floats || own_.weight == 0);
  VERIFY(std::ssize(vectors.output) == group_.vector_floats);
  VERIFY(vectors.rest.empty() || std::ssize(vectors.rest) == group_.vector_floats);
}

void AllReduce::Impl::start(TimePoint now) {
  VERIFY(!started_);
  started_ = true;
  started_at_ = now;
  begin_deadline_ = now + from_ms(group_.begin_within_ms);
  next_tick_ = now;
  watch_.start(now);
  const SegmentIndex own = table_.first(self_);
  const SegmentIndex own_end = table_.first(self_ + 1);
  for (SegmentIndex segment = own; own_.weight > 0 && segment < own_end; ++segment) {
    if (summable(input_of(segment))) continue;
    lost_.push_back({self_, "its own values are not finite, or too large to be added up"});
    return settle(now, Verdict::expelled);
  }
  outbox_.touch_all();
  close_complete(now);
  check_settled(now);
}

std::span<float> AllReduce::Impl::output_of(SegmentIndex segment) const {
  return vectors_.output.subspan(static_cast<std::size_t>(table_[segment].begin), table_[segment].floats);
}

std::span<const float> AllReduce::Impl::input_of(SegmentIndex segment) const {
  return vectors_.input.subspan(static_cast<std::size_t>(table_[segment].begin), table_[segment].floats);
}

Hash128 AllReduce::Impl::values_digest(SegmentIndex segment) const {
  const std::span<const float> values = output_of(segment);
  return hash128({reinterpret_cast<const std::uint8_t*>(values.data()), values.size_bytes()});
}

void AllReduce::Impl::stop_awaiting(Rank rank) {
  if (!peers_[rank].awaited) return;
  peers_[rank].awaited = false;
  --awaited_;
  sums_.stop_awaiting(rank);
}

bool AllReduce::Impl::mark_lost(const LostMember& casualty) {
  if (!roster_.lose(casualty.rank)) return false;
  stop_awaiting(casualty.rank);
  lost_.push_back(casualty);
  return true;
}

void AllReduce::Impl::witness(Rank rank, wire::Fault fault) {
  if (roster_.late(rank) && !roster_.begun(rank)) return;  // nobody promised that this member would come
  if (!roster_.lost(rank) && !peers_[rank].fault) peers_[rank].fault = fault;
}

void AllReduce::Impl::lose(TimePoint now, const std::vector<LostMember>& casualties) {
  bool grew = false;
  for (const LostMember& casualty : casualties) grew = mark_lost(casualty) || grew;
  if (!grew) return;
  for (const LostMember& missing : late_and_missing())
    mark_lost(missing);  // every survivor then has to say what it holds
  for (Rank rank = 0; rank < roster_.size(); ++rank) {
    if (peers_[rank].left) mark_lost({rank, "left when it was done, before others were"});
  }
  const bool reachable = roster_.dialable(self_) || roster_.hub() != self_;
  for (Rank rank = 0; !reachable && rank < roster_.size(); ++rank) {
    if (rank != self_) mark_lost({rank, "nobody is left with a link to it"});
  }
  sums_.drop_adopted();
  for (Rank rank = 0; rank < roster_.size(); ++rank) {
    if (owes_nothing(rank)) watch_.on_awaited(now, rank);  // its inventory is awaited now
  }
  recovery_.enter_view();
  outbox_.send_inventories();
  watch_.on_view(now);
  for (Peer& peer : peers_) peer.wants_open = 0;
  close_complete(now);
  if (recovery_.complete()) recover(now);
  check_settled(now);
}

void AllReduce::Impl::close_complete(TimePoint now) {
  if (late_ || roster_.unbegun() > 0) return;
  for (const SegmentIndex segment : sums_.open_segments()) {
    if (!sums_.complete(segment, awaited_)) continue;
    if (const std::vector<LostMember> missing = late_and_missing(); !missing.empty()) return lose(now, missing);
    close(segment);
  }
  check_settled(now);
}

// Late members that have not begun. Nobody waits for them once a sum could be closed or other members are lost.
std::vector<LostMember> AllReduce::Impl::late_and_missing() const {
  std::vector<LostMember> missing;
  for (Rank rank = 0; rank < roster_.size(); ++rank) {
    if (roster_.late(rank) && roster_.live(rank) && !roster_.begun(rank)) missing.push_back({rank, "came too late"});
  }
  return missing;
}

void AllReduce::Impl::close(SegmentIndex segment) {
  const Payload contributors = sums_.finish(segment);
  encode_result(segment, sums_.weight(segment));
  hold(segment, contributors, values_digest(segment));
  closed_.emplace_back(segment, table_.values_digest(segment));
  if (table_[segment].owner == self_) outbox_.send_result_to_all(segment);
}

void AllReduce::Impl::encode_result(SegmentIndex segment, SampleCount weight) {
  const std::span<float> values = output_of(segment);
  const bool wants_rest = !vectors_.rest.empty();
  const std::span<float> rest =
      wants_rest ? vectors_.rest.subspan(static_cast<std::size_t>(table_[segment].begin), values.size())
                 : vectors_.rest;
  if (wants_rest) std::copy(values.begin(), values.end(), rest.begin());
  if (codec_ != Codec::fp32) {
    // Every other member decodes the encoded result, so this member keeps the decoded values too.
    const EncodedResults::Bytes encoded = encoded_.make_room(segment, encoded_bytes(codec_, values.size()));
    encode(codec_, values, *encoded);
    VERIFY(decode(codec_, *encoded, values).ok());
  }
  for (std::size_t i = 0; i < rest.size(); ++i) rest[i] = (rest[i] - values[i]) * static_cast<float>(weight);
}

void AllReduce::Impl::hold(SegmentIndex segment, Payload contributors, const Hash128& digest) {
  table_.hold(segment, contributors, digest);
  if (!recovery_.complete()) return;
  const std::size_t position = recovery_.position(segment);
  if (position < recovery_.mine().size()) send_to_lacking(position);
}

void AllReduce::Impl::send_to_lacking(std::size_t position) {
  for (Rank rank = 0; rank < roster_.size(); ++rank) {
    if (roster_.live(rank) && !recovery_.held_by(position, rank)) outbox_.answer(rank, recovery_.mine()[position]);
  }
}

void AllReduce::Impl::recover(TimePoint now) {
  for (std::size_t i = 0; i < recovery_.mine().size(); ++i) {
    const SegmentIndex segment = recovery_.mine()[i];
    if (table_.held(segment)) {
      send_to_lacking(i);
    } else if (const Rank holder = recovery_.holder(i); holder != Recovery::kNobody) {
      outbox_.want(holder, segment);
      ++peers_[holder].wants_open;
    } else {
      sums_.adopt(segment);
      for (Rank rank = 0; rank < roster_.size(); ++rank) {
        if (!roster_.live(rank) || roster_.weight(rank) == 0) continue;
        outbox_.want(rank, segment);
        ++peers_[rank].wants_open;
      }
    }
  }
  close_complete(now);
}

// The weights of all contributors are needed to say who gave how much. An unknown weight arrives with the member's
// begin, or with the inventory of a survivor that knows it. A lost member whose begin no survivor has counts as
// nothing, everywhere.
bool AllReduce::Impl::contributors_known() const {
  const bool all_told = !late_ && recovery_.complete();
  for (const ContributorSet& set : table_.sets()) {
    for (Rank rank = 0; rank < roster_.size(); ++rank) {
      const bool known = roster_.weight_known(rank) || (roster_.lost(rank) && all_told);
      if (set.members.test(rank) && !known) return false;
    }
  }
  return true;
}

void AllReduce::Impl::check_settled(TimePoint now) {
  if (outcome_ || late_ || !started_ || table_.missing() > 0) return;
  if (!digest_) {
    digest_ = table_.result_digest();
    watch_.on_all_held(now);
    for (Rank rank = 0; rank < roster_.size(); ++rank) {
      if (!outbox_.listens(rank)) outbox_.send_done(rank);  // for a listener the round is over only when it has settled
    }
  }
  std::vector<LostMember> different;
  for (Rank rank = 0; rank < roster_.size(); ++rank) {
    if (!roster_.live(rank)) continue;
    if (!peers_[rank].done && roster_.waits_for_done_of(rank)) return;
    if (peers_[rank].done && peers_[rank].done != digest_) different.push_back({rank, "holds different bits"});
  }
  if (!contributors_known()) return;
  if (!different.empty()) {
    // Members with different bits are lost if the others are a clear majority. Otherwise nobody can say who is right.
    Votes alike = roster_.surviving_votes();
    for (const LostMember& odd : different) alike -= roster_.votes(odd.rank);
    if (!roster_.is_majority(alike)) return settle(now, Verdict::diverged);
    for (const LostMember& odd : different) witness(odd.rank, wire::Fault::nonsense);
    return lose(now, different);
  }
  const bool majority = roster_.is_majority(roster_.surviving_votes());
  settle(now, majority ? Verdict::averaged : Verdict::minority);
}

void AllReduce::Impl::settle(TimePoint now, Verdict verdict) {
  if (outcome_) return;
  next_tick_ = kNever;
  outbox_.stop_resting();
  AveragingOutcome outcome;
  outcome.verdict = verdict;
  outcome.lost = lost_;
  const Duration pace = watch_.pace(awaited_);
  for (Rank rank = 0; rank < roster_.size(); ++rank) {
    if (watch_.was_slow(rank, pace)) witness(rank, wire::Fault::slow);
    if (peers_[rank].fault) outcome.faults.push_back({rank, *peers_[rank].fault});
  }
  outcome.bytes_sent = bytes_sent_;
  outcome.bytes_received = bytes_received_;
  outcome.elapsed = now - started_at_;
  if (digest_) outcome.result_digest = *digest_;
  count_samples(outcome);
  outcome.contributors = contributor_runs();
  outcome.reduced = reduced_here();
  outcome_ = std::move(outcome);
  if (late_ || verdict != Verdict::averaged) return;
  for (Rank rank = 0; rank < roster_.size(); ++rank) {
    if (outbox_.listens(rank)) serve_listener(rank);
  }
}

void AllReduce::Impl::count_samples(AveragingOutcome& outcome) const {
  std::vector<std::int64_t> floats(roster_.size());
  for (const ContributorSet& set : table_.sets()) {
    for (Rank rank = 0; rank < roster_.size(); ++rank) floats[rank] += set.members.test(rank) ? set.floats : 0;
  }
  outcome.samples.resize(roster_.size());
  for (Rank rank = 0; rank < roster_.size(); ++rank) {
    outcome.samples[rank] = share_of(roster_.weight(rank), floats[rank], group_.vector_floats);
    outcome.draws.push_back(outcome.samples[rank] > 0 ? roster_.stake(rank).draw : 0);
    if (floats[rank] > 0) outcome.weight_total += roster_.weight(rank);
  }
}

std::vector<bool> AllReduce::Impl::reduced_here() const {
  std::vector<bool> reduced(table_.size());
  for (const auto& [segment, digest] : closed_) {
    reduced[segment] = table_.held(segment) && table_.values_digest(segment) == digest;
  }
  return reduced;
}

std::vector<ContributorRun> AllReduce::Impl::contributor_runs() const {
  std::vector<ContributorRun> runs;
  for (SegmentIndex segment = 0; segment < table_.size(); ++segment) {
    if (!table_.held(segment)) continue;
    const wire::RankSet& members = table_.contributors(segment);
    const Segment& at = table_[segment];
    const bool joins =
        !runs.empty() && runs.back().begin + runs.back().floats == at.begin && runs.back().members == members;
    if (!joins) runs.push_back({at.begin, 0, members});
    runs.back().floats += at.floats;
  }
  return runs;
}

}  // namespace starling::averaging
