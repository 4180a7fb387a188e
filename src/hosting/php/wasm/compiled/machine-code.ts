import { createHash } from 'node:crypto'
import { chmod, copyFile, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { writeFileDurably } from '../../../../platform/files/write-file.ts'
import { type PhpVersion, phpVersions } from '../../runtime.ts'
import type { ChildProgram } from '../program.ts'

/** Beside the program, in the folder that each process sees of it. */
const inProgram = 'code'

/** What V8 has made of PHP where it runs often, kept for processes to come. Of no site: nobody's code has run where it is made. */
export interface MachineCode {
  /** Its file, below the program's folder; undefined where there is none. */
  fileFor(version: PhpVersion): string | undefined
  /** Nothing is kept that processes take. */
  isMissing(version: PhpVersion): boolean
  /** A process took it, or could not use it. */
  seen(version: PhpVersion, isTaken: boolean): void
  /** Gives it to all processes that start from now on. */
  keep(version: PhpVersion, code: Buffer): Promise<void>
  /** No process gets it any more. */
  discard(version: PhpVersion): Promise<void>
}

/**
 * @param folder where it is kept between starts, which nobody else uses
 * @param flags of V8, with which processes are started
 */
export async function openMachineCode(
  folder: string,
  program: ChildProgram,
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

/** Another one with another Node, another build of PHP, or other flags: V8 would refuse it, or take it for something else. */
async function nameOf(version: PhpVersion, program: ChildProgram, flags: readonly string[]): Promise<string> {
  const { folder } = program.phpPackage(version)
  const { version: build } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as { version: string }
  const of = [process.version, process.versions.v8, process.arch, build, ...flags].join(' ')
  return `${version}-${createHash('sha256').update(of).digest('hex').slice(0, 16)}`
}
