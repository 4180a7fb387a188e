import { addressKey } from '../platform/budgets/address-key.ts'
import type { Budget } from '../platform/budgets/budget.ts'
import { plainPage } from '../platform/plain-page.ts'
import { pageAnswer } from './answer.ts'
import type { Answer, Visit } from './visit.ts'

/** Requests under way to hosts, by whom they are for: one slow site, or one visitor, is not to have all connections. */
export interface UnderWay {
  /** @returns what ends it; undefined when the site or the visitor has too many already */
  begin(siteId: number, visit: Visit): (() => void) | undefined
}

export const createUnderWay = (bySite: Budget, byAddress: Budget): UnderWay => ({
  begin(siteId, { client }) {
    const [site, address] = [bySite.share(siteId), byAddress.share(addressKey(client.address))]
    if (site.take(1) && address.take(1))
      return () => {
        site.free()
        address.free()
      }
    site.free()
    return undefined
  },
})

/** Without bounds, for tests and comparisons. */
export const anyNumber: UnderWay = { begin: () => () => {} }

const busy = plainPage({
  status: 503,
  title: 'This site is busy',
  text: 'It has too many requests at the moment. Please try again in a few seconds.',
})

export const busyAnswer = (visit: Visit): Answer => pageAnswer(visit, busy, ['Retry-After', '5'])
