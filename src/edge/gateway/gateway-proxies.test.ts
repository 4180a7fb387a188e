/** Headers as Caddy 2.6 and Cloudflare send them. The page docs/guides/behind-a-proxy.md says what of them Stead believes. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ask, type Cleanup, createCleanup, routeTo, startEcho, startGateway } from '../test-support.ts'

let cleanup: Cleanup
beforeEach(() => {
  cleanup = createCleanup()
})
afterEach(() => cleanup.run())

const VISITOR = '203.0.113.7'
const CLOUDFLARE = '173.245.48.5'
const cloudflareNetworks = ['173.245.48.0/20', '2400:cb00::/32']
/** The address of a proxy on this machine, which stands in for a CDN. */
const here = '127.0.0.1'

/** @param forwardedFor ends with the address that connects to Cloudflare */
const cloudflare = (forwardedFor = VISITOR) => ({
  'accept-encoding': 'gzip, br',
  'x-forwarded-for': forwardedFor,
  'cf-ray': '8f1e2d3c4b5a6978-FRA',
  'x-forwarded-proto': 'https',
  'cf-visitor': '{"scheme":"https"}',
  'cf-connecting-ip': VISITOR,
  'cf-ipcountry': 'DE',
  'cdn-loop': 'cloudflare; loops=1',
})
const caddy = (visitor: string) => ({
  'accept-encoding': 'gzip',
  'x-forwarded-for': visitor,
  'x-forwarded-host': 'site.test',
  'x-forwarded-proto': 'https',
})

async function seenBehind(trustProxy: string[], headers: Record<string, string>) {
  const { port } = await startGateway(cleanup, { 'site.test': routeTo(await startEcho(cleanup)) }, { trustProxy })
  return JSON.parse((await ask(port, '/', { headers })).body).headers as Record<string, string>
}

describe('the visitor and the scheme', () => {
  // biome-ignore format: a table
  test.each([
    ['Caddy', [here], caddy(VISITOR), VISITOR, 'https'],
    ['Caddy, which nobody has named', [], caddy(VISITOR), here, 'http'],
    ['Cloudflare', [here], cloudflare(), VISITOR, 'https'],
    ['Cloudflare over IPv6', [here], cloudflare('2001:db8::7'), '2001:db8::7', 'https'],
    ['Cloudflare, a visitor who writes an address', [here], cloudflare(`198.51.100.1, ${VISITOR}`), VISITOR, 'https'],
    ['Cloudflare, http', [here], { ...cloudflare(), 'x-forwarded-proto': 'http', 'cf-visitor': '{"scheme":"http"}' }, VISITOR, 'http'],
    ['Cloudflare before Caddy with trusted_proxies', [here, ...cloudflareNetworks], { ...cloudflare(), ...caddy(`${VISITOR}, ${CLOUDFLARE}`) }, VISITOR, 'https'],
    ['Cloudflare before Caddy without trusted_proxies', [here, ...cloudflareNetworks], { ...cloudflare(), ...caddy(CLOUDFLARE) }, CLOUDFLARE, 'https'],
    ['Cloudflare, whose networks are not named, before Caddy', [here], { ...cloudflare(), ...caddy(`${VISITOR}, ${CLOUDFLARE}`) }, CLOUDFLARE, 'https'],
    ['a visitor who poses as Cloudflare', [], cloudflare(), here, 'http'],
    ['a visitor who poses as Cloudflare, before Caddy', [here], { ...cloudflare(), ...caddy('198.51.100.1') }, '198.51.100.1', 'https'],
    ['a proxy that writes Forwarded alone', [here], { forwarded: `for=${VISITOR};proto=https` }, here, 'http'],
  ] as [string, string[], Record<string, string>, string, string][])('%s', async (_, trusted, headers, visitor, scheme) => {
    const seen = await seenBehind(trusted, headers)
    expect([seen['x-forwarded-for']?.split(', ')[0], seen['x-forwarded-proto']]).toEqual([visitor, scheme])
  })
})

test('PHP gets the headers of Cloudflare as they came, none of Forwarded, and the host name of the request itself', async () => {
  const seen = await seenBehind([here], {
    ...cloudflare(),
    forwarded: 'for=198.51.100.1',
    'x-real-ip': '198.51.100.1',
    'x-forwarded-host': 'other.test',
  })
  expect(seen).toMatchObject({
    'cf-connecting-ip': VISITOR,
    'cf-ipcountry': 'DE',
    'cf-visitor': '{"scheme":"https"}',
    'x-forwarded-host': 'site.test',
  })
  expect(Object.keys(seen)).not.toEqual(expect.arrayContaining(['forwarded']))
  expect(Object.keys(seen)).not.toEqual(expect.arrayContaining(['x-real-ip']))
})
