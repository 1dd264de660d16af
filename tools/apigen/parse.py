# SPDX-License-Identifier: Apache-2.0
"""Reads proxy/api/*.h: annotated prototypes, and proxy/api/*messages.h. Refuses what it does not understand; what is
understood but cannot be carried is refused by check.py."""
import re

from model import (BY_HAND, HANDLE_KINDS, HANDLE_TYPES, MODES, NOT_DONE, ON_WIRE, OTHER_KINDS, DescriptionError, Field,
                   Function, Message, Parameter)
from traits import TRAIT_WORDS

FRONT_WORDS = set(MODES) | {"CHECK", "SINCE", "MANGLED", "ALSO", "ASKS", "OUTSIDE_CAPTURES"} | set(TRAIT_WORDS)
DIRECTIONS = ("IN", "OUT", "INOUT", "CONSUMES")
PARAMETER_WORDS = set(DIRECTIONS) | {"ARRAY", "STRING", "OPTIONAL", "ORDINAL"}
# All others have brackets.
BARE_WORDS = ({"FORWARDS", "COMPOSED", "UNSUPPORTED", "OPTIONAL", "ORDINAL", "OUTSIDE_CAPTURES"}
              | {word for word, has_brackets in TRAIT_WORDS.items() if not has_brackets})
KINDS = set(HANDLE_KINDS) | set(HANDLE_TYPES.values()) | set(OTHER_KINDS) | {""}
OPCODE_MAX = 0xffff


def blank_comments(text):
    """Comments become blanks, so that positions keep their lines."""
    return re.sub(r"//[^\n]*|/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.S)


def blank_directives(text):
    return re.sub(r"^[ \t]*#.*$", lambda m: " " * len(m.group()), text, flags=re.M)


def one_line(text):
    return re.sub(r"\s+", " ", text).strip()


def line_of(text, position):
    """Line of the first thing that is no blank at or after `position`."""
    rest = text[position:]
    return text.count("\n", 0, position + len(rest) - len(rest.lstrip())) + 1


def closing(text, start, where):
    """Index of the bracket that closes the one at `start`."""
    depth = 0
    for index in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[index], 0)
        if depth == 0:
            return index
    raise DescriptionError(f"{where}: unbalanced brackets: '{one_line(text[start:start + 40])}'")


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


def take_words(text, known, where):
    """Leading words with their bracketed arguments: ([(word, arguments)], rest). A word is an identifier in
    capitals; the vendor has types of that look, which start with HIP_."""
    words = []
    while match := re.match(r"\s*([A-Z][A-Z_]*)\b", text):
        word = match.group(1)
        if word.startswith("HIP_"):
            break
        if word not in known:
            raise DescriptionError(f"{where}: unknown word '{word}'; known here: {' '.join(sorted(known))}")
        if word != "CHECK" and word in (w for w, _ in words):
            raise DescriptionError(f"{where}: {word} is said twice")
        rest = text[match.end():].lstrip()
        arguments = None
        if rest.startswith("("):
            end = closing(rest, 0, where)
            arguments, rest = rest[1:end].strip(), rest[end + 1:]
        if (arguments is None) != (word in BARE_WORDS):
            raise DescriptionError(f"{where}: {word} {'takes no' if word in BARE_WORDS else 'needs'} brackets")
        words.append((word, arguments))
        text = rest
    return words, text.strip()


def check_parameter_words(parameter, where):
    words = parameter.words
    given = [d for d in DIRECTIONS if d in words]
    if len(given) > 1:
        raise DescriptionError(f"{where}: '{parameter.name}' has two directions: {' and '.join(given)}")
    if parameter.is_pointer and not given:
        raise DescriptionError(f"{where}: pointer '{parameter.name}' needs a direction: IN, OUT, INOUT or CONSUMES")
    if not given and parameter.handle_type:
        raise DescriptionError(f"{where}: handle '{parameter.name}' needs a direction: "
                               f"IN({HANDLE_TYPES[parameter.handle_type]}) or CONSUMES")
    if parameter.kind not in KINDS:
        raise DescriptionError(f"{where}: '{parameter.name}': unknown kind '{parameter.kind}'; "
                               f"known: {' '.join(sorted(KINDS - {''}))}")
    wanted = HANDLE_TYPES.get(parameter.handle_type)
    if wanted and parameter.kind != wanted or parameter.handle and not parameter.handle_type:
        raise DescriptionError(f"{where}: '{parameter.ctype} {parameter.name}' cannot be '{parameter.kind}'")
    if parameter.kind == "word" and not re.fullmatch(r"word\(.+\)", parameter.arguments[0], re.S):
        raise DescriptionError(f"{where}: '{parameter.name}': word needs the number of bytes: word(bytes)")
    if parameter.kind != "word" and parameter.arguments and parameter.arguments[0] != parameter.kind:
        raise DescriptionError(f"{where}: '{parameter.name}': not a kind: '{parameter.arguments[0]}'")
    if len(parameter.arguments) > (2 if parameter.kind == "device" else 1):
        raise DescriptionError(f"{where}: '{parameter.name}': too much in the brackets of {parameter.direction}")
    if parameter.direction == "CONSUMES" and not parameter.handle_type:
        raise DescriptionError(f"{where}: '{parameter.name}': only a handle can be consumed")
    for word in ("ARRAY", "STRING"):
        if word in words and (len(words[word]) != 1 or not parameter.is_pointer):
            raise DescriptionError(f"{where}: '{parameter.name}': {word} needs one argument, and a pointer")
    if "STRING" in words and not words["STRING"][0].isdigit():
        raise DescriptionError(f"{where}: '{parameter.name}': STRING needs a number of bytes")
    if parameter.ordinal and parameter.ctype not in ("int", "hipDevice_t"):
        raise DescriptionError(f"{where}: '{parameter.name}': ORDINAL is for an int")


def parse_parameter(text, where):
    words, declaration = take_words(text, PARAMETER_WORDS, where)
    match = re.fullmatch(r"(.+?[\s*])(\w+)", declaration, re.S)
    if not match:
        raise DescriptionError(f"{where}: not a parameter: '{one_line(text)}'")
    ctype = one_line(match.group(1)).replace(" *", "*")
    parameter = Parameter(match.group(2), ctype, {w: split_top(a or "") for w, a in words})
    check_parameter_words(parameter, where)
    return parameter


def parse_opcode(text, where):
    if not re.fullmatch(r"0x[0-9a-f]{4}", text):
        raise DescriptionError(f"{where}: '{text}' is no opcode: four hexadecimal digits, as 0x0310")
    return int(text, 16)


def parse_mode(words, where):
    """(mode, arguments, cached). CREATE may be followed by CACHED()."""
    modes = [(w, a) for w, a in words if w in MODES]
    if not modes:
        raise DescriptionError(f"{where}: no word says how the call travels; possible: {' '.join(MODES)}")
    mode, argument = modes[0]
    if mode == "CREATE" and modes[1:] == [("CACHED", "")]:
        return mode, argument, True
    if len(modes) > 1:
        raise DescriptionError(f"{where}: the call cannot travel in two ways: {' and '.join(w for w, _ in modes)}")
    return mode, argument, mode == "CACHED"


def parse_given(parts, word, what, where):
    """`name = expression` of each part, by name."""
    given = {}
    for part in parts:
        match = re.fullmatch(r"(\w+) = (.+)", one_line(part))
        if not match or match.group(1) in given:
            raise DescriptionError(f"{where}: {word}(..., {one_line(part)}): not `{what} = expression`, or there twice")
        given[match.group(1)] = match.group(2)
    return given


def parse_sends(text, where):
    """`Message, field = expression, ...`: (message, {field: expression})."""
    parts = split_top(text)
    return parts[0] if parts else "", parse_given(parts[1:], "SENDS", "field", where)


def parse_answers(text, where):
    """`expression` or `parameter = expression, ...`: (expression, {parameter: expression})."""
    parts = split_top(text)
    if len(parts) == 1 and not re.match(r"\w+ = ", parts[0]):
        return one_line(parts[0]), {}
    if not parts:
        raise DescriptionError(f"{where}: ANSWERS() of nothing; ANSWERS(hipSuccess) where the checks are all")
    return "", parse_given(parts, "ANSWERS", "parameter", where)


def parse_function(text, where, domain, c_linkage):
    words, rest = take_words(text, FRONT_WORDS, where)
    mode, argument, cached = parse_mode(words, where)
    match = re.match(r"([^()]+?[\s*])(\w+)\s*\(", rest, re.S)
    if not match:
        raise DescriptionError(f"{where}: not a prototype: '{one_line(rest)}'")
    open_at = match.end() - 1
    end = closing(rest, open_at, where)
    if rest[end + 1:].strip():
        raise DescriptionError(f"{where}: '{one_line(rest[end + 1:])}' after the prototype")
    name = match.group(2)
    parameters = [parse_parameter(p, f"{where}: {name}") for p in split_top(rest[open_at + 1:end]) if p != "void"]
    opcode = parse_opcode(argument, where) if mode in ON_WIRE else 0
    checks = [one_line(a) for w, a in words if w == "CHECK"]
    function = Function(name, one_line(match.group(1)).replace(" *", "*"), parameters, mode, opcode, where, domain,
                        checks, c_linkage=c_linkage, cached=cached)
    function.alias = split_top(argument) if mode == "ALIAS" else []
    if mode == "SENDS":
        function.sends, function.given = parse_sends(argument, where)
    if mode == "ANSWERS":
        function.answer, function.given = parse_answers(argument, where)
    function.reason = one_line(argument) if mode in BY_HAND + ("REFUSED",) else ""
    function.words = {w: a or "" for w, a in words if w in TRAIT_WORDS}
    function.asks = next((one_line(a or "") for w, a in words if w == "ASKS"), None)
    function.outside_captures = any(w == "OUTSIDE_CAPTURES" for w, _ in words)
    if function.outside_captures and mode in ("ALIAS", "COMPOSED", "FORWARDS") + NOT_DONE:
        raise DescriptionError(f"{where}: {name}: OUTSIDE_CAPTURES is not looked at in {mode}")
    function.mangled = next((a for w, a in words if w == "MANGLED"), "")
    function.also = next((a for w, a in words if w == "ALSO"), "")
    function.since = next((a for w, a in words if w == "SINCE"), "")
    if any(w == "SINCE" for w, _ in words) and not re.fullmatch(r"hip_\d+\.\d+", function.since):
        raise DescriptionError(f"{where}: SINCE({function.since}) is no version node: hip_5.3, for example")
    return function


def parse_prototypes(path, label):
    text = blank_directives(blank_comments(path.read_text()))
    functions, start, c_linkage = [], 0, False
    for match in re.finditer(r'extern\s+"C"\s*\{|\}|;', text):
        statement = text[start:match.start()].strip()
        where = f"{label}:{line_of(text, start)}"
        if match.group() == ";":
            functions.append(parse_function(statement, where, path.stem, c_linkage))
        elif statement:
            raise DescriptionError(f"{where}: no ';' after '{one_line(statement)[:60]}'")
        else:
            c_linkage = match.group() != "}"
        start = match.end()
    if text[start:].strip():
        raise DescriptionError(f"{label}:{line_of(text, start)}: no ';' after '{one_line(text[start:])[:60]}'")
    return functions


def parse_fields(body, where):
    fields, offset = [], 0
    for statement in filter(None, (s.strip() for s in body.split(";"))):
        match = re.fullmatch(r"(u64|u32|i32)\s+(\w+)(?:\[(\d+)\]|\s*=\s*(\d+))?", statement)
        if not match or match.group(3) and int(match.group(3)) == 0:
            raise DescriptionError(f"{where}: not a field: '{statement}'; fields are u64, u32 or i32")
        default = None if match.group(4) is None else int(match.group(4))
        field = Field(match.group(2), match.group(1), int(match.group(3) or 1), default)
        if field.name in (f.name for f in fields):
            raise DescriptionError(f"{where}: field '{field.name}' is there twice")
        size = field.bytes // field.count
        if offset % size:
            raise DescriptionError(f"{where}: field '{field.name}' at offset {offset} is not naturally aligned")
        fields.append(field)
        offset += field.bytes
    if not fields:
        raise DescriptionError(f"{where}: no fields; an empty message has `u64 reserved`")
    if any(f.wire == "u64" for f in fields) and offset % 8:
        raise DescriptionError(f"{where}: {offset} bytes: spell the padding as `u32 reserved`")
    return fields


def add_message(messages, match, where):
    opcode, mode, name, said, body, reply_name, reply_body, tail_name = match.groups()
    if name:
        if name in messages:
            raise DescriptionError(f"{where}: name {name} is taken by {messages[name].where}")
        words, rest = take_words(said, TRAIT_WORDS, where)
        if rest:
            raise DescriptionError(f"{where}: '{one_line(rest)}' before the fields of {name}")
        messages[name] = Message(name, parse_opcode(opcode, where), mode, parse_fields(body, where), [], False, where,
                                 words={w: a or "" for w, a in words})
        return
    message = messages.get(reply_name or tail_name)
    if message is None:
        raise DescriptionError(f"{where}: no message '{reply_name or tail_name}' above")
    if reply_name:
        if message.mode != "call" or message.reply:
            why = "has a reply already" if message.reply else f"is a {message.mode}: only a call is answered"
            raise DescriptionError(f"{where}: {reply_name} {why}")
        message.reply = parse_fields(reply_body, where)
    else:
        message.tail = True


def parse_messages(path, label):
    text = blank_directives(blank_comments(path.read_text()))
    messages = {}
    pattern = re.compile(r"MESSAGE\(\s*(\w+)\s*,\s*(call|post|notice)\s*,\s*(\w+)\s*\)([^{;]*)\{(.*?)\}\s*;"
                         r"|REPLY\(\s*(\w+)\s*\)\s*\{(.*?)\}\s*;|TAIL\(\s*(\w+)\s*\)", re.S)
    position = 0
    while text[position:].strip():
        position += len(text[position:]) - len(text[position:].lstrip())
        where = f"{label}:{line_of(text, position)}"
        match = pattern.match(text, position)
        if not match:
            raise DescriptionError(f"{where}: not a message: '{one_line(text[position:position + 60])}'; "
                                   "there are MESSAGE(opcode, call|post|notice, Name), REPLY(Name) and TAIL(Name)")
        add_message(messages, match, where)
        position = match.end()
    return list(messages.values())
