import Type from 'typebox'
import { DAY_MS } from '../../../platform/durations.ts'
import { durableWith, PermanentFailure, type StepContext } from '../../../platform/operations/definition.ts'
import { enqueue } from '../../../platform/operations/enqueue.ts'
import type { HostServices } from '../../kit/host-services.ts'
import { deleteRoutes } from '../addresses/route.store.ts'
import { findSite } from '../site.store.ts'

type Context = StepContext<{ siteId: number }, HostServices>

/** Stops a deleted site at once. Its files stay in the trash for some days, or are removed now if the trash is off. */
export const removeSite = durableWith<HostServices>()({
  name: 'site.remove',
  input: Type.Object({ siteId: Type.Integer() }),
  on: 'host',
  changeableBy: { site: 'delete the site' },
  mustEnd: true,
  steps: {
    stop: { run: stopPhp },
    trash: {
      async commit(tx, context) {
        const { siteId, accountId } = context
        const hostId = context.services.hostId
        const afterMs = context.services.config.trashDays * DAY_MS
        await enqueue(tx, purgeSite, context.input, { siteId, accountId, hostId, afterMs })
      },
    },
  },
})

/** Removes a site from the disk completely, when its time in the trash is over. */
export const purgeSite = durableWith<HostServices>()({
  name: 'site.purge',
  input: Type.Object({ siteId: Type.Integer() }),
  on: 'host',
  changeableBy: { site: 'delete the site' },
  mustEnd: true,
  steps: {
    files: { run: removeFiles },
    records: {
      async commit(tx, { input, services }) {
        await deleteRoutes(tx, input.siteId)
        for (const { forgotten } of services.siteHooks) await forgotten?.(tx, input.siteId)
      },
    },
  },
})

/**
 * Rejects if the site is not deleted. An operation of a deletion can be retried even after the site was recovered from
 * the trash.
 */
async function mustBeDeleted({ services, input }: Context): Promise<void> {
  if (await findSite(services.database.read, input.siteId)) throw new PermanentFailure('The site is not deleted')
}

async function stopPhp(context: Context): Promise<void> {
  await mustBeDeleted(context)
  const { services, input } = context
  await services.pool.stop(input.siteId, 2000)
}

async function removeFiles(context: Context): Promise<void> {
  await mustBeDeleted(context)
  const { services, input } = context
  await services.pool.stop(input.siteId, 0)
  const directory = await services.siteDirectories.ofSite(input.siteId)
  if (directory) await services.siteDirectories.remove(directory)
}
