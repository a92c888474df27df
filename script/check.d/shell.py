"""Drives one shell on its own terminal: shell.py SHELL; script/check shell calls it."""
import os
import pty
import re
import select
import sys
import time

shell = sys.argv[1]
BEGIN = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], "source <(larder --generate-completion-script bash)"),
    "zsh": (
        ["zsh", "-f", "-i"],
        "autoload -Uz compinit; compinit -u -D; larder --generate-completion-script zsh >$HOME/_larder; "
        "fpath=($HOME $fpath); compinit -u -D",
    ),
    "fish": (["fish", "--no-config", "-i"], "larder --generate-completion-script fish | source"),
}
CASES = [
    ("larder ver", "verify"),
    ("larder order pl", "order place"),
    ("larder sync --thumb", "sync --thumbnails-only"),
    ("larder sync sh", "sync shop.yaml"),
    ("larder crop ph", "crop photo.jpg"),
    ("larder list so", "list so"),
    ("larder list --catalog b", "list --catalog b"),
    ("larder show LD1", "show LD1"),
    ("larder order show ord_", "order show ord_"),
    ("larder catalog show shopify-s", "catalog show shopify-storefront"),
]
words, begin = BEGIN[shell]
child, terminal = pty.fork()
if child == 0:
    os.environ.update(TERM="xterm", PS1="$ ", LC_ALL="C.UTF-8")
    os.execvp(words[0], words)
seen = b""


def until(pattern, seconds=30):
    """Reads the shell's output until it matches the pattern; None after a timeout."""
    global seen
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        match = re.search(pattern, seen)
        if match:
            seen = seen[match.end():]
            return match
        if select.select([terminal], [], [], 0.2)[0]:
            try:
                seen += os.read(terminal, 65536)
            except OSError:
                break
            # Answers a shell that queries its terminal's type like a plain terminal.
            if b"\x1b[c" in seen or b"\x1b[0c" in seen:
                os.write(terminal, b"\x1b[?1;2c")
                seen = seen.replace(b"\x1b[c", b"").replace(b"\x1b[0c", b"")
    return None


os.write(terminal, (begin + "; larder rea''dy\r").encode())
if not until(rb"ran\[ready\]"):
    sys.exit(f"{shell} does not start: {seen[-500:]!r}")
wrong = 0
for typed, wanted in CASES:
    os.write(terminal, typed.encode() + b"\t\r")
    match = until(rb"ran\[([^\]]*)\]")
    ran = match[1].decode().strip() if match else None
    if ran != wanted:
        print(f"{shell}: {typed}<Tab> ran {ran!r}, not {wanted!r}", file=sys.stderr)
        wrong += 1
        if not match:
            break
os.write(terminal, b"\x03exit\r")
os.close(terminal)
os.waitpid(child, 0)
print(f"{shell}: {len(CASES) - wrong} of {len(CASES)} lines completed")
sys.exit(wrong > 0)
