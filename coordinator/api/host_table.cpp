#include "coordinator/api/host_table.h"

#include "shared/crypto/peer_signer.h"

namespace starling::api {

static_assert(db::kConfirmedEnough == core::kConfirmedRounds);

Status HostTable::refresh() {
  STARLING_ASSIGN(const std::int64_t changes, accounts_.revocations());
  MutexLock lock(mutex_);
  if (changes == changes_) return {};
  changes_ = changes;
  changed_ = clock_.now();
  return {};
}

Result<AccountId> HostTable::admit(const PeerId& peer) const {
  STARLING_ASSIGN(const Entry entry, find(peer));
  if (entry.revoked) {
    return Error{ErrorCode::permission_denied,
                 "this computer has been removed from the project, by its owner or by the project"};
  }
  return entry.account;
}

std::optional<AccountId> HostTable::account_of(const PeerId& peer) const {
  {
    MutexLock lock(mutex_);
    if (const auto known = entries_.find(peer); known != entries_.end()) return known->second.account;
  }
  const Result<Entry> entry = find(peer);
  return entry ? std::optional(entry->account) : std::nullopt;
}

bool HostTable::has_signed(const PeerId& peer, std::span<const std::uint8_t> text,
                           const PeerSignature& signature) const {
  return crypto::verify_peer_signature(text, signature, peer).ok();
}

core::AccountStanding HostTable::standing_of(AccountId account) const {
  const Word word = word_of(account);
  const bool watched = clock_.wall_now().unix_ms < word.watched_until.unix_ms;
  return {word.established, word.established || !enough_established(), word.auditor, watched};
}

// The database is asked without the lock; what it cannot tell stays as it was known.
HostTable::Word HostTable::word_of(AccountId account) const {
  const TimePoint now = clock_.now();
  Word word;
  {
    MutexLock lock(mutex_);
    if (const auto known = accounts_known_.find(account); known != accounts_known_.end()) {
      word = known->second;
      if (now - word.read_at < kFreshFor) return word;
    }
  }
  const Result<db::Account> found = accounts_.find_account(account);
  if (found) word = {found->established(), found->auditor, found->watched_until};
  word.read_at = now;
  MutexLock lock(mutex_);
  accounts_known_[account] = word;
  return word;
}

void HostTable::look_again(AccountId account) const {
  const TimePoint old = clock_.now() - kFreshFor;
  MutexLock lock(mutex_);
  if (const auto known = accounts_known_.find(account); known != accounts_known_.end()) known->second.read_at = old;
  if (enough_) enough_->read_at = old;
}

bool HostTable::enough_established() const {
  const TimePoint now = clock_.now();
  Word word;
  {
    MutexLock lock(mutex_);
    if (enough_) word = *enough_;
    if (enough_ && now - word.read_at < kFreshFor) return word.established;
  }
  if (const auto count = accounts_.established(core::kEstablishedEnough)) {
    word.established = *count >= core::kEstablishedEnough;
  }
  word.read_at = now;
  MutexLock lock(mutex_);
  enough_ = word;
  return word.established;
}

Result<HostTable::Entry> HostTable::find(const PeerId& peer) const {
  const TimePoint now = clock_.now();
  std::optional<Entry> known;
  bool fresh = false;
  {
    MutexLock lock(mutex_);
    if (const auto entry = entries_.find(peer); entry != entries_.end()) known = entry->second;
    fresh = known && now - known->read_at < kFreshFor && known->read_at >= changed_;
  }
  if (fresh) return *known;
  const Result<db::Host> host = accounts_.find_host(peer);
  if (!host) {
    if (host.error().code == ErrorCode::not_found) {
      return Error{ErrorCode::unauthenticated, "this computer has not joined the project; join it with a join link"};
    }
    if (known) return *known;
    return host.error();
  }
  const Entry entry{host->account_id, host->revoked, now};
  MutexLock lock(mutex_);
  entries_[peer] = entry;
  return entry;
}

}  // namespace starling::api
