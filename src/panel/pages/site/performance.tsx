import type { components } from '../../../sdk/api.generated.ts'
import { api, ask } from '../../api.ts'
import { Button } from '../../parts/button.tsx'
import { List } from '../../parts/list.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { performanceTexts as texts } from '../../texts/site/performance.ts'
import { timeOf } from '../../time.ts'
import type { PartProps } from './part.ts'

type Report = components['schemas']['DesktopReport'] | components['schemas']['MobileReport']

const scores = ['performance', 'accessibility', 'best_practices', 'seo'] as const
const measured = [
  ...(['first_contentful_paint', 'largest_contentful_paint', 'speed_index', 'interactive'] as const),
  ...(['total_blocking_time', 'cumulative_layout_shift', 'server_response_time'] as const),
]

/** What Lighthouse says of the front page. */
export function Performance({ id, act }: PartProps) {
  const params = { path: { id } }
  const report = useLoad(() => ask(() => api.GET('/v1/sites/{id}/reports/performance/latest', { params })), [id])
  const got = report.got.value
  return (
    <>
      <div class="row spread">
        <h2>{texts.title}</h2>
        <Button
          of="orderPerformanceReport"
          onClick={act(texts.order, () => ask(() => api.POST('/v1/sites/{id}/reports/performance', { params })))}
        >
          {texts.order}
        </Button>
      </div>
      {report.fault.value && <p class="fault">{report.fault.value}</p>}
      {got && !got.data && <p class="quiet">{texts.none}</p>}
      {got?.data && (
        <div class="columns">
          <Device report={got.data.desktop_report} name={texts.devices.desktop_report} />
          <Device report={got.data.mobile_report} name={texts.devices.mobile_report} />
        </div>
      )}
    </>
  )
}

const percent = (score: number | null): string => (score === null ? texts.unknown : `${Math.round(score * 100)}`)

/** Lighthouse's own bounds. */
const judged = (score: number | null): string =>
  score === null ? 'quiet' : score >= 0.9 ? 'succeeded' : score >= 0.5 ? 'running' : 'failed'

const Device = ({ report, name }: { readonly report: Report; readonly name: string }) => (
  <section class="sheet">
    <h3>{name}</h3>
    <p class="quiet">
      {texts.made(timeOf(report.created_at))}
      {report.lighthouse_version && `, ${texts.by(report.lighthouse_version)}`}
    </p>
    {report.thumbnail_location && <img class="shot" src={report.thumbnail_location} alt={texts.picture(name)} />}
    <dl>
      {scores.map((score) => (
        <>
          <dt key={score}>{texts.scores[score]}</dt>
          <dd class={judged(report[`${score}_score`])}>{percent(report[`${score}_score`])}</dd>
        </>
      ))}
    </dl>
    <List
      from={{ got: { value: { data: measured } }, fault: { value: '' } }}
      caption={name}
      head={texts.head}
      empty=""
      row={(each) => [
        report[`${each}_title`] ?? each,
        report[`${each}_display_value`] ?? texts.unknown,
        <span class={judged(report[`${each}_score`])}>{percent(report[`${each}_score`])}</span>,
      ]}
    />
  </section>
)
