"""The house: the folders of the tree, and the folders that each may include. This table is the architecture; change it
on purpose.

An arrow goes from a folder to one that it may depend on. "shared/*" is every folder of shared; a folder may always
include itself. No arrow leads from client, coordinator or gui into one another.
"""

ARROWS = {
    "shared/base": [],
    "shared/crypto": ["shared/base"],
    "shared/wire": ["shared/base"],
    "shared/run": ["shared/base", "shared/wire"],
    "shared/protocol": ["shared/base", "shared/run", "shared/wire"],
    "shared/control": ["shared/base", "shared/leaderboard", "shared/protocol", "shared/wire"],
    "shared/state": ["shared/base", "shared/crypto", "shared/run", "shared/wire"],
    "shared/net": ["shared/base", "shared/crypto", "shared/protocol", "shared/wire"],
    "shared/web": ["shared/base", "shared/crypto", "shared/net", "shared/protocol", "shared/wire"],
    "shared/manifest": ["shared/base", "shared/crypto", "shared/protocol", "shared/run", "shared/wire"],
    "shared/swarm": ["shared/base", "shared/protocol", "shared/run", "shared/wire"],
    "shared/reach": ["shared/base", "shared/crypto"],
    "shared/plot": [],
    "shared/leaderboard": ["shared/base"],
    "shared/names": ["shared/base", "shared/protocol"],
    "shared/text": ["shared/base", "shared/run"],
    "client/averaging": ["shared/*"],
    "client/transport": ["client/averaging", "shared/*"],
    "client/optim": ["shared/base", "shared/run"],
    "client/storage": ["shared/base", "shared/control", "shared/crypto", "shared/protocol", "shared/wire"],
    "client/policy": ["shared/base", "shared/control"],
    "client/sensors": ["client/policy", "shared/base"],
    "client/rounds": ["client/averaging", "client/optim", "shared/*"],
    "client/routing": ["shared/base", "shared/protocol", "shared/run"],
    "client/serving": ["shared/base", "shared/run"],
    "client/session": ["client/averaging", "client/rounds", "shared/*"],
    "client/trainer_link": ["client/optim", "client/routing", "client/session", "shared/base", "shared/protocol", "shared/run",
                            "shared/state", "shared/wire"],
    "client/tokenizer": ["client/trainer_link", "shared/base", "shared/run", "shared/text"],
    "client/updates": ["shared/*"],
    "client/release": ["shared/*"],
    "client/models": ["shared/base", "shared/run"],
    "client/training": ["client/models", "client/optim", "client/session", "client/trainer_link", "shared/base",
                        "shared/protocol", "shared/run", "shared/state", "shared/swarm", "shared/wire"],
    # client/optim: it steps the cells that it holds.
    "client/daemon": ["client/optim", "client/policy", "client/rounds", "client/routing", "client/sensors", "client/serving",
                      "client/session", "client/storage", "client/trainer_link", "client/transport", "client/updates",
                      "shared/*"],
    "client/cli": ["client/session", "client/trainer_link", "shared/*"],
    "db/sql": ["shared/base"],
    "db/sqlite": ["db/sql", "shared/base"],
    "db/postgres": ["db/sql", "shared/base"],
    "db/schema": ["db/sql", "shared/base"],
    "db/stores": ["db/postgres", "db/schema", "db/sql", "db/sqlite", "shared/base", "shared/leaderboard"],
    "coordinator/core": ["shared/base", "shared/protocol", "shared/run", "shared/state", "shared/swarm"],
    "coordinator/gate": ["shared/*"],
    "coordinator/accounts": ["coordinator/gate", "db/stores", "shared/*"],
    "coordinator/mail": ["coordinator/accounts", "shared/base"],
    "coordinator/operations": ["coordinator/accounts", "db/stores", "shared/*"],
    "coordinator/dataset": ["shared/base", "shared/crypto", "shared/run", "shared/text", "shared/wire"],
    "coordinator/api": ["coordinator/accounts", "coordinator/core", "coordinator/gate", "coordinator/operations",
                        "db/stores", "shared/*"],
    "coordinator/web": ["coordinator/accounts", "coordinator/core", "coordinator/gate", "coordinator/operations",
                        "db/stores", "shared/*"],
    "coordinator/server": ["coordinator/*", "db/*", "shared/*"],
    "gui/link": ["shared/base", "shared/control"],
    "gui/models": ["gui/link", "shared/base", "shared/control", "shared/names"],
    "gui/widgets": ["gui/link", "gui/models", "shared/base", "shared/control", "shared/leaderboard", "shared/protocol"],
    "gui/app": ["gui/*", "shared/base"],
    "tests/support": ["shared/*"],
    "tests/gui/support": ["gui/models", "shared/base", "shared/control", "tests/support"],
    "tests/plots": ["shared/base", "shared/plot"],
    "tests/netlab": ["shared/base"],
    # These folders look at the whole product from outside.
    "tests/sim": ["client/*", "coordinator/*", "shared/*", "tests/client/averaging", "tests/plots", "tests/support"],
    "tests/bench": ["client/*", "coordinator/*", "db/*", "shared/*", "tests/netlab", "tests/plots", "tests/support"],
    "tests/golden": ["client/*", "shared/*", "tests/client/averaging", "tests/support"],
    "tests/fuzz": ["client/*", "coordinator/*", "shared/*", "tests/support"],
    "tests/e2e": ["client/*", "shared/*", "tests/client/averaging"],
}

# Tests mirror the tree (tests/client/session tests client/session): they may include their subject, everything it may
# include, and tests/support. Some connect more real parts than their subject knows:
EXTRA_TEST_ARROWS = {
    "tests/shared/web": ["tests/shared/net"],  # a server of a few lines
    "tests/client/updates": ["tests/shared/net"],  # the same
    "tests/client/optim": ["shared/state"],  # the vectors that optimizers update
    "tests/coordinator/operations": ["db/sqlite"],  # tampers with the audit log
    "tests/db/schema": ["db/postgres", "db/sqlite"],  # both make equal tables
    "tests/gui/link": ["tests/gui/support"],
    # Every reason of the rules has a text, and so has every word on checked work.
    "tests/gui/models": ["client/policy", "coordinator/core", "shared/names", "tests/gui/support"],
    "tests/gui/widgets": ["shared/base", "tests/gui/support"],
    "tests/gui/app": ["tests/gui/support"],
    # The two ends of the control socket, a small run whose state is kept, and links to other volunteers.
    "tests/client/daemon": ["client/cli", "tests/client/trainer_link", "tests/client/transport"],
    "tests/client/trainer_link": ["shared/swarm"],  # a trainer that audits
    # A window for which a trainer computes, and the run that it is of.
    "tests/client/training": ["client/routing", "tests/client/trainer_link"],
    "tests/client/rounds": ["tests/shared/swarm"],  # rounds whose members gossip
}

# Headers of the product that only tests include so far, with the reason why they are there already.
NOT_YET_USED = {
    "shared/swarm/gradient_tracking.h": "decentralized steps are to track the swarm's gradient",
    "shared/swarm/push_sum.h": "gossip over links that work one way only is to use it",
}

# Headers that are expensive or dangerous have one door each: the folders that may include them, and their tests.
DOORS = {
    "torch": (r"^(torch|ATen|c10|caffe2)/", ["client/models", "client/training", "tests/golden",
                                             "tests/bench"]),
    "cpp-httplib": (r"^httplib\.h$", ["shared/net", "coordinator/gate", "coordinator/api", "coordinator/web"]),
    "Asio": (r"^asio(/|\.hpp)", ["client/transport", "client/daemon", "coordinator/gate", "shared/reach"]),
    "SQLite": (r"^sqlite3\.h$", ["db/sqlite", "tests/db/stores"]),
    "libpq": (r"^libpq-fe\.h$", ["db/postgres"]),
    "libpqxx": (r"^pqxx/", ["db/postgres"]),
    "SentencePiece": (r"^sentencepiece", ["coordinator/dataset", "shared/text", "tests/support"]),
    "ICU": (r"^unicode/", ["db/stores", "shared/names"]),
    "stb": (r"^stb/", ["coordinator/dataset"]),
    "zlib": (r"^zlib\.h$", ["coordinator/server", "coordinator/web", "tests/sim"]),
    "Cairo and librsvg": (r"^(cairo|librsvg/)", ["coordinator/web"]),
    "libcurl": (r"^curl/", ["coordinator/mail", "shared/web"]),
    "libqrencode": (r"^qrencode\.h$", ["coordinator/web"]),
    "OpenSSL": (r"^openssl/", ["shared/crypto", "client/transport", "coordinator/gate"]),
    "BLAS": (r"^cblas\.h$", ["client/models"]),
    "CLI11": (r"^CLI/", ["client/cli", "client/daemon", "client/release", "client/training", "coordinator/server", "tests/sim",
                         "tests/bench"]),
    "toml++": (r"^toml(\+\+/|\+\+\.h|\.hpp)", ["shared/manifest"]),
    "nlohmann-json": (r"^nlohmann/", ["*"]),
    "spdlog": (r"^spdlog/", ["shared/base"]),
    "fmt": (r"^fmt/", ["*"]),
    "doctest": (r"^doctest/", ["tests/*"]),
    "Qt": (r"^(Qt?[A-Z]\w*|Q[A-Z]\w*)(/|$)", ["gui/*"]),
    "Gloo": (r"^gloo/", ["tests/bench"]),
    "sd-bus": (r"^systemd/", ["client/sensors"]),
    "XCB": (r"^xcb/", ["client/sensors"]),
    "libseccomp": (r"^seccomp\.h$", ["client/trainer_link"]),
    "miniupnpc": (r"^miniupnpc/", ["client/transport"]),
    "libnatpmp": (r"^natpmp\.h$", ["client/transport"]),
    "ipsec-mb": (r"^intel-ipsec-mb\.h$", ["client/transport"]),
    "xxHash": (r"^(xxhash|xxh_x86dispatch)\.h$", ["shared/*", "client/*"]),
}

# A header passes on its includes: every file that includes it needs the door as well. Therefore most headers name no
# library at all; these folders may have headers that do, for themselves.
HEADER_DOORS = {
    "fmt": ["shared/base"],
    "torch": ["client/models", "client/training", "tests/golden", "tests/bench"],
    "Asio": ["client/transport", "coordinator/gate", "shared/reach"],
    "OpenSSL": ["shared/crypto", "client/transport", "coordinator/gate"],
    "SQLite": ["db/sqlite"],
    "libpqxx": ["db/postgres"],
    "doctest": ["tests/*"],
    "Qt": ["gui/*", "tests/gui/support"],
}

# Folders whose code decides without I/O: time, chance and the outside world come in as arguments.
PURE_FOLDERS = ["shared/swarm", "coordinator/core", "client/averaging", "client/optim", "client/policy",
                "client/rounds", "client/routing", "client/serving", "client/session"]
BANNED_IN_PURE = {
    "reads a clock": r"(::|\.|->)\s*now\s*\(\s*\)|\b(gettimeofday|clock_gettime|time)\s*\(\s*(NULL|nullptr|&|0\s*\))",
    "asks for chance": r"\bstd::random_device\b|\b(s?rand|random|arc4random|getrandom)\s*\(",
    "sleeps": r"\b(sleep_for|sleep_until|usleep|nanosleep|sleep)\s*\(",
    "starts a thread or waits for one": r"\bstd::(thread|jthread|async|condition_variable)\b|\bpthread_\w+\s*\(",
    "touches the outside world": r"\b(getenv|system|fopen|socket|connect)\s*\(|\bstd::([io]?fstream|filesystem)\b",
}

# Words that mark unfinished work.
BANNED_WORDS = ["TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"]

FUNCTION_LINES_MAX = 70
PARAMETERS_MAX = 5
CLASS_DATA_MAX = 20
CLASS_METHODS_MAX = 40
FILE_LINES_MAX = 700
FILE_LINES_SOFT = 350
HEADER_LINES_SOFT = 150


def covers(patterns, folder):
    """Whether a list such as ["shared/*", "db/stores"] names the folder."""
    return any(p in ("*", folder) or (p.endswith("/*") and folder.startswith(p[:-1])) for p in patterns)


def has_door(folder, door):
    """Whether the folder, or the one it tests, may include the library."""
    return covers(DOORS[door][1], folder) or covers(DOORS[door][1], folder.removeprefix("tests/"))


def allowed_folders(folder):
    """The patterns of the folders that this one may include, or None for a folder that the house does not know."""
    if folder in ARROWS:
        return ARROWS[folder] + [folder]
    subject = folder.removeprefix("tests/")
    if folder.startswith("tests/") and subject in ARROWS:
        return ARROWS[subject] + [subject, folder, "tests/support"] + EXTRA_TEST_ARROWS.get(folder, [])
    return None
