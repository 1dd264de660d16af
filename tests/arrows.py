# SPDX-License-Identifier: Apache-2.0
"""The arrows between folders: which may include, and link, which. tests/tidy.py reports what breaks them.

Checked are the #include lines of sources, of .inc files and of what the build generates, and the targets that
CMakeLists.txt files link: a target belongs to the folder that its sources lie in.
"""
import pathlib
import re

TRANSPORTS = re.findall(r"^\w+$", (pathlib.Path(__file__).resolve().parent.parent /
                                  "transport/factory/transports.txt").read_text(), re.MULTILINE)
TRANSPORT = {"transport", "transport/base"}
NET = TRANSPORT | {"transport/net"}
WORKER = NET | {"hipcore/wire"}
FRONT = {"hipcore/codeobject", "hipcore/graph", "hipcore/errors", "hipcore/memory", "transport/base"}
RUNTIME = FRONT | {"worker/runtime/common"}
PROXY = NET | {"hipcore/wire", "proxy/base", "proxy/stats"}
EXPORTED = PROXY | {"transport/factory", "hipcore/codeobject", "hipcore/graph", "hipcore/errors", "hipcore/memory",
                    "proxy/session", "proxy/memory", "proxy/module", "proxy/copy", "proxy/graphs", "proxy/client",
                    "proxy/gen"}

# Folder -> folders of ours, or single files, that it may include besides itself. The longest matching prefix of a
# file's folder decides, so a folder that is named allows what lies below it unless that has a rule of its own.
MAY_INCLUDE = {
    "transport/base": set(),
    "transport": {"transport/base"},
    "transport/net": TRANSPORT,
    "transport/shaper": TRANSPORT,
    **{name: NET for name in TRANSPORTS},
    "transport/factory": NET | set(TRANSPORTS),
    "hipcore/codeobject": {"transport/base"},
    "hipcore/graph": set(),
    "hipcore/errors": set(),
    "hipcore/memory": set(),
    "hipcore/wire": NET,
    "docs/reference": set(),
    # The client's rooms, from the lowest up. proxy/gen is made of proxy/api.
    "proxy": set(),  # its sources are in one of the rooms
    "proxy/api": set(),
    "proxy/base": NET | {"transport/shaper", "hipcore/wire", "reference"},
    "proxy/stats": NET | {"hipcore/wire", "proxy/base", "proxy/gen/functions.h"},
    "proxy/session": PROXY | {"hipcore/errors", "transport/factory", "transport/shaper"},
    "proxy/memory": PROXY | {"proxy/session"},
    "proxy/module": PROXY | {"proxy/session", "hipcore/codeobject"},
    "proxy/copy": PROXY | {"proxy/session", "proxy/memory", "hipcore/graph"},
    "proxy/graphs": PROXY | {"proxy/session", "proxy/memory", "proxy/module", "proxy/copy", "hipcore/graph"},
    "proxy/client": PROXY | {"hipcore/memory", "proxy/session", "proxy/memory", "proxy/module", "proxy/copy",
                             "proxy/graphs"},
    "proxy/abi": EXPORTED | {"proxy/exported"},
    "proxy/exported": EXPORTED,
    "proxy/gen": EXPORTED | {"proxy/exported", "proxy/api"},
    # The worker's rooms, from the lowest up. What is generated from proxy/api counts as handlers.
    "worker/base": WORKER | {"worker/runtime/common/extensions.h"},
    "worker/memory": WORKER | {"worker/base"},
    "worker/copy": WORKER | {"worker/base", "worker/memory", "hipcore/graph"},
    "worker/session": WORKER | {"worker/base", "worker/memory", "worker/copy", "hipcore/codeobject",
                                "transport/factory"},
    "worker/handlers": WORKER | {"worker/base", "worker/memory", "worker/copy", "worker/session", "worker/gen"},
    "worker/gen": WORKER | {"worker/base", "worker/memory", "worker/copy", "worker/session"},
    "worker/supervisor": WORKER | {"worker/base"},
    "worker/runtime/common": FRONT,  # and the Backend that it is compiled with
    "worker/runtime/cpu": RUNTIME | {"cpu"},
    "worker/runtime/cpu/rtc": {"worker/runtime/common", "hipcore/wire", "transport/net", "transport/base"},
    "worker/runtime/cuda": RUNTIME,
}
FREE = ("tests", "benchmarks", "tools", "examples")  # may include anything; nothing may include them
# Made by tools/apigen, which is no part of the product.
MADE = {"tf_graph_functions": "hipcore/graph", "tf_hip_api": "hipcore/wire", "tf_hip_majors": "hipcore/wire",
        "tf_hip_table": "hipcore/wire", "tf_reference": "reference"}

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')
COMMAND = re.compile(r"^[ \t]*(\w+)\s*\(((?:[^()]|\([^()]*\))*)\)", re.MULTILINE)
WORD = re.compile(r'"[^"]*"|\$<[^\s]*>|[^\s"]+')
DEFINES = {"tf_library", "tf_executable", "tf_cpu_library", "tf_cuda_library", "add_library", "add_executable"}
KEYWORDS = {"SOURCES", "DEPENDS", "PRIVATE_DEPENDS", "PUBLIC", "PRIVATE", "INTERFACE", "STATIC", "SHARED", "OBJECT",
            "MODULE"}


def room_of(folder: str):
    """The folder whose rule holds; None where there is none."""
    while folder and folder not in MAY_INCLUDE:
        folder = folder.rpartition("/")[0]
    return folder or None


def allows(room: str, target: str, file: str = "") -> bool:
    """Whether `room` may include what lies in the folder `target`, or that file."""
    to = room_of(target) or target.partition("/")[0]
    return to == room or to in MAY_INCLUDE[room] or file in MAY_INCLUDE[room]


def check_includes(path: str, lines, report):
    room = room_of(path.rpartition("/")[0])
    if room is None:
        return
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        if match and "/" in match.group(1):
            folder = match.group(1).rpartition("/")[0]
            if not allows(room, folder, match.group(1)):
                report(path, number, "include direction",
                       f"{room} may include only {sorted(MAY_INCLUDE[room])}, not {folder}")


def commands(text: str):
    """(line, name, words) of each command of a CMake file."""
    text = re.sub(r"#.*", "", text)
    for match in COMMAND.finditer(text):
        yield text.count("\n", 0, match.start(1)) + 1, match.group(1), WORD.findall(match.group(2))


def linked(words):
    """What of the arguments after a target's name is linked or compiled: every name of a target is looked up."""
    for word in words:
        inner = re.fullmatch(r"\$<(?:BUILD_INTERFACE:|LINK_LIBRARY:\w+,)(\w+)>", word)
        yield inner.group(1) if inner else word


def folder_of_sources(folder: str, words):
    """A target belongs to the folder of its own first source."""
    for word in words:
        if re.search(r"\.(cc|cpp|c)$", word) and "$" not in word and not word.startswith(".."):
            return f"{folder}/{word}".rpartition("/")[0]
    return folder


def check_cmake(root: pathlib.Path, report):
    """Target against target: what a folder may not include it may not link."""
    files = {path.relative_to(root).as_posix(): list(commands(path.read_text()))
             for path in sorted(root.rglob("CMakeLists.txt")) if path.relative_to(root).parts[0] != "build"}
    owner = dict(MADE)
    for path, calls in files.items():
        for _, name, words in calls:
            if name in DEFINES and words and words[0] not in owner and "$" not in words[0]:
                owner[words[0]] = folder_of_sources(path.rpartition("/")[0], words[1:])
    for path, calls in files.items():
        for number, name, words in calls:
            room = room_of(owner.get(words[0], "")) if words else None
            if room is None or name not in DEFINES | {"target_link_libraries", "add_dependencies"}:
                continue
            for word in linked(words[1:]):
                if word in owner and word not in KEYWORDS and not allows(room, owner[word]):
                    report(path, number, "link direction",
                           f"{words[0]} is {room}'s, which may not link {word} of {owner[word]}")

# Domains that stand on one side only: the file's name, and why.
EXPORTED_ALONE = {
    "api_call": "no domain: what exported functions begin with",
    "box_copies": "boxes are copies to the worker (copies.cc)",
    "context": "contexts live in the client",
    "device": "handlers are generated",
    "errors": "errors are kept in the client",
    "exported": "no domain: the table of what is exported",
    "functions": "answered from the code object's metadata",
    "half": "conversions, computed in the client",
    "launch_configuration": "lives in the client",
    "library": "no domain: loading and unloading",
    "managed": "advice about managed memory is kept and answered by the client",
    "peer": "handlers are generated",
    "pools": "handlers are generated",
    "registration": "the client's own tables of registered code",
    "rtc": "compiled in the client, or by proxy/module/remote_compile.cc",
    "rtc_entry": "no domain: forwards to libhiprtc",
    "streams": "answered in the client",
}
HANDLED_ALONE = {
    "connection": "the connection's own requests; no function of HIP's",
    "fills": "the client's side of hipMemset is generated",
    "remote_compile": "for libhiprtc, through rtc_entry.cc: proxy/module/remote_compile.cc asks",
}


def check_mirror(paths, report):
    """worker/handlers has the bodies of proxy/exported's requests, by domain and under the same names."""
    sides = {folder: {pathlib.PurePath(path).stem for path in paths
                      if path.rpartition("/")[0] == folder and path.endswith(".cc")}
             for folder in ("proxy/exported", "worker/handlers")}
    exported, handled = sides.values()
    for folder, here, there, alone in (("proxy/exported", exported, handled, EXPORTED_ALONE),
                                       ("worker/handlers", handled, exported, HANDLED_ALONE)):
        for name in sorted(here - there - alone.keys()):
            report(f"{folder}/{name}.cc", 1, "mirror", "no file of this name on the other side: name it after its "
                   "domain there, or say why it has none (tests/arrows.py)")
        for name in sorted(alone.keys() - here | alone.keys() & there):
            report("tests/arrows.py", 1, "mirror", f"{folder}/{name}.cc stands on both sides, or on none")
