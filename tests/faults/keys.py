# SPDX-License-Identifier: Apache-2.0
"""Keys for the fault tests: made by hip-remote keygen, in a folder of their own."""
import os
import subprocess
import tempfile

from harness import BUILD, Worker

HIP_REMOTE = os.path.join(BUILD, "bin", "hip-remote")


class Keys:
    """A worker's key, keys of clients, and the file that says which of them may come in."""

    def __init__(self):
        self.directory = tempfile.TemporaryDirectory(prefix="hip-keys-")
        self.authorized = self.path("authorized")
        self.make("worker")
        self.authorize()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.directory.cleanup()

    def path(self, name):
        return os.path.join(self.directory.name, name)

    def make(self, name):
        """Makes the key `name`. Returns its public line."""
        made = subprocess.run([HIP_REMOTE, "keygen", "--name", name, self.path(name)], check=True, text=True,
                              capture_output=True, timeout=60)
        return made.stdout.strip()

    def fingerprint(self, name):
        shown = subprocess.run([HIP_REMOTE, "keygen", "--show", self.path(name)], check=True, text=True,
                               capture_output=True, timeout=60)
        return next(word for word in shown.stderr.split() if word.startswith("SHA256:"))

    def authorize(self, *lines):
        """These lines, and no others. The file is replaced whole, as an editor does."""
        fresh = self.path("fresh")
        with open(fresh, "w", encoding="ascii") as file:
            file.write("".join(line + "\n" for line in lines))
        os.rename(fresh, self.authorized)

    def options(self, *extra):
        return ["--key-file", self.path("worker"), "--authorized-keys", self.authorized, *extra]

    def worker(self, *extra, **changes):
        return Worker(*self.options(*extra), **changes)

    def environment(self, name, **changes):
        """For a client with that key."""
        return {"TF_KEY_FILE": self.path(name), "TF_KNOWN_WORKERS": self.path("known"), **changes}
