import type { components } from '../../sdk/api.generated.ts'
import { api, ask } from '../api.ts'
import { CursorPages, placeShown } from '../parts/cursor-pages.tsx'
import { Empty } from '../parts/empty.tsx'
import { type Filter, Filters, filterOf } from '../parts/filters.tsx'
import { List } from '../parts/list.tsx'
import { MonitoringState } from '../parts/monitoring-state.tsx'
import { Stat } from '../parts/stat.tsx'
import { UptimeBars } from '../parts/uptime-bars.tsx'
import { useLoad } from '../parts/use-load.ts'
import { monitoringTexts as texts, uptimeTexts } from '../texts/monitoring.ts'
import { agoOf } from '../time.ts'

type Monitored = components['schemas']['MonitoredSite']
type State = Monitored['state']

const PER_PAGE = 50
const counted = ['down', 'slow', 'up', 'paused'] as const

/** The color of a number that is not 0. */
const alarms: Readonly<Record<string, string>> = { down: 'bad', slow: 'warn' }

const filters: readonly Filter[] = [{ name: 'state', label: texts.state, options: uptimeTexts.states }]

/** The states of all sites, and their uptime. */
export function MonitoringPage() {
  const state = Object.keys(uptimeTexts.states).find((each) => each === filterOf('state')) as State | undefined
  const page = placeShown() || 1
  const query = { page, per_page: PER_PAGE, ...(state && { state }) }
  const sites = useLoad<Monitored[]>(() => ask(() => api.GET('/v1/monitoring', { params: { query } })), [page, state])
  const last = sites.got.value?.page?.lastPage ?? page
  return (
    <>
      <div class="head">
        <h1>{texts.title}</h1>
      </div>
      <div class="grid-12">
        {counted.map((each) => (
          <Count key={each} state={each} />
        ))}
      </div>
      <div class="row spread top-aligned">
        <Filters of={filters} />
      </div>
      <List
        from={sites}
        caption={texts.caption}
        head={texts.head}
        columns={['wide', '', 'extra', 'num', 'extra']}
        isCards
        empty={
          <div class="card">
            {state ? (
              <Empty icon="search" title={texts.noneTitle} text={texts.noneText} />
            ) : (
              <Empty icon="activity" title={texts.emptyTitle} text={texts.empty} />
            )}
          </div>
        }
        row={(site) => [
          <span class="who">
            <span>
              <a class="name" href={`#/sites/${site.id}/uptime`}>
                {site.display_name}
              </a>
              <span class="sub">{site.primary_domain ?? site.name}</span>
            </span>
          </span>,
          <MonitoringState of={site} />,
          <UptimeBars percents={site.days} />,
          uptimeTexts.percent(site.percent),
          site.since ? agoOf(site.since) : null,
        ]}
      />
      <CursorPages isOldestFirst next={page < last ? page + 1 : undefined} />
    </>
  )
}

/** How many sites have a state. It shows only these. */
function Count({ state }: { readonly state: (typeof counted)[number] }) {
  const query = { state, per_page: 1 }
  const found = useLoad(() => ask(() => api.GET('/v1/monitoring', { params: { query } })), [state])
  const count = found.got.value?.page?.totalItems
  return (
    <Stat
      label={texts.counts[state]}
      value={
        <a class={count ? alarms[state] : undefined} href={`#/monitoring?state=${state}`}>
          {count?.toLocaleString() ?? uptimeTexts.percent(null)}
        </a>
      }
    />
  )
}
