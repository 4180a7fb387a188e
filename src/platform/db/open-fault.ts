import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import { OperatorError } from '../operator-error.ts'
import { CommitUnknown } from './commit-unknown.ts'
import { isUnreachable } from './database.ts'

const SQLITE = {
  readonly: 8,
  io: 10,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  notADatabase: 26,
}

/** Describes the database without a password. */
export function describeDatabase({ url, file }: { url?: string | undefined; file: string }): string {
  if (!url) return file
  const { host, pathname } = new URL(url)
  return `the PostgreSQL database ${host}${pathname}`
}

/** The connection to the database is gone. A later try may succeed. */
export class DatabaseLost extends OperatorError {
  override readonly name = 'DatabaseLost'
}

export function databaseLost(error: unknown, where: { url?: string | undefined; file: string }): DatabaseLost {
  const { code, message } = error as { code?: string; message?: string }
  const name = describeDatabase(where).replace(/^the /, 'The ')
  const text = `${name} cannot be reached (${code ?? message}). Check STEAD_DATABASE_URL.`
  return new DatabaseLost(text, { cause: error, exitCode: 1 })
}

/**
 * Returns whether the connection is gone. A write that a role makes while it starts is repeated, or found, at its next
 * start.
 */
export const isLost = (error: unknown): boolean => isUnreachable(error) || error instanceof CommitUnknown

/** The space that SQLite needs to open a file. */
const NEEDED_BYTES = 1 << 20

function isFull(file: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(dirname(file))
    return bavail * bsize < NEEDED_BYTES
  } catch {
    return false
  }
}

const inFull = (file: string): string =>
  `${file} cannot be used: the disk of ${dirname(file)} is full. Make room on it, then start again.`

/** Explains an error from opening the database, with advice for the operator. Returns any other error unchanged. */
export function openFault(error: unknown, where: { url?: string | undefined; file: string }): unknown {
  if (error instanceof OperatorError) return error
  const { code, errcode, message } = error as { code?: string; errcode?: number; message?: string }
  const name = describeDatabase(where)
  const because = (text: string, exitCode: 1 | 2 = 2) => new OperatorError(text, { cause: error, exitCode })
  if (where.url) {
    if (isLost(error)) return databaseLost(error, where)
    if (/^(28...|3D000|42501)$/.test(code ?? ''))
      return because(`${name} cannot be used: ${message}. Check STEAD_DATABASE_URL.`)
    return error
  }
  switch ((errcode ?? 0) % 256) {
    case SQLITE.notADatabase:
    case SQLITE.corrupt:
      return because(
        `${name} is damaged: ${message}. Nothing was changed. Restore it from a backup, together with its -wal file if it exists.`,
      )
    case SQLITE.full:
      return because(inFull(where.file), 1)
    case SQLITE.cannotOpen:
    case SQLITE.readonly:
    case SQLITE.io:
      // SQLite reports a disk error if it has no space for its log.
      if (isFull(where.file)) return because(inFull(where.file), 1)
      return because(
        `${name} cannot be used: ${message}. The user of Stead must own the file and be able to write to it, and the disk must work.`,
      )
  }
  if (typeof code === 'string' && /^E[A-Z]+$/.test(code) && errcode === undefined)
    return because(
      `${name} cannot be opened (${code}). The user of Stead must own the file and be able to write to it.`,
    )
  return error
}
