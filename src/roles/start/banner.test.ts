import { expect, test } from 'vitest'
import { readConfig } from '../../config.ts'
import { urlOf } from '../credentials.ts'
import { banner } from './banner.ts'

const credentials = {
  ...{ client_id: 'id', client_secret: 'secret', account_email: 'me@example.com' },
  ...{ api_url: 'http://127.0.0.1:8080', edge_url: 'http://127.0.0.1:8081' },
}
const hosts = [{ wordpress: '6.8' }]
const started = { credentials, hosts, hasSsh: true }
const later = { isFirst: false, isTerminal: false }

test('tells an installation from before the panel how to sign in, but not one with a link or without a panel', () => {
  const way = 'stead account link --email=me@example.com'
  expect(banner(readConfig({}), started, later)).toContain(way)
  const withLink = { ...credentials, panel_link: 'http://127.0.0.1:8080/#/set-password/x' }
  expect(banner(readConfig({}), { ...started, credentials: withLink }, later)).not.toContain(way)
  expect(banner(readConfig({ STEAD_PANEL: 'off' }), started, later)).not.toContain(way)
})

test('shows the first link to the panel on a terminal, and names its file in a log', () => {
  const link = 'http://127.0.0.1:8080/#/set-password/x'
  const words = { ...started, credentials: { ...credentials, panel_link: link } }
  const first = (isTerminal: boolean) => banner(readConfig({}), words, { isFirst: true, isTerminal })
  expect(first(true)).toContain(`Set it once at ${link}`)
  expect(first(false)).not.toContain(link)
  expect(first(false)).toContain('with the panel_link in that file')
})

test.each([
  [{ STEAD_API_TLS_LISTEN: '0.0.0.0:8443', STEAD_API_NAME: 'api.hoster.example' }, 'https://api.hoster.example:8443'],
  [{ STEAD_API_TLS_LISTEN: '0.0.0.0:443', STEAD_API_NAME: 'api.hoster.example' }, 'https://api.hoster.example'],
  [{ STEAD_PANEL_URL: 'https://panel.hoster.example' }, 'https://panel.hoster.example'],
  [{}, 'http://127.0.0.1:8080'],
])("shows the panel's address that browsers trust: %j", (settings, address) => {
  expect(banner(readConfig(settings), started, later)).toContain(`Panel      ${address}  (`)
})

test('names the addresses over https of API and sites, with what their certificates need', () => {
  const lineOf = (name: string, settings: Record<string, string>) =>
    banner(readConfig(settings), started, later)
      .split('\n')
      .find((line) => line.startsWith(`  ${name} `))
  const api = { STEAD_API_TLS_LISTEN: '0.0.0.0:8443', STEAD_API_NAME: 'api.hoster.example' }
  const apiUrl = 'https://api.hoster.example:8443'
  expect(lineOf('API', api)).toBe(`  API        http://127.0.0.1:8080, ${apiUrl}  (documentation: ${apiUrl}/docs)`)
  expect(lineOf('API', {})).toBe('  API        http://127.0.0.1:8080  (documentation: http://127.0.0.1:8080/docs)')
  const tls = { STEAD_EDGE_TLS_LISTEN: '0.0.0.0:443' }
  expect(lineOf('Sites', tls)).toContain(', https://<name>.localhost  (to trust it')
  const ofDomain = { ...tls, STEAD_STAGING_DOMAIN: 'sites.hoster.example' }
  expect(lineOf('Sites', ofDomain)).not.toContain('https:')
  expect(lineOf('Sites', { ...ofDomain, STEAD_ACME_TERMS_AGREED: 'true' })).toContain(
    ', https://<name>.sites.hoster.example  (once',
  )
})

test('names the SSH port if Stead listens there', () => {
  const at = (hasSsh: boolean) => banner(readConfig({}), { ...started, hasSsh }, later)
  expect(at(true)).toContain('  SSH        port 2222 of 127.0.0.1  (')
  expect(at(false)).not.toContain('SSH')
})

test('suggests no commands that cannot work after a start without WordPress', () => {
  const words = { ...started, hosts: [{ wordpress: '', reason: 'No release was found' }] }
  const text = banner(readConfig({}), words, { isFirst: true, isTerminal: true })
  expect(text).toContain('No release was found')
  expect(text).toContain('You cannot create a site yet.')
  expect(text).not.toContain('/v1/sites')
})

test.each([
  ['127.0.0.1', 'http://127.0.0.1:8080'],
  ['::1', 'http://[::1]:8080'],
  ['localhost', 'http://localhost:8080'],
])('the URL of a listener on %s is %s', (host, url) => {
  expect(urlOf({ host, port: 8080 })).toBe(url)
  expect(new URL(url).port).toBe('8080')
})
