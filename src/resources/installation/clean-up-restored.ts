import type { BackupFacts, BackupStore } from '../../backups/backup-store.ts'
import { forgetServed } from '../../dns/zones/zones.store.ts'
import type { Tx } from '../../platform/db/database.ts'
import { raiseIds } from '../../platform/db/sequences.ts'
import { siteOwner } from '../backups/backup.ts'
import { backupNumber, enterUnderNewId, reconcileBackups } from '../backups/schedule/reconcile-backups.ts'
import { changeBy } from '../kit/change.ts'
import { closeSite } from '../sites/site.ts'
import { siteIds, sitesWithDirectories } from './installation.store.ts'
import { recoverSite } from './recover-site.job.ts'

/** What a restore has found in the storage. */
export interface CleanedUp {
  /** Sites that hosts will bring back. */
  readonly sites: number
  /** Names of those of them that have no backup of both files and database. */
  readonly withoutBackup: readonly string[]
  /** Numbers of sites that the storage has backups of and the records do not know: made after these were written. */
  readonly unknown: readonly number[]
}

/**
 * Makes records that were put back fit the storage, which may be newer, and asks hosts for the site directories of all sites. No number is given out again
 * that something in the storage has: a new site would find another's backups, and a number that people know would be another backup's.
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
    // another work on it, which the records say is under way, fails without a site directory; this comes after it
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

/** Backups of a site that can be used, and the highest number that one has: also one whose head cannot be read has its number. */
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
