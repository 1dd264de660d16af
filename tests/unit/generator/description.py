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
hipPlain\thip_4.2
hipOther\thip_4.2
hipTarget\thip_4.2
hipTarget_spt\thip_5.2
_Z7hipMangv\thip_4.2
"""
MESSAGES = """MESSAGE(0x0004, post, Goodbye) NO_WORK {
  u64 reserved;
};
"""


class Description:
    """Files of proxy/api by name; what is not given has harmless contents."""

    def __init__(self, messages=MESSAGES, symbols=SYMBOLS, raw=False, **domains):
        self.files = {"messages.h": messages, "symbols_5.txt": symbols}
        for domain, text in domains.items():
            self.files[f"{domain}.h"] = text if raw else f'extern "C" {{\n{text}\n}}\n'

    def generate(self):
        with tempfile.TemporaryDirectory() as folder:
            api = pathlib.Path(folder)
            for name, text in self.files.items():
                (api / name).write_text(text)
            return apigen.generate(api)


def generate(**files):
    return Description(**files).generate()


def refusal(**files):
    """The text of the DescriptionError, or None when the description was taken."""
    try:
        generate(**files)
    except DescriptionError as error:
        return str(error)
    return None
