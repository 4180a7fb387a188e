import { digestOf, readJoinToken } from '../certificates/join/join-token.ts'
import { createJoinToken, NameInUse, NoSuchHost } from '../certificates/join/join-tokens.store.ts'
import {
  AlreadyChanging,
  changeAuthority,
  isCertified,
  type ListedAuthority,
  revokeRole,
  signingAuthority,
  trustedAuthorities,
} from '../certificates/role-certificates.store.ts'
import { type Config, type ListenAddress, settings } from '../config.ts'
import { folderFacts, nameHost } from '../hosting/identity/folder.ts'
import { createSealer } from '../platform/crypto/seal.ts'
import { MINUTE_MS } from '../platform/durations.ts'
import { timestamp } from '../platform/http/schemas.ts'
import { type CertifiedRole, isMachineName } from '../platform/mtls/role-name.ts'
import { type FolderOwner, type Joined, joinInstallation, readJoined } from '../roles/certificates/join.ts'
import type { ControlDatabaseKey } from '../roles/process-context.ts'
import { usableDataFolder } from '../roles/start/data-folder.ts'
import type { Call } from './command.ts'
import { CommandError, printOne, printRows } from './output.ts'
import { masterKeyOf, withControlDatabase } from './with-control-database.ts'

/** Runs `stead host ca`. */
export async function authority({
  config,
  flags,
}: Call<{ rotate: boolean }, ControlDatabaseKey | 'masterKey'>): Promise<void> {
  await withControlDatabase(config, async ({ database }) => {
    const now = Date.now()
    const sealer = createSealer(await masterKeyOf(config, database))
    await signingAuthority({ database, sealer, now })
    if (flags.rotate)
      await changeAuthority({ database, sealer, now }).catch((error) => {
        throw error instanceof AlreadyChanging ? stillChanging() : error
      })
    const all = await trustedAuthorities(database.read, now)
    printRows(all.map(describeAuthority), flags.json)
    if (!flags.rotate || flags.json) return
    console.log(
      '\nThe new authority signs certificates in one hour, when all processes trust it. The old one stays trusted for another 30 days, until its last certificate has expired.',
    )
  })
}

const stillChanging = () =>
  new CommandError(
    'The authority is already changing: certificates of the old one are still in use. Try again when stead host ca lists one authority.',
  )

/** The digest tells a machine that joins which authority to expect. */
const describeAuthority = ({ number, certificate, signsAt, expiresAt, isSigning }: ListedAuthority) => ({
  number,
  state: isSigning ? 'signing' : 'trusted',
  digest: digestOf(certificate).toString('hex'),
  signs_from: timestamp(signsAt),
  expires: timestamp(expiresAt),
})

/** Runs `stead host token`. */
export async function token({
  config,
  flags,
}: Call<
  {
    name: string
    role: string | undefined
    expires: string | undefined
    datacenter: string | undefined
    again: boolean
  },
  ControlDatabaseKey | 'masterKey' | 'internalListen' | 'datacenters'
>): Promise<void> {
  const { name, role = 'host', expires = '60', again } = flags
  await withControlDatabase(config, async ({ database }) => {
    const minutes = Number(expires)
    if (!Number.isInteger(minutes) || minutes < 1 || minutes > MOST_MINUTES)
      throw new CommandError(`--expires must be a number of minutes from 1 to ${MOST_MINUTES}.`)
    if (!isMachineName(name))
      throw new CommandError('--name must be 1 to 63 letters, digits, and hyphens, and begin with a letter or digit.')
    if (config.internalListen === 'off')
      throw new CommandError(
        'Set STEAD_INTERNAL_LISTEN to the address and port at which other machines reach this control.',
      )
    const { host, port } = config.internalListen
    const now = Date.now()
    const options = { database, sealer: createSealer(await masterKeyOf(config, database)), now }
    const datacenters = datacentersOf(flags.datacenter, role, config)
    if (again && role !== 'host') throw new CommandError('--again is for hosts only. Other machines need no flag.')
    const owner = { role: role as CertifiedRole, name, expiresAt: now + minutes * MINUTE_MS, datacenters, again }
    const text = await createJoinToken(options, owner).catch((error) => {
      if (error instanceof NameInUse)
        throw new CommandError(
          `A host named ${name} exists. Choose another name. If its machine has to join again, add --again.`,
        )
      throw error instanceof NoSuchHost ? new CommandError(`No host is named ${name}. Omit --again.`) : error
    })
    const command = `stead join --token=${text} --control=${host.includes(':') ? `[${host}]` : host}:${port}`
    printOne({ role, name, token: text, expires: timestamp(owner.expiresAt), command }, flags.json)
  })
}

/** @throws CommandError for datacenters that the installation does not have, and for roles that serve none */
function datacentersOf(
  asked: string | undefined,
  role: string,
  { datacenters }: Pick<Config, 'datacenters'>,
): readonly string[] {
  if (asked === undefined) return []
  if (role !== 'host') throw new CommandError('--datacenter is for hosts only.')
  const known = datacenters.map(({ code }) => code)
  const codes = asked.split(',')
  if (codes.some((code) => !known.includes(code)))
    throw new CommandError(`--datacenter must be one or several of ${known.join(', ')}, separated by commas.`)
  return codes
}

/** A day. */
const MOST_MINUTES = 1440

/** Runs `stead host revoke`. */
export async function revoke({
  config,
  flags: { name, role = 'edge', json },
}: Call<{ name: string; role: string | undefined }, ControlDatabaseKey>): Promise<void> {
  if (role === 'host')
    throw new CommandError(`A host has sites. Run stead host lost --name=${name} or stead host remove --name=${name}.`)
  await withControlDatabase(config, async ({ database }) => {
    const owner = { role: role as CertifiedRole, name }
    await database.transaction(async (tx) => {
      if (!(await isCertified(tx, owner, Date.now())))
        throw new CommandError(`No ${role} named ${name} has a certificate.`)
      await revokeRole(tx, owner, Date.now())
    })
    printOne({ ...owner, state: 'revoked' }, json)
  })
}

/** Runs `stead join`. */
export async function join({ config, flags }: Call<{ token: string; control: string }, 'dataDir'>): Promise<void> {
  const token = readJoinToken(flags.token)
  if (!token) throw new CommandError('--token is not a token. Create one with stead host token on a control.')
  let control: ListenAddress | 'off'
  try {
    control = settings.internalListen.parse(flags.control)
  } catch (error) {
    throw new CommandError(`--control ${(error as Error).message}`, { cause: error })
  }
  if (control === 'off') throw new CommandError('--control must be the address and port of a control.')
  await usableDataFolder(config.dataDir)
  const joined = await joinInstallation(token, control, config.dataDir, await ownerOfFolder(config.dataDir))
  const { role, name } = joined
  if (role === 'host') await nameHost(config.dataDir, name)
  printOne({ role, name, data_folder: config.dataDir }, flags.json)
  if (!flags.json) console.log(`\n${nextStep(joined)}`)
}

/** A folder with an identity from before it joined is that of a host. */
async function ownerOfFolder(dataDir: string): Promise<FolderOwner | undefined> {
  const { identity, hostName: name } = await folderFacts(dataDir)
  const before = (await readJoined(dataDir)) ?? (identity && name ? { role: 'host' as const, name } : undefined)
  return before && { role: before.role, name: before.name, installation: identity?.installation }
}

function nextStep({ role, databaseUrl, keys, storage }: Joined): string {
  if (databaseUrl !== undefined && storage)
    return 'This machine has its certificate, its own login for the database, and the keys of its role. A control signs its requests to the storage for backups. Do not set STEAD_MASTER_KEY, STEAD_DATABASE_URL and STEAD_BACKUP_S3_BUCKET. Run stead host'
  if (databaseUrl !== undefined && role === 'host')
    return 'This machine has its certificate, its own login for the database, and the keys of its role. Set the storage for backups as on the control. Do not set STEAD_MASTER_KEY and STEAD_DATABASE_URL. Run stead host'
  if (databaseUrl !== undefined)
    return `This machine has its certificate, its own login for the database, and the keys of its role. Do not set STEAD_DATABASE_URL and STEAD_MASTER_KEY. Run stead ${role}`
  if (keys)
    return `This machine has its certificate and the keys of its role. Set STEAD_DATABASE_URL${storage ? '' : ' and the storage for backups'} as on the control. Do not set STEAD_MASTER_KEY. Run stead ${role}`
  return `This machine has its certificate. Set STEAD_DATABASE_URL and STEAD_MASTER_KEY as on the control, then run stead ${role}`
}
