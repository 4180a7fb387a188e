import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { livingBar } from '../platform/terminal/progress-bar.ts'
import { nothingThere } from '../roles/part.ts'
import type { Call } from './command.ts'
import { whileStopped } from './ground.ts'
import { moveDatabase } from './move-database.ts'
import { CommandError, printOne } from './output.ts'

interface MoveFlags {
  readonly to: string
  readonly 'without-logs': boolean
}

/** `stead database move` */
export async function move({ config, flags }: Call<MoveFlags, 'dataDir' | 'logMb'>): Promise<void> {
  const { dataDir } = config
  const isThere = (name: string) => existsSync(join(dataDir, name))
  if (!isThere('stead.db'))
    throw isThere('stead.db.moved')
      ? new CommandError(
          `The records of ${dataDir} were moved to PostgreSQL already (stead.db.moved). Set STEAD_DATABASE_URL to go on with them.`,
        )
      : nothingThere({ dataDir, databaseUrl: undefined })
  const to = target(flags.to)
  const bar = livingBar(process.stderr)
  const onProgress = (doing: string) => bar.show({ doing, receivedBytes: 0, totalBytes: null })
  const options = { to, logMb: flags['without-logs'] ? undefined : config.logMb, onProgress }
  try {
    const { database, file, ...counts } = await whileStopped(dataDir, () => moveDatabase(dataDir, options))
    bar.done()
    printOne({ database, ...counts, old_file: file }, flags.json)
    if (flags.json) return
    console.log(
      '\nEvery row was read again in PostgreSQL and is the same. From now on, for every part and every command:\n' +
        `  STEAD_DATABASE_URL=postgres://… (the address that was given to --to)\n` +
        'Without it Stead refuses to start on this data folder. The old file is no longer used; remove it when all is well.',
    )
  } finally {
    bar.done()
  }
}

function target(text: string): string {
  if (!/^postgres(ql)?:$/.test(URL.parse(text)?.protocol ?? ''))
    throw new CommandError('--to must be a postgres:// address')
  return text
}
