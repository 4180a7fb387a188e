/** Several edges share one address: when one crashes, the others continue. */
import { Agent, request } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isAlive } from '../../src/platform/is-alive.ts'
import { type Stead, showOutputOfFailures, startStead, until } from '../support/stead.ts'

/** A browser that stays connected. */
function visitor(port: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  let connections = 0
  return {
    connections: () => connections,
    close: () => agent.destroy(),
    ask: () =>
      new Promise<number>((resolve, reject) => {
        const sent = request({ port, host: '127.0.0.1', agent, headers: { host: 'nothing.localhost' } }, (response) => {
          response.resume().once('end', () => resolve(response.statusCode as number))
        })
        sent.on('socket', () => {
          if (!sent.reusedSocket) connections++
        })
        sent.on('error', reject)
        sent.end()
      }),
  }
}

describe('edge processes', () => {
  let stead: Stead
  showOutputOfFailures(() => stead)
  beforeAll(async () => {
    stead = await startStead({ golden: false, env: { STEAD_EDGE_PROCESSES: '3', STEAD_CORE_SOURCE: '/nonexistent' } })
  })
  afterAll(() => stead?.remove())

  const edges = () => stead.processes().filter(({ words }) => words.includes('edge'))

  test('answer on one address; a crashed one is replaced, and visitors of the others notice nothing', async () => {
    await until('three edges', () => edges().length === 3)
    await until(
      'the edge answers',
      async () =>
        (await visitor(stead.edgePort)
          .ask()
          .catch(() => 0)) === 404,
    )
    const visitors = Array.from({ length: 30 }, () => visitor(stead.edgePort))
    await until('all edges listen', async () => {
      const served = new Set<number>()
      for (const each of visitors) served.add(await each.ask())
      return served.size === 1 && served.has(404)
    })
    const before = edges().map(({ pid }) => pid)
    stead.kill('edge')
    const answers = await Promise.allSettled(visitors.map((each) => each.ask()))
    // connections to the crashed edge break, or the browser opens them again; those to the others stay open
    const untouched = visitors.filter((each, i) => answers[i]?.status === 'fulfilled' && each.connections() === 1)
    expect(untouched.length).toBeGreaterThan(5)
    for (const each of untouched) expect(await each.ask()).toBe(404)
    expect(untouched.every((each) => each.connections() === 1)).toBe(true)
    await until('there are three again', () => edges().filter(({ pid }) => !before.includes(pid)).length === 1)
    expect(edges().filter(({ pid }) => before.includes(pid))).toHaveLength(2)
    for (const each of visitors) each.close()
    for (let i = 0; i < 30; i++) {
      const fresh = visitor(stead.edgePort)
      expect(await fresh.ask()).toBe(404)
      fresh.close()
    }
  })

  test('all end at an orderly stop', async () => {
    const running = edges()
    expect(running).toHaveLength(3)
    expect(await stead.stop()).toBe(0)
    await until('none is left', () => running.every(({ pid }) => !isAlive(pid)))
  })
})
