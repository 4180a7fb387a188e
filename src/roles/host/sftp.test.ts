import { once } from 'node:events'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import ssh2 from 'ssh2'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type TestApi, testApi } from '../../../test/support/api.ts'
import { hashPassword } from '../../platform/crypto/password.ts'
import { noLog } from '../../platform/log/log.ts'
import { enqueue } from '../../platform/operations/enqueue.ts'
import { closeForWork, openAfterWork } from '../../resources/sites/switches/close-for-work.ts'
import { configureSite } from '../../resources/sites/switches/configure-site.job.ts'
import type { ProcessContext } from '../process-context.ts'
import { CannotListen } from '../start/free-port.ts'
import { openSftp, type Sftp } from './sftp.ts'

const PASSWORD = 'the password'

let api: TestApi
let folder: string
let sftp: Sftp | undefined
beforeEach(async () => {
  api = await testApi('sqlite')
  folder = await mkdtemp(join(tmpdir(), 'stead-sftp-role-'))
  for (const name of ['home/web', 'core']) await mkdir(join(folder, name), { recursive: true })
})
afterEach(async () => {
  await sftp?.close()
  sftp = undefined
  await api.close()
  await rm(folder, { recursive: true })
})

/** Returns a port that was free a moment ago. */
async function somePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

const open = (hostId: number, port: number) => {
  const config = { ...api.config, dataDir: folder, sftpListen: { host: '127.0.0.1', port } }
  const site = { siteDirectory: join(folder, 'home'), corePath: join(folder, 'core'), uid: null }
  const parts = {
    hostId,
    sites: { find: async () => site },
    php: { changes: { take() {} } },
    mariaDb: { databaseBytes: () => 0 },
  }
  return openSftp({ config, database: api.database, log: noLog } as unknown as ProcessContext, parts as never)
}

test('a port in use stops the start, and the error names the setting', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  try {
    const failure = await open(1, port).catch((error) => error)
    expect(failure).toBeInstanceOf(CannotListen)
    expect(failure.message).toBe(
      `127.0.0.1:${port} is in use by another program. Choose another with STEAD_SFTP_LISTEN.`,
    )
  } finally {
    other.close()
  }
})

test('a site that is closed for an operation has no connection, and accepts none until it is open', async () => {
  const owner = await api.person('owner@example.com')
  const siteId = await api.site(owner, 'worked-on')
  const { database } = api
  const site = await database.read.selectFrom('sites').selectAll().where('id', '=', siteId).executeTakeFirstOrThrow()
  const password_hash = await hashPassword(PASSWORD)
  await database.transaction((tx) =>
    tx.updateTable('sftp_users').set({ password_hash }).where('site_id', '=', siteId).execute(),
  )
  const { username } = await database.read
    .selectFrom('sftp_users')
    .select('username')
    .where('site_id', '=', siteId)
    .executeTakeFirstOrThrow()
  const port = await somePort()
  const opened = await open(Number(site.host_id), port)
  sftp = opened
  const clients: ssh2.Client[] = []
  /** @returns whether a folder can be listed */
  const enter = async () => {
    const client = new ssh2.Client()
    clients.push(client)
    return new Promise<boolean>((resolve) => {
      client
        .on('ready', () =>
          client.sftp((error, channel) => (error ? resolve(false) : channel.readdir('/', (fault) => resolve(!fault)))),
        )
        .on('error', () => resolve(false))
        .on('close', () => resolve(false))
        .connect({ host: '127.0.0.1', port, username, password: PASSWORD, readyTimeout: 60_000 })
    })
  }
  expect(await enter()).toBe(true)
  const gone = once(clients[0] as ssh2.Client, 'close')
  const operationId = await database.transaction((tx) =>
    enqueue(tx, configureSite, { siteId }, { siteId, hostId: Number(site.host_id), accountId: owner.accountId }),
  )
  const services = {
    pool: { hold: async () => {}, release() {} },
    endSftp: (id: number) => opened.endOfSite(id),
    keepClosed: async () => {},
  }
  const transaction = database.transaction.bind(database)
  const context = { services, operationId, transaction, now: Date.now } as never
  await closeForWork(context, siteId)
  await gone
  expect(await enter()).toBe(false)
  await openAfterWork(context, siteId)
  expect(await enter()).toBe(true)
  for (const client of clients) client.destroy()
}, 120_000)
