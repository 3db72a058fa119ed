"""URIs and URLs; what Java takes was seen with Java 17."""

from __future__ import annotations

import pytest

from gitops.replay.kernel.jackson.addresses import is_uri, is_url


@pytest.mark.parametrize(
    "text",
    [
        *("", "a", "..", "a//b", "/", "///", "//a", "?", "#", "#a[b]", "?a[b]", "a_b/c:d", "a-b:c"),
        *("http:/", "http:///", "a://?x", "a://#x", "a:[b]", "urn:isbn:1", "mailto:a@b"),
        *("http://a:x", "http://a:80:90", "http://u@v@a", "http://@a", "http://a_b", "//$,;:@&=+"),
        *("http://u:p@[::1]:80/a;b?c#d", "http://[fe80::1%eth0]", "http://[::1.2.3.4]:"),
        *("http://\u00e9/\u00fc%20\U0001f600\u200b", "jar:file:/x!/y"),
    ],
)
def test_uris(text: str) -> None:
    assert is_uri(text)


@pytest.mark.parametrize(
    "text",
    [
        *("a b", "http:", "http://", "//", "a#b#c", "a:", "a:#b", ":a", "1a:b", "a_b:c", "ht tp:a"),
        *("http://[::1", "http://[::1]x", "http://[1.2.3.4]", "http://[1:2:3:4:5:6:7]", "//a[]"),
        *("http://[fe80::1%]", "http://u[@a", "/a[b]", "/%", "/%zz", "/\u00a0", "/\u2003", "/\x80"),
        *("/\\", '/"', "/{", "/|", "/<", "?a b", "#a b", " a", "a\n", "\x01"),
    ],
)
def test_no_uris(text: str) -> None:
    assert not is_uri(text)


@pytest.mark.parametrize(
    "text",
    [
        *("http:", "HTTP://A", "https://a:2147483647/?x#y", "http://[::1]:", "http://u@v@a:x"),
        *("http://a/b c", "http://a?:x", "http:////a:x", "ftp://a;type=a", "file:/x", "mailto:a"),
        *("jar:file:/a!/b!/c", "jrt:/java.base", "http://:80", "http://a b"),
    ],
)
def test_urls(text: str) -> None:
    assert is_url(text)


@pytest.mark.parametrize(
    "text",
    [
        *("", "a", "//a", "urn:x", "s3://b/k", "ws://a", "C:\\x", "mailto:", "mailto: "),
        *("http://a:x", "http://a:2147483648", "http://a:-2", "http://[::1]x", "http://[x]"),
        *("jar:x", "jar:file:/x", "jar:file:/x#!/", "jar:http://a:x!/", "jar:jar:file:/x!/y!/z"),
    ],
)
def test_no_urls(text: str) -> None:
    assert not is_url(text)
