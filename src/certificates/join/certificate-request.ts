import { createPublicKey, type KeyObject, sign } from 'node:crypto'
import { bits, der, derInteger, oid, sequence } from '../der.ts'
import { nameOf, pem } from '../sign-certificate.ts'

/** Thrown for a certificate request that is unusable. */
export class BadCertificateRequest extends Error {
  override readonly name = 'BadCertificateRequest'
}

/**
 * Returns a certificate request (RFC 2986) in PEM. It proves that its sender has the private key. It has no name,
 * because the authority decides that.
 */
export function makeCertificateRequest(publicKey: KeyObject, privateKey: KeyObject): string {
  const spki = publicKey.export({ format: 'der', type: 'spki' })
  const content = sequence(derInteger(0), nameOf(), spki, der(0xa0))
  const signature = bits(sign('sha256', content, privateKey))
  return pem('CERTIFICATE REQUEST', sequence(content, sequence(oid('1.2.840.10045.4.3.2')), signature))
}

/**
 * Returns the public key of a request.
 * @throws BadCertificateRequest when it cannot be read, its signature is wrong, or its key is of another kind than P-256
 */
export async function keyOfRequest(text: string): Promise<KeyObject> {
  let key: KeyObject
  let isSigned: boolean
  try {
    const { Pkcs10CertificateRequest } = await import('@peculiar/x509')
    const request = new Pkcs10CertificateRequest(text)
    key = createPublicKey({ key: Buffer.from(request.publicKey.rawData), format: 'der', type: 'spki' })
    isSigned = await request.verify()
  } catch (error) {
    throw new BadCertificateRequest('The certificate request cannot be read.', { cause: error })
  }
  if (!isSigned) throw new BadCertificateRequest('The signature of the certificate request is wrong.')
  if (key.asymmetricKeyDetails?.namedCurve !== 'prime256v1')
    throw new BadCertificateRequest('The key of the certificate request is not on the curve P-256.')
  return key
}
