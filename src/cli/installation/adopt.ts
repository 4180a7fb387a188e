import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../config.ts'
import { isHeardOf, type KnownHost } from '../../hosting/identity/belonging.ts'
import { nameTaken } from '../../hosting/identity/faults.ts'
import { folderFacts, nameHost, newIdentity, RunningIdentity } from '../../hosting/identity/folder.ts'
import { giveHostIdentity, installationOf } from '../../hosting/identity/identity.store.ts'
import { someUsers } from '../../hosting/identity/users.ts'
import { DirectoriesOnDisk } from '../../hosting/site-directories/directories-on-disk.ts'
import { SiteDirectories } from '../../hosting/site-directories/site-directories.ts'
import { noLog } from '../../platform/log/log.ts'
import {
  type ControlDatabase,
  type ControlDatabaseSettings,
  describeControlDatabase,
  nothingThere,
  openControlDatabase,
} from '../../roles/process-context.ts'
import { CommandError } from '../output.ts'
import { whileStopped } from '../with-control-database.ts'

type AdoptSettings = ControlDatabaseSettings & Pick<Config, 'hostName'>

/** The result of an adoption. */
export interface Adopted {
  readonly host: string
  readonly database: string
  /** The number of site directories in their place, because the database knows them. */
  readonly homes: number
  /** The total number of site directories that the database does not know. */
  readonly set_aside: number
}

/**
 * Binds the data folder to the database at the operator's request. Nothing on the disk is deleted. Site directories
 * that the database knows stay in their place, and all others are quarantined.
 * @param wanted the name of the host to which this folder is assigned; by default its previous host, otherwise a new
 * one
 */
export async function adoptFolder(config: AdoptSettings, wanted?: string): Promise<Adopted> {
  const { dataDir } = config
  if (!existsSync(dataDir)) throw new CommandError(`The data folder ${dataDir} does not exist. Set STEAD_DATA_DIR.`)
  const { identity, hostName: name, siteDirectories } = await folderFacts(dataDir)
  // The rest of an installation may get a database, but an empty folder may not become an installation.
  const isOfStead = identity !== null || name !== null || siteDirectories > 0
  if (!isOfStead && !config.databaseUrl && !existsSync(join(dataDir, 'stead.db'))) throw nothingThere(config)
  return whileStopped(dataDir, async () => {
    const records = await openControlDatabase(config, { makes: isOfStead, strangers: 'adopt' })
    try {
      return await adopt(config, records, wanted)
    } finally {
      await records.database.close()
    }
  })
}

async function adopt(
  config: AdoptSettings,
  { database, folder, facts, belonging }: ControlDatabase,
  wanted?: string,
): Promise<Adopted> {
  const { dataDir } = config
  // A folder that returns from another installation has another identity by now, but still its name.
  const own = 'host' in belonging ? belonging.host : facts.hosts.find(({ name }) => name === folder.hostName)
  const known = wanted === undefined ? own : hostNamed(facts.hosts, wanted)
  if (known && isHeardOf(known, Date.now()))
    throw new CommandError(
      `${known.name} reported a moment ago. If it runs elsewhere, stop it. If it has just stopped, try again in ten seconds.`,
    )
  const name = known?.name ?? nameOfNew(folder.hostName, config.hostName, facts.hosts)
  const installation = (await installationOf(database.read))?.identity as string
  const isSame = folder.identity?.installation === installation
  const identity = new RunningIdentity(dataDir, {
    installation,
    host: known?.identity ?? (isSame && !wanted && folder.identity ? folder.identity.host : newIdentity()),
    epoch: Math.max(folder.identity?.epoch ?? 0, known?.epoch ?? 0),
    lastHome: folder.identity?.lastHome ?? 0,
    firstUser: folder.firstUser ?? someUsers(),
  })
  const folders = new DirectoriesOnDisk({ dataDir, identity, isRoot: process.getuid?.() === 0, log: noLog })
  if (known) {
    await database.transaction((tx) => giveHostIdentity(tx, known.id, identity.current.host))
    const siteDirectories = new SiteDirectories({
      database,
      hostId: known.id,
      folders,
      identity,
      prepared: 0,
      log: noLog,
    })
    await siteDirectories.reconcile({ isTakenOver: true })
  } else await quarantineAll(folders, identity)
  const { present, aside } = await folders.open()
  await nameHost(dataDir, name)
  // The identity comes last: until it is written, the folder is as foreign as before.
  await identity.write()
  return {
    host: name,
    database: describeControlDatabase(config),
    homes: present.length,
    set_aside: aside.length,
  }
}

/**
 * Returns the name of a host that the database does not know: its own, or the configured one, or a random one.
 * @throws OperatorError when another host has the configured name
 */
function nameOfNew(own: string | null, wanted: string | undefined, hosts: readonly KnownHost[]): string {
  const isTaken = (name: string) => hosts.some((host) => host.name === name)
  if (own !== null && !isTaken(own)) return own
  if (wanted === undefined) return `host-${newIdentity().slice(0, 12)}`
  if (isTaken(wanted)) throw nameTaken(wanted)
  return wanted
}

function hostNamed(hosts: readonly KnownHost[], name: string): KnownHost {
  const host = hosts.find((each) => each.name === name)
  if (!host) throw new CommandError(`Unknown host ${name}. To list hosts, run stead host list`)
  return host
}

/** Quarantines all site directories, because a new host has none yet. */
async function quarantineAll(folders: DirectoriesOnDisk, identity: RunningIdentity): Promise<void> {
  const { present, aside } = await folders.open()
  await identity.reserve(Math.max(0, ...present, ...aside))
  for (const id of present) await folders.quarantine(id, 'a database that does not know the folder has adopted it')
}
