import { expect, test } from 'vitest'
import { upgradeBlogs } from './upgrade-blogs.ts'

/** Creates a network with this many blogs. `answer` replaces its WordPress. */
function network(blogs: number, answer?: (after: number) => { last: number; upgraded: number; left: number }) {
  const asked: number[] = []
  const told: number[] = []
  const honest = (after: number) => ({
    last: Math.min(blogs, after + 10),
    upgraded: 1,
    left: Math.max(0, blogs - after - 10),
  })
  const services = {
    hostedSite: async () => ({}),
    pool: {
      async runTask(_site: unknown, _name: string, { after }: { after: number }) {
        asked.push(after)
        return (answer ?? honest)(after)
      },
    },
  }
  const context = {
    services: services as never,
    signal: new AbortController().signal,
    progress: (at: number) => told.push(at),
  }
  return { asked, told, work: () => upgradeBlogs(context, 1, {}) }
}

test('upgrades all blogs, a few in each task, and reports its progress', async () => {
  const { asked, told, work } = network(25)
  await work()
  expect(asked).toEqual([0, 10, 20])
  expect(told.map((at) => Math.round(at * 100))).toEqual([40, 80])
})

test('does nothing for a site without a network', async () => {
  const { asked, work } = network(0)
  await work()
  expect(asked).toEqual([0])
})

test('stops if a plugin answers in place of Stead', async () => {
  await expect(network(1, () => ({ last: 0, upgraded: 0, left: 5 })).work()).rejects.toThrow(
    'cannot list the sites of the network',
  )
  const endless = network(1, (after) => ({ last: after + 1, upgraded: 0, left: 1_000_000 }))
  await endless.work()
  expect(endless.asked).toHaveLength(1000)
})
