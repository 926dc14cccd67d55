"""Writes documents, in the form of a receipt, whose canonical form is easy to get wrong. Usage: documents.py FOLDER"""

import sys
from pathlib import Path

BODY = (
    "<Encabezado><Version>1.0</Version><IdDoc><TipoeCF>31</TipoeCF><eNCF>E310000000001</eNCF></IdDoc></Encabezado>"
    "<DetallesItems><Item><NumeroLinea>1</NumeroLinea><NombreItem>{}</NombreItem></Item></DetallesItems>"
)
TEXTS = {
    "plain": "Servicio",
    "accents": "Señalización ¿CAFÉ? ñandú",
    "beyond-bmp": "caf\u00e9 \U0001f600 \u65e5\u672c",
    "decomposed": "Mun\u0303oz",
    "entities": "&lt;&amp;&gt;&quot;&apos;",
    "numeric-references": "&#241;and&#xFA; &#34;&#x27;",
    "raw-gt-and-quotes": "a > b \" c '",
    "cdata": "<![CDATA[a & b <c> ]] > d]]>",
    "carriage-return-reference": "a&#13;&#10;b&#xD;",
    "line-ends": "a\r\nb\rc\nd",
    "tabs": "a&#9;b\tc",
    "blanks": "  a  b  ",
    "only-blanks-reference": "&#32;&#32;",
    "no-break-space": "a\u00a0b\u2028c",
    "comment": "a<!-- c -->b",
    "instruction": "a<?x  y ?>b",
}
ROOTS = {
    "bare": "<ECF>{}</ECF>",
    "declared": '<ECF xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xsd="http://www.w3.org/2001/XMLSchema">{}</ECF>',
    "used": '<ECF xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:noNamespaceSchemaLocation="e.xsd" b="2" a=\'1"\'>{}</ECF>',
    "prefixed": '<e:ECF xmlns:e="urn:e" xmlns:u="urn:u"><u:x xmlns:u="urn:v" u:b="1" e:b="2" b="3"/>{}</e:ECF>',
    "indented": "<ECF>\n  {}\n</ECF>\n",
    "empty-elements": "<ECF><a/><b ></b >{}<c\n/></ECF>",
    "inherited-xml": '<ECF xml:lang="es" xml:space="preserve">{}</ECF>',
}


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    head = '<?xml version="1.0" encoding="utf-8"?>'
    for name, text in TEXTS.items():
        (folder / f"text-{name}.xml").write_bytes((head + ROOTS["declared"].format(BODY.format(text))).encode())
    for name, root in ROOTS.items():
        (folder / f"root-{name}.xml").write_bytes((head + root.format(BODY.format("ñ"))).encode())
    lines = (f"<Item><NumeroLinea>{line}</NumeroLinea><NombreItem>Línea &amp; {line}</NombreItem></Item>" for line in range(1, 1001))
    (folder / "large.xml").write_bytes(f"{head}<ECF><DetallesItems>{''.join(lines)}</DetallesItems></ECF>".encode())


main(Path(sys.argv[1]))
