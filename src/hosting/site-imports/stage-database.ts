import { createReadStream } from 'node:fs'
import { link, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ArchiveRefused } from '../archives/unpack-zip.ts'
import { DumpUnreadable } from '../site-database/database-content.ts'
import { lookIntoDump } from '../site-database/dumps/look-into-dump.ts'
import type { DumpFacts, DumpSite } from '../site-database/sql/dump-facts.ts'
import { PREFIX_PLACEHOLDER } from '../site-database/sql/prefixes.ts'
import type { StagedFiles, StageOptions } from './stage-files.ts'

/** Facts about the database of an import. */
export interface StagedDatabase extends DumpSite {
  /** The prefix of its tables, once they are loaded. */
  readonly prefix: string
  readonly bytes: number
  /** The number of tables that belong to no WordPress, or to another one. */
  readonly otherTables: number
}

const USUAL_PREFIX = 'wp_'

export const dumpOf = (folder: string): string => join(folder, 'database.sql')

/**
 * Finds the dump of the site among the unpacked files, and scans it.
 * @throws ArchiveRefused when there is none, or it cannot be read
 */
export async function stageDatabase(
  folder: string,
  { dumps, prefix }: Pick<StagedFiles, 'dumps' | 'prefix'>,
  options: StageOptions,
): Promise<StagedDatabase> {
  let fault: string | undefined
  for (const each of dumps) {
    await rm(dumpOf(folder), { force: true })
    await link(join(folder, each), dumpOf(folder))
    try {
      const facts = await factsOf(dumpOf(folder), options)
      const site = siteOf(facts, prefix)
      const { size: bytes } = await stat(dumpOf(folder))
      if (site?.hasUsers)
        return {
          ...site,
          prefix: site.prefix === PREFIX_PLACEHOLDER ? USUAL_PREFIX : site.prefix,
          bytes,
          otherTables: facts.tables - site.tables,
        }
      fault ??= site ? `it lacks ${site.prefix}users or ${site.prefix}usermeta` : 'it has no tables of WordPress'
    } catch (error) {
      if (!(error instanceof DumpUnreadable)) throw error
      fault ??= error.message
    }
  }
  throw new ArchiveRefused(`the dump of the database cannot be used: ${fault}`)
}

async function factsOf(path: string, { signal, onProgress }: StageOptions): Promise<DumpFacts> {
  const input = createReadStream(path, { highWaterMark: 1 << 18, signal })
  return lookIntoDump(input, { signal, onRead: onProgress }).finally(() => input.destroy())
}

/** Returns the WordPress with the prefix of the old configuration, or else the one with users and the most rows. */
function siteOf({ sites }: DumpFacts, prefix: string | null): DumpSite | undefined {
  return (
    sites.find((site) => site.prefix === prefix) ??
    sites.toSorted((a, b) => Number(b.hasUsers) - Number(a.hasUsers) || b.rows - a.rows)[0]
  )
}
