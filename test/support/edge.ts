/** Runs a real edge process alone, in front of a host whose responses the test determines. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Database } from '../../src/platform/db/database.ts'
import { putRoute } from '../../src/resources/sites/addresses/route.store.ts'
import { insertSite } from '../../src/resources/sites/site.store.ts'
import { allocatorOf } from '../../src/roles/start/allocator.ts'
import { testDatabase } from './database.ts'
import { siteDraft } from './site-draft.ts'
import { freePort, program } from './stead.ts'

export interface EdgeProcess {
  readonly port: number
  /** Resident memory in MB. */
  memoryMb(): number
  isRunning(): boolean
  stop(): Promise<void>
}

/** @param sites names; each answers as `<name>.localhost`, with edge cache and CDN on */
export async function startEdgeProcess(
  sites: readonly string[],
  listener: RequestListener,
  env: Record<string, string>,
): Promise<EdgeProcess> {
  const host = createServer(listener)
  host.listen(0, '127.0.0.1')
  await once(host, 'listening')
  const address = `http://127.0.0.1:${(host.address() as AddressInfo).port}`
  const made = await testDatabase('sqlite')
  await addSites(made.database, sites, address)
  const port = await freePort()
  const child = spawn(process.execPath, [program, 'edge'], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: {
      ...allocatorOf('edge'),
      PATH: process.env.PATH,
      STEAD_DATA_DIR: dirname(made.connection.file),
      STEAD_EDGE_LISTEN: `127.0.0.1:${port}`,
      STEAD_LOG_LEVEL: 'warn',
      STEAD_MASTER_KEY: Buffer.alloc(32, 1).toString('base64'),
      NODE_OPTIONS: '--max-old-space-size=64 --max-semi-space-size=4',
      ...env,
    },
  })
  await once(child, 'message')
  return {
    port,
    memoryMb: () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 1024,
    isRunning: () => child.exitCode === null && child.signalCode === null,
    async stop() {
      host.closeAllConnections()
      host.close()
      if (child.exitCode === null && child.signalCode === null) {
        const ended = once(child, 'exit')
        child.kill('SIGKILL')
        await ended
      }
      await pause(10)
      await made.drop()
    },
  }
}

async function addSites(database: Database, names: readonly string[], address: string): Promise<void> {
  const now = Date.now()
  await database.transaction(async (tx) => {
    const texts = { email: 'a@b.test', name: '', organization: '', phone_number: '', plan: 'agency' }
    const account = { ...texts, default_php_version: '8.3', created_at: now }
    const { id: accountId } = await tx.insertInto('accounts').values(account).returning('id').executeTakeFirstOrThrow()
    const host = { name: 'h', address, datacenters: '', max_sites: 1e6, facts: '{}', seen_at: now }
    const { id: hostId } = await tx.insertInto('hosts').values(host).returning('id').executeTakeFirstOrThrow()
    for (const name of names) {
      const site = await insertSite(tx, siteDraft(name, { accountId, hostId }), now)
      await putRoute(tx, site.id, `${name}.localhost`, now)
      await tx.updateTable('sites').set({ state: 'live' }).where('id', '=', site.id).execute()
    }
  })
}
