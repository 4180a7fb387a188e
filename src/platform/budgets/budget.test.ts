import { describe, expect, it } from 'vitest'
import { addressKey } from './address-key.ts'
import { Budget, type BudgetTerms, openBudgets } from './budget.ts'

const terms: BudgetTerms = {
  name: 'test_bytes',
  what: 'bytes of a test',
  of: 'memory',
  whose: 'site',
  each: 10,
  all: 15,
  over: 'refused',
}

describe('a budget', () => {
  it("refuses more than a key's limit, and then takes nothing", () => {
    const budget = new Budget(terms)
    expect([budget.take(1, 10), budget.take(1, 1), budget.usedBy(1), budget.used]).toEqual([true, false, 10, 10])
  })

  it('refuses more than the common limit, even if the key has none', () => {
    const budget = new Budget(terms)
    expect([budget.take(1, 10), budget.take(2, 6), budget.take(2, 5), budget.used]).toEqual([true, false, true, 15])
  })

  it('gets back the amount of a share, once', () => {
    const budget = new Budget(terms)
    const share = budget.share('a')
    const other = budget.share('a')
    expect([share.take(4), other.take(5), share.take(2)]).toEqual([true, true, false])
    share.give(1)
    share.free()
    share.free()
    expect([share.amount, budget.used, budget.usedBy('a')]).toEqual([0, 5, 5])
    other.give(100)
    expect(budget.used).toBe(0)
  })

  it('knows the largest key, and how often it refused', () => {
    const budget = openBudgets({ bytes: terms }).bytes
    budget.take('a', 3)
    budget.take('b', 7)
    budget.take('b', 7)
    expect(budget.largest()).toBe('b')
    expect(budget.metrics()).toEqual({
      name: 'test_bytes',
      used: 10,
      limit: 15,
      largestShare: 7,
      shareLimit: 10,
      refusals: 1,
    })
    budget.give('b', 7)
    expect([budget.largest(), budget.usedBy('b')]).toEqual(['a', 0])
  })
})

describe('the key of an address', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
    ['2001:db8:1:3::9', '2001:db8:1:3::/64'],
    ['not an address: at all', 'not an address: at all'],
  ])('%s: %s', (address, key) => {
    expect(addressKey(address)).toBe(key)
  })
})
