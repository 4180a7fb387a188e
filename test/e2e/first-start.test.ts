/** What a newcomer and an operator meet: the output of the first start, the commands, and invalid settings. */
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testCore } from '../support/core.ts'
import { maySmallDisk, smallDisk } from '../support/small-disk.ts'
import { prepareStead, program, type Stead, showOutputOfFailures, startStead, until } from '../support/stead.ts'

const run = promisify(execFile)
const core = await testCore()
const root = join(import.meta.dirname, '../..')

describe.skipIf(!core)('the first start', () => {
  let stead: Stead
  showOutputOfFailures(() => stead)
  beforeAll(async () => {
    stead = await startStead({ env: { STEAD_ACCOUNT_EMAIL: 'me@example.com' } })
  })
  afterAll(() => stead?.remove())

  test('prints lines that create a site when pasted into a shell; the last one says where it answers, and no secret is in a log', async () => {
    const words = await until(
      'the banner',
      () => /Your first site, in three lines:[\s\S]*Then open \S+/.exec(stead.output())?.[0],
    )
    const lines = words.split('\n').filter((line) => /^(key\(|TOKEN=|curl )/.test(line))
    expect(lines).toHaveLength(3)
    const { stdout } = await run('bash', ['-c', lines.join('\n')])
    const { id } = JSON.parse(stdout).data
    await stead.live(id)
    const url = new URL(/Then open (\S+)/.exec(words)?.[1] as string)
    expect(url.port).toBe(String(stead.edgePort))
    const page = await run('curl', ['-s', '--resolve', `${url.host}:127.0.0.1`, url.href])
    expect(page.stdout).toContain('<title>my-first-site</title>')
    const { client_secret } = JSON.parse(await readFile(join(stead.dataDir, 'credentials.json'), 'utf8'))
    expect(words).not.toContain(client_secret)
    expect(stead.output()).not.toContain(client_secret)
  })

  test('writes a complete credentials.json that only its owner can read; later starts print no secret', async () => {
    const file = join(stead.dataDir, 'credentials.json')
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    const credentials = JSON.parse(await readFile(file, 'utf8'))
    expect(credentials).toEqual({
      client_id: expect.any(String),
      client_secret: expect.any(String),
      api_url: stead.apiUrl,
      edge_url: `http://127.0.0.1:${stead.edgePort}`,
      account_email: 'me@example.com',
      panel_link: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/#\/set-password\/[\w-]{43}$/),
    })
    expect(credentials.panel_link).toContain(stead.apiUrl)
    const before = stead.output().length
    await stead.restart()
    const words = await until(
      'the second banner',
      () => /is running[\s\S]*Account.*\n/.exec(stead.output().slice(before))?.[0],
    )
    expect(words).not.toContain(credentials.client_secret)
    expect(stead.output()).not.toContain(credentials.panel_link)
    expect(words).not.toContain('TOKEN=')
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(credentials)
  })

  test('refuses to start a second stead on the same data folder, and the first continues', async () => {
    const second = await stead.cli('serve')
    expect([second.code, second.stderr]).toEqual([2, expect.stringContaining(stead.dataDir)])
    expect(second.stderr).toMatch(/already runs on this data folder/)
    const host = await stead.cli('config', '--json')
    expect(JSON.parse(host.stdout)).toMatchObject({ STEAD_DATA_DIR: stead.dataDir })
    expect((await stead.api('GET', '/v1/sites')).status).toBe(200)
  })

  test('manages accounts and applications by command; a revoked application gets no token', async () => {
    const json = async (...words: string[]) => {
      const { code, stdout, stderr } = await stead.cli(...words, '--json')
      expect([stderr, code]).toEqual(['', 0])
      return JSON.parse(stdout)
    }
    const made = await json('account', 'create', '--email', 'Other@Example.com', '--plan', 'Personal')
    expect(made).toMatchObject({ email: 'other@example.com', plan: 'Personal' })
    expect(await json('account', 'set-plan', '--email', 'other@example.com', '--plan', 'Business')).toMatchObject({
      plan: 'Business',
    })
    expect(await json('account', 'list')).toMatchObject([
      { email: 'me@example.com' },
      { email: 'other@example.com', plan: 'Business' },
    ])
    const application = await json('application', 'create', '--account', 'other@example.com', '--name', 'ci', '--owner')
    const token = async () => {
      const { client_id, client_secret } = application
      const form = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret })
      const response = await fetch(`${stead.apiUrl}/auth/token`, { method: 'POST', body: form })
      return { status: response.status, body: (await response.json()) as { access_token: string; scope: string } }
    }
    const { status, body } = await token()
    expect([status, body.scope]).toEqual([200, expect.stringContaining('owner')])
    const sites = () => fetch(`${stead.apiUrl}/v1/sites`, { headers: { authorization: `Bearer ${body.access_token}` } })
    expect(((await (await sites()).json()) as { data: unknown }).data).toEqual([])
    expect(await json('application', 'list', '--account', 'other@example.com')).toMatchObject([
      { name: 'ci', revoked: null },
    ])
    await json('application', 'revoke', '--client-id', application.client_id)
    expect([(await token()).status, (await sites()).status]).toEqual([401, 401])
    for (const [words, complaint] of [
      [['account', 'create', '--email', 'other@example.com'], /already has an account/],
      [['account', 'create'], /--email is required/],
      [['account', 'set-plan', '--email', 'x@example.com', '--plan', 'Business'], /No account/],
      [['account', 'create', '--email', 'y@example.com', '--plan', 'None'], /--plan must be one of/],
      [['application', 'revoke', '--client-id', 'unknown'], /No active application/],
    ] as const)
      expect(await stead.cli(...words)).toMatchObject({ code: 2, stderr: expect.stringMatching(complaint) })
  })

  test('serves the metrics of all roles at /metrics', async () => {
    expect((await stead.visit('nobody-here')).status).toBe(404)
    const wanted = [
      /^stead_sites\{state="live"\} \d/m,
      /^stead_edge_requests_total\{status="4xx",cache="none",part="edge",process="edge-\w+"\} [1-9]/m,
      /^stead_php_processes\{kind="site",part="host",process="host-\w+"\} \d/m,
      /^stead_process_resident_bytes\{part="control",process="control-\w+"\} [1-9]/m,
    ]
    await until('all parts have reported', async () => {
      const text = await (await fetch(`${stead.apiUrl}/metrics`)).text()
      return wanted.every((line) => line.test(text))
    })
  })

  test('exits with code 2 for invalid settings, with setting and reason', async () => {
    const idle = await prepareStead({ golden: false })
    try {
      idle.set({ STEAD_API_LISTEN: 'nowhere', STEAD_SPARE_SITES: '99', STEAD_TYPO: '1' })
      for (const command of ['serve', 'config'])
        expect(await idle.cli(command)).toMatchObject({
          code: 2,
          stderr: expect.stringMatching(
            /STEAD_API_LISTEN must be an address[\s\S]*STEAD_SPARE_SITES must be a whole number from 0 to 8[\s\S]*STEAD_TYPO/,
          ),
        })
    } finally {
      await idle.remove()
    }
    const rootless = await prepareStead({ golden: false })
    try {
      rootless.set({ STEAD_ACME_ROOTS: '/nowhere/roots.pem' })
      expect(await rootless.cli('control')).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(
          /nowhere.roots\.pem \(STEAD_ACME_ROOTS\) cannot be used: the file does not exist/,
        ),
      })
    } finally {
      await rootless.remove()
    }
  })

  test.runIf(maySmallDisk)('exits with code 2 for a read-only disk, with folder and reason', async () => {
    const disk = await smallDisk(64)
    const remount = (how: 'ro' | 'rw') => run('mount', ['-o', `remount,${how}`, disk.folder])
    const still = await prepareStead({ golden: false, below: disk.folder })
    try {
      await remount('ro')
      // an existing folder, and one that Stead would need to create
      for (const dataDir of [still.dataDir, join(disk.folder, 'not-yet/below')]) {
        still.set({ STEAD_DATA_DIR: dataDir })
        expect(await still.cli('serve')).toEqual({
          ...{ code: 2, stdout: '' },
          stderr: `The folder ${dataDir} is on a read-only file system. Choose another with STEAD_DATA_DIR.\n`,
        })
      }
    } finally {
      await remount('rw')
      await still.remove()
      await disk.remove()
    }
  })

  test.runIf(maySmallDisk)('gives up its disk reserve on a full disk, or names the disk', async () => {
    const disk = await smallDisk(64)
    const full = await prepareStead({ golden: false, below: disk.folder })
    try {
      // A start that comes that far has taken its lock and opened the control database.
      full.set({ STEAD_API_LISTEN: `127.0.0.1:${stead.apiPort}` })
      await mkdir(full.dataDir, { recursive: true })
      await writeFile(join(full.dataDir, 'reserve'), Buffer.alloc(24 << 20))
      await disk.fill()
      const started = await full.cli('serve')
      expect([started.code, started.stderr]).toEqual([2, expect.stringContaining('STEAD_API_LISTEN')])
      await disk.relieve()
      await rm(join(full.dataDir, 'serve.lock'), { force: true })
      await disk.fill()
      expect(await full.cli('serve')).toMatchObject({
        code: 2,
        stderr: `Stead cannot lock ${join(full.dataDir, 'serve.lock')}: the disk is full. Free space on it.\n`,
      })
    } finally {
      await full.remove()
      await disk.remove()
    }
  })

  test('exits with code 2 for a port in use, and says which one and how to choose another', async () => {
    const other = await prepareStead({ golden: false })
    try {
      other.set({ STEAD_API_LISTEN: `127.0.0.1:${stead.apiPort}` })
      const { code, stderr, stdout } = await other.cli('serve')
      expect([code, `${stdout}${stderr}`]).toEqual([
        2,
        expect.stringMatching(new RegExp(`127\\.0\\.0\\.1:${stead.apiPort} is in use.*STEAD_API_LISTEN`)),
      ])
    } finally {
      await other.remove()
    }
  })

  test('exits with code 2 when a process ends at each of its starts, and names it', async () => {
    const other = await prepareStead({ golden: false })
    try {
      const ends = 'if (process.argv[2] === "edge") process.exit(1)'
      other.set({ NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(ends)}` })
      const { code, stderr, stdout } = await other.cli('serve')
      expect([code, `${stdout}${stderr}`]).toEqual([
        2,
        expect.stringContaining('The part "edge" of Stead cannot start: it has ended 5 times in a row'),
      ])
    } finally {
      await other.remove()
    }
  })
})

const WIPE = '\r\u001b[2K'

describe.skipIf(!core)('the first start on a terminal', () => {
  let stead: Stead
  showOutputOfFailures(() => stead)
  test('shows its progress in a line of its own, away from the log, and prints the credentials only once', async () => {
    stead = await startStead({
      launch: ['script', '-qfec', `'${process.execPath}' '${program}' serve`, '/dev/null'],
      env: { STEAD_PREPARED_SITES: '1' },
    })
    try {
      const words = await until('the banner', () => /[\s\S]*Then open \S+/.exec(stead.output())?.[0])
      const keys = JSON.parse(await readFile(join(stead.dataDir, 'credentials.json'), 'utf8'))
      expect(words).toContain(`client_id ${keys.client_id}  client_secret ${keys.client_secret}`)
      expect(words).toContain(keys.panel_link)
      // text of a line before it was wiped is gone
      const lines = words.split('\r\n').map((line) => line.split(WIPE))
      expect(lines.flat()).toContainEqual(expect.stringMatching(/^Starting Stead [\d.]+ on /))
      const ofLog = /\d\d:\d\d:\d\d {2}(supervisor|control|host|edge) /
      const told = lines.filter((texts) => texts.some((text) => ofLog.test(text)))
      expect(told.length).toBeGreaterThan(2)
      for (const texts of told) expect(texts.at(-1)).toMatch(new RegExp(`^${ofLog.source} *\\S`))
      expect(words).not.toContain('{"level"')
    } finally {
      await stead.remove()
    }
  })
})

test.each(['README.md', 'docs/getting-started.md'])(
  'key() of %s prints a credential, or says that there are none',
  async (page) => {
    const folder = await mkdtemp(join(tmpdir(), 'stead-keys-'))
    const text = await readFile(join(root, page), 'utf8')
    const lines = text.split('\n').filter((line) => /^(API=|key\(\))/.test(line))
    const ask = () => run('bash', ['-c', `${lines.join('\n')}\nkey client_id`], { cwd: folder })
    try {
      expect(lines).toHaveLength(2)
      expect(await ask()).toEqual({
        stdout: '',
        stderr: expect.stringContaining(`no data/credentials.json in ${folder}:`),
      })
      await mkdir(join(folder, 'data'))
      await writeFile(join(folder, 'data/credentials.json'), JSON.stringify({ client_id: 'a_b-c' }, null, 2))
      expect(await ask()).toEqual({ stdout: 'a_b-c\n', stderr: '' })
    } finally {
      await rm(folder, { recursive: true })
    }
  },
)

test('starts and serves the API without a WordPress; the operation fails with the reason and what to do', {
  timeout: 180_000,
}, async () => {
  // no apt in the path, and an address where nothing listens
  const stead = await prepareStead({
    golden: false,
    env: { STEAD_CORE_SOURCE: '/nonexistent/wordpress.zip', STEAD_WORDPRESS_API: 'http://127.0.0.1:9', PATH: '' },
  })
  try {
    await stead.start()
    expect((await stead.api('GET', '/v1/sites')).status).toBe(200)
    const { headers, body } = await stead.api('POST', '/v1/sites', { name: 'no-core' })
    const operation = await stead.ended(headers.get('operation-id') as string)
    expect(operation).toMatchObject({ state: 'failed', error: expect.stringContaining('STEAD_CORE_SOURCE') })
    // only the operator may see a path of the machine
    expect(operation.error).not.toContain('/nonexistent')
    expect(stead.output()).toContain('/nonexistent/wordpress.zip')
    expect((await stead.api('GET', `/v1/sites/${body.data.id}`)).body.data.state).toBe('deploying')
    await until('the banner', () => stead.output().includes('not available yet'))
    // the output must not promise what would fail
    expect(stead.output()).toContain('You cannot create a site yet.')
    expect(stead.output()).not.toContain('Your first site, in three lines')
    const readyz = await fetch(`${stead.apiUrl}/readyz`)
    expect([readyz.status, await readyz.json()]).toMatchObject([
      200,
      { status: 'degraded', hosts: [{ wordpress: null }] },
    ])
  } finally {
    await stead.remove()
  }
})
