import type { BackupFacts, BackupRepository, WriteOptions } from '../../../backups/backup-store.ts'
import { contentPlace, type DatabaseSnapshot, withSnapshot } from '../../../hosting/site-database/database-content.ts'
import type { SiteDirectory } from '../../../hosting/site-directories/site-directory.ts'
import { PermanentFailure } from '../../../platform/operations/definition.ts'
import { createYieldWhileBusy } from '../../../platform/yield-while-busy.ts'
import type { HostServices } from '../../kit/host-services.ts'
import { type BackupKind, siteOwner, TRUST_MS } from '../backup.ts'
import { type Tried, tryOut } from '../schedule/try-out.ts'
import { keepCore } from './keep-core.ts'
import { describeLeftOut, LeftOutCount, type LeftOutTally } from './left-out.ts'
import { againIfDamaged, orRemove, readBack } from './read-back.ts'

/** The services of a host that takes backups. */
export type TakingServices = Pick<
  HostServices,
  'siteDirectories' | 'backups' | 'siteFiles' | 'siteDatabase' | 'storeCore'
> & {
  readonly pool: Pick<HostServices['pool'], 'servesVisitors'>
}

export interface BackupOrder {
  readonly siteId: number
  /** Name in the storage. */
  readonly name: string
  readonly kind: BackupKind
  /** Approximate size, taken from the backup before it, if known. */
  readonly estimatedBytes?: number | undefined
  /** How long data that was read back counts as sound: {@link TRUST_MS}. Default: 0. */
  readonly trustMs?: number
  /** Database backups only: number of backups completed since the last test load. Default: none. */
  readonly untried?: number
  /** Database backups only: whether a test load may be due. Default: yes. */
  readonly isTried?: boolean
  /** Database backups only: reads more of the same moment, before it is written. */
  within?(snapshot: DatabaseSnapshot): Promise<unknown>
  readonly signal: AbortSignal
  /** Receives the bytes written and read back so far, and an estimate of the total. */
  progress?(doneBytes: number, totalBytes: number): void
}

/** Backup order that yields to visitors between its pieces. */
type Paced = BackupOrder & { readonly yieldWhileBusy: () => Promise<void> }

/** A backup that is in the storage, and that Stead has verified by reading it. */
export interface TakenBackup {
  /** The moment that it shows, milliseconds UTC. */
  readonly takenAt: number
  /** Size of the content. */
  readonly bytes: number
  readonly files: number
  /** How much the storage grew for it. */
  readonly addedBytes: number
  /** File backups only: the core that the site runs on, which is also in the storage. */
  readonly coreVersion: string | null
  /** Database backups only: whether it was test-loaded and matched. */
  readonly isTriedOut?: boolean
  /** File backups only: what could not be read. */
  readonly leftOut?: LeftOutTally
  /** The same for users who look at the operation. */
  readonly warning?: string
}

/**
 * Takes a backup of a site's files or database, and reads it back completely. May be called again after a crash:
 * complete content is kept and read back, the rest is written again.
 * @throws PermanentFailure for a site that is not on this host; SiteUnavailable, StorageFailure, BackupDamaged
 */
export async function takeBackup(services: TakingServices, order: BackupOrder): Promise<TakenBackup> {
  const directory = await services.siteDirectories.ofSite(order.siteId)
  if (!directory) throw new PermanentFailure('The site has no site directory on this host')
  const repository = services.backups.repository(siteOwner(order.siteId))
  const yieldWhileBusy = createYieldWhileBusy({ isWanted: () => services.pool.servesVisitors() })
  return order.kind === 'fs'
    ? takeFiles(services, { ...order, yieldWhileBusy }, directory, repository)
    : takeDatabase(services, { ...order, yieldWhileBusy }, directory, repository)
}

async function takeFiles(
  { siteFiles, siteDirectories, backups, storeCore }: TakingServices,
  order: Paced,
  directory: SiteDirectory,
  repository: BackupRepository,
): Promise<TakenBackup> {
  const { siteId, trustMs = 0, signal } = order
  const { coreVersion } = directory
  const site = contentPlace(siteId, directory)
  const startedAt = Date.now()
  // Costs an extra walk, so it runs only without another estimate.
  const measure = async () => (await siteFiles.size(site)).bytes
  const estimate = order.estimatedBytes ?? (await measure())
  // An undo does not need the core, and the site is waiting.
  const coreTrustMs = trustMs && TRUST_MS.scheduled
  const corePath = siteDirectories.corePath(directory)
  const withoutCore = await (storeCore
    ? storeCore(coreVersion, signal)
    : keepCore(backups, { version: coreVersion, corePath, trustMs: coreTrustMs, signal }))
  let leftOut = new LeftOutCount()
  let hasWalked = false
  async function* entries() {
    hasWalked = true
    leftOut = new LeftOutCount()
    yield* siteFiles.walk(site, { signal, onLeftOut: (thing) => leftOut.add(thing) })
  }
  const facts = await againIfDamaged(() =>
    writeAndReadBack(repository, order, { bytes: estimate, measure }, (options) =>
      repository.writeTree(entries(), options),
    ),
  )
  // A backup that was complete before a crash is not written again, so its files are walked here.
  if (!hasWalked) for await (const _entry of entries()) signal.throwIfAborted()
  const { count, first } = leftOut
  const warning = [withoutCore, describeLeftOut(leftOut)].filter(Boolean).join('. ')
  return { ...ofFacts(facts, startedAt), coreVersion, leftOut: { count, first }, ...(warning && { warning }) }
}

async function takeDatabase(
  { siteDatabase }: TakingServices,
  order: Paced,
  directory: SiteDirectory,
  repository: BackupRepository,
): Promise<TakenBackup> {
  const site = contentPlace(order.siteId, directory)
  return withSnapshot(siteDatabase, site, async (snapshot) => {
    const { signal } = order
    await order.within?.(snapshot)
    const facts = await againIfDamaged(() =>
      writeAndReadBack(repository, order, { bytes: snapshot.estimatedBytes }, (options) =>
        repository.writeStream(snapshot.dump({ signal }), options),
      ),
    )
    const trial = { ...order, site, bytes: facts.sizeBytes }
    const tried: Tried =
      order.isTried === false ? { isTriedOut: false } : await tryOut({ siteDatabase, repository }, trial)
    const warning = [snapshot.warning, tried.warning].filter(Boolean).join('. ')
    const { isTriedOut } = tried
    return { ...ofFacts(facts, snapshot.takenAt), coreVersion: null, isTriedOut, ...(warning && { warning }) }
  })
}

/**
 * Returns the facts about a backup.
 * @param startedAt of this attempt. An earlier attempt may have written it
 */
const ofFacts = ({ createdAt, sizeBytes, files, addedBytes }: BackupFacts, startedAt: number) => ({
  takenAt: Math.min(startedAt, createdAt),
  bytes: sizeBytes,
  files,
  addedBytes,
})

/** Estimate of the total. */
interface Estimate {
  readonly bytes: number
  /** For an estimate that may be far off: counts the bytes when there are more. */
  readonly measure?: () => Promise<number>
}

async function writeAndReadBack(
  repository: BackupRepository,
  { name, kind, signal, trustMs = 0, progress = () => {}, ...order }: Paced,
  estimate: Estimate,
  write: (options: WriteOptions) => Promise<BackupFacts>,
): Promise<BackupFacts> {
  let [{ bytes, measure }, doneBytes] = [estimate, 0]
  const yieldWhileBusy = async () => {
    await order.yieldWhileBusy()
    if (!measure || doneBytes <= bytes) return
    const count = measure
    measure = undefined
    bytes = await count()
  }
  // Files are read back while they are written, a dump afterwards.
  const along = kind === 'fs' ? { readBack: new Set<string>() } : undefined
  const facts = await write({
    name,
    signal,
    yieldWhileBusy,
    trustMs,
    onProgress(done) {
      doneBytes = done
      progress(along ? 2 * done : done, 2 * Math.max(done, bytes))
    },
    ...along,
  })
  const { sizeBytes } = facts
  const onProgress = (done: number) => progress(along ? 2 * sizeBytes : sizeBytes + done, 2 * sizeBytes)
  await orRemove(repository, { name, signal }, () =>
    readBack(repository, { name, kind, signal, yieldWhileBusy, onProgress, ...along }),
  )
  return facts
}
