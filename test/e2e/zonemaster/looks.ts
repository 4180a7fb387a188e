/**
 * An isolated world: NSD serves a root and `test.`, Stead serves its zones on four addresses, and zonemaster-cli checks
 * them. Runs in its own network, and prints zonemaster's findings as JSON, by zone.
 */
import { execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { recordOf } from '../../../src/dns/test-support.ts'
import { openDatabase } from '../../../src/platform/db/database.ts'
import { insertRecords, insertZone } from '../../../src/resources/dns/zone.store.ts'
import { startStead, until } from '../../support/stead.ts'

const run = promisify(execFile)
const ROOT = '198.41.0.4'
/** Looks like the internet: separate networks, and no private addresses. Nothing leaves this network. */
const servers = [
  { name: 'ns1.plain.test', ipv4: '185.10.1.53', ipv6: '2a01:10:1::53' },
  { name: 'ns2.plain.test', ipv4: '193.20.2.53', ipv6: '2a02:20:2::53' },
]
const zones = { 'plain.test': false, 'signed.test': true }

for (const address of [ROOT, ...servers.flatMap(({ ipv4, ipv6 }) => [ipv4, ipv6])])
  execFileSync('ip', ['addr', 'add', address, 'dev', 'lo'])

const folder = await mkdtemp(join(tmpdir(), 'stead-zonemaster-'))
const stead = await startStead({
  golden: false,
  env: {
    STEAD_CORE_SOURCE: '/nonexistent',
    STEAD_DNS_LISTEN: servers.flatMap(({ ipv4, ipv6 }) => [`${ipv4}:53`, `[${ipv6}]:53`]).join(),
    STEAD_DNS_NAMESERVERS: servers.map(({ name }) => name).join(),
    STEAD_DNS_PROCESSES: '1',
    STEAD_DNS_RATE_LIMIT: '0',
  },
})
const ds = await makeZones()
const root = await startRoot(ds)
try {
  const seen: Record<string, unknown> = {}
  for (const zone of Object.keys(zones)) seen[zone] = await look(zone)
  console.log(JSON.stringify(seen))
} finally {
  const ended = once(root, 'exit')
  root.kill('SIGTERM')
  await ended
  await stead.remove()
  await rm(folder, { recursive: true })
}

/** @returns the DS records for `test.` */
async function makeZones(): Promise<string[]> {
  const { STEAD_DATA_DIR, STEAD_DATABASE_URL } = stead.environment()
  const database = await openDatabase({ url: STEAD_DATABASE_URL, file: join(STEAD_DATA_DIR as string, 'stead.db') })
  const addresses = servers.flatMap(({ name, ipv4, ipv6 }) => [`${name} A ${ipv4}`, `${name} AAAA ${ipv6}`])
  const ids = new Map<string, number>()
  for (const zone of Object.keys(zones)) {
    const own = addresses.filter((line) => line.split(' ')[0]?.endsWith(`.${zone}`))
    const lines = ['@ A 185.10.1.80', 'www A 185.10.1.80', '@ MX mail', 'mail A 185.10.1.25', ...own]
    const drafts = lines.map((line) => {
      const record = recordOf(line.replace(`.${zone}`, '').replace('MX mail', `MX mail.${zone}`))
      return { ...record, type: record.type as 'A', siteId: null, ...(record.type === 'MX' && { priority: 10 }) }
    })
    await database.transaction(async (tx) => {
      const { id } = await insertZone(tx, 1, zone, Date.now())
      await insertRecords(tx, id, drafts, Date.now())
      ids.set(zone, id)
    })
  }
  await database.close()
  const found: string[] = []
  for (const [zone, isSigned] of Object.entries(zones)) {
    if (!isSigned) continue
    const { body } = await stead.api('PUT', `/v1/zones/${ids.get(zone)}/dnssec`, { enabled: true })
    for (const key of body.data.keys) found.push(`${zone}. 3600 IN DS ${key.ds}`)
    await until('the zone is signed', async () => (await dig(zone, 'DNSKEY')).includes('257 3 13'))
  }
  return found
}

async function dig(...words: string[]): Promise<string> {
  const { stdout } = await run('dig', [`@${servers[0]?.ipv4}`, '+short', '+tries=1', '+time=1', ...words])
  return stdout
}

async function startRoot(ofKeys: readonly string[]) {
  const soa = (zone: string) => `${zone} 3600 IN SOA a.root-servers.net. hostmaster.test. 1 14400 3600 1209600 300`
  const rootLines = [
    ...[soa('.'), '. 3600 IN NS a.root-servers.net.', `a.root-servers.net. 3600 IN A ${ROOT}`],
    'test. 3600 IN NS a.root-servers.net.',
  ]
  const glue = servers.flatMap(({ name, ipv4, ipv6 }) => [
    `${name}. 3600 IN A ${ipv4}`,
    `${name}. 3600 IN AAAA ${ipv6}`,
  ])
  const delegations = Object.keys(zones).flatMap((zone) => servers.map(({ name }) => `${zone}. 3600 IN NS ${name}.`))
  const tldLines = [soa('test.'), 'test. 3600 IN NS a.root-servers.net.', ...delegations, ...glue, ...ofKeys]
  await writeFile(join(folder, 'root.zone'), `${rootLines.join('\n')}\n`)
  await writeFile(join(folder, 'test.zone'), `${tldLines.join('\n')}\n`)
  await writeFile(join(folder, 'hints'), `. 3600 IN NS a.root-servers.net.\na.root-servers.net. 3600 IN A ${ROOT}\n`)
  const lines = [
    ...['server:', `ip-address: ${ROOT}`, 'username: ""', 'server-count: 1', `zonesdir: "${folder}"`, 'database: ""'],
    ...[`xfrdir: "${folder}"`, `xfrdfile: "${folder}/xfrd"`, `zonelistfile: "${folder}/list"`],
    ...[`pidfile: "${folder}/pid"`, 'remote-control:', 'control-enable: no'],
    ...['zone:', 'name: "."', 'zonefile: "root.zone"', 'zone:', 'name: "test."', 'zonefile: "test.zone"', ''],
  ]
  await writeFile(join(folder, 'nsd.conf'), lines.join('\n'))
  const nsd = spawn('nsd', ['-d', '-c', join(folder, 'nsd.conf')], { stdio: 'ignore' })
  await until('the root answers', async () => {
    const { stdout } = await run('dig', [`@${ROOT}`, '+short', '+tries=1', '+time=1', '.', 'SOA']).catch(() => ({
      stdout: '',
    }))
    return stdout !== ''
  })
  return nsd
}

/** Runs zonemaster. @returns its findings, each with its level */
async function look(zone: string) {
  const words = ['--hints', join(folder, 'hints'), '--json', '--raw', '--level', 'INFO', '--no-progress', zone]
  const { stdout } = await run('zonemaster-cli', words, { maxBuffer: 1 << 24 })
  return JSON.parse(stdout)
}
