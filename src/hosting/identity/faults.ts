import { OperatorError } from '../../platform/operator-error.ts'
import type { FolderFacts, StrangerReason } from './belonging.ts'

interface Pair {
  readonly dataDir: string
  readonly folder: FolderFacts
  /** A description of the database, without secrets. */
  readonly database: string
}

const siteDirectories = (count: number): string => (count === 1 ? '1 site directory' : `${count} site directories`)

const adopt =
  'To use this folder with this database from now on, run stead host adopt ' +
  '(Stead quarantines what the database does not know, and deletes nothing).'

/** Returns the error for a folder that belongs to another database. */
export function strangers(reason: StrangerReason, { dataDir, folder, database }: Pair): OperatorError {
  const found = {
    'other installation': `The data folder ${dataDir} (${siteDirectories(folder.siteDirectories)}) belongs to another installation of Stead than ${database}.`,
    'host unknown': `The data folder ${dataDir} (${siteDirectories(folder.siteDirectories)}) was used before, but ${database} does not know its host.`,
    'homes of an unknown host': `The data folder ${dataDir} contains ${siteDirectories(folder.siteDirectories)}, but ${database} does not know its host${folder.hostName ? ` ${folder.hostName}` : ''}.`,
  }[reason]
  return new OperatorError(
    `${found} Nothing was changed.\nSet STEAD_DATABASE_URL and STEAD_DATA_DIR to a matching pair, or restore the correct database. ${adopt}`,
  )
}

/** Returns the error for a folder in use whose database file is missing. */
export const databaseMissing = (dataDir: string, folder: FolderFacts): OperatorError =>
  new OperatorError(
    `The data folder ${dataDir} (${siteDirectories(folder.siteDirectories)}) was used before, but its database stead.db is missing. Nothing was changed.\n` +
      `Restore stead.db from a backup, or set STEAD_DATABASE_URL if it is in PostgreSQL. To start with an empty database, run stead host adopt ` +
      '(Stead quarantines the site directories and deletes nothing).',
  )

/** Returns the error for a new host with the name of another one. */
export const nameTaken = (name: string): OperatorError =>
  new OperatorError(`Another host is named ${name}. Choose another name for this one with STEAD_HOST_NAME.`)

export const copyRuns = (dataDir: string, name: string): OperatorError =>
  new OperatorError(
    `${name} already runs from another copy of the data folder ${dataDir}. Stop that one first. For a new host, use a new folder.`,
  )

/** Returns the error for a start without the database on a folder that has become another host. */
export const foreignKnowledge = (dataDir: string): OperatorError =>
  new OperatorError(
    `The database is unavailable, and known-sites.json in the data folder ${dataDir} is from another host. Start Stead again when the database is available.`,
    { exitCode: 1 },
  )

/** Returns the error with which a running host stops when it is no longer the newest. */
export const fenced = (name: string): OperatorError =>
  new OperatorError(
    `${name} was started from a copy of this data folder, or its database was restored. This process stops, so that no site runs twice.`,
    { exitCode: 1 },
  )

/** Returns the error for a host that the operator marked lost or removed. */
export const givenUp = (name: string, state: 'lost' | 'removed'): OperatorError =>
  new OperatorError(
    state === 'lost'
      ? `${name} is marked lost, and its sites are being recovered on other hosts. This process stops, so that no site runs twice. ` +
          `To use the host again, run stead host return --name=${name}. It then quarantines the directories of sites that have moved.`
      : `${name} was removed from this installation. To use this machine again, start a host on an empty data folder.`,
    { exitCode: 1 },
  )
