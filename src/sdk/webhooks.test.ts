import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { verifyWebhook, WebhookError } from './index.ts'

const secret = `whsec_${Buffer.from('a key of thirty-two bytes, nearly').toString('base64')}`
const other = `whsec_${Buffer.from('another key').toString('base64')}`
const body = '{"type": "site_created", "data": {"name": "größe"}}'
const now = 1_700_000_000_000

const signature = (key: string, text = body, id = 'msg_1', time = now / 1000) =>
  `v1,${createHmac('sha256', Buffer.from(key.slice(6), 'base64'))
    .update(`${id}.${time}.${text}`)
    .digest('base64')}`
const headers = (values: Record<string, string> = {}) => ({
  'webhook-id': 'msg_1',
  'webhook-timestamp': String(now / 1000),
  'webhook-signature': signature(secret),
  ...values,
})

test('the example from the tests of the Standard Webhooks libraries', async () => {
  const given = {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  }
  const delivery = {
    secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    body: '{"test": 2432232314}',
    now: 1614265330000,
  }
  expect(await verifyWebhook({ ...delivery, headers: given })).toEqual({ test: 2432232314 })
})

test('a delivery as received, text or bytes, with either type of headers', async () => {
  const event = { type: 'site_created', data: { name: 'größe' } }
  expect(await verifyWebhook({ secret, headers: headers(), body, now })).toEqual(event)
  const bytes = new TextEncoder().encode(body)
  expect(await verifyWebhook({ secret, headers: new Headers(headers()), body: bytes, now })).toEqual(event)
  const listed = {
    'Webhook-Id': 'msg_1',
    'Webhook-Timestamp': [String(now / 1000)],
    'Webhook-Signature': [signature(secret)],
  }
  expect(await verifyWebhook({ secret, headers: listed, body, now })).toEqual(event)
})

test('one of several signatures, one of several secrets', async () => {
  const both = { 'webhook-signature': `v1a,AAAA ${signature(other)} ${signature(secret)}` }
  expect(await verifyWebhook({ secret, headers: headers(both), body, now })).toBeDefined()
  expect(await verifyWebhook({ secret: [other, secret], headers: headers(), body, now })).toBeDefined()
})

test.each([
  ['another secret', { secret: other }],
  ['another body', { body: body.replace('created', 'deleted') }],
  ['the same, written otherwise', { body: JSON.stringify(JSON.parse(body)) }],
  ['another id', { headers: headers({ 'webhook-id': 'msg_2' }) }],
  ['another version', { headers: headers({ 'webhook-signature': signature(secret).replace('v1', 'v2') }) }],
  ['too old', { now: now + 301_000 }],
  ['of the future', { now: now - 301_000 }],
  ['a tolerance of its own', { now: now + 11_000, toleranceSeconds: 10 }],
  ['no time', { headers: headers({ 'webhook-timestamp': 'soon' }) }],
  ['no base64', { headers: headers({ 'webhook-signature': 'v1,*' }) }],
  ['no signature', { headers: headers({ 'webhook-signature': '' }) }],
  ['no secret', { secret: 'whsec_' }],
])('refused: %s', async (_what, values) => {
  await expect(verifyWebhook({ secret, headers: headers(), body, now, ...values })).rejects.toBeInstanceOf(WebhookError)
})
