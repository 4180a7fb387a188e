import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { enterDatabase } from './database-admin.ts'
import { answerLogin, loginToken } from './login-links.ts'

/** Keeps the headers of a response. */
function answer() {
  const written: string[] = []
  const response = {
    writeHead: (_status: number, headers: string[]) => void written.push(...headers),
    end() {},
  } as unknown as ServerResponse
  const of = (name: string) => written.filter((_, at) => at % 2 === 1 && written[at - 1] === name)
  return { response, of }
}

test('opens a link only with GET, and only at its path', () => {
  const url = '/wp-login.php?stead_login=abc'
  expect(loginToken({ method: 'GET', url })).toBe('abc')
  for (const other of [
    { method: 'HEAD', url },
    { method: 'POST', url },
    { method: 'GET', url: `/x${url}` },
  ])
    expect(loginToken(other)).toBeUndefined()
})

test('gives a session to the browser only: no script reads it, no cache stores it, no other site learns the link', () => {
  const { response, of } = answer()
  const cookie = { name: 'wordpress_x', value: 'a|b', path: '/', domain: '', isSecure: true }
  answerLogin(response, { cookies: [cookie] })
  expect(of('Set-Cookie')).toEqual(['wordpress_x=a%7Cb; path=/; secure; HttpOnly'])
  expect([of('Cache-Control'), of('Referrer-Policy')]).toEqual([['no-store, private'], ['no-referrer']])
})

test('does the same for a session with the database', async () => {
  const { response, of } = answer()
  const admin = { open: async () => ({ session: 'secret' }), mayEnter: async () => undefined }
  const request = { method: 'GET', url: '/stead-database/?token=abc', headers: {} } as never
  const visit = { userAgent: 'A', remoteAddress: '192.0.2.1' }
  expect(await enterDatabase(admin, 1, { request, response, visit })).toBe(false)
  expect(of('Set-Cookie')).toEqual([
    'stead_database=secret; path=/stead-database/; max-age=3600; HttpOnly; SameSite=Lax',
  ])
  expect([of('Cache-Control'), of('Referrer-Policy')]).toEqual([['no-store, private'], ['no-referrer']])
})
