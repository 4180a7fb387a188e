import Type from 'typebox'
import type { Database, Tx } from '../../platform/db/database.ts'
import { durableWith, type StepContext } from '../../platform/operations/definition.ts'
import { inBatches } from '../../platform/operations/in-batches.ts'
import { schedule } from '../../platform/operations/schedule.ts'
import { judgeSite } from './judge-site.ts'
import { askingEdges, sitesInTrouble, sitesWithNews } from './monitoring.store.ts'

/** Sites of one transaction, which locks them. */
const SITES = 50

/**
 * Concludes from what the edges say which sites are down, and opens and closes incidents. Sites in trouble are judged
 * each time, because an edge that says so may have ended.
 */
export const judgeSites = durableWith<{ readonly database: Database }>()({
  name: 'monitoring.judge',
  input: Type.Object({}),
  on: 'control',
  changeableBy: 'account',
  attempts: 2,
  steps: {
    news: { run: (context) => inBatches(context, (tx) => judgeAll(tx, context, (most) => sitesWithNews(tx, most))) },
    trouble: {
      run(context) {
        let after = 0
        return inBatches(context, async (tx) => {
          const ids = await sitesInTrouble(tx, after, SITES)
          await judgeAll(tx, context, async () => ids)
          after = ids.at(-1) ?? after
          return ids.length
        })
      },
    },
  },
})

async function judgeAll(
  tx: Tx,
  { now }: Pick<StepContext, 'now'>,
  find: (most: number) => Promise<number[]>,
): Promise<number> {
  const ids = await find(SITES)
  const edges = await askingEdges(tx, now())
  for (const id of ids) await judgeSite(tx, id, edges, now())
  return ids.length
}

export const judgeSitesOften = schedule({
  name: 'monitoring.judge',
  everyMs: 30_000,
  definition: judgeSites,
  input: () => ({}),
})
