import { useSignal } from '@preact/signals'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { chartTexts as texts } from '../texts/parts.ts'
import { List } from './list.tsx'
import { scaleOf } from './scale.ts'

export interface Series {
  readonly name: string
  /** One value for each label, or null where nothing was measured. */
  readonly values: readonly (number | null)[]
}

const HEIGHT = 200
const TOP = 8
const BOTTOM = 24
const LEFT = 44
const RIGHT = 8
/** Width of a letter below the chart, and of the gap between two names. */
const LETTER = 6.2
const GAP = 24
const INNER = HEIGHT - TOP - BOTTOM

const { format: short } = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 })
const long = (value: number): string => value.toLocaleString()

/**
 * Values over time, as wide as the container. The pointer, a finger or the arrow keys select one position, whose values
 * appear above. The same values are in a table below. The first series is drawn behind the others.
 */
export function Chart(props: {
  /** The name of the chart. */
  readonly label: string
  /** Labels of the positions, from left to right. */
  readonly labels: readonly string[]
  readonly series: readonly Series[]
  readonly kind?: 'bars' | 'line'
  /** The highest possible value, if there is one. */
  readonly most?: number
  /** The heading of the table's column of labels. */
  readonly labelsHead: string
  format?(value: number): string
}) {
  const { label, labels, series, kind = 'bars', format = long } = props
  const box = useRef<HTMLDivElement>(null)
  const width = useSignal(720)
  const at = useSignal<number | undefined>(undefined)
  useLayoutEffect(() => {
    const element = box.current
    if (!element) return
    const observer = new ResizeObserver(() => {
      // A hidden container has no width, so nothing is drawn.
      if (element.clientWidth > 0) width.value = element.clientWidth
    })
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  const count = labels.length
  if (count === 0) return null
  const { top, ticks } = scaleOf(
    props.most ?? Math.max(0, ...series.flatMap(({ values }) => values.map((v) => v ?? 0))),
  )
  const inner = width.value - LEFT - RIGHT
  const step = inner / count
  const xOf = (index: number) => LEFT + (index + 0.5) * step
  const yOf = (value: number) => TOP + INNER - (value / top) * INNER
  const shown = Math.min(at.value ?? count - 1, count - 1)
  const room = Math.max(...labels.map(({ length }) => length)) * LETTER + GAP
  // The last name ends at the edge, so the one before it needs half as much again.
  const every = Math.max(1, Math.ceil((room * 1.5) / step))
  const wordsOf = (index: number) =>
    series.map(({ name, values }) => texts.value(name, valueText(values[index], format))).join(', ')
  return (
    <div class={`chart ${kind === 'bars' && series.length > 1 ? 'layered' : ''}`.trim()}>
      <p class="row legend">
        <b>{labels[shown]}</b>
        {series.map(({ name, values }, index) => (
          <span key={name}>
            <span class={`swatch series-${index}`} /> {name} <b>{valueText(values[shown], format)}</b>
          </span>
        ))}
      </p>
      <div
        ref={box}
        class="plot"
        onPointerMove={({ clientX, currentTarget }) => {
          const place = Math.floor((clientX - currentTarget.getBoundingClientRect().left - LEFT) / step)
          at.value = Math.min(Math.max(place, 0), count - 1)
        }}
        onPointerLeave={() => {
          at.value = undefined
        }}
      >
        <svg width="100%" height={HEIGHT} aria-hidden="true">
          {ticks.map((tick) => (
            <g key={tick}>
              <line class="gridline" x1={LEFT} x2={width.value - RIGHT} y1={yOf(tick)} y2={yOf(tick)} />
              <text x={LEFT - 8} y={yOf(tick) + 4} text-anchor="end">
                {short(tick)}
              </text>
            </g>
          ))}
          {labels.map(
            (each, index) =>
              // Starts from the newest, whose position always has its name.
              (count - 1 - index) % every === 0 && (
                <text
                  key={each}
                  x={index === count - 1 && every > 1 ? width.value - RIGHT : xOf(index)}
                  y={HEIGHT - 6}
                  text-anchor={index === count - 1 && every > 1 ? 'end' : 'middle'}
                >
                  {each}
                </text>
              ),
          )}
          {at.value !== undefined && (
            <rect class="reading" x={LEFT + shown * step} y={TOP} width={step} height={INNER} />
          )}
          {series.map(({ name, values }, index) =>
            kind === 'bars' ? (
              <Columns key={name} series={index} values={values} step={step} yOf={yOf} />
            ) : (
              <Line key={name} series={index} values={values} xOf={xOf} yOf={yOf} />
            ),
          )}
        </svg>
        <Reader
          label={label}
          count={count}
          at={shown}
          words={texts.place(labels[shown] ?? '', wordsOf(shown))}
          read={(to) => {
            at.value = to
          }}
        />
      </div>
      <details>
        <summary>{texts.table}</summary>
        <List
          from={{ got: { value: { data: labels.map((_, index) => count - 1 - index) } }, fault: { value: '' } }}
          caption={texts.tableOf(label)}
          head={[props.labelsHead, ...series.map(({ name }) => name)]}
          columns={['', ...series.map(() => 'num')]}
          empty=""
          row={(index) => [labels[index], ...series.map(({ values }) => valueText(values[index], format))]}
        />
      </details>
    </div>
  )
}

const valueText = (value: number | null | undefined, format: (value: number) => string): string =>
  value == null ? texts.none : format(value)

/** The browser's own slider, invisible: keyboards, screen readers and fingers can use it. */
function Reader(props: {
  readonly label: string
  readonly count: number
  readonly at: number
  readonly words: string
  read(at: number): void
}) {
  const id = useId()
  return (
    <input
      id={id}
      type="range"
      class="reader"
      min={0}
      max={props.count - 1}
      value={props.at}
      aria-label={props.label}
      aria-valuetext={props.words}
      onInput={({ currentTarget }) => props.read(Number(currentTarget.value))}
    />
  )
}

/** A value above zero stays visible. */
const LEAST_HEIGHT = 2

const Columns = (props: {
  readonly series: number
  readonly values: readonly (number | null)[]
  readonly step: number
  yOf(value: number): number
}) => {
  // Bars in the back are wider.
  const width = Math.min(40, props.step * 0.72) * (props.series === 0 ? 1 : 0.55)
  return (
    <g class={`series-${props.series}`}>
      {props.values.map((value, index) => {
        if (!value) return null
        const y = Math.min(props.yOf(value), TOP + INNER - LEAST_HEIGHT)
        const x = LEFT + (index + 0.5) * props.step - width / 2
        return <rect key={index} x={x} y={y} width={width} height={TOP + INNER - y} rx={Math.min(2, width / 3)} />
      })}
    </g>
  )
}

const Line = (props: {
  readonly series: number
  readonly values: readonly (number | null)[]
  xOf(index: number): number
  yOf(value: number): number
}) => {
  const points = props.values.flatMap((value, index) =>
    value === null ? [] : [[props.xOf(index), props.yOf(value)] as const],
  )
  return (
    <g class={`series-${props.series} drawn`}>
      <path d={points.map(([x, y], index) => `${index ? 'L' : 'M'}${x.toFixed(1)} ${y.toFixed(1)}`).join('')} />
      {points.map(([x, y]) => (
        <circle key={x} cx={x} cy={y} r={3} />
      ))}
    </g>
  )
}
