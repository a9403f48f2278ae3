"""What a command says when GitHub did not give the one thing that was asked."""

from prwatch.domain.outcome import Missing, NotFound, Retry
from prwatch.errors import (
    PermissionDenied,
    ProviderError,
    ProviderUnavailable,
    ResourceGone,
)


def build_missing_error(subject: str, outcome: Missing) -> ProviderError:
    """Return the error that tells why there is no reading of `subject`."""
    text = f"{subject}: {outcome.reason}"
    match outcome:
        case NotFound():
            return ResourceGone(text)
        case Retry():
            return ProviderUnavailable(text)
        case _:
            return PermissionDenied(text)
