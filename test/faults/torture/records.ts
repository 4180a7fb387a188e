import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'

export type Row = Record<string, string | number | null>

/** Reads Stead's database directly. */
export type Records = (statement: string) => Promise<Row[]>

/** @param at the SQLite file, or a `postgres://` address (of the server itself, not of the proxy) */
export function recordsOf(at: { file: string } | { url: string }): Records {
  if ('file' in at)
    return async (statement) => {
      const database = new DatabaseSync(at.file, { readOnly: true, timeout: 5000 })
      try {
        return database.prepare(statement).all() as Row[]
      } finally {
        database.close()
      }
    }
  return async (statement) => {
    const client = new pg.Client({ connectionString: at.url })
    client.on('error', () => {})
    await client.connect()
    try {
      const { rows } = await client.query(statement)
      return rows.map(withNumbers)
    } finally {
      await client.end()
    }
  }
}

/** 64-bit integers arrive as text. */
const withNumbers = (row: Row): Row =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value,
    ]),
  )
