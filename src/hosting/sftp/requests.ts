import type { Stats } from 'node:fs'
import ssh2, { type Attributes, type FileEntry, type SFTPWrapper } from 'ssh2'
import { pathBelowRoot } from './client-paths.ts'
import type { Jail, Wanted } from './jail.ts'
import { type ClientFile, OpenFolder } from './open-things.ts'
import { Refused } from './refused.ts'

const { OPEN_MODE } = ssh2.utils.sftp

/** The most files and folders that one channel may have open. */
const MOST_HANDLES = 64
/** The most bytes per read that all clients accept. */
export const MOST_READ = 256 << 10
/** Attributes, which a client may omit. */
type Given = Partial<Attributes>

/** The result of a request. */
export type SftpAnswer =
  | { readonly kind: 'ok' }
  | { readonly kind: 'end' }
  | { readonly kind: 'handle'; readonly handle: Buffer }
  | { readonly kind: 'data'; readonly data: Buffer }
  | { readonly kind: 'name'; readonly names: FileEntry[] }
  | { readonly kind: 'attrs'; readonly attrs: Attributes }

/** Sends an answer. */
export function sendSftpAnswer(sftp: SFTPWrapper, id: number, answer: SftpAnswer): void {
  if (answer.kind === 'ok') sftp.status(id, ssh2.utils.sftp.STATUS_CODE.OK)
  else if (answer.kind === 'end') sftp.status(id, ssh2.utils.sftp.STATUS_CODE.EOF, 'End of file')
  else if (answer.kind === 'handle') sftp.handle(id, answer.handle)
  else if (answer.kind === 'data') sftp.data(id, answer.data)
  else if (answer.kind === 'name') sftp.name(id, answer.names)
  else sftp.attrs(id, answer.attrs)
}

const OK: SftpAnswer = { kind: 'ok' }
const END: SftpAnswer = { kind: 'end' }

/** Handles the file requests of one channel, one at a time, and tracks what the client has open. */
export class Requests {
  #entered: Jail | undefined
  /** Called when something may have changed. */
  readonly #changed: () => void
  readonly #open = new Map<number, ClientFile | OpenFolder>()
  #last = 0

  constructor(changed: () => void) {
    this.#changed = changed
  }

  /** Sets the jail. Called before the first request runs. */
  enter(jail: Jail): void {
    this.#entered = jail
  }

  get #jail(): Jail {
    if (!this.#entered) throw new Refused('denied', 'The connection is being closed')
    return this.#entered
  }

  async open(path: string, flags: number, attributes: Given): Promise<SftpAnswer> {
    this.#demandHandle()
    const has = (mode: number) => (flags & mode) !== 0
    const file = await this.#jail.openFile(path, {
      read: has(OPEN_MODE.READ),
      write: has(OPEN_MODE.WRITE),
      append: has(OPEN_MODE.APPEND),
      create: has(OPEN_MODE.CREAT),
      truncate: has(OPEN_MODE.TRUNC),
      exclusive: has(OPEN_MODE.EXCL),
      mode: attributes.mode,
    })
    if (file.canWrite) this.#changed()
    return this.#keep(file)
  }

  async close(handle: Buffer): Promise<SftpAnswer> {
    const thing = this.#thing(handle)
    this.#open.delete(handle.readUInt32BE())
    await thing.close()
    return OK
  }

  /** Reads consecutive pieces of a file. @returns one answer for each */
  async read(handle: Buffer, offset: number, lengths: readonly number[]): Promise<SftpAnswer[]> {
    if (!Number.isSafeInteger(offset)) return lengths.map(() => END)
    const sum = lengths.reduce((all, length) => all + length, 0)
    const data = await this.#file(handle).read(offset, sum)
    let at = 0
    return lengths.map((length) => {
      const piece = data.subarray(at, at + length)
      at += length
      return piece.length > 0 || length === 0 ? { kind: 'data', data: piece } : END
    })
  }

  /** Writes consecutive pieces. */
  async write(handle: Buffer, offset: number, pieces: readonly Buffer[]): Promise<SftpAnswer> {
    await this.#file(handle).write(offset, pieces).finally(this.#changed)
    return OK
  }

  async openFolder(path: string): Promise<SftpAnswer> {
    this.#demandHandle()
    return this.#keep(await this.#jail.openFolder(path))
  }

  async readFolder(handle: Buffer): Promise<SftpAnswer> {
    const folder = this.#thing(handle)
    if (!(folder instanceof OpenFolder)) throw new Refused('failure', 'It is not an open folder')
    const entries = await folder.next()
    if (entries.length === 0) throw new Refused('end', 'That was all')
    const names = entries.map(({ name, stats }) => nameEntry(name, stats))
    return { kind: 'name', names }
  }

  look = async (path: string): Promise<SftpAnswer> => ({
    kind: 'attrs',
    attrs: attributesOf(await this.#jail.look(path)),
  })

  /** Returns attributes as of an opened file, which a link cannot be. */
  async lookThrough(path: string): Promise<SftpAnswer> {
    const stats = await this.#jail.look(path)
    if (stats.isSymbolicLink()) throw new Refused('denied', 'Links are not followed')
    return { kind: 'attrs', attrs: attributesOf(stats) }
  }

  lookOpen = async (handle: Buffer): Promise<SftpAnswer> => ({
    kind: 'attrs',
    attrs: attributesOf(this.#file(handle).stats()),
  })

  async change(path: string, attributes: Given): Promise<SftpAnswer> {
    await this.#jail.change(path, wantedOf(attributes)).finally(this.#changed)
    return OK
  }

  async changeOpen(handle: Buffer, attributes: Given): Promise<SftpAnswer> {
    await this.#jail.changeOpen(this.#file(handle), wantedOf(attributes)).finally(this.#changed)
    return OK
  }

  async makeFolder(path: string, attributes: Given): Promise<SftpAnswer> {
    await this.#jail.makeFolder(path, attributes.mode).finally(this.#changed)
    return OK
  }

  async removeFile(path: string): Promise<SftpAnswer> {
    await this.#jail.removeFile(path).finally(this.#changed)
    return OK
  }

  async removeFolder(path: string): Promise<SftpAnswer> {
    await this.#jail.removeFolder(path).finally(this.#changed)
    return OK
  }

  async move(from: string, to: string): Promise<SftpAnswer> {
    await this.#jail.move(from, to).finally(this.#changed)
    return OK
  }

  async readLink(path: string): Promise<SftpAnswer> {
    return { kind: 'name', names: [bareName(await this.#jail.readLink(path))] }
  }

  realPath = async (path: string): Promise<SftpAnswer> => ({
    kind: 'name',
    names: [bareName(`/${pathBelowRoot(path)}`)],
  })

  async closeAll(): Promise<void> {
    const things = [...this.#open.values()]
    this.#open.clear()
    await Promise.all(things.map((thing) => thing.close().catch(() => {})))
  }

  #demandHandle(): void {
    if (this.#open.size >= MOST_HANDLES)
      throw new Refused('failure', `At most ${MOST_HANDLES} files and folders can be open at once`)
  }

  #keep(thing: ClientFile | OpenFolder): SftpAnswer {
    do this.#last = (this.#last + 1) >>> 0
    while (this.#open.has(this.#last))
    this.#open.set(this.#last, thing)
    const handle = Buffer.alloc(4)
    handle.writeUInt32BE(this.#last)
    return { kind: 'handle', handle }
  }

  #thing(handle: Buffer): ClientFile | OpenFolder {
    const thing = handle.length === 4 ? this.#open.get(handle.readUInt32BE()) : undefined
    if (!thing) throw new Refused('failure', 'Nothing is open under this handle')
    return thing
  }

  #file(handle: Buffer): ClientFile {
    const file = this.#thing(handle)
    if (file instanceof OpenFolder) throw new Refused('failure', 'It is a folder')
    return file
  }
}

/** Ignores a change of owner, which is not possible. @throws Refused when the client requests nothing else */
function wantedOf({ size, mode, uid, atime, mtime }: Given): Wanted {
  const times = atime !== undefined && mtime !== undefined ? { atime: Number(atime), mtime: Number(mtime) } : undefined
  if (uid !== undefined && size === undefined && mode === undefined && !times)
    throw new Refused('denied', 'All files belong to the site')
  return { size, mode, times }
}

const seconds = (ms: number): number => Math.max(0, Math.min(0xffff_ffff, Math.floor(ms / 1000)))

const attributesOf = ({ mode, uid, gid, size, atimeMs, mtimeMs }: Stats): Attributes => ({
  mode,
  uid,
  gid,
  size,
  atime: seconds(atimeMs),
  mtime: seconds(mtimeMs),
})

const nameEntry = (name: string, stats: Stats): FileEntry => ({
  filename: name,
  longname: longName(name, stats),
  attrs: attributesOf(stats),
})

const bareName = (name: string): FileEntry => ({ filename: name, longname: name, attrs: {} as Attributes })

/** Formats an entry like `ls -l`, which is what `sftp` prints. */
function longName(name: string, stats: Stats): string {
  const kind = stats.isDirectory() ? 'd' : stats.isSymbolicLink() ? 'l' : '-'
  const rights = [6, 3, 0].map((shift) => RIGHTS[(stats.mode >> shift) & 7]).join('')
  const [, month, day, year, clock] = /^\w+, (\d+) (\w+) (\d+) (\d\d:\d\d)/.exec(stats.mtime.toUTCString()) ?? []
  const isRecent = Math.abs(Date.now() - stats.mtimeMs) < HALF_A_YEAR_MS
  const when = `${day} ${month} ${(isRecent ? clock : year)?.padStart(5)}`
  return `${kind}${rights} ${String(stats.nlink).padStart(3)} site     site     ${String(stats.size).padStart(10)} ${when} ${name}`
}

const RIGHTS = ['---', '--x', '-w-', '-wx', 'r--', 'r-x', 'rw-', 'rwx']
const HALF_A_YEAR_MS = 182 * 86_400_000
