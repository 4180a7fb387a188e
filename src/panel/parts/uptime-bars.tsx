import { uptimeTexts as texts } from '../texts/monitoring.ts'

/** Below this share of answered questions, a day is red. */
const LITTLE = 99

/**
 * A bar for each day, today last: green without a failure, yellow with a few, red with many, grey without questions.
 * The text beside it says the sum.
 */
export function UptimeBars({ percents }: { readonly percents: readonly (number | null)[] }) {
  return (
    <div class="uptime-bars" role="img" aria-label={texts.bars(percents.length)}>
      {percents.map((percent, at) => (
        <i key={at} class={levelOf(percent)} data-tip={texts.day(percents.length - 1 - at, percent)} />
      ))}
    </div>
  )
}

function levelOf(percent: number | null): string {
  if (percent === null) return 'none'
  if (percent === 100) return 'all'
  return percent < LITTLE ? 'little' : 'some'
}
