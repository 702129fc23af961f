#include "client/routing/call_book.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "shared/base/verify.h"

namespace starling::routing {
namespace {

constexpr int kOpenMax = 2;  // calls for one part at a time

}  // namespace

ExchangeId CallBook::begin(TimePoint now, const Terms& terms, std::vector<Part> parts) {
  const ExchangeId id = next_++;
  Exchange& exchange = exchanges_[id];
  exchange.terms = terms;
  exchange.began = now;
  exchange.ends_at = now + terms.budget;
  exchange.needed.assign(static_cast<std::size_t>(terms.tokens), 0);
  exchange.parts_left = parts.size();
  for (Part& part : parts) {
    VERIFY(std::ranges::all_of(part.tokens, [&](std::int32_t token) { return token >= 0 && token < terms.tokens; }));
    for (const std::int32_t token : part.tokens) {
      std::int32_t& needed = exchange.needed[static_cast<std::size_t>(token)];
      if (needed < terms.answers_min) ++needed;
    }
    exchange.parts.push_back({std::move(part), {}, {}, {}, kNever, false});
  }
  exchange.tokens_short =
      static_cast<std::int32_t>(std::ranges::count_if(exchange.needed, [](std::int32_t needed) { return needed > 0; }));
  for (std::size_t part = 0; part < exchange.parts.size(); ++part) send(now, id, exchange, part);
  end_if_over(now, id);
  return id;
}

void CallBook::send(TimePoint now, ExchangeId id, Exchange& exchange, std::size_t part) {
  Progress& progress = exchange.parts[part];
  progress.again_at = kNever;
  const Part& what = progress.part;
  std::optional<PeerId> holder;
  if (what.rather && progress.tried.empty()) {
    holder = what.rather;
  } else {
    holder = holders_.choose(now, what.cell, what.units, progress.tried);
  }
  if (!holder) {
    progress.again_at = holders_.free_at(what.cell, progress.tried);
    if (progress.open.empty() && progress.again_at == kNever) lose(exchange, part);
    return;
  }
  progress.tried.insert(*holder);
  progress.open.push_back(holders_.on_sent(now, *holder, what.units));
  if (!exchange.terms.once && std::ssize(progress.open) < kOpenMax)
    progress.again_at = late_at(exchange, progress.open.back());
  sends_.push_back({id, part, *holder, exchange.ends_at - now});
}

// A holder that answers other calls, and never this one, has half of the time.
TimePoint CallBook::late_at(const Exchange& exchange, const Holders::Sent& call) const {
  return std::min(holders_.late_at(call), call.at + (exchange.ends_at - call.at) / 2);
}

std::vector<CallBook::Send> CallBook::take_sends() { return std::exchange(sends_, {}); }

std::vector<CallBook::Ended> CallBook::take_ended() { return std::exchange(ended_, {}); }

std::optional<Holders::Sent> CallBook::close(ExchangeId id, std::size_t part, const PeerId& holder) {
  const auto found = exchanges_.find(id);
  if (found == exchanges_.end() || part >= found->second.parts.size()) return std::nullopt;
  std::vector<Holders::Sent>& open = found->second.parts[part].open;
  const auto call = std::ranges::find(open, holder, &Holders::Sent::holder);
  if (call == open.end()) return std::nullopt;
  const Holders::Sent sent = *call;
  open.erase(call);
  return sent;
}

bool CallBook::on_answer(TimePoint now, ExchangeId id, std::size_t part, const PeerId& holder) {
  const std::optional<Holders::Sent> call = close(id, part, holder);
  if (!call) return false;
  holders_.on_answered(now, *call);
  Exchange& exchange = exchanges_.at(id);
  Progress& progress = exchange.parts[part];
  progress.answered_by = holder;
  progress.again_at = kNever;
  for (const Holders::Sent& other : std::exchange(progress.open, {})) holders_.on_given_up(now, other);
  --exchange.parts_left;
  count_answer(now, exchange, progress.part);
  end_if_over(now, id);
  return true;
}

void CallBook::count_answer(TimePoint now, Exchange& exchange, const Part& part) {
  if (exchange.terms.answers_min == 0) return;
  for (const std::int32_t token : part.tokens) {
    std::int32_t& needed = exchange.needed[static_cast<std::size_t>(token)];
    if (needed > 0 && --needed == 0) --exchange.tokens_short;
  }
  if (exchange.tokens_short > 0) return;
  exchange.ends_at = std::min(exchange.ends_at, now + (now - exchange.began) / 2);
}

void CallBook::on_refused(TimePoint now, ExchangeId id, std::size_t part, const PeerId& holder, Duration not_for) {
  const std::optional<Holders::Sent> call = close(id, part, holder);
  if (!call) return;
  holders_.on_refused(*call, now + not_for);
  Progress& progress = exchanges_.at(id).parts[part];
  progress.tried.erase(holder);  // it is as good as any afterwards
  progress.part.rather.reset();
  on_no_answer(now, id, part);
}

void CallBook::on_failed(TimePoint now, ExchangeId id, std::size_t part, const PeerId& holder) {
  const std::optional<Holders::Sent> call = close(id, part, holder);
  if (!call) return;
  holders_.on_failed(now, *call);
  Exchange& exchange = exchanges_.at(id);
  if (exchange.terms.once) lose(exchange, part);
  on_no_answer(now, id, part);
}

void CallBook::lose(Exchange& exchange, std::size_t part) {
  exchange.parts[part].is_lost = true;
  --exchange.parts_left;
}

void CallBook::on_no_answer(TimePoint now, ExchangeId id, std::size_t part) {
  Exchange& exchange = exchanges_.at(id);
  if (!exchange.parts[part].is_lost) send(now, id, exchange, part);
  end_if_over(now, id);
}

void CallBook::on_gone(TimePoint now, const PeerId& holder) {
  std::vector<std::pair<ExchangeId, std::size_t>> calls;
  for (const auto& [id, exchange] : exchanges_) {
    for (std::size_t part = 0; part < exchange.parts.size(); ++part) {
      const std::vector<Holders::Sent>& open = exchange.parts[part].open;
      if (std::ranges::find(open, holder, &Holders::Sent::holder) != open.end()) calls.emplace_back(id, part);
    }
  }
  for (const auto& [id, part] : calls) on_failed(now, id, part, holder);
}

void CallBook::on_timer(TimePoint now) {
  std::vector<ExchangeId> ids;
  for (const auto& [id, exchange] : exchanges_) ids.push_back(id);
  for (const ExchangeId id : ids) {
    Exchange& exchange = exchanges_.at(id);
    for (std::size_t part = 0; part < exchange.parts.size(); ++part) {
      Progress& progress = exchange.parts[part];
      if (now < progress.again_at || now >= exchange.ends_at) continue;
      if (!progress.open.empty())
        progress.again_at = std::max(progress.again_at, late_at(exchange, progress.open.back()));
      if (now >= progress.again_at) send(now, id, exchange, part);
    }
    end_if_over(now, id);
  }
}

TimePoint CallBook::next_deadline() const {
  TimePoint next = kNever;
  for (const auto& [id, exchange] : exchanges_) {
    next = std::min(next, exchange.ends_at);
    for (const Progress& progress : exchange.parts) next = std::min(next, progress.again_at);
  }
  return next;
}

void CallBook::end_if_over(TimePoint now, ExchangeId id) {
  const auto entry = exchanges_.find(id);
  if (entry == exchanges_.end()) return;
  if (entry->second.parts_left == 0 || now >= entry->second.ends_at) end(now, entry);
}

void CallBook::end(TimePoint now, Entry entry) {
  Exchange& exchange = entry->second;
  Ended ended{entry->first, exchange.tokens_short == 0, {}};
  for (const Progress& progress : exchange.parts) ended.answered_by.push_back(progress.answered_by);
  drop(now, entry->first);
  ended_.push_back(std::move(ended));
}

void CallBook::drop(TimePoint now, ExchangeId id) {
  const auto entry = exchanges_.find(id);
  if (entry == exchanges_.end()) return;
  for (const Progress& progress : entry->second.parts) {
    for (const Holders::Sent& call : progress.open) holders_.on_given_up(now, call);
  }
  std::erase_if(sends_, [id](const Send& send) { return send.exchange == id; });
  exchanges_.erase(entry);
}

}  // namespace starling::routing
