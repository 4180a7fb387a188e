import { createHash } from 'node:crypto'
import { chmod, copyFile, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { writeFileDurably } from '../../../../platform/files/write-file.ts'
import { type PhpVersion, phpVersions } from '../../runtime.ts'
import type { PhpProgram } from '../program.ts'

/** The folder for the code, next to the program, in the folder that each process can see. */
const inProgram = 'code'

/**
 * The machine code that V8 generates for the frequently used parts of PHP, stored for later processes. It belongs to no
 * site: no site's code has run in the process that generates it.
 */
export interface MachineCode {
  /** Returns the code's file below the program's folder, or undefined if there is none. */
  fileFor(version: PhpVersion): string | undefined
  /** Returns whether processes have no stored code to use. */
  isMissing(version: PhpVersion): boolean
  /** Records that a process used the code, or could not use it. */
  seen(version: PhpVersion, isTaken: boolean): void
  /** Gives the code to all processes that start from now on. */
  keep(version: PhpVersion, code: Buffer): Promise<void>
  /** Stops giving the code to processes. */
  discard(version: PhpVersion): Promise<void>
}

/**
 * @param folder where the code is kept between starts, used by nothing else
 * @param flags V8 flags of the processes
 */
export async function openMachineCode(
  folder: string,
  program: PhpProgram,
  flags: readonly string[],
): Promise<MachineCode> {
  const given = join(program.folder, inProgram)
  for (const path of [folder, given]) await mkdir(path, { recursive: true })
  await chmod(given, 0o755)
  const names = new Map<PhpVersion, string>()
  const usable = new Set<PhpVersion>()
  const give = async (version: PhpVersion) => {
    const name = names.get(version) as string
    const file = join(given, name)
    await copyFile(join(folder, name), `${file}.new`)
    await chmod(`${file}.new`, 0o644)
    await rename(`${file}.new`, file)
    usable.add(version)
  }
  for (const version of phpVersions) names.set(version, await nameOf(version, program, flags))
  const known = new Set(names.values())
  for (const name of await readdir(folder)) if (!known.has(name)) await rm(join(folder, name), { recursive: true })
  for (const version of phpVersions)
    await give(version).catch((error) => {
      if (error.code !== 'ENOENT') throw error
    })
  return {
    fileFor: (version) => (usable.has(version) ? join(inProgram, names.get(version) as string) : undefined),
    isMissing: (version) => !usable.has(version),
    seen(version, isTaken) {
      if (!isTaken) usable.delete(version)
    },
    async keep(version, code) {
      await writeFileDurably(join(folder, names.get(version) as string), code, 0o600)
      await give(version)
    },
    async discard(version) {
      usable.delete(version)
      for (const path of [folder, given]) await rm(join(path, names.get(version) as string), { force: true })
    },
  }
}

/**
 * Returns the file's name, which differs for another Node version, build of PHP, or set of flags: V8 would refuse such
 * code, or misinterpret it.
 */
async function nameOf(version: PhpVersion, program: PhpProgram, flags: readonly string[]): Promise<string> {
  const { folder } = program.phpPackage(version)
  const { version: build } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as { version: string }
  const of = [process.version, process.versions.v8, process.arch, build, ...flags].join(' ')
  return `${version}-${createHash('sha256').update(of).digest('hex').slice(0, 16)}`
}
