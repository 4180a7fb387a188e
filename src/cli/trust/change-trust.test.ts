/** Tests the test's own certificate stores, with the programs that change those of a machine. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { issueLocally, type LocalAuthority, makeLocalAuthority } from '../../certificates/local-authority.ts'
import { changeTrust, type Scope, type Wish } from './change-trust.ts'
import { type Machine, type Root, rootOf, thisMachine } from './machine.ts'

const run = promisify(execFile)
const hasCertutil = existsSync('/usr/bin/certutil')
const isDebian = existsSync('/usr/sbin/update-ca-certificates') && existsSync('/usr/bin/openssl')

let authority: LocalAuthority
let root: Root
let folder: string
let machine: Machine
beforeAll(async () => {
  authority = await makeLocalAuthority('localhost', Date.now())
  root = rootOf(authority.certificate)
})
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stead-trust-'))
  const [home, systemRoot] = [join(folder, 'home'), join(folder, 'system')]
  await Promise.all([home, systemRoot].map((each) => mkdir(each)))
  machine = { ...thisMachine(process.env), platform: 'linux', home, systemRoot, isRoot: true }
})
afterEach(() => rm(folder, { recursive: true }))

const ask = (wish: Wish, scope: Scope, of: Partial<Machine> = {}, roots = [root]) =>
  changeTrust({ ...machine, ...of }, roots, { wish, scope })
const trusted = async (wish: Wish, scope: Scope) => (await ask(wish, scope)).map((each) => each.trusted)

/** Returns all files below a folder, with their content. */
async function contentOf(path: string): Promise<Record<string, string>> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => !entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name))
  return Object.fromEntries(await Promise.all(files.sort().map(async (file) => [file, await readFile(file, 'base64')])))
}

test('gives an authority its own name in every store', () => {
  expect(root.name).toMatch(/^Stead [0-9a-f]{8} for local sites$/)
  expect(root.fileName).toMatch(/^stead-[0-9a-f]{8}-for-local-sites$/)
})

test("runs programs that change stores without Stead's secrets and without input", async () => {
  const { run: runs } = thisMachine({ PATH: process.env.PATH, HOME: folder, STEAD_MASTER_KEY: 'secret' })
  const { code, out } = await runs('sh', ['-c', 'env; cat'])
  expect([code, out.includes(`HOME=${folder}`), out.includes('STEAD_')]).toEqual([0, true, false])
})

describe.skipIf(!isDebian)("Debian's store", () => {
  const anchors = () => join(machine.systemRoot, 'usr/local/share/ca-certificates')
  const bundle = () => join(machine.systemRoot, 'etc/ssl/certs/ca-certificates.crt')
  let other: string
  beforeEach(async () => {
    for (const path of ['etc/ssl/certs', 'usr/local/share/ca-certificates', 'usr/share/ca-certificates'])
      await mkdir(join(machine.systemRoot, path), { recursive: true })
    await writeFile(join(machine.systemRoot, 'etc/ca-certificates.conf'), '# none\n')
    other = (await makeLocalAuthority('other.test', Date.now())).certificate
    await writeFile(join(anchors(), 'company.crt'), other)
  })

  test('trusts it until its removal, and all others as before', async () => {
    expect(await trusted('check', 'system')).toEqual([false])
    expect(await trusted('trust', 'system')).toEqual([true])
    expect(await trusted('check', 'system')).toEqual([true])
    const { chain } = await issueLocally(authority, 'one.localhost', Date.now())
    await writeFile(join(folder, 'leaf.pem'), chain)
    const verify = () => run('openssl', ['verify', '-CAfile', bundle(), join(folder, 'leaf.pem')])
    expect((await verify()).stdout).toContain('OK')
    expect(await readFile(bundle(), 'utf8')).toContain(other)
    expect(await trusted('remove', 'system')).toEqual([false])
    await expect(verify()).rejects.toThrow()
    expect(await readdir(anchors())).toEqual(['company.crt'])
    expect(await readFile(bundle(), 'utf8')).toContain(other)
    expect(Object.keys(await contentOf(join(machine.systemRoot, 'etc/ssl'))).join()).not.toContain(root.fileName)
  })

  test('changes nothing the second time, and completes an interrupted change', async () => {
    const file = join(anchors(), `${root.fileName}.crt`)
    await writeFile(file, root.certificate)
    expect((await ask('check', 'system'))[0]).toMatchObject({
      trusted: null,
      note: 'a change was interrupted. Repeat the command',
    })
    expect((await ask('trust', 'system'))[0]).toMatchObject({ trusted: true, note: 'from now on' })
    const before = await contentOf(machine.systemRoot)
    expect((await ask('trust', 'system'))[0]).toMatchObject({ trusted: true, note: '' })
    expect(await contentOf(machine.systemRoot)).toEqual(before)
    // The file was removed, but the program has not run since.
    await rm(file)
    expect(await trusted('remove', 'system')).toEqual([false])
    expect(await readFile(bundle(), 'utf8')).not.toContain(root.certificate.trim())
  })

  test('can only be changed by root: others get instructions', async () => {
    const before = await contentOf(machine.systemRoot)
    const [standing] = await ask('trust', 'system', { isRoot: false })
    const file = join(anchors(), `${root.fileName}.crt`)
    expect(standing).toEqual({
      ...{ authority: root.name, where: anchors(), trusted: false },
      note: `this requires root. Run: stead trust --print | sudo tee ${file} >/dev/null && sudo update-ca-certificates`,
    })
    expect(await contentOf(machine.systemRoot)).toEqual(before)
    await ask('trust', 'system')
    const [kept] = await ask('remove', 'system', { isRoot: false })
    expect(kept).toMatchObject({
      trusted: true,
      note: `this requires root. Run: sudo rm -f ${file} && sudo update-ca-certificates --fresh`,
    })
  })

  test("keeps another's file, and leaves nothing if its program fails", async () => {
    const file = join(anchors(), `${root.fileName}.crt`)
    await writeFile(file, 'mine')
    expect((await ask('trust', 'system'))[0]).toMatchObject({
      trusted: false,
      note: expect.stringContaining('a different file'),
    })
    await ask('remove', 'system')
    expect(await readFile(file, 'utf8')).toBe('mine')
    await rm(file)
    await ask('trust', 'system')
    await writeFile(file, other)
    expect(await trusted('remove', 'system')).toEqual([false])
    expect(await readFile(file, 'utf8')).toBe(other)
    await rm(file)
    await rm(join(machine.systemRoot, 'etc/ssl'), { recursive: true })
    const [failed] = await ask('trust', 'system')
    expect(failed).toMatchObject({ trusted: false, note: expect.stringContaining('update-ca-certificates failed') })
    expect(await readdir(anchors())).toEqual(['company.crt'])
    const [missing] = await ask('trust', 'system', thisMachineWithout())
    expect(missing?.note).toContain('Install the package ca-certificates')
    expect(await readdir(anchors())).toEqual(['company.crt'])
  })

  const thisMachineWithout = () => ({
    run: async () => ({ code: undefined, isMissing: true, out: '', error: 'ENOENT' }),
  })
})

test('leaves a system with an unknown store to its operator', async () => {
  for (const platform of ['linux', 'win32', 'freebsd'] as const)
    for (const wish of ['trust', 'remove', 'check'] as const)
      expect((await ask(wish, 'system', { platform }))[0]).toMatchObject({
        trusted: null,
        note: expect.stringContaining('stead trust --print'),
      })
  expect(await contentOf(folder)).toEqual({})
})

describe.skipIf(!hasCertutil)('stores of browsers', () => {
  const paths = ['.pki/nssdb', '.mozilla/firefox/abc.default-release', 'snap/firefox/common/.mozilla/firefox/d.default']
  const database = (path: string) => join(machine.home, path)
  const certutil = (path: string, ...args: string[]) => run('certutil', ['-d', `sql:${database(path)}`, ...args])
  beforeEach(async () => {
    for (const path of paths) {
      await mkdir(database(path), { recursive: true })
      await certutil(path, '-N', '--empty-password')
    }
    // This folder is not a profile.
    await mkdir(database('.mozilla/firefox/Crash Reports'))
  })

  test('all trust it for servers until its removal, and others as before', async () => {
    const other = rootOf((await makeLocalAuthority('other.test', Date.now())).certificate)
    await ask('trust', 'browsers', {}, [other])
    expect(await trusted('check', 'browsers')).toEqual([false, false, false])
    expect(await trusted('trust', 'browsers')).toEqual([true, true, true])
    const listed = (await certutil('.pki/nssdb', '-L')).stdout
    expect(listed).toMatch(new RegExp(`^${root.name} +C,,`, 'm'))
    expect((await ask('trust', 'browsers')).map(({ note }) => note)).toEqual(['', '', ''])
    expect(await trusted('remove', 'browsers')).toEqual([false, false, false])
    expect((await ask('check', 'browsers', {}, [other])).map((each) => each.trusted)).toEqual([true, true, true])
    for (const path of paths) expect((await certutil(path, '-L')).stdout).not.toContain(root.name)
  })

  test('accept certificates of its domain, and no others', async () => {
    await ask('trust', 'browsers')
    const verdict = async (hostName: string, domain: string) => {
      const { chain } = await issueLocally({ ...authority, domain }, hostName, Date.now())
      await writeFile(join(folder, 'leaf.pem'), chain)
      await certutil('.pki/nssdb', '-A', '-n', hostName, '-t', ',,', '-a', '-i', join(folder, 'leaf.pem'))
      return certutil('.pki/nssdb', '-V', '-u', 'V', '-n', hostName).then(
        () => 'good',
        (error) => String(error.stdout) + error.stderr,
      )
    }
    expect(await verdict('one.localhost', 'localhost')).toBe('good')
    expect(await verdict('www.example.com', 'example.com')).toContain(
      'not permitted to issue a certificate with this name',
    )
  })

  test('are repaired if they contain it without trust', async () => {
    await writeFile(join(folder, 'root.pem'), root.certificate)
    await certutil('.pki/nssdb', '-A', '-n', root.name, '-t', ',,', '-a', '-i', join(folder, 'root.pem'))
    expect(await trusted('check', 'browsers')).toEqual([null, false, false])
    expect(await trusted('trust', 'browsers')).toEqual([true, true, true])
  })

  test('report the reason if one cannot be changed, and the others are changed', async () => {
    await writeFile(join(database('.pki/nssdb'), 'cert9.db'), 'no database')
    const [broken, ...others] = await ask('trust', 'browsers')
    expect(broken).toMatchObject({ trusted: false, note: expect.stringMatching(/^certutil failed: /) })
    expect(others.map((each) => each.trusted)).toEqual([true, true])
  })

  test('name the package of certutil if it is missing', async () => {
    const nothing = thisMachine({ PATH: '/nowhere' })
    const without = {
      run: (program: string, args: readonly string[]) => nothing.run(`${program}-that-is-not-there`, args),
    }
    for (const standing of await ask('trust', 'browsers', without))
      expect(standing).toMatchObject({ trusted: null, note: expect.stringContaining('libnss3-tools') })
  })

  test('do not include those of other users, nor the system if only browsers were requested', async () => {
    const before = await contentOf(machine.systemRoot)
    await ask('trust', 'browsers')
    expect(await contentOf(machine.systemRoot)).toEqual(before)
    const none = await mkdtemp(join(folder, 'home-'))
    expect(await ask('trust', 'browsers', { home: none })).toEqual([])
    expect(await readdir(none)).toEqual([])
  })
})
