# SPDX-License-Identifier: Apache-2.0
"""A small description in a temporary folder, and the generator run on it: what the tests of the generator share."""
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tools" / "apigen"))

import apigen  # noqa: E402
from model import DescriptionError  # noqa: E402

SYMBOLS = """# symbols and nodes
hipPlain hip_4.2
hipOther hip_4.2
hipTarget hip_4.2
hipTarget_spt hip_5.2
_Z7hipMangv hip_4.2
"""
MAJORS = "# majors\n5 5.2.0\n6 -\n"
MESSAGES = """MESSAGE(0x0004, post, Goodbye) NO_WORK {
  u64 reserved;
};
"""


class Description:
    """Files of proxy/api by name; what is not given has harmless contents."""

    def __init__(self, messages=MESSAGES, symbols=SYMBOLS, majors=MAJORS, lists=None, raw=False, **domains):
        """`symbols`: of the first major; `lists`: file -> text, of more of them."""
        self.files = {"messages.h": messages}
        self.exports = {"majors.txt": majors, "5.txt": symbols, **(lists or {})}
        for domain, text in domains.items():
            self.files[f"{domain}.h"] = text if raw else f'extern "C" {{\n{text}\n}}\n'

    def generate(self):
        with tempfile.TemporaryDirectory() as folder:
            api, exports = pathlib.Path(folder) / "api", pathlib.Path(folder) / "exports"
            for place, files in ((api, self.files), (exports, self.exports)):
                place.mkdir()
                for name, text in files.items():
                    (place / name).write_text(text)
            return apigen.generate(api, exports)


def generate(**files):
    return Description(**files).generate()


def refusal(**files):
    """The text of the DescriptionError, or None when the description was taken."""
    try:
        generate(**files)
    except DescriptionError as error:
        return str(error)
    return None
