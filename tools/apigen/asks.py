# SPDX-License-Identifier: Apache-2.0
"""Which functions wait for the worker, and when: what the word for how they travel says, or ASKS(when)."""
import json

from model import DescriptionError

NEVER = ""
CONDITIONS = {
    "always": "each call whose arguments pass the client's checks",
    "first": "the first time for a device and these arguments; the answer is kept",
    "pending": "while work that it waits for, or asks about, is not known to be over",
    "copy": "for bytes from the device, and behind work that must be over first (docs/copy-semantics.md)",
    "copied": "the first stream with hipStreamNonBlocking, until synchronous copies before it are over",
    "fill": "if the memory is host memory",
    "lease": "when the client has no device memory left to hand out",
    "host": "when devices can use that memory only after the worker has prepared something for it",
    "code": "until the worker has the program's code for that device",
    "time": "unless the answer to a wait for the event has said it, since the program has asked for that time before",
}
SAID = ("CUSTOM", "LOCAL", "COMPOSED", "ANSWERS", "CALL")  # modes that leave it to ASKS; a CALL asks always without it


def check(functions):
    for f in functions:
        if f.asks is not None and f.mode not in SAID:
            raise DescriptionError(f"{f.where}: {f.name}: ASKS is not looked at in a {f.mode}")
        if f.asks == "always" and f.mode == "CALL":
            raise DescriptionError(f"{f.where}: {f.name}: ASKS(always) says nothing in a CALL")
        if f.asks is not None and f.asks not in CONDITIONS:
            raise DescriptionError(f"{f.where}: {f.name}: ASKS({f.asks}); possible: {', '.join(CONDITIONS)}")


def when(f, by_name, messages):
    """NEVER or one of CONDITIONS. `messages`: by name."""
    if f.mode == "ALIAS":
        return "always" if "then_synchronize" in f.alias else when(by_name[f.alias[0]], by_name, messages)
    if f.asks:
        return f.asks
    if f.mode == "CACHED" or (f.cached and f.mode == "CALL"):
        return "first"
    if f.mode == "CALL" or (f.mode == "SENDS" and messages[f.sends].mode == "call"):
        return "always"
    if "NEW_STREAM" in f.words:
        return "copied"
    if "kFillSynchronous" in f.given.get("form", ""):
        return "fill"
    return "copy" if f.reason == "copy" else NEVER


def uses_host_memory(f, messages):
    """It may name host memory that the worker has no memory for yet."""
    sent = messages.get(f.sends) if f.mode == "SENDS" else None
    words = f.words if f.on_wire else sent.words if sent else {}
    return "REACHES_HOST" in words or f.reason in ("copy", "launch")


def table(functions, messages):
    """For tests, in JSON: function -> [when, uses_host_memory()]."""
    by_name = {f.name: f for f in functions}
    rows = {}
    for f in functions:
        target = by_name[f.alias[0]] if f.mode == "ALIAS" else f
        rows[f.name] = [when(f, by_name, messages), uses_host_memory(target, messages)]
    return json.dumps(rows, indent=1, sort_keys=True) + "\n"
