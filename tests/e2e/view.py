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


class View:
    def __init__(self, out, headline):
        self.out = out
        self.headline = headline
        self.live = out.isatty()
        self.drawn = 0
        self.last_plain = 0.0
        if not self.live:
            print(headline, file=out, flush=True)

    def show(self, statuses, seconds_left):
        if not self.live:
            if time.monotonic() - self.last_plain >= PLAIN_EVERY_S:
                self.last_plain = time.monotonic()
                print(summary_line(statuses, seconds_left), file=self.out, flush=True)
            return
        lines = [self.headline, "", summary_line(statuses, seconds_left), ""] + list(volunteer_lines(statuses))
        up = f"\x1b[{self.drawn}F" if self.drawn else ""
        # Lines are cut by the terminal, not wrapped: a wrapped line would break the count of lines to go up.
        self.out.write(up + "\x1b[?7l" + "".join(f"\x1b[2K{line}\n" for line in lines) + "\x1b[?7h")
        self.out.flush()
        self.drawn = len(lines)

    def note(self, message):
        """Prints a line that stays: the block continues below it."""
        self.drawn = 0
        print(message, file=self.out, flush=True)
