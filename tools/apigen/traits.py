# SPDX-License-Identifier: Apache-2.0
"""What a message means besides what it carries: the words for it, and what they may not say."""
from dataclasses import dataclass

from model import DescriptionError

# Words in front of a prototype that travels, or behind the head of a MESSAGE, and whether they have brackets. What
# each says to a writer of descriptions is in proxy/api/words.h, to a reader of the table in TRAITS.
TRAIT_WORDS = {"WORK": True, "NO_WORK": False, "RECORDS": True, "AWAITS": True, "FILLS": False,
               "CAPTURE": True, "ENDS": True, "NEW_STREAM": True, "REACHES_HOST": False, "PROMPT": False,
               "DIRECT": False, "BRIEF": True}
LEAVES = ("WORK", "NO_WORK")
CAPTURED = ("RECORDS", "AWAITS", "FILLS", "CAPTURE")  # how a capture takes work
OF_POSTS = LEAVES + CAPTURED + ("REACHES_HOST", "DIRECT", "ENDS")

# Enumerator and meaning, in the order of their bits.
TRAITS = {
    "Work": "leaves work on its stream",
    "Records": "records its event on its stream",
    "Awaits": "its stream waits for its event",
    "Fills": "is a FillRequest",
    "EndsStream": "its stream is gone afterwards",
    "EndsEvent": "its event is gone afterwards",
    "NewStream": "makes its stream, by its flags (hipStreamNonBlocking)",
    "NotCaptured": "no capture can hold it: it ends the capture of its stream",
    "ReachesHost": "names host memory that devices reach; work also reads or writes it",
    "Prompt": "its handler never waits through the session, and reads what the client sent once",
    "Direct": "its handler settles copies that have no staging itself",
}


def refuse(where, why):
    raise DescriptionError(f"{where}: {why}")


@dataclass
class Traits:
    names: list          # of TRAITS
    stream: str = None   # names of fields
    event: str = None
    flags: str = None


def _parameter(function, kind, direction):
    return next((p.name for p in function.parameters if p.kind == kind and p.direction == direction), None)


def _is_u64(message, name):
    return any(f.name == name and f.wire == "u64" and f.count == 1 for f in message.request)


def _check_leaves(m, where):
    """A post says what it leaves; who sent a call is told."""
    said = [w for w in LEAVES if w in m.words]
    created = m.function is not None and m.function.mode == "CREATE"
    if m.mode != "post" or created:
        kind = m.function.mode if m.function else m.mode
        why = "leaves no work" if created else "is answered" if m.mode == "call" else "is no request"
        for word in OF_POSTS:
            if word in m.words:
                refuse(where, f"{word} contradicts {kind}, which {why}")
    elif len(said) != 1:
        refuse(where, "a post says what it leaves: WORK(stream) or NO_WORK")


def _check_work(m, where):
    captured = [w for w in CAPTURED if w in m.words]
    if "WORK" in m.words and len(captured) != 1:
        refuse(where, "WORK says how a capture takes it: one of RECORDS(event), AWAITS(event), FILLS and "
                      "CAPTURE(asked | refused)")
    if "WORK" not in m.words and captured:
        refuse(where, f"{captured[0]} is said of WORK only")
    if m.words.get("CAPTURE", "asked") not in ("asked", "refused"):
        refuse(where, f"CAPTURE({m.words['CAPTURE']}): neither asked nor refused")
    if "FILLS" in m.words and m.name != "Fill":
        refuse(where, "FILLS is said of Fill only: the others travel as Fill")
    if m.mode == "post" and "WORK" not in m.words and "ENDS" not in m.words and _is_u64(m, "stream"):
        taken = m.function is None or _parameter(m.function, "stream", "IN")
        if taken:
            refuse(where, "it has a stream, but no WORK(stream) for it and no ENDS(stream)")


def _check_fields(m, where):
    for word in ("WORK", "RECORDS", "AWAITS", "ENDS"):
        if word in m.words and not _is_u64(m, m.words[word]):
            refuse(where, f"{word}({m.words[word]}): there is no such handle in the message")
    if m.words.get("ENDS") not in (None, "stream", "event"):
        refuse(where, f"ENDS({m.words['ENDS']}): what ends is a stream or an event")
    if m.function is None:
        return
    kinds = {p.name: (p.kind, p.direction) for p in m.function.parameters}
    for word, kind in (("WORK", "stream"), ("RECORDS", "event"), ("AWAITS", "event")):
        if word in m.words and kinds.get(m.words[word]) != (kind, "IN"):
            refuse(where, f"{word}({m.words[word]}) names no parameter IN({kind})")
    if "ENDS" in m.words:
        refuse(where, "ENDS is for messages.h; of a prototype CONSUMES says it")


def _check_new_stream(m, where):
    f = m.function
    makes = f is not None and f.mode == "CREATE" and _parameter(f, "stream", "OUT") is not None
    flags = m.words.get("NEW_STREAM")
    if flags is not None and not makes:
        refuse(where, "NEW_STREAM is for a CREATE of a stream")
    if not makes:
        return
    own = [p.name for p in f.parameters if p.name == (flags or "flags") and p.ctype == "unsigned int"]
    if flags is not None and not own:
        refuse(where, f"NEW_STREAM({flags}) names no parameter `unsigned int {flags}`")
    if flags is None and own:
        refuse(where, "a new stream with flags: NEW_STREAM(flags) says so")


def _check_brief(m, where):
    """What is left out comes back as its default, and is nothing that the table reads."""
    first = m.words.get("BRIEF")
    if first is None:
        return
    names = [f.name for f in m.request]
    if m.mode != "post" or m.function is not None or m.tail:
        refuse(where, "BRIEF is for a post in messages.h that has no tail")
    if first not in names[1:]:
        refuse(where, f"BRIEF({first}): the fields from there on are left out, and others stay")
    for f in m.request[names.index(first):]:
        if f.default is None or f.count > 1:
            refuse(where, f"BRIEF({first}): '{f.name}' has no default")
        if f.name in (m.words.get(word) for word in ("WORK", "RECORDS", "AWAITS", "ENDS")):
            refuse(where, f"BRIEF({first}): '{f.name}' is read by its offset")


def check_traits(m):
    where = f"{m.where}: {m.name}"
    _check_brief(m, where)
    _check_leaves(m, where)
    _check_work(m, where)
    _check_fields(m, where)
    _check_new_stream(m, where)
    for word in ("PROMPT", "DIRECT"):
        if word in m.words and m.function is not None:
            refuse(where, f"{word} is said of a body by hand; what is generated needs no such word")
    if "PROMPT" in m.words and m.mode == "notice":
        refuse(where, "PROMPT contradicts notice, which no handler takes")


def _is_prompt(m):
    """What is generated is so, except that giving up a handle waits for who uses it."""
    if m.mode == "notice" or m.function is None:
        return "PROMPT" in m.words
    return all(p.direction != "CONSUMES" for p in m.function.parameters)


def traits_of(m):
    f = m.function
    ended = {kind: m.words.get("ENDS") == kind or f is not None and _parameter(f, kind, "CONSUMES") is not None
             for kind in ("stream", "event")}
    said = {"Work": "WORK" in m.words, "Records": "RECORDS" in m.words,
            "Awaits": "AWAITS" in m.words, "Fills": "FILLS" in m.words, "EndsStream": ended["stream"],
            "EndsEvent": ended["event"], "NewStream": "NEW_STREAM" in m.words,
            "NotCaptured": m.words.get("CAPTURE") == "refused", "ReachesHost": "REACHES_HOST" in m.words,
            "Prompt": _is_prompt(m), "Direct": "DIRECT" in m.words}
    traits = Traits([name for name in TRAITS if said[name]])
    traits.stream = m.words.get("WORK")
    traits.event = m.words.get("RECORDS") or m.words.get("AWAITS")
    for kind in ("stream", "event"):
        if ended[kind]:
            setattr(traits, kind, _parameter(f, kind, "CONSUMES") if f else m.words["ENDS"])
    if said["NewStream"]:
        traits.stream, traits.flags = _parameter(f, "stream", "OUT"), m.words["NEW_STREAM"]
    return traits
