import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { hashPassword } from '../../platform/crypto/password.ts'
import { sftpHostKey } from './host-key.ts'
import { readPublicKey } from './public-key.ts'
import type { SftpLogin } from './sftp-access.ts'
import { type FilesOfSite, type SftpLimits, SftpServer } from './sftp-server.ts'

const isRoot = process.getuid?.() === 0
const UID = isRoot ? 54_321 : null
const has = (program: string) =>
  ['/usr/bin', '/bin', '/usr/local/bin'].some((folder) => existsSync(join(folder, program)))
const passwordHash = await hashPassword('the password')

let folder: string
let web: string
let port: number
let server: SftpServer
let login: SftpLogin
let site: FilesOfSite | undefined
let tell: () => void
/** The epoch in the user's record, if it has changed since the login. */
let epochNow: number | undefined
const [changed, warn, loggedIn] = [vi.fn(), vi.fn(), vi.fn()]
let quota: { bytes: number; files: number } | undefined

async function start(limits: Partial<SftpLimits> = {}): Promise<void> {
  server = new SftpServer({
    hostKey: await sftpHostKey(folder),
    access: {
      find: async (username) => (username === login.username ? login : undefined),
      standing: async () => new Map([[login.userId, epochNow ?? login.epoch]]),
      loggedIn,
      subscribe(listener) {
        tell = listener
        return () => {}
      },
    },
    siteById: async () => site,
    quotaOf: async () => quota,
    keepFreeBytes: 0,
    changed,
    log: { info() {}, warn, error: warn },
    limits: { burstMs: 1, ...limits },
  })
  server.server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  port = (server.server.address() as AddressInfo).port
}

beforeEach(async () => {
  vi.resetAllMocks()
  loggedIn.mockResolvedValue(undefined)
  quota = undefined
  epochNow = undefined
  folder = mkdtempSync(join(tmpdir(), 'stead-sftp-'))
  web = join(folder, 'home/web')
  for (const made of [web, join(web, 'wp-content'), join(folder, 'core/wp-admin'), join(folder, 'outside')])
    mkdirSync(made, { recursive: true })
  if (UID !== null) execFileSync('chown', ['-R', `${UID}:${UID}`, join(folder, 'home')])
  execFileSync('chmod', ['711', folder])
  writeFileSync(join(folder, 'core/wp-admin/index.php'), 'core')
  writeFileSync(join(folder, 'outside/secret'), 'secret')
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(folder, 'key')])
  const key = await readPublicKey(readFileSync(join(folder, 'key.pub'), 'utf8'))
  login = { userId: 1, siteId: 7, username: 'site_1', epoch: 0, passwordHash, publicKeys: [key.publicKey] }
  site = { siteDirectory: join(folder, 'home'), corePath: join(folder, 'core'), uid: UID }
  await start()
})
afterEach(async () => {
  await server.close()
  rmSync(folder, { recursive: true, force: true })
})

const options = () => [
  ...['-o', 'StrictHostKeyChecking=no', '-o', `UserKnownHostsFile=${join(folder, 'known')}`, '-o', 'LogLevel=ERROR'],
  ...['-o', 'IdentitiesOnly=yes', '-o', `IdentityFile=${join(folder, 'key')}`, '-F', 'none'],
]
interface Ended {
  readonly code: number | null
  readonly text: string
}
async function ended(child: ChildProcess, input = ''): Promise<Ended> {
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (piece) => (text += piece))
  // The process may end before it has read the input.
  child.stdin?.on('error', () => {}).end(input)
  const [code] = await once(child, 'close')
  return { code, text }
}
const run = (program: string, words: readonly string[], env: Record<string, string> = {}, input = ''): Promise<Ended> =>
  ended(spawn(program, words, { cwd: folder, env: { ...process.env, HOME: folder, ...env } }), input)
/** Runs each line as a command. A command that begins with `-` may fail. */
const sftp = (...lines: string[]): Promise<Ended> =>
  run('sftp', ['-q', ...options(), '-b', '-', '-P', String(port), 'site_1@127.0.0.1'], {}, `${lines.join('\n')}\n`)
/** Logs in with a password, as a person types it. */
const withPassword = (password: string, ...words: string[]): Promise<Ended> => {
  const ask = join(folder, 'ask')
  writeFileSync(ask, `#!/bin/sh\necho '${password}'\n`, { mode: 0o700 })
  const more = ['-o', 'PreferredAuthentications=password', '-o', 'NumberOfPasswordPrompts=1', '-o', 'BatchMode=no']
  return run(
    'sftp',
    [...more, ...options(), '-P', String(port), ...words],
    { SSH_ASKPASS: ask, SSH_ASKPASS_REQUIRE: 'force' },
    'ls\n',
  )
}
const scp = (...words: string[]) => run('scp', [...options(), '-P', String(port), ...words])

describe('OpenSSH', () => {
  test('agrees on AES-GCM if the client supports it, otherwise on another AES cipher, and never on the slowest in Node', async () => {
    const by = (...words: string[]) =>
      run('sftp', [...words, '-v', ...options(), '-b', '-', '-P', String(port), 'site_1@127.0.0.1'], {}, 'pwd\n')
    const unset = await by()
    expect([unset.code, unset.text.match(/kex: .* cipher: \S+/g)]).toEqual([
      0,
      [expect.stringContaining('aes128-gcm'), expect.stringContaining('aes128-gcm')],
    ])
    expect((await by('-c', 'aes256-ctr')).code).toBe(0)
    expect((await by('-c', 'chacha20-poly1305@openssh.com')).text).toMatch(/no matching cipher/)
  })

  test('puts, gets, renames, resumes, and removes files, gives new files to the site, and notifies the edge', async () => {
    const bytes = randomBytes(3_000_000)
    writeFileSync(join(folder, 'a'), bytes)
    writeFileSync(join(folder, 'part'), bytes.subarray(0, 1_000_000))
    const { text, code } = await sftp(
      'put a wp-content/a',
      'rename wp-content/a wp-content/b',
      'get wp-content/b back',
      'mkdir new',
      'put part new/c',
      'reput a new/c',
      'reget wp-content/b part',
      'chmod 4777 new/c',
      'ls -l',
    )
    expect([code, text]).toEqual([0, expect.stringContaining('new')])
    for (const same of ['back', 'part', 'home/web/wp-content/b', 'home/web/new/c'])
      expect(readFileSync(join(folder, same)).equals(bytes), same).toBe(true)
    const [made, file] = [lstatSync(join(web, 'new')), lstatSync(join(web, 'new/c'))]
    expect([made.mode & 0o7777, file.mode & 0o7777, lstatSync(join(web, 'wp-content/b')).mode & 0o7777]).toEqual([
      0o755, 0o755, 0o644,
    ])
    if (UID !== null) expect([made.uid, made.gid, file.uid, file.gid]).toEqual([UID, UID, UID, UID])
    expect(changed).toHaveBeenCalledWith(7)
    expect((await sftp('rm new/c', 'rmdir new')).code).toBe(0)
    expect(readdirSync(web)).toEqual(['wp-content'])
  })

  test('copies trees with scp, both ways', async () => {
    for (const name of ['d/x/y', 'd/z']) mkdirSync(join(folder, name), { recursive: true })
    for (let i = 0; i < 150; i++) writeFileSync(join(folder, `d/x/y/f${i}`), `${i}`)
    expect(await scp('-r', 'd', 'site_1@127.0.0.1:/wp-content/')).toEqual({ code: 0, text: '' })
    expect(await scp('-r', 'site_1@127.0.0.1:/wp-content/d', 'e')).toEqual({ code: 0, text: '' })
    expect((await run('diff', ['-r', 'd', 'e'])).code).toBe(0)
  })

  test('logs in by password, and refuses a wrong password, an unknown user, and a user without password alike', async () => {
    expect((await withPassword('the password', 'site_1@127.0.0.1')).code).toBe(0)
    const wrong = await withPassword('another', 'site_1@127.0.0.1')
    const unknown = await withPassword('the password', 'site_2@127.0.0.1')
    expect(wrong.code).not.toBe(0)
    // sftp adds a line of its own if it gets that far before ssh has ended.
    const refusal = ({ text }: Ended) => /Permission denied.*\)/.exec(text)?.[0]
    expect(refusal(wrong)).toContain('password')
    expect(refusal(wrong)).toBe(refusal(unknown))
    login = { ...login, passwordHash: null }
    expect((await withPassword('', 'site_1@127.0.0.1')).code).not.toBe(0)
    expect(loggedIn).toHaveBeenCalledOnce()
  })

  test('refuses another user’s key', async () => {
    login = { ...login, publicKeys: [] }
    expect((await sftp('ls')).code).not.toBe(0)
  })

  test('provides no shell, commands, or forwarding, and says so', async () => {
    const words = [...options(), '-p', String(port), 'site_1@127.0.0.1']
    for (const asked of [[], ['id'], ['scp', '-t', '.']]) {
      const { code, text } = await run('ssh', [...words, ...asked])
      expect([code, text]).toEqual([1, expect.stringContaining('for files only')])
    }
    const forwarded = await run('ssh', ['-W', `127.0.0.1:${port}`, ...words])
    expect([forwarded.code === 0, forwarded.text.includes('SSH-2.0')]).toEqual([false, false])
  })

  test('serves twenty concurrent clients what they request', async () => {
    writeFileSync(join(folder, 'a'), randomBytes(300_000))
    const all = Array.from({ length: 20 }, (_, number) =>
      sftp(`put a wp-content/${number}`, `get wp-content/${number} got${number}`),
    )
    expect((await Promise.all(all)).map(({ code }) => code)).toEqual(Array(20).fill(0))
    for (let number = 0; number < 20; number++)
      expect(readFileSync(join(folder, `got${number}`)).equals(readFileSync(join(folder, 'a')))).toBe(true)
  }, 60_000)
})

describe('the jail', () => {
  test('has no way up, follows and creates no links, and does not change the core', async () => {
    symlinkSync(join(folder, 'outside'), join(web, 'out'))
    symlinkSync(join(folder, 'outside/secret'), join(web, 'link'))
    const tried = await sftp(
      '-get ../../outside/secret s1',
      '-get /../outside/secret s2',
      '-get out/secret s3',
      '-get link s4',
      '-put key out/put',
      '-put key link',
      '-mkdir out/made',
      '-rename key link',
      '-rm out/secret',
      '-symlink /etc made',
      '-ls out',
      '-put key wp-admin/x',
      '-rm wp-admin/index.php',
      '-rmdir wp-content/../wp-admin',
      '-chmod 777 link',
      'get wp-admin/index.php core.php',
      'rm link',
    )
    expect(tried.code).toBe(0)
    expect(readdirSync(folder).filter((name) => /^s\d/.test(name))).toEqual([])
    expect(readdirSync(join(folder, 'outside'))).toEqual(['secret'])
    expect(readFileSync(join(folder, 'outside/secret'), 'utf8')).toBe('secret')
    expect(lstatSync(join(folder, 'outside/secret')).mode & 0o777).not.toBe(0o777)
    expect(readdirSync(join(folder, 'core/wp-admin'))).toEqual(['index.php'])
    expect(readFileSync(join(folder, 'core.php'), 'utf8')).toBe('core')
    expect(readdirSync(web).sort()).toEqual(['out', 'wp-content'])
  })

  test.skipIf(!isRoot)('grants no more than the site’s own user has', async () => {
    writeFileSync(join(web, 'roots'), 'roots', { mode: 0o600 })
    mkdirSync(join(web, 'roots-folder'), { mode: 0o700 })
    const tried = await sftp(
      '-get roots got',
      '-put key roots',
      '-chmod 777 roots',
      '-put key roots-folder/x',
      '-ls roots-folder',
    )
    expect(tried.text.match(/ermission denied/g)?.length).toBeGreaterThanOrEqual(4)
    expect([existsSync(join(folder, 'got')), readFileSync(join(web, 'roots'), 'utf8')]).toEqual([false, 'roots'])
    expect(readdirSync(join(web, 'roots-folder'))).toEqual([])
  })

  test('reads and writes nothing outside while a folder is constantly swapped for a link', async () => {
    mkdirSync(join(web, 'real'))
    writeFileSync(join(web, 'real/secret'), 'inside')
    writeFileSync(join(folder, 'mine'), 'mine')
    if (UID !== null) execFileSync('chown', ['-R', `${UID}:${UID}`, web])
    const swaps = new Int32Array(new SharedArrayBuffer(8))
    const code = `
      const { workerData: { web, outside, swaps } } = require('node:worker_threads')
      const fs = require('node:fs')
      fs.symlinkSync(outside, web + '/link')
      while (Atomics.load(swaps, 0) === 0) {
        fs.renameSync(web + '/real', web + '/away'); fs.renameSync(web + '/link', web + '/real')
        fs.renameSync(web + '/real', web + '/link'); fs.renameSync(web + '/away', web + '/real')
        Atomics.add(swaps, 1, 1)
      }`
    const worker = new Worker(code, { eval: true, workerData: { web, outside: join(folder, 'outside'), swaps } })
    await vi.waitUntil(() => Atomics.load(swaps, 1) > 0)
    const lines = Array.from({ length: 150 }, (_, n) => [
      `-get real/secret got${n}`,
      `-put mine real/put${n}`,
      `-rename real/put${n} real/moved${n}`,
      `-mkdir real/made${n}`,
      `-chmod 700 real/secret`,
    ])
    await sftp(...lines.flat())
    Atomics.store(swaps, 0, 1)
    await once(worker, 'exit')
    expect(readdirSync(join(folder, 'outside'))).toEqual(['secret'])
    expect(lstatSync(join(folder, 'outside/secret')).mode & 0o777).not.toBe(0o700)
    const got = readdirSync(folder).filter((name) => name.startsWith('got'))
    expect(new Set(got.map((name) => readFileSync(join(folder, name), 'utf8')))).toEqual(
      new Set(got.length ? ['inside'] : []),
    )
    // Some attempts went through, so the race did happen.
    expect(got.length + readdirSync(join(web, 'real')).length).toBeGreaterThan(1)
  }, 60_000)

  test('stops at the quota with a message, and nothing grows beyond it', async () => {
    quota = { bytes: 1_000_000, files: 20_000 }
    writeFileSync(join(folder, 'a'), randomBytes(3_000_000))
    const { code, text } = await sftp('put a wp-content/a')
    expect([code, text]).toEqual([1, expect.stringContaining('ailure')])
    expect(lstatSync(join(web, 'wp-content/a')).size).toBeLessThan(1_000_000)
  })

  test('is not blocked by a FIFO', async () => {
    execFileSync('mkfifo', [join(web, 'fifo')])
    const { code } = await sftp('-get fifo got', '-put key fifo', 'ls')
    expect([code, existsSync(join(folder, 'got'))]).toEqual([0, false])
  })
})

describe('connections', () => {
  /** Opens a connection that stays idle. */
  const idle = async () => {
    const before = server.connections
    const child = spawn('sftp', ['-q', ...options(), '-P', String(port), 'site_1@127.0.0.1'], {
      cwd: folder,
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    await vi.waitUntil(() => server.connections > before, { timeout: 20_000 })
    return { child, gone: once(child, 'close') }
  }

  test('of a site end immediately, and those of other sites do not', async () => {
    const { child, gone } = await idle()
    expect(await server.endOfSite(8)).toBe(0)
    expect(child.exitCode).toBeNull()
    expect(await server.endOfSite(7)).toBe(1)
    child.stdin?.end('ls\n')
    await gone
    await vi.waitUntil(() => server.connections === 0)
  })

  test('end when access is lost or the password changes', async () => {
    const { child, gone } = await idle()
    login = { ...login, epoch: 1 }
    tell()
    child.stdin?.end('ls\n')
    await gone
    await vi.waitUntil(() => server.connections === 0)
  })

  test('get nothing when the site closes between login and first request', async () => {
    site = undefined
    expect((await sftp('ls')).code).not.toBe(0)
  })

  test('get nothing when the user loses access between login and first request', async () => {
    epochNow = 1
    expect((await sftp('ls')).code).not.toBe(0)
  })

  test('are limited per user, before login, and when they send nothing', async () => {
    await server.close()
    await start({ ofUser: 1, strangersOfAddress: 2, loginMs: 300 })
    const { child, gone } = await idle()
    expect((await sftp('ls')).code).not.toBe(0)
    child.stdin?.end()
    await gone
    const silent = await Promise.all(
      [1, 2, 3].map(async () => {
        const socket = connect(port, '127.0.0.1')
        socket.on('error', () => {}).resume()
        const closed = new Promise((resolve) => socket.once('close', resolve))
        await once(socket, 'connect')
        return closed
      }),
    )
    await Promise.all(silent)
    // One is the user's second connection, one the third of the address.
    expect(server.metrics()).toEqual({ connections: 0, logins: 1, refused: { limit: 2, banned: 0, login: 0 } })
  })

  test('end after a while without requests, and have at most eight channels', async () => {
    await server.close()
    await start({ idleMs: 1000 })
    const ssh2 = (await import('ssh2')).default
    const client = new ssh2.Client()
    client.on('error', () => {})
    client.connect({ host: '127.0.0.1', port, username: 'site_1', password: 'the password' })
    await once(client, 'ready')
    const opened = () => new Promise<boolean>((resolve) => client.sftp((error) => resolve(!error)))
    for (let count = 0; count < 8; count++) expect(await opened()).toBe(true)
    expect(await opened()).toBe(false)
    await once(client, 'close')
    await vi.waitUntil(() => server.connections === 0)
  }, 60_000)

  /** A client, and a function that sends single protocol messages. */
  const rawClient = async () => {
    const ssh2 = (await import('ssh2')).default
    const client = new ssh2.Client()
    client.on('error', () => {})
    client.connect({ host: '127.0.0.1', port, username: 'site_1', password: 'the password' })
    await once(client, 'ready')
    const protocol = Reflect.get(client, '_protocol') as {
      session(channel: number, window: number, packet: number): void
      exec(channel: number, command: string, wantsReply: boolean): void
      channelClose(channel: number): void
      subsystem(channel: number, name: string, wantsReply: boolean): void
    }
    return { client, protocol }
  }

  test('end when they open sessions endlessly and use none', async () => {
    const { client, protocol } = await rawClient()
    const closed = once(client, 'close')
    for (let channel = 0; channel < 1000; channel++) protocol.session(channel, 65_536, 32_768)
    await closed
    await vi.waitUntil(() => server.connections === 0)
    expect(warn).toHaveBeenCalledWith({ siteId: 7, username: 'site_1' }, expect.stringContaining('uses none'))
    expect((await sftp('ls')).code).toBe(0)
  }, 60_000)

  test('end when they open and close sessions repeatedly, even if only one was open at a time', async () => {
    const { client, protocol } = await rawClient()
    const closed = once(client, 'close')
    for (let channel = 0; channel < 100; channel++) {
      protocol.session(channel, 65_536, 32_768)
      // The server numbers the channels as the client does.
      protocol.channelClose(channel)
    }
    await closed
    await vi.waitUntil(() => server.connections === 0)
    expect(warn).toHaveBeenCalledWith({ siteId: 7, username: 'site_1' }, expect.stringContaining('uses none'))
    expect((await sftp('ls')).code).toBe(0)
  }, 60_000)

  test('continue without a second channel when they request SFTP again in a session that serves files', async () => {
    const { client, protocol } = await rawClient()
    const stream = await new Promise<{ outgoing: { id: number } }>((resolve, reject) =>
      client.subsys('sftp', (error, made) => (error ? reject(error) : resolve(made as never))),
    )
    for (let again = 0; again < 3; again++) protocol.subsystem(stream.outgoing.id, 'sftp', true)
    const opened = await new Promise<boolean>((resolve) => client.sftp((error) => resolve(!error)))
    expect([opened, warn.mock.calls]).toEqual([true, []])
    client.end()
  }, 60_000)

  test('get one of two things they request in a session, without effect on others', async () => {
    const { client, protocol } = await rawClient()
    const stream = await new Promise<{ outgoing: { id: number } }>((resolve, reject) =>
      client.exec('wp', (error, made) => (error ? reject(error) : resolve(made as never))),
    )
    for (let again = 0; again < 3; again++) protocol.exec(stream.outgoing.id, 'wp', true)
    const opened = await new Promise<boolean>((resolve) => client.sftp((error) => resolve(!error)))
    expect([opened, warn.mock.calls]).toEqual([true, []])
    client.end()
    expect((await sftp('ls')).code).toBe(0)
  }, 60_000)

  test('are eventually refused for an address that guesses, even with the right password', async () => {
    const ssh2 = (await import('ssh2')).default
    const guess = (password: string) =>
      new Promise<string>((resolve) => {
        const client = new ssh2.Client()
        client
          .on('ready', () => resolve('in'))
          .on('error', (error) => resolve(error.message))
          .on('close', () => resolve('closed'))
        client.connect({ host: '127.0.0.1', port, username: 'site_1', password, readyTimeout: 60_000 })
      })
    // Delays are in guessers.ts. Twenty concurrent attempts take as long as the longest.
    await Promise.all(Array.from({ length: 20 }, () => guess('wrong')))
    expect(warn).toHaveBeenCalledWith(
      expect.objectContaining({ address: '127.0.0.1' }),
      expect.stringContaining('guesses'),
    )
    expect(await guess('the password')).not.toBe('in')
  }, 60_000)
})

describe.skipIf(!has('rclone') || !has('lftp'))('rclone and lftp', () => {
  test('copy trees both ways', async () => {
    mkdirSync(join(folder, 'd/x'), { recursive: true })
    for (let i = 0; i < 50; i++) writeFileSync(join(folder, `d/x/f${i}`), randomBytes(10_000))
    const remote = `:sftp,host=127.0.0.1,port=${port},user=site_1,key_file=${join(folder, 'key')},shell_type=none:`
    const there = await run('rclone', ['copy', 'd', `${remote}wp-content/d`])
    expect([there.code, there.text]).toEqual([0, expect.anything()])
    // Once more, over existing files.
    for (let i = 0; i < 50; i++) writeFileSync(join(folder, `d/x/f${i}`), randomBytes(10_001))
    expect((await run('rclone', ['sync', 'd', `${remote}wp-content/d`])).code).toBe(0)
    expect((await run('rclone', ['copy', `${remote}wp-content/d`, 'e'])).code).toBe(0)
    expect((await run('diff', ['-r', 'd', 'e'])).code).toBe(0)
    const ssh = `ssh -a -x ${options().join(' ')}`
    const script = `set sftp:auto-confirm yes; set net:max-retries 1; set sftp:connect-program "${ssh}"; open -p ${port} -u site_1, sftp://127.0.0.1; mirror -R d wp-content/l; mirror wp-content/l f; bye`
    const mirrored = await run('lftp', ['-c', script])
    expect([mirrored.code, mirrored.text]).toEqual([0, expect.anything()])
    expect((await run('diff', ['-r', 'd', 'f'])).code).toBe(0)
  }, 60_000)
})

/** Containers usually lack this device or may not open it. */
const hasFuse = (() => {
  try {
    closeSync(openSync('/dev/fuse', 'r+'))
    return true
  } catch {
    return false
  }
})()

describe.skipIf(!hasFuse || !has('sshfs') || !has('fusermount3'))('sshfs', () => {
  let mounted: string
  let mount: ChildProcess
  const isMounted = () => readFileSync('/proc/mounts', 'utf8').includes(` ${mounted} fuse.sshfs `)
  /** Runs a program on the files, because Node's own calls would block the process that must answer them. */
  const at = (command: string) => run('bash', ['-e', '-c', command])
  beforeEach(async () => {
    mounted = join(folder, 'mounted')
    mkdirSync(mounted)
    mount = spawn('sshfs', ['-f', ...options(), '-p', String(port), 'site_1@127.0.0.1:/', mounted], {
      cwd: folder,
      env: { ...process.env, HOME: folder },
      stdio: 'ignore',
    })
    await vi.waitUntil(isMounted, { timeout: 30_000 })
  })
  afterEach(async () => {
    if (isMounted()) await at(`fusermount3 -u -z '${mounted}'`)
    if (mount.exitCode === null) await once(mount, 'exit')
  })

  test('works like any folder: copies, appends, renames over a file, and removes, and new files belong to the site', async () => {
    const bytes = randomBytes(3_000_000)
    writeFileSync(join(folder, 'a'), bytes)
    mkdirSync(join(folder, 'd/x'), { recursive: true })
    for (let i = 0; i < 50; i++) writeFileSync(join(folder, `d/x/f${i}`), randomBytes(10_000))
    const done = await at(`
      cp -r d mounted/wp-content/d
      cp -r mounted/wp-content/d e
      head -c 1000000 a > mounted/wp-content/b
      tail -c +1000001 a >> mounted/wp-content/b
      echo old > mounted/wp-content/c
      mv mounted/wp-content/b mounted/wp-content/c
      cmp a mounted/wp-content/c
      truncate -s 5 mounted/wp-content/d/x/f0
      rm -r mounted/wp-content/d/x/f1
      ln -s /etc/passwd mounted/out 2>/dev/null && exit 3
      ls mounted/wp-admin`)
    expect(done).toEqual({ code: 0, text: 'index.php\n' })
    expect((await run('diff', ['-r', 'd', 'e'])).code).toBe(0)
    expect(readFileSync(join(web, 'wp-content/c')).equals(bytes)).toBe(true)
    expect(readdirSync(join(web, 'wp-content')).sort()).toEqual(['c', 'd'])
    expect([lstatSync(join(web, 'wp-content/d/x/f0')).size, existsSync(join(web, 'wp-content/d/x/f1'))]).toEqual([
      5,
      false,
    ])
    if (UID !== null) expect(lstatSync(join(web, 'wp-content/d/x')).uid).toBe(UID)
  }, 60_000)

  test('shows changes by the site, and shows nothing after the site’s connections end', async () => {
    writeFileSync(join(web, 'wp-content/new'), 'by the site')
    expect(await at('cat mounted/wp-content/new')).toEqual({ code: 0, text: 'by the site' })
    expect(await server.endOfSite(7)).toBe(1)
    site = undefined
    expect((await at('cat mounted/wp-content/new')).code).not.toBe(0)
  }, 60_000)
})

test('can still tell through ssh2 that a client accepts no answers', async () => {
  const { default: SFTP } = (await import('ssh2/lib/protocol/SFTP.js' as string)) as {
    default: { SFTP: new (...words: unknown[]) => object }
  }
  const channel = new SFTP.SFTP({ _protocol: {} }, { type: 'sftp', incoming: {}, outgoing: {} }, { server: true })
  expect(channel).toHaveProperty('_buffer', [])
})
