import { expect, it } from 'vitest'
import { OwnHost } from './own-host.ts'

const facts = (fault: string) => ({ mariaDb: { fault } })
const recorded = (name: string, seenAt: number) => ({ name, seenAt, facts: facts('recorded') })

it('counts a host that was recorded in the last ten seconds, on a clock that was set back as well', () => {
  const hosts = [recorded('one', 91_000), recorded('two', 109_000), recorded('gone', 90_000), recorded('far', 110_000)]
  expect(new OwnHost().among(hosts, 100_000).map(({ name }) => name)).toEqual(['one', 'two'])
})

it('goes by what its own host says, and not by a record that the host could not renew', () => {
  let now = 0
  const own = new OwnHost(() => now)
  own.hear({ name: 'one', facts: facts('told') })
  const hosts = [recorded('one', 0), recorded('two', 100_000), recorded('gone', 0)]
  expect(own.among(hosts, 100_000)).toEqual([
    { name: 'one', facts: facts('told') },
    { name: 'two', facts: facts('recorded') },
  ])
  now = 10_000
  expect(own.among(hosts, 100_000).map(({ name }) => name)).toEqual(['two'])
})
