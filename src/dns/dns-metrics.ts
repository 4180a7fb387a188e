import { Counter, type Registry } from 'prom-client'
import { only, watch } from '../platform/metrics/watched.ts'
import { Rcode } from './protocol.ts'
import type { Client } from './responder.ts'

export interface DnsFigures {
  readonly zones: () => number
  /** Notices that no secondary has answered yet. */
  readonly notices: () => number
}

/** Adds the metrics of a name server process. */
export function createDnsMetrics(registry: Registry, { zones, notices }: DnsFigures) {
  const answers = new Counter({
    name: 'stead_dns_answers_total',
    help: 'Answers of the name server by what they say, and by how they were asked for',
    labelNames: ['rcode', 'transport'],
    registers: [registry],
  })
  watch(registry, { name: 'stead_dns_zones', help: 'Zones that the name server answers for', type: 'gauge' }, () =>
    only(zones()),
  )
  watch(
    registry,
    {
      name: 'stead_dns_waiting_notices',
      help: 'Changes of zones that secondaries have not heard of yet',
      type: 'gauge',
    },
    () => only(notices()),
  )
  const counters = new Map<string, Counter.Internal>()
  return {
    answered(rcode: number, { transport }: Client): void {
      const key = `${rcode} ${transport}`
      const known = counters.get(key) ?? answers.labels({ rcode: words.get(rcode) ?? 'other', transport })
      counters.set(key, known)
      known.inc()
    },
  }
}

const words = new Map<number, string>(Object.entries(Rcode).map(([word, code]) => [code, word.toLowerCase()]))
