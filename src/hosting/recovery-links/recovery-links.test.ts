import { beforeEach, expect, it, vi } from 'vitest'
import { createRecoveryLinks } from './recovery-links.ts'

const url = 'http://a.test:8081/wp-login.php?action=enter_recovery_mode&rm_token=T0k&rm_key=k3Y'
const said = (recovery: object) => JSON.stringify({ recovery })
const record = vi.fn(async () => {})
const warn = vi.fn()
let take: ReturnType<typeof createRecoveryLinks>
beforeEach(() => {
  vi.resetAllMocks()
  record.mockResolvedValue(undefined)
  take = createRecoveryLinks({ record, log: { warn } })
})

it('passes on the link that WordPress created, and what broke the page', () => {
  take(1, said({ url, cause: 'plugins/broken' }))
  take(2, said({ url: url.replace('http:', 'https:').replace('/wp-login', '/blog/wp-login'), cause: '<b>' }))
  expect(record.mock.calls).toEqual([
    [1, { url, cause: 'plugins/broken' }],
    [
      2,
      {
        url: 'https://a.test:8081/blog/wp-login.php?action=enter_recovery_mode&rm_token=T0k&rm_key=k3Y',
        cause: undefined,
      },
    ],
  ])
})

it.each([
  ['another note', '{"changed":{"all":true}}'],
  ['no JSON', '{"recovery":'],
  ['no link', said({})],
  ['null', '{"recovery":null}'],
  ['another scheme', said({ url: url.replace('http:', 'javascript:') })],
  ['another page', said({ url: url.replace('wp-login', 'index') })],
  ['a key with something in it', said({ url: `${url}%0d%0a` })],
  ['no token', said({ url: url.replace('rm_token', 'token') })],
  ['too long', said({ url, more: 'x'.repeat(2_000) })],
])('accepts nothing else: %s', (_what, text) => {
  take(1, text)
  expect(record).not.toHaveBeenCalled()
})

it('limits the work for a site that creates links constantly', () => {
  for (let i = 0; i < 50; i++) take(1, said({ url }))
  take(2, said({ url }))
  expect(record).toHaveBeenCalledTimes(2)
})

it('logs it when no user could be informed', async () => {
  record.mockRejectedValue(new Error('no database'))
  take(1, said({ url }))
  await vi.waitFor(() => expect(warn).toHaveBeenCalledOnce())
})
