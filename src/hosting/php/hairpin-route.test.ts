import { expect, test } from 'vitest'
import { createHairpinRoute } from './hairpin-route.ts'

test('routes names of sites to the edge by the ports of their addresses, and nothing else', async () => {
  const plain = { host: '127.0.0.1', port: 8081 }
  const secure = { host: '127.0.0.1', port: 8443 }
  const isSite = async (hostName: string) => hostName === 'site.test'
  const way = createHairpinRoute({
    edges: new Map([
      [80, plain],
      [443, secure],
    ]),
    edgeKey: 'key',
    isSite,
  })
  expect(await way.find('Site.test.', 80)).toBe(plain)
  expect(await way.find('site.test', 443)).toBe(secure)
  expect(await way.find('site.test', 8443)).toBeUndefined()
  expect(await way.find('other.test', 443)).toBeUndefined()
})
