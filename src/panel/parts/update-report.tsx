import type { components } from '../../sdk/api.generated.ts'
import { api, ask } from '../api.ts'
import { safeUpdatesTexts as texts } from '../texts/site/safe-updates.ts'
import { timeOf } from '../time.ts'
import { Dialog } from './dialog.tsx'
import { useLoad } from './use-load.ts'

type Update = components['schemas']['SafeUpdate']
type Page = components['schemas']['SafeUpdatePage']
type Picture = components['schemas']['SafeUpdatePicture']

/** The class of the badge for each state. */
export const updateBadges: Readonly<Record<Update['state'], string>> = {
  in_progress: 'info',
  kept: 'good',
  undone: 'bad',
  failed: 'bad',
  canceled: '',
}

/** Returns what an update changed, in words. */
export const itemsOf = ({ items }: Update): string =>
  items.map(({ kind, name, from, to }) => texts.item(kind === 'core' ? texts.wordPress : name, from, to)).join(', ') ||
  texts.nothing

/** The report of a safe update, with the pictures of pages that differ. */
export function UpdateReport({
  id,
  update,
  onClose,
}: {
  /** The site. */
  readonly id: number
  readonly update: Pick<Update, 'id' | 'created_at'>
  onClose(): void
}) {
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
          <span class={`badge ${updateBadges[state]}`}>{texts.states[state]}</span> {reason}
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
