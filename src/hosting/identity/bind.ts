import type { Database } from '../../platform/db/database.ts'
import { belongingOf, isCopyRunning } from './belonging.ts'
import { copyRuns, foreignKnowledge, nameTaken, strangers } from './faults.ts'
import { firstHostName, folderFacts, nameHost, newIdentity, RunningIdentity } from './folder.ts'
import { databaseFacts } from './identity.store.ts'
import { type TakenUsers, takeUsers } from './users.ts'

/** A data folder with the host that it belongs to. */
export interface Bound {
  readonly name: string
  readonly identity: RunningIdentity
  /** The folder had no identity, so its site directories may have no marks. Write its identity once they do. */
  readonly isTakenOver: boolean
  /** Releases the users of its site directories for others. */
  releaseUsers(): void
}

export interface BindOptions {
  readonly database: Database
  readonly where: string
  readonly locks?: string | undefined
  readonly users?: TakenUsers | undefined
  /** The name of a new host, by default a random one. */
  readonly newName?: string | undefined
}

/**
 * Returns which host the folder was at its last start, for a start while the database is away. Changes nothing: see
 * {@link bindFolder} for later.
 * @throws OperatorError when it has become another one
 */
export async function bindKnownFolder(
  dataDir: string,
  known: { readonly identity: string; readonly name: string },
  locks?: string,
): Promise<Bound & { readonly users: TakenUsers }> {
  const { identity: own, firstUser } = await folderFacts(dataDir)
  if (own?.host !== known.identity) throw foreignKnowledge(dataDir)
  const users = await takeUsers(firstUser, locks)
  const identity = new RunningIdentity(dataDir, { ...own, firstUser: users.first })
  return { name: known.name, identity, isTakenOver: false, releaseUsers: users.release, users }
}

/**
 * Determines which host the folder is, and increases its epoch: in the folder first, so that after a crash the record
 * is behind, not the folder. Only for the process that holds the folder's lock.
 * @param locks the folder of the locks on users of site directories; see {@link takeUsers}
 * @param users those that this process has taken already
 * @throws OperatorError when folder and database do not belong together, a copy of the folder runs, or another host has
 * the name of a new one
 */
export async function bindFolder(
  dataDir: string,
  { database, where, locks, users: taken, newName }: BindOptions,
  nowMs: number,
): Promise<Bound> {
  const [folder, records] = await Promise.all([folderFacts(dataDir), databaseFacts(database)])
  const belonging = belongingOf(folder, records)
  if (belonging.kind === 'stranger') throw strangers(belonging.reason, { dataDir, folder, database: where })
  const host = belonging.kind === 'new' ? undefined : belonging.host
  if (folder.identity && host && isCopyRunning(folder.identity, host, nowMs)) throw copyRuns(dataDir, host.name)
  const isTaken = newName !== undefined && records.hosts.some((known) => known.name === newName)
  if (!host && folder.hostName === null && isTaken) throw nameTaken(newName)
  if (host) await nameHost(dataDir, host.name)
  const name = host?.name ?? (await firstHostName(dataDir, newName))
  const own = folder.identity
  const users = taken ?? (await takeUsers(folder.firstUser, locks))
  const identity = new RunningIdentity(dataDir, {
    installation: records.installation as string,
    host: own?.host ?? host?.identity ?? newIdentity(),
    epoch: Math.max(own?.epoch ?? 0, host?.epoch ?? 0) + 1,
    lastHome: own?.lastHome ?? 0,
    firstUser: users.first,
  })
  const isTakenOver = own === null && folder.siteDirectories > 0
  if (!isTakenOver) await identity.write()
  return { name, identity, isTakenOver, releaseUsers: users.release }
}
