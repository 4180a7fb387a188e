import { expect, test } from 'vitest'
import { tokenHashOf } from '../authentication/authenticate.ts'
import { sessionHash } from '../sessions/session.ts'
import { credentialHash } from './callers.ts'

const origin = 'https://stead.example'

test('a request goes by its token, or else by the session of its cookie', () => {
  const authorization = `Bearer ${'t'.repeat(40)}`
  const cookie = '__Host-stead=of-a-session; other=x'
  expect(credentialHash({ authorization }, origin)).toBe(tokenHashOf(authorization))
  expect(credentialHash({ authorization, cookie }, origin)).toBe(tokenHashOf(authorization))
  expect(credentialHash({ cookie }, origin)).toBe(sessionHash('of-a-session'))
  // over https only the cookie that nobody else can set
  expect(() => credentialHash({ cookie: 'stead_session=of-a-session' }, origin)).toThrow()
})
