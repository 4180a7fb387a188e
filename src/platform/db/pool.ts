import pg from 'pg'
import { BoundedClient } from './postgres-client.ts'

/** Connections to PostgreSQL that outlive the server's: one that is lost is told to whoever waits for an answer, and to nobody else. */
export function openPool(config: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool({ Client: BoundedClient, ...config })
  // without a listener the loss of a connection would end the process: of an idle one, and of one inside a transaction
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}
