import { expect, it } from 'vitest'
import { datacentersDown, isRunning, OwnHost } from './own-host.ts'

const facts = (fault: string) => ({ mariaDb: { fault } })
const recorded = (name: string, seenAt: number) => ({
  ...{ name, seenAt, facts: facts('recorded'), state: 'active' as const, datacenters: [] },
})

it('a host runs if it was recorded in the last ten seconds, even after the clock was set back, and no other is forgotten', () => {
  const hosts = [recorded('one', 91_000), recorded('two', 109_000), recorded('gone', 90_000), recorded('never', 0)]
  const known = new OwnHost().among(hosts, 100_000)
  expect(known.map(({ name, seenSeconds }) => [name, seenSeconds])).toEqual([
    ['one', 9],
    ['two', 0],
    ['gone', 10],
    ['never', null],
  ])
  expect(known.filter(isRunning).map(({ name }) => name)).toEqual(['one', 'two'])
})

it('a host that is marked lost does not run, whatever it reports', () => {
  const known = new OwnHost().among([{ ...recorded('one', 100_000), state: 'lost' }], 100_000)
  expect(known.filter(isRunning)).toEqual([])
})

it('trusts the report of its own host over a record that the host could not renew', () => {
  let now = 0
  const own = new OwnHost(() => now)
  own.hear({ name: 'one', facts: facts('told') })
  const hosts = [recorded('one', 0), recorded('two', 100_000), recorded('gone', 0)]
  const running = () => own.among(hosts, 100_000).filter(isRunning)
  expect(running()).toMatchObject([
    { name: 'one', facts: facts('told') },
    { name: 'two', facts: facts('recorded') },
  ])
  own.hear({ name: 'one', facts: facts('told'), fault: 'database or disk is full' })
  expect(running()[0]?.recordFault).toBe('database or disk is full')
  now = 10_000
  expect(running().map(({ name }) => name)).toEqual(['two'])
})

it('a datacenter is down when hosts serve it and none of them runs, but not when no host serves it', () => {
  const host = (isHeard: boolean, ...datacenters: string[]) => ({
    ...{ name: 'h', facts: {}, seenSeconds: 1, state: 'active' as const, isHeard, datacenters },
  })
  const codes = ['AMS', 'DFW', 'BUR']
  expect(datacentersDown([host(true, 'AMS'), host(false, 'DFW')], codes)).toEqual(['DFW'])
  expect(datacentersDown([host(false, 'AMS'), host(true)], codes)).toEqual([])
  expect(datacentersDown([host(true, 'AMS'), host(false)], codes)).toEqual(['DFW', 'BUR'])
  expect(datacentersDown([{ ...host(true, 'AMS'), state: 'cordoned' }], codes)).toEqual([])
})
