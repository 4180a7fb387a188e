// Runs a program that checks or generates files of Stead:
//
//   node tools/run.js biome check .
//
// These programs have a folder of their own, because nobody needs them to run Stead. The first call installs them, as
// does the first one after a change of their versions. Runs on Node 20, which `npm run lint` may have.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const folder = import.meta.dirname
const lockFile = join(folder, 'package-lock.json')
/** A copy of the lock file from which the folder was installed. */
const installedFrom = join(folder, 'node_modules/.installed-from')

/**
 * Installs the programs unless they are there in the versions of the lock file.
 * @returns their folder
 * @throws Error if npm fails
 */
export function installTools() {
  const wanted = readFileSync(lockFile, 'utf8')
  if (existsSync(installedFrom) && readFileSync(installedFrom, 'utf8') === wanted) return folder
  console.error('Installing the programs in tools/ (once)')
  // Standard output belongs to the program. Settings of an npm above this process are for another folder.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^npm_config_(omit|prefix|local_prefix|only|include|dry_run|workspace)/i.test(name),
    ),
  )
  execFileSync('npm', ['ci', '--no-progress', '--loglevel=error'], { cwd: folder, env, stdio: ['ignore', 2, 2] })
  writeFileSync(installedFrom, wanted)
  return folder
}

if (process.argv[1] === import.meta.filename) {
  const [name = '', ...words] = process.argv.slice(2)
  const program = join(installTools(), 'node_modules/.bin', name)
  if (name === '' || !existsSync(program)) {
    console.error('Usage: node tools/run.js <program in tools/package.json> [arguments]')
    process.exit(2)
  }
  process.exitCode = spawnSync(program, words, { stdio: 'inherit' }).status ?? 1
}
