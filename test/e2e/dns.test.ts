/** The program as a name server: asked by dig and kdig, copied by NSD. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { changeZone, recordOf } from '../../src/dns/test-support.ts'
import { type Database, openDatabase } from '../../src/platform/db/database.ts'
import { freePort, type Stead, showOutputOfFailures, startStead, until } from '../support/stead.ts'

const has = (program: string, ...words: string[]) => spawnSync(program, words).error === undefined
const hasDig = has('dig', '-v')
const hasKdig = has('kdig', '-V')
const hasNsd = has('nsd', '-v')
const key = { name: 'copies.test', secret: Buffer.alloc(32, 5).toString('base64') }

let stead: Stead
let database: Database
let port: number
let nsdPort: number
let folder: string
showOutputOfFailures(() => stead)

beforeAll(async () => {
  port = await freePort()
  nsdPort = await freePort()
  folder = await mkdtemp(join(tmpdir(), 'stead-nsd-'))
  stead = await startStead({
    golden: false,
    env: {
      STEAD_CORE_SOURCE: '/nonexistent',
      STEAD_DNS_LISTEN: `127.0.0.1:${port}`,
      STEAD_DNS_PROCESSES: '2',
      STEAD_DNS_NAMESERVERS: 'ns1.servers.test,ns2.servers.test',
      STEAD_DNS_SECONDARIES: `127.0.0.1:${nsdPort}=${key.name}`,
      STEAD_DNS_TSIG_KEYS: `${key.name}=${key.secret}`,
    },
  })
  const { STEAD_DATA_DIR, STEAD_DATABASE_URL } = stead.environment()
  database = await openDatabase({ url: STEAD_DATABASE_URL, file: join(STEAD_DATA_DIR as string, 'stead.db') })
  await zone('www A 192.0.2.1', '@ MX www.example.test', '*.wild TXT found')
})
afterAll(async () => {
  await database?.close()
  await stead?.remove()
  if (folder) await rm(folder, { recursive: true })
})

const zone = (...records: string[]) => changeZone(database, 'example.test', records.map(recordOf))

function asked(program: string, at: number, ...words: string[]): string {
  const { stdout } = spawnSync(program, ['@127.0.0.1', '-p', String(at), ...words], { encoding: 'utf8' })
  return stdout.trim()
}
const dig = (...words: string[]) => asked('dig', port, '+short', ...words)

describe.runIf(hasDig)('dig', () => {
  test('sees a change of a zone without a restart, over UDP and TCP, from both processes', async () => {
    await until('the zone is answered', () => dig('www.example.test') === '192.0.2.1')
    await zone('www A 192.0.2.2', '@ MX www.example.test', '*.wild TXT found')
    // each question comes from another port: the system gives it to one process or the other
    await until('the change is answered by both', () => {
      const answers = Array.from({ length: 12 }, () => dig('www.example.test'))
      return answers.every((answer) => answer === '192.0.2.2')
    })
    expect(dig('+tcp', 'example.test', 'MX')).toBe('0 www.example.test.')
    expect(dig('any.wild.example.test', 'TXT')).toBe('"found"')
    expect(dig('example.test', 'NS').split('\n').sort()).toEqual(['ns1.servers.test.', 'ns2.servers.test.'])
    expect(asked('dig', port, '+noall', '+comments', 'nothing.example.test')).toContain('status: NXDOMAIN')
    // dig checks the cookie, whichever process made it
    expect(asked('dig', port, '+cookie', 'www.example.test')).toContain('(good)')
  })

  test('gets the whole zone with the key alone', () => {
    expect(dig('example.test', 'AXFR')).toBe('; Transfer failed.')
    const lines = dig('-y', `hmac-sha256:${key.name}:${key.secret}`, 'example.test', 'AXFR').split('\n')
    expect(lines[0]).toBe(lines.at(-1))
    expect(lines).toContain('192.0.2.2')
  })
})

test.runIf(hasKdig)('kdig asks several questions over one connection', async () => {
  const several = ['+tcp', '+keepopen', '+short', 'www.example.test', 'A', 'any.wild.example.test', 'TXT']
  await until(
    'the zone is answered',
    () =>
      asked('kdig', port, ...several)
        .split('\n')
        .at(-1) === '"found"',
  )
})

describe.runIf(hasNsd && hasDig)('NSD as a secondary', () => {
  let nsd: ChildProcess | undefined
  let said = ''
  afterAll(async () => {
    if (!nsd || nsd.exitCode !== null) return
    const ended = once(nsd, 'exit')
    nsd.kill('SIGTERM')
    await ended
  })

  test('copies the zone, and hears of changes', async () => {
    await chmod(folder, 0o777)
    const file = join(folder, 'nsd.conf')
    await writeFile(
      file,
      `server:
  ip-address: 127.0.0.1@${nsdPort}
  username: ""
  server-count: 1
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
  name: "example.test"
  zonefile: "example.test.zone"
  request-xfr: 127.0.0.1@${port} ${key.name}
  allow-notify: 127.0.0.1 ${key.name}
`,
    )
    nsd = spawn('nsd', ['-d', '-c', file], { stdio: ['ignore', 'pipe', 'pipe'] })
    nsd.stdout?.on('data', (chunk) => {
      said += chunk
    })
    nsd.stderr?.on('data', (chunk) => {
      said += chunk
    })
    const fromNsd = (...words: string[]) => asked('dig', nsdPort, '+short', '+time=1', '+tries=1', ...words)
    await until('NSD has the zone', () => fromNsd('any.wild.example.test', 'TXT') === '"found"').catch((error) => {
      throw new Error(`${error.message}\n${said}`)
    })
    await zone('www A 192.0.2.99')
    await until('NSD has heard of the change', () => fromNsd('www.example.test') === '192.0.2.99')
  })
})

test('stops with the others', async () => {
  expect(stead.processes().filter(({ words }) => words.includes('dns'))).toHaveLength(2)
  expect(await stead.stop()).toBe(0)
})
