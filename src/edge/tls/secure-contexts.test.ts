import { generate } from 'selfsigned'
import { beforeAll, expect, test } from 'vitest'
import { routeTo } from '../test-support.ts'
import { type Certificate, createSecureContexts } from './secure-contexts.ts'

let certificate: Certificate
beforeAll(async () => {
  const made = await generate([{ name: 'commonName', value: 'site.test' }], { keyType: 'ec', algorithm: 'sha256' })
  certificate = { chain: made.cert, key: made.private, issuedAt: 1 }
})

const certified = { find: () => routeTo('http://127.0.0.1:1', { certifiedAt: 1 }) }

test('retries the look-up of a certificate after a failure', async () => {
  let isAway = true
  const load = async () => {
    if (isAway) throw new Error('no database')
    return certificate
  }
  const contexts = createSecureContexts({ routes: certified, load })
  await expect(contexts.find('site.test')).rejects.toThrow('no database')
  isAway = false
  expect(await contexts.find('site.test')).toBeDefined()
})

test("uses a wildcard's certificate for the names below it, and reads it once", async () => {
  const read: string[] = []
  const load = async (name: string) => {
    read.push(name)
    return certificate
  }
  const routes = { find: (hostName: string) => ({ ...certified.find(), hostName, listedAs: '*.site.test' }) }
  const contexts = createSecureContexts({ routes, load })
  const found = [await contexts.find('a.site.test'), await contexts.find('b.site.test')]
  expect(found[0]).toBe(found[1])
  expect([found[0] !== undefined, read]).toEqual([true, ['*.site.test']])
})

test('prefers the certificate of a name to the one that it could share', async () => {
  const read: string[] = []
  const load = async (name: string) => {
    read.push(name)
    return certificate
  }
  const sharedBy = () => '*.site.test'
  const route = { ...certified.find(), hostName: 'a.site.test' }
  await createSecureContexts({ routes: { find: () => route }, load, sharedBy }).find('a.site.test')
  const without = { ...route, certifiedAt: 0 }
  await createSecureContexts({ routes: { find: () => without }, load, sharedBy }).find('a.site.test')
  expect(read).toEqual(['a.site.test', '*.site.test'])
})

test('looks for a missing one again a second later, and not before', async () => {
  let now = 5000
  let found: Certificate | undefined
  let loads = 0
  const load = async () => {
    loads++
    return found
  }
  const contexts = createSecureContexts({ routes: certified, load, now: () => now })
  const find = async () => (await contexts.find('site.test')) !== undefined
  expect([await find(), await find(), loads]).toEqual([false, false, 1])
  found = certificate
  now += 1000
  expect([await find(), loads]).toEqual([true, 2])
})

test('reports visitors who connect to a site, not those who ask for a name without a certificate', async () => {
  const told: number[] = []
  const onVisitor = ({ siteId }: { siteId: number }) => told.push(siteId)
  const load = async () => certificate
  await createSecureContexts({ routes: certified, load, onVisitor }).find('site.test')
  await createSecureContexts({ routes: { find: () => routeTo('http://127.0.0.1:1') }, load, onVisitor }).find(
    'site.test',
  )
  // The monitoring.
  await createSecureContexts({ routes: certified, load, onVisitor }).find('site.test', { isVisitor: false })
  expect(told).toEqual([certified.find().siteId])
})

test('reads nothing for a name that has none and gets none', async () => {
  const load = async () => {
    throw new Error('asked')
  }
  const none = createSecureContexts({ routes: { find: () => routeTo('http://127.0.0.1:1') }, load })
  expect(await none.find('site.test')).toBeUndefined()
})

test('the monitoring, which asks for every name, displaces no certificate that visitors use', async () => {
  const read: string[] = []
  const load = async (name: string) => {
    read.push(name)
    return certificate
  }
  const routes = { find: (hostName: string) => ({ ...certified.find(), hostName }) }
  const contexts = createSecureContexts({ routes, load, most: 2 })
  await contexts.find('one.test')
  await contexts.find('two.test', { isVisitor: false })
  expect(await contexts.find('three.test', { isVisitor: false })).toBeDefined()
  for (const name of ['one.test', 'two.test']) await contexts.find(name)
  expect(read).toEqual(['one.test', 'two.test', 'three.test'])
  // It counts as no use of a certificate either, and reads no route again.
  const find = () => {
    throw new Error('only peek')
  }
  const peeking = createSecureContexts({ routes: { find, peek: routes.find }, load })
  expect(await peeking.find('one.test', { isVisitor: false })).toBeDefined()
  read.pop()
  await contexts.find('one.test', { isVisitor: false })
  for (const name of ['three.test', 'two.test', 'one.test']) await contexts.find(name)
  expect(read.slice(3)).toEqual(['three.test', 'one.test'])
})
