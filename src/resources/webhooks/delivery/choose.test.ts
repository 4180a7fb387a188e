import { describe, expect, test } from 'vitest'
import { AT_ONCE, choose } from './choose.ts'
import type { Due } from './claim-deliveries.store.ts'

let lastId = 0
const due = (fields: Partial<Due> = {}): Due => {
  const id = ++lastId
  return { id, webhookId: id, accountId: id, isFailing: false, ...fields }
}
const many = (count: number, fields: (index: number) => Partial<Due> = () => ({})) =>
  Array.from({ length: count }, (_, index) => due(fields(index)))
const underWay = (deliveries: readonly Due[]) => new Map(deliveries.map((each) => [each.id, each]))
const nothing = underWay([])

describe('deliveries to start', () => {
  test('starts all in order of due time if there is capacity', () => {
    const deliveries = many(50)
    expect(choose(deliveries, nothing)).toEqual(deliveries)
  })

  test('starts nothing twice', () => {
    const [first, second] = many(2) as [Due, Due]
    expect(choose([first, second], underWay([first]))).toEqual([second])
  })

  test.each([
    { of: 'all', most: AT_ONCE.all, fields: {} },
    { of: 'webhooks that fail', most: AT_ONCE.failing, fields: { isFailing: true } },
    { of: 'an account', most: AT_ONCE.account, fields: { accountId: 1 } },
    { of: 'a webhook', most: AT_ONCE.webhook, fields: { webhookId: 1 } },
    { of: 'a webhook that fails', most: 1, fields: { webhookId: 1, isFailing: true } },
  ])('starts at most $most of $of, including those in progress', ({ most, fields }) => {
    expect(
      choose(
        many(most + 3, () => fields),
        nothing,
      ),
    ).toHaveLength(most)
    expect(
      choose(
        many(most + 3, () => fields),
        underWay([due(fields)]),
      ),
    ).toHaveLength(most - 1)
  })

  test('leaves the capacity of others alone when one is at its limit', () => {
    const full = many(200, () => ({ accountId: 1, isFailing: true }))
    const other = due()
    expect(choose([...full, other], underWay(full.slice(0, AT_ONCE.account)))).toEqual([other])
  })
})
