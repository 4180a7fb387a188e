import { contentPlace } from '../../../hosting/site-database/database-content.ts'
import { durableWith } from '../../../platform/operations/definition.ts'
import { needsRights } from '../../access/still-allowed.ts'
import type { HostServices } from '../../kit/host-services.ts'
import { runSiteTask } from '../../sites/public.ts'
import { RestoreOrder, rightsOfRestore, scopeOfRestore } from './restore.ts'
import {
  type Checked,
  checkRestore,
  forGood,
  type RestoreContext,
  sourceRepository,
  storedName,
  targetSite,
} from './restore-check.ts'
import { wantedFiles } from './restore-content.ts'
import type { RestorePreview } from './restore-preview.ts'

/** Limit of each list. */
const MOST_LISTED = 100
const TASK_MS = 300_000

type Context = RestoreContext<{ check: Checked }>

/** Finds out what a restore would lose. Changes nothing of the site, and its PHP only reads. */
export const previewRestore = durableWith<HostServices>()({
  name: 'site.preview_restore',
  input: RestoreOrder,
  on: 'host',
  changeableBy: { site: 'restore the site' },
  permission: needsRights(rightsOfRestore),
  readsBackupsOf: ({ sourceId }) => [sourceId],
  steps: {
    check: { run: checkRestore },
    report: {
      async run(context: Context): Promise<RestorePreview> {
        return {
          siteId: context.input.siteId,
          files: await compareFiles(context),
          database: await compareRows(context),
        }
      },
      weight: 5,
    },
  },
})

async function compareFiles(context: Context): Promise<RestorePreview['files']> {
  const { services, input, signal } = context
  const { files } = context.results.check
  if (!files || input.filesId === null) return null
  const { directory } = await targetSite(context)
  const scope = scopeOfRestore(input, files.stays)
  const wanted = wantedFiles(sourceRepository(context), await storedName(context, input.filesId), scope)
  const onProgress = (done: number) => context.progressBytes(done, files.bytes)
  const { written, removed } = await forGood(() =>
    services.siteFiles.compare(contentPlace(input.siteId, directory), wanted, { scope, signal, onProgress }),
  )
  const shown = ({ count, bytes, first }: typeof written) => ({ count, bytes, first: first.slice(0, MOST_LISTED) })
  return { takenAt: new Date(files.takenAt).toISOString(), written: shown(written), removed: shown(removed) }
}

/**
 * Compares the rows of the database. If the backup is another site's, the restore loses everything that this site has.
 */
async function compareRows({ services, input, results }: Context): Promise<RestorePreview['database']> {
  const { database } = results.check
  if (!database) return null
  const takenAt = new Date(database.takenAt).toISOString()
  const since = input.sourceId === input.siteId ? takenAt.slice(0, 19).replace('T', ' ') : '1970-01-01 00:00:00'
  const options = { timeoutMs: TASK_MS, refusal: 'Stead cannot read the database of the site' }
  const found = await runSiteTask(services, input.siteId, 'newer-than', { since, most: MOST_LISTED }, options)
  const isMeant = ({ table }: { table: string }) => !input.tables || input.tables.includes(table)
  return { takenAt, counts: found.counts.filter(isMeant), newest: found.newest.filter(isMeant) }
}
