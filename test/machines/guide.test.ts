/** Runs the commands of docs/guides/many-machines.md on machines of a lab, up to the host that dies and beyond. */
import { execFile } from 'node:child_process'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testCore } from '../support/core.ts'
import { examplesOf } from '../support/examples.ts'
import { hasPostgres } from '../support/postgres-cluster.ts'
import { until } from '../support/stead.ts'
import { type HostPart, type Lab, openLab } from './lab/lab.ts'
import { backUp } from './lab/load.ts'
import { hasNamespaces } from './lab/network.ts'

const core = await testCore()
const PAGE = 'docs/guides/many-machines.md'

describe.skipIf(!core || !hasPostgres || !hasNamespaces)(PAGE, () => {
  let lab: Lab
  let folder: string
  let hosts: HostPart[]
  beforeAll(async () => {
    lab = await openLab({ hosts: 3, edges: 1 })
    hosts = [...lab.hosts]
    await lab.createSite('acme-shop', hosts[0])
    await backUp(lab, { id: await lab.createSite('acme-blog', hosts[2]), name: 'acme-blog' })
    folder = await mkdtemp(join(tmpdir(), 'stead-guide-'))
    const [control] = lab.controls
    const line = control?.stead.words.map((word) => `'${word}'`).join(' ')
    await writeFile(join(folder, 'stead'), `#!/bin/sh\nexec ${line} "$@"\n`)
    await chmod(join(folder, 'stead'), 0o755)
  })
  afterAll(async () => {
    await lab?.remove()
    if (folder) await rm(folder, { recursive: true, force: true })
  })

  /** Names of the page are those of the lab. */
  const change = (code: string) =>
    hosts.reduce((text, { name }, at) => text.replaceAll(new RegExp(`\\bh${at + 1}\\b`, 'g'), name), code)
  async function run(heading: string): Promise<string> {
    const codes = examplesOf(PAGE, 'sh').filter(([title]) => title === heading)
    expect(codes.length).toBeGreaterThan(0)
    const [control] = lab.controls
    const env = { ...control?.stead.env, PATH: `${folder}:${process.env.PATH}` }
    const script = `set -eo pipefail\nexec 2>&1\n${change(codes.map(([, code]) => code).join('\n'))}`
    const { stdout } = await promisify(execFile)('bash', ['-c', script], { env, timeout: 400_000 }).catch(
      (error: Error & { stdout?: string }) => {
        throw new Error(`${heading}: ${error.message.split('\n')[0]}\n${error.stdout ?? ''}`)
      },
    )
    return stdout
  }
  const sitesOn = async () => {
    const rows = await lab.records(
      'select sites.name, hosts.name as host from sites join hosts on hosts.id = host_id order by sites.id',
    )
    return rows.map(({ name, host }) => `${name} ${hosts.findIndex((each) => each.name === host) + 1}`)
  }
  const answers = (site: string) =>
    until(`${site} answers`, async () => (await lab.visit(0, site, '/wp-login.php')).status === 200)

  test('moves a site, empties a host, and recovers the sites of a host that died', async () => {
    for (const { name } of hosts) expect(await run('Add two hosts')).toContain(name)
    expect(await run('Move one site')).toContain('The site is on this host.')
    expect(await sitesOn()).toEqual(['acme-shop 2', 'acme-blog 3'])
    await answers('acme-shop')
    await run('Spread the sites')
    await run('Empty a host')
    expect(await sitesOn()).toEqual(['acme-shop 1', 'acme-blog 3'])
    await hosts[2]?.kill()
    const silent = `select 1 from hosts where name = '${hosts[2]?.name}' and seen_at < extract(epoch from now()) * 1000 - 10000`
    await until('the host is silent', async () => (await lab.records(silent)).length > 0)
    await run('Recover from the loss of a host')
    expect((await sitesOn()).toSorted()).toEqual([expect.stringMatching(/^acme-blog [12]$/), 'acme-shop 1'])
    for (const site of ['acme-shop', 'acme-blog']) await answers(site)
  })

  test('replaces a host, whose process ends', async () => {
    await run('Move one site')
    expect(await sitesOn()).toContain('acme-shop 2')
    await run('Replace a host')
    expect((await sitesOn()).toSorted()).toEqual(['acme-blog 1', 'acme-shop 1'])
    for (const site of ['acme-shop', 'acme-blog']) await answers(site)
    await until('the replaced host has ended', () => hosts[1]?.hasEnded() === true)
  })
})
