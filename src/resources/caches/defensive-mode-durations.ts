import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../platform/durations.ts'

const several = (least: number, most: number, unit: string, unitMs: number): [string, number][] =>
  Array.from({ length: most - least + 1 }, (_, i) => [`${least + i}-${unit}`, (least + i) * unitMs])

/** Possible durations of defensive mode, in milliseconds, by their names in the API. */
export const durationsMs: ReadonlyMap<string, number> = new Map([
  ['30-minutes', 30 * MINUTE_MS],
  ['45-minutes', 45 * MINUTE_MS],
  ['1-hour', HOUR_MS],
  ...several(2, 23, 'hours', HOUR_MS),
  ['1-day', DAY_MS],
  ...several(2, 7, 'days', DAY_MS),
])

export const durations: readonly string[] = [...durationsMs.keys()]
