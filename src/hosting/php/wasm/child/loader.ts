import { constants, type Stats } from 'node:fs'
import { registerHooks } from 'node:module'
import { instantiatePhp } from './exports.ts'
import { type CompiledPhp, compilePhp } from './machine-code.ts'
import { connectionClass, type Outgoing } from './outgoing.ts'
import { mendSockets, type WasmErrors, type WasmSocket } from './sockets.ts'

const notSupported = 138 // ENOTSUP in emscripten's numbering

/*
 * Neither emscripten nor php-wasm guarantees anything below. If another php-wasm version changes it, tests fail: those
 * of disk quotas, memory (greedy), connections (egress), links (hostile), and long life. Then find where its module
 * keeps these now, in the JavaScript next to the package's .wasm file. Do not ship without them: each is a wall around
 * a site.
 */

/** The parts of an emscripten file system that are used here. */
export interface WasmFileSystem extends WasmErrors {
  filesystems: { NODEFS: NodeFileSystem }
  isDir(mode: number): boolean
  getPath(node: WasmNode): string
  /** @throws ErrnoError when there is none */
  lookupNode(parent: WasmNode, name: string): WasmNode
  /** Forgets the node. Streams that have it open keep working. */
  destroyNode(node: WasmNode): void
  mkdirTree(path: string): void
  mount(type: unknown, options: { root: string }, at: string): void
  writeFile(path: string, content: string | Uint8Array): void
  analyzePath(path: string): { exists: boolean }
  /** Streams by descriptor, with a hole for each descriptor that is not open. */
  streams: ({ path: string } | null | undefined)[]
  close(stream: { path: string }): void
  open(path: string, flags: number, mode?: number): { readonly fd: number }
  chdir(path: string): void
  makedev(major: number, minor: number): number
  mkdev(path: string, device: number): void
  registerDevice(
    device: number,
    operations: { read(stream: unknown, buffer: Uint8Array, offset: number, length: number): number },
  ): void
}

/** A file or folder as emscripten sees it. */
export interface WasmNode {
  readonly name: string
  mode: number
  /** The operations of its file system. */
  readonly node_ops: unknown
}

/** An open file of the machine. */
export interface WasmStream {
  readonly path: string
  /** The machine's descriptor. */
  readonly nfd: number
  /** Shared by duplicates of a descriptor. */
  readonly shared: { refcount: number }
}

interface Attributes {
  readonly size?: number
}

/** Emscripten's file system on folders of the machine. Assigning to its operations replaces them. */
export interface NodeFileSystem {
  getMode(path: string): number
  convertNodeCode(error: { code?: string }): number | undefined
  realPath(node: WasmNode): string
  getattr(look: () => Stats, node: WasmNode): unknown
  /** Runs the work, and converts errors of the machine to those of emscripten. */
  tryFSOperation<Result>(work: () => Result): Result
  node_ops: {
    symlink: unknown
    link: unknown
    getattr(node: WasmNode): unknown
    setattr(node: WasmNode, attributes: Attributes): void
    mknod(parent: WasmNode, name: string, mode: number, device: number): WasmNode
    unlink(parent: WasmNode, name: string): void
    rmdir(parent: WasmNode, name: string): void
    rename(node: WasmNode, folder: WasmNode, name: string): void
  }
  stream_ops: {
    open(stream: WasmStream): void
    close(stream: WasmStream): void
    setattr(stream: WasmStream, attributes: Attributes): void
    write(stream: WasmStream, buffer: unknown, offset: number, length: number, position: number, own?: boolean): number
  }
}

/** A PHP in this process: the emscripten module of php-wasm. */
export interface Php {
  readonly FS: WasmFileSystem
  HEAPU8: Uint8Array
  ccall(name: string, returns: string | null, types: string[], values: unknown[], options?: object): unknown
  malloc(bytes: number): number
  free(pointer: number): void
  onHeaders(chunk: Uint8Array): void
  onStdout(chunk: Uint8Array): void
  onStderr(chunk: Uint8Array): void
  /** Called by PHP's function `post_message_to_js`. */
  onMessage(text: string): Promise<string>
}

/** The parts that php-wasm passes to an implementation of some of PHP's system calls. */
export interface UserSpaceParts {
  readonly constants: {
    readonly F_SETLK: number
    readonly F_SETLKW: number
    readonly F_WRLCK: number
    readonly F_UNLCK: number
  }
  readonly memory: {
    readonly HEAP16: { get(index: number): number }
    readonly HEAP32: { get(index: number): number }
    readonly HEAP64: { get(index: number): bigint }
  }
  readonly wasmImports: {
    builtin_fcntl64(fd: number, command: number, varargs: number): number
    builtin_fd_close(fd: number): number
  }
  readonly syscalls: { getStreamFromFD(fd: number): { readonly path: string } }
}

/** System calls. A promise makes PHP wait. */
export interface UserSpace {
  fcntl64(fd: number, command: number, varargs: number): number | Promise<number>
  flock(fd: number, operation: number): number
  fd_close(fd: number): number
  js_release_file_locks(): void
}

/** Options of a process that runs a command. */
export interface CommandLoad {
  readonly environment: Readonly<Record<string, string>>
  readonly bindUserSpace: (parts: UserSpaceParts) => UserSpace
}

interface PhpModule {
  /** The path of the WebAssembly file. */
  readonly dependencyFilename: string
  init(environment: 'NODE', options: object): Php
}

/**
 * Replaces `ws` and `child_process`, which php-wasm requires, with empty stand-ins. `ws` is not installed, and would be
 * an unfiltered way into the network. So only `outgoing.ts` makes connections, listening fails, and commands cannot be
 * started.
 */
export function closeBackDoors(): void {
  const nothing =
    "class None { constructor() { throw new Error('not available') } }\nmodule.exports = None; None.Server = None"
  registerHooks({
    resolve: (specifier, context, next) =>
      /^(node:)?(ws|child_process|net|dgram|tls|http|https|worker_threads|cluster)$/.test(specifier)
        ? { url: 'stead:nothing', format: 'commonjs', shortCircuit: true }
        : next(specifier, context),
    load: (url, context, next) =>
      url === 'stead:nothing' ? { format: 'commonjs', source: nothing, shortCircuit: true } : next(url, context),
  })
}

type Instantiated = readonly [WebAssembly.Instance, WebAssembly.Module]

/** PHP, and its compiled module. */
export interface LoadedPhp {
  readonly php: Php
  readonly compiled: CompiledPhp
}

export interface PhpLoadOptions {
  readonly command?: CommandLoad | undefined
  /** The file with the machine code that V8 generated for PHP in another process. */
  readonly codeFile?: string | undefined
  /** The exports that its JavaScript calls, or null to take all. */
  readonly calledExports: readonly string[] | null
}

/** Loads PHP from its compiled module. Resolves when it can be configured; no PHP has run by then. */
export async function loadPhp(
  modulePath: string,
  outgoing: Outgoing,
  { command, codeFile, calledExports }: PhpLoadOptions,
): Promise<LoadedPhp> {
  // Node's permission model forbids process.binding, from which emscripten's NODEFS reads its open flags.
  Object.assign(process, { binding: () => ({ fs: constants }) })
  const module = (await import(modulePath)) as PhpModule
  const compiled = await compilePhp(module.dependencyFilename, codeFile)
  return new Promise((resolve, reject) => {
    const php: Php = module.init('NODE', {
      noInitialRun: true,
      ENV: { ...command?.environment },
      ...(command && { processId: 1, bindUserSpace: command.bindUserSpace }),
      locateFile: (path: string) => path,
      instantiateWasm(imports: WebAssembly.Imports, done: (...instantiated: Instantiated) => void) {
        instantiatePhp(compiled.module, imports as Record<string, Record<string, unknown>>, calledExports).then(
          (instance) => done(instance, compiled.module),
          reject,
        )
      },
      onAbort: (reason: unknown) => reject(new Error(`PHP could not start: ${String(reason)}`)),
      // In a later turn, because `php` is not assigned yet when a module finishes at once.
      onRuntimeInitialized: () => setImmediate(() => resolve({ php, compiled })),
      websocket: {
        url(socket: WasmSocket, host: string, port: number) {
          mendSockets(php.FS, socket.sock_ops)
          return outgoing.addressOf(socket, host, port)
        },
        decorator: () => connectionClass(outgoing),
        serverDecorator: () => {
          throw Object.assign(new Error('PHP may not listen'), { name: 'ErrnoError', errno: notSupported })
        },
      },
    })
  })
}

/** Gives PHP its settings and starts its engine. Must be called after the mounts and before the first script. */
export async function startEngine(php: Php, ini: Readonly<Record<string, string>>): Promise<void> {
  writeSettings(php, ini)
  php.ccall('wasm_set_phpini_path', null, ['string'], [settingsFile])
  // opcache works with this server API only. Without opcache a page takes 400 ms instead of 130.
  if (php.ccall('wasm_set_sapi_name', 'number', ['string'], ['cli-server']) !== 0)
    throw new Error('PHP did not take its server API name')
  await php.ccall('php_wasm_init', null, [], [], { async: true })
}

export const settingsFile = '/internal/shared/php.ini'

/** Gives PHP its settings, without starting its engine. */
export function writeSettings(php: Php, ini: Readonly<Record<string, string>>): void {
  const lines = Object.entries(ini).map(([name, value]) => `${name}=${/^[\w./-]*$/.test(value) ? value : `"${value}"`}`)
  php.FS.mkdirTree('/internal/shared')
  php.FS.writeFile(settingsFile, `${lines.join('\n')}\n`)
}
