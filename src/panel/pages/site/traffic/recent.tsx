import type { components } from '../../../../sdk/api.generated.ts'
import { api, ask } from '../../../api.ts'
import { Card } from '../../../parts/card.tsx'
import { Chart } from '../../../parts/chart.tsx'
import { Empty } from '../../../parts/empty.tsx'
import { Timeline } from '../../../parts/timeline.tsx'
import { useLoad } from '../../../parts/use-load.ts'
import { overviewTexts as texts } from '../../../texts/site/overview.ts'
import { agoOf } from '../../../time.ts'
import { happenings } from '../../activity.tsx'
import type { PartProps } from '../part.ts'

export type Days = readonly components['schemas']['DayViews'][] | undefined

const dayFormat = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' })

/** Recent visits of the site. */
export const Traffic = ({ days }: { readonly days: Days }) => (
  <Card class="s8" title={texts.traffic}>
    {days && !days.some(({ views, people }) => views + people > 0) && (
      <Empty icon="chartColumn" title={texts.noTraffic} text={texts.noTrafficIs} />
    )}
    {days?.some(({ views, people }) => views + people > 0) && (
      <Chart
        label={texts.traffic}
        labelsHead={texts.day}
        labels={days.map(({ date }) => dayFormat.format(new Date(date)))}
        series={[
          { name: texts.pageViews, values: days.map(({ views }) => views) },
          { name: texts.people, values: days.map(({ people }) => people) },
        ]}
      />
    )}
  </Card>
)

const RECENT = 6
/** Log entries of reads, such as by this page. */
const READ = 4

/** The latest changes. */
export function RecentActivity({ id }: PartProps) {
  const params = { path: { id } }
  const body = { page: 1, per_page: RECENT + READ }
  const entries = useLoad(() => ask(() => api.POST('/v1/sites/{id}/logs/activity', { params, body })))
  const shown = (entries.got.value?.data ?? []).filter(({ name }) => !name.startsWith('report.')).slice(0, RECENT)
  return (
    <Card class="s4" title={texts.activity} isFlush actions={<a href={`#/sites/${id}/activity`}>{texts.all}</a>}>
      <Timeline of={happenings(shown, { when: agoOf })} />
    </Card>
  )
}
