import type { components } from '../../../../sdk/api.generated.ts'
import { api, ask } from '../../../api.ts'
import { Button } from '../../../parts/button.tsx'
import { Card } from '../../../parts/card.tsx'
import { Chart } from '../../../parts/chart.tsx'
import { Empty } from '../../../parts/empty.tsx'
import { List, Skeleton } from '../../../parts/list.tsx'
import { Tabs } from '../../../parts/tabs.tsx'
import { useLoad } from '../../../parts/use-load.ts'
import { WrittenLine } from '../../../parts/written.tsx'
import { performanceTexts as texts } from '../../../texts/site/performance.ts'
import { timeOf } from '../../../time.ts'
import type { PartProps } from '../part.ts'

type Report = components['schemas']['DesktopReport'] | components['schemas']['MobileReport']
type Past = components['schemas']['PastPerformanceReport']
type Device = keyof typeof texts.devices

const scores = ['performance', 'accessibility', 'best_practices', 'seo'] as const
const measured = [
  ...(['first_contentful_paint', 'largest_contentful_paint', 'speed_index', 'interactive'] as const),
  ...(['total_blocking_time', 'cumulative_layout_shift', 'server_response_time'] as const),
]

/** Lighthouse's reports on the homepage, the latest and earlier ones. */
export function Performance({ id, act }: PartProps) {
  const params = { path: { id } }
  const report = useLoad(() => ask(() => api.GET('/v1/sites/{id}/reports/performance/latest', { params })), [id])
  const past = useLoad(() => ask(() => api.GET('/v1/sites/{id}/reports/performance', { params })), [id])
  const got = report.got.value
  const create = (
    <Button
      isMain
      icon="gauge"
      of="orderPerformanceReport"
      onClick={act(texts.created, () => ask(() => api.POST('/v1/sites/{id}/reports/performance', { params })))}
    >
      {texts.create}
    </Button>
  )
  if (report.fault.value) return <p class="fault">{report.fault.value}</p>
  if (!got) return <Skeleton />
  if (!got.data)
    return (
      <div class="card">
        <Empty icon="gauge" title={texts.emptyTitle} text={texts.empty}>
          {create}
        </Empty>
      </div>
    )
  const { desktop_report: desktop, mobile_report: mobile } = got.data
  return (
    <Tabs label={texts.device} name="device" tabs={texts.devices} actions={create}>
      {(device) => <OnDevice device={device} report={{ desktop, mobile }[device]} past={past.got.value?.data ?? []} />}
    </Tabs>
  )
}

function OnDevice(props: { readonly device: Device; readonly report: Report; readonly past: readonly Past[] }) {
  const { device, report, past } = props
  const name = texts.devices[device]
  const opportunities = past[0]?.[device].opportunities
  return (
    <>
      <div class="grid-12">
        {scores.map((score) => (
          <Score key={score} name={texts.scores[score]} score={report[`${score}_score`]} />
        ))}
      </div>
      <div class="grid-12">
        <Card class="s8" title={texts.metrics} isFlush>
          <List
            from={{ got: { value: { data: measured } }, fault: { value: '' } }}
            caption={texts.metricsTable}
            head={texts.metricsHead}
            columns={['wide', 'num', 'num']}
            empty=""
            row={(each) => [
              report[`${each}_title`] ?? texts.metricNames[each],
              report[`${each}_display_value`] ?? texts.unknown,
              <span class={`badge ${judged(report[`${each}_score`])}`}>{percent(report[`${each}_score`])}</span>,
            ]}
          />
        </Card>
        <Card class="s4" title={texts.screenshot}>
          {report.thumbnail_location && <img class="shot" src={report.thumbnail_location} alt={texts.picture(name)} />}
          {!report.thumbnail_location && <p class="quiet">{texts.noPicture}</p>}
          <p class="quiet small">{texts.by(timeOf(report.created_at), report.lighthouse_version)}</p>
        </Card>
        {opportunities && (
          <Card class="s12" title={texts.opportunities}>
            {opportunities.length === 0 && <p class="quiet">{texts.noOpportunities}</p>}
            <ul class="plain findings">
              {opportunities.map(({ title, description, display_value }) => (
                <li key={title}>
                  <p class="row spread">
                    <b>{title}</b>
                    {display_value && <span class="badge warn">{display_value}</span>}
                  </p>
                  {description && (
                    <p class="quiet">
                      <WrittenLine text={description} />
                    </p>
                  )}
                </li>
              ))}
            </ul>
          </Card>
        )}
      </div>
      {past.length > 1 && <History of={past.toReversed()} device={device} />}
    </>
  )
}

const dayTime = new Intl.DateTimeFormat(undefined, {
  month: 'short',
  day: 'numeric',
  hour: 'numeric',
  minute: '2-digit',
})

const History = ({ of, device }: { readonly of: readonly Past[]; readonly device: Device }) => (
  <Card title={texts.history}>
    <Chart
      label={texts.historyOf}
      labelsHead={texts.report}
      kind="line"
      most={100}
      labels={of.map(({ created_at }) => dayTime.format(new Date(created_at)))}
      series={scores.map((score) => ({
        name: texts.scores[score],
        values: of.map((report) => {
          const value = report[device][`${score}_score`]
          return value === null ? null : Math.round(value * 100)
        }),
      }))}
    />
  </Card>
)

/** Shows one category as a ring. */
const Score = ({ name, score }: { readonly name: string; readonly score: number | null }) => (
  <section class="card stat s3 score" aria-label={texts.score(name, percent(score))}>
    <svg viewBox="0 0 36 36" class={judged(score)} aria-hidden="true">
      <circle cx="18" cy="18" r="15.9" />
      {/* The circumference is 100. */}
      <circle class="part" cx="18" cy="18" r="15.9" stroke-dasharray={`${(score ?? 0) * 100} 100`} />
    </svg>
    <div>
      <div class="value">{percent(score)}</div>
      <div class="label">{name}</div>
    </div>
  </section>
)

const percent = (score: number | null): string => (score === null ? texts.unknown : `${Math.round(score * 100)}`)

/** Lighthouse's own limits. */
const judged = (score: number | null): string =>
  score === null ? '' : score >= 0.9 ? 'good' : score >= 0.5 ? 'warn' : 'bad'
