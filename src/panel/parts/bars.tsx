import type { ComponentChildren } from 'preact'

export interface Bar {
  readonly label: string
  /** One for each of the series. */
  readonly values: readonly number[]
}

const HEIGHT = 120
const TOP = 16
const BAR = 34
const GAP = 26

/** Bars side by side, a group for each label. What it shows stands in words for who does not see it. */
export function Bars(props: { readonly bars: readonly Bar[]; readonly about: string }) {
  const most = Math.max(1, ...props.bars.flatMap(({ values }) => values))
  const group = BAR * (props.bars[0]?.values.length ?? 1)
  return (
    <Chart width={props.bars.length * (group + GAP)} about={props.about}>
      {props.bars.map(({ label, values }, at) => {
        const left = GAP / 2 + at * (group + GAP)
        return (
          <g key={label}>
            {values.map((value, series) => (
              <g key={series}>
                <Column series={series} share={value / most} x={left + series * BAR + 1} width={BAR - 2} />
                <text x={left + (series + 0.5) * BAR} y={topOf(value / most) - 4} text-anchor="middle">
                  {value.toLocaleString()}
                </text>
              </g>
            ))}
            <Below x={left + group / 2} anchor="middle" text={label} />
          </g>
        )
      })}
    </Chart>
  )
}

const STEP = 16

export interface Day {
  readonly date: string
  readonly people: number
  readonly views: number
}

/** Many days side by side: views, and before them the people. What it shows stands in words and in a table for who does not see it. */
export function DayBars({ days, about }: { readonly days: readonly Day[]; readonly about: string }) {
  const most = Math.max(1, ...days.map(({ views }) => views))
  const width = days.length * STEP
  return (
    <Chart width={width} about={about}>
      {days.map(({ date, people, views }, at) => (
        <g key={date}>
          {[people, views].map((value, series) => (
            <Column
              key={series}
              series={series}
              share={value / most}
              x={at * STEP + 1 + series * (STEP / 2 - 1)}
              width={STEP / 2 - 2}
            />
          ))}
        </g>
      ))}
      <text x={0} y={11}>
        {most.toLocaleString()}
      </text>
      <Below x={0} anchor="start" text={days[0]?.date} />
      <Below x={width} anchor="end" text={days.at(-1)?.date} />
    </Chart>
  )
}

/** Bars stand on its line. */
const Chart = (props: { readonly width: number; readonly about: string; readonly children: ComponentChildren }) => (
  <svg
    class="bars"
    role="img"
    aria-label={props.about}
    viewBox={`0 0 ${props.width} ${HEIGHT + TOP + 20}`}
    width={props.width}
    height={HEIGHT + TOP + 20}
  >
    {props.children}
    <line x1={0} x2={props.width} y1={TOP + HEIGHT} y2={TOP + HEIGHT} />
  </svg>
)

/** What there is at all can be seen. */
const heightOf = (share: number): number => Math.max(share > 0 ? 2 : 0, share * HEIGHT)
const topOf = (share: number): number => TOP + HEIGHT - heightOf(share)

const Column = (props: {
  readonly series: number
  readonly share: number
  readonly x: number
  readonly width: number
}) => (
  <rect
    class={`series-${props.series}`}
    x={props.x}
    y={topOf(props.share)}
    width={props.width}
    height={heightOf(props.share)}
  />
)

const Below = (props: {
  readonly x: number
  readonly anchor: 'start' | 'middle' | 'end'
  readonly text: string | undefined
}) => (
  <text x={props.x} y={TOP + HEIGHT + 16} text-anchor={props.anchor}>
    {props.text}
  </text>
)

/** What each colour of {@link Bars} means. */
export const Legend = ({ names }: { readonly names: readonly string[] }) => (
  <p class="row legend" aria-hidden="true">
    {names.map((name, series) => (
      <span key={name}>
        <svg width="12" height="12" role="presentation">
          <rect class={`series-${series}`} width="12" height="12" rx="2" />
        </svg>{' '}
        {name}
      </span>
    ))}
  </p>
)
