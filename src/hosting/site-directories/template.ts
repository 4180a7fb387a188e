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

/** What the template says where a site will say its own; values that nothing else can look like. */
export const templateMarks = {
  address: 'template.stead.invalid',
  title: 'Stead template title',
  user: 'stead-template-user',
  email: 'template@stead.invalid',
} as const

/** A site installed once, of which every new site is a copy. */
export interface Template {
  /** A site directory: `web/` and `private/`. */
  readonly path: string
  readonly coreVersion: string
  readonly corePath: string
  readonly install: string
  /** What site directories are to have of it; default: SQLite. */
  readonly database?: DatabaseKind
}

/** The template's database as text, for databases on a server. */
export const templateDump = (templatePath: string): string => join(templatePath, 'database.sql')

const templateOf = (dataDir: string, version: string): string => join(dataDir, 'templates', `${version}-wordpress`)

/** What PHP has compiled of a core while its template was made. */
export const compiledOf = (dataDir: string, corePath: string): string =>
  join(templateOf(dataDir, basename(corePath)), 'compiled')

export interface TemplateParts {
  readonly dataDir: string
  readonly core: { readonly version: string; readonly path: string }
  readonly runtime: PhpRuntime
  /** Where its database is to be there as text as well: what makes that. */
  readonly dump?: (place: SitePlace, file: string) => Promise<void>
  /** User that the installation runs as, `null` for Stead's own. */
  readonly uid: number | null
}

/** Raised when the making of templates changes: older ones are made again, as those with another SQLite plugin are. */
const FORM = 3

/**
 * The golden copy for a core, made when there is none: WordPress' own installer runs once (2–5 s), and never for a site.
 * Call it from one process a data folder. @throws when the installation fails
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
  // no power cut may leave half of it under its name
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

/** Nobody else has it open. It gets its name when it is whole. */
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
      // nobody can log in to a template, and every site gets a password of its own
      password: randomBytes(24).toString('base64url'),
      email: templateMarks.email,
      url: `http://${templateMarks.address}`,
    })
    // what WordPress makes at its first page (widgets, navigation, caches of block styles) is made here, once for all sites
    await process.runTask('check-site', {})
  } finally {
    await process.stop()
  }
}
