import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { getCompileCacheDir } from 'node:module'
import { dirname, extname, join } from 'node:path'
import { withoutTypes } from '../php/wasm/program.ts'

/** The program that a child runs. */
export interface ChildProgram {
  /** A folder that contains only programs. */
  readonly folder: string
  /** The file in it that is run. */
  readonly script: string
}

const here = import.meta.dirname

/**
 * Returns the program of a child. When Stead runs from its sources, a child that read TypeScript would first load the
 * compiler that removes the types: 0.15 s of processor time for each dump. So the types are removed once, and the
 * result is stored where Node keeps compiled code. No other user can write there.
 */
export async function childProgram(cache = getCompileCacheDir()): Promise<ChildProgram> {
  const extension = extname(import.meta.filename)
  if (extension !== '.ts' || !cache) return { folder: here, script: `child/main${extension}` }
  const files = await scriptsFrom('child/main.ts')
  const hash = createHash('sha256')
  for (const [name, script] of files) hash.update(`${name}\n${script}\n`)
  const folder = join(cache, `database-child-${hash.digest('hex').slice(0, 16)}`)
  if (!(await isThere(folder))) await writeWhole(folder, files)
  return { folder, script: 'child/main.js' }
}

/** Returns a file and everything that it imports, as JavaScript, by name. */
async function scriptsFrom(first: string): Promise<Map<string, string>> {
  const scripts = new Map<string, string>()
  const names = [first]
  for (const name of names) {
    const source = await readFile(join(here, name), 'utf8')
    const script = withoutTypes(source)
    scripts.set(name.replace(/\.ts$/, '.js'), script)
    for (const [, imported = ''] of script.matchAll(/from '(\.[^']*)\.js'/g)) {
      const found = `${join(dirname(name), imported)}.ts`
      if (!names.includes(found)) names.push(found)
    }
  }
  return scripts
}

const isThere = (folder: string): Promise<boolean> =>
  stat(folder).then(
    () => true,
    () => false,
  )

/**
 * Writes the folder under a temporary name, because another process may do the same at the same moment. The folder gets
 * its name when it is complete.
 */
async function writeWhole(folder: string, files: ReadonlyMap<string, string>): Promise<void> {
  const beside = `${folder}-${randomUUID()}`
  for (const [name, script] of [['package.json', '{"type":"module"}'] as const, ...files]) {
    await mkdir(dirname(join(beside, name)), { recursive: true })
    await writeFile(join(beside, name), script)
  }
  await rename(beside, folder).catch(async (error) => {
    await rm(beside, { recursive: true })
    if (!(await isThere(folder))) throw error
  })
}
