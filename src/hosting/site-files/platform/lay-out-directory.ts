import { existsSync } from 'node:fs'
import { chmod, copyFile, cp, lchown, lstat, mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { inFolder, lookInside } from '../open-inside.ts'
import { removeTree } from '../remove-tree.ts'
import { databaseDropIn, platformFiles, sqlitePlugin } from './platform-files.ts'
import { layerMark, layerNumber, unpackLayer } from './sqlite-layer.ts'

/** The number of site directories whose files are renewed in parallel. */
const AT_ONCE = 8

/** The sources of a site directory. */
export interface DirectoryParts {
  /** The folder of an unpacked WordPress. */
  readonly corePath: string
  /** The text of the site's wp-config.php. */
  readonly wpConfig: string
}

/**
 * Creates a site directory in a folder that does not exist yet. `web/` has core's root files as copies, empty
 * `wp-admin` and `wp-includes` (core's own are mounted over them), and `wp-content` with core's themes and plugins and
 * the SQLite drop-in. `private/` has empty places for the database and temporary files.
 * @throws when the folder exists, or the core or the SQLite plugin is not as expected
 */
export async function layOutDirectory(siteDirectory: string, parts: DirectoryParts): Promise<void> {
  const web = join(siteDirectory, 'web')
  await mkdir(siteDirectory, { mode: 0o700 })
  await mkdir(join(web, 'wp-admin'), { recursive: true })
  await mkdir(join(web, 'wp-includes'))
  for (const folder of ['database', 'tmp']) await mkdir(join(siteDirectory, 'private', folder), { recursive: true })
  for (const entry of await readdir(parts.corePath, { withFileTypes: true }))
    if (entry.isFile()) await copyFile(join(parts.corePath, entry.name), join(web, entry.name))
  await cp(join(parts.corePath, 'wp-content'), join(web, 'wp-content'), {
    recursive: true,
    preserveTimestamps: true,
    filter: async (source) => basename(source) !== '.htaccess',
  })
  await mkdir(join(web, 'wp-content/uploads'), { recursive: true })
  await layLayer(web)
  await writeFile(join(web, 'wp-config.php'), parts.wpConfig, { mode: 0o640 })
  await chmod(siteDirectory, 0o700)
}

/** Adds the SQLite plugin and its drop-in to a web root that has neither. */
export async function layLayer(web: string): Promise<void> {
  await mkdir(join(web, sqlitePlugin), { recursive: true })
  await unpackLayer(join(web, sqlitePlugin))
  await writeDropIn(web)
}

/** Gives a folder and everything below it to a user and group. Never follows links. */
export async function giveTo(uid: number, path: string): Promise<void> {
  await lchown(path, uid, uid)
  for (const entry of await readdir(path, { withFileTypes: true })) {
    const child = join(path, entry.name)
    if (entry.isDirectory()) await giveTo(uid, child)
    else await lchown(child, uid, uid)
  }
}

/** Removes the files that a site with its database on a server does not need. */
export async function removePlatformFiles(siteDirectory: string): Promise<void> {
  // The site may have put links anywhere.
  for (const path of platformFiles)
    await inFolder(siteDirectory, join('web', dirname(path)), (folder) => removeTree(`${folder}/${basename(path)}`))
}

/** Adds the files that a site with its database in its site directory needs, as the template has them. */
export async function layPlatformFiles(siteDirectory: string, templatePath: string, uid: number | null): Promise<void> {
  for (const path of platformFiles) {
    if (!existsSync(join(templatePath, 'web', path))) continue
    const parent = join('web', dirname(path))
    if (dirname(path) !== 'wp-content')
      await inFolder(siteDirectory, join('web', dirname(dirname(path))), async (folder) => {
        await mkdir(`${folder}/${basename(dirname(path))}`, { recursive: true })
        if (uid !== null) await lchown(`${folder}/${basename(dirname(path))}`, uid, uid)
      })
    await inFolder(siteDirectory, parent, async (folder) => {
      const place = `${folder}/${basename(path)}`
      const made = `${folder}/.stead-${basename(path)}`
      await removeTree(made)
      await cp(join(templatePath, 'web', path), made, { recursive: true, preserveTimestamps: true })
      if (uid !== null) await giveAll(uid, made)
      // The rename replaces an existing file, so that one is there at every moment.
      if ((await lstat(made)).isDirectory() || (await isFolder(place))) await removeTree(place)
      await rename(made, place)
    })
  }
}

const isFolder = (path: string): Promise<boolean> =>
  lstat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  )

/**
 * Gives site directories with the SQLite plugin of another version of Stead the plugin of this version. No PHP of
 * theirs runs. After an interruption, the next call completes the work, because a site directory without the plugin's
 * number gets it.
 * @param folder a staging folder of Stead, which is removed afterwards
 * @param onFailed called for a site directory that stays as it is; the others do not wait for it
 */
export async function renewPlatformFiles(
  siteDirectories: readonly { readonly path: string; readonly uid: number | null }[],
  folder: string,
  onFailed: (directory: { readonly path: string }, error: unknown) => void,
): Promise<void> {
  const old: (typeof siteDirectories)[number][] = []
  const attempt = (directory: (typeof siteDirectories)[number], work: () => Promise<void>) =>
    work().catch((error) => onFailed(directory, error))
  for (const directory of siteDirectories)
    await attempt(directory, async () => {
      if (await hasOldLayer(directory.path)) old.push(directory)
    })
  if (old.length === 0) return
  await removeTree(folder)
  await layLayer(join(folder, 'web'))
  for (let at = 0; at < old.length; at += AT_ONCE)
    await Promise.all(
      old
        .slice(at, at + AT_ONCE)
        .map((directory) => attempt(directory, () => layPlatformFiles(directory.path, folder, directory.uid))),
    )
  await removeTree(folder)
}

/** Returns whether a site directory has the drop-in of the SQLite plugin, but not the matching plugin. */
async function hasOldLayer(siteDirectory: string): Promise<boolean> {
  const dropIn = lookInside(siteDirectory, join('web', databaseDropIn))
  dropIn?.close()
  if (dropIn?.kind !== 'file') return false
  const mark = lookInside(siteDirectory, join('web', sqlitePlugin, layerMark))
  try {
    return mark?.kind !== 'file' || mark.read(0, 64).toString() !== (await layerNumber())
  } finally {
    mark?.close()
  }
}

const giveAll = async (uid: number, path: string): Promise<void> =>
  (await lstat(path)).isDirectory() ? giveTo(uid, path) : lchown(path, uid, uid)

/**
 * Writes the drop-in. It finds the plugin by the path that PHP sees, and by its own location should that ever change.
 */
async function writeDropIn(web: string): Promise<void> {
  const template = await readFile(join(web, sqlitePlugin, 'db.copy'), 'utf8')
  const path = "'{SQLITE_IMPLEMENTATION_FOLDER_PATH}'"
  if (!template.includes(path)) throw new Error('the SQLite plugin has no drop-in of the known form')
  const dropIn = template
    .replace(path, "__DIR__ . '/mu-plugins/sqlite-database-integration'")
    .replaceAll('{SQLITE_PLUGIN}', 'sqlite-database-integration/load.php')
  await writeFile(join(web, databaseDropIn), dropIn)
}
