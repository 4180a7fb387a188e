import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { livingBar } from '../../platform/terminal/progress-bar.ts'
import { nothingThere } from '../../roles/process-context.ts'
import type { Call } from '../command.ts'
import { CommandError, printOne } from '../output.ts'
import { whileStopped } from '../with-control-database.ts'
import { moveDatabase } from './move-database.ts'

interface MoveFlags {
  readonly to: string
  readonly 'without-logs': boolean
}

/** Runs `stead database move`. */
export async function move({ config, flags }: Call<MoveFlags, 'dataDir' | 'logMb'>): Promise<void> {
  const { dataDir } = config
  const isThere = (name: string) => existsSync(join(dataDir, name))
  if (!isThere('stead.db'))
    throw isThere('stead.db.moved')
      ? new CommandError(
          `The control database of ${dataDir} was already moved to PostgreSQL (stead.db.moved). Set STEAD_DATABASE_URL to use it.`,
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
      '\nStead verified every row in PostgreSQL. From now on, set this for all processes and commands:\n' +
        `  STEAD_DATABASE_URL=postgres://… (the address from --to)\n` +
        'Without it, Stead does not start on this data folder. The old file is no longer used. Remove it when everything works.',
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
