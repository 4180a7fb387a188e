import type { Server } from 'node:http'
import { isAway } from '../../platform/db/last-known.ts'
import { acceptRoles } from '../../platform/mtls/accept-roles.ts'
import { secureAddress } from '../../platform/mtls/connect-to-role.ts'
import { isUncertifiedEdgeRunning } from '../../platform/processes/process.store.ts'
import { openRoleIdentity, type RoleIdentity } from '../certificates/role-certificate.ts'
import type { ProcessContext } from '../process-context.ts'
import { announcedAddress, isLoopback } from './announced-address.ts'

const LOOK_MS = 5_000

/**
 * Returns the certificate of a host. One without the master key also needs it to ask a control.
 * @param name the name of the host
 * @returns undefined if it needs none, because only processes of the same machine reach it
 * @throws OperatorError without an address for edges
 */
export async function openHostIdentity(context: ProcessContext, name: string): Promise<RoleIdentity | undefined> {
  if (!context.config.databaseUrl) return undefined
  if (context.masterKey && (await isAlone(context))) return undefined
  return openRoleIdentity(context, { role: 'host', name })
}

const announcedUrl = async ({ config }: ProcessContext): Promise<URL> =>
  new URL(await announcedAddress(config, config.hostListen.port))

const isAlone = async (context: ProcessContext): Promise<boolean> =>
  isLoopback((await announcedUrl(context)).hostname.replace(/^\[|\]$/g, ''))

/** What protects the web server of a host that other machines reach. */
export interface Walls {
  /** Lets only edges and controls connect. Must be called before the server listens. */
  guard(server: Server): void
  /** Returns the address to announce: `https://name@address:port`. */
  address(port: number): string
  /** Closes all connections. */
  end(): void
}

/**
 * Returns the protection of a host, which requires certificates. While edges of an earlier version run, which have no
 * certificate and ignore that the address says `https`, it accepts them without one.
 * @param name the name of the host
 * @returns undefined if only processes of the same machine reach the host
 */
export async function openWalls(
  context: ProcessContext,
  identity: RoleIdentity | undefined,
  name: string,
): Promise<Walls | undefined> {
  const { config, database, log } = context
  if (!identity || (await isAlone(context))) return undefined
  const announced = await announcedUrl(context)
  let isPlainAllowed = false
  const look = async () => {
    const is = await isUncertifiedEdgeRunning(database.read, Date.now())
    if (is && !isPlainAllowed) log.warn('an edge of an earlier version runs, so this host accepts it without TLS')
    isPlainAllowed = is
  }
  // While the database is away, the last answer counts, and none at a start means no.
  await look().catch((error) => {
    if (!isAway(error)) throw error
  })
  const timer = setInterval(() => void look().catch(() => {}), LOOK_MS)
  let endConnections = () => {}
  return {
    guard(server) {
      endConnections = acceptRoles(server, {
        trust: identity.trust,
        roles: ['edge', 'control'],
        isPlainAllowed: () => isPlainAllowed,
        onRefused: (reason, address) => log.warn({ reason, address }, 'refused a connection to this host'),
      })
    },
    address(port) {
      const { hostname } = announced
      return secureAddress(`http://${hostname}:${config.hostAdvertise?.port ?? port}`, name)
    },
    end() {
      clearInterval(timer)
      endConnections()
    },
  }
}
