import type { Connection } from 'mysql2/promise'

/** The most bytes of unread rows in memory. More stay on the server. */
const MOST_BYTES = 1 << 20

export type RawRow = readonly (Buffer | null)[]

/** The parts of the client below its promise API that are used here. */
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
 * Reads the rows of a statement as bytes, as the server sends them, no faster than the consumer takes them. A consumer
 * that stops early must destroy the connection.
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
