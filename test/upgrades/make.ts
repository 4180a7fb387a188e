/**
 * Makes a data folder with the program of an older commit, and packs it for `old-data-folders.test.ts`:
 * `node test/upgrades/make.ts <commit> [checkout]`. Without a checkout whose dependencies are installed it makes one.
 * Needs root (site users) and a source of WordPress. Takes minutes.
 */
import { execFile, spawn } from 'node:child_process'
import { chown, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { descendantsOf } from '../support/processes.ts'
import { freePort, until } from '../support/stead.ts'
import { visit } from '../support/visit.ts'
import { foldersDir, type OldFacts, packFolder } from './old-folder.ts'

const run = promisify(execFile)
const repository = join(import.meta.dirname, '../..')
const UPLOAD = { path: '/wp-content/uploads/kept.txt', text: 'An upload from before the upgrade' }
const COMMENT = 'A comment from before the upgrade'
const NOTE = { subject: 'Contract', body: 'Renew the contract in May' }
const TAG = 'clients'
const COLLABORATOR = { email: 'dev@example.org', roles: ['manage_notes', 'sftp_access', 'wp_access'] }

/** Shows all comments, approved or not. The themes of WordPress are not kept in the repository. */
const THEME = `<!doctype html><title><?php bloginfo('name'); ?></title><?php wp_head();
foreach (get_comments(['status' => 'all']) as $comment) echo '<p>', esc_html($comment->comment_content), '</p>';
wp_footer();`

interface OldStead {
  readonly dataDir: string
  readonly edgePort: number
  /** The `data` of the answer, or undefined if the old version refuses. */
  // biome-ignore lint/suspicious/noExplicitAny: what the old version answers has no type here
  call(method: string, path: string, body?: unknown): Promise<any>
}

const [commit = '', checkout] = process.argv.slice(2)
await main()

async function main(): Promise<void> {
  const { stdout } = await run('git', ['log', '-1', '--format=%cs-%h', `--abbrev=8`, commit], { cwd: repository })
  const name = stdout.trim()
  const work = await mkdtemp(join(tmpdir(), 'stead-old-'))
  await run('chmod', ['711', work])
  const program = checkout ?? join(work, 'program')
  try {
    if (!checkout) {
      await run('git', ['worktree', 'add', '--detach', program, commit], { cwd: repository })
      await run('npm', ['ci', '--no-progress'], { cwd: program, maxBuffer: 1 << 26 })
    }
    await makeFolder(program, join(work, 'data'), name)
  } finally {
    if (!checkout) await run('git', ['worktree', 'remove', '--force', program], { cwd: repository })
    await rm(work, { recursive: true, force: true })
  }
}

async function makeFolder(program: string, dataDir: string, name: string): Promise<void> {
  const { old, kill } = await startOld(program, dataDir)
  let facts: OldFacts
  try {
    facts = { commit: name, ...(await populate(old)) }
  } finally {
    // in the middle of a creation, as a power cut would
    kill()
  }
  const file = join(foldersDir, `${name}.tar.zst`)
  await packFolder(dataDir, facts, file)
  console.log(JSON.stringify(facts, undefined, 2), `\n${file}: ${(await stat(file)).size} bytes`)
}

async function startOld(program: string, dataDir: string): Promise<{ old: OldStead; kill: () => void }> {
  const ports = { api: await freePort(), edge: await freePort() }
  // an older version refuses a setting that it does not know
  const known = await run('grep', ['-rhoE', 'STEAD_[A-Z_]+', 'src'], { cwd: program, maxBuffer: 1 << 26 })
  const settings = Object.entries({
    STEAD_DATA_DIR: dataDir,
    STEAD_API_LISTEN: `127.0.0.1:${ports.api}`,
    STEAD_EDGE_LISTEN: `127.0.0.1:${ports.edge}`,
    STEAD_EDGE_TLS_LISTEN: `127.0.0.1:${await freePort()}`,
    STEAD_SFTP_LISTEN: `127.0.0.1:${await freePort()}`,
    STEAD_DNS_LISTEN: `127.0.0.1:${await freePort()}`,
    STEAD_SPARE_SITES: '0',
    STEAD_RATE_LIMIT: '0',
    STEAD_SCHEDULED_BACKUPS: 'false',
    STEAD_PERFORMANCE_REPORT_HOURS: '0',
  }).filter(([setting]) => known.stdout.split('\n').includes(setting))
  const child = spawn(process.execPath, ['bin/stead.js', 'serve'], {
    cwd: program,
    env: { ...process.env, ...Object.fromEntries(settings) },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const apiUrl = `http://127.0.0.1:${ports.api}`
  await until('the old version is ready', async () => {
    if (child.exitCode !== null) throw new Error('the old version has ended')
    return (await fetch(`${apiUrl}/readyz`).catch(() => undefined))?.ok
  })
  const token = await tokenOf(dataDir, apiUrl)
  const call: OldStead['call'] = async (method, path, body) => {
    const reply = await fetch(`${apiUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body ? { 'content-type': 'application/json' } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    const text = await reply.text()
    if (reply.status >= 400) console.error(`${method} ${path}: ${reply.status} ${text.slice(0, 300)}`)
    return reply.status < 300 && text ? JSON.parse(text).data : undefined
  }
  const kill = () => {
    const all = descendantsOf(child.pid as number)
    for (const pid of [child.pid as number, ...all.map((each) => each.pid)]) process.kill(pid, 'SIGKILL')
  }
  return { old: { dataDir, edgePort: ports.edge, call }, kill }
}

async function tokenOf(dataDir: string, apiUrl: string): Promise<string> {
  const { client_id, client_secret } = JSON.parse(await readFile(join(dataDir, 'credentials.json'), 'utf8'))
  const form = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret })
  const reply = await fetch(`${apiUrl}/auth/token`, { method: 'POST', body: form })
  return ((await reply.json()) as { access_token: string }).access_token
}

async function populate(old: OldStead): Promise<Omit<OldFacts, 'commit'>> {
  const id: number = (await old.call('POST', '/v1/sites', { name: 'shop' })).id
  const site = await until('the site is live', async () => {
    const found = await old.call('GET', `/v1/sites/${id}`)
    return found.state === 'live' && found
  })
  await writeContent(old)
  const shop = { host: 'shop.localhost', port: old.edgePort }
  const body = new URLSearchParams({ comment: COMMENT, author: 'Ada', email: 'ada@example.org', comment_post_ID: '1' })
  await visit({ ...shop, path: '/wp-comments-post.php', method: 'POST', body })
  const seen = await visit({ ...shop, path: '/?seen' })
  if (!seen.text.includes(COMMENT)) throw new Error(`The comment is not there: ${seen.text.slice(-1500)}`)
  await old.call('POST', `/v1/sites/${id}/notes`, NOTE)
  await old.call('POST', `/v1/sites/${id}/tags`, { tag_names: [TAG] })
  await old.call('POST', `/v1/sites/${id}/collaborators`, COLLABORATOR)
  const webhook = await old.call('POST', '/v1/webhooks', { url: 'https://hooks.example.org/stead' })
  const domain = await old.call('POST', `/v1/sites/${id}/domains`, { name: 'www.example.org' })
  const backups = await backUp(old, id)
  const sftp = await sftpUser(old, id)
  const unfinished = await old.call('POST', '/v1/sites', { name: 'unfinished' })
  return {
    cmsVersion: /\d+(?:\.\d+)+/.exec(site.cmsVersion ?? site.cms_version)?.[0] as string,
    site: { id, url: site.url },
    comment: COMMENT,
    upload: UPLOAD,
    note: NOTE,
    tag: TAG,
    collaborator: COLLABORATOR,
    ...(domain && { domain: 'www.example.org' }),
    ...(webhook && { webhook: { url: 'https://hooks.example.org/stead' } }),
    ...(backups && { backups }),
    ...(sftp && { sftp }),
    unfinished: { id: unfinished.id },
  }
}

/** Writes an upload and a theme of its own into the site, as its users would. */
async function writeContent({ dataDir, edgePort }: OldStead): Promise<void> {
  const records = new DatabaseSync(join(dataDir, 'stead.db'), { readOnly: true })
  const { home } = records.prepare('select id as home from site_homes where site_id is not null').get() as {
    home: number
  }
  records.close()
  const directory = join(dataDir, 'sites', `h${home}`)
  const content = join(directory, 'web/wp-content')
  const { uid, gid } = await stat(content)
  const write = async (path: string, text: string) => {
    await writeFile(path, text)
    await chown(path, uid, gid)
  }
  await write(join(directory, 'web', UPLOAD.path), UPLOAD.text)
  await mkdir(join(content, 'themes/plain'))
  await chown(join(content, 'themes/plain'), uid, gid)
  await write(join(content, 'themes/plain/style.css'), '/* Theme Name: Plain */')
  await write(join(content, 'themes/plain/index.php'), THEME)
  // by PHP: it does not see what another program writes into its database
  await write(
    join(directory, 'web/switch.php'),
    "<?php require 'wp-load.php'; switch_theme('plain'); echo get_stylesheet();",
  )
  const switched = await visit({ host: 'shop.localhost', port: edgePort, path: '/switch.php' })
  if (switched.text !== 'plain') throw new Error(`The theme was not switched: ${switched.text}`)
  await rm(join(directory, 'web/switch.php'))
  for (const kind of ['themes', 'plugins'])
    for (const name of await readdir(join(content, kind)))
      if (name !== 'plain') await rm(join(content, kind, name), { recursive: true })
}

async function backUp(old: OldStead, site: number): Promise<OldFacts['backups']> {
  for (const backup_type of ['fs', 'db'])
    if (!(await old.call('POST', `/v1/sites/${site}/ondemand-backups`, { backup_type }))) return undefined
  return until('both backups are complete', async () => {
    const found: { id: number | null; type: string }[] = await old.call('GET', `/v1/sites/${site}/ondemand-backups`)
    // without an ID until it is complete
    return (
      found.length === 2 &&
      found.every(({ id }) => id !== null) &&
      found.map(({ id, type }) => ({ id: id as number, type }))
    )
  })
}

async function sftpUser(old: OldStead, site: number): Promise<OldFacts['sftp']> {
  const [found] = (await old.call('GET', `/v1/sites/${site}/ftp`)) ?? []
  if (!found) return undefined
  const password = await old.call('POST', `/v1/sites/${site}/ftp/password/${found.username}`, {})
  return password && { username: found.username, password }
}
