import Type from 'typebox'
import { Value } from 'typebox/value'
import { FetchFailed, fetchJson } from '../../platform/fetch/fetch-public.ts'

const publicApi = 'https://api.wordpress.org'
/** The answer contains the plugin's whole page, with all its pictures and reviews. */
const MOST_BYTES = 16 << 20
const TIMEOUT_MS = 15_000

/** A plugin as the directory describes it. */
export interface DirectoryPlugin {
  readonly slug: string
  /** The newest release. */
  readonly version: string
  /** The download address of each release, including the newest. */
  readonly packages: ReadonlyMap<string, string>
}

/** The plugin directory of WordPress. */
export interface PluginDirectory {
  /**
   * @returns undefined when it has no such plugin, or no longer
   * @throws FetchError when it cannot be reached, or its answer is invalid
   */
  find(slug: string, signal?: AbortSignal): Promise<DirectoryPlugin | undefined>
  /** Does the same in the directory of themes. */
  findTheme(slug: string, signal?: AbortSignal): Promise<DirectoryPlugin | undefined>
}

const Answer = Type.Object({
  slug: Type.String(),
  version: Type.String({ minLength: 1, maxLength: 100 }),
  download_link: Type.String({ minLength: 1, maxLength: 2000 }),
  // PHP encodes an empty array as a list.
  versions: Type.Optional(Type.Union([Type.Record(Type.String(), Type.String()), Type.Array(Type.Unknown())])),
})

/** @param options.base replaces the public address */
export function createPluginDirectory(options: { base: string | undefined; allowPrivate: boolean }): PluginDirectory {
  const base = options.base || publicApi
  const allowPrivate = options.allowPrivate || base !== publicApi
  const look = async (address: string, slug: string, signal?: AbortSignal): Promise<DirectoryPlugin | undefined> => {
    const fetching = { allowPrivate, maxBytes: MOST_BYTES, timeoutMs: TIMEOUT_MS, ...(signal && { signal }) }
    const answer = await fetchJson(address, fetching).catch((error) => {
      if (error instanceof FetchFailed && error.status === 404) return { error: 'not found' }
      throw error
    })
    // The directory answers with a reason for a closed plugin.
    if (typeof (answer as { error?: unknown } | null)?.error === 'string') return undefined
    if (!Value.Check(Answer, answer)) throw new FetchFailed(`${base}: the response of the plugin directory is invalid`)
    const { version, download_link: newest, versions = [] } = answer
    const packages = new Map(Array.isArray(versions) ? [] : Object.entries(versions))
    packages.delete('trunk')
    return { slug, version, packages: packages.set(version, newest) }
  }
  const asked = (kind: 'plugin' | 'theme', slug: string, more = '') =>
    `${base}/${kind}s/info/1.2/?action=${kind}_information&slug=${encodeURIComponent(slug)}${more}`
  return {
    find: (slug, signal) => look(asked('plugin', slug), slug, signal),
    // Themes list their releases only on request.
    findTheme: (slug, signal) =>
      look(asked('theme', slug, `&${encodeURIComponent('fields[versions]')}=1`), slug, signal),
  }
}
