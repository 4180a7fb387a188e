/**
 * The Debian package on this machine: installed, started as its service starts it, upgraded, and purged. It changes the
 * machine, so it runs only for root with CI=true, and only where nobody has installed Stead. `TEST_DEB` names a package
 * that is built already.
 */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { appendFile, chmod, copyFile, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { request } from 'node:https'
import type { LookupFunction } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testCore } from '../support/core.ts'
import { nativeAndMariaDb } from '../support/native-mariadb.ts'
import { hasPebble, startPebble } from '../support/pebble.ts'
import { freePort, prepareStead, type Stead, showOutputOfFailures, until } from '../support/stead.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../..')
const core = await testCore()
const needed = ['/usr/bin/dpkg-deb', '/usr/sbin/adduser', '/usr/bin/deb-systemd-helper', '/usr/bin/setpriv']
// It must not touch an existing installation.
const mayInstall =
  core !== undefined &&
  process.env.CI &&
  process.getuid?.() === 0 &&
  needed.every(existsSync) &&
  !existsSync('/etc/stead')

describe.skipIf(!mayInstall)('the Debian package', () => {
  let folder: string
  let file: string
  let older: string
  let stead: Stead
  showOutputOfFailures(() => stead)

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'deb-'))
    const { arch } = process
    const words = [
      'packaging/deb.js',
      '--arch',
      arch === 'x64' ? 'amd64' : arch,
      '--compression',
      'gzip',
      '--out',
      folder,
    ]
    if (!process.env.TEST_DEB) await run(process.execPath, words, { cwd: root, maxBuffer: 1e8 })
    const built = (await readdir(folder)).find((name) => name.endsWith('.deb'))
    file = process.env.TEST_DEB ?? join(folder, built as string)
    older = await withVersion(file, '0.0.1', folder)
  })
  afterAll(async () => {
    await stead?.remove()
    await run('dpkg', ['--purge', 'stead']).catch(() => {})
    await rm(folder, { recursive: true, force: true })
  })

  test.skipIf(!existsSync('/usr/bin/lintian') || !process.env.TEST_LINTIAN)(
    'has no errors that lintian finds',
    async () => {
      const { stdout } = await run('lintian', ['--allow-root', '--fail-on', 'none', file], { maxBuffer: 1e8 })
      const lines = stdout.split('\n')
      expect(lines.filter((line) => line.startsWith('E:') || line.includes('manual-page'))).toEqual([])
    },
  )

  test('installs the command, its settings for root and the group, and a user of its own', async () => {
    await run('dpkg', ['-i', older])
    expect((await run('stead', ['version'])).stdout).toMatch(/^\S*\d+\.\d+\.\d+/)
    expect((await run('id', ['-gn', 'stead'])).stdout.trim()).toBe('stead')
    expect((await stat('/etc/stead/stead.env')).mode & 0o777).toBe(0o640)
    expect((await stat('/var/lib/stead')).mode & 0o777).toBe(0o711)
    const page = await run('zcat', ['/usr/share/man/man1/stead.1.gz'])
    const { stdout: all } = await run('stead', ['help', '--json'], { maxBuffer: 1e8 })
    const names = JSON.parse(all).map(({ name }: { name: string }) => `.B stead ${name.replaceAll('-', '\\-')}\n`)
    expect(names.filter((name: string) => !page.stdout.includes(name))).toEqual([])
    const help = await run('stead', ['config', '--json'])
    expect(JSON.parse(help.stdout)).toMatchObject({ STEAD_DATA_DIR: '/var/lib/stead' })
  })

  test.skipIf(!existsSync('/usr/bin/systemd-analyze'))('has services that systemd accepts', async () => {
    const units = (await readdir('/lib/systemd/system')).filter((name) => name.startsWith('stead'))
    expect(units).toHaveLength(5)
    const instances = units.map((name) => name.replace('@.', '@a.'))
    const { stderr } = await run('systemd-analyze', ['verify', ...instances])
    expect(stderr.split('\n').filter((line) => line.includes('stead'))).toEqual([])
  })

  test.each(['wasm', ...(nativeAndMariaDb.skip ? [] : ['native'])])(
    'is set up with answers by flags, and the service starts with them, with %s PHP',
    async (php) => {
      stead = await prepareStead({ below: '/var/lib', env: { STEAD_EDGE_TLS_LISTEN: '127.0.0.1:0' } })
      const { dataDir } = stead
      // A folder for native PHP must be new. The tests' own WordPress in it stays root's.
      await run('chown', [...(php === 'wasm' ? ['-R'] : []), 'stead:stead', dataDir])
      // As the package makes its folder: the users of sites and databases pass through it.
      await chmod(dataDir, 0o711)
      const { STEAD_STAGING_DOMAIN, STEAD_RUNTIME, STEAD_MARIADB, ...settings } = stead.environment()
      await writeSettings(settings)
      await using service = await standInForSystemd(folder)
      const words = [
        ...['setup', '--domain=sites.example.com', '--address=203.0.113.7', '--mail=none', `--php=${php}`],
        ...[`--backups=${dataDir}/backups`, '--email=owner@example.com', '--unchecked', '--restart'],
      ]
      const { code, stdout, stderr } = await runAnyway('stead', words, service.env)
      expect(stderr).toContain('Wrote /etc/stead/stead.env: STEAD_API_TLS_LISTEN, STEAD_STAGING_DOMAIN')
      expect(stderr).toContain(`panel_link in ${dataDir}/credentials.json`)
      // The doctor misses the DNS records of the domain.
      expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringContaining('*.sites.example.com') })
      const version = php === 'native' && { php_version: nativeAndMariaDb.phpVersion }
      await stead.createSite({ name: 'first', ...version })
      expect((await stead.visit('first.sites.example.com')).text).toContain('<title>first')
      // Without root, nothing belongs to root. With it, the service does not run as another user.
      const other = php === 'wasm' ? 'root' : 'stead'
      expect((await run('find', [dataDir, '-user', other])).stdout).toBe('')
      await writeFile(join(stead.directoryOf('first'), 'web/kind.php'), '<?php echo PHP_SAPI;')
      const kind = (await stead.visit('first.sites.example.com', '/kind.php')).text
      expect(kind === 'fpm-fcgi').toBe(php === 'native')
      await service.stop()
      await stead.remove()
    },
  )

  test.skipIf(!hasPebble || !existsSync('/usr/sbin/ip'))(
    'one run leads from the package to a first site and a panel over https, each with a certificate of its own',
    async () => {
      await using way = await publicServer()
      stead = await prepareStead({ below: '/var/lib', env: way.settings })
      const { dataDir } = stead
      await run('chown', ['-R', 'stead:stead', dataDir])
      await chmod(dataDir, 0o711)
      const { STEAD_STAGING_DOMAIN, STEAD_RUNTIME, STEAD_MARIADB, ...settings } = stead.environment()
      await writeSettings({ ...settings, STEAD_EDGE_LISTEN: way.edge, STEAD_ACME_ROOTS: await way.rootsIn(dataDir) })
      await way.pointHere(
        'panel.hoster.example',
        'first.sites.hoster.example',
        'stead-doctor-check.sites.hoster.example',
      )
      await using service = await standInForSystemd(folder)
      const words = [
        ...['setup', '--domain=sites.hoster.example', `--address=${PUBLIC_ADDRESS}`, '--agree-to-terms', '--mail=none'],
        ...['--php=wasm', `--backups=${dataDir}/backups`, '--email=owner@hoster.example', '--restart'],
      ]
      const { code, stdout } = await runAnyway('stead', words, service.env)
      expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('0 problems') })
      const { stdout: url } = await run('stead', ['sites', 'create', '--name=first', '--wait', '--get=url'])
      expect(url).toContain('first.sites.hoster.example')
      const site = await untilFetched(() => way.fetch('first.sites.hoster.example'))
      expect(site).toMatchObject({ status: 200, body: expect.stringContaining('<title>first') })
      expect(site.body).not.toContain('http://first')
      const panel = await untilFetched(() => way.fetch('panel.hoster.example', way.panelPort))
      expect(panel).toMatchObject({ status: 200, body: expect.stringContaining('<title>Stead') })
      const credentials = JSON.parse(await readFile(join(dataDir, 'credentials.json'), 'utf8'))
      expect(credentials.panel_link).toContain(`https://panel.hoster.example:${way.panelPort}/`)
      // Names of other sites have no certificate, and the doctor says why first addresses do not share one.
      await expect(way.fetch('second.sites.hoster.example')).rejects.toThrow('handshake failure')
      const doctor = await runAnyway('stead', ['doctor'], service.env)
      expect(doctor).toMatchObject({ code: 0, stdout: expect.stringContaining('First addresses have no certificate') })
      await service.stop()
      await stead.remove()
    },
  )

  test('a setup says at once that the service cannot start', async () => {
    await using service = await standInForSystemd(folder)
    const settings = {
      STEAD_DATA_DIR: join(folder, 'data'),
      STEAD_API_LISTEN: '192.0.2.1:1',
      STEAD_EDGE_LISTEN: '192.0.2.1:2',
    }
    await writeSettings(settings)
    const words = ['setup', '--domain=sites.internal', '--mail=none', '--php=wasm', '--email=owner@example.com']
    const rest = [`--backups=${folder}/kept`, '--unchecked', '--restart']
    const { code, stderr } = await runAnyway('stead', [...words, ...rest], service.env)
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('run journalctl -u stead') })
  })

  test('runs as the user stead on a port below 1024, and an upgrade keeps its sites and changed settings', async () => {
    stead = await prepareStead({ below: '/var/lib', launch: asService })
    stead.edgePort = 998
    await run('chown', ['-R', 'stead:stead', stead.dataDir])
    await writeSettings(stead.environment())
    await stead.start()
    // bubblewrap must work although the service has a capability.
    expect(stead.output()).not.toContain('stronger with bubblewrap')
    await stead.createSite({ name: 'kept' })
    expect((await stead.visit('kept')).text).toContain('<title>kept')
    await stead.stop()

    await appendFile('/etc/stead/stead.env', '# My own line\n')
    await run('dpkg', ['-i', '--force-confdef', '--force-confold', file])
    expect(await readFile('/etc/stead/stead.env', 'utf8')).toContain('# My own line')
    await stead.start()
    expect((await stead.visit('kept')).text).toContain('<title>kept')
    // Root's commands leave no file of root in the data folder.
    const { stdout } = await run('stead', ['account', 'list', '--json'])
    expect(JSON.parse(stdout)).toHaveLength(1)
    expect((await run('find', [stead.dataDir, '-user', 'root'])).stdout).toBe('')
  })

  test('leaves no process and no file of its own when it is purged, and says what remains', async () => {
    await stead.stop()
    await writeFile('/var/lib/stead/kept', '')
    const { stdout } = await run('dpkg', ['--purge', 'stead'])
    expect(stdout).toContain('still in /var/lib/stead')
    await rm('/var/lib/stead', { recursive: true })
    await stead.remove()
    const ours = ['/etc/stead', '/usr/lib/stead', '/usr/bin/stead', '/var/cache/stead', dropIns]
    expect(ours.filter(existsSync)).toEqual([])
    expect((await run('pgrep', ['-u', 'stead']).catch(({ stdout }) => ({ stdout }))).stdout).toBe('')
    await run('deluser', ['--system', 'stead'])
  })
})

async function writeSettings(environment: Readonly<Record<string, string | undefined>>): Promise<void> {
  const settings = Object.entries(environment).filter(([name]) => name.startsWith('STEAD_'))
  await writeFile('/etc/stead/stead.env', settings.map(([name, value]) => `${name}=${value}\n`).join(''))
}

/** The user and the capability that `stead.service` gives its command. */
const cleanEnvironment = ['env', '-i', 'PATH=/usr/sbin:/usr/bin:/sbin:/bin']
const asServiceUser = [
  ...cleanEnvironment,
  ...['setpriv', '--reuid=stead', '--regid=stead', '--init-groups', '--no-new-privs'],
  ...[
    '--inh-caps=-all,+net_bind_service',
    '--ambient-caps=-all,+net_bind_service',
    '--bounding-set=-all,+net_bind_service',
  ],
]
const dropIns = '/etc/systemd/system/stead.service.d'
const asService = [...asServiceUser, '/usr/bin/stead', 'serve']

/** A `systemctl` that starts the command of `stead.service`, on a machine where systemd runs no services. */
async function standInForSystemd(folder: string) {
  const bin = join(folder, 'bin')
  const pidFile = join(folder, 'service.pid')
  await mkdir(bin, { recursive: true })
  const script = [
    '#!/bin/sh',
    'case "$*" in',
    'daemon-reload) exit 0 ;;',
    // It succeeds when the service has failed.
    `'is-failed --quiet stead.service') ! kill -0 $(cat ${pidFile}) 2>/dev/null; exit ;;`,
    "'restart stead.service') ;;",
    '*) exit 1 ;;',
    'esac',
    `user="${asServiceUser.join(' ')}"`,
    `! grep -q ^User=root ${dropIns}/*.conf || user="${cleanEnvironment.join(' ')}"`,
    "command=$(sed -n 's/^ExecStart=//p' /lib/systemd/system/stead.service)",
    `setsid $user $command >${folder}/service.log 2>&1 &`,
    `echo $! >${pidFile}`,
  ]
  await writeFile(join(bin, 'systemctl'), `${script.join('\n')}\n`, { mode: 0o755 })
  // systemd has this folder while it runs services.
  const made = await mkdir('/run/systemd/system', { recursive: true })
  const stop = async () => {
    const pid = await readFile(pidFile, 'utf8').catch(() => '')
    if (pid) await run('kill', [pid.trim()]).catch(() => {})
    await until('the service has ended', () => !pid || !existsSync(`/proc/${pid.trim()}`))
  }
  return {
    env: { ...process.env, PATH: `${bin}:${process.env.PATH}` },
    stop,
    async [Symbol.asyncDispose]() {
      await stop()
      if (made) await rm(made, { recursive: true })
    },
  }
}

/** Waits for a name's certificate. */
const untilFetched = <Page>(fetch: () => Promise<Page>): Promise<Page> =>
  until('the name has a certificate', () => fetch().catch(() => undefined))

/** Runs a program that may end with another exit code than 0. */
async function runAnyway(program: string, words: readonly string[], env: NodeJS.ProcessEnv) {
  const child = spawn(program, words, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code, stdout, stderr }
}

/** Packs the same files as another version. @returns its file */
async function withVersion(file: string, version: string, folder: string): Promise<string> {
  const tree = join(folder, 'tree')
  const other = join(folder, `${version}.deb`)
  await run('dpkg-deb', ['-R', file, tree])
  const control = join(tree, 'DEBIAN/control')
  await writeFile(control, (await readFile(control, 'utf8')).replace(/^Version: .*$/m, `Version: ${version}`))
  await run('dpkg-deb', ['-Znone', '--build', tree, other])
  await rm(tree, { recursive: true })
  return other
}

/** An address of this machine as if it were public. Only examples have it (RFC 5737). */
const PUBLIC_ADDRESS = '203.0.113.80'

/** A server with a public address, its names, and a certificate authority that can reach it. */
async function publicServer() {
  const [http, https, panel] = await Promise.all([freePort(), freePort(), freePort()])
  const pebble = await startPebble(http)
  await run('ip', ['address', 'replace', `${PUBLIC_ADDRESS}/32`, 'dev', 'lo'])
  return {
    edge: `${PUBLIC_ADDRESS}:${http}`,
    settings: {
      STEAD_EDGE_TLS_LISTEN: `${PUBLIC_ADDRESS}:${https}`,
      STEAD_API_TLS_LISTEN: `${PUBLIC_ADDRESS}:${panel}`,
      STEAD_ACME_DIRECTORY: pebble.directory,
      STEAD_RESOLVERS: pebble.resolver,
    },
    panelPort: panel,
    /** Copies the roots of the authority's own server to where the service may read them. */
    async rootsIn(folder: string) {
      await copyFile(pebble.roots, join(folder, 'roots.pem'))
      await chmod(join(folder, 'roots.pem'), 0o644)
      return join(folder, 'roots.pem')
    },
    async pointHere(...names: string[]) {
      for (const name of names) await pebble.setAddresses(name, [PUBLIC_ADDRESS])
    },
    /** Fetches a page as a browser that trusts the authority. @throws when the certificate is not for the name */
    async fetch(name: string, port = https) {
      const lookup: LookupFunction = (_name, _options, found) => found(null, [{ address: PUBLIC_ADDRESS, family: 4 }])
      const asked = request(`https://${name}:${port}/`, { agent: false, ca: await pebble.issuer(), lookup })
      asked.end()
      const [response] = await once(asked, 'response')
      return { status: response.statusCode as number, body: await text(response) }
    },
    async [Symbol.asyncDispose]() {
      await pebble.close()
      await run('ip', ['address', 'delete', `${PUBLIC_ADDRESS}/32`, 'dev', 'lo'])
    },
  }
}
