import type { components } from '../../../sdk/api.generated.ts'
import { api, ask } from '../../api.ts'
import { CursorPages, placeShown } from '../../parts/cursor-pages.tsx'
import { Empty } from '../../parts/empty.tsx'
import { type Filter, Filters, filterOf, PLACE } from '../../parts/filters.tsx'
import { List } from '../../parts/list.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { Vulnerabilities } from '../../parts/vulnerabilities.tsx'
import { inventoryTexts as texts } from '../../texts/inventory.ts'
import { AllUpdates } from './all-updates.tsx'
import { BatchOfUpdates } from './batch-of-updates.tsx'
import { choiceOf } from './choice-of.ts'
import { SitesWithPage } from './sites-with-page.tsx'

type InventoryKind = 'plugins' | 'themes'
type Installed = components['schemas']['InstalledExtension']

const PER_PAGE = 50
const MOST_VERSIONS = 3

/** The plugins and themes of all sites, or the sites that have one of them. */
export function InventoryPage({ slug }: { readonly slug: string | undefined }) {
  const kind: InventoryKind = filterOf('tab') === 'themes' ? 'themes' : 'plugins'
  if (slug !== undefined) return <SitesWithPage key={`${kind} ${slug}`} kind={kind} slug={slug} />
  return (
    <>
      <div class="head">
        <h1>{texts.title}</h1>
      </div>
      <Vulnerabilities />
      <Tabs
        label={texts.title}
        tabs={texts.tabs}
        clears={[PLACE, 'state', 'batch', ...filters.map(({ name }) => name)]}
      >
        {(shown) => (shown === 'updates' ? <Updates /> : <Inventory key={shown} kind={shown} />)}
      </Tabs>
    </>
  )
}

/** The safe updates of all sites, or of those that were started together. */
function Updates() {
  const batch = Number(filterOf('batch'))
  return Number.isSafeInteger(batch) && batch > 0 ? <BatchOfUpdates key={batch} id={batch} /> : <AllUpdates />
}

const filters: readonly Filter[] = [
  { name: 'q', label: texts.q },
  { name: 'due', label: texts.due, options: texts.dueOptions },
  { name: 'active', label: texts.active, options: texts.activeOptions },
]

function Inventory({ kind }: { readonly kind: InventoryKind }) {
  const [q, due, active] = [filterOf('q'), choiceOf('due'), choiceOf('active')]
  // The list is in order of numbers that change, so its place is the number of a page.
  const page = placeShown() || 1
  const query = {
    ...{ page, per_page: PER_PAGE },
    ...(q && { q }),
    ...(due !== undefined && { update_due: due }),
    ...(active !== undefined && { active }),
  }
  const read = () =>
    kind === 'themes'
      ? ask(() => api.GET('/v1/themes', { params: { query } }))
      : ask(() => api.GET('/v1/plugins', { params: { query } }))
  const installed = useLoad<Installed[]>(read, [kind, page, q, due, active])
  const last = installed.got.value?.page?.lastPage ?? page
  return (
    <>
      <div class="row spread top-aligned">
        <Filters of={filters} />
      </div>
      <List
        from={installed}
        caption={texts.tabs[kind]}
        head={texts.head}
        columns={['wide', 'extra num', 'extra', 'extra num', 'extra num', '']}
        kept="inventory"
        isCards
        empty={
          <div class="card">
            {q || due !== undefined || active !== undefined ? (
              <Empty icon="search" title={texts.noneTitle} text={texts.noneText} />
            ) : (
              <Empty icon="plug" title={texts.emptyTitle} text={texts.empty} />
            )}
          </div>
        }
        row={(one) => [
          <span class="who">
            <span>
              <a class="name" href={hrefOf(kind, one.slug)}>
                {one.name}
              </a>
              <span class="sub">
                {one.slug} <span class="only-phone">{texts.also(one.sites)}</span>
              </span>
            </span>
          </span>,
          texts.sites(one.sites),
          versionsOf(one),
          texts.sites(one.active),
          one.automatic_updates > 0 ? texts.sites(one.automatic_updates) : texts.none,
          one.update_due > 0 ? (
            <a
              class="badge warn"
              href={hrefOf(kind, one.slug, { due: 'true' })}
              aria-label={texts.dueOn(one.update_due)}
            >
              <span class="only-phone">{texts.dueBefore}</span>
              {texts.sites(one.update_due)}
            </a>
          ) : null,
        ]}
      />
      <CursorPages isOldestFirst next={page < last ? page + 1 : undefined} />
    </>
  )
}

function versionsOf({ versions }: Installed): string {
  const some = versions.slice(0, MOST_VERSIONS).map(({ version, sites }) => texts.version(version, sites))
  return [some.join(', '), ...(versions.length > some.length ? [texts.more(versions.length - some.length)] : [])].join(
    ' ',
  )
}

function hrefOf(kind: InventoryKind, slug: string, more: Readonly<Record<string, string>> = {}): string {
  const query = new URLSearchParams({ ...(kind === 'themes' && { tab: kind }), ...more })
  return `#/plugins/${encodeURIComponent(slug)}${query.size ? `?${query}` : ''}`
}
