import type { components } from '../../../../sdk/api.generated.ts'
import { api, ask } from '../../../api.ts'
import { Card } from '../../../parts/card.tsx'
import { Chart } from '../../../parts/chart.tsx'
import { filterOf } from '../../../parts/filters.tsx'
import { List, Skeleton } from '../../../parts/list.tsx'
import { Segment } from '../../../parts/segment.tsx'
import { Stat } from '../../../parts/stat.tsx'
import { useLoad } from '../../../parts/use-load.ts'
import { setQuery } from '../../../route.ts'
import { sizeOf } from '../../../size.ts'
import { statisticsTexts as texts } from '../../../texts/site/statistics.ts'
import type { PartProps } from '../part.ts'
import { Requests } from './requests.tsx'

type Views = components['schemas']['SiteStatistics']['pageViews']
type When = keyof typeof texts.when

/** The visits of a site by day, and a summary of its newest requests. */
export function Statistics({ id }: PartProps) {
  const params = { path: { site_id: id } }
  const statistics = useLoad(() => ask(() => api.GET('/v1/sites/{site_id}/statistics', { params })), [id])
  const known = statistics.got.value?.data
  return (
    <>
      {statistics.fault.value && <p class="fault">{statistics.fault.value}</p>}
      {!known && !statistics.fault.value && <Skeleton />}
      {known && (
        <div class="grid-12">
          {(['today', 'currentMonth', 'lastOneYear'] as const).map((when) => (
            <Stat
              key={when}
              label={texts.viewsOf(texts.when[when])}
              value={known.pageViews[when].views.toLocaleString()}
              note={texts.visitors(known.pageViews[when].people)}
            />
          ))}
          <Stat
            label={texts.disk}
            value={sizeOf(known.fileSystemUsageBytes + known.databaseUsageBytes)}
            note={texts.ofDatabase(sizeOf(known.databaseUsageBytes))}
          />
        </div>
      )}
      <Daily id={id} />
      {known && <Periods views={known.pageViews} />}
      <Requests id={id} />
    </>
  )
}

const dayFormat = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' })
const longFormat = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' })

type Range = keyof typeof texts.ranges

function Daily({ id }: { readonly id: number }) {
  const asked = Number(filterOf('days')) as Range
  const days: Range = asked in texts.ranges ? asked : 30
  const params = { path: { site_id: id }, query: { days } }
  const daily = useLoad(() => ask(() => api.GET('/v1/sites/{site_id}/statistics/days', { params })), [id, days])
  const got = daily.got.value?.data
  const labels = got?.map(({ date }) => (days > 90 ? longFormat : dayFormat).format(new Date(date)))
  return (
    <Card
      title={texts.byDay}
      actions={
        <Segment
          label={texts.range}
          options={texts.ranges as Readonly<Record<string, string>>}
          value={String(days)}
          set={(to) => setQuery({ days: Number(to) === 30 ? '' : String(to) })}
        />
      }
    >
      {daily.fault.value && <p class="fault">{daily.fault.value}</p>}
      {got && labels && (
        <Chart
          label={texts.byDay}
          labelsHead={texts.day}
          labels={labels}
          series={[
            { name: texts.views, values: got.map(({ views }) => views) },
            { name: texts.people, values: got.map(({ people }) => people) },
          ]}
        />
      )}
      <p class="quiet small">{texts.fresh}</p>
    </Card>
  )
}

const Periods = ({ views }: { readonly views: Views }) => (
  <Card title={texts.periods} isFlush>
    <List
      from={{ got: { value: { data: Object.keys(texts.when) as When[] } }, fault: { value: '' } }}
      caption={texts.periodsTable}
      head={texts.periodsHead}
      columns={['wide', 'num', 'num']}
      empty=""
      row={(when) => [texts.when[when], views[when].people.toLocaleString(), views[when].views.toLocaleString()]}
    />
  </Card>
)
