import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../test/support/api.ts'
import { examplesOf } from '../../../test/support/examples.ts'
import { DUMP, storedIn } from '../../resources/backups/backups.fixture.ts'
import { type ApiCommand, catalogue } from './catalogue.ts'
import { runForApi } from './main.ts'
import { readProfiles } from './profiles.ts'
import { runOperation } from './run.ts'

let api: TestApi
let url: string
let owner: Person
let folder: string
let environment: Record<string, string>
beforeAll(async () => {
  api = await testApi('sqlite')
  url = await api.app.listen({ host: '127.0.0.1', port: 0 })
  owner = await api.person('owner@example.com')
  await api.site(owner, 'my-shop')
  await api.site(owner, 'my-blog')
})
afterAll(() => api?.close())
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stead-cli-'))
  environment = {
    STEAD_API_URL: url,
    STEAD_CLIENT_ID: owner.clientId,
    STEAD_CLIENT_SECRET: owner.clientSecret,
    XDG_CONFIG_HOME: folder,
    STEAD_DATA_DIR: join(folder, 'data'),
  }
  return () => rm(folder, { recursive: true })
})

interface Options {
  readonly env?: Record<string, string>
  readonly columns?: number
  readonly answers?: string[]
}

/**
 * Runs a command line.
 * @param answers the text that a person types at each question
 */
async function stead(line: string, { env = environment, columns, answers }: Options = {}) {
  const said = { out: '', err: '' }
  const to = (name: 'out' | 'err') => ({
    isTTY: columns !== undefined,
    columns,
    write: (text: string) => {
      said[name] += text
    },
  })
  const code = await runForApi(line.split(' '), {
    environment: env,
    out: to('out'),
    err: to('err'),
    isInteractive: answers !== undefined,
    ask: async () => answers?.shift() ?? '',
  })
  return { code, ...said }
}
const json = async (line: string) => JSON.parse((await stead(`${line} --json`)).out)

describe('calls to the API', () => {
  test('print a list as a table, tabs, JSON, chosen fields, or bare values', async () => {
    expect((await stead('sites list', { columns: 60 })).out.split('\n')).toEqual([
      expect.stringMatching(/^ID {2}NAME {5}STATE {2}URL/),
      expect.stringMatching(/^2 {3}my-blog {2}live {3}my-blog\./),
      expect.stringMatching(/^1 {3}my-shop {2}live {3}my-shop\./),
      '',
    ])
    expect((await stead('sites list --fields name,id')).out).toBe('name\tid\nmy-blog\t2\nmy-shop\t1\n')
    expect((await json('sites list')).map(({ name }: { name: string }) => name)).toEqual(['my-blog', 'my-shop'])
    expect(await json('sites get my-shop --fields id,pageViews.today.views')).toEqual({
      id: 1,
      'pageViews.today.views': 0,
    })
    expect((await stead('sites list --get name')).out).toBe('my-blog\nmy-shop\n')
    expect((await stead('sites get 1 --get no.such')).err).toContain('The response does not contain no.such')
  })

  test('accept the names of sites, of things of a site, and addresses', async () => {
    expect((await json('sites get MY-SHOP')).id).toBe(1)
    await stead('notes create my-shop Plans text')
    expect((await json('notes get my-shop Plans')).body).toBe('text')
    await stead('collaborators add my-shop friend@example.com')
    expect((await json('collaborators get-site my-shop friend@example.com')).email).toBe('friend@example.com')
    await stead('notes create my-shop Plans again')
    expect(await stead('notes get my-shop Plans')).toMatchObject({
      code: 2,
      err: expect.stringContaining('More than one note is named Plans. Use its number, one of '),
    })
    expect(await stead('sites get my-shap')).toMatchObject({
      code: 2,
      err: 'Unknown site my-shap.\nDid you mean my-shop?\n',
    })
    expect((await stead('operations get mine')).err).toContain('Unknown operation mine.')
    expect((await stead('backups get-restore-preview my-shop mine')).err).toContain('OPERATION must be a number')
  })

  test('accept names instead of the numbers of sites in a body', async () => {
    const { err } = await stead('backups sync-sites my-shop my-shop --yes')
    expect(err).toContain('to_site_id: must differ from from_site_id')
    const given = await json('collaborators batch-create x@example.com my-shop,2 --roles wp_access')
    expect(given).toEqual({ operationId: expect.any(Number) })
    expect(await json(`operations get ${given.operationId} --fields type`)).toEqual({ type: expect.any(String) })
  })

  test('print the operation that they start', async () => {
    const { out, err } = await stead('sites create made-here --php-version=8.2')
    expect(out).toContain('made-here')
    expect(err).toMatch(/^Started operation \d+. Follow it with stead operations watch \d+\n$/)
    expect(await json('sites create made-there')).toMatchObject({ name: 'made-there', operationId: expect.any(Number) })
  })

  test('print the next page, or with --all everything', async () => {
    const first = await stead('activity list-account --per-page 1')
    expect(first.out.trim().split('\n')).toHaveLength(2)
    expect(first.err).toMatch(/^Page 1 of \d+, \d+ entries in total. Next page: --page=2. All pages: --all\n$/)
    const all = await json('activity list-account --all')
    expect(all.length).toBeGreaterThan(2)
    expect(all.length).toBe(Number(/, (\d+) entries in total/.exec(first.err)?.[1]))
  })

  test('write a file to the given place, and never overwrite another', async () => {
    const taken = join(folder, 'taken')
    await writeFile(taken, 'mine')
    expect((await stead(`backups download-ondemand my-shop 1 --output ${taken}`)).err).toContain('already exists')
    expect(await readFile(taken, 'utf8')).toBe('mine')
  })

  test('report a file that cannot be written, and write a complete one', async () => {
    const id = await storedIn(api, 1)
    const download = (file: string) => stead(`backups download-ondemand my-shop ${id} --output ${file}`)
    const nowhere = join(folder, 'no/where.sql')
    expect(await download(nowhere)).toMatchObject({
      code: 2,
      err: expect.stringContaining(`${nowhere} cannot be written: `),
    })
    const somewhere = join(folder, 'some.sql')
    expect(await download(somewhere)).toMatchObject({ code: 0, err: `${somewhere}\n` })
    expect(await readFile(somewhere, 'utf8')).toBe(DUMP)
    expect((await readdir(folder)).filter((name) => name.includes('.sql'))).toEqual(['some.sql'])
  })

  test('print the address with sites open, and another token with the token operation', async () => {
    expect((await stead('sites open my-shop')).out).toMatch(/^http:\/\/my-shop\.\S+\n$/)
    expect((await stead('sites open my-shop --admin')).out).toMatch(/^http:\/\/my-shop\.\S+\/wp-admin\n$/)
    expect((await stead('authentication issue-token --get token_type')).out).toBe('Bearer\n')
    expect(await stead('sites logs my-shop')).toMatchObject({ code: 0, err: '' })
  })
})

describe('--wait', () => {
  /** Simulates what a host does. */
  const end = async (values: { state: 'succeeded' | 'failed'; error?: string }) => {
    const done = { ...values, progress: 100, finished_at: Date.now() }
    await api.database.transaction(async (tx) => {
      await tx.updateTable('sites').set({ state: 'live' }).execute()
      await tx.updateTable('operations').set(done).where('finished_at', 'is', null).execute()
    })
  }
  const whenBegun = async (name: string) =>
    expect
      .poll(async () => (await owner.call('GET', '/v1/sites')).body.data.map((site: { name: string }) => site.name))
      .toContain(name)

  test('ends with the address', async () => {
    const waited = stead('sites create waited-for --wait', { columns: 80 })
    await whenBegun('waited-for')
    await end({ state: 'succeeded' })
    const { code, out, err } = await waited
    expect([code, out]).toEqual([0, expect.stringMatching(/^http:\/\/waited-for\.\S+\n$/)])
    expect(err).toMatch(/\[[#.]{24}\] {2}\d+%/)
  })

  test('with --json, prints the site after the work', async () => {
    const waited = stead('sites create waited-too --wait --json')
    await whenBegun('waited-too')
    await end({ state: 'succeeded' })
    expect(JSON.parse((await waited).out)).toMatchObject({ name: 'waited-too', state: 'live' })
  })

  test('of work that fails prints the reason, and how to retry', async () => {
    const waited = stead('sites create fails-now --wait')
    await whenBegun('fails-now')
    await end({ state: 'failed', error: 'the disk is full' })
    expect(await waited).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringMatching(
        /site.provision failed: the disk is full\nTo retry, run stead operations retry \d+ --wait\n$/,
      ),
    })
  })

  test('prints each state as a line of JSON with operations watch', async () => {
    const { operationId } = await json('sites create watched-one')
    const watched = stead(`operations watch ${operationId} --json`)
    await end({ state: 'succeeded' })
    const lines = (await watched).out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines.at(-1)).toMatchObject({ id: operationId, state: 'succeeded' })
  })
})

test('prints the data of each event of a stream as a line, until it ends', async () => {
  const { operationId } = await json('sites create told-of')
  await api.database.transaction((tx) =>
    tx
      .updateTable('operations')
      .set({ state: 'succeeded', finished_at: Date.now() })
      .where('id', '=', operationId)
      .execute(),
  )
  const watch = catalogue().commands.find((each) => each.operationId === 'watchOperation') as ApiCommand
  let out = ''
  const write = (text: string) => {
    out += text
  }
  const around = { environment, out: { write }, err: { write }, isInteractive: false }
  expect(await runOperation({ ...watch, operationId: 'watchAnything' }, [String(operationId)], around)).toBe(0)
  expect(JSON.parse(out)).toMatchObject({ id: operationId, state: 'succeeded' })
})

describe('an operation that cannot be undone', () => {
  const names = async () => (await owner.call('GET', '/v1/sites')).body.data.map(({ name }: { name: string }) => name)

  test('requires its name on a terminal, or --yes', async () => {
    await api.site(owner, 'to-delete')
    expect(await stead('sites delete to-delete')).toMatchObject({
      code: 2,
      err: expect.stringContaining('requires --yes'),
    })
    expect(await stead('sites delete to-delete', { answers: ['yes'] })).toMatchObject({
      code: 2,
      err: 'Nothing was changed.\n',
    })
    expect(await names()).toContain('to-delete')
    expect((await stead('sites delete to-delete', { answers: ['to-delete'] })).code).toBe(0)
    expect(await names()).not.toContain('to-delete')
    const id = await api.site(owner, 'by-number')
    expect((await stead(`sites delete ${id}`, { answers: [String(id)] })).code).toBe(2)
    expect((await stead(`sites delete ${id}`, { answers: ['by-number'] })).code).toBe(0)
    await api.site(owner, 'to-delete-too')
    expect((await stead('sites delete to-delete-too --yes')).code).toBe(0)
    expect(await names()).not.toContain('to-delete-too')
  })

  test('asks for the overwritten site in a restore and an undo; a dry run asks nothing', async () => {
    const source = await api.site(owner, 'the-source')
    const target = await api.site(owner, 'the-target')
    const restore = `backups restore the-source --database-id 999999 --restore-on-site-id ${target}`
    const { id } = await api.database.transaction((tx) =>
      tx
        .insertInto('operations')
        .values({
          ...({ type: 'site.restore', runner: 'host', state: 'succeeded', input: '{}' } as const),
          ...{ site_id: target, account_id: owner.accountId, attempts: 1, cancel_requested: 0, progress: 100 },
          ...{ run_at: 1, created_at: 1, finished_at: 1 },
        })
        .returning('id')
        .executeTakeFirstOrThrow(),
    )
    for (const line of [restore, `backups undo-operation ${id}`]) {
      expect((await stead(line)).err).toContain('requires --yes')
      for (const wrong of ['the-source', String(target), String(source), String(id)])
        expect((await stead(line, { answers: [wrong] })).err).toBe('Nothing was changed.\n')
      // The API refused, so the question was answered correctly.
      expect((await stead(line, { answers: ['the-target'] })).code).toBe(1)
    }
    expect((await stead(`${restore} --dry-run`)).code).toBe(1)
  })
})

describe('errors and help', () => {
  test('a refusal of the API is printed with its texts and the usage, as JSON with its code', async () => {
    expect(await stead('sites create www')).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringMatching(/^name: .*\nstead sites create NAME\nSee: stead help sites create\n$/),
    })
    const { code, err } = await stead('sites create www --json')
    expect([code, JSON.parse(err)]).toEqual([1, expect.objectContaining({ code: 'invalid_input', status: 400 })])
    expect((await stead('sites get 999')).err).toContain('To list them, run stead sites list')
  })

  test('the exit code is 4 for unknown credentials, 1 for an unreachable server, 2 without credentials', async () => {
    const wrong = { ...environment, STEAD_CLIENT_SECRET: 'wrong' }
    expect(await stead('sites list', { env: wrong })).toMatchObject({
      code: 4,
      err: expect.stringContaining('stead login'),
    })
    const { STEAD_CLIENT_ID: _id, STEAD_CLIENT_SECRET: _secret, STEAD_API_URL: _url, ...none } = environment
    expect(await stead('sites list', { env: none })).toMatchObject({
      code: 2,
      err: expect.stringContaining('Log in with stead login'),
    })
    expect(await stead('sites list', { env: { ...none, STEAD_CLIENT_ID: 'x' } })).toMatchObject({ code: 2 })
  })

  test('help describes a noun or a command, within the width of the terminal', async () => {
    expect((await stead('sites --help')).out).toMatch(/stead sites clone SITE NAME +Clone a site/)
    expect((await stead('sites create -h')).out).toMatch(/--php-version=8\.1\|8\.2\|8\.3/)
    for (const line of ['sites -h', 'sites create -h', 'backups restore -h', 'collaborators add -h']) {
      const lines = (await stead(line, { columns: 80 })).out.split('\n')
      // The choices of a flag are one word.
      expect(lines.filter((each) => each.length > 80 && !/^ {2}--/.test(each))).toEqual([])
    }
  })
})

describe('profiles', () => {
  const bare = () => ({ XDG_CONFIG_HOME: folder, STEAD_DATA_DIR: join(folder, 'data') })

  test('login stores working credentials, only for their owner; commands use them; logout deletes them', async () => {
    const env = bare()
    await writeFile(join(folder, 'secret'), `${owner.clientSecret}\n`)
    const line = `login ${url} --client-id ${owner.clientId} --client-secret-file ${join(folder, 'secret')}`
    expect(await stead(`${line} --name here`, { env })).toMatchObject({
      code: 0,
      err: expect.stringContaining('as owner@example.com'),
    })
    const file = join(folder, 'stead/profiles.json')
    expect([(await stat(file)).mode & 0o777, (await stat(join(folder, 'stead'))).mode & 0o777]).toEqual([0o600, 0o700])
    expect((await stead('sites get my-shop --get id', { env })).out).toBe('1\n')
    expect((await stead('profiles --json', { env })).out).not.toContain(owner.clientSecret)

    expect((await stead(line, { env })).code).toBe(0)
    expect((await readProfiles(env)).current).toBe(new URL(url).host)
    expect((await stead('profiles use here', { env })).code).toBe(0)
    expect((await stead('profiles', { env })).err).toContain('from profile here')
    expect(await stead('sites list --profile her', { env })).toMatchObject({
      code: 2,
      err: expect.stringContaining('Did you mean here?'),
    })

    expect((await stead('logout', { env })).code).toBe(0)
    expect(Object.keys((await readProfiles(env)).profiles)).toEqual([new URL(url).host])
    expect((await stead('sites list', { env })).code).toBe(2)
  })

  test('login asks on a terminal, and does not store credentials that fail', async () => {
    const env = bare()
    expect(await stead(`login ${url}`, { env })).toMatchObject({
      code: 2,
      err: expect.stringContaining('--client-id is required'),
    })
    expect(await stead(`login ${url}`, { env, answers: [owner.clientId, 'wrong'] })).toMatchObject({
      code: 2,
      err: expect.stringContaining('rejected these credentials'),
    })
    const emptySecret = { code: 2, err: expect.stringContaining('The client secret is empty') }
    expect(await stead(`login ${url}`, { env, answers: [owner.clientId, ''] })).toMatchObject(emptySecret)
    expect(await readProfiles(env)).toEqual({ current: null, profiles: {} })
    expect((await stead(`login ${url}`, { env, answers: [owner.clientId, owner.clientSecret] })).code).toBe(0)
    expect((await stead('login ftp://x', { env })).err).toContain('is not the URL of an API')
  })

  test('prefers --profile, then the variables, then the profile in use, then the data folder', async () => {
    const other = await api.person('other@example.com')
    const env = bare()
    await stead(`login ${url} --name other`, { env, answers: [other.clientId, other.clientSecret] })
    const email = async (line: string, env: Record<string, string>) =>
      (await stead(`${line} --get email`, { env })).out.trim()
    expect(await email('my-account get', env)).toBe('other@example.com')
    expect(await email('my-account get', environment)).toBe('owner@example.com')
    expect(await email('my-account get --profile other', environment)).toBe('other@example.com')
    const data = await mkdtemp(join(folder, 'data-'))
    const keys = { client_id: owner.clientId, client_secret: owner.clientSecret, api_url: url }
    await writeFile(join(data, 'credentials.json'), JSON.stringify(keys))
    expect(await email(`my-account get --data-dir ${data}`, env)).toBe('owner@example.com')
    await stead('logout', { env })
    expect(await email('my-account get', { ...env, STEAD_DATA_DIR: data })).toBe('owner@example.com')
  })

  test('names a broken file, and leaves it unchanged', async () => {
    const env = bare()
    await stead(`login ${url}`, { env, answers: [owner.clientId, owner.clientSecret] })
    const file = join(folder, 'stead/profiles.json')
    await writeFile(file, '{')
    expect(await stead('sites list', { env })).toMatchObject({ code: 2, err: expect.stringContaining(file) })
    expect(await readFile(file, 'utf8')).toBe('{')
  })
})

const examples = examplesOf('docs/command-line.md', 'sh').flatMap(([heading, code]) =>
  code.split('\n').flatMap((line) => (/^stead /.test(line) ? [[heading, line] as const] : [])),
)

describe('docs/command-line.md', () => {
  test('shows commands', () => {
    expect(examples.length).toBeGreaterThan(20)
  })

  // The objects need not exist, but the line must be valid.
  test.each(examples)('%s: %s', async (_heading, line) => {
    const words = line
      .replace(/^stead /, '')
      .replace(/\s+[|>#].*$/, '')
      .trim()
    if (/^(serve|application|completion)\b/.test(words)) return
    const { code, err } = await stead(`${words} --help`)
    expect([code, err]).toEqual([0, ''])
    const { err: refusal } = await stead(words.replace(/--wait|--follow/g, '').trim(), {
      env: { XDG_CONFIG_HOME: folder, STEAD_DATA_DIR: folder },
    })
    expect(refusal).not.toMatch(/no flag|needs one of|is missing|is needed\. See|takes no|must be/)
  })
})
