import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { databaseConstantsOf, wpConfig } from '../../php/wp-config.ts'
import { PlatformKeeper } from './keep-platform.ts'
import { layLayer } from './lay-out-directory.ts'

describe('what a site needs to reach its database', () => {
  let folder: string
  let siteDirectory: string
  let isOnServer: boolean
  let keeper: PlatformKeeper
  const web = (path: string) => join(siteDirectory, 'web', path)
  const plugin = 'wp-content/mu-plugins/sqlite-database-integration'
  const mend = () => keeper.mend({ siteDirectory, uid: null })

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
    })
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  it('stays as it is where nothing is missing', async () => {
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
  ])('is put back when %s', async (_what, harm) => {
    const before = await readFile(web('wp-content/db.php'), 'utf8')
    await harm()
    expect(await mend()).toEqual([expect.stringContaining('wp-content/db.php')])
    expect(await readFile(web('wp-content/db.php'), 'utf8')).toBe(before)
    expect(await mend()).toEqual([])
  })

  it('is put back in place of a link, and nothing is written through it', async () => {
    const outside = join(folder, 'outside.php')
    await writeFile(outside, 'outside')
    await rm(web('wp-content/db.php'))
    await symlink(outside, web('wp-content/db.php'))
    expect(await mend()).toHaveLength(1)
    expect(await readFile(outside, 'utf8')).toBe('outside')
  })

  it('says where the database is, whatever the site has written there', async () => {
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

  it('gives an older wp-config.php the comment before which plugins put their constants', async () => {
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

  it('has no drop-in where the database is on a server, and is not looked for where WordPress is not yet', async () => {
    isOnServer = true
    await rm(web('wp-content/db.php'))
    expect(await mend()).toEqual([])
    isOnServer = false
    await rm(web('wp-config.php'))
    expect(await mend()).toEqual([])
  })
})
