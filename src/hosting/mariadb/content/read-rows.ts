import type { Connection } from 'mysql2/promise'

/** Rows that lie here unread: more are left to the server. */
const MOST_BYTES = 1 << 20

export type RawRow = readonly (Buffer | null)[]

/** What of the client is used here, which is below what it promises. */
interface RawConnection {
  query(options: object): {
    on(event: 'result', listener: (row: RawRow) => void): unknown
    on(event: 'error', listener: (error: Error) => void): unknown
    on(event: 'end', listener: () => void): unknown
  }
  pause(): void
  resume(): void
}

/**
 * Rows of one statement as the server writes them, as bytes, no faster than they are taken. Who does not take all of them has to destroy the
 * connection.
 */
export async function* readRows(connection: Connection, sql: string): AsyncGenerator<readonly RawRow[], void, void> {
  const raw = (connection as unknown as { connection: RawConnection }).connection
  let rows: RawRow[] = []
  let bytes = 0
  let isOver = false
  let fault: Error | undefined
  let wake = () => {}
  const query = raw.query({ sql, rowsAsArray: true })
  query.on('result', (row) => {
    rows.push(row)
    for (const value of row) bytes += 16 + (value?.length ?? 0)
    if (bytes > MOST_BYTES) raw.pause()
    wake()
  })
  query.on('error', (error) => {
    fault = error
    wake()
  })
  query.on('end', () => {
    isOver = true
    wake()
  })
  for (;;) {
    if (rows.length > 0) {
      const taken = rows
      rows = []
      bytes = 0
      yield taken
      raw.resume()
    } else if (fault) throw fault
    else if (isOver) return
    else
      await new Promise<void>((resolve) => {
        wake = resolve
      })
  }
}
