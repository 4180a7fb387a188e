import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto'

/**
 * What the objects of one owner are sealed, named and cut with. All of it follows from the key of the storage and the owner's name. Keys are made once:
 * to make one of bytes for each chunk costs as much as to hash 20 kB.
 */
export interface RepositoryKeys {
  readonly owner: string
  /** AES-256-GCM. */
  readonly sealing: KeyObject
  /** HMAC-SHA256. */
  readonly naming: KeyObject
  /** 256 numbers, one for each byte: where content is cut is a secret too, or the sizes of chunks would tell which known files are there. */
  readonly cutting: Int32Array
}

export function repositoryKeys(key: Buffer, owner: string): RepositoryKeys {
  const derive = (purpose: string, bytes: number) =>
    Buffer.from(hkdfSync('sha256', key, '', `stead backups: ${purpose} of ${owner}`, bytes))
  const table = derive('cutting', 1024)
  return {
    owner,
    sealing: createSecretKey(derive('sealing', 32)),
    naming: createSecretKey(derive('naming', 32)),
    cutting: Int32Array.from({ length: 256 }, (_, byte) => table.readInt32BE(byte * 4)),
  }
}

/** 32 bytes. Two pieces of content with the same name are the same. */
export const nameOf = ({ naming }: RepositoryKeys, content: Uint8Array): Buffer =>
  createHmac('sha256', naming).update(content).digest()

const NONCE_BYTES = 12
const TAG_BYTES = 16
/** What sealing adds. */
export const SEAL_BYTES = NONCE_BYTES + TAG_BYTES

/** @param purpose bound to it: what was sealed as one thing does not open as another */
export const seal = (...call: Parameters<typeof sealedParts>): Buffer => Buffer.concat(sealedParts(...call))

/** The same in parts that follow each other, for who puts them together with others. */
export function sealedParts(key: KeyObject, plain: readonly Uint8Array[], purpose: Uint8Array | string): Buffer[] {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(purpose as Uint8Array))
  const body = plain.map((each) => cipher.update(each))
  body.push(cipher.final())
  return [nonce, ...body, cipher.getAuthTag()]
}

/** @throws when it is not what was sealed, or for another purpose */
export function open(key: KeyObject, sealed: Buffer, purpose: Uint8Array | string): Buffer {
  if (sealed.length < SEAL_BYTES) throw new Error('it is too short')
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
  decipher.setAAD(Buffer.from(purpose as Uint8Array)).setAuthTag(sealed.subarray(sealed.length - TAG_BYTES))
  const body = decipher.update(sealed.subarray(NONCE_BYTES, sealed.length - TAG_BYTES))
  decipher.final()
  return body
}
