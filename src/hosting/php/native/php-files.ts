import { execFile } from 'node:child_process'
import { constants, realpathSync, statSync } from 'node:fs'
import { chmod, copyFile, link, mkdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { type NativePhp, userChanger } from './native-php.ts'

const run = promisify(execFile)

/**
 * PHP and its libraries in one folder, laid out as on the machine. bubblewrap takes 50 ms to mount 130 files into a
 * sandbox one by one, and almost nothing to mount that folder.
 */
export class PhpFiles {
  readonly #folder: string
  readonly #laid = new Map<NativePhp, { readonly state: string; readonly folder: Promise<string | undefined> }>()
  #number = 0

  constructor(folder: string) {
    this.#folder = folder
  }

  /**
   * Returns the folder with the current files, because a package may have been upgraded. Undefined when the files must
   * be mounted one by one.
   */
  async of(php: NativePhp): Promise<string | undefined> {
    const state = stateOf(php)
    const before = this.#laid.get(php)
    if (before?.state === state) return before.folder
    const folder = lay(php, join(this.#folder, String(++this.#number)))
    this.#laid.set(php, { state, folder })
    return folder
  }

  /** Resolves when no files are being linked. */
  async settled(): Promise<void> {
    await Promise.all([...this.#laid.values()].map(({ folder }) => folder))
  }
}

const stateOf = ({ files }: NativePhp): string =>
  files
    .map((path) => statSync(path))
    .map(({ dev, ino, size, mtimeMs }) => `${dev} ${ino} ${size} ${mtimeMs}`)
    .join('\n')

async function lay({ files, folders }: NativePhp, folder: string): Promise<string | undefined> {
  try {
    const above = [...files.map((path) => dirname(path)), ...folders]
    // Readable for the users of sites, whatever Stead's umask is.
    for (const path of new Set(above.flatMap(allAbove))) {
      await mkdir(join(folder, path), { recursive: true })
      await chmod(join(folder, path), 0o755)
    }
    for (const path of files) await place(realpathSync(path), join(folder, path))
    // Fails if the file system does not allow running programs.
    await run(join(folder, userChanger), ['--version'])
    return folder
  } catch {
    await rm(folder, { recursive: true, force: true }).catch(() => {})
    return undefined
  }
}

function allAbove(path: string): string[] {
  const names = path.split('/').slice(1)
  return names.map((_, index) => names.slice(0, index + 1).join('/'))
}

/** Links the file if possible, so that the machine's own PHP and that of sites share its memory. */
async function place(from: string, to: string): Promise<void> {
  try {
    await link(from, to)
  } catch {
    await copyFile(from, to, constants.COPYFILE_FICLONE)
  }
}
