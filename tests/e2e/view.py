"""The demo's live view: a block that redraws itself on a terminal, a line every few seconds elsewhere."""

import time

BAR_WIDTH = 30
PLAIN_EVERY_S = 5
NAME_WIDTH = 14


def bar(done, whole, width=BAR_WIDTH):
    filled = 0 if not whole else min(width, int(width * done / whole))
    return "█" * filled + "░" * (width - filled)


def number(value, digits=2):
    return "-" if value is None else f"{value:.{digits}f}"


def clock(seconds):
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def newest(statuses):
    """The status of the volunteer that is furthest ahead, and knows most about the swarm."""
    alive = [s for s in statuses.values() if s]
    return max(alive, key=lambda s: (s.get("round") or 0, (s.get("swarm") or {}).get("size") or 0), default={})


def summary_line(statuses, seconds_left):
    status = newest(statuses)
    swarm = status.get("swarm") or {}
    losses = [s["loss"] for s in statuses.values() if s and s.get("loss")]  # 0: no round yet
    loss = sum(losses) / len(losses) if losses else None
    collected = sum(s.get("samples_this_round") or 0 for s in statuses.values() if s)
    target = status.get("target_batch_size") or 0
    return (f"round {status.get('round') or 0:>5}  {bar(collected, target)} {collected:>4}/{target}  "
            f"loss {number(loss)}  validation {number(newest_validation(statuses))} bits/byte  "
            f"{number(swarm.get('samples_per_s'), 0)} samples/s  {clock(seconds_left)} left")


def newest_validation(statuses):
    """The figure of the newest state that any volunteer has measured."""
    known = [(s.get("validation_round") or 0, s["validation_bits_per_byte"]) for s in statuses.values()
             if s and s.get("validation_bits_per_byte") is not None]
    return max(known)[1] if known else None


def volunteer_lines(statuses):
    total = sum(s.get("samples_total") or 0 for s in statuses.values() if s)
    for name, status in statuses.items():
        if status is None:
            yield f"  {name:<{NAME_WIDTH}} away"
            continue
        samples = status.get("samples_total") or 0
        share = 100 * samples / total if total else 0
        what = status["phase"] if not status.get("reason") else f"{status['phase']}: {status['reason']}"
        yield (f"  {name:<{NAME_WIDTH}} {bar(samples, total, 12)} {share:5.1f} %  {samples:>8} samples  "
               f"{number(status.get('samples_per_s'), 1):>6}/s  {what}")


def cell_lines(statuses):
    """Who holds which experts of a shared model, and the share of its layer's tokens that each expert has had."""
    shared = [s["cells"] for s in statuses.values() if s and s.get("cells")]
    if not shared:
        return
    load, holders = {}, {}
    for name, status in statuses.items():
        for held in ((status or {}).get("cells") or {}).get("held", []):
            holders.setdefault(held["cell"], []).append(name.removeprefix("volunteer-"))
            for place, units in enumerate(held["units"]):
                expert = (held["layer"], held["first_expert"] + place)
                load[expert] = load.get(expert, 0) + units
    yield ""
    yield "  experts held: " + "  ".join(
        f"{cell}:{'+'.join(holders[cell]) if cell in holders else 'nobody'}" for cell in range(shared[0]["all"]))
    for layer in sorted({layer for layer, _ in load}):
        units = [load[expert] for expert in sorted(load) if expert[0] == layer]
        whole = sum(units) or 1
        yield f"  load, layer {layer}: " + " ".join(f"{100 * each / whole:.0f}" for each in units) + " % by expert"


class CallRate:
    """Calls to experts that all volunteers together answer in a second, from one look to the next."""

    def __init__(self):
        self.before = None

    def note(self, statuses):
        """The rate since the last call; None: not known."""
        counts = {name: s["cells"]["calls_answered"] for name, s in statuses.items() if s and s.get("cells")}
        before, self.before = self.before, (time.monotonic(), counts)
        if before is None or not counts:
            return None
        more = sum(max(0, count - before[1].get(name, count)) for name, count in counts.items())
        return more / max(1e-3, self.before[0] - before[0])


class View:
    def __init__(self, out, headline):
        self.out = out
        self.headline = headline
        self.live = out.isatty()
        self.drawn = 0
        self.last_plain = 0.0
        self.calls = CallRate()
        if not self.live:
            print(headline, file=out, flush=True)

    def show(self, statuses, seconds_left):
        if not self.live:
            if time.monotonic() - self.last_plain >= PLAIN_EVERY_S:
                self.last_plain = time.monotonic()
                print(self.summary(statuses, seconds_left), file=self.out, flush=True)
            return
        lines = [self.headline, "", self.summary(statuses, seconds_left), ""]
        lines += [*volunteer_lines(statuses), *cell_lines(statuses)]
        up = f"\x1b[{self.drawn}F" if self.drawn else ""
        # Lines are cut by the terminal, not wrapped: a wrapped line would break the count of lines to go up.
        self.out.write(up + "\x1b[?7l" + "".join(f"\x1b[2K{line}\n" for line in lines) + "\x1b[?7h")
        self.out.flush()
        self.drawn = len(lines)

    def summary(self, statuses, seconds_left):
        rate = self.calls.note(statuses)
        return summary_line(statuses, seconds_left) + (f"  {number(rate, 0)} calls/s" if rate is not None else "")

    def note(self, message):
        """Prints a line that stays: the block continues below it."""
        self.drawn = 0
        print(message, file=self.out, flush=True)
