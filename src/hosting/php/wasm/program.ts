import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire, stripTypeScriptTypes } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, extname, join } from 'node:path'
import { type PhpVersion, phpVersions } from '../runtime.ts'
import { calledExports } from './compiled/called-exports.ts'

const here = import.meta.dirname
/** `.ts` if Stead runs from its sources, `.js` if it was built. */
const extension = extname(import.meta.filename)

/** The sources that both sides of a child share. */
const sharedSources = ['frames', 'server-variables', 'task-request']

/** The program that a child runs: its JavaScript, and Stead's PHP files. */
export interface PhpProgram {
  /**
   * A folder that contains only the program. It starts at `child/main.js`, and PHP sees `certificates/` as
   * /etc/ssl/certs.
   */
  readonly folder: string
  /** PHP files by name. */
  readonly phpFiles: Readonly<Record<string, string>>
  /** Returns the package folder of a PHP version and the module below it. */
  readonly phpPackage: (version: PhpVersion) => { folder: string; module: string }
  /** The exports that the JavaScript of each PHP version calls, or null if they are unknown. */
  readonly calledExports: Readonly<Record<PhpVersion, readonly string[] | null>>
  remove(): Promise<void>
}

/**
 * Writes the child's program without its types into a separate folder. Loading TypeScript in the child itself costs 18
 * MB and 20 ms for each process.
 * @param certificates the CAs that PHP trusts, PEM
 * @param ownFolder a folder that nothing else uses; a killed predecessor may have left its program there. Default: a
 * new   folder among the system's temporary files
 */
export async function prepareProgram(certificates: string, ownFolder?: string): Promise<PhpProgram> {
  const folder = ownFolder ? await emptied(ownFolder) : await mkdtemp(join(tmpdir(), 'stead-php-'))
  await mkdir(join(folder, 'child'))
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  const sources = (await readdir(join(here, 'child'))).filter(
    (name) => name.endsWith(extension) && !name.includes('.test.'),
  )
  for (const name of [
    ...sharedSources.map((name) => `${name}${extension}`),
    ...sources.map((source) => join('child', source)),
  ]) {
    const source = await readFile(join(here, name), 'utf8')
    const script = extension === '.ts' ? withoutTypes(source) : source
    await writeFile(join(folder, name.replace(/\.ts$/, '.js')), script)
  }
  const bundle = join(folder, 'certificates', 'ca-certificates.crt')
  await mkdir(join(folder, 'certificates'))
  await writeFile(bundle, `${certificates}\n`)
  await chmod(bundle, 0o644)
  // Readable for the users of sites, which own the process if it runs without a sandbox.
  for (const path of [folder, join(folder, 'child'), join(folder, 'certificates')]) await chmod(path, 0o755)
  return {
    folder,
    phpFiles: await readPhpFiles(),
    phpPackage,
    calledExports: await calledExportsOfAll(),
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

export async function emptied(folder: string): Promise<string> {
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  return folder
}

export const withoutTypes = (source: string): string =>
  stripTypeScriptTypes(source).replaceAll(/(from '\.[^']*)\.ts'/g, "$1.js'")

export async function readPhpFiles(): Promise<Record<string, string>> {
  const tasks = join(here, '../tasks')
  const names = (await readdir(tasks)).filter((name) => name.endsWith('.php'))
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await readFile(join(tasks, name), 'utf8')])),
  )
}

function phpPackage(version: PhpVersion): { folder: string; module: string } {
  const dashed = version.replace('.', '-')
  const folder = dirname(createRequire(import.meta.url).resolve(`@php-wasm/node-${dashed}/package.json`))
  return { folder, module: join('jspi', `php_${version.replace('.', '_')}.js`) }
}

async function calledExportsOfAll(): Promise<Record<PhpVersion, readonly string[] | null>> {
  const ofEach = phpVersions.map(async (version) => {
    const { folder, module } = phpPackage(version)
    return [version, await calledExports(join(folder, module))] as const
  })
  return Object.fromEntries(await Promise.all(ofEach)) as Record<PhpVersion, readonly string[] | null>
}
