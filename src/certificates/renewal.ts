import { X509Certificate } from 'node:crypto'
import { AuthorityKeyIdentifierExtension, X509Certificate as Parsed } from '@peculiar/x509'
import * as acme from 'acme-client'

/** Returns when a certificate was issued, and when it expires. */
export function lifeOf(chain: string): { readonly from: number; readonly until: number } {
  const { validFrom, validTo } = new X509Certificate(chain)
  return { from: Date.parse(validFrom), until: Date.parse(validTo) }
}

/**
 * Returns when to replace a certificate: with a third of its lifetime left, which is enough time if the authority is
 * unreachable.
 */
export const usualRenewal = ({ from, until }: { readonly from: number; readonly until: number }): number =>
  until - (until - from) / 3

/**
 * Returns the id by which an authority knows a certificate (RFC 9773 §4.1).
 * @returns undefined when it does not name its issuer
 */
export function idOfCertificate(chain: string): string | undefined {
  const issuer = new Parsed(chain).getExtension(AuthorityKeyIdentifierExtension)?.keyId
  if (!issuer) return undefined
  const serial = new X509Certificate(chain).serialNumber
  // The bytes of a positive number in DER.
  const even = serial.length % 2 === 0 ? serial : `0${serial}`
  const bytes = Buffer.from(Number.parseInt(even.slice(0, 2), 16) >= 0x80 ? `00${even}` : even, 'hex')
  return `${Buffer.from(issuer, 'hex').toString('base64url')}.${bytes.toString('base64url')}`
}

interface RenewalInfo {
  readonly suggestedWindow?: { readonly start?: string; readonly end?: string }
}

/**
 * Returns when the authority suggests to replace a certificate: a moment in the window that it names (RFC 9773 §4.2).
 * @param directory the authority's directory
 * @param random 0 to 1
 * @returns undefined when the authority makes no usable suggestion
 */
export async function suggestedRenewal(directory: string, chain: string, random: number): Promise<number | undefined> {
  const { data: of } = await acme.axios.get<{ renewalInfo?: string }>(directory)
  const id = idOfCertificate(chain)
  if (!of?.renewalInfo || id === undefined) return undefined
  const { status, data } = await acme.axios.get<RenewalInfo>(`${of.renewalInfo}/${id}`)
  if (status !== 200) return undefined
  return withinWindow(data, random)
}

/** Returns a moment in the window, unless the window ends before it begins. */
export function withinWindow({ suggestedWindow }: RenewalInfo, random: number): number | undefined {
  const start = Date.parse(suggestedWindow?.start ?? '')
  const end = Date.parse(suggestedWindow?.end ?? '')
  return start < end ? start + random * (end - start) : undefined
}
