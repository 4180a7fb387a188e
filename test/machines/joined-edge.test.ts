/** An edge that joins with a token, as programs on machines: it has a login of its own, and no master key. */
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { testCore } from '../support/core.ts'
import { hasPostgres } from '../support/postgres-cluster.ts'
import { until } from '../support/stead.ts'
import { visit } from '../support/visit.ts'
import { type JoinedEdge, type Lab, openLab } from './lab/lab.ts'
import { hasNamespaces } from './lab/network.ts'
import type { Part } from './lab/parts.ts'

const core = await testCore()
/** A page that PHP makes for each visitor. */
const PHP = '/wp-login.php'

describe.skipIf(!core || !hasPostgres || !hasNamespaces)('an edge that joined', () => {
  let lab: Lab
  let edge: JoinedEdge
  beforeAll(async () => {
    lab = await openLab({ hosts: 1, edges: 0 })
    await lab.createSite('alfa')
    edge = await lab.joinEdge('web1')
  })
  afterAll(() => lab?.remove())
  afterEach(({ task }) => {
    if (task.result?.state !== 'fail') return
    for (const part of [...lab.controls, ...lab.hosts, edge])
      console.error(`--- ${part.machine.name}, ${task.name}\n${part.output().slice(-3000)}`)
  })

  const status = (path: string) =>
    visit({ host: 'alfa.localhost', address: edge.machine.address, port: 8081, path })
      .then((page) => page.status)
      .catch(() => 0)
  const secureStatus = (path: string) =>
    edge
      .visitSecurely('alfa', path)
      .then((page) => page.status)
      .catch(() => 0)

  test('serves a site by http and https, without the master key', async () => {
    expect(edge.stead.env).not.toHaveProperty('STEAD_MASTER_KEY')
    expect(edge.stead.env).not.toHaveProperty('STEAD_DATABASE_URL')
    expect(await readdir(edge.dataDir)).not.toContain('master.key')
    expect((await stat(join(edge.dataDir, 'joined.json'))).mode & 0o777).toBe(0o600)
    expect(await status('/')).toBe(200)
    const page = await edge.visitSecurely('alfa', PHP)
    expect([page.status, page.text]).toEqual([200, expect.stringContaining('loginform')])
    expect(page.certificate.subjectAltName).toBe('DNS:alfa.localhost')
    const [row] = await lab.records('select edge_key, private_key from certificates')
    expect(row).toMatchObject({ edge_key: expect.stringMatching(/^v1\./), private_key: expect.stringMatching(/^v1\./) })
    const { databaseUrl } = JSON.parse(await readFile(join(edge.dataDir, 'joined.json'), 'utf8'))
    const logins = await lab.records("select login from role_logins where role = 'edge' and name = 'web1'")
    expect(logins).toEqual([{ login: new URL(databaseUrl).username }])
  })

  test('starts again without its control, and without the database', async () => {
    await lab.controls[0]?.stop()
    await edge.stop()
    await edge.start()
    expect(await secureStatus(PHP)).toBe(200)
    await lab.postgres.stop('fast')
    await edge.stop()
    await edge.start()
    expect(await secureStatus(PHP)).toBe(200)
    expect(await status(PHP)).toBe(200)
    await lab.postgres.start()
    await lab.controls[0]?.start()
    // It ends if it does not belong to the database that is back.
    const reports = "select 1 from processes where part = 'edge' and seen_at > extract(epoch from now()) * 1000 - 9000"
    await until('the edge reports again', async () => (await lab.records(reports)).length > 0)
    expect(await status(PHP)).toBe(200)
  })

  test('ends to serve, and to start, with a revocation', async () => {
    const [control] = lab.controls as [Part]
    expect((await control.cli('host', 'revoke', '--name=web1')).code).toBe(0)
    await until('no host answers the edge', async () => ![200, 0].includes(await secureStatus(`${PHP}?after`)))
    await edge.stop()
    await expect(edge.start()).rejects.toThrow('refuses the login of edge web1')
  })
})
