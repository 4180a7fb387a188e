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

/** The database in words, without a password. */
export function databaseInWords({ url, file }: { url?: string | undefined; file: string }): string {
  if (!url) return file
  const { host, pathname } = new URL(url)
  return `the PostgreSQL database ${host}${pathname}`
}

/** There is no connection to the database. A later try may find one. */
export class DatabaseLost extends OperatorError {
  override readonly name = 'DatabaseLost'
}

export function databaseLost(error: unknown, where: { url?: string | undefined; file: string }): DatabaseLost {
  const { code, message } = error as { code?: string; message?: string }
  const name = databaseInWords(where).replace(/^the /, 'The ')
  const text = `${name} cannot be reached (${code ?? message}). See STEAD_DATABASE_URL.`
  return new DatabaseLost(text, { cause: error, exitCode: 1 })
}

/** The connection is gone. What was being written while a part starts is written again, or found, at its next start. */
export const isLost = (error: unknown): boolean => isUnreachable(error) || error instanceof CommitUnknown

/** What went wrong when the database was opened, as what a person can do about it; any other error as it is. */
export function openFault(error: unknown, where: { url?: string | undefined; file: string }): unknown {
  if (error instanceof OperatorError) return error
  const { code, errcode, message } = error as { code?: string; errcode?: number; message?: string }
  const name = databaseInWords(where)
  const because = (text: string, exitCode: 1 | 2 = 2) => new OperatorError(text, { cause: error, exitCode })
  if (where.url) {
    if (isLost(error)) return databaseLost(error, where)
    if (/^(28...|3D000|42501)$/.test(code ?? ''))
      return because(`${name} cannot be used: ${message}. See STEAD_DATABASE_URL.`)
    return error
  }
  switch ((errcode ?? 0) % 256) {
    case SQLITE.notADatabase:
    case SQLITE.corrupt:
      return because(
        `${name} is damaged: ${message}. Nothing was changed. Put it back from a backup, together with its -wal file if there is one.`,
      )
    case SQLITE.cannotOpen:
    case SQLITE.readonly:
    case SQLITE.io:
      return because(
        `${name} cannot be used: ${message}. Stead's user must own it and be able to write to it, and the disk must be well.`,
      )
    case SQLITE.full:
      return because(`${name} cannot be used: the disk is full.`, 1)
  }
  if (typeof code === 'string' && /^E[A-Z]+$/.test(code) && errcode === undefined)
    return because(`${name} cannot be opened (${code}). Stead's user must own it and be able to write to it.`)
  return error
}
