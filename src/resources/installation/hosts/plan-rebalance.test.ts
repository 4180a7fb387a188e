import { expect, test } from 'vitest'
import { loadsOf, planRebalance, type WeighedHost, type WeighedSite } from './plan-rebalance.ts'

const host = (id: number, more: Partial<WeighedHost> = {}): WeighedHost => ({
  ...{ id, name: `h${id}`, maxSites: 100, freeSites: 100 },
  ...more,
})
let count = 0
const site = (hostId: number, diskBytes: number, visits: number, more: Partial<WeighedSite> = {}): WeighedSite => {
  count += 1
  return { id: count, name: `s${count}`, hostId, diskBytes, visits, isFixed: false, hostIds: [1, 2, 3], ...more }
}
const moved = (hosts: WeighedHost[], sites: WeighedSite[], most = 100) =>
  planRebalance(hosts, sites, most).map(({ site: { name }, from, to }) => [name, from.name, to.name])
/** The sites after a plan. */
const after = (hosts: WeighedHost[], sites: WeighedSite[]) => {
  const moves = planRebalance(hosts, sites, 100)
  return sites.map((each) => ({ ...each, hostId: moves.find((move) => move.site === each)?.to.id ?? each.hostId }))
}

test('fills an empty host, and a second plan moves nothing', () => {
  const hosts = [host(1), host(2)]
  const sites = [1, 2, 3, 4].map((size) => site(1, size * 100, size * 10))
  expect(loadsOf(hosts, sites)).toEqual(
    new Map([
      [1, 2],
      [2, 0],
    ]),
  )
  const spread = after(hosts, sites)
  expect(spread.map(({ hostId }) => hostId).toSorted()).toEqual([1, 1, 2, 2])
  for (const load of loadsOf(hosts, spread).values()) expect(load).toBeCloseTo(1)
  expect(moved(hosts, spread)).toEqual([])
})

test('leaves hosts alone whose loads differ by at most a tenth of their fair share', () => {
  const hosts = [host(1), host(2)]
  const small = () => site(1, 0, 0.1)
  const alike = [site(1, 0, 4), small(), small(), small(), small(), site(2, 0, 4)]
  expect(moved(hosts, alike)).toEqual([])
  expect(moved(hosts, [...alike, site(1, 0, 0.2)])).toHaveLength(1)
})

test('weighs disk use and visits alike, and hosts by their places', () => {
  const busy = site(1, 0, 100)
  const big = site(1, 100, 0)
  expect(moved([host(1), host(2)], [busy, big])).toHaveLength(1)
  // Three quarters of the load belong to the larger host.
  expect(moved([host(1, { maxSites: 300 }), host(2)], [busy, big, site(1, 100, 0), site(2, 0, 100)])).toEqual([])
})

test('moves sites that were never measured by their number', () => {
  const sites = [1, 2, 3, 4].map(() => site(1, 0, 0))
  expect(moved([host(1), host(2)], sites)).toHaveLength(2)
})

test('leaves a single large site, whose move would only exchange the hosts', () => {
  const large = site(1, 100, 100)
  expect(moved([host(1), host(2)], [large, site(2, 1, 1)])).toEqual([])
})

test('respects the limit, the room, the hosts that can run a site, and sites that moved lately', () => {
  const hosts = [host(1), host(2)]
  const sites = [1, 2, 3, 4, 5, 6].map(() => site(1, 1, 1))
  expect(moved(hosts, sites, 2)).toHaveLength(2)
  expect(moved([host(1), host(2, { freeSites: 1 })], sites)).toHaveLength(1)
  expect(
    moved(
      hosts,
      sites.map((each) => ({ ...each, isFixed: true })),
    ),
  ).toEqual([])
  expect(
    moved(
      hosts,
      sites.map((each) => ({ ...each, hostIds: [1] })),
    ),
  ).toEqual([])
  // The next one takes what the emptiest cannot run.
  const picky = sites.map((each) => ({ ...each, hostIds: [1, 3] }))
  expect(new Set(moved([host(1), host(2), host(3)], picky).map(([, , to]) => to))).toEqual(new Set(['h3']))
})
