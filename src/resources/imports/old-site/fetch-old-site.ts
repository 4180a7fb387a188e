import { createWriteStream } from 'node:fs'
import { mkdir, rename, rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { DiskFull } from '../../../hosting/site-directories/disk-space.ts'
import { mirrorContent } from '../../../hosting/site-imports/sources/mirror-content.ts'
import { type OldSite, OldSiteLost, OldSiteRefused } from '../../../hosting/site-imports/sources/old-site.ts'
import { openPluginSite } from '../../../hosting/site-imports/sources/plugin-site.ts'
import { openSshSite } from '../../../hosting/site-imports/sources/ssh-site.ts'
import { contentFolder, type StagedFiles } from '../../../hosting/site-imports/stage-files.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { PermanentFailure, type SealedSecret, type StepContext } from '../../../platform/operations/definition.ts'
import type { HostServices } from '../../kit/host-services.ts'
import { changeImport, findImport } from '../import.store.ts'
import type { StoredImport } from '../import.ts'
import { folderOf, stagingBounds } from '../staging.ts'
import { type LiveSecret, purposeOf } from './old-site-source.ts'

type Context = Pick<
  StepContext<{ readonly siteId: number; readonly importId: number }, HostServices>,
  'services' | 'input' | 'signal' | 'progressBytes' | 'transaction' | 'log' | 'operationId'
>

/** Returns the login of the old site of an import, while it has one. */
export async function secretOfImport(
  tx: Tx,
  { siteId, importId }: { readonly siteId: number; readonly importId: number },
): Promise<SealedSecret | undefined> {
  const { live, liveSecret } = (await findImport(tx, siteId, importId)) ?? {}
  return live && liveSecret ? { sealed: liveSecret, purpose: purposeOf(live) } : undefined
}

/** Time limit for a whole pass. */
const PASS_MS = 3 * 3_600_000
const IDLE_MS = 60_000
/** How many connections in a row may transfer nothing. */
const MOST_VAIN = 4
const LOOK_EACH_BYTES = 64 << 20

/**
 * Fetches the running old site of an import: `wp-content` into the staged content, of which only changes are fetched
 * again, and a fresh dump below `base`. Reconnects when a connection ends, and continues where it was.
 * @throws PermanentFailure with what to do
 */
export async function fetchOldSite(context: Context, found: StoredImport, base: string): Promise<StagedFiles> {
  const deadline = AbortSignal.timeout(PASS_MS)
  const signal = AbortSignal.any([context.signal, deadline])
  let fetchedBytes = 0
  for (let vain = 0; ; vain++) {
    const before = fetchedBytes
    const onProgress = (bytes: number) => {
      fetchedBytes += bytes
      context.progressBytes(fetchedBytes, Math.max(fetchedBytes, found.plan?.files.bytes ?? 0))
    }
    try {
      return await onePass(context, found, { base, signal, onProgress })
    } catch (error) {
      context.signal.throwIfAborted()
      if (deadline.aborted) throw new PermanentFailure('The old site was not fetched within 3 hours', { cause: error })
      if (error instanceof OldSiteRefused) throw new PermanentFailure(error.message, { cause: error })
      if (!(error instanceof OldSiteLost)) throw error
      if (fetchedBytes > before) vain = 0
      if (vain >= MOST_VAIN) throw new PermanentFailure(error.message, { cause: error })
      context.log.info({ err: error, importId: found.id }, 'the connection to an old site ended, and is made again')
      await sleep(1000 * 2 ** vain, undefined, { signal }).catch(() => {})
    }
  }
}

interface PassOptions {
  readonly base: string
  readonly signal: AbortSignal
  /** Receives the number of further bytes that were fetched. */
  readonly onProgress: (bytes: number) => void
}

async function onePass(context: Context, found: StoredImport, options: PassOptions): Promise<StagedFiles> {
  const { base, signal, onProgress } = options
  const folder = folderOf(context.services.config.dataDir, found.id)
  const bounds = stagingBounds(context.services.config)
  const old = await openOldSite(context, signal)
  try {
    let done = 0
    const mirrored = await mirrorContent(old, join(contentFolder(folder), 'wp-content'), {
      ...{ ...bounds, signal, parts: join(folder, 'parts') },
      onProgress(bytes) {
        onProgress(bytes - done)
        done = bytes
      },
    })
    const dump = 'fetched/database.sql'
    await mkdir(join(base, 'fetched'), { recursive: true, mode: 0o700 })
    await writeDump(old, join(base, dump), { ...bounds, signal, onProgress })
    const { links, leftOut, leftOutCount } = mirrored
    return { format: 'files', dumps: [dump], links, ...old.facts, leftOut: { count: leftOutCount, paths: leftOut } }
  } finally {
    await old.close()
  }
}

async function openOldSite(context: Context, signal: AbortSignal): Promise<OldSite> {
  const { services, input, transaction, operationId } = context
  // Loaded again, because the previous connection may have stored the host key.
  const { live, liveSecret } = (await findImportOf(context)) ?? {}
  if (!live || !liveSecret)
    throw new PermanentFailure('The login of the old site was removed when the import ended. Create the import again')
  const bounds = {
    ...{ allowPrivate: services.config.allowPrivateFetch, signal, idleMs: IDLE_MS },
    maxEntries: stagingBounds(services.config).maxEntries,
  }
  const secret = await services.openSecret(operationId)
  if (live.type === 'plugin') return openPluginSite({ address: live.address, token: secret }, bounds)
  return openSshSite(
    { ...live, secret: JSON.parse(secret) as LiveSecret },
    {
      ...bounds,
      onHostKey: (hostKey) => transaction((tx) => changeImport(tx, input.importId, { live: { ...live, hostKey } })),
    },
  )
}

const findImportOf = ({ services, input }: Context) => findImport(services.database.read, input.siteId, input.importId)

interface DumpBounds {
  readonly maxBytes: number
  readonly keepFreeBytes: number
  readonly signal: AbortSignal
  readonly onProgress: (bytes: number) => void
}

async function writeDump(old: OldSite, path: string, bounds: DumpBounds): Promise<void> {
  const part = `${path}.part`
  let [bytes, lookedAt] = [0, Number.NEGATIVE_INFINITY]
  async function* bounded() {
    for await (const piece of old.dump()) {
      bytes += piece.length
      if (bytes > bounds.maxBytes) throw new OldSiteRefused('The dump of the old database is larger than allowed')
      if (bytes > lookedAt + LOOK_EACH_BYTES) {
        lookedAt = bytes
        const { bavail, bsize } = await statfs(join(path, '..'))
        if (bavail * bsize < bounds.keepFreeBytes) throw new DiskFull('The disk of the host is full')
      }
      bounds.onProgress(piece.length)
      yield piece
    }
  }
  await rm(part, { force: true })
  await pipeline(bounded, createWriteStream(part, { flags: 'wx', mode: 0o600 }), { signal: bounds.signal })
  await rename(part, path)
}
