"""Redirects of web servers: followed on the same host, refused to another unless they were asked for.

An address was chosen by the user; where its server points was not. It may be a machine that only this one can reach,
and headers with credentials would travel there. ``storage_options={"allow_redirects": True}`` asks for all redirects,
False for none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from hiddenbits.addresses import safe_url
from hiddenbits.data.table import TableError

WEB = ("http", "https")
OPTION = "allow_redirects"


def with_guard(url: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return storage options under which the web links of an address follow no redirect to another host."""
    links = [re.split("://", link)[0].lower() for link in url.split("::")]
    guarded = dict(options)
    for number, protocol in enumerate(links):
        if protocol not in WEB:
            continue
        mine = dict(guarded.get(protocol, {}))  # of a link in a chain; the options of the first may also stand alone
        given = {*mine, *(guarded if number == 0 else ())}
        if not given & {OPTION, "get_client"}:
            guarded[protocol] = mine | {"get_client": guarded_client}
    return guarded


async def guarded_client(**options: Any) -> Any:
    """Return a session of aiohttp in which a redirect to another host is an error."""
    import aiohttp

    watch = aiohttp.TraceConfig()
    watch.on_request_redirect.append(_refuse_other_host)
    return aiohttp.ClientSession(**{**options, "trace_configs": [*options.get("trace_configs", ()), watch]})


async def _refuse_other_host(_session: Any, _context: Any, asked: Any) -> None:
    """Raise an error if the server points to another host or port, or from https to http."""
    from yarl import URL

    headers = asked.response.headers
    old, new = asked.url, asked.url.join(URL(headers.get("Location", headers.get("URI", ""))))
    upgraded = (old.scheme, new.scheme, old.port, new.port) == ("http", "https", 80, 443)
    if new.host == old.host and ((new.scheme, new.port) == (old.scheme, old.port) or upgraded):
        return
    raise TableError(
        f"{safe_url(str(old))}: the server redirects to another server, {safe_url(str(new))}. If you trust it, use "
        f"that address instead, or allow redirects with storage_options={{'{OPTION}': True}}."
    )
