import type { Due } from './claim-deliveries.store.ts'

/**
 * Limits of attempts in progress: in total, for failing webhooks, for each account, and for each webhook. A failing
 * webhook has one.
 */
export const AT_ONCE = { all: 128, failing: 32, account: 24, webhook: 4 }

/** Counts deliveries by key. */
export function countsOf(deliveries: Iterable<Due>, of: (due: Due) => number): Map<number, number> {
  const counts = new Map<number, number>()
  for (const due of deliveries) counts.set(of(due), (counts.get(of(due)) ?? 0) + 1)
  return counts
}

/**
 * Returns the deliveries that may start now in addition to those in progress, so that slow receivers do not use up the
 * capacity of others.
 */
export function choose(due: readonly Due[], underWay: ReadonlyMap<number, Due>): Due[] {
  const webhooks = countsOf(underWay.values(), ({ webhookId }) => webhookId)
  const accounts = countsOf(underWay.values(), ({ accountId }) => accountId)
  let all = underWay.size
  let failing = [...underWay.values()].filter(({ isFailing }) => isFailing).length
  return due.filter((each) => {
    const ofWebhook = webhooks.get(each.webhookId) ?? 0
    const ofAccount = accounts.get(each.accountId) ?? 0
    if (underWay.has(each.id) || all >= AT_ONCE.all || ofAccount >= AT_ONCE.account) return false
    if (ofWebhook >= (each.isFailing ? 1 : AT_ONCE.webhook)) return false
    if (each.isFailing && failing >= AT_ONCE.failing) return false
    all++
    if (each.isFailing) failing++
    webhooks.set(each.webhookId, ofWebhook + 1)
    accounts.set(each.accountId, ofAccount + 1)
    return true
  })
}
