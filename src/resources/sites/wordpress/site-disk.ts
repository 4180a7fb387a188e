import type { Database } from '../../../platform/db/database.ts'
import { planNamed } from '../../account/public.ts'
import { changeBy } from '../../kit/change.ts'
import { actions } from '../actions.ts'
import { markDiskFull, ownerOfDirectory } from './site-disk.store.ts'

const MB = 1 << 20
/** A file system usually has one inode for 16 kB. A site may use the same share of them as of the bytes. */
const FILES_PER_MB = 25
/** WordPress with some plugins has ten thousand files. */
const LEAST_FILES = 20_000
/** Stead records it again after this time, if the disk is still full. */
const SAY_AGAIN_MS = 24 * 3600_000

/**
 * Returns what the site in a site directory may use on the disk: the limit in the settings, or its owner's plan if that
 * is less.
 */
export async function diskQuota(
  database: Database,
  directoryId: number,
  settings: { readonly siteDiskMb: number },
): Promise<{ bytes: number; files: number }> {
  const owner = await ownerOfDirectory(database.read, directoryId)
  const mb = Math.min(settings.siteDiskMb, (owner && planNamed(owner.plan).siteDiskMb) ?? Number.POSITIVE_INFINITY)
  return quotaOfSettings({ siteDiskMb: mb })
}

/** Returns what any site may use on the disk, whatever its owner's plan. */
export const quotaOfSettings = ({ siteDiskMb: mb }: { readonly siteDiskMb: number }) => ({
  bytes: mb * MB,
  files: Math.max(LEAST_FILES, mb * FILES_PER_MB),
})

const reasons = {
  quota: 'The site has used all of its disk space and is read-only. Delete files to make space',
  disk: 'The disk of the host is nearly full, so the site is read-only for now',
} as const

/**
 * Records in the activity log that the site in a site directory could not write, at most once a day.
 * @returns the site's id when this call has recorded it
 */
export async function tellDiskFull(
  database: Database,
  directoryId: number,
  why: keyof typeof reasons,
  now: number,
): Promise<number | undefined> {
  return database.transaction(async (tx) => {
    const owner = await ownerOfDirectory(tx, directoryId)
    if (!owner || !(await markDiskFull(tx, directoryId, { now, unlessSince: now - SAY_AGAIN_MS }))) return undefined
    const { accountId, siteId } = owner
    const change = changeBy(tx, { actor: 'systems', about: { accountId, siteId }, now })
    await change.record({ action: actions['site.disk_full'], message: reasons[why] })
    return siteId
  })
}
