import { X509Certificate } from 'node:crypto'
import { AuthorityKeyIdentifierExtension, X509Certificate as Parsed } from '@peculiar/x509'
import * as acme from 'acme-client'

/** When a certificate was issued, and when it ends. */
export function lifeOf(chain: string): { readonly from: number; readonly until: number } {
  const { validFrom, validTo } = new X509Certificate(chain)
  return { from: Date.parse(validFrom), until: Date.parse(validTo) }
}

/** With a third of its life left a certificate is replaced: time enough for an authority that is away. */
export const usualRenewal = ({ from, until }: { readonly from: number; readonly until: number }): number =>
  until - (until - from) / 3

/** How an authority knows a certificate (RFC 9773 §4.1). @returns undefined when it does not say who has issued it */
export function idOfCertificate(chain: string): string | undefined {
  const issuer = new Parsed(chain).getExtension(AuthorityKeyIdentifierExtension)?.keyId
  if (!issuer) return undefined
  const serial = new X509Certificate(chain).serialNumber
  // the bytes of a positive number in DER
  const even = serial.length % 2 === 0 ? serial : `0${serial}`
  const bytes = Buffer.from(Number.parseInt(even.slice(0, 2), 16) >= 0x80 ? `00${even}` : even, 'hex')
  return `${Buffer.from(issuer, 'hex').toString('base64url')}.${bytes.toString('base64url')}`
}

interface RenewalInfo {
  readonly suggestedWindow?: { readonly start?: string; readonly end?: string }
}

/**
 * When the authority wants a certificate to be replaced: some moment in the window that it names (RFC 9773 §4.2).
 * @param directory of the authority
 * @param random 0 to 1
 * @returns undefined when it says nothing that can be used
 */
export async function suggestedRenewal(directory: string, chain: string, random: number): Promise<number | undefined> {
  const { data: of } = await acme.axios.get<{ renewalInfo?: string }>(directory)
  const id = idOfCertificate(chain)
  if (!of?.renewalInfo || id === undefined) return undefined
  const { status, data } = await acme.axios.get<RenewalInfo>(`${of.renewalInfo}/${id}`)
  if (status !== 200) return undefined
  return withinWindow(data, random)
}

/** A window that ends before it begins is none. */
export function withinWindow({ suggestedWindow }: RenewalInfo, random: number): number | undefined {
  const start = Date.parse(suggestedWindow?.start ?? '')
  const end = Date.parse(suggestedWindow?.end ?? '')
  return start < end ? start + random * (end - start) : undefined
}
