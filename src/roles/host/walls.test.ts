import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, get, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../../../test/support/database.ts'
import { readConfig } from '../../config.ts'
import { createSealer } from '../../platform/crypto/seal.ts'
import { noLog } from '../../platform/log/log.ts'
import { reportProcess } from '../../platform/processes/process.store.ts'
import type { RoleIdentity } from '../certificates/role-certificate.ts'
import type { ProcessContext } from '../process-context.ts'
import { openHostIdentity, openWalls, type Walls } from './walls.ts'

let made: TestDatabase
let server: Server | undefined
let walls: Walls | undefined
let identity: RoleIdentity | undefined
beforeEach(async () => {
  made = await testDatabase('sqlite')
})
afterEach(async () => {
  server?.close()
  walls?.end()
  identity?.close()
  server = undefined
  walls = undefined
  await made.drop()
})

const POSTGRES = { STEAD_DATABASE_URL: 'postgres://stead@10.0.0.2/stead' }
async function open(settings: Record<string, string>): Promise<Walls | undefined> {
  const config = readConfig(settings)
  const masterKey = randomBytes(32)
  const keys = { masterKey, sealer: createSealer(masterKey) }
  const context = { config, database: made.database, ...keys, log: noLog } as Partial<ProcessContext> as ProcessContext
  identity = await openHostIdentity(context, 'h1')
  walls = await openWalls(context, identity, 'h1')
  return walls
}
const report = (serial?: string) =>
  made.database.transaction((tx) => reportProcess(tx, { id: 'edge-1', part: 'edge', metrics: [], serial }, Date.now()))

/** Starts a protected server, and asks it without TLS. @returns the status */
async function askPlainly(): Promise<number | undefined> {
  server = createServer((_request, response) => response.end())
  walls?.guard(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const [response] = await once(get({ port, host: '127.0.0.1', agent: false }), 'response')
  response.resume()
  return response.statusCode
}

test('a host that only its own machine reaches has no walls, and no certificate', async () => {
  expect(await open({ STEAD_HOST_LISTEN: '10.0.0.5:8090' })).toBeUndefined()
  expect(await open({ ...POSTGRES, STEAD_HOST_LISTEN: '127.0.0.1:8090' })).toBeUndefined()
  expect(await open({ ...POSTGRES, STEAD_HOST_LISTEN: '[::1]:8090' })).toBeUndefined()
  expect(await made.database.read.selectFrom('role_certificates').select('serial').execute()).toEqual([])
})

test('a host that other machines reach announces who it is', async () => {
  expect((await open({ ...POSTGRES, STEAD_HOST_LISTEN: '10.0.0.5:0' }))?.address(8090)).toBe('https://h1@10.0.0.5:8090')
  walls?.end()
  const behind = { STEAD_HOST_LISTEN: '0.0.0.0:8090', STEAD_HOST_ADVERTISE: '10.0.0.9:443' }
  expect((await open({ ...POSTGRES, ...behind }))?.address(8090)).toMatch(/^https:\/\/h1@10\.0\.0\.9(?::443)?$/)
})

test('it refuses connections without TLS, unless an edge of an earlier version runs', async () => {
  await report('0123')
  await open({ ...POSTGRES, STEAD_HOST_LISTEN: '10.0.0.5:0' })
  expect(await askPlainly()).toBe(403)
  server?.close()
  walls?.end()
  await report()
  await open({ ...POSTGRES, STEAD_HOST_LISTEN: '10.0.0.5:0' })
  expect(await askPlainly()).toBe(200)
})
