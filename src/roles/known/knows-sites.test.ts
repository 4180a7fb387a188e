import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readConfig } from '../../config.ts'
import { KnownRoutes } from '../../edge/routing/known-routes.ts'
import { routeTo } from '../../edge/test-support.ts'
import { edgeKeysOf } from '../../platform/crypto/edge-keys.ts'
import { hostKeysOf } from '../../platform/crypto/host-keys.ts'
import { createSealer } from '../../platform/crypto/seal.ts'
import { isLost } from '../../platform/db/open-fault.ts'
import { noLog } from '../../platform/log/log.ts'
import { keysOfEdge, keysOfHost, keysOfMaster } from '../keys/process-keys.ts'
import { openProcessContext, type ProcessContext } from '../process-context.ts'
import { keptSites } from './kept-sites.ts'
import { knownRoutesFile, knowsSites } from './knows-sites.ts'

let dataDir: string
const key = randomBytes(32)
const sealer = createSealer(key)
const opened: ProcessContext[] = []
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'stead-knows-'))
})
afterEach(async () => {
  for (const { database, logs } of opened.splice(0)) {
    await logs.close()
    await database.close()
  }
  await rm(dataDir, { recursive: true })
})

const known = () => ({ config: { dataDir }, sealer, log: noLog })
async function learnSites(by = sealer) {
  const kept = keptSites({ ...known(), sealer: by })
  kept.use({ hostId: 1, identity: 'me', name: 'h1', port: 8090 })
  await kept.keep([])
}
function learnRoute(by = sealer) {
  const routes = new KnownRoutes({ file: knownRoutesFile({ dataDir }), ...known(), sealer: by })
  routes.want(routeTo('http://127.0.0.1:1', { hostName: 'a.test' }))
  routes.close()
}

test('an edge knows sites if a visitor has used one', async () => {
  expect(await knowsSites(known(), 'edge')).toBe(false)
  await learnSites()
  expect(await knowsSites(known(), 'edge')).toBe(false)
  learnRoute()
  expect(await knowsSites(known(), 'edge')).toBe(true)
  expect(await knowsSites({ ...known(), sealer: createSealer(randomBytes(32)) }, 'host')).toBe(false)
})

describe('a start while no database answers', () => {
  const start = async (role: string) => {
    const settings = { STEAD_DATA_DIR: dataDir, STEAD_DATABASE_URL: 'postgres://nobody@127.0.0.1:9/none' }
    const config = readConfig({ ...settings, STEAD_MASTER_KEY: key.toString('base64'), STEAD_LOG_LEVEL: 'fatal' })
    const context = await openProcessContext(config, role)
    opened.push(context)
    return context
  }

  test.each(['host', 'serve', 'edge'])('goes on for a %s that knows sites', async (role) => {
    await learnSites()
    learnRoute()
    const { untilBack, database, masterKey } = await start(role)
    expect(untilBack).toBeInstanceOf(Promise)
    expect(masterKey).toEqual(key)
    const reading = database.read.selectFrom('sites').select('id').execute()
    await expect(reading.catch((error) => Promise.reject(isLost(error)))).rejects.toBe(true)
  })

  test('goes on for a host that joined, with the keys that it got', async () => {
    const keys = hostKeysOf(key, 'h1')
    await learnSites(keysOfHost(keys).sealer)
    await writeFile(join(dataDir, 'joined.json'), JSON.stringify({ role: 'host', name: 'h1', keys }))
    const settings = { STEAD_DATA_DIR: dataDir, STEAD_DATABASE_URL: 'postgres://nobody@127.0.0.1:9/none' }
    const context = await openProcessContext(readConfig({ ...settings, STEAD_LOG_LEVEL: 'fatal' }), 'host')
    opened.push(context)
    expect([context.masterKey, context.hasOwnLogin]).toEqual([undefined, false])
    expect(context.untilBack).toBeInstanceOf(Promise)
    expect(context.hostKey).toBe(keysOfMaster(key).hostKey)
  })

  test('goes on for an edge that joined, with the keys that it got', async () => {
    const keys = edgeKeysOf(key)
    learnRoute(keysOfEdge(keys).sealer)
    const joined = { role: 'edge', name: 'web1', databaseUrl: 'postgres://nobody@127.0.0.1:9/none', keys }
    await writeFile(join(dataDir, 'joined.json'), JSON.stringify(joined))
    const context = await openProcessContext(readConfig({ STEAD_DATA_DIR: dataDir, STEAD_LOG_LEVEL: 'fatal' }), 'edge')
    opened.push(context)
    expect([context.masterKey, context.hasOwnLogin]).toEqual([undefined, true])
    expect(context.untilBack).toBeInstanceOf(Promise)
    expect(context.hostKey).toBe(keysOfMaster(key).hostKey)
  })
})
