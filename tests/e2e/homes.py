"""Homes behind routers that masquerade, and an internet between them: network namespaces on this machine, held by
processes that end with this one. Needs root, iproute2, util-linux and iptables."""

import functools
import os
import shutil
import subprocess

import programs

INTERNET = "20.0.0"  # addresses that look public: routers map no ports for reserved ones
INTERNET_ADDRESS = f"{INTERNET}.1"

# The parts of which a home is made.
PROBE = ("ip link add cable type veth peer name end && ip link add net type bridge && "
         "iptables -t nat -A POSTROUTING -o cable -j MASQUERADE")


def refused(command):
    """The system's objection to the command, in a temporary network namespace; empty if it works."""
    done = subprocess.run(["unshare", "--net", "sh", "-c", command], capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return ""
    return f"this system allows no network namespaces with routers in them: {done.stderr.strip()}"


@functools.cache
def missing():
    """The reason why homes are not possible here; empty if they are."""
    if os.geteuid() != 0:
        return "homes behind routers need root"
    for tool in ("ip", "iptables", "nsenter", "unshare"):
        if shutil.which(tool) is None:
            return f"{tool} is not installed"
    return refused(PROBE)


@functools.cache
def missing_for_opening():
    """The reason why a router that opens ports is not possible here; empty if it is."""
    for tool in ("miniupnpd", "nft"):
        if shutil.which(tool) is None:
            return f"{tool} is not installed"
    return missing() or refused("nft add table inet probe")


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise programs.ProgramError(f"'{' '.join(command)}' failed: {done.stderr.strip()}")


class Namespace:
    """A network namespace that lives as long as the process that holds it."""

    def __init__(self, name, log_path):
        self.holder = programs.Program(name, ["unshare", "--net", "sleep", "infinity"], log_path).start()
        own = os.stat("/proc/self/ns/net").st_ino
        programs.wait_until(lambda: os.stat(self.path()).st_ino != own, f"{name} has a network of its own")
        self.run("ip", "link", "set", "lo", "up")

    def path(self):
        return f"/proc/{self.holder.process.pid}/ns/net"

    def inside(self, *command):
        return ["nsenter", f"--net={self.path()}", *map(str, command)]

    def run(self, *command):
        run(*self.inside(*command))

    def connect(self, device, other, other_device):
        """Lays a cable between two namespaces."""
        run("ip", "link", "add", device, "netns", str(self.holder.process.pid), "type", "veth", "peer", "name",
            other_device, "netns", str(other.holder.process.pid))
        self.run("ip", "link", "set", device, "up")
        other.run("ip", "link", "set", other_device, "up")

    def stop(self):
        self.holder.stop()


# The table that miniupnpd changes as ports are opened.
UPNP_TABLE = """
table inet filter {
  chain forward { type filter hook forward priority 0; policy accept; jump miniupnpd; }
  chain prerouting { type nat hook prerouting priority -100; policy accept; jump prerouting_miniupnpd; }
  chain postrouting { type nat hook postrouting priority 100; policy accept; jump postrouting_miniupnpd; }
  chain miniupnpd { }
  chain prerouting_miniupnpd { }
  chain postrouting_miniupnpd { }
}
"""


class OpeningRouter:
    """A real miniupnpd on a home's router, which opens ports on request: by UPnP, or by NAT-PMP too."""

    def __init__(self, router, folder, log_path, nat_pmp):
        self.router = router
        table = folder / "table.nft"
        table.write_text(UPNP_TABLE)
        router.run("nft", "-f", str(table))
        router.run("ip", "route", "add", "multicast", "239.0.0.0/8", "dev", "lan")
        config = folder / "miniupnpd.conf"
        config.write_text(f"ext_ifname=wan\nlistening_ip=lan\nenable_upnp=yes\nenable_natpmp={'yes' if nat_pmp else 'no'}\n"
                          "allow 1024-65535 0.0.0.0/0 1024-65535\n")
        self.daemon = programs.Program("miniupnpd", router.inside("miniupnpd", "-d", "-f", config, "-P",
                                                                  folder / "miniupnpd.pid"), log_path).start()

    def opened(self):
        """The rules by which calls from outside reach the home."""
        listed = subprocess.run(self.router.inside("nft", "list", "chain", "inet", "filter", "prerouting_miniupnpd"),
                                capture_output=True, text=True, check=True).stdout
        return [line.strip() for line in listed.splitlines() if "dnat" in line]

    def stop(self):
        self.daemon.stop()


class Internet:
    """The coordinator's namespace, and homes that reach it only through their routers."""

    def __init__(self, log_path, homes):
        self.core = Namespace("internet", log_path)
        self.core.run("ip", "link", "add", "net", "type", "bridge")
        self.core.run("ip", "address", "add", f"{INTERNET_ADDRESS}/24", "dev", "net")
        self.core.run("ip", "link", "set", "net", "up")
        self.routers = [self._router(log_path, number) for number in range(homes)]
        self.homes = [self._home(log_path, router) for router in self.routers]

    def _router(self, log_path, number):
        router = Namespace("router", log_path)
        self.core.connect(f"home{number}", router, "wan")
        self.core.run("ip", "link", "set", f"home{number}", "master", "net")
        router.run("ip", "address", "add", f"{INTERNET}.{10 + number}/24", "dev", "wan")
        router.run("sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward")
        router.run("iptables", "-t", "nat", "-A", "POSTROUTING", "-o", "wan", "-j", "MASQUERADE")
        return router

    def _home(self, log_path, router):
        home = Namespace("home", log_path)
        router.connect("lan", home, "eth0")
        router.run("ip", "address", "add", "192.168.1.1/24", "dev", "lan")
        home.run("ip", "address", "add", "192.168.1.2/24", "dev", "eth0")
        home.run("ip", "route", "add", "default", "via", "192.168.1.1")
        return home

    def shape(self, number, mbit):
        """Limits the line of that home's router to this rate each way, with a queue of 100 ms."""
        rate = ["root", "tbf", "rate", f"{mbit}mbit", "burst", max(65536, round(mbit * 1e6 / 8 / 200)), "latency", "100ms"]
        self.routers[number].run("tc", "qdisc", "add", "dev", "wan", *rate)
        self.core.run("tc", "qdisc", "add", "dev", f"home{number}", *rate)

    def stop(self):
        for namespace in [*self.homes, *self.routers, self.core]:
            namespace.stop()
