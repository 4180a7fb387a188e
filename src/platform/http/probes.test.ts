import Type from 'typebox'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Endpoint } from './endpoint.ts'
import { createLab, type Lab } from './test-support.ts'

const endpoints: Endpoint[] = [
  {
    tag: 'Lab',
    summary: 'Test',
    access: 'any',
    response: Type.String(),
    id: 'readThing',
    method: 'GET',
    path: '/v1/thing/{id}',
    params: Type.Object({ id: Type.Integer() }),
    handle: async () => 'x',
  },
]
let isReady = true
let isDegraded = false
let lab: Lab
beforeAll(async () => {
  lab = await createLab(endpoints, { readiness: async () => ({ ready: isReady, isDegraded, details: { hosts: [] } }) })
})
afterAll(() => lab.close())
const get = (url: string) => lab.app.inject({ method: 'GET', url })

it('/healthz: 200 as long as the process answers', async () => {
  expect([(await get('/healthz')).statusCode, (await get('/healthz')).json()]).toEqual([200, { status: 'ok' }])
})

it('/readyz: 200 or 503, with the reasons', async () => {
  expect([(await get('/readyz')).statusCode, (await get('/readyz')).json()]).toEqual([
    200,
    { status: 'ready', hosts: [] },
  ])
  isReady = false
  expect([(await get('/readyz')).statusCode, (await get('/readyz')).json().status]).toEqual([503, 'not ready'])
  isReady = true
})

it('/readyz: 200 and `degraded` when the API works but something else does not', async () => {
  isDegraded = true
  expect([(await get('/readyz')).statusCode, (await get('/readyz')).json().status]).toEqual([200, 'degraded'])
  isReady = false
  expect([(await get('/readyz')).statusCode, (await get('/readyz')).json().status]).toEqual([503, 'not ready'])
  isReady = true
  isDegraded = false
})

it('/metrics: counts requests by operation and status, never by path or id', async () => {
  await lab.inject('GET', '/v1/thing/123456')
  await lab.inject('GET', '/v1/unknown-path-654321')
  const { body, headers } = await get('/metrics')
  expect(headers['content-type']).toContain('text/plain')
  expect(body).toContain('stead_api_request_seconds_count{operation="readThing",status="200"} 1')
  expect(body).toMatch(/operation="none",status="404"/)
  expect(body).not.toMatch(/123456|654321/)
  expect(body).toContain('process_resident_memory_bytes')
})

it('/openapi.json: describes these endpoints, without the probes', async () => {
  const document = (await get('/openapi.json')).json()
  expect([document.openapi, Object.keys(document.paths)]).toEqual(['3.1.0', ['/v1/thing/{id}']])
})

it('/docs: a page of our own files, which the browser prevents from reaching other hosts', async () => {
  const page = await get('/docs')
  const parts = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address as string)
  expect(parts.length).toBeGreaterThan(3)
  for (const address of parts) {
    expect(address).toMatch(/^\/docs\//)
    const file = await get(address)
    expect([address, file.statusCode]).toEqual([address, 200])
    // The policy blocks addresses in scripts, but not those in styles, which the browser fetches.
    if (address.endsWith('.css')) expect(file.body).not.toMatch(/url\(\s*["']?(https?:)?\/\/|@import/)
  }
  const policy = String(page.headers['content-security-policy'])
  expect(policy).toContain("default-src 'self'")
  expect(policy).not.toMatch(/https?:|\*|unsafe-eval|script-src[^;]*unsafe/)
  const initializer = (await get('/docs/static/swagger-initializer.js')).body
  expect(initializer).toContain('validatorUrl: null')
  expect(initializer.replace(/\/\/ .*/g, '')).not.toMatch(/https?:\/\//)
  expect((await get('/docs/json')).json()).toEqual((await get('/openapi.json')).json())
})
