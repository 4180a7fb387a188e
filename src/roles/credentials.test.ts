import { expect, test } from 'vitest'
import { urlOf } from './credentials.ts'

test.each([
  ['127.0.0.1', 'http://127.0.0.1:8080'],
  ['::1', 'http://[::1]:8080'],
  ['localhost', 'http://localhost:8080'],
])('the URL of a listener on %s is %s', (host, url) => {
  expect(urlOf({ host, port: 8080 })).toBe(url)
  expect(new URL(url).port).toBe('8080')
})
