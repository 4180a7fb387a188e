import { useEffect } from 'preact/hooks'
import { api, ask } from '../../api.ts'
import { type SiteEntry, sitePages } from '../../frame/navigation.ts'
import { SiteSide } from '../../frame/side.tsx'
import { siteShown } from '../../frame/top-bar.tsx'
import { changes } from '../../live.ts'
import { Callout } from '../../parts/callout.tsx'
import { setHeadSlot } from '../../parts/head-actions.tsx'
import { later } from '../../parts/later.tsx'
import { Skeleton } from '../../parts/list.tsx'
import { noteOpened } from '../../parts/palette.tsx'
import { Allowed, type Right, SiteRights } from '../../parts/rights.tsx'
import { StateOf } from '../../parts/state-of.tsx'
import { attempt, told } from '../../parts/toasts.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { useTitle } from '../../parts/use-title.ts'
import { showWork } from '../../parts/work.ts'
import { siteTexts as texts } from '../../texts/site/page.ts'
import { overviewFile } from './overview-file.ts'
import type { Act } from './part.ts'

const Operations = later(() => import('../operations.tsx').then((file) => file.Operations))
const Activity = later(() => import('../activity.tsx').then((file) => file.Activity))

/** The parts of the page. Each has an address, and its script is loaded when it opens. */
const parts = [
  ['overview', later(() => overviewFile().then((file) => file.Overview))],
  ['backups', later(() => import('./backups/backups.tsx').then((file) => file.Backups))],
  ['imports', later(() => import('./imports.tsx').then((file) => file.Imports))],
  ['copies', later(() => import('./copies/copies.tsx').then((file) => file.Copies))],
  ['domains', later(() => import('./domains/domains.tsx').then((file) => file.Domains))],
  ['plugins', later(() => import('./plugins/plugins.tsx').then((file) => file.Plugins))],
  ['collaborators', later(() => import('./collaborators.tsx').then((file) => file.Collaborators))],
  ['database', later(() => import('./database.tsx').then((file) => file.DatabasePage))],
  ['sftp', later(() => import('./sftp.tsx').then((file) => file.Sftp))],
  ['logs', later(() => import('./traffic/logs.tsx').then((file) => file.Logs))],
  ['uptime', later(() => import('./traffic/uptime.tsx').then((file) => file.Uptime))],
  ['statistics', later(() => import('./traffic/statistics.tsx').then((file) => file.Statistics))],
  ['performance', later(() => import('./traffic/performance.tsx').then((file) => file.Performance))],
  ['client-reports', later(() => import('./traffic/client-reports.tsx').then((file) => file.ClientReports))],
  ['cache', later(() => import('./settings/cache.tsx').then((file) => file.Cache))],
  ['notes', later(() => import('./notes.tsx').then((file) => file.Notes))],
  ['settings', later(() => import('./settings/settings.tsx').then((file) => file.Settings))],
  ['operations', ({ id }: { readonly id: number }) => <Operations siteId={id} />],
  ['activity', ({ id }: { readonly id: number }) => <Activity siteId={id} />],
] as const

/** The API operation that reads the part, if not everyone who sees the site may read it. */
const readBy: Readonly<Record<string, Right | undefined>> = Object.fromEntries(
  sitePages.flatMap<SiteEntry>(({ entries }) => entries).map(({ name, readBy: right }) => [name, right]),
)

/** States that the page shows with its own switches, and whose reason names API requests. */
const evident: ReadonlySet<string> = new Set(['maintenance', 'disabled'])

export function SitePage({ id, part }: { readonly id: number; readonly part: string }) {
  const site = useLoad(
    () => ask(() => api.GET('/v1/sites/{id}', { params: { path: { id }, query: { include: 'status' } } })),
    [id],
  )
  const act: Act = (about, change, undo) =>
    attempt(async () => {
      const { operationId } = await change()
      if (operationId === undefined) told(texts.done(about), undo)
      else showWork(operationId, about, () => changes.value++)
      await site.reload()
    })
  const shown = site.got.value?.data
  const [path, Part] = parts.find(([each]) => each === part) ?? []
  useTitle(shown && (path ? `${shown.displayName}: ${texts.names[path]}` : shown.displayName))
  const name = shown?.displayName
  useEffect(() => {
    if (name === undefined) return
    siteShown.value = { id, name }
    noteOpened({ id, name })
  }, [id, name])
  if (!shown) return site.fault.value ? <p class="fault">{site.fault.value}</p> : <Skeleton />
  const { status } = shown
  return (
    <SiteRights id={id}>
      <SiteSide id={id} name={shown.displayName} kind={texts.kinds[`${shown.staging}`]} part={part} />
      {path !== 'overview' && (
        <div class="head">
          <h1>{path ? texts.names[path] : texts.none}</h1>
          <div class="right">
            {path !== 'uptime' && <StateOf site={shown} />}
            <div class="row" ref={setHeadSlot} />
          </div>
        </div>
      )}
      {site.fault.value && <p class="fault">{site.fault.value}</p>}
      {status?.reason && !evident.has(status.status) && (
        <Callout kind={status.status === 'failed' ? 'bad' : 'warn'}>{status.reason}</Callout>
      )}
      {path && Part && (
        <Allowed to={readBy[path]}>
          <Part id={id} site={shown} act={act} />
        </Allowed>
      )}
    </SiteRights>
  )
}
