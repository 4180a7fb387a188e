import { randomBytes } from 'node:crypto'
import { declareMemory } from '../../platform/process-memory.ts'
import { tablePrefix } from '../cron/wordpress-options.ts'
import type { PhpPool, PooledSite } from '../php/pool/pool.ts'
import {
  type DatabaseContent,
  DumpUnreadable,
  type Loaded,
  type SitePlace,
  withSnapshot,
} from '../site-database/database-content.ts'
import { type DumpImport, importDump } from '../site-database/dumps/import-dump.ts'
import { SiteUnavailable } from '../site-database/site-database.ts'
import { PREFIX_PLACEHOLDER } from '../site-database/sql/prefixes.ts'
import { DiskFull } from '../site-directories/disk-space.ts'
import { type CommandIo, type Ended, forward, readInput, write } from './command-io.ts'
import { LineRefused } from './command-line.ts'
import { plainWords } from './command-name.ts'

/** The site's files, with the user's permissions. Paths without a leading slash are relative to the web root. */
export interface CommandFiles {
  read(path: string): AsyncIterable<Uint8Array>
  /** Creates the file, or replaces it once the content is complete. */
  write(path: string, content: AsyncIterable<Uint8Array>): Promise<void>
}

export interface DatabaseCommandParts {
  readonly pool: Pick<PhpPool, 'hold' | 'release' | 'runTask'>
  readonly siteDatabase: DatabaseContent
}

interface DatabaseCommand {
  readonly kind: 'export' | 'import'
  /** `-` for the command's standard input and output. */
  readonly file: string | undefined
  readonly tables: readonly string[] | undefined
  readonly isQuiet: boolean
  readonly onlyName: boolean
  /** For an import: the table prefix of the dump and the address of its site, or `auto` to detect them. */
  readonly fromPrefix?: string
  readonly fromAddress?: string
}

const HOLDER = 'wp db import'
const GRACE_MS = 10_000
/** Options of all commands, which have no effect here. */
const IGNORED =
  /^--(path|url|user|skip-plugins|skip-themes|skip-packages|no-color|color|allow-root|add-drop-table|skip-optimization|defaults)(=|$)/

/**
 * Parses `wp db export` and `wp db import`, which Stead does itself, because PHP cannot start `mysqldump`.
 * @returns undefined for any other command
 * @throws LineRefused for an unknown option
 */
export function databaseCommand(words: readonly string[]): DatabaseCommand | undefined {
  const [group, kind, file, ...more] = plainWords(words)
  if (group !== 'db' || (kind !== 'export' && kind !== 'import')) return undefined
  if (more.length > 0) throw new LineRefused(`wp db ${kind} takes one file.`)
  let [tables, isQuiet, onlyName]: [string[] | undefined, boolean, boolean] = [undefined, false, false]
  let [fromPrefix, fromAddress]: [string | undefined, string | undefined] = [undefined, undefined]
  for (const option of words.filter((word) => word !== '-' && word.startsWith('-'))) {
    if (option === '--quiet') isQuiet = true
    else if (option === '--porcelain' && kind === 'export') onlyName = true
    else if (option.startsWith('--tables=') && kind === 'export') tables = option.slice(9).split(',')
    else if (kind === 'import' && /^--from-prefix=\w{1,64}$/.test(option)) fromPrefix = option.slice(14)
    else if (kind === 'import' && /^--from-address=[\w.:[\]-]{1,260}$/.test(option)) fromAddress = option.slice(15)
    else if (!IGNORED.test(option))
      throw new LineRefused(
        `${option} is not possible here: Stead itself does wp db ${kind}, and knows ${KNOWN[kind]} and --quiet.`,
      )
  }
  if (kind === 'import' && file === undefined)
    throw new LineRefused('wp db import needs a file, or - for what it is sent.')
  if (file === '-' && [fromPrefix, fromAddress].includes('auto'))
    throw new LineRefused(
      'auto needs a file, which is read twice. Say the prefix and the address, or put the dump into a file.',
    )
  return {
    ...{ kind, file, tables, isQuiet, onlyName },
    ...(fromPrefix !== undefined && { fromPrefix }),
    ...(fromAddress !== undefined && { fromAddress }),
  }
}

const KNOWN = {
  export: '--tables, --porcelain',
  import: '--from-prefix=… and --from-address=… (with auto for what the dump says itself)',
} as const

/** Sites whose database is being replaced here. */
const importing = new Set<number>()
declareMemory(() => importing.clear())

export async function runDatabaseCommand(
  { pool, siteDatabase }: DatabaseCommandParts,
  command: DatabaseCommand,
  { site, io, files }: { readonly site: PooledSite; readonly io: CommandIo; readonly files: CommandFiles },
): Promise<Ended> {
  const { kind, file, tables, isQuiet, onlyName } = command
  const { signal } = io
  const say = (text: string) => (isQuiet ? undefined : write(io.output, `Success: ${text}\n`, signal))
  try {
    if (kind === 'export') {
      const name = file ?? `wordpress-${new Date().toISOString().slice(0, 10)}-${randomBytes(4).toString('hex')}.sql`
      await withSnapshot(siteDatabase, site, async (snapshot) => {
        const text = snapshot.dump({ ...(tables && { tables }), signal })
        if (name === '-') await forward(text, io.output, signal)
        else await files.write(name, text)
      })
      if (onlyName) await write(io.output, `${name}\n`, signal)
      else if (name !== '-') await say(`Exported to '${name}'.`)
      return { code: 0, wrote: false }
    }
    if (importing.has(site.siteId)) throw new LineRefused('Another import of this site is under way.')
    importing.add(site.siteId)
    const warnings: (string | undefined)[] = []
    try {
      const prefix = await tablePrefix(site.siteDirectory).catch(() => undefined)
      if (command.fromPrefix !== undefined && prefix === undefined)
        throw new LineRefused(
          'The prefix of the tables cannot be read from wp-config.php: import without --from-prefix.',
        )
      const loaded = await replace(pool, siteDatabase, site, {
        open: () => (file === '-' ? readInput(io) : files.read(file as string)),
        ...{ prefix, fromPrefix: command.fromPrefix, address: site.address, fromAddress: command.fromAddress },
        ...{ keepsOthers: true, signal },
      })
      warnings.push(loaded.warning, command.fromPrefix === undefined ? otherPrefix(loaded, prefix) : undefined)
    } finally {
      importing.delete(site.siteId)
    }
    await say(`Imported from '${file === '-' ? 'STDIN' : file}'.`)
    if (!isQuiet) warnings.push(await otherAddress(pool, site))
    for (const warning of warnings.filter((each) => each !== undefined))
      if (!isQuiet) await write(io.errors, `Warning: ${warning}\n`, signal)
    return { code: 0, wrote: true }
  } catch (error) {
    signal.throwIfAborted()
    const isKnown = [DumpUnreadable, SiteUnavailable, DiskFull, LineRefused].some((type) => error instanceof type)
    if (!isKnown && (error as Error).name !== 'Refused') throw error
    const kept = kind === 'import' ? ' The database did not change.' : ''
    const text = (error as Error).message.replace(/\.$/, '')
    const said = kind === 'import' && file !== '-' ? text.replace(/^The dump cannot/, `'${file}' cannot`) : text
    await write(io.errors, `Error: ${said}.${kept}\n`, signal)
    return { code: 1, wrote: false }
  }
}

/**
 * Replaces the database. Nothing of the site writes meanwhile, because that would be lost with the replaced database.
 * Tables that the text does not name stay.
 */
async function replace(
  pool: DatabaseCommandParts['pool'],
  siteDatabase: DatabaseContent,
  directory: SitePlace,
  dump: DumpImport,
): Promise<Loaded> {
  await pool.hold(directory.siteId, GRACE_MS, HOLDER)
  try {
    const loaded = await importDump(siteDatabase, directory, dump)
    await siteDatabase.switch(directory)
    return loaded
  } finally {
    await siteDatabase.cleanUp(directory).finally(() => pool.release(directory.siteId, HOLDER))
  }
}

/** Returns what to do about tables that WordPress does not see, or undefined when it sees them. */
function otherPrefix({ found }: Loaded, prefix: string | undefined): string | undefined {
  const prefixes = found?.prefixes.filter((each) => each !== PREFIX_PLACEHOLDER) ?? []
  const [first] = prefixes
  if (first === undefined || prefix === undefined || prefixes.includes(prefix)) return undefined
  return `the tables of this dump begin with ${first}, those of the site with ${prefix}: WordPress does not see them. Import the dump again with --from-prefix=${first}`
}

/**
 * Returns what to do about a database from elsewhere, which redirects visitors there, or undefined when its address is
 * correct.
 */
async function otherAddress(pool: DatabaseCommandParts['pool'], site: PooledSite): Promise<string | undefined> {
  // If WordPress does not start, its address is the lesser problem.
  const said = await pool.runTask(site, 'site-title', {}).catch(() => undefined)
  const from = said?.siteurl.replace(/\/+$/, '')
  if (!from || !/^https?:\/\/[\w.:/[\]-]{1,300}$/.test(from) || from.replace(/^https?:\/\//, '') === site.address)
    return undefined
  const to = `http://${site.address}`
  return `by this database the site is at ${from}, and visitors will be sent there. It is at ${to}: wp search-replace '${from}' '${to}' --all-tables-with-prefix`
}
