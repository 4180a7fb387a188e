import { Counter, Gauge, type Registry } from 'prom-client'

export interface Watched<Label extends string> {
  /** Ends in a Prometheus unit (`bytes`, `seconds`), for a counter in `_total`. */
  readonly name: string
  readonly help: string
  /** A counter only grows during the life of its process. */
  readonly type: 'gauge' | 'counter'
  /** Each label has only values that the code defines. Visitors and owners of sites cannot add any. */
  readonly labels?: readonly Label[]
}

/** Labels, and their value. */
export type LabeledValue<Label extends string> = readonly [labels: Record<Label, string>, value: number]

/**
 * Declares a metric that is read on demand instead of being counted continuously.
 * @param read returns each combination of labels once; if it throws, nothing of the registry is shown
 */
export function watch<Label extends string = never>(
  registry: Registry,
  { name, help, type, labels = [] }: Watched<Label>,
  read: () => Iterable<LabeledValue<Label>> | Promise<Iterable<LabeledValue<Label>>>,
): void {
  const options = { name, help, labelNames: labels, registers: [registry] }
  const metric: Gauge<Label> | Counter<Label> =
    type === 'gauge' ? new Gauge({ ...options, collect }) : new Counter({ ...options, collect })
  async function collect(): Promise<void> {
    const values = await read()
    metric.reset()
    for (const [of, value] of values) metric.inc(of, value)
  }
}

/** Returns the value of a metric without labels. */
export const only = (value: number): [LabeledValue<never>] => [[{}, value]]
