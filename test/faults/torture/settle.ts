import { fetch } from 'undici'
import { until } from '../../support/stead.ts'
import type { Ground } from './ground.ts'
import type { Row } from './records.ts'

/** The last mail after several refusals waits 45 s for its next try; the lease of a dead process ends after 8 s. */
const LONGEST_END_MS = 120_000

/** Scheduled for another time of the night on purpose, when the clock was past midnight for a while. */
const waitsForNight = "(type = 'statistics.measure' and attempts = 0)"

/** Waits until every operation has ended. @returns those that did not */
export async function settle(ground: Ground): Promise<string[]> {
  ground.cuts.left = 0
  await ground.clock?.set(0)
  ground.say('the load has ended; waiting for operations')
  const startedAt = performance.now()
  await until('the API is ready', async () => {
    const signal = AbortSignal.timeout(10_000)
    return (await fetch(`${ground.stead.apiUrl}/readyz`, { signal }).catch(() => undefined))?.status === 200
  })
  let open: Row[] = []
  const faults = await until(
    'all operations have ended',
    async () => {
      open = await ground.records(
        `select id, type, state, attempts, error, run_at, lease_until from operations where finished_at is null and not ${waitsForNight}`,
      )
      return open.length === 0
    },
    LONGEST_END_MS,
  ).then(
    () => [],
    () => open.map((row) => `operations: not ended after ${LONGEST_END_MS / 1000} s: ${JSON.stringify(row)}`),
  )
  ground.ledger.count('seconds until the last operation ended', Math.round((performance.now() - startedAt) / 1000))
  await until('visitors are served', async () => {
    const pages = await Promise.all(ground.baseSites.map(({ name }) => ground.stead.visit(name).catch(() => undefined)))
    return pages.every((page) => page?.status === 200)
  })
  return faults
}
