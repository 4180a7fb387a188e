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
 * The keys for sealing, naming and cutting the objects of one owner. All derive from the key of the storage and the
 * owner's name. Key objects are created once, because to create one for each chunk costs as much as hashing 20 kB.
 */
export interface RepositoryKeys {
  readonly owner: string
  /** AES-256-GCM. */
  readonly sealing: KeyObject
  /** HMAC-SHA256. */
  readonly naming: KeyObject
  /**
   * 256 numbers, one for each byte value. The places of cuts are secret too, because the sizes of chunks would show
   * which known files a backup contains.
   */
  readonly cutting: Int32Array
}

const SECRET_BYTES = 32
const CUTTING_BYTES = 1024

/** The same keys in base64url, for another process. They say nothing about the keys of other owners. */
export interface PortableKeys {
  readonly sealing: string
  readonly naming: string
  readonly cutting: string
}

export function portableKeys(key: Buffer, owner: string): PortableKeys {
  const derive = (purpose: string, bytes: number) =>
    Buffer.from(hkdfSync('sha256', key, '', `stead backups: ${purpose} of ${owner}`, bytes)).toString('base64url')
  return {
    sealing: derive('sealing', SECRET_BYTES),
    naming: derive('naming', SECRET_BYTES),
    cutting: derive('cutting', CUTTING_BYTES),
  }
}

/** Reads keys that came over the network. @returns undefined if they are incomplete */
export function readPortableKeys(owner: string, given: unknown): RepositoryKeys | undefined {
  const { sealing, naming, cutting } = Object(given) as Record<string, unknown>
  const [forSealing, forNaming, table] = [sealing, naming, cutting].map((text) =>
    Buffer.from(`${text}`, 'base64url'),
  ) as [Buffer, Buffer, Buffer]
  const isWhole = [forSealing, forNaming].every(({ length }) => length === SECRET_BYTES)
  if (!isWhole || table.length !== CUTTING_BYTES) return undefined
  return {
    owner,
    sealing: createSecretKey(forSealing),
    naming: createSecretKey(forNaming),
    cutting: Int32Array.from({ length: 256 }, (_, byte) => table.readInt32BE(byte * 4)),
  }
}

export const repositoryKeys = (key: Buffer, owner: string): RepositoryKeys =>
  readPortableKeys(owner, portableKeys(key, owner)) as RepositoryKeys

/** Returns the name of content, 32 bytes. Two pieces of content with the same name are equal. */
export const contentName = ({ naming }: RepositoryKeys, content: Uint8Array): Buffer =>
  createHmac('sha256', naming).update(content).digest()

const NONCE_BYTES = 12
const TAG_BYTES = 16
/** The bytes that sealing adds. */
export const SEAL_BYTES = NONCE_BYTES + TAG_BYTES

/**
 * Seals data.
 * @param purpose bound to the result, which does not open for another purpose
 */
export const seal = (...call: Parameters<typeof sealedParts>): Buffer => Buffer.concat(sealedParts(...call))

/** Does the same, but returns consecutive parts for callers that join them with others. */
export function sealedParts(key: KeyObject, plain: readonly Uint8Array[], purpose: Uint8Array | string): Buffer[] {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(purpose as Uint8Array))
  const body = plain.map((each) => cipher.update(each))
  body.push(cipher.final())
  return [nonce, ...body, cipher.getAuthTag()]
}

/**
 * Opens sealed data.
 * @throws when it was changed, or sealed for another purpose
 */
export function open(key: KeyObject, sealed: Buffer, purpose: Uint8Array | string): Buffer {
  if (sealed.length < SEAL_BYTES) throw new Error('it is too short')
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
  decipher.setAAD(Buffer.from(purpose as Uint8Array)).setAuthTag(sealed.subarray(sealed.length - TAG_BYTES))
  const body = decipher.update(sealed.subarray(NONCE_BYTES, sealed.length - TAG_BYTES))
  decipher.final()
  return body
}
