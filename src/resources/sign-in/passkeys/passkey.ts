import { isIP } from 'node:net'
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import Type from 'typebox'
import { Problem } from '../../../platform/http/problem.ts'
import { nullable, Timestamp, timestamp } from '../../../platform/http/schemas.ts'
import type { Context } from '../../kit/context.ts'
import type { Person } from '../person.ts'
import { problems } from '../problems.ts'
import { CHALLENGE_MS, challengeEnd, newChallenge, takeChallenge } from './challenge.ts'
import { findPasskey, type Passkey, passkeysOfAccount, passkeyWasUsed } from './passkey.store.ts'

export const MOST_PASSKEYS = 20

export const PasskeySchema = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String({ examples: ['Laptop'] }),
    host_name: Type.String({ description: 'Host name where the passkey works', examples: ['panel.example.com'] }),
    created_at: Timestamp,
    used_at: nullable(
      Type.String({ description: 'When the passkey was last used to sign in', examples: ['2026-01-31T09:45:00.000Z'] }),
    ),
  },
  { title: 'Passkey' },
)

/** Name that the user gives to the device. */
export const PasskeyName = Type.String({ minLength: 1, maxLength: 100, pattern: '^[^\\p{Cc}]*$', examples: ['Laptop'] })

/** Input of `PublicKeyCredential.parseCreationOptionsFromJSON`. */
export const PasskeyCreationOptions = Type.Unsafe<object>({
  title: 'PasskeyCreationOptions',
  type: 'object',
  additionalProperties: true,
  description: 'PublicKeyCredentialCreationOptionsJSON of WebAuthn',
})

export const presentPasskey = (passkey: Passkey): Type.Static<typeof PasskeySchema> => ({
  id: passkey.id,
  name: passkey.name,
  host_name: passkey.hostName,
  created_at: timestamp(passkey.createdAt),
  used_at: passkey.usedAt === null ? null : timestamp(passkey.usedAt),
})

const Base64Url = (maxLength: number, description: string) =>
  Type.String({ minLength: 1, maxLength, pattern: '^[\\w-]+$', description, examples: ['c3RlYWQ'] })

/** The parts of a browser's `PublicKeyCredential.toJSON()` that Stead needs. */
export const NewCredential = Type.Object(
  {
    id: Base64Url(1400, 'Id of the credential'),
    response: Type.Object(
      {
        clientDataJSON: Base64Url(8000, 'JSON that names the challenge and the origin'),
        attestationObject: Base64Url(40_000, 'New public key with its attestation'),
        transports: Type.Optional(
          Type.Array(Type.String({ maxLength: 40 }), { maxItems: 10, examples: [['internal']] }),
        ),
      },
      { title: 'NewCredentialResponse' },
    ),
  },
  {
    title: 'NewCredential',
    description: 'Result of `toJSON()` on the credential from `navigator.credentials.create()`',
  },
)

export const UsedCredential = Type.Object(
  {
    id: Base64Url(1400, 'Id of the credential'),
    response: Type.Object(
      {
        clientDataJSON: Base64Url(8000, 'JSON that names the challenge and the origin'),
        authenticatorData: Base64Url(8000, 'Authenticator data from the device'),
        signature: Base64Url(8000, 'Signature over the authenticator data and the client data'),
      },
      { title: 'UsedCredentialResponse' },
    ),
  },
  { title: 'UsedCredential', description: 'Result of `toJSON()` on the credential from `navigator.credentials.get()`' },
)

/**
 * EdDSA, ES256, RS256 (RFC 9053 §2), which cover existing devices. The library's own list includes ones that Node calls
 * experimental.
 */
const ALGORITHMS = [-8, -7, -257]

/** Loaded only when a passkey is used. */
const library = () => import('@simplewebauthn/server')

export const hostOfOrigin = (origin: string): string => new URL(origin).hostname

/**
 * Returns the host name that passkeys of this address are bound to.
 * @throws Problem `passkey_needs_name`
 */
export function passkeyHostName(origin: string): string {
  const { protocol, hostname } = new URL(origin)
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost')
  const isAddress = hostname.startsWith('[') || isIP(hostname) !== 0
  if (isAddress || !(protocol === 'https:' || isLocal)) throw new Problem(problems.passkey_needs_name, { origin })
  return hostname
}

/** Returns the options for `navigator.credentials.create()`. */
export async function creationOptions({ tx, sealer, origin, now }: Context, { accountId, email }: Person) {
  const known = await passkeysOfAccount(tx, accountId)
  if (known.length >= MOST_PASSKEYS) throw new Problem(problems.passkey_limit_reached, { limit: MOST_PASSKEYS })
  const { generateRegistrationOptions } = await library()
  return generateRegistrationOptions({
    rpName: 'Stead',
    rpID: passkeyHostName(origin),
    userName: email,
    userID: Uint8Array.from(Buffer.from(`account ${accountId}`)),
    challenge: newChallenge(sealer, { newPasskeyOf: accountId }, now),
    timeout: CHALLENGE_MS,
    excludeCredentials: known.map(({ credentialId, transports }) => ({
      id: credentialId,
      transports: [...transports],
    })),
    supportedAlgorithmIDs: ALGORITHMS,
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  })
}

/** Returns the options for `navigator.credentials.get()`, without an account, because the device knows it. */
export async function requestOptions({ sealer, origin, now }: Context) {
  const { generateAuthenticationOptions } = await library()
  return generateAuthenticationOptions({
    rpID: passkeyHostName(origin),
    challenge: newChallenge(sealer, 'signIn', now),
    timeout: CHALLENGE_MS,
    userVerification: 'required',
  })
}

/** Challenge of a verified response, to be used up in the transaction of the change. */
interface Answered {
  readonly challenge: string
  readonly expiresAt: number
}

/** @throws Problem `passkey_not_taken` */
export async function verifyNewPasskey(
  { sealer, origin, now }: Context,
  accountId: number,
  { id, response }: Type.Static<typeof NewCredential>,
): Promise<Answered & Pick<Passkey, 'credentialId' | 'hostName' | 'publicKey' | 'counter'>> {
  const hostName = passkeyHostName(origin)
  const { verifyRegistrationResponse } = await library()
  const answered = answersTo((challenge) => challengeEnd(sealer, challenge, { newPasskeyOf: accountId }, now))
  const { registrationInfo } = await verifyRegistrationResponse({
    response: asSent(id, response) as RegistrationResponseJSON,
    expectedChallenge: answered.isExpected,
    expectedOrigin: new URL(origin).origin,
    expectedRPID: hostName,
    supportedAlgorithmIDs: ALGORITHMS,
  }).catch(() => ({ registrationInfo: undefined }))
  if (!registrationInfo) throw new Problem(problems.passkey_not_taken, {})
  const { credential } = registrationInfo
  const publicKey = Buffer.from(credential.publicKey).toString('base64url')
  return { ...answered.found(), credentialId: credential.id, hostName, publicKey, counter: credential.counter }
}

/** @throws Problem `wrong_passkey` */
export async function verifyPasskey(
  { database, sealer, origin, now }: Context,
  { id, response }: Type.Static<typeof UsedCredential>,
): Promise<Answered & { readonly passkey: Passkey; readonly counter: number }> {
  const hostName = passkeyHostName(origin)
  const passkey = await findPasskey(database.read, id)
  if (!passkey || passkey.hostName !== hostName) throw new Problem(problems.wrong_passkey, {})
  const { verifyAuthenticationResponse } = await library()
  const answered = answersTo((challenge) => challengeEnd(sealer, challenge, 'signIn', now))
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response: asSent(id, response) as AuthenticationResponseJSON,
    expectedChallenge: answered.isExpected,
    expectedOrigin: new URL(origin).origin,
    expectedRPID: hostName,
    credential: {
      id,
      publicKey: Uint8Array.from(Buffer.from(passkey.publicKey, 'base64url')),
      counter: passkey.counter,
    },
  }).catch(() => ({ verified: false, authenticationInfo: undefined }))
  if (!verified || !authenticationInfo) throw new Problem(problems.wrong_passkey, {})
  return { ...answered.found(), passkey, counter: authenticationInfo.newCounter }
}

/**
 * Uses a verified passkey, in the transaction that needs it.
 * @throws Problem `wrong_passkey` when the response was sent before, or the passkey has been removed
 */
export async function takePasskey(
  { tx, now }: Context,
  { passkey, counter, challenge, expiresAt }: Awaited<ReturnType<typeof verifyPasskey>>,
): Promise<void> {
  const isFirst = await takeChallenge(tx, challenge, expiresAt)
  if (!isFirst || !(await passkeyWasUsed(tx, passkey.id, { counter, now })))
    throw new Problem(problems.wrong_passkey, {})
}

/** Remembers the challenge that was answered, which is part of what the browser sends. */
function answersTo(endOf: (challenge: string) => number | undefined) {
  let answered: Answered | undefined
  return {
    isExpected(challenge: string): boolean {
      const expiresAt = endOf(challenge)
      if (expiresAt === undefined) return false
      answered = { challenge, expiresAt }
      return true
    },
    found(): Answered {
      if (!answered) throw new Error('A passkey was found right without its challenge')
      return answered
    },
  }
}

const asSent = (id: string, response: object) => ({
  id,
  rawId: id,
  type: 'public-key',
  clientExtensionResults: {},
  response,
})
