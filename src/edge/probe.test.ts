import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createReadiness, PROBE_PATH } from './probe.ts'
import { type Cleanup, createCleanup, rawRequest, routeTo, startGateway } from './test-support.ts'

let cleanup: Cleanup
beforeEach(() => {
  cleanup = createCleanup()
})
afterEach(() => cleanup.run())

describe('probes of load balancers', () => {
  test.each([
    ['without a host', `GET ${PROBE_PATH} HTTP/1.0\r\n\r\n`, 200],
    ['by an address', `GET ${PROBE_PATH} HTTP/1.1\r\nHost: 192.0.2.1:8081\r\nConnection: close\r\n\r\n`, 200],
    ['by the name of a site', `GET ${PROBE_PATH} HTTP/1.1\r\nHost: site.test\r\nConnection: close\r\n\r\n`, 200],
    ['by HEAD', `HEAD ${PROBE_PATH} HTTP/1.0\r\n\r\n`, 200],
    ['by OPTIONS', `OPTIONS ${PROBE_PATH} HTTP/1.0\r\n\r\n`, 200],
    ['with two lengths', `GET ${PROBE_PATH} HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n`, 400],
    ['that change something', `POST ${PROBE_PATH} HTTP/1.0\r\n\r\n`, 400],
    ['of another path', `GET ${PROBE_PATH}/ HTTP/1.0\r\n\r\n`, 400],
  ])('%s', async (_name, bytes, status) => {
    const { port } = await startGateway(cleanup, { 'site.test': routeTo('http://127.0.0.1:1') })
    expect(await rawRequest(port, cleanup, bytes)).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
  })

  test('get a refusal from an edge that cannot serve', async () => {
    const { port } = await startGateway(cleanup, {}, { isReady: async () => false })
    expect(await rawRequest(port, cleanup, `GET ${PROBE_PATH} HTTP/1.0\r\n\r\n`)).toMatch(
      /^HTTP\/1.1 503 [\s\S]*Retry-After: 5/,
    )
  })
})

test('an edge is ready while it finds sites, and for a minute after', async () => {
  let clock = 0
  let looks = 0
  let works = false
  const isReady = createReadiness(
    async () => {
      looks++
      if (!works) throw new Error('no database')
    },
    () => clock,
  )
  expect(await isReady()).toBe(false)
  works = true
  // The result is cached for a second.
  expect([await isReady(), looks]).toEqual([false, 1])
  clock = 1_000
  expect([await isReady(), await isReady(), looks]).toEqual([true, true, 2])
  works = false
  clock = 60_000
  expect(await isReady()).toBe(true)
  clock = 62_000
  expect(await isReady()).toBe(false)
})
