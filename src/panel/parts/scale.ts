/** Steps of an axis that are easy to read, times a power of ten. */
const steps = [1, 2, 2.5, 5, 10] as const
const MOST_TICKS = 4

/**
 * Returns a round maximum of at least `most`, and the values from 0 to it that an axis shows. Counts have no halves.
 */
export function scaleOf(most: number): { readonly top: number; readonly ticks: readonly number[] } {
  const raw = Math.max(most, 1) / MOST_TICKS
  const power = 10 ** Math.floor(Math.log10(raw))
  const step = Math.max(1, (steps.find((each) => each * power >= raw) ?? 10) * power)
  const whole = Number.isInteger(step) ? step : Math.ceil(step)
  const count = Math.max(1, Math.ceil(most / whole))
  return { top: whole * count, ticks: Array.from({ length: count + 1 }, (_, at) => at * whole) }
}
