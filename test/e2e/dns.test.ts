/** The program as a name server: queried by dig and kdig, copied by NSD, and validated by unbound and delv. */
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
const hasUnbound = has('unbound', '-V')
const hasDelv = has('delv', '-v')
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
  for (const child of children)
    if (child.exitCode === null && child.signalCode === null) {
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await ended
    }
  await database?.close()
  await stead?.remove()
  if (folder) await rm(folder, { recursive: true })
})

/** Programs that must end with the tests. */
const children: ChildProcess[] = []
function started(program: string, ...words: string[]) {
  const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'pipe'] })
  children.push(child)
  return child
}

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
    // each query comes from another port, so that the kernel picks one process or the other
    await until('the change is answered by both', () => {
      const answers = Array.from({ length: 12 }, () => dig('www.example.test'))
      return answers.every((answer) => answer === '192.0.2.2')
    })
    expect(dig('+tcp', 'example.test', 'MX')).toBe('0 www.example.test.')
    expect(dig('any.wild.example.test', 'TXT')).toBe('"found"')
    expect(dig('example.test', 'NS').split('\n').sort()).toEqual(['ns1.servers.test.', 'ns2.servers.test.'])
    expect(asked('dig', port, '+noall', '+comments', 'nothing.example.test')).toContain('status: NXDOMAIN')
    // dig checks the cookie, whichever process created it
    expect(asked('dig', port, '+cookie', 'www.example.test')).toContain('(good)')
  })

  test('transfers the whole zone only with the key', () => {
    expect(dig('example.test', 'AXFR')).toBe('; Transfer failed.')
    const lines = dig('-y', `hmac-sha256:${key.name}:${key.secret}`, 'example.test', 'AXFR').split('\n')
    expect(lines[0]).toBe(lines.at(-1))
    expect(lines).toContain('192.0.2.2')
  })
})

test.runIf(hasKdig)('answers several queries over one connection of kdig', async () => {
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
  let said = ''

  test('copies the zone, and is notified of changes', async () => {
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
    const nsd = started('nsd', '-d', '-c', file)
    nsd.stdout.on('data', (chunk) => {
      said += chunk
    })
    nsd.stderr.on('data', (chunk) => {
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

describe.runIf(hasUnbound && hasDelv)('a signed zone', () => {
  let unboundPort: number
  let anchor: { ds: string; dnskey: string }
  const fromUnbound = (...words: string[]) => asked('dig', unboundPort, '+time=5', ...words)

  test('validates in a resolver, for names that exist and names that do not', async () => {
    await zone('www A 192.0.2.1', '*.wild TXT found')
    const { id } = await database.read.selectFrom('zones').select('id').executeTakeFirstOrThrow()
    const { body } = await stead.api('PUT', `/v1/zones/${id}/dnssec`, { enabled: true })
    anchor = body.data.keys[0]
    unboundPort = await freePort()
    const file = join(folder, 'unbound.conf')
    await writeFile(
      file,
      `server:
  interface: 127.0.0.1@${unboundPort}
  username: ""
  chroot: ""
  directory: "${folder}"
  pidfile: "${folder}/unbound.pid"
  use-syslog: no
  do-daemonize: no
  do-not-query-localhost: no
  local-zone: "test." nodefault
  module-config: "validator iterator"
  trust-anchor: "example.test. DS ${anchor.ds}"
remote-control:
  control-enable: no
stub-zone:
  name: "example.test"
  stub-addr: 127.0.0.1@${port}
`,
    )
    started('unbound', '-d', '-c', file)
    await until('the name server has the key', () => dig('example.test', 'DNSKEY').includes(anchor.dnskey.slice(0, 20)))
    await until('the resolver answers', () => fromUnbound('www.example.test').includes('192.0.2.1'))
    // ad: authentic data
    expect(fromUnbound('www.example.test')).toMatch(/flags: qr rd ra ad;.*ANSWER: 1/)
    expect(fromUnbound('any.wild.example.test', 'TXT')).toMatch(/flags: qr rd ra ad;.*ANSWER: 1/)
    expect(fromUnbound('nobody.example.test')).toMatch(/flags: qr rd ra ad;.*ANSWER: 0/)
    expect(fromUnbound('www.example.test', 'MX')).toMatch(/flags: qr rd ra ad;.*ANSWER: 0/)
  })

  test.runIf(hasNsd)('validates when a secondary serves it', async () => {
    const anchors = join(folder, 'anchors')
    const [flags, protocol, algorithm, publicKey] = anchor.dnskey.split(' ')
    const statement = `example.test. static-key ${flags} ${protocol} ${algorithm} "${publicKey}";`
    await writeFile(anchors, `trust-anchors { ${statement} };\n`)
    const delv = (...words: string[]) => asked('delv', nsdPort, '-a', anchors, '+root=example.test', ...words)
    await until('the secondary has the signatures', () => delv('www.example.test').includes('; fully validated'))
    expect(delv('nobody.example.test')).toContain('negative response, fully validated')
  })
})

test('stops with the other processes', async () => {
  expect(stead.processes().filter(({ words }) => words.includes('dns'))).toHaveLength(2)
  expect(await stead.stop()).toBe(0)
})
