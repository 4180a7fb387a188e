import { contentPlace, withSnapshot } from '../../../hosting/site-database/database-content.ts'
import { PermanentFailure } from '../../../platform/operations/definition.ts'
import type { HostServices } from '../../kit/host-services.ts'
import type { SiteContent } from '../../kit/site-content.ts'
import { contentInStorage } from './content-in-storage.ts'
import type { SyncOrder } from './sync.ts'

interface Asked {
  readonly services: HostServices
  readonly input: Pick<SyncOrder, 'sourceId' | 'backups'>
  readonly signal: AbortSignal
}

/**
 * Returns the source as it is at this moment, when its site directory is on this host.
 * @throws PermanentFailure
 */
export async function sourceHere({ services, input, signal }: Asked): Promise<SiteContent> {
  const { siteFiles, siteDatabase, siteDirectories } = services
  const found = await siteDirectories.ofSite(input.sourceId)
  if (!found) throw new PermanentFailure(`Site ${input.sourceId} has no site directory on this host`)
  const directory = contentPlace(input.sourceId, found)
  return {
    fileBytes: async () => (await siteFiles.size(directory)).bytes,
    files: (scope) => siteFiles.walk(directory, { scope, signal }),
    async withDatabase(work) {
      await withSnapshot(siteDatabase, directory, (snapshot) =>
        work(snapshot.dump({ signal }), snapshot.estimatedBytes),
      )
    },
  }
}

/**
 * Returns the source as its automatic backups show it, when it is on another host.
 * @throws PermanentFailure when this host does not find them
 */
export const sourceInStorage = ({ services, input }: Asked): Promise<SiteContent> =>
  contentInStorage(
    services,
    input.sourceId,
    input.backups.filter(({ siteId }) => siteId === input.sourceId).map(({ backupId }) => backupId),
  )
