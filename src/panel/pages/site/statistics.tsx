import type { components } from '../../../sdk/api.generated.ts'
import { api, ask } from '../../api.ts'
import { Bars, type Day, DayBars, Legend } from '../../parts/bars.tsx'
import { List } from '../../parts/list.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { sizeOf } from '../../size.ts'
import { statisticsTexts as texts } from '../../texts/site/statistics.ts'
import type { PartProps } from './part.ts'

type Views = components['schemas']['SiteStatistics']['pageViews']
type When = keyof typeof texts.when

const days: readonly When[] = ['yesterday', 'today']
const months: readonly When[] = ['twoMonthsAgo', 'lastMonth', 'currentMonth']
const all = Object.keys(texts.when) as When[]

export function Statistics({ id }: PartProps) {
  const statistics = useLoad(
    () => ask(() => api.GET('/v1/sites/{site_id}/statistics', { params: { path: { site_id: id } } })),
    [id],
  )
  const daily = useLoad(
    () => ask(() => api.GET('/v1/sites/{site_id}/statistics/days', { params: { path: { site_id: id } } })),
    [id],
  )
  const known = statistics.got.value?.data
  return (
    <>
      <h2>{texts.title}</h2>
      <p class="quiet">{texts.fresh}</p>
      {statistics.fault.value && <p class="fault">{statistics.fault.value}</p>}
      {daily.fault.value && <p class="fault">{daily.fault.value}</p>}
      {daily.got.value && <Daily days={daily.got.value.data} />}
      {known && (
        <div class="columns">
          <Chart title={texts.days} of={days} views={known.pageViews} />
          <Chart title={texts.months} of={months} views={known.pageViews} />
          <section class="sheet">
            <h3>{texts.disk}</h3>
            <dl>
              <dt>{texts.files}</dt>
              <dd>{sizeOf(known.fileSystemUsageBytes)}</dd>
              <dt>{texts.database}</dt>
              <dd>{sizeOf(known.databaseUsageBytes)}</dd>
              <dt>{texts.total}</dt>
              <dd>{sizeOf(known.fileSystemUsageBytes + known.databaseUsageBytes)}</dd>
            </dl>
          </section>
          <section class="sheet">
            <h3>{texts.table}</h3>
            <List
              from={{ got: { value: { data: all } }, fault: { value: '' } }}
              caption={texts.table}
              head={texts.head}
              empty=""
              row={(when) => [
                texts.when[when],
                known.pageViews[when].people.toLocaleString(),
                known.pageViews[when].views.toLocaleString(),
              ]}
            />
          </section>
        </div>
      )}
    </>
  )
}

const Daily = ({ days }: { readonly days: readonly Day[] }) => {
  const sum = (of: 'people' | 'views') => days.reduce((total, day) => total + day[of], 0)
  return (
    <section class="sheet">
      <h3>{texts.month}</h3>
      <Legend names={[texts.people, texts.views]} />
      <DayBars days={days} about={texts.chart(texts.month, texts.bar(texts.together, sum('people'), sum('views')))} />
      <details>
        <summary>{texts.byDay}</summary>
        <List
          from={{ got: { value: { data: days.toReversed() } }, fault: { value: '' } }}
          caption={texts.byDay}
          head={texts.head}
          empty=""
          row={({ date, people, views }) => [date, people.toLocaleString(), views.toLocaleString()]}
        />
      </details>
    </section>
  )
}

const Chart = ({
  title,
  of,
  views,
}: {
  readonly title: string
  readonly of: readonly When[]
  readonly views: Views
}) => (
  <section class="sheet">
    <h3>{title}</h3>
    <Legend names={[texts.people, texts.views]} />
    <Bars
      bars={of.map((when) => ({ label: texts.when[when], values: [views[when].people, views[when].views] }))}
      about={texts.chart(
        title,
        of.map((when) => texts.bar(texts.when[when], views[when].people, views[when].views)).join(' '),
      )}
    />
  </section>
)
