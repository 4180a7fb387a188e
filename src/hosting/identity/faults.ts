import { OperatorError } from '../../platform/operator-error.ts'
import type { FolderFacts, StrangerReason } from './belonging.ts'

interface Pair {
  readonly dataDir: string
  readonly folder: FolderFacts
  /** The database in words, without a secret. */
  readonly database: string
}

const homes = (count: number): string => (count === 1 ? '1 home of a site' : `${count} homes of sites`)

const adopt =
  'If this folder and this database are to go together from now on: stead host adopt ' +
  '(what is on the disk and not in the database is kept, set aside).'

/** The folder belongs to another database. */
export function strangers(reason: StrangerReason, { dataDir, folder, database }: Pair): OperatorError {
  const found = {
    'other installation': `The data folder ${dataDir} (${homes(folder.homes)}) is of another installation of Stead than ${database}.`,
    'host unknown': `The data folder ${dataDir} (${homes(folder.homes)}) has been in use, and ${database} has never heard of its host.`,
    'homes of an unknown host': `The data folder ${dataDir} holds ${homes(folder.homes)}, and ${database} does not know its host${folder.hostName ? ` ${folder.hostName}` : ''}.`,
  }[reason]
  return new OperatorError(
    `${found} Nothing was changed.\nSet STEAD_DATABASE_URL and STEAD_DATA_DIR to a pair that belongs together, or put the right database back. ${adopt}`,
  )
}

/** The database file of a folder in use is gone. */
export const databaseMissing = (dataDir: string, folder: FolderFacts): OperatorError =>
  new OperatorError(
    `The data folder ${dataDir} (${homes(folder.homes)}) has been in use, and its database stead.db is missing. Nothing was changed.\n` +
      `Put stead.db back from a backup, or set STEAD_DATABASE_URL if it is in PostgreSQL. To begin with an empty database: stead host adopt ` +
      '(homes of sites are kept, set aside).',
  )

export const copyRuns = (dataDir: string, name: string): OperatorError =>
  new OperatorError(
    `${name} runs already, from another copy of the data folder ${dataDir}. Stop that one first; a folder for a host of its own must be a new one.`,
  )

/** Thrown by a running host that is not the newest any more. */
export const fenced = (name: string): OperatorError =>
  new OperatorError(
    `${name} was started elsewhere, from a copy of this data folder, or its database was put back: this process ends, so that no site runs twice.`,
    { exitCode: 1 },
  )
