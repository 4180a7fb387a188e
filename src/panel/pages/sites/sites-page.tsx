import { useSignal } from '@preact/signals'
import type { components } from '../../../sdk/api.generated.ts'
import { api, ask, type Got } from '../../api.ts'
import { Button } from '../../parts/button.tsx'
import { later } from '../../parts/later.tsx'
import { List, Pages } from '../../parts/list.tsx'
import { Progress } from '../../parts/progress.tsx'
import { Select } from '../../parts/select.tsx'
import { StateOf } from '../../parts/state-of.tsx'
import { attempt } from '../../parts/toasts.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { commonTexts } from '../../texts/common.ts'
import { sitesTexts as texts } from '../../texts/sites.ts'
import { choose, chosen, shown } from './choice.ts'

const NewSite = later(() => import('./new-site.tsx').then((file) => file.NewSite))
const Bulk = later(() => import('./bulk.tsx').then((file) => file.Bulk))

const PER_PAGE = 25

type Site = components['schemas']['FoundSite'] | components['schemas']['ListedSite']
type Filter = components['schemas']['SiteFilter']

/** The API searches by name and state, or lists by tag: a tag that is chosen ends a search, and the other way round. */
function readSites(): Promise<Got<readonly Site[]>> {
  const { page, name, state, tag } = shown
  const asked = { page: page.value, per_page: PER_PAGE }
  const include = 'status' as const
  const filters: Filter[] = [
    ...(name.value ? [{ key: 'name' as const, value: name.value }] : []),
    ...(state.value ? [{ key: 'state' as const, value: state.value }] : []),
  ]
  if (filters.length > 0)
    return ask(() => api.POST('/v1/sites/search', { params: { query: { include } }, body: { ...asked, filters } }))
  const query = { ...asked, include, paginate: true, ...(tag.value && { tag_name: tag.value }) }
  return ask(() => api.GET('/v1/sites', { params: { query } }))
}

function narrow(to: { name?: string; state?: keyof typeof texts.states; tag?: string }): void {
  shown.name.value = to.tag === undefined ? (to.name ?? shown.name.value) : ''
  shown.state.value = to.tag === undefined ? (to.state ?? shown.state.value) : ''
  shown.tag.value = to.tag ?? ''
  shown.page.value = 1
}

/** Sites that the person sees, a page at a time: the server searches and turns, so that ten thousand are like ten. */
export function SitesPage() {
  const { page, name, state, tag } = shown
  const isCreating = useSignal(false)
  const made = useSignal<{ id: number; name: string } | undefined>(undefined)
  const sites = useLoad(readSites, [page.value, name.value, state.value, tag.value])
  const got = sites.got.value
  return (
    <>
      <div class="row spread">
        <h1>{texts.title}</h1>
        <Button
          isMain
          onClick={() => {
            isCreating.value = true
          }}
        >
          {texts.newSite}
        </Button>
      </div>
      <div class="filters">
        <label>
          <span>{texts.search}</span>
          <input
            type="search"
            value={name.value}
            onInput={({ currentTarget }) => narrow({ name: currentTarget.value.trim() })}
          />
        </label>
        <Select label={texts.state} options={texts.states} value={state.value} set={(to) => narrow({ state: to })} />
        {tag.value && (
          <p class="row">
            <span class="tag">{texts.tagged(tag.value)}</span>
            <Button onClick={() => narrow({ tag: '' })}>{texts.noTag}</Button>
          </p>
        )}
        {got?.page && <p class="quiet">{texts.count(got.page.totalItems)}</p>}
      </div>
      {made.value && (
        <Progress
          key={made.value.id}
          id={made.value.id}
          about={texts.making(made.value.name)}
          onEnd={() => void sites.reload()}
        />
      )}
      <Bulk page={got?.data ?? []} />
      <List
        from={sites}
        caption={texts.title}
        head={texts.head}
        empty={name.value || state.value || tag.value ? texts.noneFound : texts.empty}
        row={(site) => rowOf(site, sites.reload)}
      />
      <Pages
        page={got?.page}
        turn={(to) => {
          page.value = to
        }}
      />
      {isCreating.value && (
        <NewSite
          onClose={() => {
            isCreating.value = false
          }}
          onMade={(operation) => {
            made.value = operation
            void sites.reload()
          }}
        />
      )}
    </>
  )
}

function rowOf(site: Site, reload: () => Promise<void>) {
  const { id, displayName, favorite } = site
  const params = { path: { id } }
  const favour = attempt(async () => {
    await (favorite
      ? ask(() => api.DELETE('/v1/sites/{id}/favorites', { params }))
      : ask(() => api.POST('/v1/sites/{id}/favorites', { params })))
    await reload()
  })
  return [
    <span class="row">
      <input
        type="checkbox"
        aria-label={texts.choose(displayName)}
        checked={chosen.value.has(id)}
        onChange={({ currentTarget }) => choose(id, displayName, currentTarget.checked)}
      />
      <button
        type="button"
        class="star"
        aria-pressed={favorite}
        aria-label={texts.favouriteOf[`${favorite}`](displayName)}
        onClick={favour}
      >
        {texts.favourite[`${favorite}`]}
      </button>
    </span>,
    <span class="row">
      <a href={`#/sites/${id}`}>{displayName}</a>
      {site.tags.map((tag) => (
        <button key={tag.id} type="button" class="tag" onClick={() => narrow({ tag: tag.name })}>
          {tag.name}
        </button>
      ))}
    </span>,
    <StateOf site={site} />,
    <a href={`${location.protocol === 'https:' ? '//' : 'http://'}${site.url}`} target="_blank" rel="noreferrer">
      {site.url}
    </a>,
    site.phpVersion ?? commonTexts.unknown,
    site.cmsVersion,
  ]
}
