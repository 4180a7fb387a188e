import type { Config } from '../../config.ts'
import { livingBar } from '../../platform/terminal/progress-bar.ts'
import type { Call } from '../command.ts'
import { printOne } from '../output.ts'
import type { BackupKey } from '../with-control-database.ts'
import { type Restored, restoreInstallation } from './restore-installation.ts'

interface RestoreFlags {
  readonly key: string | undefined
  readonly backup: string | undefined
  readonly host: string | undefined
  readonly trial: boolean
}

/** Runs `stead restore`. */
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
      ? 'The control database is restored. It contains no host. Start Stead.'
      : `The control database is restored, and this folder is ${host}. Start Stead. It restores the sites one by one from their newest backups. Until then, they return 503.`,
    isTrial
      ? 'This is a test copy: the backups belong to the original installation, which may keep running on another network. This copy creates no backups. Start it with STEAD_SCHEDULED_BACKUPS=false.'
      : 'Never start the original installation again. It can no longer change the backups.',
  ]
  if (damaged.length > 0)
    lines.push(
      `${damaged.length} newer backups of the control database are damaged and were skipped. Changes after ${of} are lost:`,
      ...damaged.map(({ name, reason }) => `  ${name}: ${reason}`),
    )
  if (withoutBackup.length > 0)
    lines.push(`Sites without a complete backup, which Stead cannot restore: ${withoutBackup.join(', ')}`)
  if (unknown.length > 0)
    lines.push(
      `The storage has backups of ${unknown.length} sites that are newer than this control database: site ${unknown.join(', ')}`,
    )
  return lines.join('\n')
}
