import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chown, mkdir, readFile, rename, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { flushFileSystem } from '../../platform/files/flush-file-system.ts'
import { writeFileDurably } from '../../platform/files/write-file.ts'
import { type PhpRuntime, versionForAll } from '../php/runtime.ts'
import { compiling, publishCompiled } from '../php/wasm/compiled/compiled.ts'
import { wpConfig } from '../php/wp-config.ts'
import type { SitePlace } from '../site-database/database-content.ts'
import type { DatabaseKind } from '../site-database/database-kind.ts'
import { giveTo, layOutDirectory } from '../site-files/platform/lay-out-directory.ts'
import { layerNumber } from '../site-files/platform/sqlite-layer.ts'
import { removeTree } from '../site-files/remove-tree.ts'

/** Placeholders that each site replaces with its own values. Nothing else can look like them. */
export const templateMarks = {
  address: 'template.stead.invalid',
  title: 'Stead template title',
  user: 'stead-template-user',
  email: 'template@stead.invalid',
} as const

/** A site that is installed once and copied for every new site. */
export interface Template {
  /** A site directory: `web/` and `private/`. */
  readonly path: string
  readonly coreVersion: string
  readonly corePath: string
  readonly install: string
  /** The kind of database of its site directories. Default: SQLite. */
  readonly database?: DatabaseKind
}

/** Returns the path of the template's database as SQL, for databases on a server. */
export const templateDump = (templatePath: string): string => join(templatePath, 'database.sql')

const templateOf = (dataDir: string, version: string): string => join(dataDir, 'templates', `${version}-wordpress`)

/** Returns the folder of the opcodes that PHP compiled of a core while its template was created. */
export const compiledOf = (dataDir: string, corePath: string): string =>
  join(templateOf(dataDir, basename(corePath)), 'compiled')

export interface TemplateParts {
  readonly dataDir: string
  readonly core: { readonly version: string; readonly path: string }
  readonly runtime: PhpRuntime
  /** Dumps the database as SQL too, if set. */
  readonly dump?: (place: SitePlace, file: string) => Promise<void>
  /** User that the installation runs as, or `null` for Stead's own. */
  readonly uid: number | null
}

/**
 * Increased when templates are created differently. Stead recreates older ones, and those with another SQLite plugin.
 */
const FORM = 3

/**
 * Returns the golden copy for a core, and creates it when there is none. WordPress' own installer runs once (2–5 s),
 * and never for a site. Call it from only one process per data folder.
 * @throws when the installation fails
 */
export async function ensureTemplate(parts: TemplateParts): Promise<Template> {
  const path = templatePath(parts)
  const template = { path, coreVersion: parts.core.version, corePath: parts.core.path, install: 'wordpress' }
  if (await isComplete(path)) {
    await writeDump(path, parts)
    return template
  }
  const unfinished = `${path}.making`
  await mkdir(join(parts.dataDir, 'templates'), { recursive: true, mode: 0o711 })
  for (const old of [unfinished, path]) await removeTree(old)
  await layOutDirectory(unfinished, {
    corePath: parts.core.path,
    wpConfig: wpConfig({ environmentType: 'production' }, randomBytes),
  })
  if (parts.uid !== null) await giveTo(parts.uid, unfinished)
  await install(unfinished, parts)
  await publishCompiled(unfinished, join(unfinished, 'compiled'))
  await removeTree(join(unfinished, 'private', compiling))
  // A power cut must not leave half of it under its final name.
  await flushFileSystem(unfinished)
  await rm(join(unfinished, 'private/php-error.log'), { force: true })
  await writeDump(unfinished, parts)
  await writeFileDurably(
    join(unfinished, 'template.json'),
    JSON.stringify({ form: FORM, layer: await layerNumber() }),
    0o600,
  )
  await rename(unfinished, path)
  return template
}

/** Writes the dump. Nobody else has the database open. The file gets its name when it is complete. */
async function writeDump(path: string, { dump, uid }: TemplateParts): Promise<void> {
  const file = templateDump(path)
  if (!dump || existsSync(file)) return
  await dump({ siteId: 0, siteDirectory: path, uid }, `${file}.new`)
  await rename(`${file}.new`, file)
}

const templatePath = ({ dataDir, core }: Pick<TemplateParts, 'dataDir' | 'core'>): string =>
  templateOf(dataDir, core.version)

/** Whether there is a golden copy for this core already. */
export const hasTemplate = (parts: TemplateParts): Promise<boolean> => isComplete(templatePath(parts))

async function isComplete(path: string): Promise<boolean> {
  try {
    const made = JSON.parse(await readFile(join(path, 'template.json'), 'utf8')) as { form?: unknown; layer?: unknown }
    return made.form === FORM && made.layer === (await layerNumber())
  } catch {
    return false
  }
}

async function install(siteDirectory: string, { core, runtime, uid }: TemplateParts): Promise<void> {
  const compiled = join(siteDirectory, 'private', compiling)
  await mkdir(compiled)
  if (uid !== null) await chown(compiled, uid, uid)
  const site = {
    siteDirectory,
    corePath: core.path,
    phpVersion: versionForAll(runtime.containment().runtimes),
    uid,
    address: templateMarks.address,
  }
  const process = await runtime.start(site, { keepsCompiled: true })
  try {
    await process.runTask('install', {
      title: templateMarks.title,
      user: templateMarks.user,
      // Nobody can log in to a template, and every site gets its own password.
      password: randomBytes(24).toString('base64url'),
      email: templateMarks.email,
      url: `http://${templateMarks.address}`,
    })
    // Creates what WordPress creates on its first page (widgets, navigation, block style caches), once for all sites.
    await process.runTask('check-site', {})
  } finally {
    await process.stop()
  }
}
