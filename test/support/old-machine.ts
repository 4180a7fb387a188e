/** A machine with SSH on which an old site runs. */
import { spawn } from 'node:child_process'
import { type Dirent, lstatSync, realpathSync, type Stats } from 'node:fs'
import { type FileHandle, open, readdir, stat } from 'node:fs/promises'
import type { AddressInfo, Socket } from 'node:net'
import ssh2, { type AuthContext, type Connection, type Server, type Session, type SFTPWrapper } from 'ssh2'
import { fingerprintOf } from '../../src/hosting/site-imports/sources/fingerprint.ts'

export interface OldMachineOptions {
  /** Where it listens. Default: loopback. */
  readonly address?: string
  /** The PATH of commands. Undefined: the machine has no shell. */
  readonly path?: string
  /** Password log-in works only as keyboard-interactive. */
  readonly asks?: boolean
  readonly publicKey?: string
  /** Takes over an SFTP request. True: it was answered, or never will be. */
  readonly sftp?: (name: string, request: number, sftp: SFTPWrapper, argument: unknown) => boolean
}

export const PASSWORD = `it's "a" \\pass word`

const { STATUS_CODE } = ssh2.utils.sftp

export class OldMachine {
  options: OldMachineOptions
  readonly fingerprint: string
  /** The commands that were run. */
  readonly lines: string[] = []
  readonly opened: string[] = []
  readonly logins: string[] = []
  readBytes = 0
  readonly #connections = new Set<Connection>()
  readonly #server: Server

  private constructor(options: OldMachineOptions) {
    this.options = options
    const { private: key } = keyPair()
    const parsed = ssh2.utils.parseKey(key)
    if (parsed instanceof Error) throw parsed
    this.fingerprint = fingerprintOf((Array.isArray(parsed) ? parsed[0]! : parsed).getPublicSSH())
    this.#server = new ssh2.Server({ hostKeys: [key] }, (client) => this.#serve(client))
  }

  static async start(options: OldMachineOptions = {}): Promise<OldMachine> {
    const machine = new OldMachine(options)
    await new Promise<void>((resolve) => machine.#server.listen(0, options.address ?? '127.0.0.1', resolve))
    return machine
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** Cuts all connections. */
  cut(): void {
    for (const each of this.#connections) socketOf(each).destroy()
  }

  stop(): void {
    this.cut()
    this.#server.close()
  }

  #serve(client: Connection): void {
    this.#connections.add(client)
    socketOf(client).setNoDelay(true)
    client.on('close', () => this.#connections.delete(client))
    client.on('error', () => {})
    client.on('authentication', (context: AuthContext) => this.#admit(context))
    client.on('session', (accept) => this.#session(accept(), client))
  }

  #admit(context: AuthContext): void {
    const { asks, publicKey } = this.options
    const done = (isRight: boolean) => {
      if (isRight) this.logins.push(context.method)
      if (isRight) context.accept()
      else context.reject(asks ? ['keyboard-interactive'] : ['password', 'publickey'])
    }
    if (context.method === 'publickey') {
      const isKnown = publicKey?.includes(context.key.data.toString('base64')) ?? false
      if (context.signature === undefined && isKnown) context.accept()
      else done(isKnown)
    } else if (context.method === 'keyboard-interactive')
      context.prompt([{ prompt: 'Password: ', echo: false }], ([answer]) => done(answer === PASSWORD))
    else done(context.method === 'password' && !asks && context.password === PASSWORD)
  }

  #session(session: Session, client: Connection): void {
    session.on('sftp', (accept) => this.#sftp(accept(), client))
    session.on('exec', (accept, _reject, { command }) => {
      this.lines.push(command)
      const channel = accept()
      channel.on('error', () => {})
      if (this.options.path === undefined) {
        channel.stderr.write('This service allows sftp connections only.\n')
        channel.exit(1)
        channel.end()
        return
      }
      const child = spawn('/bin/sh', ['-c', command], { env: { PATH: this.options.path } })
      child.stdin.on('error', () => {})
      channel.pipe(child.stdin)
      child.stderr.pipe(channel.stderr, { end: false })
      child.stdout.pipe(channel, { end: false })
      child.on('close', (code) => {
        channel.exit(code ?? 1)
        channel.end()
      })
    })
  }

  #sftp(sftp: SFTPWrapper, client: Connection): void {
    const handles: { file?: FileHandle; path?: string; names?: string[] }[] = []
    client.on('close', () => {
      for (const { file } of handles) void file?.close()
    })
    const handleOf = (bytes: Buffer) => handles[bytes.readUInt32BE(0)] as (typeof handles)[number]
    const named = (index: number) => {
      const bytes = Buffer.alloc(4)
      bytes.writeUInt32BE(index)
      return bytes
    }
    const answer = (name: string, work: (request: number, argument: never, ...more: number[]) => Promise<void>) =>
      sftp.on(
        name as 'OPEN',
        ((request: number, argument: never, ...more: number[]) => {
          if (this.options.sftp?.(name, request, sftp, argument)) return
          work(request, argument, ...more).catch((error: NodeJS.ErrnoException) =>
            sftp.status(
              request,
              error.code === 'ENOENT'
                ? STATUS_CODE.NO_SUCH_FILE
                : error.code === 'EACCES'
                  ? STATUS_CODE.PERMISSION_DENIED
                  : STATUS_CODE.FAILURE,
            ),
          )
        }) as never,
      )
    answer('REALPATH', async (request, path: string) => {
      const filename = realpathSync(path)
      sftp.name(request, [{ filename, longname: filename, attrs: attributesOf(lstatSync(filename)) }])
    })
    answer('STAT', async (request, path: string) => sftp.attrs(request, attributesOf(await stat(path))))
    answer('OPEN', async (request, path: string) => {
      this.opened.push(path)
      sftp.handle(request, named(handles.push({ file: await open(path) }) - 1))
    })
    answer('READ', async (request, handle: Buffer, ...[at, length]) => {
      const bytes = Buffer.alloc(length as number)
      const { bytesRead } = await (handleOf(handle).file as FileHandle).read(bytes, 0, length, at)
      this.readBytes += bytesRead
      if (bytesRead === 0) sftp.status(request, STATUS_CODE.EOF)
      else sftp.data(request, bytes.subarray(0, bytesRead))
    })
    answer('OPENDIR', async (request, path: string) => {
      const names = (await readdir(path, { withFileTypes: true })).map(({ name }: Dirent) => name)
      sftp.handle(request, named(handles.push({ path, names: ['.', '..', ...names] }) - 1))
    })
    answer('READDIR', async (request, handle: Buffer) => {
      const { path, names = [] } = handleOf(handle)
      const some = names.splice(0, 3)
      if (some.length === 0) return sftp.status(request, STATUS_CODE.EOF) as never
      const list = some.map((filename) => ({
        filename,
        longname: filename,
        attrs: attributesOf(lstatSync(`${path}/${filename}`)),
      }))
      sftp.name(request, list)
    })
    answer('CLOSE', async (request, handle: Buffer) => {
      await handleOf(handle).file?.close()
      sftp.status(request, STATUS_CODE.OK)
    })
  }
}

const socketOf = (client: Connection) => (client as unknown as { _sock: Socket })._sock

const attributesOf = ({ mode, uid, gid, size, atimeMs, mtimeMs }: Stats) => ({
  ...{ mode, uid, gid, size },
  ...{ atime: Math.floor(atimeMs / 1000), mtime: Math.floor(mtimeMs / 1000) },
})

/** Repeats until the key can be read: one of 256 keys that ssh2 1.17 generates cannot. */
export function keyPair(): { private: string; public: string } {
  const pair = ssh2.utils.generateKeyPairSync('ed25519')
  return ssh2.utils.parseKey(pair.private) instanceof Error ? keyPair() : pair
}
