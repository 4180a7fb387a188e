import { constants, type Stats } from 'node:fs'
import { registerHooks } from 'node:module'
import { instantiatePhp } from './exports.ts'
import { type CompiledPhp, compilePhp } from './machine-code.ts'
import { connectionClass, type Outgoing } from './outgoing.ts'
import { mendSockets, type WasmSocket } from './sockets.ts'

const notSupported = 138 // ENOTSUP in emscripten's numbering

/*
 * Nothing below is promised by emscripten or php-wasm. Tests of what is built on it fail when it changes with another php-wasm: of disk
 * quotas, memory (greedy), connections (egress), links (hostile) and long life. Look then for where its module keeps these now, in
 * the JavaScript beside the .wasm file of the package; do not ship without: each of them is a wall around a site.
 */

/** The parts of an emscripten file system that are used here. */
export interface WasmFileSystem {
  ErrnoError: new (errno: number) => Error
  filesystems: { NODEFS: NodeFileSystem }
  isDir(mode: number): boolean
  getPath(node: WasmNode): string
  /** @throws ErrnoError when there is none */
  lookupNode(parent: WasmNode, name: string): WasmNode
  /** Forgets it; what has it open goes on. */
  destroyNode(node: WasmNode): void
  mkdirTree(path: string): void
  mount(type: unknown, options: { root: string }, at: string): void
  writeFile(path: string, content: string | Uint8Array): void
  analyzePath(path: string): { exists: boolean }
  /** By descriptor; a hole where none is open. */
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
  /** Of its file system. */
  readonly node_ops: unknown
}

/** Something open, on the machine's own files. */
export interface WasmStream {
  readonly path: string
  /** The machine's descriptor. */
  readonly nfd: number
  /** Between duplicates of a descriptor. */
  readonly shared: { refcount: number }
}

interface Attributes {
  readonly size?: number
}

/** Emscripten's file system on folders of the machine; what is put into its operations replaces them. */
export interface NodeFileSystem {
  getMode(path: string): number
  convertNodeCode(error: { code?: string }): number | undefined
  realPath(node: WasmNode): string
  getattr(look: () => Stats, node: WasmNode): unknown
  /** Runs it with the errors of the machine as those of emscripten. */
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
  /** Of PHP's function `post_message_to_js`. */
  onMessage(text: string): Promise<string>
}

/** What php-wasm gives to whoever answers some of PHP's system calls in its place. */
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

/** System calls; a promise makes PHP wait. */
export interface UserSpace {
  fcntl64(fd: number, command: number, varargs: number): number | Promise<number>
  flock(fd: number, operation: number): number
  fd_close(fd: number): number
  js_release_file_locks(): void
}

/** Of a process that runs a command. */
export interface CommandLoad {
  readonly environment: Readonly<Record<string, string>>
  readonly bindUserSpace: (parts: UserSpaceParts) => UserSpace
}

interface PhpModule {
  /** Path of the WebAssembly file. */
  readonly dependencyFilename: string
  init(environment: 'NODE', options: object): Php
}

/**
 * php-wasm asks for `ws` (not installed, and a way into the network that nobody filters) and for `child_process`. Both get
 * an empty stand-in: connections are made by `outgoing.ts` alone, listening fails, commands cannot be started.
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

/** PHP, and what it was compiled to. */
export interface LoadedPhp {
  readonly php: Php
  readonly compiled: CompiledPhp
}

export interface LoadOptions {
  readonly command?: CommandLoad | undefined
  /** File of what V8 made of PHP in another process. */
  readonly codeFile?: string | undefined
  /** Exports that its JavaScript calls; null: all of them are taken. */
  readonly calledExports: readonly string[] | null
}

/** Loads PHP from its compiled module and returns when it can be configured; no PHP has run yet. */
export async function loadPhp(
  modulePath: string,
  outgoing: Outgoing,
  { command, codeFile, calledExports }: LoadOptions,
): Promise<LoadedPhp> {
  // Node's permission model forbids process.binding, which emscripten's NODEFS reads its open flags from.
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
      // A later turn: `php` is not assigned yet when a module finishes at once.
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

/** Gives PHP its settings and starts its engine. Must come after the mounts and before the first script. */
export async function startEngine(php: Php, ini: Readonly<Record<string, string>>): Promise<void> {
  writeSettings(php, ini)
  php.ccall('wasm_set_phpini_path', null, ['string'], [settingsFile])
  // opcache works with this server API only: 400 ms a page instead of 130 without.
  if (php.ccall('wasm_set_sapi_name', 'number', ['string'], ['cli-server']) !== 0)
    throw new Error('PHP did not take its server API name')
  await php.ccall('php_wasm_init', null, [], [], { async: true })
}

export const settingsFile = '/internal/shared/php.ini'

/** Gives PHP its settings, without its engine. */
export function writeSettings(php: Php, ini: Readonly<Record<string, string>>): void {
  const lines = Object.entries(ini).map(([name, value]) => `${name}=${/^[\w./-]*$/.test(value) ? value : `"${value}"`}`)
  php.FS.mkdirTree('/internal/shared')
  php.FS.writeFile(settingsFile, `${lines.join('\n')}\n`)
}
