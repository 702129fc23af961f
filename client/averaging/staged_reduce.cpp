#include "client/averaging/staged_reduce.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "client/averaging/part_sketches.h"

namespace starling::averaging {
namespace {

using Verdict = AveragingOutcome::Verdict;
using Bytes = std::vector<std::uint8_t>;

// A head's note in its begin: the digest of the heads' result and, by column, the samples that are in it.
struct HeadsResult {
  Hash128 digest;
  std::vector<SampleCount> accepted;
  friend bool operator==(const HeadsResult&, const HeadsResult&) = default;
};

Bytes encode(const HeadsResult& result) {
  Bytes bytes(result.digest.bytes.begin(), result.digest.bytes.end());
  for (const SampleCount samples : result.accepted) {
    for (int shift = 0; shift < 64; shift += 8) bytes.push_back(static_cast<std::uint8_t>(samples >> shift));
  }
  return bytes;
}

std::optional<HeadsResult> decode_heads_result(std::span<const std::uint8_t> bytes, std::size_t columns) {
  if (bytes.size() != Hash128::kSize + columns * sizeof(SampleCount)) return std::nullopt;
  HeadsResult result;
  std::copy_n(bytes.begin(), Hash128::kSize, result.digest.bytes.begin());
  for (std::size_t at = Hash128::kSize; at < bytes.size(); at += sizeof(SampleCount)) {
    std::uint64_t samples = 0;
    for (std::size_t i = 0; i < sizeof samples; ++i) samples |= std::uint64_t{bytes[at + i]} << 8 * i;
    if (samples > static_cast<std::uint64_t>(wire::kWeightMax)) return std::nullopt;
    result.accepted.push_back(static_cast<SampleCount>(samples));
  }
  return result;
}

// floor(samples x part / whole) without overflow: part and whole are at most 2^40.
SampleCount share_of(SampleCount samples, SampleCount part, SampleCount whole) {
  if (whole == 0) return 0;
  const auto product = static_cast<unsigned __int128>(samples) * static_cast<unsigned __int128>(part);
  return static_cast<SampleCount>(product / static_cast<unsigned __int128>(whole));
}

SampleCount sum_of(std::span<const SampleCount> samples) {
  SampleCount sum = 0;
  for (const SampleCount s : samples) sum += s;
  return sum;
}

}  // namespace

class StagedReduce::Impl {
 public:
  Impl(wire::GroupInfo group, Rank self, RoundVectors vectors, const AllReduceOptions& options)
      : group_(std::move(group)), self_(self), vectors_(std::move(vectors)), options_(options) {
    // The average of a column is not the result yet.
    options_.latecomers = options_.latecomers && !group_.grid;
    const std::vector<wire::Endpoint> all = wire::contacts(group_);
    for (const wire::Endpoint& endpoint : all) contacts_.push_back(endpoint.peer);
    add_stage(group_);
    if (!group_.grid) return;
    if (!group_.grid->heads.empty()) add_stage(wire::heads_group(group_));
    add_stage(wire::spread_group(group_));
  }

  void start(TimePoint now) {
    started_at_ = now;
    RoundVectors vectors = vectors_;
    if (group_.grid) {
      column_mean_.resize(vectors_.output.size());
      vectors.output = column_mean_;
    }
    begin_stage(now, std::move(vectors));
    advance(now);
  }

  bool next_frame(TimePoint now, Rank contact, OutgoingFrame& frame) {
    for (std::size_t i = begun_; i-- > 0;) {
      const std::optional<Rank> rank = stages_[i].rank_of[contact];
      if (rank && stages_[i].engine->next_frame(now, *rank, frame)) return true;
    }
    return false;
  }

  std::vector<Rank> take_ready() {
    std::vector<Rank> ready;
    for (std::size_t i = 0; i < begun_; ++i) {
      for (const Rank rank : stages_[i].engine->take_ready()) ready.push_back(stages_[i].contact_of[rank]);
    }
    return ready;
  }

  [[nodiscard]] bool has_ready() const {
    return std::any_of(stages_.begin(), stages_.begin() + static_cast<std::ptrdiff_t>(begun_),
                       [](const Stage& stage) { return stage.engine->has_ready(); });
  }

  Status on_frame(TimePoint now, Rank contact, const wire::FrameHeader& header, std::span<const std::uint8_t> payload) {
    Status status;
    const bool any = wire::is_sign_of_life(header.type);
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      Stage& stage = stages_[i];
      const std::optional<Rank> rank = stage.rank_of[contact];
      if (!rank || (!any && stage.group.id != header.group)) continue;
      if (i < begun_) {
        if (Status taken = stage.engine->on_frame(now, *rank, header, payload); !taken.ok()) status = taken;
      } else if (header.type == wire::FrameType::begin) {
        stage.early[*rank] = {header, {payload.begin(), payload.end()}};
      }
    }
    advance(now);
    return status;
  }

  void on_link_lost(TimePoint now, Rank contact, const std::string& reason, std::optional<wire::Fault> fault) {
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      Stage& stage = stages_[i];
      const std::optional<Rank> rank = stage.rank_of[contact];
      if (!rank) continue;
      if (i < begun_) {
        stage.engine->on_link_lost(now, *rank, reason, fault);
      } else {
        stage.early.erase(*rank);
        stage.gone[*rank] = {reason, fault};
      }
    }
    advance(now);
  }

  void on_timer(TimePoint now) {
    for (std::size_t i = 0; i < begun_; ++i) stages_[i].engine->on_timer(now);
    advance(now);
  }

  [[nodiscard]] TimePoint next_deadline() const {
    TimePoint next = kNever;
    for (std::size_t i = 0; i < begun_; ++i) next = std::min(next, stages_[i].engine->next_deadline());
    return next;
  }

  [[nodiscard]] bool finished_with(Rank contact) const {
    return std::all_of(stages_.begin(), stages_.end(), [contact](const Stage& stage) {
      const std::optional<Rank> rank = stage.rank_of[contact];
      return !rank || (stage.engine != nullptr && stage.engine->finished_with(*rank));
    });
  }

  [[nodiscard]] const AveragingOutcome* outcome() const {
    if (!group_.grid) return begun_ > 0 ? stages_.front().engine->outcome() : nullptr;
    return outcome_ ? &*outcome_ : nullptr;
  }

 private:
  struct EarlyBegin {
    wire::FrameHeader header;
    Bytes payload;
  };
  struct Loss {
    std::string reason;
    std::optional<wire::Fault> fault = wire::Fault::gone;
  };
  struct Stage {
    wire::GroupInfo group;
    Rank self = 0;
    std::vector<Rank> contact_of;              // by rank
    std::vector<std::optional<Rank>> rank_of;  // by contact
    std::map<Rank, EarlyBegin> early;          // begins that came before this stage began here
    std::map<Rank, Loss> gone;                 // members that are known to be lost already
    std::unique_ptr<AllReduce> engine;         // null until the stage begins
  };

  void add_stage(wire::GroupInfo group) {
    Stage& stage = stages_.emplace_back();
    stage.rank_of.resize(contacts_.size());
    for (const wire::GroupMember& member : group.members) {
      const auto found = std::find(contacts_.begin(), contacts_.end(), member.endpoint.peer);
      const auto contact = static_cast<Rank>(found - contacts_.begin());
      VERIFY(contact < contacts_.size());
      if (contact == self_) stage.self = stage.contact_of.size();
      stage.rank_of[contact] = stage.contact_of.size();
      stage.contact_of.push_back(contact);
    }
    stage.group = std::move(group);
  }

  [[nodiscard]] bool is_head() const { return stages_.size() == 3; }

  // Heads contribute with the weight of whole columns.
  [[nodiscard]] AllReduceOptions options_of(const Stage& stage) const {
    AllReduceOptions options = options_;
    if (&stage != &stages_.front()) {
      options.weight_max = wire::kWeightMax;
      options.usual.clear();
      options.sketch_seed = {};
    }
    return options;
  }

  void begin_stage(TimePoint now, RoundVectors vectors) {
    Stage& stage = stages_[begun_];
    stage.engine = std::make_unique<AllReduce>(stage.group, stage.self, std::move(vectors), options_of(stage));
    ++begun_;
    stage.engine->start(now);
    for (const auto& [rank, begin] : stage.early) {
      stage.gone.erase(rank);
      // A begin that does not fit loses its sender, as at any other time; the engine has noted the error.
      (void)stage.engine->on_frame(now, rank, begin.header, begin.payload);
    }
    for (const auto& [rank, loss] : stage.gone) stage.engine->on_link_lost(now, rank, loss.reason, loss.fault);
    stage.early.clear();
  }

  // Members that one stage has lost need not be waited for in the next ones. A minority's losses are not carried to the
  // heads.
  void hand_on_losses(const AveragingOutcome& settled, const Stage& from) {
    for (const LostMember& lost : settled.lost) {
      const Rank contact = from.contact_of[lost.rank];
      if (contact == self_) continue;
      for (std::size_t i = settled.verdict == Verdict::averaged ? begun_ : stages_.size() - 1; i < stages_.size();
           ++i) {
        if (stages_[i].rank_of[contact]) stages_[i].gone[*stages_[i].rank_of[contact]] = {lost.reason};
      }
    }
  }

  void advance(TimePoint now) {
    while (group_.grid && !outcome_ && begun_ > 0) {
      const Stage& stage = stages_[begun_ - 1];
      const AveragingOutcome* settled = stage.engine->outcome();
      if (settled == nullptr) return;
      const bool survived = settled->verdict != Verdict::expelled && settled->verdict != Verdict::diverged;
      if (begun_ == 1 && survived) hand_on_losses(*settled, stage);
      if (begun_ == 2 && is_head() && settled->verdict == Verdict::averaged) hand_on_losses(*settled, stage);
      if (begun_ == 1) {
        after_column(now, *settled);
      } else if (begun_ < stages_.size()) {
        after_heads(now, *settled);
      } else {
        finish(now, after_spread(*settled));
      }
    }
  }

  void after_column(TimePoint now, const AveragingOutcome& settled) {
    if (settled.verdict == Verdict::expelled || settled.verdict == Verdict::diverged) return finish(now, settled);
    // A minority contributes nothing, because the others of its column may. But it can use the result, too.
    column_samples_.resize(settled.samples.size());
    if (settled.verdict == Verdict::averaged) column_samples_ = settled.samples;
    if (!is_head()) return begin_stage(now, {0, {}, vectors_.output});
    // Each head takes half, so that the column counts in full with both heads, and not twice when they lose each other.
    const SampleCount total = sum_of(column_samples_);
    std::vector<PeerId> heads;
    for (const wire::GridPlan::Head& head : group_.grid->heads) {
      if (head.column == group_.grid->column) heads.push_back(head.member.endpoint.peer);
    }
    const auto count = static_cast<SampleCount>(heads.size());
    const auto place = std::find(heads.begin(), heads.end(), contacts_[self_]) - heads.begin();
    // A member may have claimed more than anybody can contribute: the excess does not count.
    const SampleCount weight = std::min(total / count + (place < total % count ? 1 : 0), wire::kWeightMax / count);
    heads_input_.resize(column_mean_.size());
    std::transform(column_mean_.begin(), column_mean_.end(), heads_input_.begin(),
                   [factor = static_cast<float>(weight)](float mean) { return mean * factor; });
    heads_mean_.resize(column_mean_.size());
    begin_stage(now, {weight, heads_input_, heads_mean_});
  }

  void after_heads(TimePoint now, const AveragingOutcome& settled) {
    if (settled.verdict != Verdict::averaged || settled.weight_total == 0) {
      return begin_stage(now, {0, {}, vectors_.output});  // the other head may have the result
    }
    HeadsResult result{settled.result_digest, std::vector<SampleCount>(group_.grid->columns)};
    for (std::size_t rank = 0; rank < settled.samples.size(); ++rank) {
      result.accepted[group_.grid->heads[rank].column] += settled.samples[rank];
    }
    begin_stage(now, {1, heads_mean_, vectors_.output, encode(result)});
  }

  [[nodiscard]] AveragingOutcome after_spread(const AveragingOutcome& settled) {
    AveragingOutcome outcome = settled;
    if (settled.verdict != Verdict::averaged && settled.verdict != Verdict::minority) return outcome;
    outcome.verdict = Verdict::minority;
    if (settled.weight_total == 0) return outcome;
    outcome.verdict = Verdict::expelled;
    const std::optional<HeadsResult> result = heads_result(settled);
    if (!result) return outcome;
    outcome.verdict = Verdict::averaged;
    outcome.result_digest = result->digest;
    outcome.weight_total = sum_of(result->accepted);
    const SampleCount total = sum_of(column_samples_);
    const SampleCount accepted = std::min(total, result->accepted[group_.grid->column]);
    for (std::size_t rank = 0; rank < outcome.samples.size(); ++rank) {
      outcome.samples[rank] = share_of(column_samples_[rank], accepted, total);
    }
    outcome.draws = stages_.front().engine->outcome()->draws;
    outcome.contributors = stages_.front().engine->outcome()->contributors;
    outcome.reduced = stages_.front().engine->outcome()->reduced;
    outcome.grid = GridOutcome{result->accepted};
    return outcome;
  }

  // The result as stated by the heads whose values were spread; nothing when they contradict each other, when none has
  // stated it, or when some of the values came from nobody.
  [[nodiscard]] std::optional<HeadsResult> heads_result(const AveragingOutcome& settled) const {
    const Stage& spread = stages_.back();
    std::optional<HeadsResult> agreed;
    for (const ContributorRun& run : settled.contributors) {
      if (run.members.count() == 0) return std::nullopt;
      for (Rank rank = 0; rank < run.members.size(); ++rank) {
        // A head whose begin never came here has spread the result that the others' notes name; if not, the state's
        // digest will show it.
        if (!run.members.test(rank) || spread.engine->note(rank).empty()) continue;
        const auto said = decode_heads_result(spread.engine->note(rank), group_.grid->columns);
        if (!said || (agreed && agreed != said)) return std::nullopt;
        agreed = said;
      }
    }
    return agreed;
  }

  // Faults of heads of other columns are their columns' business.
  void note_faults(const Stage& stage, std::vector<SeenFault>& faults) const {
    for (const SeenFault& seen : stage.engine->outcome()->faults) {
      const Rank contact = stage.contact_of[seen.rank];
      const bool known = std::any_of(faults.begin(), faults.end(),
                                     [contact](const SeenFault& other) { return other.rank == contact; });
      if (!known && contact < group_.members.size()) faults.push_back({contact, seen.fault});
    }
  }

  void finish(TimePoint now, AveragingOutcome outcome) {
    outcome.lost.clear();
    outcome.faults.clear();
    outcome.proofs.clear();
    outcome.bytes_sent = outcome.bytes_received = 0;
    for (std::size_t i = 0; i < begun_; ++i) {
      const AveragingOutcome& settled = *stages_[i].engine->outcome();
      outcome.bytes_sent += settled.bytes_sent;
      outcome.bytes_received += settled.bytes_received;
      note_faults(stages_[i], outcome.faults);
      outcome.proofs.insert(outcome.proofs.end(), settled.proofs.begin(), settled.proofs.end());
      for (const LostMember& lost : settled.lost) {
        const Rank contact = stages_[i].contact_of[lost.rank];
        const bool known = std::any_of(outcome.lost.begin(), outcome.lost.end(),
                                       [contact](const LostMember& other) { return other.rank == contact; });
        if (!known) outcome.lost.push_back({contact, lost.reason});
      }
    }
    outcome.measured.reset();
    if (const auto& measured = stages_.front().engine->outcome()->measured;
        measured && outcome.verdict == Verdict::averaged) {
      outcome.measured = drawn_of(*measured, outcome.result_digest, group_.members.size());
    }
    outcome.accusations = stages_.front().engine->outcome()->accusations;
    outcome.scaled = stages_.front().engine->outcome()->scaled;
    outcome.usual = stages_.front().engine->outcome()->usual;
    outcome.elapsed = now - started_at_;
    outcome.samples.resize(group_.members.size());
    outcome.draws.resize(group_.members.size());
    outcome_ = std::move(outcome);
  }

  const wire::GroupInfo group_;
  const Rank self_;
  const RoundVectors vectors_;
  AllReduceOptions options_;
  std::vector<PeerId> contacts_;
  std::vector<Stage> stages_;  // column, heads (if this member is one), spread
  std::size_t begun_ = 0;
  TimePoint started_at_{};
  std::vector<float> column_mean_;
  std::vector<float> heads_input_;
  std::vector<float> heads_mean_;
  std::vector<SampleCount> column_samples_;
  std::optional<AveragingOutcome> outcome_;
};

StagedReduce::StagedReduce(wire::GroupInfo group, Rank self, RoundVectors vectors, AllReduceOptions options)
    : impl_(std::make_unique<Impl>(std::move(group), self, std::move(vectors), options)) {}
StagedReduce::~StagedReduce() = default;
void StagedReduce::start(TimePoint now) { impl_->start(now); }
bool StagedReduce::next_frame(TimePoint now, Rank contact, OutgoingFrame& frame) {
  return impl_->next_frame(now, contact, frame);
}
std::vector<Rank> StagedReduce::take_ready() { return impl_->take_ready(); }
bool StagedReduce::has_ready() const { return impl_->has_ready(); }
Status StagedReduce::on_frame(TimePoint now, Rank contact, const wire::FrameHeader& header,
                              std::span<const std::uint8_t> payload) {
  return impl_->on_frame(now, contact, header, payload);
}
void StagedReduce::on_link_lost(TimePoint now, Rank contact, const std::string& reason,
                                std::optional<wire::Fault> fault) {
  impl_->on_link_lost(now, contact, reason, fault);
}
void StagedReduce::on_timer(TimePoint now) { impl_->on_timer(now); }
TimePoint StagedReduce::next_deadline() const { return impl_->next_deadline(); }
bool StagedReduce::finished_with(Rank contact) const { return impl_->finished_with(contact); }
const AveragingOutcome* StagedReduce::outcome() const { return impl_->outcome(); }

}  // namespace starling::averaging
