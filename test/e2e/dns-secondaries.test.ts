/**
 * Secondary name servers: NSD over IPv4 and Knot over IPv6 are notified of changes, and transfer only the differences.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { recordOf } from '../../src/dns/test-support.ts'
import { openDatabase } from '../../src/platform/db/database.ts'
import { insertRecords, insertZone } from '../../src/resources/dns/zone.store.ts'
import { freePort, type Stead, showOutputOfFailures, startStead, until } from '../support/stead.ts'

const has = (program: string, ...words: string[]) => spawnSync(program, words).error === undefined
const isPossible = has('nsd', '-v') && has('knotd', '-V') && has('dig', '-v') && has('kdig', '-V')
const key = { name: 'copies.test', secret: Buffer.alloc(32, 5).toString('base64') }
const name = 'example.test'

describe.runIf(isPossible)('NSD and Knot as secondaries', { timeout: 120_000 }, () => {
  let stead: Stead
  let zoneId: number
  let folder: string
  let ports: { own: number; nsd: number; knot: number }
  const said = { nsd: '', knot: '' }
  const children: ChildProcess[] = []
  showOutputOfFailures(() => stead)

  beforeAll(async () => {
    ports = { own: await freePort(), nsd: await freePort(), knot: await freePort() }
    folder = await mkdtemp(join(tmpdir(), 'stead-copies-'))
    await chmod(folder, 0o777)
    stead = await startStead({
      golden: false,
      env: {
        STEAD_CORE_SOURCE: '/nonexistent',
        STEAD_DNS_LISTEN: `127.0.0.1:${ports.own},[::1]:${ports.own}`,
        STEAD_DNS_PROCESSES: '2',
        STEAD_DNS_NAMESERVERS: 'ns1.servers.test,ns2.servers.test',
        STEAD_DNS_SECONDARIES: `127.0.0.1:${ports.nsd}=${key.name},[::1]:${ports.knot}=${key.name}`,
        STEAD_DNS_TSIG_KEYS: `${key.name}=${key.secret}`,
        STEAD_DNS_CATALOG: 'catalog.invalid',
      },
    })
    const { STEAD_DATA_DIR, STEAD_DATABASE_URL } = stead.environment()
    const database = await openDatabase({ url: STEAD_DATABASE_URL, file: join(STEAD_DATA_DIR as string, 'stead.db') })
    // the zone must be larger than its changes, or it would be transferred as a whole
    const hosts = Array.from({ length: 30 }, (_, at) => recordOf(`host${at} A 192.0.2.${at}`))
    zoneId = await database.transaction(async (tx) => {
      const { id } = await insertZone(tx, 1, name, Date.now())
      const drafts = hosts.map((host) => ({ ...host, type: 'A' as const, siteId: null }))
      await insertRecords(tx, id, drafts, Date.now())
      return id
    })
    await database.close()
    await startNsd()
    await startKnot()
  }, 120_000)
  afterAll(async () => {
    for (const child of children) {
      const ended = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined
      child.kill('SIGTERM')
      await ended
    }
    await stead?.remove()
    if (folder) await rm(folder, { recursive: true })
  })

  function started(what: keyof typeof said, program: string, ...words: string[]): void {
    const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'pipe'] })
    children.push(child)
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        said[what] += chunk
      })
  }

  async function startNsd(): Promise<void> {
    const file = join(folder, 'nsd.conf')
    await writeFile(
      file,
      `server:
  ip-address: 127.0.0.1@${ports.nsd}
  username: ""
  server-count: 1
  verbosity: 3
  zonesdir: "${folder}"
  database: ""
  xfrdir: "${folder}"
  xfrdfile: "${folder}/xfrd.state"
  zonelistfile: "${folder}/zone.list"
  pidfile: "${folder}/nsd.pid"
remote-control:
  control-enable: no
key:
  name: "${key.name}"
  algorithm: hmac-sha256
  secret: "${key.secret}"
zone:
  name: "${name}"
  zonefile: "${name}.zone"
  request-xfr: 127.0.0.1@${ports.own} ${key.name}
  allow-notify: 127.0.0.1 ${key.name}
`,
    )
    started('nsd', 'nsd', '-d', '-c', file)
  }

  /** Knot learns from the catalog zone which zones exist. */
  async function startKnot(): Promise<void> {
    const file = join(folder, 'knot.conf')
    await mkdir(join(folder, 'knot'))
    await writeFile(
      file,
      `server:
  listen: ::1@${ports.knot}
  rundir: "${folder}"
log:
  - target: stdout
    any: info
database:
  storage: "${folder}/knot"
key:
  - id: ${key.name}
    algorithm: hmac-sha256
    secret: ${key.secret}
remote:
  - id: stead
    address: ::1@${ports.own}
    key: ${key.name}
acl:
  - id: notices
    address: ::1
    key: ${key.name}
    action: notify
template:
  - id: default
    storage: "${folder}/knot"
  - id: member
    storage: "${folder}/knot"
    master: stead
    acl: notices
zone:
  - domain: catalog.invalid
    master: stead
    acl: notices
    catalog-role: interpret
    catalog-template: member
`,
    )
    started('knot', 'knotd', '-c', file)
  }

  const asked = (program: string, host: string, port: number, ...words: string[]) =>
    spawnSync(program, [`@${host}`, '-p', String(port), ...words], { encoding: 'utf8' }).stdout.trim()
  const quick = ['+short', '+time=1', '+tries=1']
  const own = (...words: string[]) => asked('dig', '127.0.0.1', ports.own, ...quick, ...words)
  const nsd = (...words: string[]) => asked('dig', '127.0.0.1', ports.nsd, ...quick, ...words)
  const knot = (...words: string[]) => asked('dig', '::1', ports.knot, ...quick, ...words)
  const serial = () => Number(own(name, 'SOA').split(' ')[2])
  const withKey = ['-y', `hmac-sha256:${key.name}:${key.secret}`]
  const part = (since: number) =>
    asked('kdig', '127.0.0.1', ports.own, '+noall', '+answer', ...withKey, name, `IXFR=${since}`)
  const add = async (owner: string, value: string) =>
    (await stead.api('POST', `/v1/zones/${zoneId}/records`, { type: 'A', name: owner, value, ttl: 300 })).body.data
  const explained = (error: Error) => {
    throw new Error(`${error.message}\n${said.nsd}\n${said.knot}`)
  }

  test('copies the zone to both, to Knot by the catalog; both answer over IPv4 and IPv6', async () => {
    await until('NSD has the zone', () => nsd(`host7.${name}`) === '192.0.2.7').catch(explained)
    await until('Knot has the zone', () => knot(`host7.${name}`) === '192.0.2.7').catch(explained)
    for (const words of [['-6'], ['-6', '+tcp']])
      expect(asked('dig', '::1', ports.own, '+short', ...words, `host7.${name}`)).toBe('192.0.2.7')
    expect(own('+tcp', `host7.${name}`)).toBe('192.0.2.7')
  })

  test('transfers a change to both as a difference', async () => {
    const since = serial()
    await add('fresh', '192.0.2.200')
    await until('NSD has the change', () => nsd(`fresh.${name}`) === '192.0.2.200').catch(explained)
    await until('Knot has the change', () => knot(`fresh.${name}`) === '192.0.2.200').catch(explained)
    // Knot answers a moment before it logs how the zone arrived
    await until('Knot says how it came', () =>
      new RegExp(`\\[${name}\\.\\] IXFR, incoming, .*finished`).test(said.knot),
    ).catch(explained)
    const types = () =>
      part(since)
        .split('\n')
        .filter((line) => line && !line.startsWith(';'))
        .map((line) => line.split(/\s+/)[3])
        .join(' ')
    // one of the processes may notice the change a moment later
    await until('kdig gets what has changed', () => types() === 'SOA SOA SOA A SOA')
    expect(said.knot).not.toMatch(/IXFR, incoming, .*failed/)
    // the whole zone is larger than 800 bytes
    await until('NSD says how little came', () => {
      const all = [...said.nsd.matchAll(/received update to serial .* of (\d+) bytes/g)]
      return Number(all.at(-1)?.[1]) < 400
    }).catch(explained)
  })

  test('keeps the copies equal to the server after many changes and a kill in between', async () => {
    const first = serial()
    const { records } = await add('gone', '192.0.2.201')
    await Promise.all([1, 2, 3, 4, 5].map((at) => add(`more${at}`, `192.0.2.${at}`)))
    for (const part of stead.processes().filter(({ words }) => words.includes('dns'))) process.kill(part.pid, 'SIGKILL')
    const gone = records.find((record: { name: string }) => record.name === 'gone')
    await stead.api('DELETE', `/v1/zones/${zoneId}/records/${gone.id}`)
    await add('host7', '192.0.2.77')
    const both = ['192.0.2.7', '192.0.2.77']
    const has = (lines: string) => String(lines.split('\n').sort()) === String(both)
    await until('NSD has the last change', () => has(nsd(`host7.${name}`))).catch(explained)
    await until('Knot has the last change', () => has(knot(`host7.${name}`))).catch(explained)
    for (const copy of [nsd, knot]) {
      expect(copy(`gone.${name}`)).toBe('')
      for (const at of [1, 2, 3, 4, 5]) expect(copy(`more${at}.${name}`)).toBe(`192.0.2.${at}`)
    }
    await until('both processes have it', () => Array.from({ length: 12 }, () => own(`host7.${name}`)).every(has))
    // one difference covers everything in between: a record that was added and removed appears nowhere
    const lines = part(first)
    expect(lines).not.toContain('gone')
    expect(lines).toContain('192.0.2.77')
    // no server ever had that serial, so the whole zone is sent
    expect(part(first - 100).split('\n').length).toBeGreaterThan(35)
    expect(
      asked('kdig', '127.0.0.1', ports.own, '+notcp', '+short', ...withKey, name, `IXFR=${first}`).split('\n'),
    ).toHaveLength(1)
  })
})
