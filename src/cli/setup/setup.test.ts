import { chown, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { InstallationCheck } from '../../resources/installation/installation-check.ts'
import { launch } from '../launcher.fixture.ts'
import { LETS_ENCRYPT } from './questions.ts'
import { readSettingsText, type SettingTexts } from './settings-file.ts'
import { runSetup, type SetupFlags, type SetupSurroundings } from './setup.ts'

let folder: string
let file: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stead-setup-'))
  file = join(folder, 'stead.env')
  await writeFile(file, await packaged(folder))
})
afterEach(() => rm(folder, { recursive: true }))

/** Returns the settings file of the Debian package, with another data folder. */
const packaged = async (dataDir: string): Promise<string> =>
  (await readFile(join(import.meta.dirname, '../../../packaging/debian/stead.env'), 'utf8')).replace(
    'STEAD_DATA_DIR=/var/lib/stead',
    `STEAD_DATA_DIR=${dataDir}/data`,
  )

const noFlags: SetupFlags = {
  ...{ domain: undefined, mail: undefined, backups: undefined, php: undefined, email: undefined },
  ...{ 'panel-name': undefined, address: undefined, file: undefined },
  ...{ 'agree-to-terms': false, unchecked: false, restart: false },
}

interface Stand {
  readonly flags?: Partial<SetupFlags>
  readonly given?: readonly string[]
  /** The answers of a person at a terminal, by a part of the question. */
  readonly answers?: Readonly<Record<string, string | readonly string[]>>
  readonly found?: (areas: readonly string[]) => readonly InstallationCheck[]
  readonly around?: Partial<SetupSurroundings>
}

/** Runs a setup with a stand-in terminal. */
async function setUp({ flags, given = [], answers, found = () => [], around }: Stand) {
  const asked: string[] = []
  const said: string[] = []
  const doctored: SettingTexts[] = []
  const left = new Map(Object.entries(answers ?? {}).map(([part, each]) => [part, [each].flat()]))
  const code = await runSetup({ ...noFlags, file, ...flags }, given, {
    ask:
      answers &&
      (async (question) => {
        asked.push(question)
        const part = [...left.keys()].find((each) => question.includes(each))
        return (part && left.get(part)?.shift()) ?? ''
      }),
    say: (text) => said.push(text),
    check: async (_config, list) => found(list.map(({ area }) => area)),
    addresses: () => ['203.0.113.7'],
    restart: undefined,
    runAsRoot: undefined,
    doctor: async (values) => doctored.push(values),
    ...around,
  })
  return { asked, said: said.join('\n'), doctored, code, values: readSettingsText(await readFile(file, 'utf8')) }
}

const answers = {
  'Domain for sites': 'sites.hoster.example',
  terms: 'yes',
  'Mail server': 'smtp://me%40hoster.example:pw@mail.hoster.example:587',
  'E-mail address': 'me@hoster.example',
}
const all = {
  domain: 'sites.hoster.example',
  mail: 'none',
  backups: 's3://kept/here',
  php: 'wasm',
  email: 'me@hoster.example',
}

test('answers to five questions make a server on a real domain, and the doctor follows', async () => {
  const { values, asked, said, doctored, code } = await setUp({ answers })
  expect(values).toEqual({
    STEAD_DATA_DIR: `${folder}/data`,
    STEAD_API_LISTEN: '127.0.0.1:8080',
    STEAD_EDGE_LISTEN: '0.0.0.0:80',
    STEAD_EDGE_TLS_LISTEN: '0.0.0.0:443',
    STEAD_API_TLS_LISTEN: '0.0.0.0:8443',
    STEAD_STAGING_DOMAIN: 'sites.hoster.example',
    STEAD_API_NAME: 'panel.hoster.example',
    STEAD_PANEL_URL: 'https://panel.hoster.example:8443',
    STEAD_EDGE_ADDRESSES: '203.0.113.7',
    STEAD_ACME_DIRECTORY: LETS_ENCRYPT,
    STEAD_ACME_TERMS_AGREED: 'true',
    STEAD_ACME_EMAIL: 'me@hoster.example',
    STEAD_SMTP_URL: 'smtp://me%40hoster.example:pw@mail.hoster.example:587',
    STEAD_MAIL_FROM: 'Stead <me@hoster.example>',
    STEAD_BACKUP_DIR: `${folder}/data/backups`,
    STEAD_RUNTIME: 'wasm',
    STEAD_ACCOUNT_EMAIL: 'me@hoster.example',
  })
  expect(asked).toHaveLength(7)
  expect(said).toContain('DNS records with the address 203.0.113.7 for *.sites.hoster.example and panel.hoster.example')
  expect(said).not.toContain(':pw@')
  expect(doctored).toEqual([values])
  expect(code).toBe(1)
  expect((await stat(file)).mode & 0o777).toBe(0o640)
  expect(await readFile(file, 'utf8')).toContain('# SFTP and the name server.')
})

test('a second run that keeps every answer changes nothing, checks nothing, and hides passwords', async () => {
  await setUp({ answers })
  const before = await readFile(file, 'utf8')
  const { said, asked } = await setUp({ answers: {}, found: () => expect.unreachable() })
  expect(await readFile(file, 'utf8')).toBe(before)
  expect(said).toContain(`Nothing changed in ${file}.`)
  expect(asked).toHaveLength(5)
  expect(asked.join()).toContain('[smtp://me%40hoster.example:…@mail.hoster.example:587]')
})

test('a flag changes only its answer, and keeps listeners that were chosen', async () => {
  await setUp({ flags: { ...all, 'agree-to-terms': true } })
  await writeFile(
    file,
    (await readFile(file, 'utf8')).replace(/^STEAD_EDGE_LISTEN=.*$/m, 'STEAD_EDGE_LISTEN=10.0.0.1:80'),
  )
  const { values } = await setUp({ flags: { domain: 'other.hoster.example' } })
  expect(values).toMatchObject({ STEAD_STAGING_DOMAIN: 'other.hoster.example', STEAD_EDGE_LISTEN: '10.0.0.1:80' })
  expect(values).toMatchObject({ STEAD_BACKUP_S3_BUCKET: 'kept', STEAD_BACKUP_S3_PREFIX: 'here' })
})

test('without a terminal, names the flags that are missing, and writes nothing', async () => {
  const before = await readFile(file, 'utf8')
  await expect(setUp({ flags: { mail: 'none', email: 'me@hoster.example' } })).rejects.toThrow(
    /answer with these flags:\n {2}--domain=….*\n {2}--backups=….*\n {2}--php=….*wasm or native$/,
  )
  expect(await readFile(file, 'utf8')).toBe(before)
  const { code, error } = await launch(`setup --file=${file}`, {})
  expect([code, error.match(/--\w+(?==…)/g)]).toEqual([2, ['--domain', '--mail', '--backups', '--php', '--email']])
})

test('without the terms, no certificates are requested', async () => {
  const { values } = await setUp({ flags: all })
  expect(values).not.toHaveProperty('STEAD_ACME_TERMS_AGREED')
  expect(values).not.toHaveProperty('STEAD_ACME_DIRECTORY')
})

test.each([
  ['domain', 'no domain', 'must be a lower-case domain name'],
  ['domain', 'localhost', 'must be a domain with a dot'],
  ['mail', 'mail.example.com', 'must be like smtp://'],
  ['backups', 'relative', 'must be a folder such as /mnt/backups'],
  ['php', 'apache', 'must be wasm or native'],
  ['email', 'nobody', 'must be an e-mail address'],
])('refuses --%s=%s', async (flag, answer, text) => {
  const before = await readFile(file, 'utf8')
  await expect(setUp({ flags: { ...all, [flag]: answer } })).rejects.toThrow(`--${flag}: This ${text}`)
  expect(await readFile(file, 'utf8')).toBe(before)
})

const broken = (area: 'mail' | 'php' | 'storage', state: 'problem' | 'warning' = 'problem') => ({
  found: (areas: readonly string[]): readonly InstallationCheck[] =>
    areas.includes(area) ? [{ area, state, text: `No ${area}.`, remedy: 'Mend it.' }] : [],
})

test('refuses a server that does not respond, unless it was told not to look', async () => {
  const flags = { ...all, mail: 'smtp://mail.hoster.example' }
  await expect(setUp({ flags, ...broken('mail') })).rejects.toThrow('--mail: No mail. Mend it.')
  await expect(setUp({ flags, ...broken('storage') })).rejects.toThrow('--backups: No storage. Mend it.')
  expect((await setUp({ flags: { ...flags, unchecked: true }, ...broken('mail') })).values).toHaveProperty(
    'STEAD_SMTP_URL',
  )
})

test('native PHP must be there, wasm needs nothing', async () => {
  const native = { ...all, php: 'native' }
  await expect(setUp({ flags: native, ...broken('php', 'warning') })).rejects.toThrow('--php: No php.')
  await setUp({ flags: all, ...broken('php', 'warning') })
  expect((await setUp({ flags: native })).values).toMatchObject({ STEAD_RUNTIME: 'auto', STEAD_MARIADB: 'own' })
})

test.runIf(process.getuid?.() === 0)('lets the user of the service use the backups, and not native PHP', async () => {
  await mkdir(join(folder, 'data'))
  await chown(join(folder, 'data'), 1234, 1234)
  await setUp({ flags: { ...all, backups: join(folder, 'new') } })
  expect(await stat(join(folder, 'new'))).toMatchObject({ uid: 1234, gid: 1234 })
  await mkdir(join(folder, 'of-root'))
  const flags = { ...all, backups: join(folder, 'of-root') }
  await expect(setUp({ flags })).rejects.toThrow(
    /--backups: .*of-root belongs to another user than .*chown --reference/,
  )
  await expect(setUp({ flags: { ...all, php: 'native' } })).rejects.toThrow('--php: Native PHP needs a Stead that runs')
})

test.runIf(process.getuid?.() === 0)('lets the service of the package run as root for native PHP', async () => {
  const data = join(folder, 'data')
  await mkdir(data)
  await chown(data, 1234, 1234)
  const given: (readonly string[])[] = []
  const around = { runAsRoot: async (folders: readonly string[]) => void given.push(folders) }
  // A setup that ends here is repeated by the next one, because it has written no settings.
  const ends = { runAsRoot: () => Promise.reject(new Error('killed')) }
  await setUp({ flags: { ...all, backups: join(folder, 'kept') }, around })
  expect(given).toEqual([])
  await expect(setUp({ flags: { php: 'native' }, around: ends })).rejects.toThrow('killed')
  const { said } = await setUp({ flags: { php: 'native' }, around })
  expect(given).toEqual([[data, join(folder, 'kept')]])
  expect(said).toContain('The service runs as root from its next start')
  // Files of sites have owners.
  await setUp({ flags: { php: 'wasm' } })
  await writeFile(join(data, 'identity.json'), '{}')
  await expect(setUp({ flags: { php: 'native' }, around })).rejects.toThrow('set up an empty data folder')
  expect(given).toHaveLength(1)
})

test('asks again after an answer that is refused, and takes it if the person insists', async () => {
  const twice = { ...answers, 'Domain for sites': ['NO', 'sites.hoster.example'], 'Use it nevertheless': 'y' }
  const { values, said } = await setUp({ answers: twice, ...broken('mail') })
  expect(said).toContain('This must be a lower-case domain name')
  expect(said).toContain('No mail. Mend it.')
  expect(values).toMatchObject({ STEAD_STAGING_DOMAIN: 'sites.hoster.example', STEAD_SMTP_URL: expect.any(String) })
  const other = { ...answers, 'Mail server': ['smtp://wrong.example', 'none'], 'Use it nevertheless': 'no' }
  await writeFile(file, await packaged(folder))
  expect((await setUp({ answers: other, ...broken('mail') })).values).not.toHaveProperty('STEAD_SMTP_URL')
})

test('asks for the keys of a bucket, or takes them from flags, and forgets them with the bucket', async () => {
  const bucket = { 'Storage of backups': 's3://kept', 'Access key': 'id', Secret: 's3cret' }
  const { values } = await setUp({ answers: { ...answers, ...bucket } })
  expect(values).toMatchObject({ STEAD_BACKUP_S3_BUCKET: 'kept', STEAD_BACKUP_S3_SECRET_ACCESS_KEY: 's3cret' })
  const back = await setUp({ answers: { 'Storage of backups': `${folder}/backups` } })
  expect(Object.keys(back.values).filter((name) => name.includes('_S3_'))).toEqual([])
  const given = ['--backup-s3-endpoint=https://s3.example', '--backup-s3-access-key-id=id2']
  expect((await setUp({ flags: { backups: 's3://kept' }, given })).values).toMatchObject({
    STEAD_BACKUP_S3_ENDPOINT: 'https://s3.example',
    STEAD_BACKUP_S3_ACCESS_KEY_ID: 'id2',
  })
})

test('a domain that only this network knows needs no authority and no public address', async () => {
  const { values } = await setUp({ flags: { ...all, domain: 'sites.test' }, around: { addresses: () => [] } })
  expect(Object.keys(values).filter((name) => /ACME|ADDRESSES/.test(name))).toEqual([])
  const flags = { ...all, domain: 'sites.hoster.example' }
  await expect(setUp({ flags, around: { addresses: () => [] } })).rejects.toThrow('--address=… is required')
})

test('restarts the service if wanted, and shows the link of the first account on a terminal only', async () => {
  const restarted: string[] = []
  const restart = async ({ dataDir }: { dataDir: string }) => {
    restarted.push(dataDir)
    await mkdir(dataDir, { recursive: true })
    const credentials = { account_email: 'me@hoster.example', panel_link: 'https://panel/#/set-password/x' }
    await writeFile(join(dataDir, 'credentials.json'), JSON.stringify(credentials))
  }
  const shown = await setUp({ answers: { ...answers, 'Restart Stead now': 'yes' }, around: { restart } })
  expect(shown.said).toContain('https://panel/#/set-password/x')
  await writeFile(file, await packaged(folder))
  const flags = { ...all, email: 'other@hoster.example', restart: true }
  const { said } = await setUp({ flags, around: { restart } })
  expect(said).not.toContain('set-password')
  expect(said).toContain('panel_link in')
  expect(said).toContain('The first account is me@hoster.example, as before.')
  expect(restarted).toHaveLength(2)
  await writeFile(file, await packaged(folder))
  expect((await setUp({ flags: all, around: { restart } })).said).toContain('Start Stead with these settings.')
  expect(restarted).toHaveLength(2)
})

test('says which setting to correct first, and which folder is missing', async () => {
  await writeFile(file, 'STEAD_EDGE_LISTEN=nowhere\n')
  await expect(setUp({ flags: all })).rejects.toThrow(`Correct ${file} first: STEAD_EDGE_LISTEN must be`)
  await expect(setUp({ flags: { ...all, file: join(folder, 'none/stead.env') } })).rejects.toThrow('--file=FILE')
})
