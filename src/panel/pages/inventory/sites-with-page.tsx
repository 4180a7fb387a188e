import type { components, paths } from '../../../sdk/api.generated.ts'
import { api, ask, type Got } from '../../api.ts'
import { askFirst } from '../../parts/ask-first.tsx'
import { Button } from '../../parts/button.tsx'
import { CursorPages, placeShown } from '../../parts/cursor-pages.tsx'
import { Empty } from '../../parts/empty.tsx'
import { type Filter, Filters, filterOf } from '../../parts/filters.tsx'
import { List } from '../../parts/list.tsx'
import { BulkBar, useSelection } from '../../parts/selection.tsx'
import { attempt } from '../../parts/toasts.tsx'
import { manyUpdates } from '../../parts/update-many.ts'
import { useLoad } from '../../parts/use-load.ts'
import { readAll } from '../../read-all.ts'
import { inventoryTexts as texts } from '../../texts/inventory.ts'
import { manyUpdatesTexts as updateTexts } from '../../texts/many-updates.ts'
import { choiceOf } from './choice-of.ts'

type InventoryKind = 'plugins' | 'themes'
type SiteWith = components['schemas']['SiteWithExtension']

const PER_PAGE = 50
/** The most sites that are updated together. */
const MOST = 1000

const filters: readonly Filter[] = [
  { name: 'version', label: texts.versionOf },
  { name: 'due', label: texts.due, options: texts.dueOptions },
  { name: 'active', label: texts.active, options: texts.siteActiveOptions },
]

/** The sites that have a plugin or theme. */
export function SitesWithPage({ kind, slug }: { readonly kind: InventoryKind; readonly slug: string }) {
  const [version, due, active] = [filterOf('version'), choiceOf('due'), choiceOf('active')]
  const query = {
    ...{ after: placeShown(), per_page: PER_PAGE },
    ...(version && { version }),
    ...(due !== undefined && { update_due: due }),
    ...(active !== undefined && { active }),
  }
  const read = (asked: Query) => readSitesWith(kind, slug, asked)
  const sites = useLoad<SiteWith[]>(() => read(query), [placeShown(), version, due, active])
  const allDue = useLoad<SiteWith[]>(() => read({ update_due: true, page: 1, per_page: 1 }))
  const selection = useSelection<SiteWith>({
    keyOf: (site) => (site.update_version === null ? undefined : `${site.id}`),
    nameOf: (site) => site.display_name,
  })
  const order = kind === 'themes' ? { themes: [{ name: slug }] } : { plugins: [{ path: slug }] }
  const update = (ids: readonly number[]) => askFirst(manyUpdates(ids, slug, order))()
  const countDue = Math.min(allDue.got.value?.page?.totalItems ?? 0, MOST)
  return (
    <>
      <div class="head">
        <h1>
          <a href={kind === 'themes' ? '#/plugins?tab=themes' : '#/plugins'} class="up">
            {texts.tabs[kind]}
          </a>
          {slug}
        </h1>
        {countDue > 0 && (
          <div class="right">
            <Button isMain icon="shield" onClick={attempt(async () => update(await readDue(read)))}>
              {updateTexts.updateDue(countDue)}
            </Button>
          </div>
        )}
      </div>
      <div class="row spread top-aligned">
        <Filters of={filters} />
      </div>
      <List
        from={sites}
        caption={texts.installedOn(sites.got.value?.data.length ?? 0)}
        head={texts.siteHead}
        columns={['wide', '', '', 'extra']}
        isCards
        selection={selection}
        empty={
          <div class="card">
            <Empty icon="search" title={texts.noneTitle} text={texts.noneText} />
          </div>
        }
        row={(site) => [
          <span class="who">
            <span>
              <a class="name" href={`#/sites/${site.id}/${kind === 'plugins' ? 'plugins' : 'overview'}`}>
                {site.display_name}
              </a>
              <span class="sub">{site.primary_domain ?? site.name}</span>
            </span>
          </span>,
          site.update_version === null ? (
            site.version || texts.none
          ) : (
            <span class="badge warn">{texts.to(site.version, site.update_version)}</span>
          ),
          texts.isActive[`${site.active}`],
          texts.isAutomatic[`${site.automatic_updates}`],
        ]}
      />
      <CursorPages isOldestFirst next={sites.got.value?.next} />
      <BulkBar label={texts.bulk} keys={selection.keys}>
        <Button isSmall icon="shield" onClick={() => update([...selection.keys.value].map(Number))}>
          {updateTexts.update}
        </Button>
      </BulkBar>
    </>
  )
}

type Query = NonNullable<paths['/v1/plugins/{slug}/sites']['get']['parameters']['query']>

const readSitesWith = (kind: InventoryKind, slug: string, query: Query) => {
  const params = { path: { slug }, query }
  return kind === 'themes'
    ? ask(() => api.GET('/v1/themes/{slug}/sites', { params }))
    : ask(() => api.GET('/v1/plugins/{slug}/sites', { params }))
}

/** Returns the sites whose update is due, from all pages of the list. */
async function readDue(read: (query: Query) => Promise<Got<SiteWith[]>>): Promise<number[]> {
  const due = (after: number) => read({ update_due: true, after, per_page: PER_PAGE })
  const { rows } = await readAll({ read: due, first: 0, nextOf: ({ next }) => next, most: MOST })
  return rows.map(({ id }) => id)
}
