/** Runs every command of docs/guides in order, in a shell, and checks that the result is what the page says. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testCore } from '../support/core.ts'
import { runPage } from '../support/examples.ts'
import { GUIDES, ranGuides } from '../support/guides.ts'
import { hasPebble, type Pebble, startPebble } from '../support/pebble.ts'
import { type PluginDirectoryServer, pluginFile, startPluginDirectory } from '../support/plugin-directory.ts'
import { freePort, program, type Stead, showOutputOfFailures, startStead } from '../support/stead.ts'
import { wpCliStandIn } from '../support/wp-cli.ts'

const run = promisify(execFile)
const core = await testCore()
const hasTools = ['ssh', 'sftp', 'ssh-keygen', 'dig'].every((tool) => existsSync(`/usr/bin/${tool}`))

describe.skipIf(!core || !hasTools)('docs/guides', { timeout: 1_200_000 }, () => {
  let stead: Stead
  let directory: PluginDirectoryServer
  let folder: string
  let pebble: Pebble | undefined
  const ports = { sftp: 0, dns: 0, edge: 0, tls: 0 }
  showOutputOfFailures(() => stead)

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'stead-guides-'))
    directory = await startPluginDirectory()
    for (const slug of ['hello-stead', 'classic-editor'])
      for (const version of ['1.0', '1.1'])
        directory.publish(slug, version, { [`${slug}.php`]: pluginFile(slug, version) })
    for (const port of Object.keys(ports)) Object.assign(ports, { [port]: await freePort() })
    pebble = hasPebble ? await startPebble(ports.edge, `127.0.0.1:${ports.dns}`) : undefined
    await writeFile(join(folder, 'wp-cli.phar'), wpCliStandIn)
    stead = await startStead({
      env: {
        STEAD_SFTP_LISTEN: `127.0.0.1:${ports.sftp}`,
        STEAD_DNS_LISTEN: `127.0.0.1:${ports.dns}`,
        STEAD_EDGE_LISTEN: `127.0.0.1:${ports.edge}`,
        ...(pebble && authorityOf(pebble)),
        STEAD_WP_CLI: join(folder, 'wp-cli.phar'),
        STEAD_WORDPRESS_API: directory.base,
        STEAD_ALLOW_PRIVATE_FETCH: 'true',
      },
    })
    await placeTools()
    await placeOldSite()
  })
  afterAll(async () => {
    await stead?.remove()
    await directory?.close()
    await pebble?.close()
    if (folder) await rm(folder, { recursive: true, force: true })
  })

  /** Queries our own name server, as the internet would. */
  const authorityOf = ({ directory: address, roots }: Pebble) => ({
    STEAD_EDGE_TLS_LISTEN: `127.0.0.1:${ports.tls}`,
    STEAD_RESOLVERS: `127.0.0.1:${ports.dns}`,
    STEAD_ACME_DIRECTORY: address,
    STEAD_ACME_ROOTS: roots,
    STEAD_ACME_TERMS_AGREED: 'true',
  })

  /** Installs `stead`, and an SSH client that does not ask questions. */
  async function placeTools() {
    const bin = join(folder, 'bin')
    await mkdir(join(folder, '.ssh'), { recursive: true })
    await mkdir(bin)
    await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(folder, '.ssh/id_ed25519')])
    const config = [
      `IdentityFile ${folder}/.ssh/id_ed25519`,
      'IdentitiesOnly yes',
      'StrictHostKeyChecking no',
      `UserKnownHostsFile ${folder}/.ssh/known_hosts`,
      'LogLevel ERROR',
    ]
    await writeFile(join(folder, '.ssh/config'), config.join('\n'))
    const tools = {
      stead: `exec '${process.execPath}' '${program}' "$@"`,
      ssh: `exec /usr/bin/ssh -F '${folder}/.ssh/config' "$@"`,
      sftp: `exec /usr/bin/sftp -F '${folder}/.ssh/config' "$@"`,
      // no desktop and no browser
      'xdg-open': 'exit 1',
    }
    for (const [name, line] of Object.entries(tools)) {
      await writeFile(join(bin, name), `#!/bin/sh\n${line}\n`)
      await chmod(join(bin, name), 0o755)
    }
  }

  /**
   * What was downloaded from an old host: a site with its own address in its dump, a plugin, a picture, and a drop-in
   * of the host.
   */
  async function placeOldSite() {
    await stead.createSite({ name: 'the-old-one' })
    const directory = stead.directoryOf('the-old-one')
    const old = join(folder, 'old')
    await cp(join(directory, 'web/wp-content/themes'), join(old, 'wp-content/themes'), { recursive: true })
    await mkdir(join(old, 'wp-content/uploads/2025'), { recursive: true })
    await writeFile(join(old, 'wp-content/uploads/2025/cup.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>')
    await writeFile(join(old, 'wp-content/object-cache.php'), '<?php exit;')
    await sh(
      'stead backups create-ondemand the-old-one db --wait\nstead backups download-ondemand the-old-one $(stead backups list-ondemand the-old-one --get id) --output old.sql',
    )
    await run('sed', [
      '-i',
      `s#http://the-old-one.localhost:${stead.edgePort}#https://www.acme.example#g; s#the-old-one#Acme#g`,
      join(folder, 'old.sql'),
    ])
    await writeFile(join(folder, 'old.zone'), '$ORIGIN acme.example.\n$TTL 300\nblog IN CNAME pages.example.net.\n')
    await sh('stead sites delete the-old-one --yes --wait')
  }

  /** Replaces the usual ports with those of this Stead. */
  const change = (code: string) =>
    code
      .replaceAll('2222', `${ports.sftp}`)
      .replaceAll('-p 5353', `-p ${ports.dns}`)
      .replaceAll(':8081', `:${stead.edgePort}`)
  const inFolder = () => {
    const env = { HOME: folder, PATH: `${join(folder, 'bin')}:${process.env.PATH}`, STEAD_DATA_DIR: stead.dataDir }
    return { cwd: folder, env, change }
  }
  const sh = (code: string) => run('bash', ['-c', `set -eo pipefail\n${code}`], { ...inFolder(), timeout: 1_200_000 })

  /** Deletes on-demand backups: a reader of the page has not used up all slots. */
  const makeRoom = () =>
    sh(
      'for id in $(stead backups list-ondemand acme-shop --get id || true); do stead backups delete-ondemand acme-shop $id --yes --wait; done',
    )

  /** The commands that the reader of a page has already run. */
  const given: Record<string, string> = {
    domains: 'stead sites create acme-network --wait',
    'safe-updates': 'stead plugins install acme-shop path=classic-editor,version=1.0 --wait',
  }
  /** What must be visible below a heading, besides commands that succeed. */
  const seen: Record<string, Record<string, RegExp>> = {
    'move-a-site-in': { 'Check the site at its domain': /<title>Acme/ },
    'safe-updates': { 'Read the report': /kept/ },
  }
  test.each(ranGuides)('%s', async (page) => {
    if (page !== ranGuides[0]) await makeRoom()
    if (given[page]) await sh(given[page])
    const said = await runPage(`${GUIDES}/${page}.md`, inFolder())
    expect(said.size).toBeGreaterThan(0)
    for (const [heading, text] of Object.entries(seen[page] ?? {})) expect(said.get(heading)).toMatch(text)
    if (page === 'domains' && pebble) await seeHttps(pebble)
  })

  /** Checks that an added name answers over https, with a certificate of the authority. */
  async function seeHttps(authority: Pebble) {
    const roots = join(folder, 'issuer.pem')
    await writeFile(roots, await authority.issuer())
    const front = `--resolve www.acme.example:${ports.tls}:127.0.0.1 https://www.acme.example:${ports.tls}/`
    const curl = () => sh(`curl -s --cacert ${roots} ${front}`).then(({ stdout }) => stdout, String)
    await expect.poll(curl, { timeout: 120_000 }).toContain('<title>Acme')
    const { stdout } = await sh(
      'stead zones get-ssl acme.example $(stead domains list acme-shop --get id | head -1) --json; stead domains check acme-shop www.acme.example --json',
    )
    expect(stdout).toContain('"certificate_expiration_date"')
  }
})
