import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createSealer } from '../../platform/crypto/seal.ts'
import type { ChangeFeed } from '../../platform/db/changes.ts'
import type { Log } from '../../platform/log/log.ts'
import { routeTo } from '../test-support.ts'
import { followRoutes } from './follow-routes.ts'
import { KnownRoutes, type KnownRoutesOptions } from './known-routes.ts'
import type { Route } from './route.ts'
import type { RouteChange } from './routes.ts'

let folder: string
let file: string
let warnings: string[]
const opened: { close(): void }[] = []
const sealer = createSealer(randomBytes(32))
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stead-routes-'))
  file = join(folder, 'known-routes.db')
  warnings = []
})
afterEach(async () => {
  for (const each of opened.splice(0)) each.close()
  await rm(folder, { recursive: true })
})

const open = (more: Partial<KnownRoutesOptions> = {}): KnownRoutes => {
  const say = (_facts: unknown, message: string) => warnings.push(message)
  const known = new KnownRoutes({ file, sealer, log: { warn: say, error: say } as unknown as Log, ...more })
  opened.push(known)
  return known
}
const route = (hostName: string, more: Partial<Route> = {}): Route =>
  routeTo('http://10.0.0.1:1', { hostName, siteId: 1, hostId: 1, ...more })
const learn = (known: KnownRoutes, ...routes: Route[]) => {
  for (const each of routes) {
    known.want(each)
    known.put(each.hostName, each)
  }
}
const certificate = (issuedAt: number) => ({
  ...{ chain: `chain ${issuedAt}`, edgeKey: null, privateKey: 'sealed', issuedAt, expiresAt: null, isLocal: false },
})

describe('known routes', () => {
  test('outlive their process, for names that visitors have used, and only for the user of Stead', async () => {
    const known = open()
    learn(known, route('a.test', { redirectsTo: 'b.test' }))
    known.put('never-used.test', route('never-used.test'))
    known.keepCertificate('a.test', certificate(5))
    known.close()
    const again = open()
    expect(again.find('a.test')).toEqual(route('a.test', { redirectsTo: 'b.test' }))
    expect(again.certificate('a.test')).toEqual(certificate(5))
    expect([again.find('never-used.test'), again.certificate('b.test'), again.hasRoutes]).toEqual([
      ...[undefined, undefined, true],
    ])
    expect((await stat(file)).mode & 0o777).toBe(0o600)
  })

  test('end with their site, and the newest certificate stays', () => {
    const known = open()
    learn(known, route('a.test'))
    known.keepCertificate('a.test', certificate(5))
    known.keepCertificate('a.test', certificate(4))
    expect(known.certificate('a.test')?.issuedAt).toBe(5)
    known.put('a.test', undefined)
    expect([known.find('a.test'), known.certificate('a.test'), known.hasRoutes]).toEqual([undefined, undefined, false])
  })

  test('of a host move with its address, without being read again', () => {
    const known = open()
    learn(known, route('a.test'), route('b.test', { hostId: 2 }))
    known.apply({ newest: 7, changes: [] })
    learn(known, route('a.test'), route('b.test', { hostId: 2 }))
    known.apply({ newest: 8, changes: [{ seq: 8, hostId: 1, upstream: 'http://10.0.0.9:1' }] })
    expect([known.find('a.test')?.upstream, known.find('b.test')?.upstream]).toEqual([
      ...['http://10.0.0.9:1', 'http://10.0.0.1:1'],
    ])
    expect([known.position, known.outdated(9)]).toEqual([8, []])
  })

  test('are read again after a change of their name or wildcard, and all of them when changes are missing', () => {
    const known = open()
    const all = [route('a.test'), route('x.b.test', { listedAs: '*.b.test' }), route('c.test')]
    known.apply({ newest: 7, changes: [] })
    learn(known, ...all)
    known.apply({ newest: 9, changes: ['a.test', '*.b.test'].map((hostName, n) => ({ seq: 8 + n, hostName })) })
    expect(known.outdated(9).sort()).toEqual(['a.test', 'x.b.test'])
    learn(known, ...all)
    known.apply({ newest: 12, changes: [{ seq: 12, hostName: 'a.test' }] })
    expect(known.outdated(9)).toHaveLength(3)
    expect(known.outdated(2)).toHaveLength(2)
  })

  test('are bounded, and names below a wildcard take few of the places', () => {
    const known = open({ mostRoutes: 150 })
    for (let n = 0; n < 120; n++) known.want(route(`n${n}.b.test`, { listedAs: '*.b.test' }))
    expect(known.outdated(1000)).toHaveLength(100)
    for (let n = 0; n < 60; n++) known.want(route(`n${n}.test`))
    expect(known.outdated(1000)).toHaveLength(150)
  })

  test('that were changed, or sealed with another key, are ignored', () => {
    learn(open(), route('a.test'), route('b.test'))
    const other = new DatabaseSync(file)
    other.exec(`update routes set route = replace(route, '"siteId":1', '"siteId":2') where host_name = 'a.test'`)
    other.close()
    expect([open().find('a.test'), open().find('b.test')?.siteId]).toEqual([undefined, 1])
    expect(open({ sealer: createSealer(randomBytes(32)) }).find('b.test')).toBeUndefined()
  })

  test('in a damaged file, or in one of another version, are replaced', async () => {
    await writeFile(file, 'x'.repeat(5000))
    learn(open(), route('a.test'))
    expect(open().find('a.test')?.siteId).toBe(1)
    const other = new DatabaseSync(file)
    other.exec('pragma user_version = 99')
    other.close()
    expect(open().hasRoutes).toBe(false)
    expect(warnings).toEqual(Array(2).fill('replaced a file for starts without the database'))
  })

  test('that cannot be brought up to date are deleted, and without them the edge goes on', () => {
    const known = open()
    learn(known, route('a.test'))
    const other = new DatabaseSync(file)
    other.exec('drop table hosts')
    other.close()
    known.put('a.test', route('a.test', { state: 'disabled' }))
    expect(warnings).toEqual(['deleted known routes that cannot be kept'])
    expect([known.find('a.test'), known.outdated(1), known.position]).toEqual([undefined, [], undefined])
    expect(open().hasRoutes).toBe(false)
  })
})

describe('the process that follows routes', () => {
  const feed = { subscribe: () => () => {}, version: () => undefined, close: () => {} } as ChangeFeed
  let sites: Map<string, Route>
  let changes: RouteChange[]
  let isAway = false
  beforeEach(() => {
    sites = new Map([['a.test', route('a.test', { certifiedAt: 5 })]])
    changes = []
    isAway = false
  })
  const follow = (known: KnownRoutes, lock = async (): Promise<(() => void) | undefined> => () => {}) => {
    const following = followRoutes({
      ...{ known, lock, changes: feed },
      async changesSince(seq) {
        if (isAway) throw new Error('away')
        return { newest: changes.length, changes: changes.filter((change) => change.seq > (seq ?? 0)) }
      },
      load: async (hostName) => sites.get(hostName),
      loadCertificate: async () => certificate(sites.get('a.test')?.certifiedAt ?? 0),
    })
    opened.push(following)
    return following
  }

  test('reads what visitors have used, and again what has changed, with certificates', async () => {
    const known = open()
    const { look } = follow(known)
    known.want(route('a.test', { siteId: 9 }))
    expect(known.find('a.test')?.siteId).toBe(9)
    await look()
    expect([known.find('a.test')?.siteId, known.certificate('a.test')?.issuedAt]).toEqual([1, 5])
    sites.set('a.test', route('a.test', { isClosed: true, certifiedAt: 6 }))
    changes.push({ seq: 1, hostName: 'a.test' })
    await look()
    expect([known.find('a.test')?.isClosed, known.certificate('a.test')?.issuedAt]).toEqual([true, 6])
    isAway = true
    await expect(look()).rejects.toThrow('away')
    expect(known.find('a.test')?.isClosed).toBe(true)
    isAway = false
    sites.delete('a.test')
    changes.push({ seq: 2, hostName: 'a.test' })
    await look()
    expect(known.hasRoutes).toBe(false)
  })

  test('is one of several', async () => {
    const known = open()
    known.want(route('a.test'))
    await follow(known, async () => undefined).look()
    expect(known.outdated(1)).toEqual(['a.test'])
    await follow(known).look()
    expect(known.outdated(1)).toEqual([])
  })
})
