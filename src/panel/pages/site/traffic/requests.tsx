import { api, ask } from '../../../api.ts'
import { Card } from '../../../parts/card.tsx'
import { Chart } from '../../../parts/chart.tsx'
import { Empty } from '../../../parts/empty.tsx'
import { Stat } from '../../../parts/stat.tsx'
import { useOnce } from '../../../parts/use-once.ts'
import { sizeOf } from '../../../size.ts'
import { statisticsTexts as texts } from '../../../texts/site/statistics.ts'
import { timeOf } from '../../../time.ts'
import { type Counted, type Request, type Summary, summaryOf } from './request-summary.ts'

/** Pages of the log to read, of 200 requests each. */
const PAGES_READ = 5

async function readRequests(id: number): Promise<{ data: Summary | undefined }> {
  const entries: Request[] = []
  for (let page = 0, scroll_id = ''; page < PAGES_READ; page++) {
    const params = { path: { id }, query: scroll_id ? { scroll_id } : {} }
    const { data } = await ask(() => api.GET('/v1/sites/{id}/logs/server', { params }))
    entries.push(...data.logs)
    if (data.logs.length === 0) break
    scroll_id = data.scroll_id
  }
  return { data: summaryOf(entries) }
}

/** Summarizes the newest requests of the web server log: pages, referrers, statuses, cache, bandwidth. */
export function Requests({ id }: { readonly id: number }) {
  const requests = useOnce(() => readRequests(id), [id])
  const got = requests.got.value
  if (requests.fault.value) return <p class="fault">{requests.fault.value}</p>
  if (!got) return null
  const summary = got.data
  if (!summary)
    return (
      <div class="card">
        <Empty icon="chartColumn" title={texts.noRequests} text={texts.noRequestsIs} />
      </div>
    )
  const share = (count: number) => texts.percent(count / summary.count)
  return (
    <>
      <div class="head">
        <h2>{texts.requests(summary.count)}</h2>
        <span class="quiet small">{texts.since(timeOf(summary.since))}</span>
      </div>
      <div class="grid-12">
        <Stat
          label={texts.cached}
          value={texts.percent(summary.withoutPhp)}
          note={texts.cacheHits(texts.percent(summary.fromCache))}
        />
        <Stat
          label={texts.time}
          value={texts.seconds(summary.medianTime)}
          note={texts.slowest(texts.seconds(summary.slowTime))}
        />
        <Stat
          label={texts.bandwidth}
          value={sizeOf(summary.bytes)}
          note={texts.perRequest(sizeOf(summary.bytes / summary.count))}
        />
        <Stat
          label={texts.errors}
          value={summary.serverErrors.toLocaleString()}
          note={texts.ofRequests(share(summary.serverErrors))}
        />
      </div>
      <div class="grid-12">
        <Card class="s8" title={texts.byHour}>
          <Chart
            label={texts.byHour}
            labelsHead={texts.hour}
            labels={summary.hours.map(({ start }) => hourOf(start))}
            series={[{ name: texts.count, values: summary.hours.map(({ count }) => count) }]}
          />
        </Card>
        <Card class="s4" title={texts.statuses} isFlush>
          <Shares of={summary.statuses} most={summary.count} name={(kind) => texts.kinds[Number(kind)] ?? kind} />
        </Card>
        <Card class="s6" title={texts.pages} isFlush>
          <Shares of={summary.pages} none={texts.noPages} />
        </Card>
        <Card class="s6" title={texts.referrers} isFlush>
          <Shares of={summary.referrers} none={texts.noReferrers} />
        </Card>
      </div>
    </>
  )
}

const hourFormat = new Intl.DateTimeFormat(undefined, { weekday: 'short', hour: 'numeric', minute: '2-digit' })
const hourOf = (start: number): string => hourFormat.format(start)

/** Counts, with bars relative to the most frequent value. */
function Shares(props: {
  readonly of: readonly Counted[]
  /** The total, if the bars show shares of it. */
  readonly most?: number
  readonly none?: string
  name?(of: string): string
}) {
  const { of, name = (each: string) => each } = props
  if (of.length === 0) return <p class="body quiet">{props.none}</p>
  const most = props.most ?? of[0]?.count ?? 1
  return (
    <ul class="plain shares">
      {of.map((each) => (
        <li key={each.name} class="share">
          <span>{name(each.name)}</span>
          <span>{each.count.toLocaleString()}</span>
          <progress max={most} value={each.count} aria-label={name(each.name)} />
        </li>
      ))}
    </ul>
  )
}
