# SPDX-License-Identifier: Apache-2.0
"""Reads proxy/api/*.h: annotated prototypes, and proxy/api/messages.h. Refuses what it does not understand."""
import re

from model import MODES, DescriptionError, Field, Function, Message, Parameter

FRONT_WORDS = set(MODES) | {"CHECK", "SINCE", "MANGLED"}
PARAMETER_WORDS = {"IN", "OUT", "INOUT", "ARRAY", "STRING", "OPTIONAL", "CONSUMES"}


def blank_comments(text):
    """Comments become blanks, so that positions keep their lines."""
    return re.sub(r"//[^\n]*|/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.S)


def closing(text, start):
    """Index of the bracket that closes the one at `start`."""
    depth = 0
    for index in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[index], 0)
        if depth == 0:
            return index
    raise DescriptionError("unbalanced brackets: " + text[start:start + 40])


def split_top(text, separator=","):
    parts, depth, current = [], 0, ""
    for char in text:
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(char, 0)
        if char == separator and depth == 0:
            parts.append(current.strip())
            current = ""
        else:
            current += char
    return [part for part in parts + [current.strip()] if part]


def take_words(text, known):
    """Leading words with their bracketed arguments: ([(word, arguments)], rest)."""
    words = []
    while match := re.match(r"\s*([A-Z_]+)\b", text):
        if match.group(1) not in known:
            break
        rest = text[match.end():]
        arguments = None
        if rest.startswith("("):
            end = closing(rest, 0)
            arguments, rest = rest[1:end], rest[end + 1:]
        words.append((match.group(1), arguments))
        text = rest
    return words, text.strip()


def parse_parameter(text, where):
    words, declaration = take_words(text, PARAMETER_WORDS)
    match = re.fullmatch(r"(.+?)(\w+)", declaration, re.S)
    if not match:
        raise DescriptionError(f"{where}: not a parameter: '{text}'")
    ctype = re.sub(r"\s+", " ", match.group(1)).strip().replace(" *", "*")
    parameter = Parameter(match.group(2), ctype, {w: split_top(a or "") for w, a in words})
    if parameter.is_pointer and parameter.direction is None:
        raise DescriptionError(f"{where}: pointer '{parameter.name}' needs a direction: IN, OUT, INOUT or CONSUMES")
    return parameter


def parse_function(text, where, domain, c_linkage):
    words, rest = take_words(text, FRONT_WORDS)
    modes = [(w, a) for w, a in words if w in MODES]
    if not modes:
        raise DescriptionError(f"{where}: no word says how the call travels; possible: {' '.join(MODES)}")
    open_at = rest.index("(")
    end = closing(rest, open_at)
    match = re.fullmatch(r"(.+?)(\w+)\s*", rest[:open_at], re.S)
    mode, argument = modes[0]
    name = match.group(2)
    parameters = [parse_parameter(p, f"{where}: {name}") for p in split_top(rest[open_at + 1:end]) if p != "void"]
    opcode = int(argument, 0) if argument and mode not in ("ALIAS",) else 0
    checks = [a for w, a in words if w == "CHECK"]
    function = Function(name, re.sub(r"\s+", " ", match.group(1)).strip().replace(" *", "*"), parameters, mode,
                        opcode, where, domain, [re.sub(r"\s+", " ", c) for c in checks], c_linkage=c_linkage,
                        cached=any(w == "CACHED" for w, _ in modes))
    function.alias = split_top(argument or "") if mode == "ALIAS" else []
    function.mangled = next((a for w, a in words if w == "MANGLED"), "")
    function.since = next((a for w, a in words if w == "SINCE"), "")
    return function


def parse_prototypes(path, label):
    text = blank_comments(path.read_text())
    text = re.sub(r"^[ \t]*#.*$", lambda m: " " * len(m.group()), text, flags=re.M)
    functions, start, c_linkage = [], 0, False
    for match in re.finditer(r'extern\s+"C"\s*\{|\}|;', text):
        if match.group() == "}":
            c_linkage, start = False, match.end()
        elif match.group() != ";":
            c_linkage, start = True, match.end()
        else:
            statement = text[start:match.start()]
            line = text.count("\n", 0, start + len(statement) - len(statement.lstrip())) + 1
            functions.append(parse_function(statement.strip(), f"{label}:{line}", path.stem, c_linkage))
            start = match.end()
    return functions


def parse_fields(body, where):
    fields = []
    for statement in filter(None, (s.strip() for s in body.split(";"))):
        match = re.fullmatch(r"(u64|u32|i32)\s+(\w+)(?:\[(\d+)\])?", statement)
        if not match:
            raise DescriptionError(f"{where}: not a field: '{statement}'; fields are u64, u32 or i32")
        fields.append(Field(match.group(2), match.group(1), int(match.group(3) or 1)))
    offset = 0
    for field in fields:
        size = field.bytes // field.count
        if offset % size:
            raise DescriptionError(f"{where}: field '{field.name}' at offset {offset} is not naturally aligned")
        offset += field.bytes
    if any(f.wire == "u64" for f in fields) and offset % 8:
        raise DescriptionError(f"{where}: {offset} bytes: spell the padding as `u32 reserved`")
    return fields


def parse_messages(path, label):
    text = blank_comments(path.read_text())
    messages = {}
    pattern = re.compile(r"MESSAGE\(\s*(0x[0-9a-f]+)\s*,\s*(call|post|notice)\s*,\s*(\w+)\s*\)\s*\{(.*?)\}\s*;"
                         r"|REPLY\(\s*(\w+)\s*\)\s*\{(.*?)\}\s*;|^TAIL\(\s*(\w+)\s*\)", re.S | re.M)
    for match in pattern.finditer(text):
        where = f"{label}:{text.count(chr(10), 0, match.start()) + 1}"
        opcode, mode, name, body, reply_name, reply_body, tail_name = match.groups()
        if name:
            messages[name] = Message(name, int(opcode, 16), mode, parse_fields(body, where), [], False, where)
        elif (reply_name or tail_name) not in messages:
            raise DescriptionError(f"{where}: no message '{reply_name or tail_name}' above")
        elif reply_name:
            messages[reply_name].reply = parse_fields(reply_body, where)
        else:
            messages[tail_name].tail = True
    return list(messages.values())
