//! Unsigned test documents; tests change them with `replace`.

/// The issuer of all test documents.
pub(crate) const RNC: &str = "131880738";
pub(crate) const BUYER: &str = "101672919";

/// A type 31 of one line: 1,000.00 net, 180.00 ITBIS.
pub(crate) fn invoice(encf: &str) -> String {
    format!(
        "<ECF><Encabezado><Version>1.0</Version><IdDoc><TipoeCF>31</TipoeCF><eNCF>{encf}</eNCF>\
         <FechaVencimientoSecuencia>31-12-2028</FechaVencimientoSecuencia>\
         <IndicadorMontoGravado>0</IndicadorMontoGravado><TipoIngresos>01</TipoIngresos><TipoPago>1</TipoPago></IdDoc>\
         {EMISOR}<Comprador><RNCComprador>{BUYER}</RNCComprador>\
         <RazonSocialComprador>COMPRADORA FICTICIA SRL</RazonSocialComprador></Comprador>{TOTALES}</Encabezado>\
         {LINE}<FechaHoraFirma>15-01-2027 07:59:00</FechaHoraFirma></ECF>"
    )
}

/// A type 32 of 300,000.00, exempt, which is sent in full.
pub(crate) fn large_consumer_invoice(encf: &str) -> String {
    format!(
        "<ECF><Encabezado><Version>1.0</Version><IdDoc><TipoeCF>32</TipoeCF><eNCF>{encf}</eNCF>\
         <TipoIngresos>01</TipoIngresos><TipoPago>1</TipoPago></IdDoc>\
         {EMISOR}<Comprador><RNCComprador>{BUYER}</RNCComprador>\
         <RazonSocialComprador>COMPRADORA FICTICIA SRL</RazonSocialComprador></Comprador>\
         <Totales><MontoExento>300000.00</MontoExento><MontoTotal>300000.00</MontoTotal></Totales></Encabezado>\
         <DetallesItems><Item><NumeroLinea>1</NumeroLinea><IndicadorFacturacion>4</IndicadorFacturacion>\
         <NombreItem>Artículo</NombreItem><IndicadorBienoServicio>1</IndicadorBienoServicio>\
         <CantidadItem>1.00</CantidadItem><PrecioUnitarioItem>300000.0000</PrecioUnitarioItem>\
         <MontoItem>300000.00</MontoItem></Item></DetallesItems>\
         <FechaHoraFirma>15-01-2027 07:59:00</FechaHoraFirma></ECF>"
    )
}

/// A type 34 over the full amount of [`invoice`].
pub(crate) fn credit_note(encf: &str, modified: &str) -> String {
    format!(
        "<ECF><Encabezado><Version>1.0</Version><IdDoc><TipoeCF>34</TipoeCF><eNCF>{encf}</eNCF>\
         <IndicadorNotaCredito>0</IndicadorNotaCredito>\
         <IndicadorMontoGravado>0</IndicadorMontoGravado><TipoIngresos>01</TipoIngresos><TipoPago>1</TipoPago></IdDoc>\
         {EMISOR}<Comprador><RNCComprador>{BUYER}</RNCComprador>\
         <RazonSocialComprador>COMPRADORA FICTICIA SRL</RazonSocialComprador></Comprador>{TOTALES}</Encabezado>\
         {LINE}<InformacionReferencia><NCFModificado>{modified}</NCFModificado>\
         <FechaNCFModificado>15-01-2027</FechaNCFModificado><CodigoModificacion>1</CodigoModificacion>\
         </InformacionReferencia><FechaHoraFirma>15-01-2027 07:59:00</FechaHoraFirma></ECF>"
    )
}

/// A summary of 1,180.00.
pub(crate) fn summary(encf: &str) -> String {
    format!(
        "<RFCE><Encabezado><Version>1.0</Version><IdDoc><TipoeCF>32</TipoeCF><eNCF>{encf}</eNCF>\
         <TipoIngresos>01</TipoIngresos><TipoPago>1</TipoPago></IdDoc><Emisor><RNCEmisor>{RNC}</RNCEmisor>\
         <RazonSocialEmisor>EMISORA FICTICIA SRL</RazonSocialEmisor><FechaEmision>15-01-2027</FechaEmision></Emisor>\
         <Comprador><RazonSocialComprador>CONSUMIDOR FINAL</RazonSocialComprador></Comprador>\
         <Totales><MontoGravadoTotal>1000.00</MontoGravadoTotal><MontoGravadoI1>1000.00</MontoGravadoI1>\
         <TotalITBIS>180.00</TotalITBIS><TotalITBIS1>180.00</TotalITBIS1><MontoTotal>1180.00</MontoTotal></Totales>\
         <CodigoSeguridadeCF>a+B/c1</CodigoSeguridadeCF></Encabezado></RFCE>"
    )
}

/// The buyer's approval of [`invoice`].
pub(crate) fn approval(encf: &str) -> String {
    format!(
        "<ACECF><DetalleAprobacionComercial><Version>1.0</Version><RNCEmisor>{RNC}</RNCEmisor><eNCF>{encf}</eNCF>\
         <FechaEmision>15-01-2027</FechaEmision><MontoTotal>1180.00</MontoTotal><RNCComprador>{BUYER}</RNCComprador>\
         <Estado>1</Estado><FechaHoraAprobacionComercial>15-01-2027 08:10:00</FechaHoraAprobacionComercial>\
         </DetalleAprobacionComercial></ACECF>"
    )
}

/// An annulment of one range.
pub(crate) fn annulment(tipo: &str, from: &str, to: &str, count: u32) -> String {
    format!(
        "<ANECF><Encabezado><Version>1.0</Version><RncEmisor>{RNC}</RncEmisor>\
         <CantidadeNCFAnulados>{count}</CantidadeNCFAnulados>\
         <FechaHoraAnulacioneNCF>15-01-2027 08:10:00</FechaHoraAnulacioneNCF></Encabezado><DetalleAnulacion><Anulacion>\
         <NoLinea>1</NoLinea><TipoeCF>{tipo}</TipoeCF><TablaRangoSecuenciasAnuladaseNCF><Secuencias>\
         <SecuenciaeNCFDesde>{from}</SecuenciaeNCFDesde><SecuenciaeNCFHasta>{to}</SecuenciaeNCFHasta></Secuencias>\
         </TablaRangoSecuenciasAnuladaseNCF><CantidadeNCFAnulados>{count}</CantidadeNCFAnulados>\
         </Anulacion></DetalleAnulacion></ANECF>"
    )
}

const EMISOR: &str = "<Emisor><RNCEmisor>131880738</RNCEmisor>\
     <RazonSocialEmisor>EMISORA FICTICIA SRL</RazonSocialEmisor><DireccionEmisor>CALLE PRIMERA 1</DireccionEmisor>\
     <FechaEmision>15-01-2027</FechaEmision></Emisor>";
const TOTALES: &str = "<Totales><MontoGravadoTotal>1000.00</MontoGravadoTotal><MontoGravadoI1>1000.00</MontoGravadoI1>\
     <ITBIS1>18</ITBIS1><TotalITBIS>180.00</TotalITBIS><TotalITBIS1>180.00</TotalITBIS1>\
     <MontoTotal>1180.00</MontoTotal></Totales>";
const LINE: &str = "<DetallesItems><Item><NumeroLinea>1</NumeroLinea><IndicadorFacturacion>1</IndicadorFacturacion>\
     <NombreItem>Servicio de ejemplo</NombreItem><IndicadorBienoServicio>2</IndicadorBienoServicio>\
     <CantidadItem>1.00</CantidadItem><PrecioUnitarioItem>1000.0000</PrecioUnitarioItem>\
     <MontoItem>1000.00</MontoItem></Item></DetallesItems>";
