#include "shared/protocol/round_trouble.h"

namespace starling::wire {

SealedTwice sealed_twice(const PeerId& owner, const OwnerProof& proof) {
  return {owner,
          proof.one.rank,
          proof.one.plan_digest,
          proof.one.signature.key,
          proof.one.part_digest,
          proof.one.signature.signature,
          proof.other.part_digest,
          proof.other.signature.signature,
          {}};
}

OwnerProof seals_of(const SealedTwice& lie, const GroupId& group) {
  const GroupId& sealed = lie.group == GroupId{} ? group : lie.group;
  OwnerProof proof;
  proof.one = {sealed, lie.plan_digest, lie.rank, lie.one, {lie.key, lie.one_signature}};
  proof.other = {sealed, lie.plan_digest, lie.rank, lie.other, {lie.key, lie.other_signature}};
  return proof;
}

}  // namespace starling::wire
