import { existsSync } from 'node:fs'
import { chmod, copyFile, cp, lchown, lstat, mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { unpackZip } from '../archives/unpack-zip.ts'
import { inFolder } from './open-inside.ts'
import { databaseDropIn, platformFiles, sqlitePlugin } from './platform-files.ts'
import { removeTree } from './remove-tree.ts'

/** Of the SQLite plugin, which comes with Stead. */
const pluginLimits = { maxEntries: 5_000, maxBytes: 64 << 20 }

/** What a home is made of. */
export interface HomeParts {
  /** An unpacked WordPress. */
  readonly corePath: string
  /** The zip of the SQLite plugin. */
  readonly sqlitePluginZip: string
  /** Text of the site's wp-config.php. */
  readonly wpConfig: string
}

/**
 * Lays a home out in a folder that does not exist yet: `web/` with core's root files as copies, empty `wp-admin` and
 * `wp-includes` (core's own are laid over them), `wp-content` with core's themes and plugins and the SQLite drop-in;
 * `private/` with empty places for the database and temporary files.
 * @throws when the folder exists, or the core or the zip is not what it should be
 */
export async function layOutHome(homePath: string, parts: HomeParts): Promise<void> {
  const web = join(homePath, 'web')
  await mkdir(homePath, { mode: 0o700 })
  await mkdir(join(web, 'wp-admin'), { recursive: true })
  await mkdir(join(web, 'wp-includes'))
  for (const folder of ['database', 'tmp']) await mkdir(join(homePath, 'private', folder), { recursive: true })
  for (const entry of await readdir(parts.corePath, { withFileTypes: true }))
    if (entry.isFile()) await copyFile(join(parts.corePath, entry.name), join(web, entry.name))
  await cp(join(parts.corePath, 'wp-content'), join(web, 'wp-content'), {
    recursive: true,
    preserveTimestamps: true,
    filter: async (source) => basename(source) !== '.htaccess',
  })
  await mkdir(join(web, 'wp-content/uploads'), { recursive: true })
  await mkdir(join(web, sqlitePlugin), { recursive: true })
  await unpackZip(parts.sqlitePluginZip, join(web, sqlitePlugin), { limits: pluginLimits, stripFolders: 1 })
  await writeDropIn(web)
  await writeFile(join(web, 'wp-config.php'), parts.wpConfig, { mode: 0o640 })
  await chmod(homePath, 0o700)
}

/** Gives a folder and all below it to a user and group; never follows links. */
export async function giveTo(uid: number, path: string): Promise<void> {
  await lchown(path, uid, uid)
  for (const entry of await readdir(path, { withFileTypes: true })) {
    const child = join(path, entry.name)
    if (entry.isDirectory()) await giveTo(uid, child)
    else await lchown(child, uid, uid)
  }
}

/** What a site whose database is on a server has not. */
export async function removePlatformFiles(homePath: string): Promise<void> {
  // the site may have put links anywhere
  for (const path of platformFiles)
    await inFolder(homePath, join('web', dirname(path)), (folder) => removeTree(`${folder}/${basename(path)}`))
}

/** What a site whose database is in its home needs, as the template has it. */
export async function layPlatformFiles(homePath: string, templatePath: string, uid: number | null): Promise<void> {
  for (const path of platformFiles) {
    if (!existsSync(join(templatePath, 'web', path))) continue
    const parent = join('web', dirname(path))
    if (dirname(path) !== 'wp-content')
      await inFolder(homePath, join('web', dirname(dirname(path))), async (folder) => {
        await mkdir(`${folder}/${basename(dirname(path))}`, { recursive: true })
        if (uid !== null) await lchown(`${folder}/${basename(dirname(path))}`, uid, uid)
      })
    await inFolder(homePath, parent, async (folder) => {
      const place = `${folder}/${basename(path)}`
      const made = `${folder}/.stead-${basename(path)}`
      await removeTree(made)
      await cp(join(templatePath, 'web', path), made, { recursive: true, preserveTimestamps: true })
      if (uid !== null) await giveAll(uid, made)
      await removeTree(place)
      await rename(made, place)
    })
  }
}

const giveAll = async (uid: number, path: string): Promise<void> =>
  (await lstat(path)).isDirectory() ? giveTo(uid, path) : lchown(path, uid, uid)

/** The drop-in finds the plugin by the path that PHP sees, and by its own place should that ever change. */
async function writeDropIn(web: string): Promise<void> {
  const template = await readFile(join(web, sqlitePlugin, 'db.copy'), 'utf8')
  const path = "'{SQLITE_IMPLEMENTATION_FOLDER_PATH}'"
  if (!template.includes(path)) throw new Error('the SQLite plugin has no drop-in of the known form')
  const dropIn = template
    .replace(path, "__DIR__ . '/mu-plugins/sqlite-database-integration'")
    .replaceAll('{SQLITE_PLUGIN}', 'sqlite-database-integration/load.php')
  await writeFile(join(web, databaseDropIn), dropIn)
}
