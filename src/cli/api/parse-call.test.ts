import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { UsageError } from '../usage-error.ts'
import { commandOf } from './main.ts'
import { parseCall } from './parse-call.ts'
import { usageOf } from './run.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stead-cli-'))
  await writeFile(join(folder, 'zone'), '$TTL 60\n')
  await writeFile(join(folder, 'site.json'), '{"name":"from-file","staging":true}')
  await writeFile(join(folder, 'list.json'), '[]')
})
afterAll(() => rm(folder, { recursive: true }))

const parse = (line: string) => {
  const [noun, verb, ...rest] = line.replaceAll('FOLDER', folder).split(' ').filter(Boolean)
  const found = commandOf([noun as string, verb as string])
  if (!('operation' in found)) throw new Error('no operation')
  return parseCall(usageOf(found.operation), rest)
}

describe('accepted', () => {
  test.each([
    ['sites get 12', { path: { id: '12' }, body: undefined }],
    ['sites create my-site', { body: { name: 'my-site' } }],
    [
      'sites create --name my-site --staging --php-version=8.3',
      { body: { name: 'my-site', staging: true, php_version: '8.3' } },
    ],
    ['sites create my-site --no-staging', { body: { name: 'my-site', staging: false } }],
    ['sites create my-site --staging=off --account-id 7', { body: { name: 'my-site', staging: false, account_id: 7 } }],
    ['sites clone shop copy --staging', { path: { site_id: 'shop' }, body: { name: 'copy', staging: true } }],
    ['tags add shop a b --json', { body: { tag_names: ['a', 'b'] }, own: { json: true } }],
    ['tags add shop a,b c', { body: { tag_names: ['a', 'b', 'c'] } }],
    ['tags remove shop 1,2', { body: { tag_ids: [1, 2] } }],
    [
      'collaborators add shop a@b.example --roles wp_access --roles manage_dns,sftp_access',
      {
        body: { email: 'a@b.example', roles: ['wp_access', 'manage_dns', 'sftp_access'] },
      },
    ],
    [
      'plugins install shop akismet path=jetpack,version=1.0',
      {
        body: { plugins: [{ path: 'akismet' }, { path: 'jetpack', version: '1.0' }] },
      },
    ],
    ['plugins install shop --plugins [{"path":"akismet"}]', { body: { plugins: [{ path: 'akismet' }] } }],
    ['sites search key=name,value=shop', { body: { filters: [{ key: 'name', value: 'shop' }] } }],
    ['my-account update --datacenter-code=null', { body: { datacenter_code: null } }],
    [
      'zones create-record 1 MX --name @ --priority 10 --value mail.example.com',
      {
        path: { zone_id: '1' },
        body: { type: 'MX', name: '@', priority: 10, value: 'mail.example.com' },
      },
    ],
    ['zones import 1 @FOLDER/zone', { body: { file: '$TTL 60\n' } }],
    ['notes create shop subject --body @@home', { body: { subject: 'subject', body: '@home' } }],
    ['sites create --input FOLDER/site.json --no-staging', { body: { name: 'from-file', staging: false } }],
    [
      'sites list --tag-name shop --paginate --page 2',
      { query: { tag_name: 'shop', paginate: true, page: 2 }, body: undefined },
    ],
    ['cms-version update shop --set-version latest', { body: { version: 'latest' } }],
    ['safe-updates start shop --all', { body: { all: true } }],
    ['sites list --all', { query: {}, own: { all: true } }],
    ['backups sync-sites shop 2', { body: { from_site_id: 'shop', to_site_id: 2 } }],
    ['sites delete shop -y', { own: { yes: true } }],
    ['logs list-server shop --status 404,500', { query: { status: '404,500' } }],
  ])('%s', (line, expected) => {
    expect(parse(line)).toMatchObject(expected)
  })
})

const messageOf = (line: string): string => {
  try {
    parse(line)
  } catch (error) {
    expect(error).toBeInstanceOf(UsageError)
    return (error as UsageError).message
  }
  throw new Error(`${line} was taken`)
}

describe('refused with advice', () => {
  test.each([
    ['sites get', 'SITE is missing. stead sites get SITE'],
    ['sites get 1 2', '"stead sites get" does not accept 2. See: stead help sites get'],
    ['sites create', '--name is required. See: stead help sites create'],
    ['sites create a --php-version 8', '--php-version must be one of: 8.1, 8.2, 8.3'],
    ['sites create a --php-versoin 8.3', 'Did you mean --php-version?'],
    ['sites create a --account-id me', '--account-id must be a number, not "me"'],
    ['sites create a --staging=maybe', '--staging must be yes or no, not "maybe"'],
    ['sites create a --name', '--name requires a value'],
    ['sites create --name --staging', '--name requires a value'],
    ['sites create a --no-name', '--name requires a value'],
    ['sites create a --json=yes', '--json does not accept a value'],
    ['sites create a --no-json', '--json does not accept a value'],
    ['sites create a --constructor', 'Unknown flag --constructor'],
    ['sites create --input /does/not/exist', '/does/not/exist cannot be read'],
    ['sites create --input FOLDER/list.json', 'must contain a JSON object'],
    ['collaborators add shop a@b.example --roles wp_acces', 'Did you mean wp_access?'],
    ['sites search shop', '--filters must be key=…,value=…, or JSON'],
    ['sites search [{', '--filters must be JSON'],
    ['sites set-safe-mode shop', '--enabled is required'],
    ['sites remove shop', '"stead sites" requires one of: list, create,'],
    ['sites reset shop', 'Did you mean stead sites reset-admin-password?'],
    ['domains lst shop', 'Did you mean stead domains list?'],
  ])('%s', (line, reason) => {
    expect(messageOf(line)).toContain(reason)
  })
})
