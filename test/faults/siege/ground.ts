import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { prepareStead, program, type Stead } from '../../support/stead.ts'
import type { Attack, Target } from './attacks/attack.ts'
import { diskMb, temporaryDiskMb } from './bounds.ts'
import { type NameServer, startNameServer } from './name-server.ts'
import { type SmallDisk, smallDisk } from './small-disk.ts'

/** An application and its token. */
export interface SignedIn {
  readonly clientId: string
  readonly clientSecret: string
  readonly token: string
}

/** One Stead with eight sites of one account, and a ninth of another. */
export interface SiegeGround {
  readonly stead: Stead
  readonly target: Target
  readonly ninth: { readonly id: number; readonly host: string } & SignedIn
  readonly names: NameServer | undefined
  /** Mount point of Stead's disk for data and temporary files. */
  readonly disk: string
  /** Stead's folder for temporary files. */
  readonly temporary: SmallDisk
  readonly siteDirectories: readonly string[]
  remove(): Promise<void>
}

/** Loads WordPress and is never cached. */
const fresh = `<?php require 'wp-load.php'; header('Cache-Control: no-store'); echo get_bloginfo('name'), wp_count_posts()->publish;`
const askName = `<?php header('Cache-Control: no-store'); @file_get_contents('http://' . $_GET['of'] . '/'); echo 'asked';`

export async function openGround(
  attacks: readonly Attack[],
  settings: Readonly<Record<string, string>>,
): Promise<SiegeGround> {
  const undo: (() => unknown)[] = []
  const remove = async () => {
    for (const each of undo.splice(0).reverse()) await Promise.resolve(each()).catch((error) => console.error(error))
  }
  try {
    return { ...(await build(attacks, settings, undo)), remove }
  } catch (error) {
    await remove()
    throw error
  }
}

async function build(
  attacks: readonly Attack[],
  settings: Readonly<Record<string, string>>,
  undo: (() => unknown)[],
): Promise<Omit<SiegeGround, 'remove'>> {
  const disk = await smallDisk(diskMb)
  undo.push(() => disk.remove())
  const names = await startNameServer(disk.folder)
  undo.push(() => names?.close())
  const temporary = await smallDisk(temporaryDiskMb)
  undo.push(() => temporary.remove())
  const stead = await prepareStead({
    below: disk.folder,
    ...(names && { launch: [...names.under, process.execPath, program, 'serve'] }),
    env: {
      TMPDIR: temporary.folder,
      STEAD_PHP_MEMORY_MB: '1300',
      STEAD_TRASH_DAYS: '7',
      STEAD_PREPARED_SITES: '0',
      // default values: the limits are part of the test
      STEAD_RATE_LIMIT: '600',
      STEAD_TOKEN_RATE_LIMIT: '30',
      STEAD_PHP_NICE: '10',
      STEAD_PHP_OPTIMIZE: 'true',
      ...settings,
    },
  })
  undo.push(() => stead.remove())
  await stead.start()
  const ninthId = await stead.createSite({ name: 'ninth' })
  const ninthDirectory = stead.directoryOf('ninth')
  await writeFile(join(ninthDirectory, 'web/fresh.php'), fresh)
  await writeFile(join(ninthDirectory, 'web/name.php'), askName)
  const hostile = await hostileAccount(stead)
  const sites = await hostileSites(stead, hostile)
  const siteDirectories = sites.map(({ name }) => stead.directoryOf(name))
  await Promise.all(siteDirectories.map((directory, site) => putFiles(directory, site, attacks)))
  const openOperation = await operationThatStaysOpen(stead, hostile)
  const target: Target = {
    edgePort: stead.edgePort,
    apiUrl: stead.apiUrl,
    sites: sites.map(({ id, name }) => ({ id, host: `${name}.localhost` })),
    ninthHost: 'ninth.localhost',
    token: hostile,
    openOperation,
  }
  const owner = await tokenOf(
    stead,
    await stead.cli('application', 'create', '--account=owner@stead.localhost', '--name=siege', '--owner', '--json'),
  )
  return {
    stead,
    target,
    ninth: { id: ninthId, host: 'ninth.localhost', ...owner },
    names,
    disk: disk.folder,
    temporary,
    siteDirectories,
  }
}

async function hostileAccount(stead: Stead): Promise<string> {
  await stead.cli('account', 'create', '--email=hostile@example.com', '--plan=Business')
  const made = await stead.cli(
    'application',
    'create',
    '--account=hostile@example.com',
    '--name=hostile',
    '--owner',
    '--json',
  )
  return (await tokenOf(stead, made)).token
}

async function tokenOf(stead: Stead, made: { stdout: string; stderr: string }): Promise<SignedIn> {
  if (!made.stdout.startsWith('{')) throw new Error(`no application: ${made.stdout}${made.stderr}`)
  const { client_id, client_secret } = JSON.parse(made.stdout)
  const body = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret })
  const response = await fetch(`${stead.apiUrl}/auth/token`, { method: 'POST', body })
  const { access_token: token } = (await response.json()) as { access_token: string }
  return { token, clientId: client_id, clientSecret: client_secret }
}

async function hostileSites(stead: Stead, token: string): Promise<{ id: number; name: string }[]> {
  const as = { authorization: `Bearer ${token}` }
  const sites: { id: number; name: string }[] = []
  for (let n = 0; n < 8; n++) {
    const name = `hostile-${n}`
    const { status, body } = await stead.api('POST', '/v1/sites', { name }, as)
    if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`)
    await untilLive(stead, body.data.id, as)
    sites.push({ id: body.data.id, name })
  }
  return sites
}

async function untilLive(stead: Stead, id: number, as: Record<string, string>): Promise<void> {
  for (let attempt = 0; attempt < 240; attempt++) {
    const { body } = await stead.api('GET', `/v1/sites/${id}`, undefined, as)
    if (body.data?.state === 'live') return
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
  throw new Error(`site ${id} does not go live`)
}

async function putFiles(directory: string, site: number, attacks: readonly Attack[]): Promise<void> {
  for (const attack of attacks)
    for (const [path, content] of Object.entries(attack.files?.(site) ?? {})) {
      const file = join(directory, 'web', path)
      await mkdir(dirname(file), { recursive: true })
      await writeFile(file, content)
    }
}

/** A deleted site stays in the trash for a week, and its operation `site.purge` stays open for as long. */
async function operationThatStaysOpen(stead: Stead, token: string): Promise<number> {
  const as = { authorization: `Bearer ${token}` }
  const { body } = await stead.api('POST', '/v1/sites', { name: 'thrown-away' }, as)
  await untilLive(stead, body.data.id, as)
  await stead.api('DELETE', `/v1/sites/${body.data.id}`, undefined, as)
  for (let attempt = 0; attempt < 60; attempt++) {
    const list = await stead.api('GET', '/v1/operations?type=site.purge', undefined, as)
    if (list.body.data?.[0]) return list.body.data[0].id
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
  throw new Error('the trash has no operation')
}
