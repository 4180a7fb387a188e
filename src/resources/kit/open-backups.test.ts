import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { backupStorage } from './open-backups.ts'

/** Which key signed each request to a service without content. */
let keys: (string | undefined)[]
let endpoint: string
const server = createServer((request, response) => {
  keys.push(/Credential=(\w+)\//.exec(request.headers.authorization ?? '')?.[1])
  response.writeHead(404).end()
})
beforeEach(async () => {
  keys = []
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'MACHINE')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'of the machine')
})
afterEach(() => {
  vi.unstubAllEnvs()
  server.closeAllConnections()
  server.close()
})

test.each([
  [{ backupS3AccessKeyId: 'SETTING', backupS3SecretAccessKey: 'secret' }, 'SETTING'],
  [{ backupS3AccessKeyId: 'SETTING' }, 'MACHINE'],
  [{ backupS3SecretAccessKey: 'secret' }, 'MACHINE'],
  [{}, 'MACHINE'],
])(
  'opens a bucket with the complete key of the settings, or with the machine’s own identity: %j',
  async (given, key) => {
    const storage = backupStorage({
      ...{ dataDir: '/nowhere', diskReserveMb: 0, backupDir: undefined, backupS3Bucket: 'bucket', backupS3Prefix: '' },
      ...{ backupS3Region: 'eu', backupS3Endpoint: endpoint, ...given },
    } as Parameters<typeof backupStorage>[0])
    expect(await storage.get('a')).toBeUndefined()
    expect(keys).toEqual([key])
  },
)
