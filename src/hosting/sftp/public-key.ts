import { createPublicKey, hash } from 'node:crypto'

/** A public key that a user added. */
export interface PublicKey {
  readonly type: string
  /** Base64, as in `authorized_keys`. */
  readonly publicKey: string
  /** As `ssh-keygen -l` prints it. */
  readonly fingerprint: string
  /** The comment after the key, or `''`. */
  readonly name: string
}

/** The key is not accepted. The message completes "public_key: …". */
export class KeyRefused extends Error {
  override readonly name = 'KeyRefused'
}

const TYPES = ['ssh-ed25519', 'ecdsa-sha2-nistp256', 'ecdsa-sha2-nistp384', 'ecdsa-sha2-nistp521', 'ssh-rsa']
const LEAST_RSA_BITS = 2048
const MOST_RSA_BITS = 16_384
const MOST_NAME = 200

/** Reads a line in the format of `~/.ssh/id_ed25519.pub`. @throws KeyRefused */
export async function readPublicKey(line: string): Promise<PublicKey> {
  const text = line.trim()
  if (text.includes('PRIVATE KEY'))
    throw new KeyRefused('must be the public key, not the private one (the file that ends in .pub)')
  const [, type = '', base64 = '', comment = ''] =
    /^(\S+)[ \t]+([A-Za-z0-9+/]+={0,2})(?:[ \t]+([^\r\n]*))?$/.exec(text) ?? []
  if (!base64)
    throw new KeyRefused('must be one line as in ~/.ssh/id_ed25519.pub, with the type, the key and nothing before them')
  if (!TYPES.includes(type)) throw new KeyRefused(`must be one of ${TYPES.join(', ')}`)
  const blob = Buffer.from(base64, 'base64')
  // Loaded on demand: it takes 8 MB, and the API rarely reads a key and needs nothing else of it.
  const { default: ssh2 } = await import('ssh2')
  const parsed = ssh2.utils.parseKey(`${type} ${base64}`)
  if (parsed instanceof Error || parsed.type !== type || !blob.equals(parsed.getPublicSSH()))
    throw new KeyRefused('must be a whole key: a part of it is missing or was changed')
  checkStrength(type, parsed.getPublicPEM())
  return {
    type,
    publicKey: blob.toString('base64'),
    fingerprint: `SHA256:${hash('sha256', blob, 'base64').replace(/=+$/, '')}`,
    name: comment
      .replace(/\p{Cc}/gu, '')
      .slice(0, MOST_NAME)
      .trim(),
  }
}

function checkStrength(type: string, pem: string): void {
  let bits: number | undefined
  try {
    bits = createPublicKey(pem).asymmetricKeyDetails?.modulusLength
  } catch {
    throw new KeyRefused('must be a whole key: a part of it is missing or was changed')
  }
  if (type !== 'ssh-rsa') return
  if (bits === undefined || bits < LEAST_RSA_BITS || bits > MOST_RSA_BITS)
    throw new KeyRefused(`must have ${LEAST_RSA_BITS} to ${MOST_RSA_BITS} bits, and has ${bits}`)
}
