import { Counter, Gauge, type Registry } from 'prom-client'

export interface Watched<Label extends string> {
  /** Ends in a unit of Prometheus' (`bytes`, `seconds`), a counter's in `_total`. */
  readonly name: string
  readonly help: string
  /** A counter only grows as long as its process lives. */
  readonly type: 'gauge' | 'counter'
  /** Of each label there are only as many values as the code names: whoever visits or owns a site adds none. */
  readonly labels?: readonly Label[]
}

/** Labels, and how much it is for them. */
export type Value<Label extends string> = readonly [labels: Record<Label, string>, value: number]

/**
 * Declares a metric that is asked for when somebody looks, instead of being counted along.
 * @param read each combination of labels once; where it throws, nothing of the registry is shown
 */
export function watch<Label extends string = never>(
  registry: Registry,
  { name, help, type, labels = [] }: Watched<Label>,
  read: () => Iterable<Value<Label>> | Promise<Iterable<Value<Label>>>,
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

/** The value of a metric without labels. */
export const only = (value: number): [Value<never>] => [[{}, value]]
