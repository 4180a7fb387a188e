import { useSignal } from '@preact/signals'
import type { components } from '../../../../sdk/api.generated.ts'
import { api, ask } from '../../../api.ts'
import { changes } from '../../../live.ts'
import { Button } from '../../../parts/button.tsx'
import { Callout } from '../../../parts/callout.tsx'
import { Dialog } from '../../../parts/dialog.tsx'
import { List } from '../../../parts/list.tsx'
import { attempt } from '../../../parts/toasts.tsx'
import { useLoad } from '../../../parts/use-load.ts'
import { showWork } from '../../../parts/work.ts'
import { safeUpdatesTexts as texts } from '../../../texts/site/safe-updates.ts'
import { timeOf } from '../../../time.ts'
import { nameOf } from './plugin-changes.ts'

type Update = components['schemas']['SafeUpdate']
type Page = components['schemas']['SafeUpdatePage']
type Picture = components['schemas']['SafeUpdatePicture']

const MOST_SHOWN = 5

const badges: Readonly<Record<Update['state'], string>> = {
  in_progress: 'info',
  kept: 'good',
  undone: 'bad',
  failed: 'bad',
  canceled: '',
}

/** Starts a safe update of these plugins, or of all plugins and themes with an update. */
export const updateSafely = (id: number, plugins?: { path: string }[]): (() => Promise<void>) =>
  attempt(async () => {
    const body = plugins ? { plugins } : { all: true }
    const { operationId } = await ask(() => api.POST('/v1/sites/{id}/safe-updates', { params: { path: { id } }, body }))
    const reload = () => void changes.value++
    if (operationId !== undefined) showWork(operationId, texts.about(plugins && nameOf(plugins)), reload)
    reload()
  })

/** Explains safe updates, and shows the last ones of a site with their reports. */
export function SafeUpdates({ id }: { readonly id: number }) {
  const updates = useLoad(
    () =>
      ask(() => api.GET('/v1/sites/{id}/safe-updates', { params: { path: { id }, query: { per_page: MOST_SHOWN } } })),
    [id],
  )
  const shown = useSignal<Update | undefined>(undefined)
  const hasAny = (updates.got.value?.data.length ?? 0) > 0
  return (
    <>
      <Callout>
        <b>{texts.title}.</b> {texts.is}
      </Callout>
      {hasAny && (
        <List
          from={updates}
          caption={texts.table}
          head={texts.head}
          hiddenHeads={texts.hiddenHeads}
          columns={['', 'wide', 'extra', 'below']}
          isStacked
          empty=""
          row={(update) => [
            <span class={`badge ${badges[update.state]}`}>{texts.states[update.state]}</span>,
            <span>
              {update.items.map(itemOf).join(', ') || texts.nothing}
              {update.reason !== null && <span class="sub">{update.reason}</span>}
            </span>,
            timeOf(update.created_at),
            <Button
              isSmall
              label={texts.reportOf(timeOf(update.created_at))}
              onClick={() => {
                shown.value = update
              }}
            >
              {texts.report}
            </Button>,
          ]}
        />
      )}
      {shown.value && <ReportOf id={id} update={shown.value} onClose={() => (shown.value = undefined)} />}
    </>
  )
}

const itemOf = ({ name, from, to }: Update['items'][number]): string => texts.item(name, from, to)

function ReportOf({ id, update, onClose }: { readonly id: number; readonly update: Update; onClose(): void }) {
  const path = { site_id: id, update_id: update.id }
  const report = useLoad(
    () => ask(() => api.GET('/v1/sites/{site_id}/safe-updates/{update_id}', { params: { path } })),
    [id, update.id],
  )
  const { items, pages, log, reason, state, pictures_missing: missing } = report.got.value?.data ?? {}
  return (
    <Dialog isWide title={texts.reportTitle(timeOf(update.created_at))} onClose={onClose}>
      {report.fault.value && <p class="fault">{report.fault.value}</p>}
      {state && (
        <p>
          <span class={`badge ${badges[state]}`}>{texts.states[state]}</span> {reason}
        </p>
      )}
      {items && items.length > 0 && <h3>{texts.items}</h3>}
      <ul class="plain findings">
        {items?.map(({ kind, name, message }) => (
          <li key={`${kind} ${name}`}>{message}</li>
        ))}
      </ul>
      {pages && <h3>{texts.pages}</h3>}
      {pages?.length === 0 && <p class="quiet">{texts.noPages}</p>}
      {missing && <p class="quiet">{texts.missing(missing)}</p>}
      <ul class="plain findings">
        {pages?.map((page) => (
          <PageOf key={page.path} page={page} />
        ))}
      </ul>
      {log && log.length > 0 && <h3>{texts.log}</h3>}
      <ul class="plain findings">
        {log?.map(({ severity, message, name, counts }) => (
          <li key={message}>
            <span class={`badge ${counts ? 'bad' : ''}`}>{severity}</span> {name} {message}
          </li>
        ))}
      </ul>
    </Dialog>
  )
}

function PageOf({ page }: { readonly page: Page }) {
  const { kind, path, after, differences, notes, pictures } = page
  const isWorse = differences.length > 0
  const [badge, verdict] = after === null ? ['', texts.unseen] : isWorse ? ['bad', texts.differs] : ['good', texts.same]
  const name = texts.kinds[kind] ?? path
  return (
    <li>
      <p class="row spread">
        <span>
          <b>{name}</b> <span class="quiet">{path}</span>
        </span>
        <span class={`badge ${badge}`}>{verdict}</span>
      </p>
      {[...differences, ...notes].map((each) => (
        <p key={each}>{each}</p>
      ))}
      {pictures.map((picture) => (
        <Pictures key={picture.width} name={name} picture={picture} />
      ))}
    </li>
  )
}

function Pictures({ name, picture }: { readonly name: string; readonly picture: Picture }) {
  const { width, before_location: before, after_location: after, difference_location: difference } = picture
  const all = { before, after, difference }
  if (before === null) return null
  return (
    <div class="columns pictures">
      {(Object.keys(texts.pictures) as (keyof typeof all)[]).map((kind) => (
        <figure key={kind}>
          <figcaption class="quiet small">{texts.pictures[kind]}</figcaption>
          <img class="shot" src={all[kind] ?? ''} alt={texts.pictureOf(name, texts.pictures[kind], width)} />
        </figure>
      ))}
    </div>
  )
}
