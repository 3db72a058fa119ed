"""URIs and URLs; what Java takes was seen with Java 17."""

from __future__ import annotations

import pytest

from gitops.replay.kernel.json.scalars import is_uri, is_url


@pytest.mark.parametrize(
    "text",
    [
        *("", "a", "..", "a//b", "/", "///", "//a", "?", "#", "#a[b]", "?a[b]", "a_b/c:d", "a-b:c"),
        *("http:/", "http:///", "a://?x", "a://#x", "a:[b]", "urn:isbn:1", "mailto:a@b"),
        *("http://a:x", "http://a:80:90", "http://u@v@a", "http://@a", "http://a_b", "//$,;:@&=+"),
        *("http://u:p@[::1]:80/a;b?c#d", "http://[fe80::1%eth0]", "http://[::1.2.3.4]:"),
        *("http://[::001.00.03.0004]", "http://[::0001]"),
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
        *("http://[::00001]", "http://[::00001:1.2.3.4]", "http://[::1.2.3.0256]"),
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
        *("http://[fe80::1%e-h0]/", "http://[::1%a:b@c[%]:80", "http://a/\x7f", "http://\x7f@a"),
        *(
            "http://u@v@a\x7f",
            "http://a\xa0\u2007",
            "http://a:-1",
            "http://a:+\u0661",
            "mailto:\xa0",
        ),
        *(
            "http://[::00001:01.2.3.4]",
            " \0url:http://a\n",
            "jar: http://a\t!/",
            f"http://a:{'0' * 5000}1",
        ),
    ],
)
def test_urls(text: str) -> None:
    assert is_url(text)


@pytest.mark.parametrize(
    "text",
    [
        *("", "a", "//a", "urn:x", "s3://b/k", "ws://a", "C:\\x", "mailto:", "mailto: "),
        *("http://a:x", "http://a:2147483648", "http://a:-2", "http://[::1]x", "http://[x]"),
        *("http://a\x7f", "http://\ta:1", "file://\t/c:/x", "https://u@h\x7f:80/p", "ftp://a\nb/"),
        *(
            "http://a\u2100",
            "http://\uff0fa",
            "http://[::1%\t]",
            "http://[::1%]",
            "http://[::1%a]b]",
        ),
        *("http://a:+", "http://a:\U0001d7d8", f"http://a:{'1' * 5000}", "mailto:\u2000 \u3000"),
        *(" jar:file:/x!/", "url:jar:file:/x!/", "jar: jar:file:/x!/!/", "http://[::00012345]"),
        *("jar:x", "jar:file:/x", "jar:file:/x#!/", "jar:http://a:x!/", "jar:jar:file:/x!/y!/z"),
    ],
)
def test_no_urls(text: str) -> None:
    assert not is_url(text)
