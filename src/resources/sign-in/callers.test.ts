import { expect, test } from 'vitest'
import { ofBrowser, testApi } from '../../../test/support/api.ts'
import { countReads } from '../../../test/support/count-reads.ts'
import { tokenHashOf } from '../authentication/authenticate.ts'
import { insertSession } from '../sessions/session.store.ts'
import { sessionHash } from '../sessions/session.ts'
import { createCallers, credentialHash } from './callers.ts'

const origin = 'https://stead.example'

test('identifies a request by its token, or else by the session of its cookie', () => {
  const authorization = `Bearer ${'t'.repeat(40)}`
  const cookie = '__Host-stead=of-a-session; other=x'
  expect(credentialHash({ authorization }, origin)).toBe(tokenHashOf(authorization))
  expect(credentialHash({ authorization, cookie }, origin)).toBe(tokenHashOf(authorization))
  expect(credentialHash({ cookie }, origin)).toBe(sessionHash('of-a-session'))
  // Over https, only the cookie that no other host can set counts.
  expect(() => credentialHash({ cookie: 'stead_session=of-a-session' }, origin)).toThrow()
})

test('on SQLite, looks a known session up once, and again when any session has changed', async (context) => {
  const api = await testApi('sqlite')
  context.onTestFinished(() => api.close())
  const { accountId, panelApplicationId: applicationId, sessionToken } = await api.person('owner@example.com')
  const headers = ofBrowser(sessionToken)
  const callers = createCallers(api.database)
  const ask = () => callers({ headers, origin: () => 'http://localhost:80', onlyReads: true }, Date.now())
  const reads = countReads(api.database)
  for (let times = 0; times < 3; times++) expect(await ask()).toMatchObject({ accountId })
  expect(reads.count()).toBe(1)
  const another = { accountId, applicationId, hash: 'x', userAgent: '', ipAddress: '', origin: '', now: Date.now() }
  await api.database.transaction((tx) => insertSession(tx, { ...another, expiresAt: Date.now() + 1000 }))
  expect(await ask()).toMatchObject({ accountId })
  expect(reads.count()).toBe(2)
  reads.stop()
})
