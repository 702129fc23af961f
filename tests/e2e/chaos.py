"""Kills on a timetable: SIGKILL for a random volunteer at every interval, and once for the coordinator."""

import random

KILL_EVERY_S = 20
DOWN_S = 2  # how long a victim stays dead
QUIET_END_S = 10  # no kills in the last seconds, so that the end can be examined


class Chaos:
    """Call tick() often; it kills and restarts whatever is due. Times are seconds since the start of training."""

    def __init__(self, swarm, seconds, seed=1):
        self.swarm = swarm
        self.random = random.Random(seed)
        self.volunteer_kills = []
        at = KILL_EVERY_S
        while at <= seconds - QUIET_END_S:
            self.volunteer_kills.append(at)
            at += KILL_EVERY_S
        # Halfway between two volunteers' kills, so that each fault is seen by itself.
        self.coordinator_kills = [seconds / 2 + KILL_EVERY_S / 4] if seconds >= 3 * KILL_EVERY_S else []
        self.restarts = []
        self.counts = {"volunteer": 0, "coordinator": 0}

    def tick(self, now):
        self._restart_due(now)
        if self.volunteer_kills and now >= self.volunteer_kills[0]:
            self.volunteer_kills.pop(0)
            victim = self.random.choice(self.swarm.volunteers)
            victim.daemon.kill()
            self.counts["volunteer"] += 1
            self.restarts.append((now + DOWN_S, victim))
        if self.coordinator_kills and now >= self.coordinator_kills[0]:
            self.coordinator_kills.pop(0)
            self.swarm.coordinator.server.kill()
            self.counts["coordinator"] += 1
            self.restarts.append((now + DOWN_S, self.swarm.coordinator))

    def finish(self):
        """Restarts everybody."""
        self._restart_due(float("inf"))

    def _restart_due(self, now):
        due = [who for at, who in self.restarts if at <= now]
        self.restarts = [(at, who) for at, who in self.restarts if at > now]
        for who in due:
            (who.serve if who is self.swarm.coordinator else who.start)()
