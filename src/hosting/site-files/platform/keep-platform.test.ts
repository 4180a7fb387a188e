import { mkdir, mkdtemp, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { databaseConstantsOf, wpConfig } from '../../php/wp-config.ts'
import { type InstalledWordPress, PlatformKeeper } from './keep-platform.ts'
import { layLayer } from './lay-out-directory.ts'

describe('the files that a site needs to reach its database', () => {
  let folder: string
  let siteDirectory: string
  let isOnServer: boolean
  let keeper: PlatformKeeper
  const web = (path: string) => join(siteDirectory, 'web', path)
  const plugin = 'wp-content/mu-plugins/sqlite-database-integration'
  let installed: InstalledWordPress
  const mend = (isInSafeMode = false) => keeper.mend({ siteDirectory, uid: null, isInSafeMode })
  const config = () => readFile(web('wp-config.php'), 'utf8')

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'stead-keeper-'))
    siteDirectory = join(folder, 'home')
    isOnServer = false
    await mkdir(web('wp-content'), { recursive: true })
    await layLayer(join(siteDirectory, 'web'))
    await writeFile(
      web('wp-config.php'),
      wpConfig({ environmentType: 'production' }, (size) => Buffer.alloc(size)),
    )
    keeper = new PlatformKeeper({
      folder: join(folder, 'platform'),
      isOnServer: () => isOnServer,
      constants: async () => databaseConstantsOf(),
      installed: async () => installed,
    })
    installed = { prefixes: ['one_', 'wp_'], constants: { WP_ENVIRONMENT_TYPE: 'staging', COOKIE_DOMAIN: null } }
    await mkdir(join(siteDirectory, 'private'))
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  it('stay as they are when nothing is missing', async () => {
    await writeFile(web('wp-content/own.php'), '<?php')
    expect(await mend()).toEqual([])
    expect(await readFile(web('wp-content/own.php'), 'utf8')).toBe('<?php')
  })

  it.each([
    ['the drop-in was removed', () => rm(web('wp-content/db.php'))],
    ['the drop-in is of a plugin', () => writeFile(web('wp-content/db.php'), '<?php // mine')],
    ['a file of the plugin is gone', () => rm(web(`${plugin}/wp-includes/sqlite/db.php`))],
    ['a file of the plugin was emptied', () => writeFile(web(`${plugin}/load.php`), '')],
    ['the whole plugin is gone', () => rm(web('wp-content/mu-plugins'), { recursive: true })],
  ])('are restored when %s', async (_what, harm) => {
    const before = await readFile(web('wp-content/db.php'), 'utf8')
    await harm()
    expect(await mend()).toEqual([expect.stringContaining('wp-content/db.php')])
    expect(await readFile(web('wp-content/db.php'), 'utf8')).toBe(before)
    expect(await mend()).toEqual([])
  })

  it('are restored in place of a link, without writing through it', async () => {
    const outside = join(folder, 'outside.php')
    await writeFile(outside, 'outside')
    await rm(web('wp-content/db.php'))
    await symlink(outside, web('wp-content/db.php'))
    expect(await mend()).toHaveLength(1)
    expect(await readFile(outside, 'utf8')).toBe('outside')
  })

  it('states where the database is, whatever the site has written there', async () => {
    const config = await readFile(web('wp-config.php'), 'utf8')
    await writeFile(
      web('wp-config.php'),
      config.replace(/^define\('DB_DIR'.*\n/m, '').replace('site.sqlite', 'mine.sqlite'),
    )
    expect(await mend()).toEqual([expect.stringContaining('wp-config.php')])
    const mended = await readFile(web('wp-config.php'), 'utf8')
    expect(mended).toContain("define('DB_DIR', '/private/database/');")
    expect(mended).toContain("define('DB_FILE', 'site.sqlite');")
  })

  it('adds the comment before which plugins put their constants to an older wp-config.php', async () => {
    const config = await readFile(web('wp-config.php'), 'utf8')
    const older = config.replace(/^\/\*\*.*\n/gm, '')
    await writeFile(web('wp-config.php'), older)
    expect(await mend()).toEqual([])
    const after = await readFile(web('wp-config.php'), 'utf8')
    expect(after).toContain(
      "/** Sets up WordPress vars and included files. */\nrequire_once ABSPATH . 'wp-settings.php';",
    )
    await writeFile(web('wp-config.php'), '<?php require "elsewhere.php";\n$table_prefix = 1;\n')
    await mend()
    expect(await readFile(web('wp-config.php'), 'utf8')).toContain('elsewhere.php')
  })

  it('reports once that a .user.ini has no effect, and lists its settings', async () => {
    const text = "; of a firewall\nauto_prepend_file = '/wordpress/waf.php'\n upload_max_filesize=64M\n"
    await writeFile(web('.user.ini'), text)
    const said = expect.stringMatching(/^\.user\.ini has no effect.*: auto_prepend_file, upload_max_filesize\. /)
    expect(await mend()).toEqual([said])
    expect(await mend()).toEqual([])
    await utimes(web('.user.ini'), 1, 1)
    expect(await mend()).toEqual([said])
    await writeFile(web('.user.ini'), '; nothing\n')
    expect(await mend()).toEqual([])
  })

  it('needs no drop-in when the database is on a server, and looks for none before WordPress is installed', async () => {
    isOnServer = true
    await rm(web('wp-content/db.php'))
    expect(await mend()).toEqual([])
    isOnServer = false
    await rm(web('wp-config.php'))
    installed = { prefixes: [], constants: {} }
    expect(await mend()).toEqual([])
  })

  it.each([
    ['is gone', () => rm(web('wp-config.php'))],
    ['is empty', () => writeFile(web('wp-config.php'), '\n')],
    [
      'is a link',
      async () => {
        await rm(web('wp-config.php'))
        await symlink('/etc/passwd', web('wp-config.php'))
      },
    ],
  ])('gives a site whose wp-config.php %s a new one for the tables that it has', async (_what, harm) => {
    await harm()
    expect(await mend()).toEqual([expect.stringContaining('wp-config.php was missing')])
    expect(await config()).toContain("$table_prefix = 'one_';")
    expect(await config()).toContain("define('DB_FILE', 'site.sqlite');")
    expect(await config()).toContain("define('WP_ENVIRONMENT_TYPE', 'staging');")
    expect(await config()).not.toContain('COOKIE_DOMAIN')
    expect(await mend()).toEqual([])
  })

  it('replaces a wp-config.php that stops WordPress in safe mode only, and keeps its constants', async () => {
    const broken = `${await config()}}\ndefine( 'MINE', "text" );\ndefine('WP_CONTENT_DIR', '/old');\n// define('OUT', 1);\n`
    await writeFile(web('wp-config.php'), broken.replace(/^define\('AUTH_KEY'.*$/m, "define('AUTH_KEY', 'it\\'s');"))
    keeper.distrustConfig(siteDirectory)
    expect(await mend()).toEqual([])
    expect(await mend(true)).toEqual([])
    keeper.distrustConfig(siteDirectory)
    expect(await mend(true)).toEqual([expect.stringContaining('private/wp-config.broken.php')])
    const after = await config()
    expect(after).toContain("$table_prefix = 'wp_';")
    expect(after).toContain("define('MINE', 'text');")
    expect(after).toContain("define('AUTH_KEY', 'it\\'s');")
    for (const gone of ['}\n', 'WP_CONTENT_DIR', 'OUT']) expect(after.replace(/if \([^}]*\}/, '')).not.toContain(gone)
    expect(await readFile(join(siteDirectory, 'private/wp-config.broken.php'), 'utf8')).toContain("'/old'")
    expect(await mend(true)).toEqual([])
  })
})
