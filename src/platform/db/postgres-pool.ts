import pg from 'pg'
import { BoundedClient } from './postgres-client.ts'

/**
 * Opens connections to PostgreSQL that survive restarts of the server. The loss of a connection only affects those that
 * wait for an answer.
 */
export function openPool(config: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool({ Client: BoundedClient, ...config })
  // Without a listener, the loss of a connection would end the process, for an idle one and for one inside a
  // transaction.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}
