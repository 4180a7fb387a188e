/** Tests an authority that does not keep its promises. */
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { AuthorityAway, makeKey, openAuthority, register } from './authority.ts'

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  closing.push(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function faultOf(origin: string): Promise<Error> {
  const client = openAuthority({
    directory: `${origin}/directory`,
    accountKey: await makeKey(),
    accountUrl: null,
    roots: undefined,
  })
  return register(client, undefined).then(
    () => new Error('it was taken'),
    (error) => error,
  )
}

test('is not followed to another origin: neither by a redirect nor by an address that it names', async () => {
  const asked: string[] = []
  const inside = await serve((request, response) => {
    asked.push(request.url ?? '')
    response.end('{}')
  })
  const redirecting = await serve((_, response) => response.writeHead(302, { location: `${inside}/secret` }).end())
  const naming = await serve((_, response) => {
    response.setHeader('content-type', 'application/json')
    const places = { newNonce: `${inside}/nonce`, newAccount: `${inside}/account`, newOrder: `${inside}/order` }
    response.end(JSON.stringify(places))
  })
  for (const origin of [redirecting, naming]) expect(await faultOf(origin)).toBeInstanceOf(AuthorityAway)
  expect(asked).toEqual([])
})

test('is abandoned when its answer does not end', async () => {
  const origin = await serve((_, response) => {
    const piece = Buffer.alloc(1 << 18, ' ')
    const send = () => {
      while (!response.destroyed && response.write(piece));
    }
    response.on('drain', send)
    send()
  })
  const fault = await faultOf(origin)
  expect(fault).toBeInstanceOf(AuthorityAway)
  expect(fault.message).toContain('maxContentLength')
})
