// Signs every document that has the root ECF with dgii-ecf. Usage: node sign.js FOLDER
const fs = require('fs');
const path = require('path');
const { Signature } = require('dgii-ecf');

const folder = process.argv[2];
const signer = new Signature(fs.readFileSync(path.join(folder, 'key.pem'), 'utf8'), fs.readFileSync(path.join(folder, 'cert.pem'), 'utf8'));
for (const name of fs.readdirSync(path.join(folder, 'documents'))) {
  const xml = fs.readFileSync(path.join(folder, 'documents', name), 'utf8');
  if (!xml.includes('<ECF')) continue;
  fs.writeFileSync(path.join(folder, 'dgii-ecf', name), signer.signXml(xml, 'ECF'));
}
