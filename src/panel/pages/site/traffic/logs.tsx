import type { components, paths } from '../../../../sdk/api.generated.ts'
import { api, ask } from '../../../api.ts'
import { Button } from '../../../parts/button.tsx'
import { Empty } from '../../../parts/empty.tsx'
import { type Filter, Filters, filterOf } from '../../../parts/filters.tsx'
import { List } from '../../../parts/list.tsx'
import { Tabs } from '../../../parts/tabs.tsx'
import { logsTexts as texts } from '../../../texts/site/logs.ts'
import { timeOf } from '../../../time.ts'
import type { PartProps } from '../part.ts'
import { type Log, useLog } from './use-log.ts'

type Visit = components['schemas']['ServerLogEntry']
type PhpError = components['schemas']['PhpLogEntry']
type WebQuery = NonNullable<paths['/v1/sites/{id}/logs/server']['get']['parameters']['query']>
type PhpQuery = NonNullable<paths['/v1/sites/{id}/logs/php']['get']['parameters']['query']>

const webFilters: readonly Filter[] = [
  { name: 'status', label: texts.status, options: texts.statuses },
  { name: 'method', label: texts.method, options: texts.methods },
  { name: 'ip', label: texts.address },
]
const phpFilters: readonly Filter[] = [{ name: 'severity', label: texts.severity, options: texts.severities }]

/** The web server log and the PHP log. */
export const Logs = ({ id }: PartProps) => (
  <Tabs
    label={texts.which}
    name="log"
    tabs={texts.kinds}
    clears={[...webFilters, ...phpFilters].map(({ name }) => name)}
  >
    {(kind) => (kind === 'web' ? <WebLog id={id} /> : <PhpLog id={id} />)}
  </Tabs>
)

const Follow = ({ log }: { readonly log: Pick<Log, 'isFollowed'> }) => (
  <label class="follow" data-tip={texts.followIs}>
    <input
      type="checkbox"
      aria-description={texts.followIs}
      checked={log.isFollowed.value}
      onChange={({ currentTarget }) => {
        log.isFollowed.value = currentTarget.checked
      }}
    />{' '}
    {texts.follow}
  </label>
)

const Older = ({ log }: { readonly log: Pick<Log, 'scroll' | 'older'> }) =>
  log.scroll.value ? (
    <p class="row pager">
      <Button onClick={log.older}>{texts.older}</Button>
    </p>
  ) : null

interface Count {
  readonly name: string
  readonly count: number
  readonly kind?: 'good' | 'warn' | 'bad' | 'info'
}

/** Counts the entries on the page by type. */
const Counts = ({ of }: { readonly of: readonly Count[] }) => (
  <p class="row chips">
    <span class="quiet small">{texts.counts}</span>
    {of
      .filter(({ count }) => count > 0)
      .map(({ name, count, kind }) => (
        <span key={name} class={`badge ${kind ?? ''}`}>
          {texts.count(name, count)}
        </span>
      ))}
  </p>
)

const Nothing = (props: { readonly isFiltered: boolean; readonly title: string; readonly text: string }) => (
  <div class="card">
    {props.isFiltered ? (
      <Empty icon="search" title={texts.noneTitle} text={texts.none} />
    ) : (
      <Empty icon="fileText" title={props.title} text={props.text} />
    )}
  </div>
)

function WebLog({ id }: { readonly id: number }) {
  const [status, method, address] = [filterOf('status'), filterOf('method'), filterOf('ip')]
  const log = useLog<Visit>(
    async (scroll_id) => {
      const query: WebQuery = {
        ...(status && { status }),
        ...(method && { request_type: method as NonNullable<WebQuery['request_type']> }),
        ...(address && { user_ip: address }),
        ...(scroll_id && { scroll_id }),
      }
      return (await ask(() => api.GET('/v1/sites/{id}/logs/server', { params: { path: { id }, query } }))).data
    },
    [id, status, method, address],
  )
  const shown = log.from.got.value?.data ?? []
  return (
    <>
      <div class="row spread top-aligned">
        <Filters of={webFilters} />
        <Follow log={log} />
      </div>
      {shown.length > 0 && <Counts of={countsOf(shown)} />}
      <List
        from={log.from}
        caption={texts.kinds.web}
        head={texts.webHead}
        columns={['wide', '', 'num extra', 'extra', 'extra']}
        kept="web-log"
        isCards
        empty={
          <Nothing
            isFiltered={Boolean(status || method || address)}
            title={texts.noVisitsTitle}
            text={texts.noVisits}
          />
        }
        row={(entry) => [
          <>
            <code>
              {entry.request_type} {entry.request_url}
            </code>
            <span class="sub">
              {entry.user_ip} <span class="only-phone">{timeOf(entry.date)}</span>
            </span>
          </>,
          <span class={`badge ${kindOf(entry.status)}`}>{entry.status || texts.canceled}</span>,
          texts.seconds(entry.request_time),
          [entry.renderer, entry.cached].filter(Boolean).join(', '),
          <time dateTime={entry.date}>{timeOf(entry.date)}</time>,
        ]}
      />
      <Older log={log} />
    </>
  )
}

const kinds = ['', 'info', 'good', 'info', 'warn', 'bad'] as const
const kindOf = (status: number) => kinds[Math.floor(status / 100)] || undefined

function countsOf(visits: readonly Visit[]): Count[] {
  const names = [texts.canceled, texts.canceled, texts.success, texts.redirects, texts.refused, texts.failed]
  const all = visits.filter(({ type }) => type === 'access')
  return [2, 3, 4, 5, 0].map((kind) => ({
    name: names[kind] ?? '',
    count: all.filter(({ status }) => Math.floor(status / 100) === kind).length,
    kind: kindOf(kind * 100),
  }))
}

function PhpLog({ id }: { readonly id: number }) {
  const severity = filterOf('severity')
  const log = useLog<PhpError>(
    async (scroll_id) => {
      const query: PhpQuery = {
        ...(severity && { status: severity as NonNullable<PhpQuery['status']> }),
        ...(scroll_id && { scroll_id }),
      }
      return (await ask(() => api.GET('/v1/sites/{id}/logs/php', { params: { path: { id }, query } }))).data
    },
    [id, severity],
  )
  const shown = log.from.got.value?.data ?? []
  const counts = [...Map.groupBy(shown, (entry) => entry.severity)].map(([name, { length }]) => ({
    ...{ name, count: length, kind: severityKind(name) },
  }))
  return (
    <>
      <div class="row spread top-aligned">
        <Filters of={phpFilters} />
        <Follow log={log} />
      </div>
      {shown.length > 0 && <Counts of={counts} />}
      <List
        from={log.from}
        caption={texts.kinds.php}
        head={texts.phpHead}
        columns={['wide', '', 'extra']}
        isCards
        empty={<Nothing isFiltered={severity !== ''} title={texts.noErrorsTitle} text={texts.noErrors} />}
        row={(entry) => [
          <>
            <span class="written">{entry.message}</span>
            <span class="sub">
              <code>{texts.at(entry.file, entry.line)}</code> <span class="only-phone">{timeOf(entry.timestamp)}</span>
            </span>
          </>,
          <span class={`badge ${severityKind(entry.severity) ?? ''}`}>{entry.severity}</span>,
          <time dateTime={entry.timestamp}>{timeOf(entry.timestamp)}</time>,
        ]}
      />
      <Older log={log} />
    </>
  )
}

const severityKind = (severity: string): Count['kind'] =>
  severity === 'Fatal error' || severity === 'Database error' ? 'bad' : severity === 'Warning' ? 'warn' : undefined
