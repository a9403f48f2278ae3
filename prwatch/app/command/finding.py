"""What an examination of the installation finds, one sentence each."""

import enum
from dataclasses import dataclass


class Health(enum.StrEnum):
    """How it stands with one thing. Only BROKEN keeps prwatch from its work."""

    OK = "ok"
    WARNING = "warning"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at; `remedy` is what a person should do, or ''."""

    subject: str
    health: Health
    text: str
    remedy: str = ""

    def as_json(self) -> dict[str, str]:
        """Return the members of the printed object."""
        return {
            "subject": self.subject,
            "health": self.health.value,
            "text": self.text,
            "remedy": self.remedy,
        }
