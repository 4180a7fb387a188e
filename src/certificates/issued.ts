import { createPrivateKey, X509Certificate } from 'node:crypto'

/**
 * Returns why a chain is not the ordered certificate, or `undefined` when it is. An unusable certificate must not
 * replace the current one of a site.
 * @param key the private key of the order in PEM
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
