"""Text in another encoding than UTF-8, by the labels of the Encoding Standard, and `latin-1`.

Nothing is replaced on the way: bytes that stand for no character end the reading.
"""

from __future__ import annotations

import codecs
import io
from typing import IO, Any

#: The standard's names, with Python's of the codecs that do the same.
_NAMES = {
    "UTF-8": "utf-8",
    "UTF-16LE": "utf-16-le",
    "UTF-16BE": "utf-16-be",
    "IBM866": "cp866",
    "ISO-8859-2": "iso8859-2",
    "ISO-8859-3": "iso8859-3",
    "ISO-8859-4": "iso8859-4",
    "ISO-8859-5": "iso8859-5",
    "ISO-8859-6": "iso8859-6",
    "ISO-8859-7": "iso8859-7",
    "ISO-8859-8": "iso8859-8",
    "ISO-8859-10": "iso8859-10",
    "ISO-8859-13": "iso8859-13",
    "ISO-8859-14": "iso8859-14",
    "ISO-8859-15": "iso8859-15",
    "ISO-8859-16": "iso8859-16",
    "KOI8-R": "koi8-r",
    "KOI8-U": "koi8-u",
    "macintosh": "mac-roman",
    "windows-874": "cp874",
    "windows-1250": "cp1250",
    "windows-1251": "cp1251",
    "windows-1252": "cp1252",
    "windows-1253": "cp1253",
    "windows-1254": "cp1254",
    "windows-1255": "cp1255",
    "windows-1256": "cp1256",
    "windows-1257": "cp1257",
    "windows-1258": "cp1258",
    "GBK": "gb18030",
    "gb18030": "gb18030",
    "Big5": "big5hkscs",
    "EUC-JP": "euc_jp",
    "ISO-2022-JP": "iso2022_jp",
    "Shift_JIS": "cp932",
    "EUC-KR": "cp949",
}
#: What the standard means by the names of codecs that are others in Python.
_INSTEAD = {
    "iso8859-1": "windows-1252",
    "ascii": "windows-1252",
    "iso8859-9": "windows-1254",
    "iso8859-11": "windows-874",
    "tis-620": "windows-874",
    "utf-16": "UTF-16LE",
    "utf-8-sig": "UTF-8",
    "gb2312": "GBK",
    "gbk": "GBK",
    "big5": "Big5",
    "shift_jis": "Shift_JIS",
    "euc_kr": "EUC-KR",
}
#: What text may begin with, and says about its encoding.
_MARKS = ((b"\xef\xbb\xbf", "UTF-8"), (b"\xff\xfe", "UTF-16LE"), (b"\xfe\xff", "UTF-16BE"))
_CHUNK = 1 << 16


def encoding_of(label: str) -> str:
    """The name of an encoding in the standard."""
    found = label.strip().lower().replace("_", "-")
    found = {"iso-latin-1": "latin-1", "sjis": "shift-jis", "windows-31j": "shift-jis"}.get(found, found)
    try:
        codec = codecs.lookup(found).name
    except LookupError:
        codec = ""
    by_codec = {codecs.lookup(codec).name: name for name, codec in _NAMES.items()}
    name = _INSTEAD.get(codec) or by_codec.get(codec)
    if name is None:
        raise ValueError(
            f"`{label}` is not known: such are latin-1, windows-1252, iso-8859-15, utf-16, shift_jis, gbk"
        )
    return name


def decoded(source: IO[bytes], label: str) -> IO[bytes]:
    """The same text in UTF-8."""
    return io.BufferedReader(_Decoded(source, encoding_of(label)), _CHUNK)


def advice(text: bytes) -> str:
    """What to do about text that is not UTF-8, by its first bytes."""
    if text.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in text[:64]:
        return 'it looks like UTF-16: encoding="utf-16" reads it'
    return 'it may be Latin-1, as many spreadsheets write it: encoding="latin-1" reads it'


class _Decoded(io.RawIOBase):
    def __init__(self, source: IO[bytes], name: str) -> None:
        self._source = source
        self._name = name
        self._decoder: codecs.IncrementalDecoder | None = None
        self._ready = b""
        self._ended = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready and not self._ended:
            self._decode()
        size = min(len(buffer), len(self._ready))
        buffer[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size

    def _decode(self) -> None:
        data = self._source.read(_CHUNK)
        self._ended = not data
        if self._decoder is None:
            while len(data) < 3 and (more := self._source.read(3 - len(data))):
                data += more
            for mark, name in _MARKS:
                if data.startswith(mark):
                    self._name, data = name, data[len(mark) :]
                    break
            errors = _C1 if self._name.startswith("windows-") else "strict"
            self._decoder = codecs.getincrementaldecoder(_NAMES[self._name])(errors)
        try:
            self._ready = self._decoder.decode(data, final=self._ended).encode()
        except UnicodeError:
            # As what is damaged otherwise.
            raise OSError(f"this is not {self._name}") from None

    def close(self) -> None:
        self._source.close()
        super().close()


def _controls(problem: UnicodeError) -> tuple[str, int]:
    """Bytes that the code pages of Windows leave open are control characters in the standard."""
    assert isinstance(problem, UnicodeDecodeError)
    byte = problem.object[problem.start]
    if byte not in range(0x80, 0xA0):
        raise problem
    return chr(byte), problem.start + 1


_C1 = "stratalog.c1"
codecs.register_error(_C1, _controls)
