import { join } from 'node:path'
import { type Bound, bindFolder, bindKnownFolder } from '../../hosting/identity/bind.ts'
import { LOCKS, type TakenUsers } from '../../hosting/identity/users.ts'
import { lockFile } from '../../platform/files/lock-file.ts'
import { namelessFolder } from '../../platform/files/nameless-file.ts'
import { removeLeftTemporaries } from '../../platform/files/write-file.ts'
import { OperatorError } from '../../platform/operator-error.ts'
import type { KnownSites } from '../known/known-sites.ts'
import { describeControlDatabase, type ProcessContext } from '../process-context.ts'
import { isRoot } from './site-directories.ts'

/** The time in which a host whose supervisor died finishes its work. */
const PREDECESSOR_ENDS_MS = 40_000

/** Another process uses the data folder. */
export class HostInUse extends OperatorError {
  override readonly name = 'HostInUse'
}

/** The data folder, which only this process uses until it is released. */
export interface TakenFolder extends Bound {
  /** Set if the folder was taken while the database was away. */
  readonly users?: TakenUsers | undefined
  release(): void
}

/**
 * Takes the data folder: waits for a predecessor, removes incomplete files of a dead one, and determines which host the
 * folder is.
 * @param known which host it was, for a start while the database is away
 * @throws HostInUse, OperatorError when folder and database do not belong together
 */
export async function takeDataFolder(context: ProcessContext, known?: KnownSites): Promise<TakenFolder> {
  const { dataDir } = context.config
  // Two hosts would run two PHP processes on one site's database, and each would remove what the other is creating.
  const unlock = await lockFile(join(dataDir, 'host.lock'), { patienceMs: PREDECESSOR_ENDS_MS })
  if (!unlock) throw new HostInUse(`Another host process uses the data folder ${dataDir}`)
  await removeLeftTemporaries(dataDir)
  const bound = known ? await bindKnownFolder(dataDir, known, locks) : await bind(context)
  return {
    ...bound,
    release() {
      bound.releaseUsers()
      unlock()
    },
  }
}

const locks = isRoot ? LOCKS : undefined

const bind = ({ config, database }: ProcessContext, users?: TakenUsers): Promise<Bound> => {
  const { dataDir, hostName: newName } = config
  return bindFolder(dataDir, { database, where: describeControlDatabase(config), locks, users, newName }, Date.now())
}

/**
 * Determines again which host a folder is that was taken while the database was away.
 * @throws OperatorError when folder and database do not belong together
 */
export async function takeDataFolderAgain(context: ProcessContext, taken: TakenFolder): Promise<TakenFolder> {
  return { ...(await bind(context, taken.users)), release: taken.release, users: taken.users }
}

/** The folder for bodies and answers that do not fit into memory. */
export interface Spill {
  readonly folder: string
  /** Returns whether the disk has room for more than the records. */
  hasRoom(): boolean
}

export async function openSpill({ config, room }: ProcessContext): Promise<Spill> {
  const folder = await namelessFolder(join(config.dataDir, 'spill'))
  return { folder, hasRoom: () => room.state === 'ok' }
}
