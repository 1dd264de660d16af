# SPDX-License-Identifier: Apache-2.0
"""The arrows between folders: which may include, and link, which. tests/tidy.py reports what breaks them.

Checked are the #include lines of sources, of .inc files and of what the build generates; and what CMake's targets
compile and link. A target belongs to the rooms that its sources lie in: what one of them may include it may link, and
others may link it that may include all of them. So of a library of many rooms, as tf_proxy_core, the links are checked
as one; the arrows between its rooms are those of the includes.
"""
import pathlib
import posixpath
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
TRANSPORTS = re.findall(r"^[^#\n].*$", (ROOT / "transport/factory/transports.txt").read_text(), re.MULTILINE)
TRANSPORT = {"transport", "transport/base"}
NET = TRANSPORT | {"transport/net", "transport/secure"}
WORKER = NET | {"hipcore/limits", "hipcore/wire"}
FRONT = {"hipcore/abi", "hipcore/array", "hipcore/codeobject", "hipcore/composed", "hipcore/graph", "hipcore/errors",
         "hipcore/launch", "hipcore/memory", "hipcore/newer", "transport/base"}
RUNTIME = FRONT | {"worker/runtime/common"}
PROXY = NET | {"hipcore/abi", "hipcore/devices", "hipcore/newer", "hipcore/wire", "proxy/base", "proxy/stats"}
EXPORTED = PROXY | {"transport/factory", "hipcore/array", "hipcore/codeobject", "hipcore/composed", "hipcore/graph",
                    "hipcore/errors", "hipcore/launch", "hipcore/memory", "proxy/session", "proxy/memory",
                    "proxy/module", "proxy/copy",
                    "proxy/graphs", "proxy/client", "proxy/gen"}

# Folder -> folders of ours, or single files, that it may include besides itself. The longest matching prefix of a
# file's folder decides, so a folder that is named allows what lies below it unless that has a rule of its own. Sources
# lie in a folder with a rule, or below one: proxy, worker and hipcore themselves have none.
MAY_INCLUDE = {
    "transport/base": set(),
    "transport/secure": {"transport/base"},
    "transport": {"transport/base"},
    "transport/net": TRANSPORT | {"transport/secure"},
    "transport/shaper": TRANSPORT,
    **{name: NET for name in TRANSPORTS},
    "transport/factory": NET | set(TRANSPORTS),
    "hipcore/array": {"transport/base"},
    "hipcore/codeobject": {"transport/base"},
    "hipcore/newer": set(),
    "hipcore/devices": set(),
    "hipcore/composed": {"hipcore/codeobject", "hipcore/newer", "transport/base"},
    "hipcore/abi": {"hipcore/newer", "hipcore/wire"},
    "hipcore/graph": {"hipcore/abi", "hipcore/array", "hipcore/memory", "hipcore/newer", "transport/base"},
    "hipcore/errors": {"hipcore/newer"},
    "hipcore/launch": set(),
    "hipcore/limits": {"transport/base", "transport/net"},
    "hipcore/memory": {"hipcore/newer", "transport/base"},
    "hipcore/mirror": NET,
    "hipcore/wire": NET | {"hipcore/newer"},
    "hipcore/smi": {"hipcore/wire"},
    "docs/reference": set(),
    "reference": set(),  # made of docs/reference
    # The client's rooms, from the lowest up. proxy/gen is made of proxy/api.
    "proxy/api": set(),
    "proxy/base": NET | {"transport/shaper", "hipcore/abi", "hipcore/devices", "hipcore/errors", "hipcore/wire",
                         "reference"},
    "proxy/stats": NET | {"hipcore/wire", "proxy/base", "proxy/gen/functions.h"},
    "proxy/session": PROXY | {"hipcore/errors", "transport/factory", "transport/shaper"},
    "proxy/memory": PROXY | {"hipcore/array", "proxy/session"},
    "proxy/module": PROXY | {"proxy/session", "hipcore/codeobject"},
    "proxy/copy": PROXY | {"proxy/session", "proxy/memory", "hipcore/array", "hipcore/graph", "hipcore/memory",
                           "hipcore/mirror"},
    "proxy/graphs": PROXY | {"proxy/session", "proxy/memory", "proxy/module", "proxy/copy", "hipcore/array",
                             "hipcore/graph"},
    "proxy/client": PROXY | {"hipcore/array", "hipcore/memory", "proxy/session", "proxy/memory", "proxy/module",
                             "proxy/copy", "proxy/graphs"},
    "proxy/exported": EXPORTED,
    "proxy/gen": EXPORTED | {"proxy/exported", "proxy/api"},
    # The worker's rooms, from the lowest up. What is generated from proxy/api counts as handlers.
    "worker/base": WORKER | {"hipcore/smi", "worker/runtime/common/extensions.h"},
    "worker/memory": WORKER | {"worker/base", "hipcore/abi", "hipcore/array", "hipcore/memory", "hipcore/mirror"},
    "worker/copy": WORKER | {"worker/base", "worker/memory", "hipcore/array", "hipcore/graph"},
    "worker/sandbox": WORKER | {"worker/base", "hipcore/mirror"},
    "worker/smi": WORKER | {"worker/base", "worker/memory", "hipcore/smi", "smi/runtime"},
    "worker/session": WORKER | {"worker/base", "worker/memory", "worker/copy", "worker/sandbox", "worker/smi",
                                "smi/runtime", "hipcore/array", "hipcore/codeobject", "hipcore/devices",
                                "hipcore/errors", "hipcore/graph", "hipcore/launch", "transport/factory",
                                "worker/runtime/common/turn_page.h"},
    "worker/handlers": WORKER | {"worker/base", "worker/memory", "worker/copy", "worker/session", "worker/gen",
                                 "hipcore/array", "hipcore/mirror"},
    "worker/gen": WORKER | {"worker/base", "worker/memory", "worker/copy", "worker/session"},
    "worker/metrics": {"worker/base"},
    "smi/api": set(),
    "smi/client": PROXY | {"hipcore/smi", "proxy/session"},
    "smi/vendor": {"transport/base", "hipcore/smi", "proxy/base", "smi/client"},
    "smi/rocm": {"transport/base", "hipcore/smi", "smi/client", "smi/vendor", "smi/gen"},
    "smi/amd": {"transport/base", "hipcore/smi", "smi/client", "smi/vendor", "smi/gen"},
    "smi/gen": {"smi/rocm", "smi/amd", "smi/api"},
    "smi/management": set(),
    "smi/runtime": {"transport/base", "transport/net", "hipcore/smi", "hipcore/wire"},
    "provider": {"transport/base", "transport/net", "hipcore/devices", "hipcore/limits", "hipcore/smi", "smi/runtime"},
    "worker/supervisor": WORKER | {"worker/base", "hipcore/smi", "worker/runtime/common/turn_page.h"},
    "worker/runtime/common": FRONT,  # and the Backend that it is compiled with
    "worker/runtime/cpu": RUNTIME | {"cpu", "hipcore/devices"},
    "worker/runtime/cpu/rtc": {"worker/runtime/common", "hipcore/abi", "hipcore/wire", "transport/net",
                               "transport/base"},
    "worker/runtime/cuda": RUNTIME,
}
FREE = ("tests", "benchmarks", "tools", "examples")  # may include anything; nothing may include them
# Made by tools/apigen, which is no part of the product.
MADE = {"tf_graph_functions": "hipcore/graph", "tf_hip_api": "hipcore/wire", "tf_hip_majors": "hipcore/wire",
        "tf_hip_table": "hipcore/wire", "tf_reference": "reference"}

OURS = {folder.partition("/")[0] for folder in MAY_INCLUDE} | set(FREE)

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')
COMMAND = re.compile(r"^[ \t]*(\w+)\s*\(((?:[^()]|\([^()]*\))*)\)", re.MULTILINE)
WORD = re.compile(r'"[^"]*"|\$<[^\s]*>|[^\s"]+')
VARIABLE = re.compile(r"\$\{(\w+)\}")
SOURCE = re.compile(r"\.(?:cc|cpp|c)$")
DEFINES = {"tf_library", "tf_executable", "tf_cpu_library", "tf_cuda_library", "add_library", "add_executable"}
JUDGED = DEFINES | {"target_link_libraries", "target_sources", "add_dependencies"}


def room_of(folder: str):
    """The folder whose rule holds; None where there is none."""
    while folder and folder not in MAY_INCLUDE:
        folder = folder.rpartition("/")[0]
    return folder or None


def rooms_under(folder: str):
    """All rooms that a file in `folder` may speak for: of the folder and of those below it."""
    return {room for room in MAY_INCLUDE if f"{room}/".startswith(f"{folder}/")} | {room_of(folder)} - {None}


def allows(room: str, target: str, file: str = "") -> bool:
    """Whether `room` may include what lies in the folder `target`, or that file."""
    to = room_of(target) or target.partition("/")[0]
    return to == room or to in MAY_INCLUDE[room] or file in MAY_INCLUDE[room]


def check_includes(path: str, lines, report):
    room = room_of(path.rpartition("/")[0])
    if room is None:
        if path.partition("/")[0] not in FREE:
            report(path, 1, "no arrows", "its folder has no rule in tests/arrows.py")
        return
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        if not match or "/" not in match.group(2):
            continue
        name = match.group(2)
        folder = name.rpartition("/")[0]
        if (match.group(1) == '"' or name.partition("/")[0] in OURS) and not allows(room, folder, name):
            report(path, number, "include direction",
                   f"{room} may include only {sorted(MAY_INCLUDE[room])}, not {folder}")


def expanded(words, known):
    """The words with what is known of variables in their places."""
    for word in words:
        whole = VARIABLE.fullmatch(word)
        if whole and whole.group(1) in known:
            yield from known[whole.group(1)]
        else:
            yield VARIABLE.sub(lambda match: " ".join(known.get(match.group(1), [match.group(0)])), word)


def commands(path: str, text: str):
    """(line, name, words) of each command of a CMake file. A path from the root of the sources begins with a slash."""
    here = "/" + path.rpartition("/")[0]
    known = {"CMAKE_SOURCE_DIR": [""], "CMAKE_CURRENT_SOURCE_DIR": [here], "CMAKE_CURRENT_LIST_DIR": [here]}
    text = re.sub(r"#.*", "", text)
    for match in COMMAND.finditer(text):
        words = list(expanded(WORD.findall(match.group(2)), known))
        if match.group(1) == "set" and words:
            known[words[0]] = words[1:]
        yield text.count("\n", 0, match.start(1)) + 1, match.group(1), words


def folders_of_sources(folder: str, words):
    """Where the sources among `words` lie, as far as that is written out."""
    for word in words:
        if SOURCE.search(word) and "$" not in word:
            yield posixpath.normpath(posixpath.join(f"/{folder}", word)).rpartition("/")[0].lstrip("/")


def rooms_of_target(folder: str, words):
    """Of a target that `folder` defines: those of its sources there. Otherwise it speaks for the whole folder."""
    own = {room_of(place) for place in folders_of_sources(folder, words[1:]) if f"{place}/".startswith(f"{folder}/")}
    return own - {None} if "$" not in words[0] and own - {None} else rooms_under(folder)


def reached(folder: str, words, owner):
    """(folders, what) of all that a command links or compiles: a target's name may stand anywhere in a word."""
    for word in words:
        if SOURCE.search(word):
            yield set(folders_of_sources(folder, [word])), word
            continue
        for name in dict.fromkeys([word, *re.findall(r"\w+", word)]):
            yield owner.get(name, set()), name


def check_cmake(root: pathlib.Path, report):
    """Target against target, and against sources: what a folder may not include it may not link."""
    paths = [path for pattern in ("CMakeLists.txt", "*.cmake") for path in sorted(root.rglob(pattern))]
    places = {path.relative_to(root).as_posix(): path for path in paths}
    files = {place: list(commands(place, path.read_text())) for place, path in places.items()
             if place.partition("/")[0] not in ("build", "cmake")}
    owner = {name: {folder} for name, folder in MADE.items()}
    for path, calls in files.items():
        for _, name, words in calls:
            if name in DEFINES and words and not words[0].startswith("$"):
                owner.setdefault(words[0], rooms_of_target(path.rpartition("/")[0], words))
    for path, calls in files.items():
        folder = path.rpartition("/")[0]
        for number, name, words in calls:
            if name not in JUDGED or not words:
                continue
            rooms = rooms_under(folder) if "$" in words[0] else owner.get(words[0], set())
            if not rooms and name in DEFINES and path.partition("/")[0] not in FREE:
                report(path, number, "no arrows", f"{words[0]}: its folder has no rule in tests/arrows.py")
            for places, what in reached(folder, words[1:], owner) if rooms else ():
                wrong = sorted(place for place in places if not any(allows(room, place) for room in rooms))
                if wrong:
                    report(path, number, "link direction", f"{words[0]} is {', '.join(sorted(rooms))}'s, which may "
                           f"not link {what} of {', '.join(wrong)}")


# Domains that stand on one side only: the file's name, and why.
EXPORTED_ALONE = {
    "api_call": "no domain: what exported functions begin with",
    "box_copies": "boxes are copies to the worker (copies.cc)",
    "context": "contexts live in the client",
    "device_properties": "answered from the snapshot",
    "entry_points": "the client's own functions by name",
    "errors": "errors are kept in the client",
    "exported": "no domain: the table of what is exported",
    "external": "mapped in the client, and shared as registered memory is (host.cc)",
    "functions": "answered from the code object's metadata",
    "launch_configuration": "lives in the client",
    "launch_forms": "launches, one after another (launch.cc)",
    "library": "no domain: loading and unloading",
    "link": "libhiprtc links",
    "managed": "advice about managed memory is kept and answered by the client",
    "peer": "handlers are generated",
    "pool_sharing": "memory of pools is shared as other memory is (ipc.cc)",
    "pools": "handlers are generated",
    "profiler": "handlers are generated",
    "properties": "converts the snapshot's properties into HIP's",
    "registration": "the client's own tables of registered code",
    "texture_references": "texture objects (textures.cc), and a copy to a variable",
    "rtc": "compiled in the client, or by proxy/module/remote_compile.cc",
    "rtc_entry": "no domain: forwards to libhiprtc",
    "worker_facts": "no domain: hip-remote info asks",
    "sharing": "no domain: what ipc.cc and pool_sharing.cc have in common",
}
HANDLED_ALONE = {
    "connection": "the connection's own requests; no function of HIP's",
    "fills": "the client's side of hipMemset is generated",
    "smi": "for the libraries and programs of smi/",
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
