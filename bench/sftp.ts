import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort, startStead, until } from '../test/support/stead.ts'
import { median, type Section } from './support/report.ts'

const run = promisify(execFile)
const MEGABYTES = 512
const FILES = 2000
const FILE_BYTES = 4096
const ROUNDS = 3

/** The server for an SFTP client. */
interface Server {
  readonly user: string
  readonly port: number
  /** A writable folder. */
  readonly folder: string
}

/**
 * Uploads and downloads one large file and many small ones with OpenSSH’s client, on Stead’s server and OpenSSH’s own.
 */
export async function sftpBench(): Promise<Section> {
  const folder = await mkdtemp(join(tmpdir(), 'stead-bench-sftp-'))
  const ends: (() => unknown)[] = [() => rm(folder, { recursive: true, force: true })]
  try {
    await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(folder, 'key')])
    await writeFile(join(folder, 'large'), Buffer.alloc(MEGABYTES << 20, 'stead'))
    await mkdir(join(folder, 'small'))
    for (let number = 0; number < FILES; number++)
      await writeFile(join(folder, 'small', `${number}.txt`), Buffer.alloc(FILE_BYTES, String(number)))
    const stead = await startSteadSftp(folder, ends)
    const openssh = await startOpenSsh(folder, ends)
    const tasks = {
      'large file, upload': ['put large', MEGABYTES, 'MB/s'],
      'large file, download': ['get large back', MEGABYTES, 'MB/s'],
      'small files, upload': ['put -r small', FILES, 'files/s'],
      'small files, download': ['get -r small back-small', FILES, 'files/s'],
    } as const
    const figures = []
    for (const [what, [command, amount, unit]] of Object.entries(tasks)) {
      const rates: [number, number][] = []
      for (let round = 0; round < ROUNDS; round++)
        rates.push([
          amount / (await transfer(folder, stead, command)),
          amount / (await transfer(folder, openssh, command)),
        ])
      figures.push({
        what,
        value: `${Math.round(median(rates.map(([ours]) => ours)))} ${unit}`,
        yardstick: `${Math.round(median(rates.map(([, theirs]) => theirs)))} ${unit}`,
        ratio: median(rates.map(([ours, theirs]) => ours / theirs)).toFixed(2),
        aim: unit === 'MB/s' ? '0.7' : '',
      })
    }
    return {
      title: 'SFTP',
      how: `The client of OpenSSH on loopback transfers ${MEGABYTES} MB, and ${FILES} files of ${FILE_BYTES} bytes. ${ROUNDS} rounds run in turn, and the numbers are medians with the login included. The reference is OpenSSH’s sshd with its internal-sftp, which has no quota and no jail here.`,
      figures,
    }
  } finally {
    for (const end of ends.reverse()) await end()
  }
}

async function startSteadSftp(folder: string, ends: (() => unknown)[]): Promise<Server> {
  const port = await freePort()
  const env = { STEAD_SFTP_LISTEN: `127.0.0.1:${port}`, STEAD_SITE_DISK_MB: '8192' }
  const stead = await startStead({ env })
  ends.push(() => stead.remove())
  const id = await stead.createSite({ name: 'bench-sftp' })
  const user = (await stead.api('GET', `/v1/sites/${id}/ftp`)).body.data[0].username as string
  const public_key = await readFile(join(folder, 'key.pub'), 'utf8')
  await stead.api('POST', `/v1/sites/${id}/ftp/${user}/keys`, { public_key })
  return { user, port, folder: 'wp-content/uploads' }
}

async function startOpenSsh(folder: string, ends: (() => unknown)[]): Promise<Server> {
  if (!existsSync('/usr/sbin/sshd')) throw new Error('The yardstick is missing: apt-get install openssh-server')
  const [port, theirs] = [await freePort(), join(folder, 'theirs')]
  await mkdir(theirs)
  await mkdir('/run/sshd', { recursive: true })
  await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(folder, 'host')])
  const config = [
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    `HostKey ${join(folder, 'host')}`,
    `AuthorizedKeysFile ${join(folder, 'key.pub')}`,
    'StrictModes no',
    'UsePAM no',
    'PermitRootLogin prohibit-password',
    'PidFile none',
    'Subsystem sftp internal-sftp',
  ]
  await writeFile(join(folder, 'sshd'), config.join('\n'))
  const sshd = spawn('/usr/sbin/sshd', ['-D', '-e', '-f', join(folder, 'sshd')], { stdio: 'ignore' })
  ends.push(() => sshd.kill())
  await until('sshd listens', async () => {
    const socket = connect(port, '127.0.0.1')
    const isThere = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    socket.destroy()
    return isThere
  })
  return { user: userInfo().username, port, folder: theirs }
}

/** @returns seconds */
async function transfer(folder: string, { user, port, folder: there }: Server, command: string): Promise<number> {
  const known = ['-o', 'StrictHostKeyChecking=no', '-o', 'UserKnownHostsFile=/dev/null', '-o', 'LogLevel=ERROR']
  const as = ['-F', 'none', '-i', join(folder, 'key'), '-o', 'IdentitiesOnly=yes', '-P', String(port)]
  const batch = join(folder, 'batch')
  await writeFile(batch, `cd ${there}\n${command}\n`)
  for (const back of ['back', 'back-small']) await rm(join(folder, back), { recursive: true, force: true })
  const began = performance.now()
  await run('sftp', ['-q', '-b', batch, ...known, ...as, `${user}@127.0.0.1`], { cwd: folder, maxBuffer: 64 << 20 })
  return (performance.now() - began) / 1000
}
