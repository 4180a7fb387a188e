import {
  type AddressChange,
  type DatabaseContent,
  DumpUnreadable,
  type Loaded,
  type SitePlace,
} from '../database-content.ts'
import type { DumpFacts } from '../sql/dump-facts.ts'
import { PREFIX_PLACEHOLDER, type PrefixChange } from '../sql/prefixes.ts'
import { lookIntoDump } from './look-into-dump.ts'

export interface DumpImport {
  /** Returns the dump from its beginning, packed or not. Called twice if the dump must be inspected first. */
  readonly open: () => AsyncIterable<Uint8Array>
  /** The prefix of the site's tables. With undefined, tables keep their names. */
  readonly prefix?: string | undefined
  /** The prefix in the dump to replace. `auto` detects it. Default: tables keep their names. */
  readonly fromPrefix?: string | undefined
  /** The host name of the site, with its port unless it is the usual one. */
  readonly address?: string | undefined
  /** The address in the dump to replace with the site's, everywhere. `auto` detects it. Default: it stays. */
  readonly fromAddress?: string | undefined
  /** Whether tables that are not in the dump stay. */
  readonly keepsOthers?: boolean
  readonly signal?: AbortSignal
  /** Called with the number of bytes of the dump that have been read. */
  readonly onProgress?: (doneBytes: number) => void
}

/**
 * Creates the next database of a site from a dump of any program. If requested, tables get the site's prefix, and
 * addresses become the site's. The caller switches it in.
 * @throws DumpUnreadable, with the place and the remedy; DiskFull
 */
export async function importDump(content: DatabaseContent, directory: SitePlace, asked: DumpImport): Promise<Loaded> {
  const { signal, keepsOthers, onProgress } = asked
  const isToLook = asked.fromPrefix === 'auto' || asked.fromAddress === 'auto'
  const found = isToLook ? await factsOf(asked.open(), signal) : undefined
  const prefixes = prefixChanges(asked, found)
  const changes = addressChanges(asked, found)
  return content.load(directory, asked.open(), {
    changes,
    foreign: { prefixes, withoutHttps: changes.map(({ from }) => from) },
    ...(keepsOthers && { keepsOthers }),
    ...(signal && { signal }),
    ...(onProgress && { onProgress }),
  })
}

async function factsOf(dump: AsyncIterable<Uint8Array>, signal?: AbortSignal): Promise<DumpFacts> {
  try {
    return await lookIntoDump(dump, { signal })
  } catch (error) {
    throw error instanceof DumpUnreadable ? new DumpUnreadable(`The dump cannot be loaded: ${error.message}`) : error
  }
}

function prefixChanges({ prefix, fromPrefix }: DumpImport, found: DumpFacts | undefined): PrefixChange[] {
  if (prefix === undefined) return []
  const changes: PrefixChange[] = [{ from: PREFIX_PLACEHOLDER, to: prefix }]
  if (fromPrefix === undefined) return changes
  if (fromPrefix !== 'auto') return [...changes, { from: fromPrefix, to: prefix }]
  const prefixes = found?.sites.map((site) => site.prefix) ?? []
  const [first, ...others] = prefixes
  if (others.length > 0)
    throw new DumpUnreadable(
      `The dump cannot be loaded: it has tables of several sites (${prefixes.slice(0, 5).join(', ')}). Say which prefix is the one of this site.`,
    )
  return first === undefined || first === PREFIX_PLACEHOLDER ? changes : [...changes, { from: first, to: prefix }]
}

function addressChanges({ address, fromAddress }: DumpImport, found: DumpFacts | undefined): AddressChange[] {
  if (address === undefined || fromAddress === undefined) return []
  if (fromAddress !== 'auto') return [{ from: fromAddress, to: address }]
  const { home: directory, siteurl } = found?.sites[0]?.options ?? {}
  const hosts = [directory, siteurl].flatMap((url) => (url === undefined ? [] : addressOf(url)))
  return [...new Set(hosts)].filter((from) => from !== address).map((from) => ({ from, to: address }))
}

/**
 * Converts `https://a.example/` to `a.example`. @throws DumpUnreadable for a site in a folder, whose links would break
 */
function addressOf(url: string): string[] {
  const parts = URL.parse(url)
  if (!parts || !/^https?:$/.test(parts.protocol)) return []
  if (parts.pathname !== '/')
    throw new DumpUnreadable(
      `The dump cannot be loaded: its site is in the folder ${parts.pathname} of ${parts.host}, which cannot be rewritten while it is loaded. Load it unchanged, and use wp search-replace.`,
    )
  return [parts.host]
}
