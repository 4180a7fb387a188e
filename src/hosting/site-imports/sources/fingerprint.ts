import { createHash } from 'node:crypto'

/** Returns the fingerprint of a host key, as OpenSSH shows it. */
export const fingerprintOf = (key: Buffer): string =>
  `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`
