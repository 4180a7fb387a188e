import type { components } from '../../sdk/api.generated.ts'
import { api, ask } from '../api.ts'
import { CursorPages, placeShown } from '../parts/cursor-pages.tsx'
import { Empty } from '../parts/empty.tsx'
import { ExportCsv } from '../parts/export-csv.tsx'
import { type Filter, Filters, filterOf } from '../parts/filters.tsx'
import type { IconName } from '../parts/icons.ts'
import { Skeleton } from '../parts/list.tsx'
import { type Happening, Timeline } from '../parts/timeline.tsx'
import { useLoad } from '../parts/use-load.ts'
import { activityTexts as texts } from '../texts/activity.ts'
import { timeOf } from '../time.ts'

type Entry = components['schemas']['ActivityEntry']
type EntryFilter = components['schemas']['ActivityFilter']

/** Icons by the beginning of an action's name. The first match counts. */
const icons: readonly (readonly [begin: string, icon: IconName])[] = [
  ['backup', 'archive'],
  ['site.restore', 'archive'],
  ['site.sync', 'gitBranch'],
  ['site.clone', 'gitBranch'],
  ['site', 'appWindow'],
  ['plugin', 'plug'],
  ['mu_plugin', 'package'],
  ['edge_cache', 'zap'],
  ['cdn', 'zap'],
  ['wordpress.object_cache', 'zap'],
  ['wordpress.phpmyadmin', 'database'],
  ['wordpress', 'settings'],
  ['account.collaborator', 'users'],
  ['collaborator', 'users'],
  ['domain', 'globe'],
  ['zone', 'globe'],
  ['dns', 'globe'],
  ['certificate', 'lock'],
  ['one_time_login', 'keyRound'],
  ['sftp', 'squareTerminal'],
  ['wp_cli', 'squareTerminal'],
  ['note', 'stickyNote'],
  ['tag', 'tag'],
  ['favorite', 'star'],
  ['import', 'import'],
  ['performance_report', 'gauge'],
  ['session', 'circleUser'],
  ['password', 'lock'],
]

const iconOf = (name: string): IconName => icons.find(([begin]) => name.startsWith(begin))?.[1] ?? 'list'

/**
 * Presents entries of the activity log in the timeline.
 * @param isOfAccount shows the site of each entry
 * @param when how the time reads
 */
export const happenings = (
  entries: readonly Entry[],
  { isOfAccount = false, when = timeOf }: { readonly isOfAccount?: boolean; when?(iso: string): string } = {},
): Happening[] =>
  entries.map((entry) => ({
    key: entry.id,
    icon: iconOf(entry.name),
    text: entry.message || entry.description,
    about: (
      <>
        {isOfAccount && typeof entry.site_id === 'number' && (
          <>
            {entry.site_name ? (
              <a href={`#/sites/${entry.site_id}/activity`}>{entry.site_name}</a>
            ) : (
              <span>{texts.deletedSite}</span>
            )}
            <span aria-hidden="true">·</span>
          </>
        )}
        <span>{entry.accountEmail ?? texts.byStead}</span>
        <span aria-hidden="true">·</span>
        <time dateTime={entry.timestamp} data-tip={when === timeOf ? undefined : timeOf(entry.timestamp)}>
          {when(entry.timestamp)}
        </time>
      </>
    ),
  }))

const PER_PAGE = 50

/** The filters in the address. */
function filtersSet(): EntryFilter[] {
  const [action, person, source] = [filterOf('action'), filterOf('person'), filterOf('source')]
  return [
    ...(action ? [{ field: 'action' as const, operator: 'equals' as const, value: action }] : []),
    ...(person ? [{ field: 'account_email' as const, operator: 'contains' as const, value: person }] : []),
    ...(source ? [{ field: 'source' as const, operator: 'equals' as const, value: source }] : []),
  ]
}

/** The activity log of an account, or of one site. */
export function Activity({ siteId }: { readonly siteId?: number }) {
  const filters = filtersSet()
  const read = (after: number) => {
    const body = { per_page: PER_PAGE, after, filters }
    return siteId === undefined
      ? ask(() => api.POST('/v1/account/logs/activity', { body }))
      : ask(() => api.POST('/v1/sites/{id}/logs/activity', { params: { path: { id: siteId } }, body }))
  }
  const entries = useLoad(() => read(placeShown()), [siteId, placeShown(), JSON.stringify(filters)])
  const actions = useLoad(() =>
    siteId === undefined
      ? ask(() => api.GET('/v1/activity/account-actions'))
      : ask(() => api.GET('/v1/activity/site-actions')),
  )
  const known = [...(actions.got.value?.data ?? [])].sort((one, other) =>
    one.description.localeCompare(other.description),
  )
  const offered: Filter[] = [
    {
      name: 'action',
      label: texts.action,
      options: Object.fromEntries(known.map(({ name, description }) => [name, description])),
    },
    { name: 'person', label: texts.person },
    { name: 'source', label: texts.source, options: texts.sources },
  ]
  const got = entries.got.value
  return (
    <>
      <div class="row spread top-aligned">
        <Filters of={offered} />
        <ExportCsv
          name={texts.file}
          head={texts.csv}
          read={read}
          row={(entry) => [
            entry.timestamp,
            entry.site_name ?? '',
            entry.accountEmail ?? texts.byStead,
            entry.description,
            entry.message,
            entry.ipAddress ?? '',
          ]}
        />
      </div>
      {entries.fault.value && <p class="fault">{entries.fault.value}</p>}
      {!got && !entries.fault.value && <Skeleton />}
      {got && (
        <section class="card" aria-label={texts.title}>
          {got.data.length > 0 ? (
            <Timeline of={happenings(got.data, { isOfAccount: siteId === undefined })} />
          ) : filters.length > 0 ? (
            <Empty icon="search" title={texts.noneTitle} text={texts.none} />
          ) : (
            <Empty icon="list" title={texts.emptyTitle} text={texts.empty} />
          )}
        </section>
      )}
      <CursorPages next={got?.next} />
    </>
  )
}

export const ActivityPage = () => (
  <>
    <div class="head">
      <h1>{texts.title}</h1>
    </div>
    <Activity />
  </>
)
