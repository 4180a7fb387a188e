import Type from 'typebox'
import { contentPlace } from '../../../hosting/site-database/database-content.ts'
import { countRowsOfDump } from '../../../hosting/site-database/dumps/look-into-dump.ts'
import type { TableRows } from '../../../hosting/site-database/sql/dump-facts.ts'
import type { CountedPaths } from '../../../hosting/site-files/file-content.ts'
import { readdressed } from '../../../hosting/site-files/stage/made-files.ts'
import { nullable } from '../../../platform/http/schemas.ts'
import { durableWith, PermanentFailure, type StepContext } from '../../../platform/operations/definition.ts'
import { needsRights } from '../../access/still-allowed.ts'
import type { HostServices } from '../../kit/host-services.ts'
import { addressesOf, findSite, movedTo, requireDirectory, runSiteTask } from '../../sites/public.ts'
import { findBackup } from '../backup.store.ts'
import { forGood } from '../restore/restore-check.ts'
import { rightsOfSync, SyncOrder, scopeOfSync } from './sync.ts'
import type { SyncPreview } from './sync-preview.ts'
import { sourceHere, sourceInStorage } from './sync-source.ts'

/** Limit of each list. */
const MOST_LISTED = 100
const MOST_TABLES = 500
const TASK_MS = 300_000
/** Before everything that a site contains. */
const ALWAYS = '1970-01-01 00:00:00'

const { siteId, sourceId, parts, database, backups } = SyncOrder.properties
const PreviewOrder = Type.Object({
  ...{ siteId, sourceId, parts, database },
  /** Those of the source, if it is on another host. */
  backups,
  /** When both sites had the same database, milliseconds UTC. */
  since: nullable(Type.Integer()),
})
type PreviewOrder = Type.Static<typeof PreviewOrder>
type Context = StepContext<PreviewOrder, HostServices>

/** Finds out what a sync would lose. Changes nothing of the two sites, and their PHP only reads. */
export const previewSync = durableWith<HostServices>()({
  name: 'site.preview_sync',
  input: PreviewOrder,
  on: 'host',
  changeableBy: { site: 'restore the site' },
  permission: needsRights(rightsOfSync),
  readsBackupsOf: ({ sourceId }) => [sourceId],
  steps: {
    check: { run: check },
    report: {
      async run(context: Context): Promise<SyncPreview> {
        const { siteId, sourceId } = context.input
        const isElsewhere = await check(context)
        return {
          ...{ siteId, fromSiteId: sourceId },
          files: await compareFiles(context, isElsewhere),
          database: await compareDatabases(context, isElsewhere),
        }
      },
      weight: 5,
    },
  },
})

/**
 * @returns whether the source is on another host
 * @throws PermanentFailure when a site or a backup is gone
 */
async function check({ services, input }: Context): Promise<boolean> {
  const { read } = services.database
  for (const { siteId, backupId } of input.backups)
    if ((await findBackup(read, siteId, backupId))?.state !== 'completed')
      throw new PermanentFailure(
        `Backup ${backupId} of site ${siteId} does not exist, so Stead cannot compare the sites`,
      )
  const [source, site] = [await findSite(read, input.sourceId), await findSite(read, input.siteId)]
  if (!source || !site) throw new PermanentFailure('One of the two sites was deleted')
  if (site.hostId !== services.hostId) throw new PermanentFailure(`Site ${site.id} is on another host`)
  return source.hostId !== services.hostId
}

async function compareFiles(context: Context, isElsewhere: boolean): Promise<SyncPreview['files']> {
  const { services, input, signal } = context
  if (input.parts.length === 0) return null
  const source = await (isElsewhere ? sourceInStorage : sourceHere)(context)
  const to = contentPlace(input.siteId, await requireDirectory(context))
  const scope = scopeOfSync(input.parts)
  const bytes = await source.fileBytes()
  const onProgress = (done: number) => context.progressBytes(done, Math.max(done, bytes))
  const wanted = readdressed(source.files(scope), await addressChanges(context))
  const found = await forGood(() => services.siteFiles.compare(to, wanted, { scope, signal, onProgress }))
  const { added, changed, removed } = found
  return { added: shown(added), changed: shown(changed), removed: shown(removed) }
}

const shown = ({ count, bytes, first }: CountedPaths) => ({ count, bytes, first: first.slice(0, MOST_LISTED) })

async function addressChanges({ services, input }: Context) {
  const { database, config } = services
  const [source, hosted] = [await findSite(database.read, input.sourceId), await services.hostedSite(input.siteId)]
  if (!source || !hosted) throw new PermanentFailure('One of the two sites was deleted')
  return movedTo(hosted.address, await addressesOf(database.read, source, config))
}

async function compareDatabases(context: Context, isElsewhere: boolean): Promise<SyncPreview['database']> {
  const { services, input } = context
  const { database: wanted, since } = input
  if (wanted === false) return null
  const options = { timeoutMs: TASK_MS, refusal: 'Stead cannot read the database of the site' }
  const isMeant = ({ table }: { readonly table: string }) => wanted === true || wanted.includes(table)
  const rowsOf = async (id: number) =>
    (await runSiteTask(services, id, 'count-rows', { most: MOST_TABLES }, options)).tables.filter(isMeant)
  const here = await rowsOf(input.siteId)
  const there = isElsewhere ? (await rowsInBackup(context)).filter(isMeant) : await rowsOf(input.sourceId)
  const asked = { since: since === null ? ALWAYS : inSeconds(since), most: MOST_LISTED }
  const newer = await runSiteTask(services, input.siteId, 'newer-than', asked, options)
  return {
    since: since === null ? null : new Date(since).toISOString(),
    tables: sideBySide(here, there),
    counts: newer.counts.filter(isMeant),
    newest: newer.newest.filter(isMeant),
  }
}

/** Counts the rows of the source in its backup, because its PHP runs on another host. */
async function rowsInBackup(context: Context): Promise<Rows> {
  const { signal } = context
  const source = await sourceInStorage(context)
  let rows: Rows = []
  await source.withDatabase(async (dump) => {
    rows = await countRowsOfDump(dump, { signal })
  })
  return rows
}

/** WordPress stores whole seconds. What it stored in the second of the copy may be newer than that. */
const inSeconds = (ms: number): string =>
  new Date(Math.floor(ms / 1000) * 1000 - 1000).toISOString().slice(0, 19).replace('T', ' ')

type Rows = readonly TableRows[]

function sideBySide(here: Rows, there: Rows) {
  const [own, other] = [here, there].map((rows) => new Map(rows.map(({ table, rows: count }) => [table, count])))
  const names = [...new Set([...here, ...there].map(({ table }) => table))].sort().slice(0, MOST_TABLES)
  return names.map((table) => ({ table, rows: own?.get(table) ?? null, fromRows: other?.get(table) ?? null }))
}
