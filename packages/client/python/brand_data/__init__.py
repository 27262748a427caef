"""A typed client of the Brand Data Service. The service's page /docs/python explains it."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime
from types import TracebackType
from typing import Any, Generic, TypeVar
from urllib.parse import quote, unquote

import httpx

from .records import FlatRecord, GroupedRecord, NoCompany, ProblemCode, SearchAnswer, Suggestion, Usage

__all__ = ["Answer", "BrandData", "BrandDataError", "FlatRecord", "GroupedRecord", "Limit", "Match", "ProblemCode", "SearchAnswer", "Source", "Usage"]

T = TypeVar("T")

_LONGEST_WAIT = 5
"""An answer 429 or 503 that asks for a longer wait than this, in seconds, is not retried."""
_SPREAD = 0.25
"""Waits are longer by up to this part, so that callers that failed together do not all return at once."""


@dataclass(frozen=True)
class Limit:
    """One limit of the account's plan, as the gateway that answered knew it."""

    allowance: float
    """Calls in the whole period."""
    remaining: int
    """Calls that are left in the period. The gateway's estimate."""
    resets_in: int
    """Seconds until the next period begins, when the answer was made."""


@dataclass(frozen=True)
class Match:
    """How a record was found."""

    kind: str
    value: str
    """The record's identifier that matched, such as "AAPL"."""
    strength: str


@dataclass(frozen=True)
class Source:
    """A source of facts of a record. Days are YYYY, YYYY-MM or YYYY-MM-DD."""

    name: str
    date: str | None
    """The day at which its facts were true. If they are of several days, the newest one."""
    oldest: str | None
    """The oldest of several days."""


@dataclass(frozen=True)
class _Facts:
    request_id: str | None
    """Id of the request. Name it when you report a problem to the operator."""
    charged: bool | None
    """Whether the call counted against the quota. On a 503, True also means that the gateway does not know it."""
    quota: Limit | None
    """Calls of the month. None while the gateway does not know them."""
    rate: Limit | None
    """Calls of the second, if the plan or the key limits them."""


@dataclass(frozen=True)
class Answer(_Facts, Generic[T]):
    data: T
    match: Match | None
    """How the record was found. None for usage."""
    sources: list[Source]
    """Where the record comes from. Empty if that is not known."""
    price_date: str | None
    """The day of the record's price. None if there is no price, or if the day is not known."""
    last_modified: datetime | None
    """When the record last changed, if that is known."""


class BrandDataError(Exception):
    """A call that brought no data. It never holds the token.

    `code` is one of the service's codes, or one of the client's own: `network_failed` (no answer arrived) and
    `answer_unreadable` (the answer is not the service's, such as a proxy's page).
    """

    def __init__(self, code: ProblemCode | str, detail: str, response: httpx.Response | None = None, **more: Any) -> None:
        super().__init__(f"{code}: {detail}")
        headers = httpx.Headers() if response is None else response.headers
        facts = _facts(headers)
        self.code: ProblemCode | str = code
        self.detail: str = detail
        self.status: int | None = None if response is None else response.status_code
        self.suggestions: list[Suggestion] = more.get("suggestions") or []
        """Records that may be meant. Only `identifier_not_found` has them."""
        self.no_company: NoCompany | None = more.get("no_company")
        """What the identifier means, if that is a fund, a currency or the like."""
        self.retry_after: int | None = _seconds(headers.get("Retry-After"))
        """Seconds to wait before the next call."""
        self.request_id, self.charged = facts.request_id, facts.charged
        self.quota, self.rate = facts.quota, facts.rate


class BrandData:
    """Makes the calls of the public API. Every method raises BrandDataError if there is no data.

    Threads may share a client. It keeps no records: keep what you need again.
    """

    def __init__(
        self,
        api: str,
        token: str,
        *,
        timeout: float = 10,
        retries: int = 2,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        """
        :param api: the base URL of the service, such as "https://api.example.com"
        :param token: a publishable token, which begins with `pk_`
        :param timeout: how long the client waits to connect and for each part of an answer, in seconds
        :param retries: how often a call that was answered 503, or 429 for a short time, is made again
        :param transport: sends the requests, for example through a proxy: `httpx.HTTPTransport(proxy="http://…")`
        """
        self._http = httpx.Client(base_url=api, timeout=timeout, transport=_WithToken(token, transport or httpx.HTTPTransport()))
        self._retries = retries

    def __enter__(self) -> BrandData:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()

    def brand(self, identifier: str, *, kind: str | None = None) -> Answer[GroupedRecord]:
        """Returns the grouped record, without the fields that have no data. `data["type"]` tells the shapes apart.

        :param identifier: a ticker, a domain, a name, an ISIN, a CUSIP, a FIGI or an LEI
        :param kind: the only kind that the identifier may be, such as "ticker"
        """
        return self._get(f"/v1/brands/{_segment(identifier)}", kind=kind)

    def logo(self, identifier: str, *, kind: str | None = None) -> Answer[FlatRecord]:
        """Returns the flat record of a company, with its logo: fields without data are None."""
        return self._get(f"/api/logos/{_segment(identifier)}/info", kind=kind)

    def search(self, text: str, *, limit: int | None = None) -> Answer[SearchAnswer]:
        """Returns the companies that begin so, the best known first. This call is never counted."""
        return self._get("/v1/search", q=text, limit=None if limit is None else str(limit))

    def usage(self, month: str | None = None) -> Answer[Usage]:
        """Returns how many calls the account has used in a month (YYYY-MM in UTC). This call is never counted."""
        return self._get("/v1/usage", month=month)

    def _get(self, path: str, **query: str | None) -> Answer[Any]:
        response = self._send(path, {name: value for name, value in query.items() if value is not None})
        try:
            problem_or_data = response.json()
            if response.status_code == 200:
                headers = response.headers
                facts = vars(_facts(headers)) | _origin(headers)
                return Answer(**facts, data=problem_or_data, match=_match(headers))
            code, detail = problem_or_data["code"], problem_or_data["detail"]
        except (ValueError, KeyError, TypeError):
            detail = f"The answer {response.status_code} is not the service's."
            raise BrandDataError("answer_unreadable", detail, response) from None
        more = {name: problem_or_data.get(name) for name in ("suggestions", "no_company")}
        raise BrandDataError(code, detail, response, **more)

    def _send(self, path: str, query: dict[str, str]) -> httpx.Response:
        """Makes the call, and makes it again if it was answered 429 or 503."""
        for retry in range(self._retries + 1):
            try:
                response = self._http.get(path, params=query)
            except httpx.HTTPError as error:
                detail = f"No answer arrived from the service ({type(error).__name__})."
                raise BrandDataError("network_failed", detail) from None
            wait = _seconds(response.headers.get("Retry-After")) or 1
            if response.status_code not in (429, 503) or retry == self._retries or wait > _LONGEST_WAIT:
                break
            time.sleep(wait * (1 + _SPREAD * random.random()))
        return response


class _WithToken(httpx.BaseTransport):
    """Adds the token to each request. httpx logs the URLs that its clients have, and never sees this one."""

    def __init__(self, token: str, transport: httpx.BaseTransport) -> None:
        self._token = token
        self._transport = transport

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        url = request.url.copy_set_param("token", self._token)
        return self._transport.handle_request(
            httpx.Request(request.method, url, headers=request.headers, extensions=request.extensions)
        )

    def close(self) -> None:
        self._transport.close()


def _segment(identifier: str) -> str:
    """Returns the identifier as a segment of a path. "." and ".." mean folders, and a URL cannot hold half a character."""
    try:
        segment = quote(identifier, safe="")
    except UnicodeEncodeError:
        segment = ""
    if segment in ("", ".", ".."):
        raise BrandDataError("identifier_invalid", "The identifier cannot be written in a URL.")
    return segment


def _facts(headers: Mapping[str, str]) -> _Facts:
    charged = headers.get("X-Quota-Charged")
    return _Facts(
        request_id=headers.get("X-Request-Id"),
        charged=None if charged is None else charged == "1",
        quota=_limit(headers, "month"),
        rate=_limit(headers, "second"),
    )


def _limit(headers: Mapping[str, str], period: str) -> Limit | None:
    """A field of RateLimit-Policy is `"month";q=50000;w=2592000`, one of RateLimit `"month";r=49958;t=907200`."""
    policy = re.search(f'"{period}";q=([\\d.]+)', headers.get("RateLimit-Policy", ""))
    state = re.search(f'"{period}";r=(\\d+);t=(\\d+)', headers.get("RateLimit", ""))
    if policy is None or state is None:
        return None
    return Limit(allowance=float(policy[1]), remaining=int(state[1]), resets_in=int(state[2]))


def _match(headers: Mapping[str, str]) -> Match | None:
    """The header is a dictionary of RFC 9651. A value beyond ASCII is a Display String: `%"f%c3%bc"`."""
    form = r'kind=([\w-]+), value=(?:"((?:[^"\\]|\\.)*)"|%"([^"]*)"), strength=([\w-]+)'
    parts = re.match(form, headers.get("Brand-Match", ""))
    if parts is None:
        return None
    kind, ascii_value, displayed, strength = parts.groups()
    return Match(kind=kind, value=_text(ascii_value, displayed), strength=strength)


def _origin(headers: Mapping[str, str]) -> dict[str, Any]:
    """Brand-Data is `sources=("one";date="2026-11-22";oldest="2024" %"%c3%bc"), price_date="2026-08-21"`, a dictionary too."""
    data = headers.get("Brand-Data", "")
    priced = re.search(r'(?:^|, )price_date="([\d-]+)"$', data)
    form = r'(?:"((?:[^"\\]|\\.)*)"|%"([^"]*)")(?:;date="([\d-]+)")?(?:;oldest="([\d-]+)")?'
    items = re.finditer(form, data[: priced.start()] if priced else data)
    try:
        modified = parsedate_to_datetime(headers.get("Last-Modified", ""))
    except ValueError:
        modified = None
    return {
        "sources": [Source(_text(item[1], item[2]), item[3], item[4]) for item in items],
        "price_date": priced[1] if priced else None,
        "last_modified": modified,
    }


def _text(ascii_value: str | None, displayed: str) -> str:
    """Returns the text of a String or of a Display String."""
    return unquote(displayed) if ascii_value is None else re.sub(r"\\(.)", r"\1", ascii_value)


def _seconds(text: str | None) -> int | None:
    return int(text) if text is not None and re.fullmatch(r"\d+", text, re.ASCII) else None
