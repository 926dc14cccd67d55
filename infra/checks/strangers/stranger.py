"""What a stranger can create alone: keys, certificates, P12 files and signed documents."""

import base64
import hashlib
from datetime import datetime, timedelta, timezone
from functools import cache

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, PrivateFormat, pkcs12
from cryptography.x509.oid import NameOID

DSIG = "http://www.w3.org/2000/09/xmldsig#"
LOCAL_TIME = timezone(timedelta(hours=-4))


def now():
    return datetime.now(LOCAL_TIME)


@cache
def private_key():
    """One key for all certificates: only the certificates differ."""
    return rsa.generate_private_key(65537, 2048)


class Signer:
    """A private key with a certificate."""

    def __init__(self, key, certificate):
        self.key, self.certificate = key, certificate
        self.der = certificate.public_bytes(Encoding.DER)

    @classmethod
    def of_p12(cls, p12, pin):
        key, certificate, _ = pkcs12.load_key_and_certificates(p12, pin.encode())
        return cls(key, certificate)

    def p12(self, pin, rounds=2048):
        encryption = PrivateFormat.PKCS12.encryption_builder().kdf_rounds(rounds).key_cert_algorithm(
            pkcs12.PBES.PBESv2SHA256AndAES256CBC).hmac_hash(hashes.SHA256()).build(pin.encode())
        if rounds == 2048:
            encryption = BestAvailableEncryption(pin.encode())
        return pkcs12.serialize_key_and_certificates(b"prueba", self.key, self.certificate, None, encryption)

    def sign(self, xml):
        """Adds an enveloped signature to `xml`, which must be in canonical form."""
        digest = base64.b64encode(hashlib.sha256(xml.encode()).digest()).decode()
        info = (f'<SignedInfo xmlns="{DSIG}"><CanonicalizationMethod Algorithm="http://www.w3.org/TR/2001/REC-xml-c14n-20010315">'
                '</CanonicalizationMethod><SignatureMethod Algorithm="http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"></SignatureMethod>'
                f'<Reference URI=""><Transforms><Transform Algorithm="{DSIG}enveloped-signature"></Transform></Transforms>'
                '<DigestMethod Algorithm="http://www.w3.org/2001/04/xmlenc#sha256"></DigestMethod>'
                f"<DigestValue>{digest}</DigestValue></Reference></SignedInfo>")
        value = base64.b64encode(self.key.sign(info.encode(), padding.PKCS1v15(), hashes.SHA256())).decode()
        signature = (f'<Signature xmlns="{DSIG}">' + info.replace(f' xmlns="{DSIG}"', "", 1) + f"<SignatureValue>{value}</SignatureValue>"
                     f"<KeyInfo><X509Data><X509Certificate>{base64.b64encode(self.der).decode()}</X509Certificate></X509Data></KeyInfo></Signature>")
        end = xml.rindex("</")
        return (xml[:end] + signature + xml[end:]).encode()


def self_signed(serial, name="PERSONA CUALQUIERA", since=-1, until=365, subject_bytes=0, extension_bytes=0):
    """A certificate of the stranger with any `serialNumber`, valid between two days relative to today. `subject_bytes`
    and `extension_bytes` enlarge it."""
    attributes = [x509.NameAttribute(NameOID.COMMON_NAME, name), x509.NameAttribute(NameOID.SERIAL_NUMBER, serial)]
    while subject_bytes > 0:
        part = min(subject_bytes, 32_000)
        attributes.append(x509.NameAttribute(NameOID.ORGANIZATIONAL_UNIT_NAME, "X" * part, _validate=False))
        subject_bytes -= part
    subject, today = x509.Name(attributes), datetime.now(timezone.utc)
    builder = (x509.CertificateBuilder().subject_name(subject).issuer_name(subject).public_key(private_key().public_key())
               .serial_number(x509.random_serial_number())
               .not_valid_before(today + timedelta(days=since)).not_valid_after(today + timedelta(days=until)))
    if extension_bytes:
        oid = x509.ObjectIdentifier("1.3.6.1.4.1.55555.1")
        builder = builder.add_extension(x509.UnrecognizedExtension(oid, b"\x04" + bytes(extension_bytes)), critical=False)
    return Signer(private_key(), builder.sign(private_key(), hashes.SHA256()))


def receipt(issuer, buyer, encf, at=None, name="Suplidora del Este SRL", total="1000.00", description="Yuca", items=1):
    """An unsigned receipt of type 31 as another issuer writes it."""
    at = at or now()
    item = ("<IndicadorFacturacion>4</IndicadorFacturacion>"
            f"<NombreItem>{description}</NombreItem><IndicadorBienoServicio>1</IndicadorBienoServicio><CantidadItem>1.00</CantidadItem>"
            f"<PrecioUnitarioItem>{total}00</PrecioUnitarioItem><MontoItem>{total}</MontoItem></Item>")
    lines = "".join(f"<Item><NumeroLinea>{line}</NumeroLinea>{item}" for line in range(1, items + 1))
    return ("<ECF><Encabezado><Version>1.0</Version><IdDoc><TipoeCF>31</TipoeCF>"
            f"<eNCF>{encf}</eNCF><FechaVencimientoSecuencia>31-12-2028</FechaVencimientoSecuencia><TipoIngresos>01</TipoIngresos><TipoPago>1</TipoPago>"
            f"</IdDoc><Emisor><RNCEmisor>{issuer}</RNCEmisor><RazonSocialEmisor>{name}</RazonSocialEmisor><DireccionEmisor>Calle Primera 1"
            f"</DireccionEmisor><FechaEmision>{at:%d-%m-%Y}</FechaEmision></Emisor><Comprador><RNCComprador>{buyer}</RNCComprador><RazonSocialComprador>"
            f"Cliente SRL</RazonSocialComprador></Comprador><Totales><MontoExento>{total}</MontoExento><MontoTotal>{total}</MontoTotal></Totales>"
            f"</Encabezado><DetallesItems>{lines}</DetallesItems><FechaHoraFirma>{at:%d-%m-%Y %H:%M:%S}</FechaHoraFirma></ECF>")


def approval(issuer, buyer, encf, estado="2", date=None, total="1180.00", at=None, reason="No lo pedimos"):
    """An unsigned approval or rejection by a buyer (ACECF); `estado` 1 approves, 2 rejects."""
    at = at or now()
    why = f"<DetalleMotivoRechazo>{reason}</DetalleMotivoRechazo>" if estado == "2" else ""
    return ("<ACECF><DetalleAprobacionComercial><Version>1.0</Version>"
            f"<RNCEmisor>{issuer}</RNCEmisor><eNCF>{encf}</eNCF><FechaEmision>{date or f'{now():%d-%m-%Y}'}</FechaEmision><MontoTotal>{total}</MontoTotal>"
            f"<RNCComprador>{buyer}</RNCComprador><Estado>{estado}</Estado>{why}<FechaHoraAprobacionComercial>{at:%d-%m-%Y %H:%M:%S}"
            "</FechaHoraAprobacionComercial></DetalleAprobacionComercial></ACECF>")
