import { join } from 'node:path'
import { type Bound, bindFolder } from '../../hosting/identity/bind.ts'
import { LOCKS } from '../../hosting/identity/users.ts'
import { lockFile } from '../../platform/files/lock-file.ts'
import { namelessFolder } from '../../platform/files/nameless-file.ts'
import { removeLeftTemporaries } from '../../platform/files/write-file.ts'
import { OperatorError } from '../../platform/operator-error.ts'
import { describeControlDatabase, type ProcessContext } from '../process-context.ts'
import { isRoot } from './site-directories.ts'

/** A host whose supervisor died has finished what was under way after that. */
const PREDECESSOR_ENDS_MS = 40_000

/** The data folder is another process'. */
export class HostInUse extends OperatorError {
  override readonly name = 'HostInUse'
}

/** The data folder, this process' alone until it is released. */
export interface TakenFolder extends Bound {
  release(): void
}

/**
 * Takes the data folder: waits for a predecessor, clears away what a dead one was writing, finds out which host the folder is.
 * @throws HostInUse, OperatorError when folder and database do not belong together
 */
export async function takeDataFolder({ config, database }: ProcessContext): Promise<TakenFolder> {
  const { dataDir } = config
  // two hosts would run two PHP processes on one site's database, and each would clear away what the other is making
  const release = await lockFile(join(dataDir, 'host.lock'), { patienceMs: PREDECESSOR_ENDS_MS })
  if (!release) throw new HostInUse(`Another host process uses the data folder ${dataDir}`)
  await removeLeftTemporaries(dataDir)
  const locks = isRoot ? LOCKS : undefined
  const bound = await bindFolder(dataDir, { database, where: describeControlDatabase(config), locks }, Date.now())
  return {
    ...bound,
    release() {
      bound.releaseUsers()
      release()
    },
  }
}

/** Where bodies and answers go that do not fit into memory. */
export interface Spill {
  readonly folder: string
  /** The disk has room for more than the records. */
  hasRoom(): boolean
}

export async function openSpill({ config, room }: ProcessContext): Promise<Spill> {
  const folder = await namelessFolder(join(config.dataDir, 'spill'))
  return { folder, hasRoom: () => room.state === 'ok' }
}
