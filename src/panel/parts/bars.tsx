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
  const width = props.bars.length * (group + GAP)
  return (
    <svg
      class="bars"
      role="img"
      aria-label={props.about}
      viewBox={`0 0 ${width} ${HEIGHT + TOP + 20}`}
      width={width}
      height={HEIGHT + TOP + 20}
    >
      {props.bars.map(({ label, values }, at) => {
        const left = GAP / 2 + at * (group + GAP)
        return (
          <g key={label}>
            {values.map((value, series) => {
              const height = Math.max(value > 0 ? 2 : 0, (value / most) * HEIGHT)
              const x = left + series * BAR
              return (
                <g key={series}>
                  <rect
                    class={`series-${series}`}
                    x={x + 1}
                    y={TOP + HEIGHT - height}
                    width={BAR - 2}
                    height={height}
                  />
                  <text x={x + BAR / 2} y={TOP + HEIGHT - height - 4} text-anchor="middle">
                    {value.toLocaleString()}
                  </text>
                </g>
              )
            })}
            <text x={left + group / 2} y={TOP + HEIGHT + 16} text-anchor="middle">
              {label}
            </text>
          </g>
        )
      })}
      <line x1={0} x2={width} y1={TOP + HEIGHT} y2={TOP + HEIGHT} />
    </svg>
  )
}

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
