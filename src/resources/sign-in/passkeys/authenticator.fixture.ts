import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'

/** Device that holds a passkey according to WebAuthn (ES256, no attestation), for tests without a browser. */
export interface Device {
  readonly credentialId: string
  /** COSE, in base64url. */
  readonly publicKey: string
  /**
   * Returns what a browser sends for a new key.
   * @param flags of the authenticator data, §6.1
   */
  register(challenge: Uint8Array, origin: string, flags?: number): NewKey
  /**
   * Returns what a browser sends for a sign-in.
   * @param rpOrigin the origin whose host name the page named to the device, if different
   */
  sign(challenge: Uint8Array, origin: string, flags?: number, counter?: number, rpOrigin?: string): Assertion
}

interface NewKey {
  readonly id: string
  readonly response: {
    readonly clientDataJSON: string
    readonly attestationObject: string
    readonly transports: string[]
  }
}
interface Assertion {
  readonly id: string
  readonly response: {
    readonly clientDataJSON: string
    readonly authenticatorData: string
    readonly signature: string
  }
}

const PRESENT_AND_VERIFIED = 0b101
const WITH_KEY = 0b0100_0000

export function newDevice(): Device {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { x, y } = publicKey.export({ format: 'jwk' })
  const id = randomBytes(16)
  const key = coseOf(Buffer.from(x as string, 'base64url'), Buffer.from(y as string, 'base64url'))
  const credentialId = id.toString('base64url')
  return {
    credentialId,
    publicKey: key.toString('base64url'),
    register(challenge, origin, flags = PRESENT_AND_VERIFIED) {
      const said = Buffer.concat([
        authenticatorData(origin, flags | WITH_KEY),
        Buffer.alloc(16),
        Buffer.from([0, id.length]),
        id,
        key,
      ])
      return {
        id: credentialId,
        response: {
          clientDataJSON: clientData('webauthn.create', challenge, origin).toString('base64url'),
          attestationObject: attestation(said).toString('base64url'),
          transports: ['internal'],
        },
      }
    },
    sign(challenge, origin, flags = PRESENT_AND_VERIFIED, counter = 0, rpOrigin = origin) {
      const client = clientData('webauthn.get', challenge, origin)
      const said = authenticatorData(rpOrigin, flags, counter)
      return {
        id: credentialId,
        response: {
          clientDataJSON: client.toString('base64url'),
          authenticatorData: said.toString('base64url'),
          signature: sign('sha256', Buffer.concat([said, sha256(client)]), privateKey).toString('base64url'),
        },
      }
    },
  }
}

const sha256 = (data: string | Buffer): Buffer => createHash('sha256').update(data).digest()

function clientData(type: string, challenge: Uint8Array, origin: string): Buffer {
  const said = { type, challenge: Buffer.from(challenge).toString('base64url'), origin, crossOrigin: false }
  return Buffer.from(JSON.stringify(said))
}

/** Returns the hash of the host name, the flags, and a counter, which is 0 for a device that does not count. */
function authenticatorData(origin: string, flags: number, counter = 0): Buffer {
  const counted = Buffer.alloc(4)
  counted.writeUInt32BE(counter)
  return Buffer.concat([sha256(new URL(origin).hostname), Buffer.from([flags]), counted])
}

/** CBOR: {1: 2, 3: -7, -1: 1, -2: x, -3: y} (RFC 9053 §7.1.1). */
const coseOf = (x: Buffer, y: Buffer): Buffer =>
  Buffer.concat([Buffer.from([0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21, 0x58, 32]), x, Buffer.from([0x22, 0x58, 32]), y])

/** CBOR: {"fmt": "none", "attStmt": {}, "authData": said}. */
const attestation = (said: Buffer): Buffer =>
  Buffer.concat([
    Buffer.from([0xa3]),
    word('fmt'),
    word('none'),
    word('attStmt'),
    Buffer.from([0xa0]),
    word('authData'),
    Buffer.from([0x58, said.length]),
    said,
  ])

const word = (text: string): Buffer => Buffer.concat([Buffer.from([0x60 + text.length]), Buffer.from(text)])
