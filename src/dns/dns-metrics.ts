import type { Registry } from 'prom-client'
import { only, watch } from '../platform/metrics/watched.ts'
import type { DnsClient } from './responder.ts'
import { Rcode } from './wire/protocol.ts'

export interface DnsCounts {
  readonly zones: () => number
  /** Returns the number of notifications that secondaries have not yet answered. */
  readonly notices: () => number
}

/** Adds the metrics of a name server process. */
export function createDnsMetrics(registry: Registry, { zones, notices }: DnsCounts) {
  /** Counters by transport and rcode. They are incremented for each answer, so this uses the cheapest form. */
  const counts = { udp: new Float64Array(RCODES), tcp: new Float64Array(RCODES) }
  watch<'rcode' | 'transport'>(
    registry,
    {
      ...{ name: 'stead_dns_answers_total', type: 'counter', labels: ['rcode', 'transport'] },
      help: 'Responses of the name server by code and transport',
    },
    () =>
      (['udp', 'tcp'] as const).flatMap((transport) =>
        [...counts[transport]].flatMap((count, rcode) =>
          count === 0 ? [] : [[{ rcode: words.get(rcode) ?? 'other', transport }, count] as const],
        ),
      ),
  )
  watch(registry, { name: 'stead_dns_zones', help: 'Zones that the name server answers for', type: 'gauge' }, () =>
    only(zones()),
  )
  watch(
    registry,
    {
      name: 'stead_dns_waiting_notices',
      help: 'Zone changes that secondaries have not received yet',
      type: 'gauge',
    },
    () => only(notices()),
  )
  return {
    answered(rcode: number, { transport }: DnsClient): void {
      const ofTransport = counts[transport]
      ofTransport[rcode] = (ofTransport[rcode] as number) + 1
    },
  }
}

/** More codes than any answer has. */
const RCODES = 32
const words = new Map<number, string>(Object.entries(Rcode).map(([word, code]) => [code, word.toLowerCase()]))
