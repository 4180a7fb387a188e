import type { components } from '../../../sdk/api.generated.ts'
import { api, ask } from '../../api.ts'
import { CursorPages, placeShown } from '../../parts/cursor-pages.tsx'
import { Empty } from '../../parts/empty.tsx'
import { type Filter, Filters, filterOf } from '../../parts/filters.tsx'
import { List } from '../../parts/list.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { inventoryTexts as texts } from '../../texts/inventory.ts'
import { choiceOf } from './choice-of.ts'

type SiteWith = components['schemas']['SiteWithExtension']

const PER_PAGE = 50

const filters: readonly Filter[] = [
  { name: 'version', label: texts.versionOf },
  { name: 'due', label: texts.due, options: texts.dueOptions },
  { name: 'active', label: texts.active, options: texts.siteActiveOptions },
]

/** The sites that have a plugin or theme. */
export function SitesWithPage({ kind, slug }: { readonly kind: keyof typeof texts.tabs; readonly slug: string }) {
  const [version, due, active] = [filterOf('version'), choiceOf('due'), choiceOf('active')]
  const query = {
    ...{ after: placeShown(), per_page: PER_PAGE },
    ...(version && { version }),
    ...(due !== undefined && { update_due: due }),
    ...(active !== undefined && { active }),
  }
  const params = { path: { slug }, query }
  const read = () =>
    kind === 'themes'
      ? ask(() => api.GET('/v1/themes/{slug}/sites', { params }))
      : ask(() => api.GET('/v1/plugins/{slug}/sites', { params }))
  const sites = useLoad<SiteWith[]>(read, [placeShown(), version, due, active])
  return (
    <>
      <div class="head">
        <h1>
          <a href={kind === 'themes' ? '#/plugins?tab=themes' : '#/plugins'} class="up">
            {texts.tabs[kind]}
          </a>
          {slug}
        </h1>
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
    </>
  )
}
