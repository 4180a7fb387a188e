import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { components } from '../../../sdk/api.generated.ts'
import { api, ask, type Got } from '../../api.ts'
import { Button } from '../../parts/button.tsx'
import { Columns } from '../../parts/columns.tsx'
import { Empty } from '../../parts/empty.tsx'
import { filterOf } from '../../parts/filters.tsx'
import { Icon } from '../../parts/icon.tsx'
import { later } from '../../parts/later.tsx'
import { List } from '../../parts/list.tsx'
import { Menu, MenuItem } from '../../parts/menu.tsx'
import { Segment } from '../../parts/segment.tsx'
import { type Figures, useFigures } from '../../parts/site-figures.ts'
import { SORT, SortSelect } from '../../parts/sorting.tsx'
import { Spark } from '../../parts/spark.tsx'
import { StateOf } from '../../parts/state-of.tsx'
import { Thumb } from '../../parts/thumb.tsx'
import { attempt, told } from '../../parts/toasts.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { showWork } from '../../parts/work.ts'
import { sizeOf } from '../../size.ts'
import { commonTexts } from '../../texts/common.ts'
import { sitesTexts as texts } from '../../texts/sites.ts'
import { agoOf } from '../../time.ts'
import { openLogin } from '../open-login.ts'
import { overviewFile } from '../site/overview-file.ts'
import { siteAddress } from '../site-address.ts'
import { wordpressRelease } from '../wordpress-release.ts'
import { choose, chosen, narrow, places, turnTo, useNarrowing } from './choice.ts'
import { wantsFirstSteps } from './first-steps-wish.ts'
import { SelectAllSites } from './select-all.tsx'
import { type EnvironmentsOfPage, SwitchInList, useEnvironments } from './switch-in-list.tsx'
import { Views } from './views.tsx'

const NewSite = later(() => import('./new-site.tsx').then((file) => file.NewSite))
const FirstSteps = later(() => import('./first-steps.tsx').then((file) => file.FirstSteps))
const Bulk = later(() => import('./bulk.tsx').then((file) => file.Bulk))

const PER_PAGE = 25
/** When the list is there and its pictures are loading, the next page's script is fetched. */
const AHEAD_MS = 1000

type Site = components['schemas']['FoundSite'] | components['schemas']['ListedSite']
type Filter = components['schemas']['SiteFilter']

type SortOfSites = keyof typeof texts.orders

function readSites(asked: { place?: string; per_page: number; sort?: SortOfSites }): Promise<Got<readonly Site[]>> {
  const [name, state, tag, kind] = [filterOf('q'), filterOf('state'), filterOf('tag'), filterOf('kind')]
  const include = 'status' as const
  const filters: Filter[] = [
    ...(name ? [{ key: 'any' as const, value: name }] : []),
    ...(state ? [{ key: 'state' as const, value: state }] : []),
    ...(tag ? [{ key: 'tag' as const, value: tag }] : []),
    ...(kind ? [{ key: 'staging' as const, value: String(kind === 'staging') }] : []),
  ]
  if (filters.length > 0)
    return ask(() => api.POST('/v1/sites/search', { params: { query: { include } }, body: { ...asked, filters } }))
  // A person who searches may look for an environment.
  const query = { ...asked, include, paginate: true, environments: 'grouped' as const }
  return ask(() => api.GET('/v1/sites', { params: { query } }))
}

/** Returns the order in the address, if the API has it. */
const sortOfSites = (): { sort?: SortOfSites } => {
  const sort = filterOf(SORT)
  return Object.hasOwn(texts.orders, sort) ? { sort: sort as SortOfSites } : {}
}

const choices = Object.entries(texts.orders).map(([sort, text]) => ({
  sort: { key: sort.replace('-', ''), isDescending: sort.startsWith('-') },
  text,
}))

/**
 * Sites that the person sees, one page at a time. The server searches and pages, so that ten thousand sites are as fast
 * as ten. A page begins after the last site of the previous one, so that sites which others add or delete do not shift
 * it.
 */
export function SitesPage() {
  const creating = useSignal<'new' | 'import' | undefined>(undefined)
  const [name, state, tag, kind] = [filterOf('q'), filterOf('state'), filterOf('tag'), filterOf('kind')]
  const filters = [name, state, tag, kind]
  const isFiltered = filters.some(Boolean)
  const turned = places()
  const place = turned.at(-1) ?? ''
  useNarrowing()
  const asked = { place, per_page: PER_PAGE, ...sortOfSites() }
  const sites = useLoad(() => readSites(asked), [place, asked.sort, ...filters])
  const total = useLoad(() => readSites({ per_page: 1 }), filters).got.value?.page?.totalItems
  const got = sites.got.value
  const environments = useEnvironments(isFiltered ? [] : (got?.data.map(({ id }) => id) ?? []))
  const rows = got?.data.map((live) => environments.shownOf(live))
  const figures = useFigures(rows?.map(({ id }) => id) ?? [])
  const isThere = got !== undefined
  useEffect(() => {
    if (!isThere) return
    // Without it, the click fetches the script, and reports why that fails.
    const soon = setTimeout(() => overviewFile().catch(() => {}), AHEAD_MS)
    return () => clearTimeout(soon)
  }, [isThere])
  // All sites after this place are gone.
  const isBehindAll = got?.data.length === 0 && place !== ''
  useEffect(() => {
    if (isBehindAll) turnTo(turned.slice(0, -1))
  }, [isBehindAll])
  const create = () => {
    creating.value = 'new'
  }
  return (
    <>
      <div class="head">
        <h1>
          {texts.title} {total !== undefined && <span class="quiet">{texts.count(total)}</span>}
        </h1>
        <div class="right">
          <Button
            icon="import"
            onClick={() => {
              creating.value = 'import'
            }}
          >
            {texts.importSite}
          </Button>
          <Button isMain icon="plus" onClick={create}>
            {texts.newSite}
          </Button>
        </div>
      </div>
      {got && total !== undefined && !isFiltered && wantsFirstSteps(total) && (
        <FirstSteps sites={got.data} create={create} />
      )}
      <div class="filters">
        <div class="searches">
          <Icon name="search" />
          <input
            type="search"
            aria-label={texts.search}
            placeholder={texts.search}
            value={name}
            onInput={({ currentTarget }) => narrow({ q: currentTarget.value.trim() })}
          />
        </div>
        <Segment
          label={texts.shownKind}
          options={texts.shownKinds}
          value={kind in texts.shownKinds ? (kind as keyof typeof texts.shownKinds) : 'all'}
          set={(to) => narrow({ kind: to === 'all' ? '' : to })}
        />
        <select
          aria-label={texts.state}
          value={state}
          onChange={({ currentTarget }) => narrow({ state: currentTarget.value })}
        >
          {Object.entries(texts.states).map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
        {tag && (
          <span class="badge accent">
            {texts.tagged(tag)}
            <Button isGhost isSmall icon="x" label={texts.noTag} onClick={() => narrow({ tag: '' })} />
          </span>
        )}
        <div class="right">
          {total !== undefined && total > 1 && <SelectAllSites total={total} read={readSites} />}
          <SortSelect choices={choices} usual={texts.usualOrder} />
          <Views />
          <Columns list="sites" heads={texts.head.slice(2, -1)} class="only-icon not-phone" />
        </div>
      </div>
      <List
        from={{ fault: sites.fault, got: { value: rows && { data: rows } } }}
        caption={texts.title}
        head={texts.head}
        hiddenHeads={texts.hiddenHeads}
        columns={columns}
        sorts={sorts}
        kept="sites"
        hasOwnTools
        stays={texts.head.slice(0, 2)}
        isCards
        isChosen={({ id }) => chosen.value.has(id)}
        empty={
          <div class="card">
            {isFiltered ? (
              <Empty icon="search" title={texts.noneFoundTitle} text={texts.noneFound}>
                <Button onClick={() => narrow({ q: '', state: '', tag: '', kind: '' })}>{texts.clear}</Button>
              </Empty>
            ) : (
              <Empty icon="appWindow" title={texts.emptyTitle} text={texts.empty}>
                <Button isMain icon="plus" onClick={create}>
                  {texts.newSite}
                </Button>
              </Empty>
            )}
          </div>
        }
        row={(site) => rowOf(site, { figures: figures.get(site.id), environments, reload: sites.reload })}
      />
      <Turn next={got?.nextPlace} />
      <Bulk page={rows ?? []} />
      {creating.value && (
        <NewSite
          isForImport={creating.value === 'import'}
          onClose={() => {
            creating.value = undefined
          }}
          onChange={() => void sites.reload()}
        />
      )}
    </>
  )
}

/** Links to the previous and next page. */
function Turn({ next }: { readonly next: string | undefined }) {
  const turned = places()
  if (next === undefined && turned.length === 1) return null
  return (
    <nav class="row pager" aria-label={commonTexts.turning}>
      <Button isDisabled={turned.length === 1} onClick={() => turnTo(turned.slice(0, -1))}>
        {commonTexts.back}
      </Button>
      <Button
        isDisabled={next === undefined}
        onClick={() => {
          if (next !== undefined) turnTo([...turned, next])
        }}
      >
        {commonTexts.next}
      </Button>
    </nav>
  )
}

/** The server sorts. See `sort` of the API. */
const sorts = [
  undefined,
  { key: 'name' },
  undefined,
  { key: 'php_version' },
  undefined,
  undefined,
  { key: 'disk', isLargestFirst: true },
]

const columns = ['', 'wide', 'under', 'extra', 'extra', 'extra num', 'extra num', 'extra', '']

const { format: count } = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 })

interface Besides {
  readonly figures: Figures | undefined
  readonly environments: EnvironmentsOfPage
  reload(): Promise<void>
}

function rowOf(site: Site, { figures, environments, reload }: Besides) {
  const { id, displayName } = site
  return [
    <label class="box">
      <input
        type="checkbox"
        aria-label={texts.select(displayName)}
        checked={chosen.value.has(id)}
        onChange={({ currentTarget }) => choose(id, displayName, currentTarget.checked)}
      />
    </label>,
    <span class="who">
      <Thumb id={id} picture={figures?.pictureLocation} />
      <span>
        <span class="row">
          <a class="name" href={`#/sites/${id}`}>
            {displayName}
          </a>
          {site.favorite && (
            <span role="img" aria-label={texts.favorites(displayName)} data-tip={texts.favorites(displayName)}>
              <Icon name="star" />
            </span>
          )}
          {site.staging && <span class="badge info">{texts.staging}</span>}
          <SwitchInList of={site} environments={environments} />
          {site.tags.map((tag) => (
            <button key={tag.id} type="button" class="tag" onClick={() => narrow({ tag: tag.name })}>
              {tag.name}
            </button>
          ))}
        </span>
        <span class="sub">{site.url}</span>
      </span>
    </span>,
    <StateOf site={site} />,
    site.phpVersion ?? commonTexts.unknown,
    wordpressRelease(site.cmsVersion),
    figures ? (
      <span class="row nowrap">
        {count(figures.views.reduce((sum, views) => sum + views, 0))} <Spark values={figures.views} />
      </span>
    ) : (
      commonTexts.unknown
    ),
    figures ? sizeOf(figures.databaseUsageBytes + figures.fileSystemUsageBytes) : commonTexts.unknown,
    figures ? <LastBackup at={figures.lastBackupAt} /> : commonTexts.unknown,
    <Actions site={site} reload={reload} />,
  ]
}

const LastBackup = ({ at }: { readonly at: string | null }) => (
  <span class="quiet nowrap">{at === null ? texts.noBackup : agoOf(at)}</span>
)

function Actions({ site, reload }: { readonly site: Site; reload(): Promise<void> }) {
  const { id, displayName, favorite } = site
  const params = { path: { id } }
  return (
    <span class="row nowrap">
      <a
        class="button ghost sm only-icon extra"
        href={siteAddress(site.url)}
        target="_blank"
        rel="noreferrer"
        aria-label={texts.open(displayName)}
      >
        <Icon name="externalLink" />
      </a>
      <Menu label={texts.more(displayName)} class="ghost sm only-icon" button={<Icon name="ellipsis" />}>
        <MenuItem icon="keyRound" onClick={attempt(() => openLogin(id))}>
          {texts.login}
        </MenuItem>
        <MenuItem
          icon="zap"
          onClick={attempt(async () => {
            await ask(() => api.DELETE('/v1/sites/{id}/edge-cache', { params }))
            told(texts.purged(displayName))
          })}
        >
          {texts.purge}
        </MenuItem>
        <MenuItem
          icon="archive"
          onClick={attempt(async () => {
            const body = { backup_type: 'db' as const }
            const { operationId } = await ask(() => api.POST('/v1/sites/{id}/ondemand-backups', { params, body }))
            if (operationId !== undefined) showWork(operationId, texts.backingUp(displayName))
          })}
        >
          {texts.backUp}
        </MenuItem>
        <MenuItem icon="fileText" to={`#/sites/${id}/logs?log=php`}>
          {texts.phpLog}
        </MenuItem>
        <MenuItem
          icon="star"
          onClick={attempt(async () => {
            await (favorite
              ? ask(() => api.DELETE('/v1/sites/{id}/favorites', { params }))
              : ask(() => api.POST('/v1/sites/{id}/favorites', { params })))
            await reload()
          })}
        >
          {texts.favorite[`${favorite}`]}
        </MenuItem>
      </Menu>
    </span>
  )
}
