import { lstatSync } from 'node:fs'
import type { Mount } from '../frames.ts'
import type { WasmFileSystem } from './loader.ts'

const notPermitted = 63 // EPERM in emscripten's numbering (WASI)
const noSuchFile = 44 // ENOENT
const accessDenied = 2 // EACCES
const inputOutput = 29 // EIO

/**
 * Mounts folders of the machine into PHP's file system. Links are refused in both directions: PHP cannot create one,
 * and a link in a folder (placed there over SFTP or by an archive) does not exist for PHP. Through a symlink, two
 * instances of php-wasm were seen to reach files outside their mount.
 */
export function mountFolders(files: WasmFileSystem, mounts: readonly Mount[]): void {
  const { NODEFS } = files.filesystems
  const refuse = () => {
    throw new files.ErrnoError(notPermitted)
  }
  NODEFS.node_ops.symlink = refuse
  NODEFS.node_ops.link = refuse
  const codeOf = NODEFS.convertNodeCode
  // Node's permission model refuses with a code that emscripten does not know. Emscripten answered with descriptor 0,
  // and PHP took a file that it may not open for its own output.
  NODEFS.convertNodeCode = (error) => codeOf(error) ?? (error.code === 'ERR_ACCESS_DENIED' ? accessDenied : inputOutput)
  const getMode = NODEFS.getMode
  NODEFS.getMode = (path) => {
    const mode = getMode(path)
    if ((mode & 0o170000) === 0o120000) throw new files.ErrnoError(noSuchFile)
    return mode
  }
  keepUmask(files)
  for (const { at, from } of mounts) {
    if (!lstatSync(from).isDirectory()) throw new Error(`${at} is not a folder`)
    files.mkdirTree(at)
    files.mount(NODEFS, { root: from }, at)
  }
}

/** Applies the process' umask. Emscripten gives a new file the mode that PHP requests, 0666, whatever the umask. */
function keepUmask(files: WasmFileSystem): void {
  const taken = 0o022
  process.umask(taken)
  const open = files.open.bind(files)
  files.open = (path, flags, mode) => open(path, flags, mode === undefined ? mode : mode & ~taken)
}
