import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { printKey } from '../backups/printed-key.ts'
import { readConfig } from '../config.ts'
import { openDatabase } from '../platform/db/database.ts'
import { openProcessContext } from '../roles/process-context.ts'
import { allSettings, type Command, takesValue } from './command.ts'
import { commands } from './commands.ts'
import { completionScript } from './completion.ts'
import { launch } from './launcher.fixture.ts'

let dataDir: string
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'stead-cli-'))
  const context = await openProcessContext(readConfig({ STEAD_DATA_DIR: dataDir, STEAD_LOG_LEVEL: 'silent' }), 'test')
  await context.logs.close()
  await context.database.close()
})
afterAll(() => rm(dataDir, { recursive: true }))

/** Runs the launcher on the data folder of this file. */
const stead = (line: string, environment: Record<string, string> = {}) =>
  launch(line, { STEAD_DATA_DIR: dataDir, ...environment })

const json = async (line: string) => JSON.parse((await stead(`${line} --json`)).out)

describe('exit codes', () => {
  test('0 and the answer on standard output', async () => {
    expect(await stead('version')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
      error: '',
    })
  })
  test('2 and one line with the reason for what an operator can fix', async () => {
    expect(await stead('serve', { STEAD_API_LISTEN: 'nowhere' })).toMatchObject({
      code: 2,
      out: '',
      error: expect.stringMatching(/^STEAD_API_LISTEN must be .*\n$/),
    })
    const unknown = await stead('account set-plan --email=no@body.example --plan=Personal')
    expect(unknown).toMatchObject({ code: 2, error: expect.stringContaining('run stead account list') })
    expect((await stead('site restore --name=never-was')).code).toBe(2)
  })
  test('1 and one line for a storage that does not answer', async () => {
    const away = {
      STEAD_BACKUP_S3_BUCKET: 'kept',
      STEAD_BACKUP_S3_ENDPOINT: 'http://127.0.0.1:9',
      STEAD_BACKUP_S3_ACCESS_KEY_ID: 'key',
      STEAD_BACKUP_S3_SECRET_ACCESS_KEY: 'secret',
    }
    const word = `--key=${printKey(Buffer.alloc(32))}`
    for (const line of ['backup list', 'backup verify', `backup list --site=1 ${word}`])
      expect(await stead(line, away)).toEqual({
        code: 1,
        out: '',
        error: expect.stringMatching(
          /^The backup storage does not respond \(s3:\/\/kept.*127\.0\.0\.1:9\)\. Check.*\n$/,
        ),
      })
  })
})

/** Returns the command with a value for each required flag. */
function wholeLine({ name, flags }: Command): string {
  const given = Object.entries(flags).flatMap(([flag, usage]) => {
    if (!usage.needed || !takesValue(usage)) return []
    return [`--${flag}=${usage.choices?.[0] ?? 'a@b.example'}`]
  })
  return [name, ...given].join(' ')
}

const isPart = ({ name }: Command) => ['serve', 'control', 'host', 'edge', 'dns'].includes(name)
const withControlDatabase = commands.filter(
  ({ settings }) => settings.length > 0 && settings.length < allSettings.length,
)
// `doctor` and `setup` have their own tests, because their results depend on the machine.
const elsewhere = commands.filter(
  (command) =>
    !isPart(command) && !withControlDatabase.includes(command) && !['doctor', 'setup'].includes(command.name),
)

describe('no command creates a data folder or a database', () => {
  let empty: string
  beforeAll(async () => {
    empty = await mkdtemp(join(tmpdir(), 'stead-cli-'))
  })
  afterAll(() => rm(empty, { recursive: true }))

  test.each(withControlDatabase.map((command) => [wholeLine(command)]))('%s reports what is missing', async (line) => {
    for (const folder of [empty, join(empty, 'none')]) {
      const { code, out, error } = await stead(line, { STEAD_DATA_DIR: folder })
      if (line.startsWith('host adopt')) {
        expect(error).toContain(folder === empty ? 'No Stead installation found in' : 'does not exist')
      } else if (line.startsWith('join')) expect(error).toContain('is not a token')
      else if (line.startsWith('backup export')) expect(error).toContain('is not the number of a site')
      else expect(error).toContain(line === 'restore' ? 'The backup key is required' : 'No Stead installation found in')
      expect([code, out]).toEqual([2, ''])
    }
    expect(await readdir(empty)).toEqual([])
  })

  test.each(elsewhere.map((command) => [wholeLine(command)]))('%s', async (line) => {
    expect((await stead(line, { STEAD_DATA_DIR: join(empty, 'none') })).code).toBe(0)
    expect(await readdir(empty)).toEqual([])
  })
})

test('reports an unusable data folder in one line', async () => {
  const file = join(dataDir, 'a-file')
  await writeFile(file, '')
  for (const folder of [file, join(file, 'below')])
    expect(await stead('serve', { STEAD_DATA_DIR: folder })).toMatchObject({
      code: 2,
      error: expect.stringMatching(/^The folder .* Choose another with STEAD_DATA_DIR\.\n$/),
    })
})

test('creates an account and its credentials, with --json from the first to the last step', async () => {
  const account = await json('account create --email=Me@Example.com --plan=Business')
  expect(account).toMatchObject({ email: 'me@example.com', plan: 'Business' })
  expect((await stead('account create --email=me@example.com')).error).toContain('already has an account')
  expect(await json('account set-plan --email=me@example.com --plan=Personal')).toMatchObject({ plan: 'Personal' })
  const facts = '--organization=Examples --phone=+1-555-0100 --affiliate=yes'
  expect(await json(`account update --email=me@example.com ${facts}`)).toMatchObject({
    affiliate: true,
    automaticUpdates: true,
    preview: false,
  })
  expect(
    await json('account update --email=me@example.com --affiliate=no --preview=yes --automatic-updates=no'),
  ).toMatchObject({
    organization: 'Examples',
    phoneNumber: '+1-555-0100',
    affiliate: false,
    automaticUpdates: false,
    preview: true,
  })
  for (const wrong of [
    '--email=me@example.com',
    '--email=me@example.com --preview=maybe',
    '--email=no@body.example --name=x',
  ])
    expect((await stead(`account update ${wrong}`)).code).toBe(2)
  expect((await stead('account create --email=me@example')).error).toContain('must be an e-mail address')
  expect(await json('account list')).toMatchObject([{ id: account.id, plan: 'Personal' }])

  const key = await json('application create --account=me@example.com --name=ci')
  expect(key).toMatchObject({ owner: false, client_secret: expect.stringMatching(/^.{40,}$/) })
  expect(await json('application revoke --client-id='.concat(key.client_id))).toMatchObject({ revoked: true })
  expect((await stead(`application revoke --client-id=${key.client_id}`)).code).toBe(2)
  const [listed] = await json('application list --account=me@example.com')
  expect(listed).toMatchObject({ client_id: key.client_id, name: 'ci', revoked: expect.any(String) })
  expect(JSON.stringify(listed)).not.toContain(key.client_secret)
})

test('lists the authorities of the machines, and changes to a new one once', async () => {
  expect(await json('host ca')).toMatchObject([
    { number: 1, state: 'signing', digest: expect.stringMatching(/^\w{64}$/) },
  ])
  expect((await stead('host ca --rotate')).out).toMatch(/trusted[\s\S]*signing[\s\S]*signs certificates in one hour/)
  expect(await json('host ca')).toMatchObject([{ state: 'trusted' }, { state: 'signing' }])
  expect(await stead('host ca --rotate')).toMatchObject({ code: 2, error: expect.stringContaining('already changing') })
})

test('revokes the certificate of an edge that joined, once', async () => {
  const { role, name } = { role: 'edge', name: 'web1' } as const
  const row = { serial: 'AB', role, name, issued_at: 0, expires_at: Date.now() + 60_000, revoked_at: null }
  const database = await openDatabase({ file: join(dataDir, 'stead.db') })
  const certificates = () => database.read.selectFrom('role_certificates').select('revoked_at').execute()
  await database.transaction((tx) => tx.insertInto('role_certificates').values(row).execute())
  expect(await stead('host revoke --name=web1 --role=control')).toMatchObject({ code: 2 })
  expect((await stead('host revoke --name=web1 --role=host')).error).toContain('Run stead host lost --name=web1')
  expect(await certificates()).toEqual([{ revoked_at: null }])
  expect(await json('host revoke --name=web1')).toEqual({ role, name, state: 'revoked' })
  expect(await certificates()).toEqual([{ revoked_at: expect.any(Number) }])
  expect((await stead('host revoke --name=web1')).error).toContain('No edge named web1 has a certificate.')
  await database.close()
})

test('creates a token for one machine, and refuses what no machine can use', async () => {
  const at = { STEAD_INTERNAL_LISTEN: '10.0.0.2:8091' }
  const made = JSON.parse((await stead('host token --name=h3 --json', at)).out)
  expect(made.command).toMatch(/^stead join --token=st1\.[0-9a-f]{32}\.[\w-]{43} --control=10\.0\.0\.2:8091$/)
  for (const [line, why] of [
    ['--name=h/3', '--name must be'],
    ['--name=h3 --expires=2h', '--expires must be a number of minutes'],
    ['--name=h3 --role=dns', '--role must be one of'],
    ['--name=h3 --datacenter=AMS,XYZ', '--datacenter must be one or several of AMS, BUR'],
    ['--name=e1 --role=edge --datacenter=AMS', '--datacenter is for hosts only'],
    ['--name=e1 --role=edge --again', '--again is for hosts only'],
    ['--name=h9 --again', 'No host is named h9'],
  ] as const)
    expect(await stead(`host token ${line}`, at)).toMatchObject({ code: 2, error: expect.stringContaining(why) })
  expect((await stead('host token --name=h3')).error).toContain('Set STEAD_INTERNAL_LISTEN')
  const folder = { STEAD_DATA_DIR: join(dataDir, 'machine') }
  const nobody = await stead(`join --token=${made.token} --control=127.0.0.1:1`, folder)
  expect(nobody).toMatchObject({ code: 1, error: expect.stringContaining('cannot be reached') })
})

test('config prints the effective settings as JSON, with secrets hidden', async () => {
  const key = Buffer.alloc(32, 1).toString('base64')
  const { out } = await stead('config --rate-limit=7 --json', { STEAD_MASTER_KEY: key, STEAD_RATE_LIMIT: '8' })
  expect(JSON.parse(out)).toMatchObject({ STEAD_RATE_LIMIT: '7', STEAD_MASTER_KEY: '(set)', STEAD_DATA_DIR: dataDir })
})

describe('doctor', () => {
  const ports = {
    ...{ STEAD_API_LISTEN: '127.0.0.1:0', STEAD_EDGE_LISTEN: '127.0.0.1:0' },
    ...{ STEAD_SFTP_LISTEN: 'off', STEAD_DNS_LISTEN: 'off' },
  }
  const broken = { ...ports, STEAD_EDGE_LISTEN: '192.0.2.1:8081' }
  type Found = { area: string; state: string; text: string }[]
  const find = (out: string, area: string) => (JSON.parse(out) as Found).filter((each) => each.area === area)

  test('exits with 0 without problems, with 1 and advice otherwise', async () => {
    const well = await stead('doctor --json', ports)
    expect([well.code, well.error, find(well.out, 'ports')]).toEqual([0, '', []])
    expect(find(well.out, 'databases')).toMatchObject([{ state: 'ok', text: expect.stringContaining('stead.db') }])
    const ill = await stead('doctor', broken)
    expect(ill.code).toBe(1)
    expect(ill.out).toMatch(
      /^PROBLEM {2}ports +192\.0\.2\.1:8081 is not an address of this server\.\n +Choose another with STEAD_EDGE_LISTEN\.$/m,
    )
    expect(ill.out).toMatch(/^1 problem, \d+ warnings?\.$/m)
  })

  test('reports a damaged database, another master key, and a path that is not a folder', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'stead-cli-'))
    const database = async (given: Record<string, string>) =>
      find((await stead('doctor --json', { ...ports, ...given })).out, 'databases')
    await writeFile(join(folder, 'stead.db'), 'no database at all, but long enough to be taken for a file of one')
    expect(await database({ STEAD_DATA_DIR: folder })).toMatchObject([
      { state: 'problem', text: expect.stringContaining('is damaged') },
    ])
    const otherKey = { STEAD_MASTER_KEY: Buffer.alloc(32, 1).toString('base64') }
    expect(await database(otherKey)).toMatchObject([{ state: 'problem', text: expect.stringContaining('master key') }])
    expect(await database({ STEAD_DATABASE_URL: 'postgres://u:secret-word@127.0.0.1:9/x' })).toMatchObject([
      { state: 'problem', text: expect.not.stringContaining('secret-word'), remedy: 'Check STEAD_DATABASE_URL.' },
    ])
    await rm(folder, { recursive: true })
  })

  test('changes nothing', async () => {
    const parent = await mkdtemp(join(tmpdir(), 'stead-cli-'))
    expect((await stead('doctor', { ...ports, STEAD_DATA_DIR: join(parent, 'none') })).code).toBe(0)
    expect(await readdir(parent)).toEqual([])
    const before = await readdir(dataDir)
    await stead('doctor', ports)
    expect(await readdir(dataDir)).toEqual(before)
    await rm(parent, { recursive: true })
  })
})

describe('help', () => {
  test.each(['host', 'account'])('%s: shows all commands of the noun', async (noun) => {
    const { code, out } = await stead(`${noun} --help`)
    expect(code).toBe(0)
    for (const { name } of commands)
      expect([name, out.split('\n').some((line) => line.startsWith(`stead ${name}`))]).toEqual([
        name,
        name.split(' ')[0] === noun,
      ])
  })

  test('shows a command with its flags, and the settings that it reads', async () => {
    const { out } = await stead('help key accept')
    expect(out).toMatch(/^stead key accept\n/)
    expect(out).toContain('Settings: STEAD_DATA_DIR, STEAD_DATABASE_URL, STEAD_MASTER_KEY\n')
    expect((await stead('help application create')).out).toMatch(
      /^stead application create --account=ADDRESS --name=NAME\n/,
    )
    expect(await json('help account list')).toMatchObject([
      { name: 'account list', settings: ['STEAD_DATA_DIR', 'STEAD_DATABASE_URL'] },
    ])
  })

  test('without words: shows every command', async () => {
    const { out } = await stead('help')
    for (const { name } of commands) {
      const [noun = '', verb = ''] = name.split(' ')
      expect(out).toMatch(new RegExp(`^  stead ${noun}${verb && ` (\\S+\\|)?${verb}`}[ |]`, 'm'))
    }
  })

  test('suggests a name for an unknown topic', async () => {
    expect(await stead('help acount')).toMatchObject({
      code: 2,
      error: expect.stringContaining('Did you mean stead help account?'),
    })
    expect(await stead('help domains lst')).toMatchObject({
      code: 2,
      error: expect.stringContaining('Did you mean stead help domains list?'),
    })
    expect(await stead('domains lst --help')).toMatchObject({
      code: 2,
      error: expect.stringContaining('Did you mean stead domains list?'),
    })
  })

  test('works even if settings are invalid', async () => {
    expect((await stead('help', { STEAD_NONSENSE: '1' })).code).toBe(0)
  })
})

test('completion prints a script on standard output', async () => {
  for (const shell of ['bash', 'zsh', 'fish'] as const)
    expect((await stead(`completion ${shell}`, { STEAD_NONSENSE: '1' })).out).toBe(`${completionScript(shell)}\n`)
})

test('docs/settings.md is up to date (npm run docs:settings writes it)', async () => {
  const { out } = await stead('help settings --markdown')
  expect(await readFile(join(import.meta.dirname, '../../docs/settings.md'), 'utf8')).toBe(out)
})
