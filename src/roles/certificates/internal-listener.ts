import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { redeemJoinToken } from '../../certificates/join/join-tokens.store.ts'
import { knownRoles } from '../../certificates/role-certificates.store.ts'
import { installationOf } from '../../hosting/identity/identity.store.ts'
import { type CertifiedRole, ownerOf, type RoleName, uriOf } from '../../platform/mtls/role-name.ts'
import type { RoleTrust } from '../../platform/mtls/role-trust.ts'
import { readAtMost } from '../../platform/read-at-most.ts'
import { coresForHosts } from '../keys/cores-for-hosts.ts'
import { storageForHosts } from '../keys/storage-for-hosts.ts'
import { openLogin } from '../logins/open-login.ts'
import type { RunningRole } from '../process-context.ts'
import { listenAlone } from '../start/free-port.ts'
import { startReportingControl } from './report-control.ts'
import { RequestLimit } from './request-limit.ts'
import {
  asRefusal,
  type ForHosts,
  givenTo,
  keyInRequest,
  type ListenerContext,
  MachineRefused,
  roleRequests,
} from './role-requests.ts'

const MOST_BODY_BYTES = 16_384
const MOST_CONNECTIONS = 64
const HANDSHAKE_MS = 5_000
const REQUEST_MS = 10_000

/** The listener of a control for other machines of the installation. */
export interface InternalListener extends RunningRole {
  readonly port: number
}

/**
 * Lets machines join with a token, renews their certificates, and opens for them what their role and name may have.
 * @returns undefined when it is off
 * @throws CannotListen
 */
export async function startInternalListener(
  context: ListenerContext,
  trust: RoleTrust | undefined,
  limit = new RequestLimit(),
): Promise<InternalListener | undefined> {
  const { config, log } = context
  if (config.internalListen === 'off' || !trust) return undefined
  const forHosts: ForHosts = { storage: storageForHosts(context), cores: coresForHosts(context) }
  const server = createServer(
    {
      ...trust.options(),
      // A machine that joins has none yet. The others are checked with each request.
      ...{ requestCert: true, rejectUnauthorized: false, handshakeTimeout: HANDSHAKE_MS },
      ...{ headersTimeout: HANDSHAKE_MS, requestTimeout: REQUEST_MS, keepAlive: false },
    },
    (request, response) => {
      const address = request.socket.remoteAddress
      const machine = machineOf(request.socket as TLSSocket)
      answer({ ...context, ...forHosts }, { trust, limit }, request).then(
        (body) => send(response, 200, body),
        (error) => {
          if (!(error instanceof MachineRefused)) log.error({ err: error }, 'could not answer another machine')
          else log.warn({ reason: error.message, address, machine }, 'refused another machine')
          send(response, error instanceof MachineRefused ? error.status : 500, { message: messageOf(error) })
        },
      )
    },
  )
  server.maxConnections = MOST_CONNECTIONS
  const endOfChanges = trust.onChange(() => server.setSecureContext(trust.options()))
  await listenAlone(server, config.internalListen, 'STEAD_INTERNAL_LISTEN')
  const { port } = server.address() as AddressInfo
  log.info({ host: config.internalListen.host, port }, 'control is listening for machines that join')
  const reports = startReportingControl(context, port)
  return {
    port,
    async stop() {
      endOfChanges()
      await reports.stop()
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await Promise.all([closed, forHosts.cores.stop()])
    },
  }
}

const messageOf = (error: unknown): string =>
  error instanceof MachineRefused ? error.message : 'The control could not answer. Its log says why.'

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' }).end(JSON.stringify(body))
}

interface Judges {
  readonly trust: RoleTrust
  readonly limit: RequestLimit
}

async function answer(context: ListenerContext & ForHosts, judges: Judges, request: IncomingMessage): Promise<object> {
  const { database, sealer } = context
  const now = Date.now()
  const authorities = async () => (await knownRoles(database.read, now)).authorities
  const what = `${request.method} ${request.url}`
  const asked = roleRequests.get(what)
  if (asked) {
    const owner = peerOf(request, judges, asked.roles)
    return asked.answer(context, owner, await bodyOf(request)).catch(asRefusal)
  }
  switch (what) {
    case 'GET /internal/authorities':
      return { authorities: await authorities() }
    case 'POST /internal/join': {
      const { secret, request: text } = await bodyOf(request)
      const publicKey = await keyInRequest(text)
      const joined = await redeemJoinToken({ database, sealer, now }, { secret: String(secret), publicKey }).catch(
        asRefusal,
      )
      const own = await openLogin(context, joined)
      // An edge without a login of its own needs the settings of the control, and so the master key.
      const hasKeys = joined.role === 'host' || (joined.role === 'edge' && own !== undefined)
      const given = { ...(own && { database: own }), ...(hasKeys && givenTo(context, joined)) }
      const { identity: installation } = (await installationOf(database.read)) ?? {}
      return { ...joined, ...given, installation, authorities: await authorities() }
    }
    default:
      throw new MachineRefused(404, 'There is nothing at this address.')
  }
}

/** Returns the owner of the certificate of a client, for the log. */
function machineOf(socket: TLSSocket): string | undefined {
  const certificate = socket.authorized ? socket.getPeerX509Certificate() : undefined
  const owner = certificate && ownerOf(certificate)
  return owner && uriOf(owner)
}

/** @throws MachineRefused for a client without a valid certificate of one of the roles, and for one that asks too often */
function peerOf(
  { socket: plain }: IncomingMessage,
  { trust, limit }: Judges,
  roles: readonly CertifiedRole[],
): RoleName {
  const socket = plain as TLSSocket
  const certificate = socket.getPeerX509Certificate()
  const fault = socket.authorized ? trust.faultOf(certificate, { roles }) : 'its certificate is not valid'
  const owner = certificate && ownerOf(certificate)
  if (fault !== undefined || !owner) throw new MachineRefused(403, `This machine may not ask for this: ${fault}.`)
  if (!limit.take(uriOf(owner)))
    throw new MachineRefused(429, 'This machine asks too often. It may ask again in a minute.')
  return owner
}

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  const length = Number(request.headers['content-length'] ?? 0)
  const bytes = length > MOST_BODY_BYTES ? undefined : await readAtMost(request, MOST_BODY_BYTES)
  if (!bytes) throw new MachineRefused(413, 'The request is too large.')
  try {
    return Object(JSON.parse(String(bytes))) as Record<string, unknown>
  } catch {
    throw new MachineRefused(400, 'The request is not JSON.')
  }
}
