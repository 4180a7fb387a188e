import { X509Certificate } from 'node:crypto'
import { hostname } from 'node:os'
import { controlAddresses } from '../../certificates/join/control-addresses.store.ts'
import { ROLE_CERTIFICATE_MS } from '../../certificates/role-authority.ts'
import { issueRoleCertificate, knownRoles } from '../../certificates/role-certificates.store.ts'
import { makeKeys, pemOf } from '../../certificates/sign-certificate.ts'
import type { ListenAddress } from '../../config.ts'
import type { Tx } from '../../platform/db/database.ts'
import { isAway } from '../../platform/db/last-known.ts'
import { Poller } from '../../platform/db/poller.ts'
import type { CertifiedRole, RoleName } from '../../platform/mtls/role-name.ts'
import { type KnownRoles, type OwnCertificate, RoleTrust } from '../../platform/mtls/role-trust.ts'
import { OperatorError } from '../../platform/operator-error.ts'
import type { ProcessContext } from '../process-context.ts'
import { askControls, type Joined, keepControls, preferControl, readJoined, renewJoined, tokenCommand } from './join.ts'
import { knownIdentity } from './known-identity.ts'

const LOOK_MS = 60_000
const LEAST_PAUSE_MS = 1_000

/** The certificate of a running role, and its trust in others. */
export interface RoleIdentity {
  readonly trust: RoleTrust
  /** Returns the serial number of the current certificate. */
  serial(): string
  /**
   * Asks the controls that this machine knows, one after the other.
   * @throws OperatorError when it refuses, or does not answer
   */
  ask(what: string, body: object): Promise<Record<string, unknown>>
  /** Reads the authorities and revocations, and renews the certificate when half of its time is over. */
  look(): Promise<void>
  close(): void
}

type NeededContext = Pick<ProcessContext, 'database' | 'sealer' | 'log' | 'masterKey' | 'untilBack'> & {
  readonly config: Pick<ProcessContext['config'], 'dataDir'>
}

/**
 * Returns the certificate of a control or an edge, which has the name of its machine.
 * @returns undefined on SQLite, where everything is on one machine
 */
export async function openIdentityOf(context: ProcessContext, role: CertifiedRole): Promise<RoleIdentity | undefined> {
  if (!context.config.databaseUrl) return undefined
  const joined = await readJoined(context.config.dataDir)
  return openRoleIdentity(context, { role, name: joined?.role === role ? joined.name : hostname() })
}

/**
 * Returns the certificate of this process, and keeps it valid. A machine that joined with a token has one in its data
 * folder, which a control renews. Otherwise it issues its own. While the database is away, the last known authorities
 * and revocations count. Hosts and edges also start with them, and with their last certificate. One whose certificate
 * has expired waits for the database.
 * @param now milliseconds UTC
 */
export async function openRoleIdentity(
  context: NeededContext,
  owner: RoleName,
  now: () => number = Date.now,
): Promise<RoleIdentity> {
  const { config, database, sealer, log, masterKey, untilBack } = context
  const kept = knownIdentity(context, owner)
  const issue = async () => {
    if (!masterKey) throw mustJoinAgain(owner)
    const { publicKey, privateKey } = await makeKeys()
    const issued = await issueRoleCertificate({ database, sealer, now: now() }, { owner, publicKey })
    return { ...issued, key: pemOf(privateKey) }
  }
  const first = async () => {
    const trusted = await knownRoles(database.read, now())
    const found = await usableJoined(config.dataDir, owner, trusted, now())
    const issued = found ? lifeOfOwn(found) : await issue()
    // The first certificate of an authority may be this one.
    return { joined: found, own: issued, known: await knownRoles(database.read, now()) }
  }
  const last = async (error: unknown) => {
    const identity = isAway(error) ? await kept.read() : undefined
    const life = identity && lifeOfOwn(identity.own)
    if (!life || now() >= life.expiresAt) {
      if (!isAway(error) || !untilBack) throw error
      log.warn('this process has no valid certificate, and waits for the database to get one')
      await untilBack
      return first()
    }
    const found = await usableJoined(config.dataDir, owner, identity.known, now())
    return { joined: found, own: found ? lifeOfOwn(found) : life, known: identity.known }
  }
  let { joined, own, known } = await first().catch(last)
  const renew = async () => {
    // Without a control, the old one serves until it expires.
    if (joined && now() < own.expiresAt) joined = await renewJoined(config.dataDir, joined, trust)
    else joined = undefined
    return joined ? lifeOfOwn(joined) : issue()
  }
  const trust = new RoleTrust(own, known, now)
  const look = async () => {
    known = await knownRoles(database.read, now())
    if (isDue(own, known, now())) {
      own = await renew()
      // So may this one.
      known = await knownRoles(database.read, now())
    }
    trust.use(own, known)
    trust.tell()
    if (joined) joined = await keepControls(config.dataDir, joined, await knownControls(database.read))
    await kept.write({ own, known })
  }
  const poller = new Poller({
    ...{ changes: database.changes, topic: 'certificates', everyMs: LOOK_MS, leastPauseMs: LEAST_PAUSE_MS },
    async look() {
      await look().catch((error) =>
        log.warn({ err: error }, 'could not read or renew certificates of this installation'),
      )
    },
  })
  await kept.write({ own, known })
  poller.begin(LOOK_MS)
  const ask = async (what: string, body: object) => {
    if (!joined) throw mustJoinAgain(owner)
    const { answer, by } = await askControls(joined, trust, what, body)
    joined = await preferControl(config.dataDir, joined, by)
    return answer
  }
  return { trust, look, ask, serial: () => own.serial, close: () => poller.end() }
}

/** Returns the addresses of controls that report. */
async function knownControls(tx: Tx): Promise<ListenAddress[]> {
  return (await controlAddresses(tx)).flatMap((address) => {
    try {
      const { hostname, port } = new URL(`https://${address}`)
      return [{ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 443) }]
    } catch {
      return []
    }
  })
}

/** Only processes with the master key open the key of the authority. */
const mustJoinAgain = ({ role, name }: RoleName) =>
  new OperatorError(
    `The certificate of ${role} ${name} has expired or was revoked. Create a token on a control (${tokenCommand({ role, name })}), and run the command that it prints on this machine.`,
    { exitCode: 1 },
  )

/** @returns undefined if this machine did not join as this role, or its certificate is no longer valid */
async function usableJoined(
  dataDir: string,
  { role, name }: RoleName,
  known: KnownRoles,
  now: number,
): Promise<Joined | undefined> {
  const joined = await readJoined(dataDir)
  if (joined?.role !== role || joined.name !== name) return undefined
  const { serial, expiresAt } = lifeOfOwn(joined)
  const isValid = isOfKnown(joined.certificate, known) && !known.revoked.includes(serial) && now < expiresAt
  return isValid ? joined : undefined
}

function lifeOfOwn({ certificate, key }: OwnCertificate) {
  const { serialNumber, validTo } = new X509Certificate(certificate)
  return { certificate, key, serial: serialNumber, expiresAt: Date.parse(validTo) }
}

/** Returns whether a trusted authority has issued a certificate. */
function isOfKnown(certificate: string, { authorities }: KnownRoles): boolean {
  const leaf = new X509Certificate(certificate)
  return authorities.some((authority) => leaf.checkIssued(new X509Certificate(authority)))
}

/** Returns whether a certificate must be replaced. */
function isDue(
  { certificate, serial, expiresAt }: OwnCertificate & { readonly serial: string; readonly expiresAt: number },
  known: KnownRoles,
  now: number,
): boolean {
  // The operator wants it out. Only its next start asks for another.
  if (known.revoked.includes(serial)) return false
  if (now >= expiresAt - ROLE_CERTIFICATE_MS / 2) return true
  return !isOfKnown(certificate, known)
}
