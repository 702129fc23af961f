"""A swarm's results, from two independent sides: the volunteers' journals and the ledger."""


def compare_journals(journals):
    """Merges the volunteers' journals, as {name: {round: entry}}, into (samples accepted, rounds, disagreements).

    Every volunteer records each round it commits: the digest of its new state, and the samples in it by owner. All
    members of a group must have recorded the same; in a grid, all have one state, and each column its own samples, or
    none if a member was cut off from its column.
    """
    states, columns, disagreements = {}, {}, []
    for name, journal in sorted(journals.items()):
        for entry in journal.values():
            group = (entry["round"], entry["group_id"])
            kinds = [("state_digest", states, group)]
            if entry["contributions"] or "column" not in entry:
                kinds.append(("contributions", columns, (*group, entry.get("column"))))
            for field, known, key in kinds:
                first = known.setdefault(key, (name, entry[field]))
                if first[1] != entry[field]:
                    disagreements.append(f"round {entry['round']}: {first[0]} and {name} differ in {field}")
    accepted = sum(sum(contributions.values()) for _, contributions in columns.values())
    rounds = len({number for number, _ in states})
    return accepted, rounds, disagreements


def same_state(statuses):
    """Whether all volunteers are at one round and hold one state."""
    states = {(s.get("state_round"), s.get("state_digest")) for s in statuses if s.get("state_digest")}
    return len(states) == 1


def failures(result):
    """Faults in a demo's result, in words."""
    found = []
    if result["rounds"] == 0:
        found.append("no round was completed")
    if result["samples_accepted"] != result["ledger_samples"]:
        found.append(f"volunteers' journals hold {result['samples_accepted']} accepted samples, "
                     f"the ledger {result['ledger_samples']}")
    if not result["replicas_identical"]:
        found.append("volunteers disagree about the state or about a round")
    if result.get("liar") and not result["liar"]["found"]:
        found.append(f"{result['liar']['name']} has computed nothing, and nobody found it")
    validation = result["validation_bits_per_byte"]
    if validation["first"] is None or validation["last"] is None:
        found.append("the held-out text was never evaluated")
    elif validation["last"] >= validation["first"]:
        found.append(f"validation went from {validation['first']:.3f} to {validation['last']:.3f} bits per byte")
    return found
