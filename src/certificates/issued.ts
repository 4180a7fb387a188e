import { createPrivateKey, X509Certificate } from 'node:crypto'

/**
 * Returns why a chain is not the certificate that was ordered, or `undefined` when it is. A certificate that sites cannot use must not replace the one
 * that they have.
 * @param key PEM of the private key that the order was for
 * @param now milliseconds UTC
 */
export function faultOfIssued(
  chain: string,
  { hostName, key, now }: { readonly hostName: string; readonly key: string; readonly now: number },
): string | undefined {
  let leaf: X509Certificate
  try {
    leaf = new X509Certificate(chain)
  } catch {
    return 'it cannot be read'
  }
  if (!leaf.subjectAltName?.split(', ').includes(`DNS:${hostName}`)) return 'it is for other names'
  if (!leaf.checkPrivateKey(createPrivateKey(key))) return 'it is for another key'
  return Date.parse(leaf.validTo) > now ? undefined : 'it has ended'
}
