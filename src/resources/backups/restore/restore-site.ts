import Type from 'typebox'
import type { Tx } from '../../../platform/db/database.ts'
import { notFound, Problem } from '../../../platform/http/problem.ts'
import { Nothing } from '../../../platform/http/schemas.ts'
import { requireAccess } from '../../access/access.ts'
import { problems as authenticationProblems } from '../../authentication/public.ts'
import type { Caller } from '../../kit/caller.ts'
import { aboutSite } from '../../kit/change.ts'
import type { Context } from '../../kit/context.ts'
import { endpoint } from '../../kit/endpoint.ts'
import { haveStorageInCommon } from '../../kit/shared-storage.ts'
import { SiteId } from '../../kit/site-id.ts'
import { requireInstalled, problems as siteProblems, type VisibleSite, visibleSite } from '../../sites/public.ts'
import { actions } from '../actions.ts'
import { findCompleted } from '../backup.store.ts'
import type { BackupKind, CompletedBackup } from '../backup.ts'
import { problems } from '../problems.ts'
import { previewRestore } from './preview-restore.job.ts'
import { describeRestore, NewRestore, type RestoreOrder } from './restore.ts'
import { restoreSite } from './restore-site.job.ts'

export const restoreSiteEndpoint = endpoint({
  id: 'restoreSite',
  method: 'POST',
  path: '/v1/sites/{site_id}/restores',
  summary: 'Restore a site from backups',
  description:
    'Restores files, the database, or both from backups of this site. The target is this site or another site of the same account, where you need the same role. ' +
    'Stead prepares the content while the site stays open. Then it closes the site and its dashboard until WordPress responds with the restored content. If it does not respond, ' +
    'Stead rolls back. It keeps the overwritten content for 7 days, so you can undo the restore with `POST /v1/operations/{id}/undo`. The owner and the caller get a mail at the end. ' +
    "The target keeps its WordPress version, its address and Stead's own files. If it is another site, it also keeps its wp-config.php. " +
    'With `dry_run`, nothing changes: Stead only reports what a restore would lose. Read the report with `GET /v1/sites/{site_id}/restores/{operation_id}`.',
  access: { site: 'restore the site' },
  params: Type.Object({ site_id: SiteId }),
  body: NewRestore,
  response: Nothing,
  starts: true,
  problems: [
    problems.restore_of_nothing,
    problems.restore_unknown_backup,
    problems.restore_parts_of_nothing,
    problems.restore_unlike_site,
    siteProblems.site_not_live,
    authenticationProblems.forbidden,
  ],

  async handle(context, { body }) {
    const { tx, caller, site } = context
    requireSensible(body)
    const target = await targetOf(context, body.restore_on_site_id)
    requireInstalled(target)
    const files = await backupOf(tx, site, 'fs', body.filesystem_id)
    const database = await backupOf(tx, site, 'db', body.database_id)
    const order: RestoreOrder = {
      siteId: target.id,
      sourceId: site.id,
      filesId: files?.id ?? null,
      databaseId: database?.id ?? null,
      ...(body.paths && { paths: body.paths }),
      ...(body.tables && { tables: body.tables }),
      askedById: caller.accountId,
    }
    const about = aboutSite(target)
    await context.start(body.dry_run ? previewRestore : restoreSite, order, { about })
    const what = describeRestore({ files: files?.takenAt, database: database?.takenAt }, body)
    const whose = target.id === site.id ? '' : ` of ${site.name}`
    await context.record(
      body.dry_run
        ? {
            action: actions['site.restore_previewed'],
            message: `Requested a preview of a restore of ${what}${whose}`,
            about,
          }
        : { action: actions['site.restore_ordered'], message: `Requested a restore of ${what}${whose}`, about },
    )
    if (target.id !== site.id && !body.dry_run)
      await context.record({
        action: actions['site.restore_out_ordered'],
        message: `Requested a restore of ${what} onto ${target.name}`,
        about: aboutSite(site),
      })
    return null
  },
})

/** @throws Problem for a request that restores nothing, or parts of nothing */
function requireSensible({ filesystem_id, database_id, paths, tables }: NewRestore): void {
  if (filesystem_id === undefined && database_id === undefined) throw new Problem(problems.restore_of_nothing, {})
  if (paths && filesystem_id === undefined)
    throw new Problem(problems.restore_parts_of_nothing, { field: 'paths', needed: 'filesystem_id' })
  if (tables && database_id === undefined)
    throw new Problem(problems.restore_parts_of_nothing, { field: 'tables', needed: 'database_id' })
}

/** @throws Problem `not_found` for a site that the caller cannot see, `forbidden`, `restore_unlike_site` */
async function targetOf(
  {
    tx,
    caller,
    site,
    config,
  }: Pick<Context, 'tx' | 'config'> & { readonly caller: Caller; readonly site: VisibleSite },
  id: number | undefined,
): Promise<VisibleSite> {
  if (id === undefined || id === site.id) return site
  const target = await visibleSite(tx, caller.accountId, id)
  if (!target) throw notFound()
  requireAccess('restore the site', caller, target)
  const reason =
    (target.accountId !== site.accountId && 'it belongs to another account') ||
    (target.hostId !== site.hostId &&
      !haveStorageInCommon(config) &&
      'it is on another host, and the two hosts do not share a backup storage') ||
    (target.hasMultisite !== site.hasMultisite && 'only one of the two sites is a network')
  if (reason) throw new Problem(problems.restore_unlike_site, { reason })
  return target
}

const words = { fs: { field: 'filesystem_id', kind: 'file' }, db: { field: 'database_id', kind: 'database' } }

async function backupOf(
  tx: Tx,
  site: VisibleSite,
  kind: BackupKind,
  id: number | undefined,
): Promise<CompletedBackup | undefined> {
  if (id === undefined) return undefined
  const backup = await findCompleted(tx, site.id, id)
  if (backup?.kind !== kind) throw new Problem(problems.restore_unknown_backup, { ...words[kind], id })
  return backup
}
