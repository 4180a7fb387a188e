import ssh2, { type AuthContext, type ParsedKey } from 'ssh2'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { noPassword } from '../../platform/crypto/password.ts'
import { Authentication, PasswordDesk } from './authentication.ts'
import { newKey } from './host-key.ts'

const keyPair = (): ParsedKey => {
  const key = ssh2.utils.parseKey(newKey())
  if (key instanceof Error) throw key
  return key
}
const [own, others] = [keyPair(), keyPair()]
const blob = Buffer.from('what is signed')

const [cutOff, refused, accept, reject] = [vi.fn(), vi.fn(), vi.fn(), vi.fn()]
const compare = vi.fn<PasswordDesk['compare']>()
let authentication: Authentication
beforeEach(() => {
  vi.resetAllMocks()
  const publicKeys = [own.getPublicSSH().toString('base64')]
  const login = { userId: 1, siteId: 7, username: 'site_1', epoch: 0, passwordHash: null, publicKeys }
  authentication = new Authentication({
    access: { find: async (name: string) => (name === 'site_1' ? login : undefined) } as never,
    guessers: { failed: () => ({ delayMs: 0, isBanned: false }), succeeded() {} } as never,
    desk: { compare } as never,
    address: '192.0.2.1',
    log: { info() {}, warn() {} },
    ...{ refused, cutOff },
  })
})

const decide = (context: object) =>
  authentication.decide({ username: 'site_1', accept, reject, ...context } as unknown as AuthContext)
const byKey = (shown: ParsedKey, signer?: ParsedKey) =>
  decide({
    method: 'publickey',
    key: { algo: shown.type, data: shown.getPublicSSH() },
    ...(signer && { blob, signature: signer.sign(blob) }),
  })

describe('public keys', () => {
  test('accept the user’s key with a valid signature', async () => {
    await byKey(own, own)
    expect([accept.mock.calls.length, authentication.login?.userId]).toEqual([1, 1])
  })

  test('reject the user’s key with another key’s signature, because public keys are not secret', async () => {
    await byKey(own, others)
    expect([accept.mock.calls.length, reject.mock.calls.length, refused.mock.calls.length]).toEqual([0, 1, 1])
    expect(authentication.login).toBeUndefined()
  })

  test('do not log in a client that only asks about a key, and disconnect one that asks about too many', async () => {
    await byKey(own)
    expect([accept.mock.calls.length, authentication.login]).toEqual([1, undefined])
    for (let times = 0; times < 29; times++) await byKey(others)
    expect(cutOff).not.toHaveBeenCalled()
    await byKey(others)
    expect(cutOff).toHaveBeenCalledOnce()
  })
})

describe('passwords', () => {
  test('allow six wrong passwords per connection', async () => {
    compare.mockResolvedValue(false)
    for (let times = 0; times < 5; times++) await decide({ method: 'password', password: 'wrong' })
    expect([reject.mock.calls.length, cutOff.mock.calls.length]).toEqual([5, 0])
    await decide({ method: 'password', password: 'wrong' })
    expect([reject.mock.calls.length, cutOff.mock.calls.length]).toEqual([5, 1])
  })

  test('do not compare an endless password', async () => {
    compare.mockResolvedValue(false)
    await decide({ method: 'password', password: 'x'.repeat(1025) })
    expect(compare.mock.calls.map(([text]) => text)).toEqual([''])
  })

  test('compare two passwords at a time, and say nothing about new ones while 32 wait', async () => {
    const desk = new PasswordDesk()
    const all = await Promise.all(Array.from({ length: 36 }, () => desk.compare('wrong', noPassword)))
    expect(all.map((each) => each ?? 'not said')).toEqual([...Array(34).fill(false), 'not said', 'not said'])
    expect(await desk.compare('wrong', noPassword)).toBe(false)
  })
})
