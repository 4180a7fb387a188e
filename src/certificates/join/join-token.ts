import { createHash, randomBytes, X509Certificate } from 'node:crypto'

/** A machine that joins knows the installation by this much of the digest of its authority. */
const DIGEST_BYTES = 16
const FORM = /^st1\.([0-9a-f]{32})\.([\w-]{43})$/

/** The content of a token. */
export interface JoinToken {
  /** The beginning of the SHA-256 of the authority's certificate, in hexadecimal. */
  readonly digest: string
  readonly secret: string
}

/** Creates a token for an authority, with a new secret. @param authority PEM */
export function makeJoinToken(authority: string): JoinToken & { readonly text: string } {
  const digest = digestOf(authority).subarray(0, DIGEST_BYTES).toString('hex')
  const secret = randomBytes(32).toString('base64url')
  return { digest, secret, text: `st1.${digest}.${secret}` }
}

/** @returns undefined for a text that is not a token */
export function readJoinToken(text: string): JoinToken | undefined {
  const [, digest, secret] = FORM.exec(text.trim()) ?? []
  return digest === undefined ? undefined : { digest, secret: secret as string }
}

/** Returns whether a token is for this authority. @param authority PEM */
export const isAuthorityOf = ({ digest }: JoinToken, authority: string): boolean =>
  digestOf(authority).subarray(0, DIGEST_BYTES).toString('hex') === digest

/** Returns the form in which a secret is stored. */
export const hashOfSecret = (secret: string): string => createHash('sha256').update(secret).digest('hex')

/** Returns the SHA-256 of a certificate. @param certificate PEM */
export const digestOf = (certificate: string): Buffer =>
  createHash('sha256').update(new X509Certificate(certificate).raw).digest()
