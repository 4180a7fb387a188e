import type { Config } from '../config.ts'
import { livingBar } from '../platform/terminal/progress-bar.ts'
import type { Call } from './command.ts'
import type { BackupKey } from './ground.ts'
import { printOne } from './output.ts'
import { type Restored, restoreInstallation } from './restore-installation.ts'

interface RestoreFlags {
  readonly key: string | undefined
  readonly backup: string | undefined
  readonly host: string | undefined
  readonly trial: boolean
}

/** `stead restore` */
export async function restore({ config, flags }: Call<RestoreFlags, BackupKey>): Promise<void> {
  const bar = livingBar(process.stderr)
  const onProgress = (doing: string) => bar.show({ doing, receivedBytes: 0, totalBytes: null })
  try {
    const restored = await restoreInstallation(config as Pick<Config, BackupKey>, {
      ...flags,
      isTrial: flags.trial,
      onProgress,
    })
    bar.done()
    const { withoutBackup, unknown, damaged, ...facts } = restored
    if (flags.json) return printOne({ ...facts, damaged, withoutBackup, unknown }, true)
    printOne(facts, false)
    console.log(`\n${nextSteps(restored, flags.trial)}`)
  } finally {
    bar.done()
  }
}

function nextSteps({ host, of, damaged, withoutBackup, unknown }: Restored, isTrial: boolean): string {
  const lines = [
    host === null
      ? 'The records are back. No host was in them: start Stead.'
      : `The records are back, and this folder is ${host}. Start Stead: sites come back one by one from their newest backups, and answer 503 until then.`,
    isTrial
      ? 'Backups stay those of the installation that this is a copy of: it may run, on another network, and none are made here. Start this one with STEAD_SCHEDULED_BACKUPS=false.'
      : 'The installation that this is a copy of must never be started again. It can change none of the backups any more.',
  ]
  if (damaged.length > 0)
    lines.push(
      `${damaged.length} newer backups of the records are damaged and were passed over, so that what was changed after ${of} is not in the records:`,
      ...damaged.map(({ name, reason }) => `  ${name}: ${reason}`),
    )
  if (withoutBackup.length > 0)
    lines.push(`Sites without a whole backup, which cannot come back: ${withoutBackup.join(', ')}`)
  if (unknown.length > 0)
    lines.push(
      `The storage has backups of ${unknown.length} sites that were made after these records: site ${unknown.join(', ')}`,
    )
  return lines.join('\n')
}
