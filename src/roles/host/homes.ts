import { HomeFolders } from '../../hosting/homes/home-folders.ts'
import { Homes, type HomesOptions } from '../../hosting/homes/homes.ts'
import type { Bound } from '../../hosting/identity/bind.ts'
import { keptFromSites } from '../../platform/files/free-room.ts'
import type { Ground } from '../part.ts'

export const isRoot = process.getuid?.() === 0

/** The homes of the host, with records and disk compared and put right. */
export async function openHomes(
  { config, database, log }: Ground,
  hostId: number,
  bound: Bound,
  databases: Pick<HomesOptions, 'onServer' | 'kinds'>,
): Promise<{ homes: Homes; folders: HomeFolders }> {
  const { identity } = bound
  const folders = new HomeFolders({
    dataDir: config.dataDir,
    identity,
    isRoot,
    keepFreeBytes: keptFromSites(config.diskReserveMb << 20),
    log,
  })
  const homes = new Homes({ database, hostId, folders, identity, prepared: config.preparedSites, ...databases, log })
  await homes.reconcile(bound)
  // last: until it is there, homes without a mark are taken for what their records say
  if (bound.isTakenOver) await identity.write()
  return { homes, folders }
}
