import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { request as ask, type RequestOptions } from 'node:https'
import { join as pathOf } from 'node:path'
import type { ConnectionOptions } from 'node:tls'
import type { StoragePlace } from '../../backups/storage/signed-storage.ts'
import { makeCertificateRequest } from '../../certificates/join/certificate-request.ts'
import { isAuthorityOf, type JoinToken } from '../../certificates/join/join-token.ts'
import { makeKeys, pemOf } from '../../certificates/sign-certificate.ts'
import type { ListenAddress } from '../../config.ts'
import { type EdgeKeys, readEdgeKeys } from '../../platform/crypto/edge-keys.ts'
import { type HostKeys, readHostKeys } from '../../platform/crypto/host-keys.ts'
import { writeFileDurably, writeFileOnce } from '../../platform/files/write-file.ts'
import { ownerOf, type RoleName } from '../../platform/mtls/role-name.ts'
import type { RoleTrust } from '../../platform/mtls/role-trust.ts'
import { uncounted } from '../../platform/operations/definition.ts'
import { OperatorError } from '../../platform/operator-error.ts'
import { readAtMost } from '../../platform/read-at-most.ts'

const MOST_ANSWER_BYTES = 65_536
const ANSWER_MS = 15_000
const TOO_MANY = 429

/** The keys of a role without the master key. */
export type JoinedKeys = EdgeKeys | HostKeys

/** The result of joining, as a data folder keeps it. */
export interface Joined extends RoleName {
  /** The control that answered last. It renews the certificate. */
  readonly control: ListenAddress
  /** The other controls. The machine asks them in this order if that one does not answer. */
  readonly controls?: readonly ListenAddress[]
  /** PEM. */
  readonly certificate: string
  /** PEM. */
  readonly key: string
  /** The database with the machine's own login, if the control has created one. */
  readonly databaseUrl?: string
  /** What its role needs instead of the master key. Controls of earlier versions give none. */
  readonly keys?: JoinedKeys
  /** Datacenters of a host, as its token names them. `[]` means all. */
  readonly datacenters?: readonly string[]
  /** Where a host finds the bucket for backups, whose requests a control signs. */
  readonly storage?: StoragePlace
}

/** The control refuses. */
export class ControlRefused extends OperatorError {
  override readonly name = 'ControlRefused'
  readonly status: number

  constructor(message: string, status: number) {
    super(message)
    this.status = status
  }
}

/** The control does not answer, or answers too many machines. An operation that needs it waits. */
export class ControlAway extends OperatorError {
  override readonly name = 'ControlAway'
  override readonly exitCode = 1
  readonly [uncounted] = true
}

/** The machine that a data folder belongs to. */
export interface FolderOwner extends RoleName {
  /** The identity of its installation, if the folder has one. */
  readonly installation?: string | undefined
}

const joinedFile = (dataDir: string): string => pathOf(dataDir, 'joined.json')
/** Written before the request, so that a repeated attempt has the same key. */
const keyFile = (dataDir: string): string => pathOf(dataDir, 'joining.key')

/** @returns undefined for a machine that did not join with a token */
export async function readJoined(dataDir: string): Promise<Joined | undefined> {
  try {
    return JSON.parse(await readFile(joinedFile(dataDir), 'utf8')) as Joined
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new OperatorError(`${joinedFile(dataDir)} cannot be read. Delete it, and join again with a new token.`, {
      cause: error,
    })
  }
}

/**
 * Joins with a token, and writes the certificate to the data folder. The secret of the token is sent only to a control
 * with a certificate of the authority that the token names. After an interruption, the same token works again here.
 * @param before the machine that the folder belongs to, which can only join again
 * @throws OperatorError
 */
export async function joinInstallation(
  token: JoinToken,
  control: ListenAddress,
  dataDir: string,
  before?: FolderOwner,
): Promise<Joined> {
  // The other end may be anyone, so this request contains no secret.
  const known = await call(control, 'GET /internal/authorities', { rejectUnauthorized: false })
  const authority = authoritiesOf(known).find((each) => isAuthorityOf(token, each))
  if (authority === undefined)
    throw new OperatorError(
      `The control at ${control.host}:${control.port} is not the one of this token. Check the address, or create another token there. The token was not sent.`,
    )
  await writeFileOnce(keyFile(dataDir), pemOf((await makeKeys()).privateKey), 0o600)
  const key = await readFile(keyFile(dataDir), 'utf8')
  const body = { secret: token.secret, request: requestOf(key) }
  const answer = await call(control, 'POST /internal/join', ofControl([authority]), body)
  const own = joinedOf(answer, { control, key, authority })
  if (before) mustBeSame(dataDir, before, { ...own, installation: String(answer.installation ?? '') || undefined })
  const keys = readKeysOf(own, answer)
  const storage = own.role === 'host' ? readStorageOf(answer) : undefined
  const given = { ...(keys && { keys }), ...(storage && { storage }) }
  const joined = { ...own, ...databaseOf(answer, control), ...placeOf(answer), ...given }
  await writeJoined(dataDir, joined)
  await rm(keyFile(dataDir), { force: true })
  return joined
}

/** Returns the command for a token with which a machine joins again. */
export const tokenCommand = ({ role, name }: RoleName): string =>
  `stead host token --name=${name} ${role === 'host' ? '--again' : `--role=${role}`}`

/** @throws OperatorError for the token of another machine, or of another installation */
function mustBeSame(dataDir: string, before: FolderOwner, now: FolderOwner): void {
  const isSameName = before.role === now.role && before.name === now.name
  const isElsewhere = [before, now].every((each) => each.installation) && before.installation !== now.installation
  if (isSameName && !isElsewhere) return
  const other = isSameName ? 'another installation' : `${now.role} ${now.name}`
  throw new OperatorError(
    `The token is for ${other}, and ${dataDir} belongs to ${before.role} ${before.name}. Nothing was changed. Create a token for this machine, or choose another folder with STEAD_DATA_DIR.`,
  )
}

/**
 * Renews the certificate of a machine that has joined, with a new key.
 * @throws OperatorError when the control refuses, or does not answer
 */
export async function renewJoined(dataDir: string, joined: Joined, trust: RoleTrust): Promise<Joined> {
  const key = pemOf((await makeKeys()).privateKey)
  const { answer, by } = await askControls(joined, trust, 'POST /internal/renew', { request: requestOf(key) })
  const renewed = { ...joined, ...orderOf(joined, by), ...joinedOf(answer, { control: by, key }) }
  await writeJoined(dataDir, renewed)
  return renewed
}

type Controls = Pick<Joined, 'control' | 'controls'>

/**
 * Asks the controls of a machine that has joined, one after the other, until one answers.
 * @param what such as `POST /internal/renew`
 * @throws OperatorError when a control refuses, or none answers
 */
export async function askControl(
  joined: Controls,
  trust: RoleTrust,
  what: string,
  body: object,
): Promise<Record<string, unknown>> {
  return (await askControls(joined, trust, what, body)).answer
}

/** As {@link askControl}. @returns the answer, and the control that gave it */
export async function askControls(
  { control, controls = [] }: Controls,
  trust: RoleTrust,
  what: string,
  body: object,
): Promise<{ answer: Record<string, unknown>; by: ListenAddress }> {
  const { checkServerIdentity } = ofControl([])
  const [first, ...others] = [control, ...controls]
  const ask = async (by: ListenAddress) => ({
    answer: await call(by, what, { ...trust.options(), checkServerIdentity }, body),
    by,
  })
  let answer = ask(first as ListenAddress)
  for (const other of others)
    answer = answer.catch((error) => {
      if (!(error instanceof ControlAway)) throw error
      // If no other one answers either, the first one's reason counts.
      return ask(other).catch((next) => {
        throw next instanceof ControlAway ? error : next
      })
    })
  return answer
}

const textOf = ({ host, port }: ListenAddress): string => `${host} ${port}`

/** Puts the control that has answered first. */
function orderOf({ control, controls = [] }: Controls, by: ListenAddress): Controls {
  const others = [control, ...controls].filter((each) => textOf(each) !== textOf(by))
  return { control: by, ...(others.length > 0 && { controls: others }) }
}

/** Keeps which control has answered, so that the next request asks it first. */
export async function preferControl(dataDir: string, joined: Joined, by: ListenAddress): Promise<Joined> {
  if (textOf(by) === textOf(joined.control)) return joined
  return change(dataDir, joined, orderOf(joined, by))
}

/** Keeps the controls that report. The one that answered last stays, although it may have ended. */
export async function keepControls(dataDir: string, joined: Joined, found: readonly ListenAddress[]): Promise<Joined> {
  const others = found.filter((each) => textOf(each) !== textOf(joined.control))
  const { controls = [] } = joined
  const isSame = others.map(textOf).toSorted().join() === controls.map(textOf).toSorted().join()
  return found.length === 0 || isSame ? joined : change(dataDir, joined, { control: joined.control, controls: others })
}

/** Another process of the machine may have renewed the certificate. */
async function change(dataDir: string, joined: Joined, order: Controls): Promise<Joined> {
  const kept = (await readJoined(dataDir)) ?? joined
  await writeJoined(dataDir, { ...kept, ...order })
  return { ...joined, ...order }
}

/** Returns the keys in the answer of a control. @returns undefined if it has none, or not all */
export const readKeysOf = (
  { role }: Pick<RoleName, 'role'>,
  { keys }: Record<string, unknown>,
): JoinedKeys | undefined => (role === 'host' ? readHostKeys(keys) : readEdgeKeys(keys))

/** Returns where the storage for backups is, in the answer of a control. @returns undefined for a folder */
export function readStorageOf({ storage }: Record<string, unknown>): StoragePlace | undefined {
  const { bucket, endpoint, region, prefix } = Object(storage) as Record<string, unknown>
  if (typeof bucket !== 'string' || typeof region !== 'string' || typeof prefix !== 'string') return undefined
  return { bucket, region, prefix, ...(typeof endpoint === 'string' && { endpoint }) }
}

/** Writes what a machine that joined has got from its control. All else that it was given stays. */
export async function keepGiven(dataDir: string, given: Partial<Pick<Joined, 'keys' | 'storage'>>): Promise<void> {
  const joined = await readJoined(dataDir)
  if (joined) await writeJoined(dataDir, { ...joined, ...given })
}

const writeJoined = (dataDir: string, joined: Joined): Promise<void> =>
  writeFileDurably(joinedFile(dataDir), `${JSON.stringify(joined)}\n`, 0o600)

function requestOf(key: string): string {
  const privateKey = createPrivateKey(key)
  return makeCertificateRequest(createPublicKey(privateKey), privateKey)
}

/** What a control must show. */
const ofControl = (ca: string[]) =>
  ({
    ...{ ca, minVersion: 'TLSv1.3', rejectUnauthorized: true },
    checkServerIdentity: (_name: string, { raw }: { raw: Buffer }) =>
      ownerOf(new X509Certificate(raw))?.role === 'control'
        ? undefined
        : new Error('its certificate is not of a control'),
  }) satisfies ConnectionOptions

const authoritiesOf = ({ authorities }: Record<string, unknown>): string[] =>
  Array.isArray(authorities) ? authorities.map(String) : []

/** A control of an earlier version names no datacenters. */
const placeOf = ({ datacenters }: Record<string, unknown>): Pick<Joined, 'datacenters'> =>
  Array.isArray(datacenters) && datacenters.length > 0 ? { datacenters: datacenters.map(String) } : {}

/** Checks what a control has issued. */
function joinedOf(
  { certificate }: Record<string, unknown>,
  { control, key, authority }: Pick<Joined, 'control' | 'key'> & { readonly authority?: string },
): Joined {
  const leaf = new X509Certificate(String(certificate))
  const owner = ownerOf(leaf)
  const isSigned = authority === undefined || leaf.verify(new X509Certificate(authority).publicKey)
  if (!owner || !isSigned || !leaf.checkPrivateKey(createPrivateKey(key)))
    throw new OperatorError('The control has issued a certificate that is not for this machine. Create another token.')
  return { ...owner, control, certificate: String(certificate), key }
}

const LOOPBACK = /^(localhost|127\..*|\[::1\]|)$/

/** A database on the machine of the control has the address of the control. */
function databaseOf({ database }: Record<string, unknown>, control: ListenAddress): Pick<Joined, 'databaseUrl'> {
  if (typeof database !== 'string') return {}
  const url = new URL(database)
  const socket = url.searchParams.get('host')
  if (!LOOPBACK.test(url.hostname) || (socket !== null && !socket.startsWith('/'))) return { databaseUrl: database }
  url.searchParams.delete('host')
  url.hostname = control.host.includes(':') ? `[${control.host}]` : control.host
  return { databaseUrl: url.href }
}

async function call(
  { host, port }: ListenAddress,
  what: string,
  tls: ConnectionOptions,
  body?: object,
): Promise<Record<string, unknown>> {
  const [method, path] = what.split(' ')
  const request = ask({ ...tls, host, port, method, path, agent: false, servername: '' } as RequestOptions)
  const late = setTimeout(() => request.destroy(new Error(`no answer within ${ANSWER_MS / 1000} s`)), ANSWER_MS)
  try {
    const { status, text } = await new Promise<{ status: number; text: string }>((resolve, reject) => {
      request.once('error', reject)
      request.once('response', (response) => {
        const status = response.statusCode as number
        readAtMost(response, MOST_ANSWER_BYTES).then(
          (bytes) => resolve({ status, text: String(bytes ?? '{}') }),
          reject,
        )
      })
      request.end(body && JSON.stringify(body))
    })
    const answer = Object(JSON.parse(text)) as Record<string, unknown>
    const message = String(answer.message ?? `The control answers ${status}.`)
    if (status === TOO_MANY) throw new ControlAway(message)
    if (status !== 200) throw new ControlRefused(message, status)
    return answer
  } catch (error) {
    if (error instanceof OperatorError) throw error
    throw new ControlAway(
      `The control at ${host}:${port} cannot be reached, or is not trusted (${(error as Error).message}). Check STEAD_INTERNAL_LISTEN on the control, and the address.`,
      { cause: error },
    )
  } finally {
    clearTimeout(late)
    request.destroy()
  }
}
