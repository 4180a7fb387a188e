import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createGateway } from '../../edge/gateway/gateway.ts'
import { edgeRules } from '../../edge/rules/index.ts'
import { createLeadsHere } from '../../edge/rules/leads-here.ts'
import { HERE_PURPOSE } from '../../platform/crypto/edge-keys.ts'
import { createSealer } from '../../platform/crypto/seal.ts'
import { createComesBack, marksHere } from './comes-back.ts'

const [sealer, another] = [createSealer(Buffer.alloc(32, 1)), createSealer(Buffer.alloc(32, 2))]
const log = { debug() {}, warn() {}, error() {} }
let close: () => Promise<void>
let port: number
beforeEach(async () => {
  const leadsHere = createLeadsHere((text) => sealer.mark(text, HERE_PURPOSE))
  const gateway = createGateway({
    routes: { find: () => undefined },
    log,
    hostKey: 'key',
    rules: edgeRules({ leadsHere }),
  })
  gateway.server.listen(0, '127.0.0.1')
  await once(gateway.server, 'listening')
  port = (gateway.server.address() as AddressInfo).port
  close = async () => {
    gateway.server.closeAllConnections()
    await gateway.close()
  }
})
afterEach(() => close())

const comesBack = (by = sealer, at = port) =>
  createComesBack({ config: { allowPrivateFetch: true }, markHere: marksHere(by), port: at })('localhost')

test('a name leads here if a request for it comes back, and not if another installation or server answers', async () => {
  expect(await comesBack()).toBe(true)
  expect(await comesBack(another)).toBe(false)
  const silent = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  expect(await comesBack(sealer, (silent.address() as AddressInfo).port)).toBe(false)
  silent.close()
})
