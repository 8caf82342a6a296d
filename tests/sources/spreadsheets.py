"""The smallest workbooks of Excel and OpenDocument, written by hand for tests."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence

DATE, MOMENT, CLOCK = 1, 2, 3  # Styles of cells, beside the number that they show: (45000, DATE).
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"


def xlsx(sheets: Mapping[str, Sequence[Sequence[object]]]) -> bytes:
    """A workbook with these rows in each sheet."""
    listed = "".join(f'<sheet name="{name}" sheetId="{i + 1}" r:id="s{i}"/>' for i, name in enumerate(sheets))
    related = "".join(
        f'<Relationship Id="s{i}" Type="{_OFFICE}/worksheet" Target="worksheets/s{i}.xml"/>' for i in range(len(sheets))
    )
    styles = "".join(f'<xf numFmtId="{number}"/>' for number in (0, 14, 22, 20))
    files = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types"/>',
        "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
        f'<Relationship Id="r" Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>{listed}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">{related}<Relationship Id="st" '
        f'Type="{_OFFICE}/styles" Target="styles.xml"/></Relationships>',
        "xl/styles.xml": f'<styleSheet xmlns="{_MAIN}"><cellXfs count="4">{styles}</cellXfs></styleSheet>',
    }
    for place, rows in enumerate(sheets.values()):
        cells = "".join(f'<row r="{r}">{_row(row, r)}</row>' for r, row in enumerate(rows, 1))
        files[f"xl/worksheets/s{place}.xml"] = f'<worksheet xmlns="{_MAIN}"><sheetData>{cells}</sheetData></worksheet>'
    return packed({name: f'<?xml version="1.0"?>{text}' for name, text in files.items()})


def ods(rows: Sequence[Sequence[str]]) -> bytes:
    """A sheet of texts."""
    space = "urn:oasis:names:tc:opendocument:xmlns:"
    cell = '<table:table-cell office:value-type="string">'
    cells = "".join(
        "<table:table-row>"
        + "".join(f"{cell}<text:p>{text}</text:p></table:table-cell>" for text in row)
        + "</table:table-row>"
        for row in rows
    )
    content = (
        f'<office:document-content xmlns:office="{space}office:1.0" xmlns:table="{space}table:1.0" '
        f'xmlns:text="{space}text:1.0"><office:body><office:spreadsheet><table:table table:name="A">'
        f"{cells}</table:table></office:spreadsheet></office:body></office:document-content>"
    )
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    return packed({"mimetype": kind, "content.xml": f'<?xml version="1.0"?>{content}', "META-INF/manifest.xml": "<a/>"})


def packed(files: Mapping[str, str | bytes]) -> bytes:
    """A ZIP archive."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content, zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED)
    return out.getvalue()


def _row(row: Sequence[object], number: int) -> str:
    return "".join(_cell(f"{chr(65 + place)}{number}", value) for place, value in enumerate(row))


def _cell(where: str, value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return f'<c r="{where}" t="b"><v>{int(value)}</v></c>'
    if isinstance(value, tuple):
        return f'<c r="{where}" s="{value[1]}"><v>{value[0]}</v></c>'
    if isinstance(value, int | float):
        return f'<c r="{where}"><v>{value}</v></c>'
    return f'<c r="{where}" t="inlineStr"><is><t>{value}</t></is></c>'
