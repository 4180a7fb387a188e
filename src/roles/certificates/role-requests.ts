import { BadCertificateRequest, keyOfRequest } from '../../certificates/join/certificate-request.ts'
import { TokenRefused } from '../../certificates/join/join-tokens.store.ts'
import { issueRoleCertificate, knownRoles, RoleRevoked } from '../../certificates/role-certificates.store.ts'
import { edgeKeysOf } from '../../platform/crypto/edge-keys.ts'
import { hostKeysOf } from '../../platform/crypto/host-keys.ts'
import { type CertifiedRole, certifiedRoles, type RoleName } from '../../platform/mtls/role-name.ts'
import type { StorageSettings } from '../../resources/kit/open-backups.ts'
import type { CoreSettings, CoresForHosts } from '../keys/cores-for-hosts.ts'
import { claimStorageFor, NotItsOwn, repositoryKeysFor, secretFor } from '../keys/keys-for-hosts.ts'
import { requireMasterKey } from '../keys/process-keys.ts'
import { AsksTooOften, NoBucket, type StorageForHosts } from '../keys/storage-for-hosts.ts'
import type { ProcessContext } from '../process-context.ts'
import { certificatesOf, sealForEdges } from './edge-certificates.ts'

const MOST_OWNER_LENGTH = 120

/** A refusal, with a text for the operator of the machine that asks. */
export class MachineRefused extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

export type ListenerContext = Pick<
  ProcessContext,
  'database' | 'sealer' | 'edgeSealer' | 'masterKey' | 'log' | 'room' | 'logs'
> & {
  readonly config: StorageSettings &
    CoreSettings &
    Pick<
      ProcessContext['config'],
      'internalListen' | 'databaseUrl' | 'localAuthority' | 'stagingDomain' | 'edgeTlsListen'
    >
}

/** The services of a listener for hosts without credentials of the storage. */
export interface ForHosts {
  readonly storage: StorageForHosts
  readonly cores: CoresForHosts
}

/** A request of a machine that has joined. */
interface RoleRequest {
  /** The roles that may send it. */
  readonly roles: readonly CertifiedRole[]
  /** @param owner the owner of the certificate. A name in the body would be a claim. */
  answer(context: ListenerContext & ForHosts, owner: RoleName, body: Record<string, unknown>): Promise<object>
}

const renew: RoleRequest['answer'] = async ({ database, sealer }, owner, { request }) => {
  const now = Date.now()
  const publicKey = await keyInRequest(request)
  const { certificate } = await issueRoleCertificate({ database, sealer, now }, { owner, publicKey })
  return { ...owner, certificate, authorities: (await knownRoles(database.read, now)).authorities }
}

const giveRepositoryKey: RoleRequest['answer'] = (context, { name }, { owner }) =>
  repositoryKeysFor(context, name, String(owner).slice(0, MOST_OWNER_LENGTH))

const openSecret: RoleRequest['answer'] = async (context, { name }, { operation }) => {
  if (!Number.isSafeInteger(operation)) throw new MachineRefused(400, 'The request names no operation.')
  return { secret: await secretFor(context, name, Number(operation)) }
}

const sealKey: RoleRequest['answer'] = async (context, _owner, { host_name: hostName }) => {
  if (!(await sealForEdges(context, String(hostName)))) throw new MachineRefused(404, 'No certificate has this name.')
  return {}
}

const issueLocalCertificate: RoleRequest['answer'] = async (context, _owner, { host_name: hostName }) => {
  const { makes, load } = certificatesOf(context)
  const name = String(hostName)
  if (!makes?.(name) || !(await load(name))) throw new MachineRefused(404, 'No site has this name.')
  return {}
}

/** The requests of machines that have joined, by method and path. */
export const roleRequests: ReadonlyMap<string, RoleRequest> = new Map(
  Object.entries({
    renew: { roles: certifiedRoles, answer: renew },
    keys: { roles: ['edge', 'host'], answer: async (context, owner) => givenTo(context, owner) },
    'repository-key': { roles: ['host'], answer: giveRepositoryKey },
    'backup-storage': { roles: ['host'], answer: async (context) => ({ mark: await claimStorageFor(context) }) },
    'storage-requests': {
      roles: ['host'],
      answer: ({ storage }, { name }, { requests }) => storage.sign(name, requests),
    },
    'storage-removal': { roles: ['host'], answer: ({ storage }, { name }, { names }) => storage.remove(name, names) },
    'core-copy': { roles: ['host'], answer: ({ cores }, _owner, { version }) => cores.keep(String(version)) },
    'operation-secret': { roles: ['host'], answer: openSecret },
    'certificate-key': { roles: ['edge'], answer: sealKey },
    'local-certificate': { roles: ['edge'], answer: issueLocalCertificate },
  } satisfies Record<string, RoleRequest>).map(([path, each]) => [`POST /internal/${path}`, each]),
)

/** Returns the keys of a machine, which has no master key, and where a host finds the storage for backups. */
export function givenTo(context: ListenerContext & ForHosts, { role, name }: RoleName) {
  const masterKey = requireMasterKey(context)
  if (role !== 'host') return { keys: edgeKeysOf(masterKey) }
  const { place } = context.storage
  return { keys: hostKeysOf(masterKey, name), ...(place && { storage: place }) }
}

export const keyInRequest = (text: unknown) =>
  keyOfRequest(String(text)).catch((error) => {
    throw error instanceof BadCertificateRequest ? new MachineRefused(400, error.message) : error
  })

/** Throws the answer to a refusal. */
export function asRefusal(error: unknown): never {
  if (error instanceof NotItsOwn)
    throw new MachineRefused(
      403,
      `This host may not have this: ${error.message}. It is not of its own sites and operations.`,
    )
  if (error instanceof AsksTooOften)
    throw new MachineRefused(429, 'This host asks for too many signatures. It may ask again in a minute.')
  if (error instanceof NoBucket)
    throw new MachineRefused(409, 'The control stores backups in a folder. Set STEAD_BACKUP_DIR on this host.')
  if (error instanceof TokenRefused)
    throw new MachineRefused(
      403,
      'The token is not valid: it is wrong, has expired, or was used by another machine. Create another with stead host token.',
    )
  if (error instanceof RoleRevoked)
    throw new MachineRefused(
      403,
      `The host ${error.message} is marked lost or removed. Run stead host return --name=${error.message}, or create a token with another name.`,
    )
  throw error
}
