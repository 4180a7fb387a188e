import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { ALL } from '../site-files/scope.ts'
import { walkTree } from '../site-files/walk.ts'
import { type LeftBehindReason, PLUGINS_OF_NOTE, whyLeftBehind } from './left-behind.ts'

/** A plugin of the old site. */
export interface StagedPlugin {
  /** A path below `wp-content/plugins`. */
  readonly path: string
  readonly name: string
  readonly version: string | null
  readonly requiresPhp: string | null
  readonly requiresWordpress: string | null
  readonly note: string | null
}

/** A summary of the staged files of an import. */
export interface StagedContent {
  readonly files: number
  readonly bytes: number
  readonly plugins: readonly StagedPlugin[]
  readonly themes: readonly string[]
  readonly mustUsePlugins: readonly string[]
  /** Paths below `wp-content`, with the reason why each stays behind. */
  readonly leftBehind: readonly { readonly path: string; readonly reason: LeftBehindReason }[]
}

/** The most entries of each list. */
const MOST_LISTED = 500
const HEAD_BYTES = 8192

/**
 * Summarises the staged files.
 * @param root the folder that contains `wp-content`
 */
export async function lookAtContent(root: string, signal: AbortSignal): Promise<StagedContent> {
  const content = join(root, 'wp-content')
  const leftBehind = await whatIsLeftBehind(content)
  const except = leftBehind.map(({ path }) => `wp-content/${path}`)
  let [files, bytes] = [0, 0]
  for await (const entry of walkTree(root, { scope: { ...ALL, except }, granularityMs: 0, signal })) {
    if (entry.kind !== 'file') continue
    files++
    bytes += entry.sizeBytes
  }
  const mustUse = await namesIn(join(content, 'mu-plugins'))
  return {
    files,
    bytes,
    plugins: await pluginsIn(join(content, 'plugins')),
    themes: (await entriesIn(join(content, 'themes'))).flatMap((each) => (each.isDirectory() ? [each.name] : [])),
    mustUsePlugins: mustUse.filter((name) => whyLeftBehind(`mu-plugins/${name}`) === undefined && name !== 'index.php'),
    leftBehind,
  }
}

async function whatIsLeftBehind(content: string): Promise<StagedContent['leftBehind']> {
  const mustUse = await namesIn(join(content, 'mu-plugins'))
  const paths = [...(await namesIn(content)), ...mustUse.map((name) => `mu-plugins/${name}`)]
  return paths.flatMap((path) => {
    const reason = whyLeftBehind(path)
    return reason ? [{ path, reason }] : []
  })
}

async function pluginsIn(folder: string): Promise<StagedPlugin[]> {
  const plugins: StagedPlugin[] = []
  for (const entry of (await entriesIn(folder)).slice(0, MOST_LISTED)) {
    const files = entry.isDirectory()
      ? (await namesIn(join(folder, entry.name)))
          .filter((name) => /\.php$/i.test(name))
          .map((name) => join(entry.name, name))
      : [entry.name].filter((name) => /\.php$/i.test(name))
    for (const file of files.slice(0, 50)) {
      const plugin = await pluginIn(join(folder, file), file)
      if (!plugin) continue
      plugins.push(plugin)
      break
    }
  }
  return plugins
}

async function pluginIn(path: string, file: string): Promise<StagedPlugin | undefined> {
  const head = await headOf(path)
  const field = (name: string) =>
    new RegExp(`^[ \\t/*#@]*${name}:(.{1,200})$`, 'mi')
      .exec(head)?.[1]
      ?.replace(/\s*(?:\*\/|\?>).*/, '')
      .trim() || null
  const name = field('Plugin Name')
  if (!name) return undefined
  const folder = file.includes('/') ? (file.split('/')[0] as string) : file
  return {
    path: folder,
    name,
    version: field('Version'),
    requiresPhp: field('Requires PHP'),
    requiresWordpress: field('Requires at least'),
    note: (Object.hasOwn(PLUGINS_OF_NOTE, folder) && PLUGINS_OF_NOTE[folder]) || null,
  }
}

async function headOf(path: string): Promise<string> {
  const file = await open(path, 'r')
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0)
    return buffer.toString('utf8', 0, bytesRead).replaceAll('\r', '\n')
  } finally {
    await file.close()
  }
}

const entriesIn = async (folder: string) =>
  (await readdir(folder, { withFileTypes: true }).catch(() => [])).toSorted((a, b) => (a.name < b.name ? -1 : 1))
const namesIn = async (folder: string): Promise<string[]> => (await entriesIn(folder)).map(({ name }) => name)
