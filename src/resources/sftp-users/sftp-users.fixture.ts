import { generateKeyPairSync } from 'node:crypto'

/** A line as in `~/.ssh/id_ed25519.pub`, of a key that nobody has. */
export function newKey(comment = 'me@laptop'): string {
  const { publicKey } = generateKeyPairSync('ed25519')
  const { x } = publicKey.export({ format: 'jwk' })
  const fields = [Buffer.from('ssh-ed25519'), Buffer.from(x as string, 'base64url')]
  const blob = Buffer.concat(fields.flatMap((field) => [lengthOf(field), field]))
  return `ssh-ed25519 ${blob.toString('base64')} ${comment}`
}

export function lengthOf(field: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(field.length)
  return length
}
