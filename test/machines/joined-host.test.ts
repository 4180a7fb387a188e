/**
 * A host that joins with a token, as programs on machines: it runs without the master key. Also tries what it could do
 * when it was taken over.
 */
import { X509Certificate } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, open, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { repositoryKeys } from '../../src/backups/format/keys.ts'
import { makeCertificateRequest } from '../../src/certificates/join/certificate-request.ts'
import { makeKeys } from '../../src/certificates/sign-certificate.ts'
import { edgeKeysOf } from '../../src/platform/crypto/edge-keys.ts'
import type { HostKeys } from '../../src/platform/crypto/host-keys.ts'
import { createSealer } from '../../src/platform/crypto/seal.ts'
import { RoleTrust } from '../../src/platform/mtls/role-trust.ts'
import { askControl, type Joined, readJoined } from '../../src/roles/certificates/join.ts'
import { isReadable } from '../../src/roles/logins/login.fixture.ts'
import { testCore } from '../support/core.ts'
import { contentFiles, makeDump } from '../support/hosted-archives.ts'
import { OldMachine, PASSWORD } from '../support/old-machine.ts'
import { hasPostgres } from '../support/postgres-cluster.ts'
import { descendantsOf } from '../support/processes.ts'
import { until } from '../support/stead.ts'
import { type HostPart, type Lab, openLab } from './lab/lab.ts'
import { hasNamespaces } from './lab/network.ts'
import type { Part } from './lab/parts.ts'

const core = await testCore()
/** A page that PHP makes for each visitor. */
const PHP = '/wp-login.php'

describe.skipIf(!core || !hasPostgres || !hasNamespaces)('a host that joined', () => {
  let lab: Lab
  let control: Part
  /** It has the master key, and the sites `alfa` and `charlie`. */
  let other: HostPart
  /** It has the site `bravo`. */
  let host: HostPart
  let folder: string
  const sites = { alfa: 0, bravo: 0, charlie: 0 }
  beforeAll(async () => {
    lab = await openLab({ hosts: 1, edges: 1, env: { STEAD_ALLOW_PRIVATE_FETCH: 'yes' } })
    ;[control] = lab.controls as [Part]
    ;[other] = lab.hosts as [HostPart]
    sites.alfa = await lab.createSite('alfa', other)
    sites.charlie = await lab.createSite('charlie', other)
    host = await lab.joinHost('h9')
    sites.bravo = await createOnJoined('bravo')
    folder = await mkdtemp(join(tmpdir(), 'stead-old-'))
  })
  afterAll(async () => {
    await lab?.remove()
    if (folder) await rm(folder, { recursive: true, force: true })
  })
  afterEach(({ task }) => {
    if (task.result?.state !== 'fail') return
    for (const part of [...lab.controls, ...lab.hosts, host])
      console.error(`--- ${part.machine.name}, ${task.name}\n${part.output().slice(-3000)}`)
  })

  /** Creates a site on the host that joined. */
  async function createOnJoined(site: string): Promise<number> {
    await until('it takes sites', async () => {
      const rows = await lab.records(`select 1 from hosts where name = '${host.name}' and facts like '%8.%'`)
      return rows.length > 0
    })
    return lab.createSite(site, host)
  }
  /** @throws unless the request succeeds */
  async function api(method: string, path: string, body?: object) {
    const answer = await lab.api(method, path, body)
    if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer
  }
  /** Requests an operation, and waits until it has succeeded. */
  async function done(path: string, body: object) {
    const answer = await api('POST', path, body)
    const ended = await lab.ended(answer.headers.get('operation-id') as string)
    expect([path, ended.state, ended.error]).toEqual([path, 'succeeded', null])
    return answer.body.data
  }
  const backUp = async (site: number) => {
    const ids: number[] = []
    for (const backup_type of ['fs', 'db'])
      ids.push((await done(`/v1/sites/${site}/ondemand-backups`, { backup_type })).requestId)
    return { filesystem_id: ids[0], database_id: ids[1] }
  }
  let ofBravo: Awaited<ReturnType<typeof backUp>> | undefined
  /** Reads the backups of `bravo`. */
  async function readBackups() {
    ofBravo ??= await backUp(sites.bravo)
    await done(`/v1/sites/${sites.bravo}/restores`, { ...ofBravo, dry_run: true })
  }
  const status = async (site: string, path = PHP) => (await lab.visit(0, site, path)).status
  const hostOf = async (site: number) => {
    const [row] = await lab.records(
      `select hosts.name from sites join hosts on hosts.id = host_id where sites.id = ${site}`,
    )
    return row?.name
  }

  test('starts without the master key, and serves its sites', async () => {
    expect(host.stead.env).not.toHaveProperty('STEAD_MASTER_KEY')
    // Nor the login of the control: it uses its own.
    expect(host.stead.env).not.toHaveProperty('STEAD_DATABASE_URL')
    // Nor credentials of the storage: a control signs its requests.
    expect(Object.keys(host.stead.env).filter((name) => name.startsWith('STEAD_BACKUP_'))).toEqual([])
    const logins = await lab.records("select distinct usename from pg_stat_activity where usename like 'stead%host%'")
    expect(logins).toEqual([{ usename: expect.stringMatching(/_host_h9_/) }])
    expect(await readdir(host.dataDir)).not.toContain('master.key')
    expect((await stat(join(host.dataDir, 'joined.json'))).mode & 0o777).toBe(0o600)
    expect([await hostOf(sites.alfa), await hostOf(sites.bravo)]).toEqual([other.name, 'h9'])
    const page = await lab.visit(0, 'bravo', PHP)
    expect([page.status, page.text]).toEqual([200, expect.stringContaining('loginform')])
    const [row] = await lab.records("select address from hosts where name = 'h9'")
    expect(row?.address).toMatch(/^https:\/\/h9@/)
  })

  test('backs its sites up, and restores them, and copies of sites elsewhere', async () => {
    ofBravo = await backUp(sites.bravo)
    await done(`/v1/sites/${sites.bravo}/restores`, ofBravo)
    expect(await status('bravo')).toBe(200)
    const ofAlfa = await backUp(sites.alfa)
    await done(`/v1/sites/${sites.alfa}/restores`, { ...ofAlfa, restore_on_site_id: sites.bravo })
    expect(await status('bravo')).toBe(200)
  })

  test('moves a site to another host that joined, and back', async () => {
    const next = await lab.joinHost('h8')
    try {
      await until('h8 takes sites', async () => {
        const rows = await lab.records("select 1 from hosts where name = 'h8' and facts like '%8.%'")
        return rows.length > 0
      })
      for (const name of ['h8', 'h9']) {
        await done(`/v1/sites/${sites.bravo}/relocate`, { host: name })
        expect([await hostOf(sites.bravo), await status('bravo')]).toEqual([name, 200])
        await readBackups()
      }
    } finally {
      await next.stop()
    }
  })

  test('waits with a backup while the control is away, and takes it afterwards', async () => {
    const { headers } = await api('POST', `/v1/sites/${sites.bravo}/ondemand-backups`, { backup_type: 'fs' })
    await control.stop()
    const id = headers.get('operation-id') as string
    const row = async () => (await lab.records(`select state, attempts, error from operations where id = ${id}`))[0]
    await until('it has been tried', async () => {
      const { state, error } = (await row()) ?? {}
      return state === 'succeeded' || error !== null
    })
    expect((await row())?.state).not.toBe('failed')
    await control.start()
    expect((await lab.ended(id)).state).toBe('succeeded')
  })

  test('resets a password, clones a site, and fetches an old site', async () => {
    const password = (await api('PUT', `/v1/sites/${sites.bravo}/cms/password-reset`)).body.data
    const [row] = await lab.records(`select admin_username from sites where id = ${sites.bravo}`)
    const body = new URLSearchParams({ log: String(row?.admin_username), pwd: password })
    const headers = { cookie: 'wordpress_test_cookie=WP%20Cookie%20check' }
    expect((await lab.visit(0, 'bravo', PHP, { method: 'POST', body, headers })).status).toBe(302)
    const copy = (await api('POST', `/v1/sites/${sites.bravo}/clone`, { name: 'bravo-copy' })).body.data.id
    await until('the clone is live', async () => (await api('GET', `/v1/sites/${copy}`)).body.data.state === 'live')
    expect([await hostOf(copy), await status('bravo-copy')]).toEqual(['h9', 200])
    const old = await startOldSite()
    try {
      const source = {
        type: 'ssh',
        host: lab.network.here,
        port: old.port,
        user: 'me',
        password: PASSWORD,
        path: old.path,
      }
      const { id } = await done(`/v1/sites/${sites.bravo}/imports`, { source })
      const found = (await api('GET', `/v1/sites/${sites.bravo}/imports/${id}`)).body.data
      expect(found).toMatchObject({ state: 'ready', source: { hostKey: old.fingerprint } })
    } finally {
      old.stop()
    }
  })

  /** A running old site, with SSH, beside the test. */
  async function startOldSite() {
    const put = async (path: string, text: string) => {
      await mkdir(dirname(join(folder, path)), { recursive: true })
      await writeFile(join(folder, path), text)
    }
    for (const { name, content = '' } of contentFiles) await put(`site/wp-content/${name}`, String(content))
    const named = (name: string) => `define('DB_${name.toUpperCase()}', '${name}');`
    await put('site/wp-config.php', `<?php ${['name', 'user', 'password', 'host'].map(named)}; $table_prefix = 'wp_';`)
    await put('dump.sql', makeDump())
    await put('bin/mysqldump', `#!/bin/sh\ncat ${folder}/dump.sql\n`)
    await chmod(join(folder, 'bin/mysqldump'), 0o755)
    for (const name of ['sh', 'cat']) await symlink(`/bin/${name}`, join(folder, 'bin', name))
    const machine = await OldMachine.start({ path: join(folder, 'bin'), address: lab.network.here })
    const { port, fingerprint } = machine
    return { port, fingerprint, path: join(folder, 'site'), stop: () => machine.stop() }
  }

  test('starts again without its control, and without the database', async () => {
    await control.stop()
    await host.stop()
    await host.start()
    await until('it serves', async () => (await status('bravo')) === 200)
    await lab.postgres.stop('fast')
    await host.stop()
    await host.start()
    await until('it serves what it knew', async () => (await status('bravo')) === 200)
    await lab.postgres.start()
    await control.start()
    const reports = "select 1 from hosts where name = 'h9' and seen_at > extract(epoch from now()) * 1000 - 9000"
    await until('the host reports again', async () => (await lab.records(reports)).length > 0)
    await readBackups()
  })

  describe('and was taken over', () => {
    let joined: Joined
    let trust: RoleTrust
    const ask = (what: string, body: object) => askControl(joined, trust, `POST /internal/${what}`, body)
    const REFUSED = 'This host may not have this'
    beforeAll(async () => {
      joined = (await readJoined(host.dataDir)) as Joined
      const [row] = await lab.records('select certificate from role_authorities order by number desc limit 1')
      trust = new RoleTrust(joined, { authorities: [String(row?.certificate)], revoked: [] })
    })

    test('gets the keys of its own repositories, and of no others', async () => {
      expect(await ask('repository-key', { owner: `site-${sites.bravo}` })).toHaveProperty('keys')
      for (const owner of [`site-${sites.alfa}`, `site-${sites.charlie}`, 'stead'])
        await expect(ask('repository-key', { owner })).rejects.toThrow(REFUSED)
    })

    test('reaches only the backups of its own sites in the storage, and keeps the last ones', async () => {
      await readBackups()
      const signed = async (request: object) => {
        const answer = await ask('storage-requests', { requests: [request] })
        return (answer.signed as Record<string, unknown>[])[0] as Record<string, unknown>
      }
      const listed = await signed({ kind: 'list', folder: `site-${sites.bravo}/backups/`, most: 1000 })
      const answer = await fetch(String(listed.url))
      const names = [...(await answer.text()).matchAll(/<Key>stead\/([^<]+)<\/Key>/g)].map(([, name]) => String(name))
      expect(names.length).toBeGreaterThan(1)
      const digest = { bytes: 1, sha256: '0'.repeat(64) }
      const pack = `packs/${'0'.repeat(32)}`
      for (const request of [
        { kind: 'list', folder: '', most: 1 },
        ...[sites.alfa, sites.charlie].map((id) => ({ kind: 'list', folder: `site-${id}/`, most: 1 })),
        ...['stead', `site-${sites.alfa}`].map((owner) => ({ kind: 'get', name: `${owner}/${pack}` })),
        ...['stead', `site-${sites.alfa}`, 'core-6.8'].map((owner) => ({
          kind: 'put',
          name: `${owner}/${pack}`,
          ...digest,
        })),
        { kind: 'put', name: 'stead-holder.json', ...digest },
      ])
        expect([request, await signed(request)]).toEqual([request, { refused: expect.any(String) }])
      for (const name of names) expect(await signed({ kind: 'put', name, ...digest })).toEqual({ exists: true })
      for (const owner of [`site-${sites.alfa}`, 'core-6.8', 'stead'])
        await expect(ask('storage-removal', { names: [`${owner}/${pack}`] })).rejects.toThrow(REFUSED)
    })

    test('opens no secrets of the operations of another host', async () => {
      other.suspend()
      const resetting = lab.api('PUT', `/v1/sites/${sites.charlie}/cms/password-reset`)
      const query = `select id from operations where type = 'site.reset_admin_password' and site_id = ${sites.charlie}`
      const [row] = await until('the reset is requested', async () => {
        const rows = await lab.records(query)
        return rows.length > 0 && rows
      })
      await expect(ask('operation-secret', { operation: Number(row?.id) })).rejects.toThrow(REFUSED)
      other.resume()
      await resetting
      // Nor those of its own that have ended.
      await api('PUT', `/v1/sites/${sites.bravo}/cms/password-reset`)
      const [own] = await lab.records(
        `${query.replace(`${sites.charlie}`, `${sites.bravo}`)} and finished_at is not null`,
      )
      await expect(ask('operation-secret', { operation: Number(own?.id) })).rejects.toThrow(REFUSED)
    })

    test('gets no certificate of another name or role, and no key of a certificate', async () => {
      const { publicKey, privateKey } = await makeKeys()
      const request = makeCertificateRequest(publicKey, privateKey)
      const wanted = { request, role: 'control', name: 'control1' }
      const { certificate, role, name } = await ask('renew', wanted)
      expect([role, name]).toEqual(['host', 'h9'])
      expect(new X509Certificate(String(certificate)).subjectAltName).toBe('URI:host:h9')
      for (const what of ['certificate-key', 'local-certificate'])
        await expect(ask(what, { host_name: 'alfa.localhost' })).rejects.toThrow('may not ask for this')
      await expect(ask('join', { secret: 'guessed', request })).rejects.toThrow('The token is not valid')
    })

    test('has nothing on its disk or in its memory that opens more', async () => {
      const masterKey = Buffer.from(control.stead.env.STEAD_MASTER_KEY as string, 'base64')
      const [row] = await lab.records('select sealed from backup_key')
      const backupKey = Buffer.from(createSealer(masterKey).open(String(row?.sealed), 'key of backups'), 'base64')
      const repository = (site: number) => repositoryKeys(backupKey, `site-${site}`).sealing.export()
      const { sealing, challenges } = edgeKeysOf(masterKey)
      const secrets = {
        ...{ masterKey, backupKey, charlie: repository(sites.charlie) },
        ...{ sealing: Buffer.from(sealing, 'base64url'), challenges: Buffer.from(challenges, 'base64url') },
      }
      const { files } = joined.keys as HostKeys
      // Its own keys must be there. They prove that the search works.
      const own = { files: Buffer.from(files, 'base64url'), bravo: repository(sites.bravo) }
      await readBackups()
      const found = await namesInMemory(host, { ...secrets, ...own })
      expect([...found].toSorted()).toEqual(['bravo', 'files'])
      expect(await namesInMemory(control, { masterKey })).toEqual(new Set(['masterKey']))
      expect(await namesOnDisk(host.dataDir, { ...secrets, ...own })).toEqual(new Set(['files']))
      // None of its keys opens a sealed text.
      const sealer = createSealer(masterKey)
      await api('POST', '/v1/webhooks', { url: 'http://198.18.0.2/hook' })
      const samples = ['second factor', 'key of a zone'].map((text) => sealer.seal(text, text))
      const sealed = [...samples, ...(await sealedTexts())]
      expect(sealed.length).toBeGreaterThan(4)
      for (const text of samples) expect(isReadable(text, masterKey.toString('base64url'))).toBe(true)
      for (const key of Object.values(joined.keys as HostKeys))
        if (Buffer.from(key, 'base64url').length === 32)
          expect(sealed.filter((text) => isReadable(text, key))).toEqual([])
    })

    /** All sealed texts in the database. */
    async function sealedTexts(): Promise<string[]> {
      const columns = await lab.records(
        "select table_name as t, column_name as c from information_schema.columns where table_schema = 'public' and data_type = 'text'",
      )
      const found: string[] = []
      for (const { t, c } of columns)
        for (const { text } of await lab.records(`select "${c}" as text from "${t}" where "${c}" like '%v1.%'`))
          found.push(...(String(text).match(/\bv1\.[\w-]{50,}/g) ?? []))
      return found
    }
  })

  test('gets another certificate with a token, and keeps its sites', async () => {
    await host.stop()
    await lab.records("update role_certificates set revoked_at = 1 where role = 'host' and name = 'h9'")
    await expect(host.start()).rejects.toThrow('stead host token --name=h9 --again')
    const wrong = await host.cli('join', ...(await lab.tokenFor('--name=h10')))
    expect([wrong.code, wrong.out]).toEqual([2, expect.stringContaining('belongs to host h9')])
    const again = await host.cli('join', ...(await lab.tokenFor('--name=h9', '--again')))
    expect([again.code, again.out]).toEqual([0, expect.stringContaining('Do not set STEAD_MASTER_KEY')])
    await host.start()
    await until('it serves', async () => (await status('bravo')) === 200)
    await readBackups()
  })

  test('is replaced while it runs, with a deleted site: its process ends, and its login is gone', async () => {
    const to = other.name
    const deleted = await createOnJoined('delta')
    await until('it serves', async () => (await status('delta')) === 200)
    await api('DELETE', `/v1/sites/${deleted}`)
    await until('it is gone', async () => (await status('delta')) === 404)
    const { headers } = await lab.api('PUT', '/v1/installation/hosts/h9/replace', { to })
    expect(await lab.ended(headers.get('operation-id') as string)).toMatchObject({ state: 'succeeded', error: null })
    await until('the process has ended', () => host.hasEnded())
    expect(host.output()).toContain('h9 was removed from this installation')
    expect(await lab.records("select login from role_logins where name = 'h9'")).toEqual([])
    await until('its site is served elsewhere', async () => (await status('bravo')) === 200)
    const restored = await control.cli('site', 'restore', '--name=delta')
    expect([restored.code, restored.out]).toEqual([0, expect.stringContaining('delta')])
    await until('the restored site is served', async () => (await status('delta')) === 200)
    expect(await hostOf(deleted)).toBe(to)
    await expect(host.start()).rejects.toThrow()
  })
})

type Needles = Readonly<Record<string, Buffer>>

/** Returns which secrets are in some bytes, as they are or as text. */
function namesIn(bytes: Buffer, needles: Needles): string[] {
  const forms = (secret: Buffer) => [
    secret,
    ...(['base64', 'base64url', 'hex'] as const).map((form) => secret.toString(form).replace(/=+$/, '')),
  ]
  return Object.entries(needles).flatMap(([name, secret]) =>
    forms(secret).some((form) => bytes.includes(form)) ? [name] : [],
  )
}

const PIECE = 16 << 20
const OVERLAP = 256

/** Returns which secrets are in the memory of a part: of its Node processes. */
async function namesInMemory(part: Part, needles: Needles): Promise<Set<string>> {
  const found = new Set<string>()
  const first = part.pid() as number
  const pids = [first, ...descendantsOf(first).map(({ pid }) => pid)].filter((pid) => isNode(pid))
  expect(pids.length).toBeGreaterThan(0)
  const piece = Buffer.alloc(PIECE)
  for (const pid of pids) {
    // Processes of PHP end meanwhile.
    const memory = await open(`/proc/${pid}/mem`).catch(() => undefined)
    for (const [from, to] of memory ? writableParts(pid) : [])
      for (let at = from; at < to; at += PIECE - OVERLAP) {
        // It may be gone since.
        const length = Math.min(PIECE, to - at)
        const read = await memory?.read(piece, 0, length, at).catch(() => undefined)
        for (const name of namesIn(piece.subarray(0, read?.bytesRead ?? 0), needles)) found.add(name)
      }
    await memory?.close()
  }
  return found
}

function isNode(pid: number): boolean {
  try {
    return readlinkSync(`/proc/${pid}/exe`) === process.execPath
  } catch {
    return false
  }
}

function writableParts(pid: number): [number, number][] {
  try {
    const maps = readFileSync(`/proc/${pid}/maps`, 'utf8')
    return [...maps.matchAll(/^([0-9a-f]+)-([0-9a-f]+) rw/gm)].map(([, from, to]) => [
      Number.parseInt(from as string, 16),
      Number.parseInt(to as string, 16),
    ])
  } catch {
    return []
  }
}

/** Returns which secrets are in the files of a data folder, without those of sites and of WordPress. */
async function namesOnDisk(dataDir: string, needles: Needles): Promise<Set<string>> {
  const found = new Set<string>()
  for (const entry of await readdir(dataDir, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (!entry.isFile() || /\/(cores|template|web)\//.test(path)) continue
    const bytes = await readFile(path).catch(() => Buffer.alloc(0))
    for (const name of namesIn(bytes, needles)) found.add(name)
  }
  return found
}
