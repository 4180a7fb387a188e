/**
 * Stands in for a host. Its jobs get real site directories on a real disk, and a WordPress that is only a few lists.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Readable } from 'node:stream'
import { RunningIdentity } from '../../src/hosting/identity/folder.ts'
import type {
  ComparedPictures,
  OnPage,
  PagesToPicture,
  PagesToPictureAgain,
  TakenPictures,
} from '../../src/hosting/page-measure/take-pictures.ts'
import type { PooledSite, TaskOptions } from '../../src/hosting/php/pool/pool.ts'
import { PhpBusy, runtimesOf } from '../../src/hosting/php/runtime.ts'
import { PhpTaskError } from '../../src/hosting/php/task-error.ts'
import type { ListedPlugin, ListedTheme, TaskInput, TaskName, TaskOutput } from '../../src/hosting/php/tasks.ts'
import type { PluginPackages } from '../../src/hosting/plugin-directory/plugin-packages.ts'
import { createSqliteContent } from '../../src/hosting/site-database/sqlite-content.ts'
import { DirectoriesOnDisk } from '../../src/hosting/site-directories/directories-on-disk.ts'
import { SiteDirectories } from '../../src/hosting/site-directories/site-directories.ts'
import { specialiseDirectory } from '../../src/hosting/site-directories/specialise.ts'
import { SiteFiles } from '../../src/hosting/site-files/site-files.ts'
import { jobs, siteHooks } from '../../src/jobs.ts'
import { createSealer, type Sealer } from '../../src/platform/crypto/seal.ts'
import type { Database } from '../../src/platform/db/database.ts'
import { noLog } from '../../src/platform/log/log.ts'
import { secretOpener } from '../../src/platform/operations/rights-of-host.ts'
import type { HostServices } from '../../src/resources/kit/host-services.ts'
import { measuredPage } from '../../src/resources/performance-reports/performance-reports.fixture.ts'
import { findSite, writtenAddressOf } from '../../src/resources/sites/site.store.ts'
import { everyPlugin, type TestApi } from './api.ts'

/** The state of one site's WordPress, as the calls of jobs have left it. */
export interface FakeWordPress {
  readonly users: Map<string, string>
  readonly passwords: Map<string, string>
  movedTo: string | undefined
  flushes: number
  /** Option `stead_ext_license`; null when it was removed. */
  license: string | null | undefined
  /** Whether it has its own object cache. */
  hasDropIn: boolean
  /** Active plugins, by their files. */
  activePlugins: Set<string>
}

export interface FakeHost {
  readonly hostId: number
  readonly services: HostServices
  /** Opens the secrets of its operations. */
  readonly sealer: Sealer
  /** Sites whose PHP runs. */
  readonly running: Set<number>
  /** Sites whose PHP is held. */
  readonly held: Set<number>
  /** Sites whose SFTP connections were ended, in order. */
  readonly disconnected: number[]
  wordpress(siteId: number): FakeWordPress
  /** Gives a site a directory with content. */
  giveDirectory(siteId: number): Promise<string>
  /** Reads an option in the database of a site directory. */
  option(siteDirectory: string, name: string): string
  /** Reads the option `blogname` in the database of a site directory. */
  title(siteDirectory: string): string
  setTitle(siteDirectory: string, title: string): void
  /** Lists the names of all site directories on the disk. */
  directoriesOnDisk(): string[]
  close(): Promise<void>
}

const tables = `
  create table wp_options (option_name text, option_value text);
  insert into wp_options values ('siteurl', ''), ('home', ''), ('blogname', ''), ('admin_email', ''), ('db_version', 'old');
  create table wp_users (ID integer, user_login text, user_nicename text, display_name text, user_email text, user_url text,
    user_registered text, user_pass text);
  create table wp_usermeta (user_id integer, meta_key text, meta_value text);
  create table wp_posts (guid text, post_content text, post_date text, post_date_gmt text, post_modified text,
    post_modified_gmt text);
  create table wp_comments (comment_date text, comment_date_gmt text)`

/** Each plugin is a folder with a file that contains only its release number. */
function pluginsIn(siteDirectory: string, active: ReadonlySet<string>): ListedPlugin[] {
  const folder = join(siteDirectory, 'web/wp-content/plugins')
  const names = existsSync(folder) ? readdirSync(folder) : []
  return names.map((name) => {
    const file = `${name}/${name}.php`
    const version = readFileSync(join(folder, file), 'utf8')
    const status = active.has(file) ? 'active' : 'inactive'
    return { ...{ file, name, title: name, description: '', version, status }, update: 'none', updateVersion: null }
  })
}

/** Each theme is a folder with a file that contains only its release number. */
function themesIn(siteDirectory: string): ListedTheme[] {
  const folder = join(siteDirectory, 'web/wp-content/themes')
  const names = existsSync(folder) ? readdirSync(folder) : []
  return names.map((name) => {
    const version = readFileSync(join(folder, name, `${name}.php`), 'utf8')
    return { ...{ name, title: name, version, isActive: false }, updateVersion: null, isAutomatic: false }
  })
}

/** Packages whose addresses end with a name and a release: `…/forms.2.0.zip`. */
const pluginPackages = (dataDir: string): PluginPackages => ({
  async withPackage(key, { url }, use) {
    const path = join(dataDir, key)
    const [, folder = '', version = ''] = /\/([a-z-]+)\.([\d.]+)\.zip$/.exec(url) ?? []
    await rm(path, { recursive: true, force: true })
    await mkdir(join(path, folder), { recursive: true })
    await writeFile(join(path, folder, `${folder}.php`), version)
    return use({ path, folder })
  },
})

export interface FakeHostOptions {
  /** Default: the first in the database. */
  readonly asked?: number
  /** Default: with the login of a control. */
  readonly database?: Database | undefined
  /** Parent of its folder. Default: the system's temporary folder. */
  readonly below?: string | undefined
  /** Default: one of its own. */
  readonly sealer?: Sealer
}

export async function fakeHost(
  { database: ofControl, config, backups }: TestApi,
  { asked, database = ofControl, below = tmpdir(), sealer = createSealer(Buffer.alloc(32, 1)) }: FakeHostOptions = {},
): Promise<FakeHost> {
  const dataDir = await mkdtemp(join(below, 'stead-jobs-'))
  const hostId =
    asked ?? (await ofControl.read.selectFrom('hosts').select('id').orderBy('id').executeTakeFirstOrThrow()).id
  const template = { path: join(dataDir, 'template'), coreVersion: '6.8', corePath: '/core', install: 'wordpress' }
  await mkdir(join(template.path, 'web'), { recursive: true })
  for (const shared of ['wp-admin/index.php', 'wp-includes/load.php']) {
    await mkdir(join(dataDir, 'cores/6.8', dirname(shared)), { recursive: true })
    await writeFile(join(dataDir, 'cores/6.8', shared), '<?php')
  }
  await mkdir(join(template.path, 'private/database'), { recursive: true })
  await writeFile(join(template.path, 'web/wp-config.php'), '<?php')
  for (const folder of ['wp-admin', 'wp-includes']) await mkdir(join(dataDir, 'cores/6.8', folder), { recursive: true })
  await writeFile(join(dataDir, 'cores/6.8/wp-includes/version.php'), '<?php')
  await writeFile(join(dataDir, 'cores/6.8/index.php'), '<?php')
  const content = new DatabaseSync(join(template.path, 'private/database/site.sqlite'))
  content.exec(tables)
  content.close()
  const identity = new RunningIdentity(dataDir, {
    installation: 'inst',
    host: 'me',
    epoch: 1,
    lastHome: 0,
    firstUser: 300_000,
  })
  await identity.write()
  const folders = new DirectoriesOnDisk({ dataDir, identity, isRoot: process.getuid?.() === 0, log: noLog })
  const siteDirectories = new SiteDirectories({ database, hostId, folders, identity, prepared: 0, log: noLog })
  await siteDirectories.reconcile({ isTakenOver: false })

  const running = new Set<number>()
  const held = new Set<number>()
  const disconnected: number[] = []
  const sites = new Map<number, FakeWordPress>()
  const wordpress = (siteId: number): FakeWordPress => {
    const known = sites.get(siteId) ?? {
      users: new Map(),
      passwords: new Map(),
      movedTo: undefined,
      flushes: 0,
      license: undefined,
      hasDropIn: false,
      activePlugins: new Set(),
    }
    sites.set(siteId, known)
    return known
  }
  const optionOf = (siteDirectory: string, name: string): string => {
    const opened = new DatabaseSync(join(siteDirectory, 'private/database/site.sqlite'), { readOnly: true })
    const row = opened.prepare('select option_value as value from wp_options where option_name = ?').get(name)
    opened.close()
    return String(row?.value)
  }
  const title = (siteDirectory: string): string => optionOf(siteDirectory, 'blogname')
  const setTitle = (siteDirectory: string, text: string): void => {
    const opened = new DatabaseSync(join(siteDirectory, 'private/database/site.sqlite'))
    opened.prepare("update wp_options set option_value = ? where option_name = 'blogname'").run(text)
    opened.close()
  }

  type Answers = { [Name in TaskName]?: (site: PooledSite, input: TaskInput<Name>) => TaskOutput<Name> }
  const answers: Answers = {
    'check-copy': ({ siteDirectory }) => ({ home: optionOf(siteDirectory, 'home') }),
    // checks only for one word of the tests
    'check-php': ({ siteDirectory }) => {
      const text = readFileSync(join(siteDirectory, 'private/tmp/check.php'), 'utf8')
      return { fault: text.includes('broken') ? { message: 'syntax error, unexpected token', line: 2 } : null }
    },
    'check-site': (site) => ({ title: title(site.siteDirectory), page: null }),
    'upgrade-blogs': (_site, { after }) => ({ last: after, upgraded: 0, left: 0 }),
    'upgrade-database': ({ siteDirectory }) => {
      const opened = new DatabaseSync(join(siteDirectory, 'private/database/site.sqlite'))
      opened.exec("update wp_options set option_value = 'upgraded' where option_name = 'db_version'")
      opened.close()
      return { upgraded: true }
    },
    'use-http': ({ siteDirectory }) => {
      const opened = new DatabaseSync(join(siteDirectory, 'private/database/site.sqlite'))
      const text =
        "update wp_options set option_value = replace(option_value, 'https://', 'http://') where option_name in ('home', 'siteurl')"
      const { changes } = opened.prepare(text).run()
      opened.close()
      return { changed: Number(changes) > 0 }
    },
    'site-title': ({ siteDirectory, address }) => ({
      title: title(siteDirectory),
      home: `http://${address}`,
      siteurl: `http://${address}`,
      version: '6.8',
    }),
    'newer-than': (_site, { since }) => ({
      counts: [{ table: 'wp_posts', kind: 'post', new: 2, changed: 1 }],
      newest: [{ table: 'wp_posts', kind: 'post', id: 7, title: `newer than ${since}`, at: '2026-01-31 09:30:00' }],
    }),
    'count-rows': (_site) => ({
      tables: [
        { table: 'wp_options', rows: 5 },
        { table: 'wp_posts', rows: 3 },
      ],
    }),
    'make-network': () => ({ networkId: 1, blogId: 1, path: '/', isSubdomainInstall: false }),
    'replace-address': ({ siteId }, { to }) => {
      wordpress(siteId).movedTo = to
      return { rows: 1 }
    },
    'flush-object-cache': ({ siteId }) => {
      wordpress(siteId).flushes++
      return { flushed: true, dropIn: false }
    },
    'reset-password': ({ siteId }, input) => {
      const login = 'login' in input ? input.login : input.email
      wordpress(siteId).passwords.set(login, input.password)
      return { id: 1, login, email: 'x@example.com', dropIn: wordpress(siteId).hasDropIn }
    },
    'write-license': ({ siteId }, { key }) => {
      wordpress(siteId).license = key
      return { dropIn: wordpress(siteId).hasDropIn }
    },
    'ensure-administrator': ({ siteId }, { email, login }) => {
      const { users } = wordpress(siteId)
      const created = !users.has(email)
      if (created) users.set(email, login)
      return { login: users.get(email) as string, created }
    },
    'reset-administrator': ({ siteId }, { email, login, password }) => {
      const { users, passwords, hasDropIn } = wordpress(siteId)
      const created = !users.has(email)
      if (created) users.set(email, login)
      passwords.set(login, password)
      return { login: users.get(email) as string, created, dropIn: hasDropIn }
    },
    'list-plugins': ({ siteId, siteDirectory }) => ({
      plugins: pluginsIn(siteDirectory, wordpress(siteId).activePlugins),
      themes: themesIn(siteDirectory),
    }),
    'upgrade-plugin': ({ siteId, siteDirectory }, { source }) => {
      const [folder = ''] = readdirSync(join(siteDirectory, 'web/wp-content', source))
      const place = join(siteDirectory, 'web/wp-content/plugins', folder)
      rmSync(place, { recursive: true, force: true })
      mkdirSync(dirname(place), { recursive: true })
      renameSync(join(siteDirectory, 'web/wp-content', source, folder), place)
      rmSync(join(siteDirectory, 'web/wp-content', source), { recursive: true })
      const file = `${folder}/${folder}.php`
      const version = readFileSync(join(place, `${folder}.php`), 'utf8')
      return { file, version, isActive: wordpress(siteId).activePlugins.has(file) }
    },
    'switch-plugin': ({ siteId }, { file, isActive }) => {
      const { activePlugins } = wordpress(siteId)
      if (isActive) activePlugins.add(file)
      else activePlugins.delete(file)
      return { isActive }
    },
    'delete-plugin': ({ siteId, siteDirectory }, { file }) => {
      if (dirname(file) === 'stuck') throw new PhpTaskError('its files could not be deleted')
      wordpress(siteId).activePlugins.delete(file)
      rmSync(join(siteDirectory, 'web/wp-content/plugins', dirname(file)), { recursive: true })
      return { deleted: true }
    },
    'newest-pages': () => ({ pages: [{ kind: 'page', path: '/about/' }] }),
    'upgrade-theme': ({ siteDirectory }, { source, name }) => {
      const staged = join(siteDirectory, 'web/wp-content', source)
      const place = join(siteDirectory, 'web/wp-content/themes', name)
      rmSync(place, { recursive: true, force: true })
      renameSync(join(staged, name), place)
      rmSync(staged, { recursive: true })
      return { version: readFileSync(join(place, `${name}.php`), 'utf8') }
    },
    'make-shop-pages': () => ({ pages: 4 }),
    'set-active-plugins': ({ siteId }, { active }) => {
      wordpress(siteId).activePlugins = new Set(active)
      return { dropIn: wordpress(siteId).hasDropIn }
    },
    'front-page': ({ siteId, siteDirectory }) => {
      const { activePlugins } = wordpress(siteId)
      const broken = pluginsIn(siteDirectory, activePlugins).find(
        ({ version, file }) => version === '6.6.6' && activePlugins.has(file),
      )
      if (broken) throw new PhpTaskError(`Uncaught Error in ${broken.file}`)
      const refused = pluginsIn(siteDirectory, activePlugins).some(
        ({ version, file }) => version === '5.5.5' && activePlugins.has(file),
      )
      return { status: 200, bytes: 1, databaseErrors: refused ? ['near "(": syntax error'] : [] }
    },
    'inner-page': ({ siteId, siteDirectory }, { page }) => {
      const { activePlugins } = wordpress(siteId)
      const broken = pluginsIn(siteDirectory, activePlugins).find(({ version }) => version === '7.7.7')
      if (broken && page === 'admin' && activePlugins.has(broken.file))
        throw new PhpTaskError(`Uncaught Error in ${broken.file}`)
      return { status: 200, isWhole: true, isRedirect: false, databaseErrors: [] }
    },
    'delete-user': ({ siteId }, { email }) => ({ deleted: wordpress(siteId).users.delete(email), heir: 'admin' }),
  }
  const pool = {
    async runTask(site: PooledSite, name: TaskName, input: never, { whileHeld = false }: TaskOptions = {}) {
      if (held.has(site.siteId) && !whileHeld) throw new PhpBusy('another operation is using the site')
      if (!held.has(site.siteId) && whileHeld)
        throw new Error(`${name} is for a site that is closed, and this one is not`)
      running.add(site.siteId)
      const answer = answers[name]
      if (!answer) throw new Error(`the WordPress of this test knows no task ${name}`)
      return answer(site, input)
    },
    servesVisitors: () => false,
    async startSpare(site: PooledSite) {
      return { runTask: async (name: TaskName, input: never) => answers[name]?.(site, input), async stop() {} }
    },
    async handle(site: PooledSite) {
      running.add(site.siteId)
      return { status: 200, headers: [], body: Readable.from([Buffer.from(title(site.siteDirectory))]) }
    },
    async stop(siteId: number) {
      running.delete(siteId)
    },
    async hold(siteId: number) {
      held.add(siteId)
      running.delete(siteId)
    },
    release(siteId: number) {
      held.delete(siteId)
    },
    async restart() {},
    between: <Result>(_siteId: number, work: () => Promise<Result>) => work(),
  }
  const services = {
    siteHooks,
    config: { ...config, dataDir },
    hostId,
    database,
    openSecret: secretOpener({ database, sealer, hostId, definitions: jobs }),
    edgeKey: 'key-of-the-edge',
    backups,
    siteDirectories,
    spares: { directoryIds: () => [], take: async () => undefined },
    pool,
    firstPages: { keep: (_siteId: number, make: () => Promise<unknown>) => make() },
    siteDatabase: createSqliteContent({ pool, sandbox: config.sandbox }),
    pluginDirectory: everyPlugin,
    pluginPackages: pluginPackages(dataDir),
    siteFiles: new SiteFiles({ quotaOf: async () => undefined, keepFreeBytes: 0 }),
    template: async () => template,
    databaseKindFor: () => 'sqlite',
    hasWasm: true,
    containment: () => ({ runtimes: runtimesOf(() => 'wasm') }),
    ensureCore: async () => {},
    measurePage: async () => measuredPage,
    comparePictures: async () => 0.5,
    takePictures: async ({ pages }: PagesToPicture, onPage: OnPage<TakenPictures>) => {
      for (const { page, widths } of pages)
        await onPage({
          page,
          errors: [],
          pictures: widths.map((width) => ({ width, first: '/9j/', second: '/9j/' })),
        })
    },
    comparePicturesAfter: async ({ pages }: PagesToPictureAgain, onPage: OnPage<ComparedPictures>) => {
      for (const { page, widths } of pages)
        await onPage({ page, errors: [], pictures: widths.map((width) => ({ width, different: 0 })) })
    },
    cores: {
      offers: async () => [{ version: '6.9', kind: 'stable', phpVersion: '8.1', isOffered: true }],
      async ensure(version: string) {
        await mkdir(join(dataDir, 'cores', version, 'wp-includes'), { recursive: true })
        await writeFile(join(dataDir, 'cores', version, 'index.php'), `<?php // of ${version}`)
      },
    },
    corePath: () => '/core',
    async hostedSite(siteId: number) {
      const [site, directory] = [await findSite(database.read, siteId), await siteDirectories.ofSite(siteId)]
      const address = await writtenAddressOf(database.read, siteId)
      if (!site || !directory || !address) return undefined
      const { phpVersion, isInSafeMode } = site
      return {
        siteId,
        siteDirectory: directory.path,
        corePath: '/core',
        phpVersion,
        uid: directory.uid,
        address,
        isInSafeMode,
      }
    },
    async endSftp(siteId: number) {
      disconnected.push(siteId)
      return 0
    },
    async keepClosed() {},
    refill() {},
  } as unknown as HostServices

  return {
    hostId,
    services,
    sealer,
    running,
    held,
    disconnected,
    wordpress,
    option: optionOf,
    title,
    setTitle,
    async giveDirectory(siteId) {
      const directory = await siteDirectories.claim(siteId, template, [])
      await specialiseDirectory(directory.path, template.path, directory.uid, {
        address: 'old.example.com',
        title: 'old',
        adminUsername: 'admin',
        adminEmail: 'admin@example.com',
        environmentType: 'production',
        constants: {},
        now: 0,
      })
      return directory.path
    },
    directoriesOnDisk: () => readdirSync(join(dataDir, 'sites')),
    close: () => rm(dataDir, { recursive: true }),
  }
}
