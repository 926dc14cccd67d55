"""Signs every document with xmlsec1 and with signxml, in each form that our profile accepts. Usage: sign.py FOLDER"""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from cryptography.hazmat.primitives.serialization import load_pem_private_key
from lxml import etree
from signxml import CanonicalizationMethod, DigestAlgorithm, SignatureMethod, XMLSigner

INCLUSIVE = "http://www.w3.org/TR/2001/REC-xml-c14n-20010315"
EXCLUSIVE = "http://www.w3.org/2001/10/xml-exc-c14n#"
DSIG = "http://www.w3.org/2000/09/xmldsig#"


def template(prefix: str, method: str, transform: str | None) -> str:
    """An empty signature for xmlsec1 to fill in."""
    declaration = f' xmlns{":" + prefix[:-1] if prefix else ""}="{DSIG}"'
    extra = f'<P:Transform Algorithm="{transform}"/>' if transform else ""
    return (
        f"<P:Signature{declaration}><P:SignedInfo>"
        f'<P:CanonicalizationMethod Algorithm="{method}"/><P:SignatureMethod Algorithm="http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"/>'
        f'<P:Reference URI=""><P:Transforms><P:Transform Algorithm="{DSIG}enveloped-signature"/>{extra}</P:Transforms>'
        '<P:DigestMethod Algorithm="http://www.w3.org/2001/04/xmlenc#sha256"/><P:DigestValue/></P:Reference></P:SignedInfo>'
        "<P:SignatureValue/><P:KeyInfo><P:X509Data><P:X509Certificate/></P:X509Data></P:KeyInfo></P:Signature>"
    ).replace("P:", prefix)


def xmlsec1(folder: Path, document: Path) -> None:
    text = document.read_bytes()
    at = text.rindex(b"</")
    forms = [("", INCLUSIVE, None), ("ds:", INCLUSIVE, INCLUSIVE), ("", EXCLUSIVE, EXCLUSIVE), ("ds:", EXCLUSIVE, None)]
    for number, form in enumerate(forms):
        unsigned = folder / "xmlsec1" / f"{document.stem}.{number}.template"
        unsigned.write_bytes(text[:at] + template(*form).encode() + text[at:])
        signed = unsigned.with_suffix(".xml")
        keys = f"{folder}/key.pem,{folder}/cert.pem"
        subprocess.run(["xmlsec1", "--sign", "--privkey-pem", keys, "--output", signed, unsigned], check=True, capture_output=True)


def signxml(folder: Path, document: Path) -> None:
    key = load_pem_private_key((folder / "key.pem").read_bytes(), None)
    certificate = (folder / "cert.pem").read_text()
    forms = [
        ("ds", CanonicalizationMethod.CANONICAL_XML_1_0),
        (None, CanonicalizationMethod.CANONICAL_XML_1_0),
        ("ds", CanonicalizationMethod.EXCLUSIVE_XML_CANONICALIZATION_1_0),
        (None, CanonicalizationMethod.EXCLUSIVE_XML_CANONICALIZATION_1_0),
    ]
    for number, (prefix, method) in enumerate(forms):
        signer = XMLSigner(signature_algorithm=SignatureMethod.RSA_SHA256, digest_algorithm=DigestAlgorithm.SHA256, c14n_algorithm=method)
        signer.namespaces = {prefix: DSIG}
        root = etree.fromstring(document.read_bytes(), etree.XMLParser(huge_tree=True))
        signed = signer.sign(root, key=key, cert=certificate)
        (folder / "signxml" / f"{document.stem}.{number}.xml").write_bytes(etree.tostring(signed, encoding="utf-8", xml_declaration=True))


def main(folder: Path) -> None:
    documents = sorted((folder / "documents").glob("*.xml"))
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda document: xmlsec1(folder, document), documents))
    for document in documents:
        signxml(folder, document)


main(Path(sys.argv[1]))
