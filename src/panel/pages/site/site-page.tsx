import { useSignal } from '@preact/signals'
import { api, ask } from '../../api.ts'
import { changes } from '../../live.ts'
import { later } from '../../parts/later.tsx'
import { Progress } from '../../parts/progress.tsx'
import { Allowed, May, type Right, SiteRights } from '../../parts/rights.tsx'
import { StateOf } from '../../parts/state-of.tsx'
import { attempt, told } from '../../parts/toasts.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { useTitle } from '../../parts/use-title.ts'
import { siteTexts as texts } from '../../texts/site/page.ts'
import { Activity } from '../activity.tsx'
import { Operations } from '../operations.tsx'
import { Overview } from './overview.tsx'
import type { Act } from './part.ts'

/** Each has an address, and its script is fetched when it is opened. */
const parts = [
  ['overview', Overview],
  ['backups', later(() => import('./backups.tsx').then((file) => file.Backups))],
  ['imports', later(() => import('./imports.tsx').then((file) => file.Imports))],
  ['copies', later(() => import('./copies.tsx').then((file) => file.Copies))],
  ['domains', later(() => import('./domains.tsx').then((file) => file.Domains))],
  ['plugins', later(() => import('./plugins.tsx').then((file) => file.Plugins))],
  ['collaborators', later(() => import('./collaborators.tsx').then((file) => file.Collaborators))],
  ['sftp', later(() => import('./sftp.tsx').then((file) => file.Sftp))],
  ['logs', later(() => import('./logs.tsx').then((file) => file.Logs))],
  ['statistics', later(() => import('./statistics.tsx').then((file) => file.Statistics))],
  ['performance', later(() => import('./performance.tsx').then((file) => file.Performance))],
  ['notes', later(() => import('./notes.tsx').then((file) => file.Notes))],
  ['settings', later(() => import('./settings.tsx').then((file) => file.Settings))],
  ['operations', ({ id }: { readonly id: number }) => <Operations siteId={id} />],
  ['activity', ({ id }: { readonly id: number }) => <Activity siteId={id} />],
] as const

/** What it takes to read a part, where that is not given to all who see the site. */
const readBy: Partial<Record<(typeof parts)[number][0], Right>> = {
  backups: 'listOndemandBackups',
  imports: 'listImports',
  sftp: 'listSftpUsers',
  notes: 'listNotes',
}

export function SitePage({ id, part }: { readonly id: number; readonly part: string }) {
  const work = useSignal<{ id: number; about: string } | undefined>(undefined)
  const site = useLoad(
    () => ask(() => api.GET('/v1/sites/{id}', { params: { path: { id }, query: { include: 'status' } } })),
    [id],
  )
  const act: Act = (about, change) =>
    attempt(async () => {
      const { operationId } = await change()
      if (operationId === undefined) told(texts.done(about))
      else work.value = { id: operationId, about }
      await site.reload()
    })
  const shown = site.got.value?.data
  const [path, Part] = parts.find(([each]) => each === part) ?? []
  useTitle(shown && (path ? `${shown.displayName}: ${texts.names[path]}` : shown.displayName))
  if (!shown) return <p class={site.fault.value ? 'fault' : 'quiet'}>{site.fault.value || texts.reading}</p>
  return (
    <SiteRights id={id}>
      <div class="row spread">
        <h1>
          <a href="#/sites" class="up">
            {texts.back}
          </a>
          {shown.displayName}
        </h1>
        <StateOf site={shown} />
      </div>
      {site.fault.value && <p class="fault">{site.fault.value}</p>}
      {shown.status?.reason && (
        <p class={shown.status.status === 'failed' ? 'fault' : 'quiet'}>{shown.status.reason}</p>
      )}
      <div class="split">
        <nav aria-label={texts.parts}>
          {parts.map(([each]) => (
            <May key={each} do={readBy[each] ?? 'getSite'} what={texts.names[each]}>
              <a href={`#/sites/${id}/${each}`} aria-current={part === each ? 'page' : undefined}>
                {texts.names[each]}
              </a>
            </May>
          ))}
        </nav>
        <div>
          {work.value && <Progress key={work.value.id} {...work.value} onEnd={() => changes.value++} />}
          {path && Part ? (
            <Allowed to={readBy[path]}>
              <Part id={id} site={shown} act={act} />
            </Allowed>
          ) : (
            <p>{texts.none}</p>
          )}
        </div>
      </div>
    </SiteRights>
  )
}
