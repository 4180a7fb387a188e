import type { components } from '../../../../sdk/api.generated.ts'
import { api, ask } from '../../../api.ts'
import { Callout } from '../../../parts/callout.tsx'
import { Card } from '../../../parts/card.tsx'
import { Empty } from '../../../parts/empty.tsx'
import { List, Skeleton } from '../../../parts/list.tsx'
import { Stat } from '../../../parts/stat.tsx'
import { UptimeBars } from '../../../parts/uptime-bars.tsx'
import { useLoad } from '../../../parts/use-load.ts'
import { siteUptimeTexts as texts, uptimeTexts } from '../../../texts/monitoring.ts'
import { agoOf, timeOf } from '../../../time.ts'
import type { PartProps } from '../part.ts'

type Incident = components['schemas']['SiteIncident']

const INCIDENTS = 50

/** The state of a site, its last 90 days, and its incidents. */
export function Uptime({ id }: PartProps) {
  const params = { path: { id } }
  const uptime = useLoad(() => ask(() => api.GET('/v1/sites/{id}/uptime', { params })), [id])
  const query = { per_page: INCIDENTS }
  const incidents = useLoad<Incident[]>(
    () => ask(() => api.GET('/v1/sites/{id}/incidents', { params: { ...params, query } })),
    [id],
  )
  const known = uptime.got.value?.data
  if (!known) return uptime.fault.value ? <p class="fault">{uptime.fault.value}</p> : <Skeleton />
  const isBad = known.state === 'down' || known.state === 'slow'
  return (
    <>
      {isBad && <Callout kind={known.state === 'down' ? 'bad' : 'warn'}>{known.detail}</Callout>}
      <div class="grid-12">
        <Stat
          class="s4"
          label={texts.state}
          value={uptimeTexts.states[known.state]}
          note={known.since ? agoOf(known.since) : undefined}
        >
          {known.edges.asking > 1 && <div class="quiet small">{texts.edges(known.edges.asking, known.edges.down)}</div>}
        </Stat>
        <Stat class="s4" label={texts.percent} value={uptimeTexts.percent(known.percent)} />
        <Stat
          class="s4"
          label={texts.incidents}
          value={incidents.got.value?.page?.totalItems.toLocaleString() ?? uptimeTexts.percent(null)}
        />
        <Card class="s12" title={texts.days}>
          <UptimeBars percents={known.days.map(({ percent }) => percent)} />
          <p class="quiet small">{texts.about}</p>
        </Card>
        <Card class="s12" title={texts.list} isFlush>
          <List
            from={incidents}
            caption={texts.more(incidents.got.value?.data.length ?? 0)}
            head={texts.head}
            columns={['', '', 'extra', '']}
            isStacked
            empty={<Empty icon="circleCheck" title={texts.noneTitle} text={texts.none} />}
            row={(one) => [
              timeOf(one.began_at),
              one.ended_at === null ? (
                <span class="badge bad">{texts.open}</span>
              ) : (
                lengthOf(one.began_at, one.ended_at)
              ),
              uptimeTexts.reasons[one.reason],
              one.detail,
            ]}
          />
        </Card>
      </div>
    </>
  )
}

function lengthOf(from: string, until: string): string {
  const minutes = Math.max(1, Math.round((Date.parse(until) - Date.parse(from)) / 60_000))
  return minutes < 60 ? texts.minutes(minutes) : texts.hours(Math.floor(minutes / 60), minutes % 60)
}
