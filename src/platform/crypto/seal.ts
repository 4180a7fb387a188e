import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'

/**
 * Seals secrets that must be readable later, such as private keys and webhook secrets (AES-256-GCM, NIST SP 800-38D).
 */
export interface Sealer {
  /** @param purpose bound to the result, which does not open for another purpose */
  seal(plain: string, purpose: string): string
  /** @throws when the text was changed, or sealed under another key or for another purpose */
  open(sealed: string, purpose: string): string
  /** Returns a mark of a text that cannot be computed without the key (HMAC-SHA-256), the same each time. */
  mark(text: string, purpose: string): string
}

export function createSealer(key: Buffer): Sealer {
  return {
    seal(plain, purpose) {
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(purpose))
      const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
      return `v1.${Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url')}`
    },
    open(sealed, purpose) {
      if (!sealed.startsWith('v1.')) throw new Error(`Unknown form of a sealed ${purpose}`)
      const bytes = Buffer.from(sealed.slice(3), 'base64url')
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12), { authTagLength: 16 })
      decipher.setAAD(Buffer.from(purpose)).setAuthTag(bytes.subarray(12, 28))
      return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString('utf8')
    },
    mark: (text, purpose) => markWith(markKey(key, purpose), text),
  }
}

/** Returns the key of the marks of one purpose. */
export const markKey = (key: Buffer, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', key, '', `stead mark: ${purpose}`, 32))

/** Does the same as `mark` with the key of one purpose. */
export const markWith = (key: Buffer, text: string): string =>
  createHmac('sha256', key).update(text).digest('base64url')
