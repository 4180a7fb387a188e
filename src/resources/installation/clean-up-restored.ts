import type { BackupFacts, BackupStore } from '../../backups/backup-store.ts'
import { forgetServed } from '../../dns/zones/zones.store.ts'
import type { Tx } from '../../platform/db/database.ts'
import { raiseIds } from '../../platform/db/sequences.ts'
import { backupNumber, enterUnderNewId, reconcileBackups, siteOwner } from '../backups/public.ts'
import { changeBy } from '../kit/change.ts'
import { closeSite } from '../sites/public.ts'
import { siteIds, sitesWithDirectories } from './installation.store.ts'
import { recoverSite } from './recover-site.job.ts'

/** The result of the comparison with the storage. */
export interface CleanedUp {
  /** Sites that hosts will recover. */
  readonly sites: number
  /** Names of those without backups of both files and database. */
  readonly withoutBackup: readonly string[]
  /**
   * Numbers of sites with backups in the storage that the control database does not know, because they were created
   * later.
   */
  readonly unknown: readonly number[]
}

/**
 * Matches a restored control database to the storage, which may be newer, and requests the site directories of all
 * sites from hosts. Never reuses a number that the storage contains: a new site would find another's backups, and a
 * known number would name another backup.
 */
export async function cleanUpRestored(tx: Tx, backups: BackupStore, now: number): Promise<CleanedUp> {
  await forgetServed(tx)
  const sites = await sitesWithDirectories(tx)
  const withoutBackup: string[] = []
  const clashing: { site: (typeof sites)[number]; facts: BackupFacts }[] = []
  let lastBackup = 0
  for (const site of sites) {
    const { stored, last } = await inStorage(backups, site.siteId)
    for (const facts of await reconcileBackups(tx, { ...site, stored, now })) clashing.push({ site, facts })
    lastBackup = Math.max(lastBackup, last)
    const kinds = new Set(stored.map(({ kind }) => kind))
    if (kinds.size < 2) withoutBackup.push(site.name)
    const { siteId } = site
    const operationId = await changeBy(tx, { actor: 'systems', about: site, now }).start(recoverSite, { siteId })
    // Another operation on it that the database shows as running fails without a site directory. This one comes after
    // it.
    await closeSite(tx, siteId, operationId, now).catch(() => {})
  }
  const numbers = (await backups.owners()).flatMap((owner) => siteNumber(owner) ?? [])
  const known = await siteIds(tx)
  const unknown = numbers.filter((number) => !known.has(number))
  for (const number of unknown) lastBackup = Math.max(lastBackup, (await inStorage(backups, number)).last)
  await raiseIds(tx, 'backups', lastBackup)
  for (const { site, facts } of clashing) await enterUnderNewId(tx, { ...site, now }, facts)
  await raiseIds(tx, 'sites', Math.max(0, ...numbers))
  return { sites: sites.length, withoutBackup, unknown }
}

/**
 * Returns the usable backups of a site, and the highest number in use. A backup whose head cannot be read also uses its
 * number.
 */
async function inStorage(backups: BackupStore, siteId: number): Promise<{ stored: BackupFacts[]; last: number }> {
  const names: string[] = []
  const stored = await backups.repository(siteOwner(siteId)).list({ onDamaged: (name) => names.push(name) })
  names.push(...stored.map(({ name }) => name))
  return { stored, last: Math.max(0, ...names.map((name) => backupNumber(name) ?? 0)) }
}

const siteNumber = (owner: string): number | undefined => {
  const digits = /^site-([1-9]\d{0,14})$/.exec(owner)?.[1]
  return digits === undefined ? undefined : Number(digits)
}
