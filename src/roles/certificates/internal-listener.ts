import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { BadCertificateRequest, keyOfRequest } from '../../certificates/join/certificate-request.ts'
import { redeemJoinToken, TokenRefused } from '../../certificates/join/join-tokens.store.ts'
import { issueRoleCertificate, knownRoles, RoleRevoked } from '../../certificates/role-certificates.store.ts'
import { edgeKeysOf } from '../../platform/crypto/edge-keys.ts'
import { type CertifiedRole, certifiedRoles, ownerOf, type RoleName } from '../../platform/mtls/role-name.ts'
import type { RoleTrust } from '../../platform/mtls/role-trust.ts'
import { readAtMost } from '../../platform/read-at-most.ts'
import { listenAlone } from '../free-port.ts'
import { requireMasterKey } from '../keys/process-keys.ts'
import { openLogin } from '../logins/open-login.ts'
import type { ProcessContext, RunningRole } from '../process-context.ts'
import { certificatesOf, sealForEdges } from './edge-certificates.ts'

const MOST_BODY_BYTES = 16_384
const MOST_CONNECTIONS = 64
const HANDSHAKE_MS = 5_000
const REQUEST_MS = 10_000

/** The listener of a control for other machines of the installation. */
export interface InternalListener extends RunningRole {
  readonly port: number
}

/** A refusal, with a text for the operator of the machine that asks. */
class Refused extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

type NeededContext = Pick<
  ProcessContext,
  'database' | 'sealer' | 'edgeSealer' | 'masterKey' | 'log' | 'room' | 'logs'
> & {
  readonly config: Pick<
    ProcessContext['config'],
    'internalListen' | 'databaseUrl' | 'localAuthority' | 'stagingDomain' | 'edgeTlsListen'
  >
}

/**
 * Lets machines join with a token, and renews their certificates.
 * @returns undefined when it is off
 * @throws CannotListen
 */
export async function startInternalListener(
  context: NeededContext,
  trust: RoleTrust | undefined,
): Promise<InternalListener | undefined> {
  const { config, log } = context
  if (config.internalListen === 'off' || !trust) return undefined
  const server = createServer(
    {
      ...trust.options(),
      // A machine that joins has none yet. The others are checked with each request.
      ...{ requestCert: true, rejectUnauthorized: false, handshakeTimeout: HANDSHAKE_MS },
      ...{ headersTimeout: HANDSHAKE_MS, requestTimeout: REQUEST_MS, keepAlive: false },
    },
    (request, response) => {
      const address = request.socket.remoteAddress
      answer(context, trust, request).then(
        (body) => send(response, 200, body),
        (error) => {
          if (!(error instanceof Refused)) log.error({ err: error }, 'could not answer another machine')
          else log.warn({ reason: error.message, address }, 'refused another machine')
          send(response, error instanceof Refused ? error.status : 500, { message: messageOf(error) })
        },
      )
    },
  )
  server.maxConnections = MOST_CONNECTIONS
  const endOfChanges = trust.onChange(() => server.setSecureContext(trust.options()))
  await listenAlone(server, config.internalListen, 'STEAD_INTERNAL_LISTEN')
  const { port } = server.address() as AddressInfo
  log.info({ host: config.internalListen.host, port }, 'control is listening for machines that join')
  return {
    port,
    async stop() {
      endOfChanges()
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

const messageOf = (error: unknown): string =>
  error instanceof Refused ? error.message : 'The control could not answer. Its log says why.'

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' }).end(JSON.stringify(body))
}

async function answer(context: NeededContext, trust: RoleTrust, request: IncomingMessage): Promise<object> {
  const { database, sealer } = context
  const options = { database, sealer, now: Date.now() }
  const authorities = async () => (await knownRoles(database.read, options.now)).authorities
  switch (`${request.method} ${request.url}`) {
    case 'GET /internal/authorities':
      return { authorities: await authorities() }
    case 'POST /internal/join': {
      const { secret, request: text } = await bodyOf(request)
      const publicKey = await usableKey(text)
      const joined = await redeemJoinToken(options, { secret: String(secret), publicKey }).catch(refusing)
      const own = await openLogin(context, joined)
      // Without a login of its own, it needs the settings of the control, and so the master key.
      const given = own && { database: own, ...(joined.role === 'edge' && keysFor(context)) }
      return { ...joined, ...given, authorities: await authorities() }
    }
    case 'POST /internal/renew': {
      const owner = peerOf(request.socket as TLSSocket, trust)
      const publicKey = await usableKey((await bodyOf(request)).request)
      const { certificate } = await issueRoleCertificate(options, { owner, publicKey }).catch(refusing)
      return { ...owner, certificate, authorities: await authorities() }
    }
    case 'POST /internal/keys': {
      peerOf(request.socket as TLSSocket, trust, ['edge'])
      return keysFor(context)
    }
    case 'POST /internal/certificate-key': {
      peerOf(request.socket as TLSSocket, trust, ['edge'])
      const hostName = String((await bodyOf(request)).host_name)
      if (!(await sealForEdges(context, hostName))) throw new Refused(404, 'No certificate has this name.')
      return {}
    }
    case 'POST /internal/local-certificate': {
      peerOf(request.socket as TLSSocket, trust, ['edge'])
      const hostName = String((await bodyOf(request)).host_name)
      const { makes, load } = certificatesOf(context)
      if (!makes?.(hostName) || !(await load(hostName))) throw new Refused(404, 'No site has this name.')
      return {}
    }
    default:
      throw new Refused(404, 'There is nothing at this address.')
  }
}

const keysFor = ({ masterKey }: NeededContext) => ({ keys: edgeKeysOf(requireMasterKey({ masterKey })) })

/** @throws Refused for a client without a valid certificate of one of the roles */
function peerOf(socket: TLSSocket, trust: RoleTrust, roles: readonly CertifiedRole[] = certifiedRoles): RoleName {
  const certificate = socket.getPeerX509Certificate()
  const fault = socket.authorized ? trust.faultOf(certificate, { roles }) : 'its certificate is not valid'
  const owner = certificate && ownerOf(certificate)
  if (fault !== undefined || !owner) throw new Refused(403, `This machine may not ask for this: ${fault}.`)
  return owner
}

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  const length = Number(request.headers['content-length'] ?? 0)
  const bytes = length > MOST_BODY_BYTES ? undefined : await readAtMost(request, MOST_BODY_BYTES)
  if (!bytes) throw new Refused(413, 'The request is too large.')
  try {
    return Object(JSON.parse(String(bytes))) as Record<string, unknown>
  } catch {
    throw new Refused(400, 'The request is not JSON.')
  }
}

const usableKey = (text: unknown) =>
  keyOfRequest(String(text)).catch((error) => {
    throw error instanceof BadCertificateRequest ? new Refused(400, error.message) : error
  })

function refusing(error: unknown): never {
  if (error instanceof TokenRefused)
    throw new Refused(
      403,
      'The token is not valid: it is wrong, has expired, or was used by another machine. Create another with stead host token.',
    )
  if (error instanceof RoleRevoked)
    throw new Refused(403, `The host ${error.message} is marked lost or removed. Create a token with another name.`)
  throw error
}
