import { filterOf } from '../../parts/filters.tsx'

/** Returns the value of a filter with the options `true` and `false`. */
export const choiceOf = (name: string): boolean | undefined =>
  ({ true: true, false: false })[filterOf(name) as 'true' | 'false']
