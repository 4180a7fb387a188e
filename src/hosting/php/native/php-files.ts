import { execFile } from 'node:child_process'
import { constants, realpathSync, statSync } from 'node:fs'
import { chmod, copyFile, link, mkdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { type NativePhp, userChanger } from './machine.ts'

const run = promisify(execFile)

/**
 * PHP with its libraries in one folder, as the machine has them. bubblewrap takes 50 ms to lay a hundred and thirty files into a sandbox
 * one by one, and nothing to lay that folder.
 */
export class PhpFiles {
  readonly #folder: string
  readonly #laid = new Map<NativePhp, { readonly state: string; readonly folder: Promise<string | undefined> }>()
  #number = 0

  constructor(folder: string) {
    this.#folder = folder
  }

  /** The folder with the files as they are now: a package may have been upgraded. Undefined where they have to be laid one by one. */
  async of(php: NativePhp): Promise<string | undefined> {
    const state = stateOf(php)
    const before = this.#laid.get(php)
    if (before?.state === state) return before.folder
    const folder = lay(php, join(this.#folder, String(++this.#number)))
    this.#laid.set(php, { state, folder })
    return folder
  }

  /** Resolves when nothing is being laid. */
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
    // readable for the users of sites, whatever Stead's umask is
    for (const path of new Set(above.flatMap(allAbove))) {
      await mkdir(join(folder, path), { recursive: true })
      await chmod(join(folder, path), 0o755)
    }
    for (const path of files) await place(realpathSync(path), join(folder, path))
    // not where programs may not be run
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

/** The same file where that can be: the machine's own PHP and that of sites share its memory. */
async function place(from: string, to: string): Promise<void> {
  try {
    await link(from, to)
  } catch {
    await copyFile(from, to, constants.COPYFILE_FICLONE)
  }
}
