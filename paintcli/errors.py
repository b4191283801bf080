"""What can go wrong, as one sentence that says what to do. The library raises, `cli/` prints."""


class PaintError(Exception):
    """Our own error or the user's environment; the message is one sentence for a person."""

    exit_code = 1


class UsageError(PaintError):
    """The call itself is wrong: an unknown name, a missing file, two options that exclude each other."""

    exit_code = 2


class Unavailable(PaintError):
    """A backend could not answer (browser died, scorer down, out of memory).

    Never the painting's fault and never a 0: only `reward.py` turns it into "no number".
    """

    exit_code = 4
